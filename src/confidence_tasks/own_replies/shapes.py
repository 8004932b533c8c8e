"""Replies in which no confidence was read: their commonest shapes, and the setting that would read them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from confidence_tasks.reading.confidence import PRESETS, confidence_reader

LONGEST = 70
MOST = 5
SAMPLE = 300
"""Number of replies that other settings are tried on."""

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_SURE = re.compile(r"confiden|certain|probab|likel|sure|score|rating|\d", re.IGNORECASE)


def shape_of(reply: str) -> str:
    r"""Return the last line that may state a confidence, with numbers masked and control characters escaped.

    Examples
    --------
    >>> shape_of("It is Lima.\nUncertainty score: 10"), shape_of("Lima")
    ('Uncertainty score: 9', 'Lima')
    """
    lines = [line.strip() for line in reply.splitlines() if line.strip()] or [""]
    line = next((line for line in reversed(lines) if _SURE.search(line)), lines[-1])
    masked = _NUMBER.sub("9", line[-400:])
    shown = masked if len(masked) <= LONGEST else f"…{masked[-LONGEST:]}"
    return shown.encode("unicode_escape").decode() if not shown.isprintable() else shown


def unread_sentences(replies: Sequence[str]) -> Iterator[str]:
    """Yield the commonest shapes of unread replies, each with its number and an example, and what would read them."""
    shapes = Counter(map(shape_of, replies))
    examples = {shape_of(reply): reply for reply in reversed(replies)}
    for shape, count in shapes.most_common(MOST):
        example = examples[shape][-120:].encode("unicode_escape").decode()
        yield f"{count} × {shape}    such as: {example}"
    if len(shapes) > MOST:
        yield f"{len(shapes) - MOST} other shapes"
    setting, n_read = _best_setting(replies[:SAMPLE])
    if n_read > 0:
        yield f"{setting} would read {n_read} of {min(len(replies), SAMPLE)}"


def _best_setting(replies: Sequence[str]) -> tuple[str, int]:
    readers = {f"--preset {name}": confidence_reader(name) for name in PRESETS}
    readers["--direction uncertainty --scale 0-100"] = confidence_reader(
        scale="0-100", direction="uncertainty"
    )
    readers["--direction uncertainty --scale 0-1"] = confidence_reader(scale="0-1", direction="uncertainty")
    counts = {
        name: sum(not reader.read(reply).reason for reply in replies) for name, reader in readers.items()
    }
    best = max(counts, key=lambda name: counts[name])
    return best, counts[best]
