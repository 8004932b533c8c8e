"""Prompts and readers of FermiEval's replies: an interval of orders of magnitude, or a single order of magnitude.

The prompt for an interval is that of Epstein et al. (2025), appendix E. The paper prints no prompt for a single
exponent ("an integer-only response format"); that wording is this package's.

The reader takes each end as the exponent of a power of ten: ``1e3`` is the exponent 1000. If a reply writes the power
itself, such as ``10^6``, its exponent is read, and a rule records it. Numbers are never expanded, so a number of a
thousand digits takes time proportional to its length.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from confidence_tasks.reading.abstention import is_refusal
from confidence_tasks.reading.cleaning import fold, last_box, read_first_turn, truncate_reply
from confidence_tasks.reading.fields import read_json_fields
from confidence_tasks.reading.thoughts import strip_thoughts
from confidence_tasks.sources import load
from confidence_tasks.sources.fermi import AUTHORS, SPLITS
from confidence_tasks.sources.own_file import is_own_file
from confidence_tasks.study import Domain, Question, Stage, Structured
from confidence_tasks.study.parameter import NumberedConditions, parse_list
from confidence_tasks.study.trial import Status

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
"""The system message. The paper prints a second closing brace after the form, left over from an f-string's escape."""

_USER = (
    "Question: {question}\n\n"
    "Give a {percent:.2f}% confidence interval in the form\n"
    " [10^L, 10^U] with INTEGER L and U.\n"
    'Finish with JSON ONLY: {{"L": <int>, "U": <int>}}.'
)


def _percent(level: float) -> float:
    return round(100.0 * level, 10)


def _check_level(level: float, text: str) -> float:
    if not 0.0 < level < 1.0:
        raise ValueError(f"levels: {text!r} is not a coverage between 0 and 1, such as 0.95")
    return level


CONDITIONS = NumberedConditions("level", "p=", _check_level, "{:.15g}".format)
"""Conditions of FermiEval: nominal coverages in (0, 1)."""

condition_of, level_of = CONDITIONS.label, CONDITIONS.number


def interval_system(level: float) -> str:
    """Return the system message that asks for intervals of nominal coverage ``level``.

    Examples
    --------
    >>> interval_system(0.998).partition("representing ")[2][:52]
    'a 99.8 percentage confidence interval [10^L, 10^U]. '
    """
    return _SYSTEM.format(percent=f"{_percent(level):g}")


def interval_prompt(question: str, level: float) -> str:
    """Return the user message that asks for an interval of nominal coverage ``level``.

    ValueError if the level has more than four decimals, which the prompt does not show.

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
            f"levels: the prompt would ask for {100 * level:.2f}%, not {level:.15g}: use at most four decimals"
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
    """Return the user message that asks for a single exponent, at once (``direct``) or after reasoning (``reasoned``).

    Examples
    --------
    >>> print(exponent_prompt("How many pennies would it take to cover Pennsylvania?"))
    Question: How many pennies would it take to cover Pennsylvania?
    <BLANKLINE>
    Reply with the integer exponent x only: no words, no units, no reasoning.
    """
    return _EXPONENT[ask].format(question=question)


def interval_reply(lower: int, upper: int, *, reasoning: str = "") -> str:
    """Return a reply in the requested format, as simulated subjects give it.

    Examples
    --------
    >>> interval_reply(12, 14)
    '{"L": 12, "U": 14}'
    """
    form = json.dumps({"L": lower, "U": upper})
    return f"{reasoning}\n{form}" if reasoning else form


LARGEST_EXPONENT = 1_000.0
"""Largest absolute value of an end. A larger end is mostly the quantity itself instead of its exponent."""

LARGEST_KEY = 100_000
"""Largest absolute value of a key. A larger key is mostly the quantity itself; the archive's largest is 14,889."""

EXPONENTS = {
    "lower": Domain(-LARGEST_EXPONENT, LARGEST_EXPONENT, not_above="upper"),
    "upper": Domain(-LARGEST_EXPONENT, LARGEST_EXPONENT),
    "truth": Domain(-LARGEST_KEY, LARGEST_KEY, required=True),
}
"""Domains of the ends and of the truth, as exponents of ten."""


# Questions and calls ------------------------------------------------------------------------------------------

CROSS = "cross"
"""Split that asks both halves as test questions, each adjusted by all other questions."""

CALIBRATION, TEST = SPLITS
"""The two halves of the questions: adjustments are fitted on the first and evaluated on the second."""

PROVIDER = "provider"
"""Value of the parameter ``temperature`` that leaves it to the provider, as the paper does."""

