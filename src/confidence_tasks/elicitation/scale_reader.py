"""Reading the replies of the confidence-scale study.

A reply to the letter of the format that was asked for is ``ok``. Any other goes through tables of rules: what surrounds
it is cleared away (`cleaning`), `places` says where an answer and a confidence may stand, `answers` and
`scale_confidence` read them there. The reading names every rule that it took. Nothing is ever filled in.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, TypeVar

from confidence_tasks.elicitation.answers import Answer, read_answer
from confidence_tasks.elicitation.cleaning import apply_rules, clean
from confidence_tasks.elicitation.labels import LAYOUTS, Place, find_labelled
from confidence_tasks.elicitation.places import ANSWER_PLACES, CONFIDENCE_PLACES, PlaceRule, Reply
from confidence_tasks.elicitation.reading import Reading
from confidence_tasks.elicitation.refusals import is_refusal
from confidence_tasks.elicitation.scale_confidence import OFF_SCALE, ScaleReport, read_confidence
from confidence_tasks.elicitation.scale_prompts import TOP_K, Elicitation
from confidence_tasks.elicitation.scales import Scale
from confidence_tasks.elicitation.second_thoughts import second_thoughts
from confidence_tasks.questions.question import Kind
from confidence_tasks.trial import Status

MAX_PLACES = 20
"""Of more places than twice this only so many at either end of a reply are looked at."""

# The format asked for -------------------------------------------------------------------------------------------

FIRST, LAST = 0, -1
"""Which of several answers counts."""


@dataclass(frozen=True, slots=True)
class Format:
    """A format to be kept to the letter.

    Attributes
    ----------
    labels : tuple of str
        How its last lines begin, an answer's and a confidence's by turns.
    free : str
        How the free text before them begins; empty where there is none.
    counts : int
        Which of several answers counts: `FIRST` or `LAST`.
    """

    labels: tuple[str, ...]
    free: str = ""
    counts: int = LAST


_PAIR = Format(("Answer:", "Confidence:"))
_REASONED = Format(("Answer:", "Confidence:"), "Reasoning:")
_SOLVED = Format(("Final Answer:", "Confidence:"), "Solution:")
_GUESSED = Format(
    tuple(f"{label} {i}:" for i in range(1, TOP_K + 1) for label in ("Answer", "Confidence")), counts=FIRST
)

FORMATS: dict[tuple[bool, Elicitation], Format] = {
    (False, "verbal"): _PAIR,
    (False, "cot"): _REASONED,
    (False, "top_k"): _GUESSED,
    (True, "verbal"): _SOLVED,
    (True, "cot"): _SOLVED,
    (True, "top_k"): _GUESSED,
}
"""The format that `scale_prompt` asks for, by whether the answer is a number and by elicitation."""


def _strict_values(text: str, asked: Format) -> list[str] | None:
    """Return what follows each label of a format, None where the text departs from it."""
    if not text.lstrip().startswith(asked.free or asked.labels[0]):
        return None
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    size = len(asked.labels)
    free, lines = lines[:-size], lines[-size:]
    kept = len(lines) == size and all(
        line.startswith(label) for line, label in zip(lines, asked.labels, strict=True)
    )
    if not kept or bool(free) != bool(asked.free):
        return None
    if any(line.startswith(asked.labels) for line in free):
        return None
    return [line.removeprefix(label).strip() for line, label in zip(lines, asked.labels, strict=True)]


def _read_strictly(
    text: str, scale: Scale, kind: Kind, choices: Sequence[str], asked: Format
) -> Reading | None:
    """Read a reply to the letter of the format; None for any other."""
    values = _strict_values(text, asked)
    if values is None:
        return None
    answers = [read_answer(value, kind, choices) for value in values[::2]]
    reports = [read_confidence(value, scale) for value in values[1::2]]
    if any(answer.rules or not answer.text for answer in answers) or any(report.rules for report in reports):
        return None
    inside = all(scale.lower <= report.raw <= scale.upper for report in reports)
    return Reading(answers[0].text, reports[0].raw, "ok") if inside else None


# Any other reply ------------------------------------------------------------------------------------------------


class Legible(Protocol):
    """What `read_answer` and `read_confidence` return has in common."""

    @property
    def found(self) -> bool:
        """Whether there is something to be read."""

    @property
    def claim(self) -> str | float:
        """What is claimed, however it is said."""

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules used, or why there is nothing."""


ReadingT = TypeVar("ReadingT", bound=Legible)


@dataclass(frozen=True, slots=True)
class Found(Generic[ReadingT]):
    """Something read, where it stands, and the rules that it took."""

    place: Place
    reading: ReadingT
    rules: tuple[str, ...]


