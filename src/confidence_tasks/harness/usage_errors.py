"""A user's mistakes as errors that a harness prints."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.markup import escape

from confidence_tasks.harness.compat import prerequisite_error
from confidence_tasks.sources import SourceError


class UsageError(SourceError, prerequisite_error()):  # type: ignore[misc]
    """A user's mistake; Inspect prints the ``message``, which is escaped for Rich's markup."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = escape(message)


@contextmanager
def as_scorer_error() -> Iterator[None]:
    """Turn a ValueError of the options of a scorer into an error that `inspect score` prints.

    It takes a ValueError for a scorer that does not exist, and says that it could not be loaded.
    """
    try:
        yield
    except ValueError as error:
        raise prerequisite_error()(escape(str(error))) from error


@contextmanager
def as_usage_error() -> Iterator[None]:
    """Turn a ValueError into a `UsageError`.

    Examples
    --------
    >>> with as_usage_error():
    ...     raise ValueError("penalty 'ten' must be a number")
    Traceback (most recent call last):
    ...
    confidence_tasks.harness.usage_errors.UsageError: penalty 'ten' must be a number
    """
    try:
        yield
    except ValueError as error:
        raise UsageError(str(error)) from error
