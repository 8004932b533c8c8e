"""What FermiEval asks: questions, and prompts for an interval of orders of magnitude or for one order of magnitude.

The prompt for an interval is that of Epstein et al. (2025), appendix E. The paper prints none for a single exponent
("an integer-only response format"); that wording is this package's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from confidence_tasks.harness.inspect.samples import listed
from confidence_tasks.sources import load
from confidence_tasks.sources.fermi import AUTHORS, SPLITS
from confidence_tasks.study import Domain, Question, Stage
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
    """Return the system message that asks for intervals of a nominal coverage in (0, 1).

    Examples
    --------
    >>> interval_system(0.998).partition("representing ")[2][:52]
    'a 99.8 percentage confidence interval [10^L, 10^U]. '
    """
    return _SYSTEM.format(percent=f"{_percent(level):g}")


def interval_prompt(question: str, level: float) -> str:
    """Return the user message that asks for an interval of a nominal coverage in (0, 1).

    ValueError if the level has more than four decimals, which the prompt would not show.

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
    """Return the user message that asks for a single exponent, ``direct`` or after reasoning, ``reasoned``.

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


# Questions and calls ------------------------------------------------------------------------------------------

CROSS = "cross"
"""Ask both halves and judge all of their questions, each adjusted by the others."""

CALIBRATION, TEST = SPLITS
"""The halves of the questions: what is fitted is fitted on the first and judged on the second."""

PAPER_MAX_EXPONENT = 100
"""The truth and both ends of an interval lie within it in the paper's figures."""


def fermieval_questions(parameters: Mapping[str, Any]) -> list[Question]:
    """Return the questions, each with its half and the largest exponent that counts.

    That is the one asked for, or for the authors' split the one of the paper. Questions of a file are in the halves in
    turns.
    """
    for level in levels_of(parameters["levels"]):
        interval_prompt("", level)  # refuses what it cannot show
    split, n, seed = (parameters[name] for name in ("split", "n", "seed"))
    if parameters["source"] != "fermi":
        questions = _own_questions(parameters["source"], split, seed)[:n]
    else:
        halves = "all" if split == CROSS else split
        questions = load("fermi", n=n, seed=seed, mirror=parameters["mirror"], split=halves)
    limit = parameters["max_exponent"] or (PAPER_MAX_EXPONENT if split in AUTHORS else None)
    limited = {"max_exponent": limit} if limit else {}
    return [
        _with(question, **({"split": TEST} if split == CROSS else {}), **limited) for question in questions
    ]


def exponent_questions(parameters: Mapping[str, Any]) -> list[Question]:
    """Return the questions to be asked for a single exponent, within the largest that the paper's figures keep.

    ValueError if the levels are no coverages.
    """
    levels_of(parameters["levels"])
    asked = {name: parameters[name] for name in ("seed", "mirror", "split")}
    questions = load("fermi", **asked)
    return [each for each in questions if abs(int(each.gold or 0)) <= PAPER_MAX_EXPONENT][: parameters["n"]]


def _own_questions(path: str, split: str, seed: int) -> list[Question]:
    """Load a file of questions, in the order of the seed and in the halves in turns; ValueError names a wrong key."""
    from confidence_tasks.sources.own_file import is_own_file

    if split in AUTHORS:
        raise ValueError(f"split={split!r} is of the archive's questions; leave out source, or the split")
    if not is_own_file(path):
        raise ValueError(
            f"source={path!r} is neither fermi nor the path of a .jsonl or .csv file of questions"
        )
    questions = load(path, seed=seed, key="exponent")
    for question in questions:
        if question.kind != "number" or not _is_exponent(question.gold or ""):
            raise ValueError(
                f"{question.id}: its exponent {question.gold!r} is not a whole number within ±{LARGEST_KEY:,}"
            )
    halves = [_with(question, split=SPLITS[turn % 2]) for turn, question in enumerate(questions)]
    return [question for question in halves if split in ("all", CROSS, question.metadata["split"])]


def _is_exponent(key: str) -> bool:
    return float(key).is_integer() and abs(float(key)) <= LARGEST_KEY


def _with(question: Question, **metadata: Any) -> Question:
    return replace(question, metadata={**question.metadata, **metadata})


def fermieval_stages(parameters: Mapping[str, Any]) -> list[Stage]:
    """Return the only call."""
    return [
        Stage(
            "interval",
            lambda question, condition, replies: interval_prompt(question.text, level_of(condition)),
            system=lambda question, condition: interval_system(level_of(condition)),
            temperature=parameters["temperature"] or None,
        )
    ]


def levels_of(value: str | float | list[float]) -> list[float]:
    """Return the nominal coverages that a user names; ValueError unless each lies in (0, 1).

    Examples
    --------
    >>> levels_of("0.9, 0.99"), levels_of(0.5)
    ([0.9, 0.99], [0.5])
    """
    return list(dict.fromkeys(map(level_of, listed(value, "levels"))))