PAPER_MAX_EXPONENT = 100
"""The paper's figures use only trials whose truth and ends lie within this distance of 0."""


def fermieval_questions(parameters: Mapping[str, Any]) -> list[Question]:
    """Return the questions, each with its half and, if there is a limit, with ``max_exponent`` in its metadata.

    The limit is the parameter ``max_exponent`` or, for the authors' split, that of the paper. Questions of a file
    alternate between the halves.
    """
    for level in levels_of(parameters["levels"]):
        interval_prompt("", level)  # raises for a level that the prompt cannot show
    split, n, seed = (parameters[name] for name in ("split", "n", "seed"))
    if parameters["source"] != "fermi":
        questions = _own_questions(parameters["source"], split, seed)[:n]
    else:
        halves = "all" if split == CROSS else split
        questions = load("fermi", n=n, seed=seed, mirror=parameters["mirror"], split=halves)
    limit = parameters["max_exponent"] or (PAPER_MAX_EXPONENT if split in AUTHORS else None)
    metadata = ({"split": TEST} if split == CROSS else {}) | ({"max_exponent": limit} if limit else {})
    return [question.with_metadata(**metadata) for question in questions]


def exponent_questions(parameters: Mapping[str, Any]) -> list[Question]:
    """Return the questions of the tasks that ask for a single exponent: those whose key is in the paper's figures.

    ValueError if a level does not lie in (0, 1).
    """
    levels_of(parameters["levels"])
    questions = load("fermi", **{name: parameters[name] for name in ("seed", "mirror", "split")})
    in_figures = [each for each in questions if abs(int(each.gold or 0)) <= PAPER_MAX_EXPONENT]
    return in_figures[: parameters["n"]]


def _own_questions(path: str, split: str, seed: int) -> list[Question]:
    """Load a question file in the order of the seed, alternating between the halves; ValueError names a wrong key."""
    if split in AUTHORS:
        raise ValueError(
            f"split={split!r} applies to the archive's questions only; leave out source or split"
        )
    if not is_own_file(path):
        raise ValueError(f"source={path!r} is neither fermi nor the path of a .jsonl or .csv question file")
    questions = load(path, seed=seed, key="exponent")
    for question in questions:
        key = float(question.gold or math.nan) if question.kind == "number" else math.nan
        if not (key.is_integer() and abs(key) <= LARGEST_KEY):
            raise ValueError(
                f"{question.id}: exponent {question.gold!r} is not a whole number within ±{LARGEST_KEY:,}"
            )
    halves = [question.with_metadata(split=SPLITS[i % 2]) for i, question in enumerate(questions)]
    return [question for question in halves if split in ("all", CROSS, question.metadata["split"])]


def fermieval_stages(parameters: Mapping[str, Any]) -> list[Stage]:
    """Return the single model call of a trial."""
    temperature = parameters["temperature"]
    return [
        Stage(
            "interval",
            lambda question, condition, replies: interval_prompt(question.text, level_of(condition)),
            system=lambda question, condition: interval_system(level_of(condition)),
            temperature=None if temperature == PROVIDER else temperature or None,
            providers_temperature=temperature == PROVIDER,
            structured=Structured(lambda question, condition: ENDS),
        )
    ]


def levels_of(value: str | float | list[float]) -> list[float]:
    """Return the nominal coverages in the parameter ``levels``; ValueError unless each lies in (0, 1).

    Examples
    --------
    >>> levels_of("0.9, 0.99"), levels_of(0.5)
    ([0.9, 0.99], [0.5])
    """
    return list(dict.fromkeys(map(level_of, parse_list(value, "levels"))))


# The reader ----------------------------------------------------------------------------------------------------

KEYS = ("L", "U")

ENDS: Mapping[str, Mapping[str, Any]] = {key: {"type": "integer"} for key in KEYS}
"""JSON schemas of the ends of an interval."""

_FORMS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("", re.compile(r"[-+]?\d++")),
    ("decimal", re.compile(r"[-+]?(?:\d++\.\d*+|\.\d++)")),
    ("scientific", re.compile(r"[-+]?(?:\d++(?:\.\d*+)?|\.\d++)[eE][-+]?\d++")),
    ("power", re.compile(r"10\s{0,4}(?:\^|\*\*)\s{0,4}\(?([-+]?\d++(?:\.\d++)?)\)?")),
)
"""Notations of an end, each with the name of the rule that records it."""

