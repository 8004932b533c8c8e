"""FermiEval's replies: what is asked, an interval of orders of magnitude or one order, and how replies are read.

The prompt for an interval is that of Epstein et al. (2025), appendix E. The paper prints none for a single exponent
("an integer-only response format"); that wording is this package's.

Ends are read as written. Nothing is raised to a power: ``1e3`` is the exponent 1000, and where a reply writes the
power itself, ``10^6``, its exponent is read, which a rule records. Numbers are never expanded, so that a thousand
digits cost no more than their length.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from confidence_tasks.reading import fields as json_fields
from confidence_tasks.reading.answers import is_refusal
from confidence_tasks.reading.cleaning import bounded, fold, last_box, read_first_turn, strip_thoughts
from confidence_tasks.sources import load
from confidence_tasks.sources.fermi import AUTHORS, SPLITS
from confidence_tasks.sources.own_file import is_own_file
from confidence_tasks.study import Domain, Question, Stage
from confidence_tasks.study.parameter import NumberedConditions, listed
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
    "lower": Domain(-LARGEST_EXPONENT, LARGEST_EXPONENT, not_above="upper"),
    "upper": Domain(-LARGEST_EXPONENT, LARGEST_EXPONENT),
    "truth": Domain(-LARGEST_KEY, LARGEST_KEY, required=True),
}
"""Orders of magnitude that readers accept; numbers outside are not read."""


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
    settled = ({"split": TEST} if split == CROSS else {}) | ({"max_exponent": limit} if limit else {})
    return [question.with_metadata(**settled) for question in questions]


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
    if split in AUTHORS:
        raise ValueError(f"split={split!r} is of the archive's questions; leave out source, or the split")
    if not is_own_file(path):
        raise ValueError(
            f"source={path!r} is neither fermi nor the path of a .jsonl or .csv file of questions"
        )
    questions = load(path, seed=seed, key="exponent")
    for question in questions:
        key = float(question.gold or math.nan) if question.kind == "number" else math.nan
        if not (key.is_integer() and abs(key) <= LARGEST_KEY):
            raise ValueError(
                f"{question.id}: its exponent {question.gold!r} is not a whole number within ±{LARGEST_KEY:,}"
            )
    halves = [question.with_metadata(split=SPLITS[turn % 2]) for turn, question in enumerate(questions)]
    return [question for question in halves if split in ("all", CROSS, question.metadata["split"])]


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


# The reader ----------------------------------------------------------------------------------------------------

KEYS = ("L", "U")

RULES: Mapping[str, str] = {
    **json_fields.RULES,
    "next_turn": "The reply goes on with a question of its own making: what follows from there does not count.",
    "brackets": "There is no JSON: the last interval written as [10^a, 10^b] counts.",
    "power": "An end is written as a power of ten: its exponent counts.",
    "scientific": "An end is written as 1e3: it is the exponent 1000.",
    "decimal": "An end is not written as an integer: it counts as it is, without rounding.",
    "wording": "Words or marks stand around an exponent on its line.",
    "swapped": "The lower end exceeds the upper one: they are exchanged.",
}
"""Names of the lenient rules, with what each does."""

_FORMS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("", re.compile(r"[-+]?\d++")),
    ("decimal", re.compile(r"[-+]?(?:\d++\.\d*+|\.\d++)")),
    ("scientific", re.compile(r"[-+]?(?:\d++(?:\.\d*+)?|\.\d++)[eE][-+]?\d++")),
    ("power", re.compile(r"10\s{0,4}(?:\^|\*\*)\s{0,4}\(?([-+]?\d++(?:\.\d++)?)\)?")),
)
"""How an end may be written, and the rule that records it."""

_BRACED_POWER = re.compile(r"10\s{0,4}\^\s{0,4}\{\s{0,4}([-+]?\d++(?:\.\d++)?)\s{0,4}\}")
_POWER = r"10\s{0,4}(?:\^|\*\*)\s{0,4}\(?[-+]?\d++(?:\.\d++)?\)?"
_BRACKETS = re.compile(rf"\[\s{{0,8}}({_POWER})\s{{0,8}},\s{{0,8}}({_POWER})\s{{0,8}}\]")


@dataclass(frozen=True, slots=True)
class IntervalReading:
    """The interval that a reply states.

    Attributes
    ----------
    lower, upper : float
        Its ends as exponents of ten, lower <= upper; NaN unless both can be read and are within bounds.
    status : Status
        ``missing_answer`` for one end alone, ``out_of_range`` for an end beyond `LARGEST_EXPONENT`.
    stated : str
        The ends as written, shortened; empty when there is none.
    rules : tuple of str
        Names of the lenient rules used, in order.
    """

    lower: float
    upper: float
    status: Status
    stated: str
    rules: tuple[str, ...] = ()


def read_exponent(text: str) -> tuple[float, str]:
    """Read one end, and the name of the rule that it took; NaN when the text is not a number and nothing else.

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
        if found := form.fullmatch(text.strip()):
            return float(found[1] if rule == "power" else found[0]), rule
    return math.nan, ""


