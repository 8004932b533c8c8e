"""A model's run on lm-eval: the prompts as the model gets them, and the server that answers."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from lm_eval.api.model import LM

from confidence_tasks.harness.address import public_address
from confidence_tasks.harness.system_role import MOVED, SYSTEM_MESSAGE, RenderedPrompts, has_text

Turns = list[dict[str, str]]
"""A conversation in the format of chat templates."""


@dataclass
class Run:
    """What is known of the run of a model.

    Attributes
    ----------
    prompts : RenderedPrompts
        The first prompts of all tasks.
    served : set of str
        The models that the server says it served, where these are not the model asked for.
    moved : bool
        Whether a system message was put before the first user turn.
    """

    prompts: RenderedPrompts = field(default_factory=RenderedPrompts)
    served: set[str] = field(default_factory=set)
    moved: bool = False

    def see(self, asked: str, output: Mapping[str, Any]) -> None:
        """Note the model that served a reply."""
        name = output.get("model")
        if isinstance(name, str) and name != asked:
            self.served.add(name)

    def origin(self, address: str) -> dict[str, str]:
        """Return what the results must tell."""
        found = {
            "base_url": public_address(address),
            "served": ", ".join(sorted(self.served)),
            SYSTEM_MESSAGE: MOVED if self.moved else "",
        }
        return {name: value for name, value in found.items() if value}


_RUNS: WeakKeyDictionary[LM, Run] = WeakKeyDictionary()


def run_of(model: LM) -> Run:
    """Return the run of a model."""
    if model not in _RUNS:
        _RUNS[model] = Run()
    return _RUNS[model]


_log = logging.getLogger(__name__)


def render(turns: Turns, model: LM, **options: Any) -> tuple[Any, Turns]:
    """Return a conversation as a model gets it, and the turns from which it was rendered.

    If the chat template drops the system message, it is put before the first user turn. A conversation for a chat
    endpoint is not rendered here but by the server, and keeps its turns.
    """
    rendered = model.apply_chat_template(turns, **options)
    system = turns[0]["content"] if turns and turns[0]["role"] == "system" else ""
    if not isinstance(rendered, str) or has_text(rendered, system):
        return rendered, turns
    run = run_of(model)
    if not run.moved:
        _log.warning(
            "The model's chat template drops the system message, so it is put before the first user turn."
        )
    run.moved, moved = True, merge_system(turns)
    return model.apply_chat_template(moved, **options), moved


def merge_system(turns: Turns) -> Turns:
    r"""Return a conversation whose system message stands before the first user turn.

    Examples
    --------
    >>> merge_system([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}])
    [{'role': 'user', 'content': 'Be brief.\n\nHi'}]
    """
    (system, first), rest = turns[:2], turns[2:]
    return [{**first, "content": f"{system['content']}\n\n{first['content']}"}, *rest]
