"""Reading replies to the calibration question sets.

A reply states an answer and a confidence, or a probability of every option, or its confidence in an answer that was
given.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from confidence_tasks.reading.answers import Answer, read_answer
from confidence_tasks.reading.cleaning import bounded, strip_thoughts
from confidence_tasks.reading.json_reader import JsonFields, read_json_fields
from confidence_tasks.reading.stated_probability import (
    KEYS,
    declines,
    is_probability,
    read_answer_and_confidence,
    read_probability,
    status_of,
)
from confidence_tasks.study import Reading, Status
from confidence_tasks.study.question import LETTERS

SUM_TOLERANCE = 0.015
"""How far probabilities may miss a sum of 1 and still keep to the format: three of .33 do."""

_TIE = 1e-9
_CONTINUED = re.compile(
    r"\s*+(?P<quote>[\"']?)(?P<confidence>[-+]?[\d.]{1,20}%?)(?=\s*+(?:[\"'}]|\Z))[\"']?(?P<rest>.*)",
    re.DOTALL,
)

_CONTINUED_AGAIN = re.compile(r"^[ \t]{0,8}[\"']?[-+]?[\d.]{1,20}%?[\"'}]", re.MULTILINE)


def read_boolean_reply(text: str) -> Reading:
    """Read ``True`` or ``False`` and a confidence; any text in, a reading out.

    Returns
    -------
    Reading
        The answer as ``yes`` or ``no``; a hedged one counts as what it claims.

    Examples
    --------
    >>> read_boolean_reply('{"Answer": "True", "Confidence": 0.95}')
    Reading(answer='yes', confidence_raw=0.95, status='ok', rules=())
    >>> read_boolean_reply('{"Answer": "It depends", "Confidence": 0.7}').status
    'missing_answer'
    """
    return read_answer_and_confidence(text, _boolean)


def _boolean(said: str) -> Answer:
    """Read true or false, or a longer answer that claims one of them."""
    return read_answer(said.capitalize() if said in {"true", "false"} else said, "boolean")


def read_judgement(text: str, given: str) -> Reading:
    r"""Read the confidence in an answer that was given; any text in, a reading out.

    Parameters
    ----------
    text : str
        The reply. A number that continues the object that the prompt began counts as well.
    given : str
        The answer that was given.

    Returns
    -------
    Reading
        Its answer is the one that the confidence is about: the given one, or the one that the reply puts in its place
        (rule ``own_answer``).

    Examples
    --------
    >>> read_judgement('0.9"\n}', "Rome"), read_judgement('{"Confidence": 0.9}', "Rome").status
    (Reading(answer='Rome', confidence_raw=0.9, status='ok', rules=()), 'ok')
    >>> read_judgement('0.9"\n}\n\nExplanation: Rome it is.', "Rome")
    Reading(answer='Rome', confidence_raw=0.9, status='repaired', rules=('around',))
    >>> read_judgement('{"Answer": "No, Bonn.", "Confidence": "high"}', "Rome")
    Reading(answer='No, Bonn.', confidence_raw=nan, status='missing_confidence', rules=('own_answer',))
    """
    text = bounded(text)
    found = _continued(text) or read_json_fields(text, KEYS)
    said = found.fields.get("Answer", "").strip()
    own = not _folded(given).startswith(_folded(said))
    value, interpreted = read_probability(found.fields.get("Confidence", ""))
    rules = (*found.rules, *interpreted, *(("own_answer",) if own else ()))
    speaks = "Confidence" in found.fields or bool(said)
    status = status_of(
        answered=speaks,
        stated=not math.isnan(value),
        inside=is_probability(value),
        refused=not speaks and declines("", text),
        rules=rules,
    )
    return Reading(said if own else given, value, status, rules)


def _continued(text: str) -> JsonFields | None:
    """Read a text that goes on with the object which the prompt began, once; None for any other."""
    said = strip_thoughts(text)
    continued = _CONTINUED.match(said)
    if continued is None or _CONTINUED_AGAIN.search(continued["rest"]):
        return None
    rest = continued["rest"] if continued["rest"].strip("\"' \n\t") else "}"
    found = read_json_fields(f'{{"Confidence": "{continued["confidence"]}"{rest}', KEYS)
    thought = ("thought",) if said != text else ()
    quote = ("opening_quote",) if continued["quote"] else ()
    return replace(found, rules=(*thought, *quote, *found.rules))


def _folded(answer: str) -> str:
    """Return an answer without case, punctuation and spaces."""
    return "".join(character for character in answer.casefold() if character.isalnum())


@dataclass(frozen=True, slots=True)
class OptionsReading(Reading):
    """What a reply says about every option.

    Attributes
    ----------
    stated : tuple of float
        The probabilities as stated, in the order of the options; NaN where none is.
    probabilities : tuple of float
        The same divided by their sum; empty unless all of them can be read and lie in [0, 1].
    favourites : tuple of str
        The letters of the options with the highest probability.
    """

    stated: tuple[float, ...] = ()
    probabilities: tuple[float, ...] = ()
    favourites: tuple[str, ...] = ()


def read_options_reply(text: str, choices: Sequence[str]) -> OptionsReading:
    """Read an answer and a probability of every option; any text in, a reading out.

    Parameters
    ----------
    text : str
        The reply.
    choices : sequence of str
        The options in the order shown.

    Returns
    -------
    OptionsReading
        The stated answer (the favourite where the reply has no field for it), and as confidence the highest
        normalised probability. ``unreadable`` when all probabilities are 0, ``missing_confidence`` when one is
        missing, ``out_of_range`` when one is outside [0, 1].

    Examples
    --------
    >>> reading = read_options_reply('{"Answer": "B", "A": 0.2, "B": 0.6}', ("left", "right"))
    >>> reading.answer, round(reading.confidence_raw, 3), reading.status, reading.rules
    ('B', 0.75, 'repaired', ('normalised',))
    """
    text, letters = bounded(text), LETTERS[: len(choices)]
    found = read_json_fields(text, ("Answer", *letters))
    values = [read_probability(found.fields.get(letter, "")) for letter in letters]
    stated = tuple(value for value, _ in values)
    rules = tuple(dict.fromkeys((*found.rules, *(rule for _, used in values for rule in used))))
    probabilities = _normalised(stated)
    top = max(probabilities, default=math.nan)
    favourites = tuple(letter for letter, p in zip(letters, probabilities, strict=False) if p >= top - _TIE)
    if probabilities and abs(math.fsum(stated) - 1.0) > SUM_TOLERANCE:
        rules = (*rules, "normalised")
    answer = _stated_answer(found, choices, favourites)
    rules = (*rules, *answer.rules)
    status = _status(answer, stated, found, text, rules)
    return OptionsReading(answer.text, top, status, rules, stated, probabilities, favourites)


def _normalised(stated: Sequence[float]) -> tuple[float, ...]:
    """Divide probabilities by their sum (equation 5); nothing when one is missing or impossible, or all are 0."""
    if not all(map(is_probability, stated)):
        return ()
    total = math.fsum(stated)
    return tuple(value / total for value in stated) if total > 0 else ()


def _stated_answer(found: JsonFields, choices: Sequence[str], favourites: Sequence[str]) -> Answer:
    if "Answer" in found.fields:
        return read_answer(found.fields["Answer"], "choice", choices)
    return Answer(favourites[0], ("favourite",)) if len(favourites) == 1 else Answer("")


def _status(
    answer: Answer, stated: Sequence[float], found: JsonFields, text: str, rules: Sequence[str]
) -> Status:
    """Say how a reply was read; probabilities that are all 0 say nothing."""
    absent = [math.isnan(value) for value in stated]
    if not any(absent) and not any(stated):
        return "unreadable"
    return status_of(
        answered=answer.found,
        stated=not any(absent) if answer.found else not all(absent),
        inside=all(map(is_probability, stated)),
        refused=not answer.found and all(absent) and declines(found.fields.get("Answer", ""), text),
        rules=rules,
    )
