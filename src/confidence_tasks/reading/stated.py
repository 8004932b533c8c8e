"""The confidence that a reply states in its own words."""

from __future__ import annotations

import math


def stated_confidence_of(reply: str) -> float:
    """Return the confidence, from 0 to 1, that a reply states; NaN if it states none."""
    return math.nan
