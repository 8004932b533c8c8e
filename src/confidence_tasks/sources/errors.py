"""The one error of this package: a source that cannot give the questions asked for, and what to do about it."""

from __future__ import annotations


class SourceError(ValueError):
    """A source is unknown, unreachable, or does not hold what its entry in the table promises."""


class RowError(ValueError):
    """One row does not have the shape of its source; the loader adds which source and which row."""
