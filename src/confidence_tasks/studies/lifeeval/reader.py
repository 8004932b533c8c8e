"""Reading a LifeEval reply: an age at death and the probability that it is near enough."""

from __future__ import annotations

import math
from dataclasses import replace

from confidence_tasks.reading.answers import Answer
from confidence_tasks.reading.cleaning import bounded
from confidence_tasks.reading.json_reader import read_json_fields
from confidence_tasks.reading.numbers import read_number
from confidence_tasks.reading.stated_probability import with_confidence
from confidence_tasks.studies.lifeeval.prompts import OLDEST
from confidence_tasks.study.reading import Reading

KEYS = ("Answer", "Confidence")


def read_age(text: str) -> Answer:
    """Read the one age that a short text states, in whole years.

    Examples
    --------
    >>> for text in ("81", "81.0", "eighty", "about 80", "78.5 years", "80-85", "unknown"):
    ...     print(text, read_age(text))
    81 Answer(text='81', rules=())
    81.0 Answer(text='81', rules=())
    eighty Answer(text='80', rules=('number_words',))
    about 80 Answer(text='80', rules=('remark',))
    78.5 years Answer(text='78', rules=('remark', 'rounded'))
    80-85 Answer(text='', rules=('several_numbers',))
    unknown Answer(text='', rules=())
    """
    number = read_number(text)
    if number is None:
        return Answer("")
    if "one_of_several" in number.forms:
        return Answer("", ("several_numbers",))
    if number.percent:
        return Answer("", ("percent",))
    rules = number.forms or (() if text.strip() == number.text else ("remark",))
    years = round(number.value)
    return Answer(str(years), rules if years == number.value else (*rules, "rounded"))


def read_lifeeval_reply(text: str) -> Reading:
    r"""Read the guess and the confidence of a reply; any text in, a reading out.

    Parameters
    ----------
    text : str
        The reply.

    Returns
    -------
    Reading
        The guess in whole years, and the confidence as stated (a percentage divided by 100). The status is
        ``out_of_range`` when the confidence is not in [0, 1] or the guess not in [0, 150]; such a guess is kept, as its
        chance is known to be 0.

    Examples
    --------
    >>> read_lifeeval_reply('{"Reasoning": "...", "Answer": 84, "Confidence": 0.7}')
    Reading(answer='84', confidence_raw=0.7, status='ok', rules=())
    >>> read_lifeeval_reply('```json\n{"Answer": "84 years", "Confidence": "70%"}\n```')
    Reading(answer='84', confidence_raw=0.7, status='repaired', rules=('around', 'remark', 'percent'))
    """
    text = bounded(text)
    found = read_json_fields(text, KEYS)
    said = found.fields.get("Answer", "")
    reading = with_confidence(read_age(said), said, found.fields.get("Confidence"), found.rules, text)
    if reading.answer and not 0 <= int(reading.answer) <= OLDEST and not math.isnan(reading.confidence_raw):
        return replace(reading, status="out_of_range", rules=(*reading.rules, "no_age"))
    return reading
