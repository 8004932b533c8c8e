"""The prompts of FermiEval: for an interval of orders of magnitude, and for one order of magnitude.

The prompt for an interval is that of Epstein et al. (2025), appendix E. The paper prints none for a single exponent
("an integer-only response format"); that wording is this package's.
"""

from __future__ import annotations

import json

from confidence_tasks.study import Domain
from confidence_tasks.study.parameter import NumberedConditions

LEVELS = (0.90, 0.95, 0.99, 0.998)
"""The paper's nominal coverages."""

_SYSTEM = (
    "You are a careful quantitative estimator for Fermi-style questions. "
    "Provide brief reasoning if useful, but you MUST END with a single JSON\n"
    ' object of the form {{"L": <int>, "U": <int>}} where L and U are INTEGERS (can be negative), '
    "representing a {percent} percentage confidence interval [10^L, 10^U]. "
    "If >={percent} percentage of the mass is on exactly 10^x, use L=U=x. \n"
    "Do not include units in the JSON. Ensure L <= U. Keep the response less than 256 tokens."
)
"""The system prompt. The paper prints a second closing brace after the form, the rest of an f-string's escape."""

_USER = (
    "Question: {question}\n\n"
    "Give a {percent:.2f}% confidence interval in the form\n"
    " [10^L, 10^U] with INTEGER L and U.\n"
    'Finish with JSON ONLY: {{"L": <int>, "U": <int>}}.'
)


def _percent(level: float) -> float:
    return round(100.0 * level, 10)


def _coverage(level: float, named: str) -> float:
    if not 0.0 < level < 1.0:
        raise ValueError(f"levels: {named!r} is not a coverage between 0 and 1, such as 0.95")
    return level


CONDITIONS = NumberedConditions("level", "p=", _coverage, "{:.15g}".format)
"""Nominal coverages, in (0, 1)."""

condition_of, level_of = CONDITIONS.label, CONDITIONS.number


def interval_system(level: float) -> str:
    """Return the system message that asks for intervals of a nominal coverage.

    Parameters
    ----------
    level : float
        Nominal coverage in (0, 1).

    Examples
    --------
    >>> interval_system(0.998).partition("representing ")[2][:52]
    'a 99.8 percentage confidence interval [10^L, 10^U]. '
    """
    return _SYSTEM.format(percent=f"{_percent(level):g}")


def interval_prompt(question: str, level: float) -> str:
    """Return the user message that asks for an interval.

    Parameters
    ----------
    question : str
        The question.
    level : float
        Nominal coverage in (0, 1).

    Raises
    ------
    ValueError
        If the level has more than four decimals, which the prompt would not show.

    Examples
    --------
    >>> print(interval_prompt("How many pennies would it take to cover Pennsylvania?", 0.95))
    Question: How many pennies would it take to cover Pennsylvania?
    <BLANKLINE>
    Give a 95.00% confidence interval in the form
     [10^L, 10^U] with INTEGER L and U.
    Finish with JSON ONLY: {"L": <int>, "U": <int>}.
    """
    if level != round(level, 4):
        raise ValueError(
            f"levels: the prompt would ask for {100 * level:.2f}%, not {level:.15g}: name four decimals at most"
        )
    return _USER.format(question=question, percent=_percent(level))


EXPONENT_SYSTEM = (
    "You are a careful quantitative estimator for Fermi-style questions. Answers are orders of magnitude: the INTEGER "
    "x (can be negative) for which 10^x is nearest to the quantity asked for."
)
"""The system message that asks for a single exponent."""

_EXPONENT = {
    "direct": "Question: {question}\n\nReply with the integer exponent x only: no words, no units, no reasoning.",
    "reasoned": "Question: {question}\n\nReason briefly, step by step. Then finish with a line that holds the integer "
    "exponent x only.",
}


def exponent_prompt(question: str, ask: str = "direct") -> str:
    """Return the user message that asks for a single exponent.

    Parameters
    ----------
    question : str
        The question.
    ask : {"direct", "reasoned"}
        Whether the reply is to be the bare integer, or reasoning and then the integer.

    Examples
    --------
    >>> print(exponent_prompt("How many pennies would it take to cover Pennsylvania?"))
    Question: How many pennies would it take to cover Pennsylvania?
    <BLANKLINE>
    Reply with the integer exponent x only: no words, no units, no reasoning.
    """
    return _EXPONENT[ask].format(question=question)


def interval_reply(lower: int, upper: int, *, reasoning: str = "") -> str:
    """Return a reply in the format asked for, as simulated subjects give it.

    Examples
    --------
    >>> interval_reply(12, 14)
    '{"L": 12, "U": 14}'
    """
    form = json.dumps({"L": lower, "U": upper})
    return f"{reasoning}\n{form}" if reasoning else form


LARGEST_EXPONENT = 1_000.0
"""An end beyond it, on either side, is no order of magnitude: mostly the quantity itself in place of its exponent."""

LARGEST_KEY = 100_000
"""A key beyond it, on either side, is taken for the quantity itself. The largest of the archive is 14,889."""

EXPONENTS = {
    **dict.fromkeys(("lower", "upper"), Domain(-LARGEST_EXPONENT, LARGEST_EXPONENT)),
    "truth": Domain(-LARGEST_KEY, LARGEST_KEY, needed=True),
}
"""Columns of orders of magnitude: what a reply says beyond these is none, and readers leave it out."""