def _search(
    reply: Reply, table: Sequence[PlaceRule], label: str, read: Callable[[str], ReadingT]
) -> tuple[list[Found[ReadingT]], tuple[str, ...]]:
    """Return all that can be read at the first sort of place where anything can, or else why nothing can."""
    failure: tuple[str, ...] = ()
    for rule in table:
        found: list[Found[ReadingT]] = []
        for place in _both_ends(list(rule.apply(reply))):
            reading = read(place.value)
            if not reading.found or (rule.plain and reading.rules):
                failure = reading.rules or failure
                continue
            as_asked = rule.name == "label" and reply.text.startswith(label, place.start)
            name = () if as_asked else (rule.name,)
            found.append(Found(place, reading, (*name, *place.rules, *reading.rules)))
        if found and not (rule.agree and _differ(found)):
            return found, ()
        if not OFF_SCALE.isdisjoint(failure):
            break  # what the reply states: no number elsewhere stands in for it
    return [], failure


def _differ(found: Sequence[Found[Any]]) -> bool:
    """Whether different things are claimed."""
    return len({one.reading.claim for one in found}) > 1


def _both_ends(places: list[Place]) -> list[Place]:
    """Return the places that are looked at, so that no reply takes long."""
    return places if len(places) <= 2 * MAX_PLACES else places[:MAX_PLACES] + places[-MAX_PLACES:]


@dataclass(frozen=True, slots=True)
class Search:
    """What was found in a reply, and why what is missing is missing."""

    reply: Reply
    answers: list[Found[Answer]]
    reports: list[Found[ScaleReport]]
    failures: tuple[str, ...]


def _search_both(text: str, scale: Scale, kind: Kind, choices: Sequence[str], asked: Format) -> Search:
    """Look for answers and confidences in a cleaned reply."""
    reply = Reply(text, kind, choices, find_labelled(text))
    reports, no_report = _search(
        reply, CONFIDENCE_PLACES, asked.labels[1], lambda value: read_confidence(value, scale)
    )
    reply = replace(reply, confidence=reports[asked.counts].place if reports else None)
    answers, no_answer = _search(
        reply, ANSWER_PLACES, asked.labels[0], lambda value: read_answer(value, kind, choices)
    )
    return Search(reply, answers, reports, (*no_answer, *no_report))


_NEXT_TURN = re.compile(
    r"^[ \t]{0,4}(?:answer the following question|solve the following math problem|(?:next )?question(?: \d{1,3})?:"
    r"|q\d{0,3}:|user:|human:|instruction:|problem:)",
    re.IGNORECASE | re.MULTILINE,
)


def _own_turn(search: Search) -> str:
    """Return the reply up to where the model goes on with a question of its own making."""
    text = search.reply.text
    if not search.answers or not search.reports:
        return text
    following = _NEXT_TURN.search(text, max(search.answers[0].place.end, search.reports[0].place.end))
    return text[: following.start()] if following else text


def _unpaired(answers: Sequence[Found[Answer]], report: Found[ScaleReport]) -> bool:
    """Whether the last answer replaces an earlier one without a new confidence."""
    last = answers[-1]
    return last.place.start > report.place.start and any(
        answer.place.start < report.place.start and answer.reading.text != last.reading.text
        for answer in answers
    )


_SAYS_SOMETHING = re.compile(r"[^\s!-/:-@\[-`{-~]")


def _departures(text: str, answer: Place, confidence: Place, asked: Format) -> Iterator[str]:
    """Name how the two parts depart from the order and the lines of the format."""
    first, second = sorted((answer, confidence), key=lambda place: place.start)
    if first is not answer:
        yield "order"
    if "\n" not in text[first.end : second.start]:
        yield "one_line"
    before, rest = text[: first.start], text[first.end : second.start] + text[second.end :]
    if _SAYS_SOMETHING.search(rest if asked.free and before.startswith(asked.free) else before + rest):
        yield "extra_text"


ARRANGEMENTS = {
    "next_turn": (
        "What follows a question of the model's own making is not read.",
        "Answer: B\nConfidence: 17\nQuestion: What next?\nAnswer: A\nConfidence: 3",
    ),
    "several": ("Of several readings the last counts.", "Answer: A\nAnswer: B\nConfidence: 17"),
    "unpaired": (
        "A confidence in an answer that was replaced is not one in the new answer.",
        "Answer: A\nConfidence: 17\nNo:\nAnswer: B",
    ),
    "order": ("The confidence comes first.", "Confidence: 17\nAnswer: B"),
    "one_line": ("Both stand on one line.", "Answer: B, Confidence: 17"),
    "extra_text": ("There is more text than was asked for.", "Sure!\nAnswer: B\nConfidence: 17"),
    "clipped": (
        "Off the scale by at most 5% of its width, which counts as the bound.",
        "Answer: B\nConfidence: 21",
    ),
}
"""Rules about the reply as a whole: what each does, and an example on 0-20."""


