"""What the user must put right, said by the harness's command in a line instead of a traceback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.markup import escape

from confidence_tasks.sources.errors import SourceError

try:
    from inspect_ai._util.error import PrerequisiteError
except ImportError:  # Inspect has no public name for it, and without it a traceback says the same
    PrerequisiteError = Exception  # type: ignore[misc, assignment]


class UsageError(SourceError, PrerequisiteError):
    """Something that cannot be run as it was asked for.

    Inspect prints the ``message`` of a ``PrerequisiteError``, with its mark-up, where others end in a traceback.
    """

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