def read_fermi_interval(text: str) -> IntervalReading:
    r"""Read the interval of a reply: the last JSON object with L and U; any text in, a reading out, in linear time.

    Reasoning before the object is part of the format. Where a model goes on with a question of its own making, the
    first of its turns that states an end counts.

    Examples
    --------
    >>> read_fermi_interval('About 10^13 pennies.\n{"L": 12, "U": 14}')
    IntervalReading(lower=12.0, upper=14.0, status='ok', stated='12, 14', rules=())
    >>> read_fermi_interval('{"L": 10^6, "U": 10^9}')
    IntervalReading(lower=6.0, upper=9.0, status='repaired', stated='10^6, 10^9', rules=('fields', 'power'))
    >>> read_fermi_interval('{"L": 9, "U": 6}').rules, read_fermi_interval('{"L": 1, "U": 1000000}').status
    (('swapped',), 'out_of_range')
    >>> read_fermi_interval('{"L": 3, "U": 5}\nQuestion: How many ants?\n{"L": 15, "U": 16}').stated
    '3, 5'
    >>> read_fermi_interval("Between a thousand and a million.").status
    'unreadable'
    """
    text = _BRACED_POWER.sub(r"10^\1", bounded(text))
    said = strip_thoughts(text)
    thought = ("thought",) if said != text else ()
    reading, cut = read_first_turn(said, _read_turn, lambda reading: reading.stated)
    if not reading.stated:
        return IntervalReading(math.nan, math.nan, _fault(len(KEYS), text), "", thought)
    rules = (*thought, *(("next_turn",) if cut else ()), *reading.rules)
    status: Status = "repaired" if rules and reading.status == "ok" else reading.status
    return replace(reading, status=status, rules=rules)


def _read_turn(text: str) -> IntervalReading:
    """Read the interval that one turn states."""
    found = json_fields.read_json_fields(text, KEYS, last=True)
    before = text.rstrip().endswith("}")  # text before the object is part of the format
    fields, rules = found.fields, tuple(rule for rule in found.rules if not (before and rule == "around"))
    if not fields and (ends := _BRACKETS.findall(fold(text))):
        fields, rules = dict(zip(KEYS, ends[-1], strict=True)), ("brackets",)
    said = [fold(fields.get(key, "")) for key in KEYS]
    (lower, lower_rule), (upper, upper_rule) = map(read_exponent, said)
    rules = (*rules, *dict.fromkeys(rule for rule in (lower_rule, upper_rule) if rule))
    stated = ", ".join(map(_shortened, said)) if any(said) else ""
    missing = math.isnan(lower) + math.isnan(upper)
    if missing:
        return IntervalReading(math.nan, math.nan, _fault(missing, text), stated, rules)
    return _within_bounds(lower, upper, stated, rules)


def _within_bounds(lower: float, upper: float, stated: str, rules: tuple[str, ...]) -> IntervalReading:
    """Return the ends in their order, unless one is no order of magnitude."""
    if max(abs(lower), abs(upper)) > LARGEST_EXPONENT:
        return IntervalReading(math.nan, math.nan, "out_of_range", stated, rules)
    if lower > upper:
        lower, upper, rules = upper, lower, (*rules, "swapped")
    return IntervalReading(lower, upper, "repaired" if rules else "ok", stated, rules)


_APPROXIMATELY = re.compile(r"[≈≃≅]|\\(?:approx|simeq|sim)(?![A-Za-z])")
_LABEL = re.compile(
    r"(?:[=:]|(?<!\d)(?<!\d\s)~|\bis\b)(?:\s{0,4}(?:about|approximately|approx\.|roughly|around)\s)?",
    re.IGNORECASE,
)
"""A tilde behind a digit joins the ends of a range, as in 12~14."""
_SAID_AGAIN = re.compile(
    r"(?<=[\d*])\s{1,4}\([^()\d]{0,40}(?:10\s?\^\s?\(?(?P<exponent>[-+]?\d{1,9})\)?[^()\d]{0,40})?\)\W{0,4}\Z"
)
"""A remark in brackets, with the power of ten if with any number."""
_CLOSING_MARKS = re.compile(r"(?:```|~~~|\$\$|\\[\])]|-{3,}|\s)*+")
_MARKS = " \t*`$()[].\\"


def read_fermi_exponent(text: str) -> IntervalReading:
    r"""Read the exponent of a reply, the number on its last line that says anything, as an interval that is a point.

    Text before that line is part of the format. Both ends are the exponent, read as the end of an interval is.

    Examples
    --------
    >>> read_fermi_exponent("-4")
    IntervalReading(lower=-4.0, upper=-4.0, status='ok', stated='-4', rules=())
    >>> read_fermi_exponent("A trillion pennies, or so.\n**10^12**")
    IntervalReading(lower=12.0, upper=12.0, status='repaired', stated='10^12', rules=('wording', 'power'))
    >>> [read_fermi_exponent(closing).lower for closing in ("So x ≈ 13", r"\boxed{13}", "13 (i.e. 10^13)")]
    [13.0, 13.0, 13.0]
    """
    said = fold(_APPROXIMATELY.sub("=", strip_thoughts(bounded(text))))
    said = _BRACED_POWER.sub(r"10^\1", said).strip()
    last = next(
        (line.strip() for line in reversed(said.splitlines()) if not _CLOSING_MARKS.fullmatch(line)), ""
    )
    number = _number_of(last)
    value, rule = read_exponent(number)
    if math.isnan(value):
        return IntervalReading(math.nan, math.nan, _fault(len(KEYS), said), "")
    rules = tuple(name for name in ("wording" if number != last else "", rule) if name)
    return _within_bounds(value, value, _shortened(number), rules)


def _number_of(line: str) -> str:
    """Return what a line gives as its number, without the words, marks and remarks around it."""
    line = last_box(line) or line
    again = _SAID_AGAIN.search(line)
    if again is None:
        return _LABEL.split(line)[-1].strip(_MARKS)
    number = _LABEL.split(line[: again.start()])[-1].strip(_MARKS)
    return number if again["exponent"] in {None, number} else line


def _fault(missing: int, text: str) -> Status:
    if missing < len(KEYS):
        return "missing_answer"
    return "refused" if is_refusal(text) else "unreadable"


_SHOWN = 24


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