def _read_leniently(text: str, scale: Scale, kind: Kind, choices: Sequence[str], asked: Format) -> Reading:
    """Read any reply by the tables of rules."""
    cleaned, used = clean(text)
    cleaned, layouts = apply_rules((*LAYOUTS, second_thoughts(kind, choices)), cleaned)
    rules = [*used, *layouts]
    search = _search_both(cleaned, scale, kind, choices, asked)
    own = _own_turn(search)
    if own != cleaned:
        search = _search_both(own, scale, kind, choices, asked)
        rules.append("next_turn")
    answer = search.answers[asked.counts] if search.answers else None
    report = search.reports[asked.counts] if search.reports else None
    if asked.counts == LAST and answer and report and _unpaired(search.answers, report):
        report = None
        rules.append("unpaired")
    rules += [rule for found in (answer, report) if found for rule in found.rules]
    rules += search.failures
    if asked.counts == LAST and (_differ(search.answers) or _differ(search.reports)):
        rules.append("several")
    if answer and report:
        rules.extend(_departures(search.reply.text, answer.place, report.place, asked))
    return _reading(
        answer.reading.text if answer else "", report.reading.raw if report else math.nan, rules, scale, own
    )


def _reading(answer: str, raw: float, rules: list[str], scale: Scale, text: str) -> Reading:
    """Name the status of what was found."""
    status: Status = "repaired"
    if not answer and ("refusal" in rules or is_refusal(text)):
        status = "refused"
    elif not answer:
        status = "unreadable" if math.isnan(raw) else "missing_answer"
    elif math.isnan(raw):
        status = "missing_confidence"
    elif scale.violates(raw):
        status = "out_of_range"
    elif not scale.lower <= raw <= scale.upper:
        rules = [*rules, "clipped"]
    return Reading(answer, raw, status, tuple(dict.fromkeys(rules)))


def read_scale_reply(
    text: str,
    scale: Scale,
    *,
    kind: Kind,
    choices: Sequence[str] = (),
    elicitation: Elicitation = "verbal",
) -> Reading:
    r"""Read the answer and the confidence that a reply states.

    A total function: any text in, a reading out, in time linear in its length. It says what the reply claims, never
    whether that is right.

    Parameters
    ----------
    text : str
        The reply.
    scale : Scale
        The scale that was asked for.
    kind : {"choice", "number", "text", "boolean"}
        What an answer looks like.
    choices : sequence of str
        The options in the order shown; needed for ``choice``.
    elicitation : {"verbal", "cot", "top_k"}
        How the confidence was asked for; of the guesses of ``top_k`` the first is read, which is the best.

    Returns
    -------
    Reading
        The answer in canonical form (a letter; a decimal number; ``yes`` or ``no``; a text), the confidence as stated,
        the status, and the names of the rules used. The status is

        * ``ok`` for a reply to the letter of the format, its confidence an integer within the bounds;
        * ``repaired`` where lenient rules were needed, also for a confidence off the scale by at most 5% of its width;
        * ``out_of_range`` for one further off, which is kept as stated;
        * ``missing_confidence``, ``missing_answer``, or ``unreadable`` where neither was found;
        * ``refused`` where there is no answer because the model declines to give one.

    Examples
    --------
    >>> cities = ("Paris", "London", "Rome", "Berlin")
    >>> read_scale_reply("Answer: B\nConfidence: 17", Scale(0, 20), kind="choice", choices=cities)
    Reading(answer='B', confidence_raw=17.0, status='ok', rules=())
    >>> read_scale_reply("**Answer:** London\n**Confidence:** 17/20", Scale(0, 20), kind="choice", choices=cities)
    Reading(answer='B', confidence_raw=17.0, status='repaired', rules=('markdown', 'of_upper'))
    >>> read_scale_reply("Final Answer: $1,234.50\nConfidence: 85%", Scale(0, 20), kind="number")
    Reading(answer='1234.5', confidence_raw=85.0, status='out_of_range', rules=('percent',))
    """
    asked = FORMATS[kind == "number", elicitation]
    return _read_strictly(text, scale, kind, choices, asked) or _read_leniently(
        text, scale, kind, choices, asked
    )
