"""What the user must put right, said by the harness's command in a line instead of a traceback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.markup import escape

from confidence_tasks.harness.compat import prerequisite_error
from confidence_tasks.sources.source import SourceError


class UsageError(SourceError, prerequisite_error()):  # type: ignore[misc]
    """Something that cannot be run as it was asked for, said by Inspect in its ``message``, with its mark-up."""

    def __init__(self, said: str) -> None:
        super().__init__(said)
        self.message = escape(said)


@contextmanager
def as_usage_error() -> Iterator[None]:
    """Turn a ValueError into a `UsageError`.

    Examples
    --------
    >>> with as_usage_error():
    ...     raise ValueError("penalty 'ten' must be a number")
    Traceback (most recent call last):
    ...
    confidence_tasks.harness.errors.UsageError: penalty 'ten' must be a number
    """
    try:
        yield
    except ValueError as error:
        raise UsageError(str(error)) from error
