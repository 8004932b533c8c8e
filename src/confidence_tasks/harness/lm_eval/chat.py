"""A model's run on lm-eval: the prompts as the model gets them, and the server that answers."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from weakref import WeakKeyDictionary

from lm_eval.api.model import LM

from confidence_tasks.harness.address import public_address
from confidence_tasks.harness.compat_models import cache_result, cached_result, is_endpoint
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
    refused : list of str
        Notes on the parameters that the server refused.
    lost : Counter of str
        Number of calls without a reply, by the reason.
    moved : bool
        Whether a system message was put before the first user turn.
    from_cache : str
        From when the replies are that were read from the cache of an earlier run; empty if none were.
    """

    prompts: RenderedPrompts = field(default_factory=RenderedPrompts)
    served: set[str] = field(default_factory=set)
    refused: list[str] = field(default_factory=list)
    lost: Counter[str] = field(default_factory=Counter)
    moved: bool = False
    from_cache: str = ""

    def see(self, asked: str, output: Mapping[str, Any], refused: Iterable[str] = ()) -> None:
        """Note the model that served a reply, and what its server refused."""
        name = output.get("model")
        if isinstance(name, str) and name != asked:
            self.served.add(name)
        self.refused = list(dict.fromkeys([*self.refused, *refused]))

    def remember(self, model: LM) -> None:
        """Write into the cache of replies who gave them, and since when, unless it has older replies."""
        if self.from_cache == UNKNOWN_ORIGIN:
            return
        known = cached_result(model, _ORIGIN, (_name(model),)) or {}
        now = datetime.now(UTC).isoformat(timespec="seconds")
        served = sorted(self.served.union(known.get("served", ())))
        refused = list(dict.fromkeys([*known.get("refused", ()), *self.refused]))
        found = {"since": known.get("since", now), "served": served, "refused": refused}
        cache_result(model, _ORIGIN, (_name(model),), found)

    def recall(self, model: LM) -> None:
        """Take from the cache of replies who gave them, and since when."""
        known = cached_result(model, _ORIGIN, (_name(model),))
        if not known:
            self.from_cache = UNKNOWN_ORIGIN
            return
        self.from_cache = f"replies of {known['since'][:10]} or later"
        self.served |= set(known["served"])
        self.refused = list(dict.fromkeys([*known["refused"], *self.refused]))

    def origin(self, address: str) -> dict[str, str]:
        """Return what the results must tell."""
        lost = "; ".join(f"{n} calls: {reason}" for reason, n in self.lost.items())
        found = {
            "base_url": public_address(address),
            "served": ", ".join(sorted(self.served)),
            SYSTEM_MESSAGE: MOVED if self.moved else "",
            "lost": lost,
            "from_cache": self.from_cache,
        }
        return {name: value for name, value in found.items() if value}


UNKNOWN_ORIGIN = (
    "replies of an unknown date, server and served model; what the server refused is unknown, too"
)
"""What is known of cached replies to which an earlier release wrote nothing."""

_ORIGIN = "confidence_tasks_origin"
"""Name of the cache's entry on who gave the replies."""


def _name(model: LM) -> str:
    """Return what the cache's entry on a model is found by."""
    named: Any = model  # an endpoint's ``model`` is a name, that of a network is not
    return f"{getattr(named, 'base_url', '')} {named.model if is_endpoint(model) else type(model).__name__}"


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
