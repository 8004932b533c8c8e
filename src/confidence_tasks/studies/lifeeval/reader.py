"""Reading the age and the confidence of a reply."""

from __future__ import annotations

import math
import re
from dataclasses import replace

from confidence_tasks.reading.answers import Answer
from confidence_tasks.reading.fields import read_answer_and_confidence
from confidence_tasks.reading.numbers import read_number
from confidence_tasks.studies.lifeeval.replies import OLDEST
from confidence_tasks.study import Reading

_YEARS_LEFT = re.compile(
    r"\b(?:more|additional|further|another|extra|longer|remaining|left)\b|\A\W{0,4}(?:\+|plus\b)"
    r"|\by(?:ea)?rs?\s(?:from\s(?:now|today)|later|to\s(?:live|go))\b"
    r"|\bin\s(?:(?:about|around|roughly)\s)?[\w-]{1,20}\sy(?:ea)?rs?\b"
    r"|\b(?:noch|weitere|encore|reste|restants?|otros|más|quedan|restantes|ещё|еще|осталось)\b|还有|还能|剩|あと|متبقية",
    re.IGNORECASE,
)
"""Words, or a plus sign, before a number of years that a person still has, which is no age."""


def read_age(text: str) -> Answer:
    """Read an age in whole years from a short text; empty unless the text states exactly one number.

    Examples
    --------
    >>> for text in ("81", "81.0", "eighty", "about 80", "78.5 years", "80-85", "19 more years", "+19", "0.84"):
    ...     print(text, read_age(text))
    81 Answer(text='81', rules=())
    81.0 Answer(text='81', rules=())
    eighty Answer(text='80', rules=('number_words',))
    about 80 Answer(text='80', rules=('remark',))
    78.5 years Answer(text='78', rules=('remark', 'rounded'))
    80-85 Answer(text='', rules=('several_numbers',))
    19 more years Answer(text='', rules=('years_left',))
    +19 Answer(text='', rules=('years_left',))
    0.84 Answer(text='', rules=('probability',))
    """
    number = read_number(text)
    if number is None:
        return Answer("")
    if "one_of_several" in number.forms:
        return Answer("", ("several_numbers",))
    if number.percent:
        return Answer("", ("percent",))
    if _YEARS_LEFT.search(text):
        return Answer("", ("years_left",))
    if 0 < number.value < 1:
        return Answer("", ("probability",))
    remark = () if text.strip() == number.text else ("remark",)
    rules = tuple(dict.fromkeys((*number.forms, *remark)))
    years = round(number.value)
    return Answer(str(years), rules if years == number.value else (*rules, "rounded"))


def read_lifeeval_reply(text: str) -> Reading:
    r"""Read the guess and the confidence of a reply, which may be any text.

    The guess is in whole years. The confidence is as stated; a percentage is divided by 100. The status is
    ``out_of_range`` if the confidence is not in [0, 1] or the guess is not in [0, 150]. Such a guess is kept, since its
    score is known to be 0.

    Examples
    --------
    >>> read_lifeeval_reply('{"Reasoning": "...", "Answer": 84, "Confidence": 0.7}')
    Reading(answer='84', confidence_raw=0.7, status='ok', rules=())
    >>> read_lifeeval_reply('```json\n{"Answer": "84 years", "Confidence": "70%"}\n```')
    Reading(answer='84', confidence_raw=0.7, status='repaired', rules=('around', 'remark', 'percent'))
    """
    reading = read_answer_and_confidence(text, read_age)
    if reading.answer and not 0 <= int(reading.answer) <= OLDEST and not math.isnan(reading.confidence_raw):
        return replace(reading, status="out_of_range", rules=(*reading.rules, "no_age"))
    return reading
