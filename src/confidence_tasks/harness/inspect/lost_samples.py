"""A hook that tells the manager of early stopping of samples that an error or a limit ended."""

from __future__ import annotations

from collections.abc import Callable

from inspect_ai.hooks import Hooks, SampleEnd, hooks

RUNNING: dict[str, Callable[[str], None]] = {}
"""What to call with the id of a lost sample, by the id of the running task."""


@hooks("stop", "Tells the parameter stop of samples that an error or a limit ended.")
class LostSamples(Hooks):
    """Tells of the samples that Inspect's protocol of early stopping does not tell of."""

    async def on_sample_end(self, data: SampleEnd) -> None:
        """Tell of a sample that was lost."""
        if data.eval_id in RUNNING and (data.sample.error or data.sample.limit):
            RUNNING[data.eval_id](str(data.sample.id))