_BRACED_POWER = re.compile(r"10\s{0,4}\^\s{0,4}\{\s{0,4}([-+]?\d++(?:\.\d++)?)\s{0,4}\}")
_POWER = r"10\s{0,4}(?:\^|\*\*)\s{0,4}\(?[-+]?\d++(?:\.\d++)?\)?"
_BRACKETS = re.compile(rf"\[\s{{0,8}}({_POWER})\s{{0,8}},\s{{0,8}}({_POWER})\s{{0,8}}\]")


@dataclass(frozen=True, slots=True)
class IntervalReading:
    """The interval that a reply states.

    Attributes
    ----------
    status : Status
        ``missing_answer`` for a single end, ``out_of_range`` for an end beyond `LARGEST_EXPONENT`, or closer
        to 0 than `SMALLEST_FRACTION`.
    stated : str
        The ends as written, shortened; empty if there is none.
    rules : tuple of str
        Names of the lenient rules used, in order.
    lower, upper : float
        Ends as exponents of ten, lower <= upper; NaN unless both can be read and are within bounds.
    """

    status: Status
    stated: str = ""
    rules: tuple[str, ...] = ()
    lower: float = math.nan
    upper: float = math.nan


def read_exponent(text: str) -> tuple[float, str]:
    """Read one end and the name of the rule used; NaN unless the text is a number and nothing else.

    Examples
    --------
    >>> for text in ("13", "-4", "10^6", "1e3", "2.5", "9" * 400, "six", "10 million"):
    ...     print(text[:10], read_exponent(text))
    13 (13.0, '')
    -4 (-4.0, '')
    10^6 (6.0, 'power')
    1e3 (1000.0, 'scientific')
    2.5 (2.5, 'decimal')
    9999999999 (inf, '')
    six (nan, '')
    10 million (nan, '')
    """
    for rule, form in _FORMS:
        if match := form.fullmatch(text.strip()):
            return float(match[1] if rule == "power" else match[0]), rule
    return math.nan, ""


def read_fermi_interval(text: str, largest: float = LARGEST_EXPONENT) -> IntervalReading:
    r"""Read the interval of a reply: the last JSON object with L and U. Never raises, and takes linear time.

    An end beyond ``largest``, or of less than a hundredth, is out of range. Reasoning before the object is part of the
    format. If the model continues with a question that it made up, the first turn that states an end is read.

    Examples
    --------
    >>> read_fermi_interval('About 10^13 pennies.\n{"L": 12, "U": 14}')
    IntervalReading(status='ok', stated='12, 14', rules=(), lower=12.0, upper=14.0)
    >>> read_fermi_interval('{"L": 10^6, "U": 10^9}')
    IntervalReading(status='repaired', stated='10^6, 10^9', rules=('fields', 'power'), lower=6.0, upper=9.0)
    >>> read_fermi_interval('{"L": 9, "U": 6}').rules, read_fermi_interval('{"L": 1, "U": 1000000}').status
    (('swapped',), 'out_of_range')
    >>> read_fermi_interval('{"L": 3, "U": 5}\nQuestion: How many ants?\n{"L": 15, "U": 16}').stated
    '3, 5'
    >>> read_fermi_interval("Between a thousand and a million.").status
    'unreadable'
    """
    text = _BRACED_POWER.sub(r"10^\1", truncate_reply(text))
    reply = strip_thoughts(text)
    thought = ("thought",) if reply != text else ()
    reading, cut = read_first_turn(
        reply, lambda turn: _read_turn(turn, largest), lambda reading: reading.stated
    )
    if not reading.stated:
        return IntervalReading(_unread_status(text), "", thought)
    rules = (*thought, *(("next_turn",) if cut else ()), *reading.rules)
    status: Status = "repaired" if rules and reading.status == "ok" else reading.status
    return replace(reading, status=status, rules=rules)


def _read_turn(text: str, largest: float) -> IntervalReading:
    reading = read_json_fields(text, KEYS, last=True)
    fields, rules = reading.fields, reading.rules
    if text.rstrip().endswith("}"):  # text before the object is part of the format
        rules = tuple(rule for rule in rules if rule != "around")
    if not fields and (ends := _BRACKETS.findall(fold(text))):
        fields, rules = dict(zip(KEYS, ends[-1], strict=True)), ("brackets",)
    ends_text = [fold(fields.get(key, "")) for key in KEYS]
    (lower, lower_rule), (upper, upper_rule) = map(read_exponent, ends_text)
    rules = (*rules, *dict.fromkeys(rule for rule in (lower_rule, upper_rule) if rule))
    stated = ", ".join(map(_shortened, ends_text)) if any(ends_text) else ""
    n_missing = math.isnan(lower) + math.isnan(upper)
    if n_missing:
        return IntervalReading("missing_answer" if n_missing == 1 else _unread_status(text), stated, rules)
    return _checked_reading((lower, upper), stated, rules, largest)


