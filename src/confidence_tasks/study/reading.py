"""A reading: what a reply literally said, before anybody decides whether it is right."""

from __future__ import annotations

from dataclasses import dataclass

from confidence_tasks.study.trial import Status


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reader found in one reply.

    Attributes
    ----------
    answer : str
        The answer in canonical form (letter, number or text); empty when absent.
    confidence_raw : float
        The confidence as stated, in the units that were asked for; NaN when absent.
    status : Status
        ``ok`` for a reply to the letter of the format, ``repaired`` when a lenient rule was needed,
        else the fault.
    rules : tuple of str
        Names of the lenient rules that were needed, in order; empty for ``ok``.
    """

    answer: str
    confidence_raw: float
    status: Status
    rules: tuple[str, ...] = ()
