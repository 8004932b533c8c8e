"""How a log holds a trial: the value and the metadata of its score, and the messages of its sample.

Logs are read without Inspect, whose import takes seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

STATUSES: Mapping[str, tuple[str, Literal["good", "bad", "warn", "info", "muted"]]] = {
    "ok": ("ok", "muted"),
    "repaired": ("repaired", "info"),
    "out_of_range": ("out of range", "warn"),
    "missing_confidence": ("no confidence", "warn"),
    "missing_answer": ("no answer", "bad"),
    "unreadable": ("unreadable", "bad"),
    "refused": ("refused", "warn"),
    "truncated": ("cut off", "bad"),
    "filtered": ("filtered", "bad"),
    "reasoning_only": ("reasoning only", "bad"),
}
"""Label and colour of each status in the viewer."""

SHOWN_ONLY = "shown_only"
"""Key in the metadata of a message that the viewer shows and that is not sent to the model."""


def scored_trial(value: Mapping[str, Any], metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the trial of a score; in logs of the first edition the value has all columns.

    This reverses :func:`~confidence_tasks.harness.inspect.viewer.trial_score`. If a value was edited after the run, the
    edited value counts.
    """
    metadata = metadata or {}
    trial = {**metadata, **value}
    for key, exact in metadata.items():
        if key in value:
            if key == "condition" or shortened(exact) == value[key]:
                trial[key] = exact
        elif key[-1:].isdigit():
            name, _, number = key.partition(" ")
            if number.isdigit() and name in metadata:
                trial[name] += " " + trial.pop(key)
    return trial


def shortened(value: Any) -> Any:
    """Round a number to four digits, or from 1,000 on to an integer; replace a status by its label."""
    if isinstance(value, float):
        return float(f"{value:.4g}") if abs(value) < 1000 else round(value, 0)
    return STATUSES[value][0] if value in STATUSES else value


def is_sent(metadata: Mapping[str, Any] | None) -> bool:
    """Return whether a message of a sample's input is sent to the model, given the message's metadata."""
    return not (metadata or {}).get(SHOWN_ONLY)
