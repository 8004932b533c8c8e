"""How the time of a function grows with its input: the one way in which tests speak of time.

Seconds depend on the machine, and a test of them fails on a slow one. A ratio of two times does not.
"""

import gc
import time
from collections.abc import Callable

TIMES_LONGER = 8
"""A function takes this many times as long when its time is linear in its input, and 64 times when quadratic."""

_STEEP = 25.0
_SHORTEST = 2e-3
"""Seconds; what takes less is mostly what every call costs."""
_TURNS = 5


def grows_linearly(work: Callable[[str], object], make: Callable[[int], str], size: int) -> bool:
    """Whether a text of eight times ``size`` characters takes about eight times as long, or less.

    The first turn that says so counts: another process may disturb any of them, but none makes a function quicker.
    """
    short, long = make(size), make(TIMES_LONGER * size)
    return any(_seconds(work, long) < _STEEP * max(_seconds(work, short), _SHORTEST) for _ in range(_TURNS))


def repeated(unit: str) -> Callable[[int], str]:
    """Return a function that makes a text of so many characters of a piece of text."""
    return lambda size: unit * (size // len(unit))


def _seconds(work: Callable[[str], object], text: str) -> float:
    """Processor time of this thread alone, without a collection of what other tests left."""
    gc.disable()
    try:
        start = time.thread_time()
        work(text)
        return time.thread_time() - start
    finally:
        gc.enable()
