"""What trials of the signals of confidence lack."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any


def without_value(found: Mapping[str, Sequence[Mapping[str, Any]]]) -> set[str]:
    """Return the signals that have no value for some answer, given the trials of each signal."""
    return {
        name
        for name, of_signal in found.items()
        if any(trial["answer"] and math.isnan(trial["value"]) for trial in of_signal)
    }