def largest_end(truth: float) -> float:
    """Return the largest absolute value of an end: `PAPER_MAX_EXPONENT`, unless the truth lies beyond it.

    A larger end is nearly always the quantity itself, and a single one would dominate the mean width.
    """
    return LARGEST_EXPONENT if abs(truth) > PAPER_MAX_EXPONENT else PAPER_MAX_EXPONENT


SMALLEST_FRACTION = 0.01
"""Smallest distance of an end from 0, unless it is 0. A smaller one, such as 1e-6, is the quantity itself: exponents of
guesses are whole numbers, halves and tenths."""


def _checked_reading(
    ends: tuple[float, float], stated: str, rules: tuple[str, ...], largest: float
) -> IntervalReading:
    """Return the reading of two ends, in ascending order; without them if one is out of range."""
    lower, upper = ends
    is_quantity = any(0.0 < abs(end) < SMALLEST_FRACTION for end in ends)
    if is_quantity or max(abs(lower), abs(upper)) > largest:
        return IntervalReading("out_of_range", stated, rules)
    if lower > upper:
        lower, upper, rules = upper, lower, (*rules, "swapped")
    return IntervalReading("repaired" if rules else "ok", stated, rules, lower, upper)


_APPROXIMATELY = re.compile(r"[≈≃≅]|\\(?:approx|simeq|sim)(?![A-Za-z])")
_LABEL = re.compile(
    r"(?:[=:]|(?<!\d)(?<!\d\s)~|\bis\b)(?:\s{0,4}(?:about|approximately|approx\.|roughly|around)\s)?",
    re.IGNORECASE,
)
"""Words and marks before the exponent. A tilde after a digit is none: it joins the ends of a range, as in 12~14."""
_POWER_IN_BRACKETS = re.compile(
    r"(?<=[\d*])\s{1,4}\([^()\d]{0,40}(?:10\s?\^\s?\(?(?P<exponent>[-+]?\d{1,9})\)?[^()\d]{0,40})?\)\W{0,4}\Z"
)
"""A closing remark in brackets without a number, or with the exponent again as a power of ten."""
_CLOSING_MARKS = re.compile(r"(?:```|~~~|\$\$|\\[\])]|-{3,}|\s)*+")
_MARKS = " \t*`$()[].\\"


def read_fermi_exponent(text: str) -> IntervalReading:
    r"""Read the exponent of a reply, the number on its last line with content, as an interval of width 0.

    Text before that line is part of the format. The exponent is read in the same way as an end of an interval.

    Examples
    --------
    >>> read_fermi_exponent("-4")
    IntervalReading(status='ok', stated='-4', rules=(), lower=-4.0, upper=-4.0)
    >>> read_fermi_exponent("A trillion pennies, or so.\n**10^12**")
    IntervalReading(status='repaired', stated='10^12', rules=('wording', 'power'), lower=12.0, upper=12.0)
    >>> [read_fermi_exponent(closing).lower for closing in ("So x ≈ 13", r"\boxed{13}", "13 (i.e. 10^13)")]
    [13.0, 13.0, 13.0]
    """
    reply = fold(_APPROXIMATELY.sub("=", strip_thoughts(truncate_reply(text))))
    reply = _BRACED_POWER.sub(r"10^\1", reply).strip()
    lines = (line.strip() for line in reversed(reply.splitlines()) if not _CLOSING_MARKS.fullmatch(line))
    last = next(lines, "")
    number = _extract_number(last)
    value, rule = read_exponent(number)
    if math.isnan(value):
        return IntervalReading(_unread_status(reply))
    rules = tuple(name for name in ("wording" if number != last else "", rule) if name)
    return _checked_reading((value, value), _shortened(number), rules, PAPER_MAX_EXPONENT)


def _extract_number(line: str) -> str:
    """Return the number of a line without the words, marks and remarks around it."""
    line = last_box(line) or line
    remark = _POWER_IN_BRACKETS.search(line)
    number = _LABEL.split(line[: remark.start()] if remark else line)[-1].strip(_MARKS)
    return number if remark is None or remark["exponent"] in {None, number} else line


def _unread_status(text: str) -> Status:
    return "refused" if is_refusal(text) else "unreadable"


_SHOWN = 24


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
