"""Reading the replies of the question sets: a Boolean answer, a judgement, or a probability of each option.

arXiv:2605.23909, section 5 and appendix C.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from confidence_tasks.reading.answers import Answer, read_answer
from confidence_tasks.reading.cleaning import truncate_reply
from confidence_tasks.reading.fields import (
    KEYS,
    JsonFields,
    declines,
    is_probability,
    read_answer_and_confidence,
    read_field_of_confidence,
    read_json_fields,
    read_probability,
    status_of,
)
from confidence_tasks.reading.thoughts import strip_thoughts
from confidence_tasks.study import Reading
from confidence_tasks.study.trial import LETTERS

SUM_TOLERANCE = 0.015
"""Maximum distance of the sum of probabilities from 1 for a reply in the format; three probabilities of .33 pass."""

_TIE = 1e-9
"""Maximum difference between the probabilities of options that are tied."""

_CONTINUED = re.compile(
    r"\s*+(?P<quote>[\"']?)(?P<confidence>[-+]?[\d.]{1,20}%?)(?=\s*+(?:[\"'}]|\Z))[\"']?(?P<rest>.*)",
    re.DOTALL,
)


_CONTINUED_AGAIN = re.compile(r"^[ \t]{0,8}[\"']?[-+]?[\d.]{1,20}%?[\"'}]", re.MULTILINE)


def read_boolean_reply(text: str) -> Reading:
    """Read an answer, ``True`` as ``yes`` and ``False`` as ``no``, and a confidence.

    Examples
    --------
    >>> read_boolean_reply('{"Answer": "True", "Confidence": 0.95}')
    Reading(answer='yes', confidence_raw=0.95, status='ok', rules=())
    >>> read_boolean_reply('{"Answer": "It depends", "Confidence": 0.7}').status
    'missing_answer'
    """
    return read_answer_and_confidence(
        text,
        lambda value: read_answer(value.capitalize() if value in {"true", "false"} else value, "boolean"),
    )


def read_judgement(text: str, given: str) -> Reading:
    r"""Read the confidence in a given answer, from a JSON object or from a text that continues the prompt's object.

    The answer of the reading is the given answer, or the model's own answer if the reply states a different one (rule
    ``own_answer``).

    Examples
    --------
    >>> read_judgement('0.9"\n}', "Rome"), read_judgement('{"Confidence": 0.9}', "Rome").status
    (Reading(answer='Rome', confidence_raw=0.9, status='ok', rules=()), 'ok')
    >>> read_judgement('0.9"\n}\n\nExplanation: Rome it is.', "Rome")
    Reading(answer='Rome', confidence_raw=0.9, status='repaired', rules=('around',))
    >>> read_judgement('{"Answer": "No, Bonn.", "Confidence": "high"}', "Rome")
    Reading(answer='No, Bonn.', confidence_raw=nan, status='missing_confidence', rules=('own_answer',))
    """
    text = truncate_reply(text)
    reply = _read_continuation(text) or read_json_fields(text, KEYS)
    answer = reply.fields.get("Answer", "").strip()
    is_own = not _fold(given).startswith(_fold(answer))
    confidence, number_rules = read_field_of_confidence(reply, text)
    rules = (*reply.rules, *number_rules, *(("own_answer",) if is_own else ()))
    answered = "Confidence" in reply.fields or bool(answer)
    status = status_of(
        answered=answered,
        stated=not math.isnan(confidence),
        inside=is_probability(confidence),
        refused=not answered and declines("", text),
        rules=rules,
    )
    return Reading(answer if is_own else given, confidence, status, rules)


def _read_continuation(text: str) -> JsonFields | None:
    """Read a text that continues, once, the object that the prompt begins; return None for any other text."""
    visible = strip_thoughts(text)
    match = _CONTINUED.match(visible)
    if match is None or _CONTINUED_AGAIN.search(match["rest"]):
        return None
    rest = match["rest"] if match["rest"].strip("\"' \n\t") else "}"
    reply = read_json_fields(f'{{"Confidence": "{match["confidence"]}"{rest}', KEYS)
    thought = ("thought",) if visible != text else ()
    quote = ("opening_quote",) if match["quote"] else ()
    return replace(reply, rules=(*thought, *quote, *reply.rules))


def _fold(answer: str) -> str:
    """Return the letters and digits of an answer, without case."""
    return "".join(character for character in answer.casefold() if character.isalnum())


@dataclass(frozen=True, slots=True)
class OptionsReading(Reading):
    """Reading of a reply that states a probability of every option.

    Attributes
    ----------
    stated : tuple of float
        The probabilities as stated, in the order of the options; NaN if one is missing.
    probabilities : tuple of float
        The probabilities divided by their sum; empty unless all of them are in [0, 1].
    favourites : tuple of str
        Letters of the options with the highest probability.
    """

    stated: tuple[float, ...] = ()
    probabilities: tuple[float, ...] = ()
    favourites: tuple[str, ...] = ()


def read_options_reply(text: str, choices: Sequence[str]) -> OptionsReading:
    """Read an answer and a probability of every option from a reply, which may be any text.

    The answer is the favourite if the reply has no field for it. The confidence is the highest normalised probability.
    The status is ``unreadable`` if all probabilities are 0, ``missing_confidence`` if one is missing, and
    ``out_of_range`` if one is outside [0, 1].

    Examples
    --------
    >>> reading = read_options_reply('{"Answer": "B", "A": 0.2, "B": 0.6}', ("left", "right"))
    >>> reading.answer, round(reading.confidence_raw, 3), reading.status, reading.rules
    ('B', 0.75, 'repaired', ('normalised',))
    """
    text, letters = truncate_reply(text), LETTERS[: len(choices)]
    reply = read_json_fields(text, ("Answer", *letters))
    readings = [read_probability(reply.fields.get(letter, "")) for letter in letters]
    stated = tuple(value for value, _ in readings)
    rules = tuple(
        dict.fromkeys((*reply.rules, *(rule for _, number_rules in readings for rule in number_rules)))
    )
    probabilities = _normalise(stated)
    top = max(probabilities, default=math.nan)
    favourites = tuple(letter for letter, p in zip(letters, probabilities, strict=False) if p >= top - _TIE)
    if probabilities and abs(math.fsum(stated) - 1.0) > SUM_TOLERANCE:
        rules = (*rules, "normalised")
    answer_field = reply.fields.get("Answer", "")
    if "Answer" in reply.fields:
        answer = read_answer(answer_field, "choice", choices)
    else:
        answer = Answer(favourites[0], ("favourite",)) if len(favourites) == 1 else Answer("")
    rules = (*rules, *answer.rules)
    missing = [math.isnan(value) for value in stated]
    status = status_of(
        answered=answer.found,
        stated=not any(missing) if answer.found else not all(missing),
        inside=all(map(is_probability, stated)),
        refused=not answer.found and all(missing) and declines(answer_field, text),
        rules=rules,
    )
    if not any(missing) and not any(stated):
        status = "unreadable"  # all probabilities are 0
    return OptionsReading(answer.text, top, status, rules, stated, probabilities, favourites)


def _normalise(stated: Sequence[float]) -> tuple[float, ...]:
    """Divide probabilities by their sum (equation 5); return () if one is not in [0, 1], or all are 0."""
    total = math.fsum(stated) if all(map(is_probability, stated)) else 0.0
    return tuple(value / total for value in stated) if total > 0 else ()
