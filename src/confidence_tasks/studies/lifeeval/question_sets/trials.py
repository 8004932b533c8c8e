"""The trial of the question sets: a reply, its answer graded and its probabilities."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from confidence_tasks.reading.explanation import escape_markdown, format_number, token_probability, verdict
from confidence_tasks.reading.fields import is_probability
from confidence_tasks.reading.grading import grade
from confidence_tasks.reading.token_probabilities import option_probabilities, tokens_from_reply
from confidence_tasks.studies.lifeeval.question_sets.reader import (
    OptionsReading,
    read_boolean_reply,
    read_judgement,
    read_options_reply,
)
from confidence_tasks.studies.lifeeval.question_sets.replies import QUESTION_SETS, possible_answers
from confidence_tasks.study import Question, Reading, Replies, Token
from confidence_tasks.study.trial import ReadTrial, read_trial


class QuestionSetTrial(ReadTrial):
    """A trial of a calibration question set; ``answer`` is the stated answer, or for HaluEval the judged answer.

    ``correct`` and ``confidence`` refer to the favourite, the option with the highest probability; tied options share
    the credit. If a reply states one answer, or judges a given answer, this answer is the favourite.

    Attributes
    ----------
    gold : str
        The key.
    stimulus : float
        1 if the key is yes and 0 if it is no, the two alternatives of signal detection; NaN for sets of options.
    favourites : str
        Options with the highest probability, joined by ``+``; empty if the reply gives no distribution.
    answer_correct, answer_confidence : float
        Correctness and probability of the stated answer, which tables 3 and 4 of the paper use.
    confidence_raw : float
        Probability of the stated answer before normalisation, even if it is not in [0, 1].
    stated : str
        Probabilities of all options as stated, separated by spaces.
    judged_correct, judged_confidence : float
        ``correct`` and ``confidence`` of a reply that judges the given answer; NaN if the reply judges its own answer,
        or no answer was given.
    token_correct, token_confidence : float
        Correctness and probability of the favourite by token probabilities; tied options share the credit. NaN if
        there are no token probabilities.
    """

    gold: str
    stimulus: float
    favourites: str
    answer_correct: float
    answer_confidence: float
    confidence_raw: float
    stated: str
    judged_correct: float
    judged_confidence: float
    token_correct: float
    token_confidence: float


def read_reply(question: Question, condition: str, replies: Replies) -> QuestionSetTrial:
    """Read an answer and its probability, or the probabilities of all options.

    The question's metadata have its set as ``question_set``, and the answer that a judgement is about as ``given``.

    Examples
    --------
    >>> from confidence_tasks.study import ModelReply, Question
    >>> metadata = {"question_set": "sciq"}
    >>> question = Question("q-1", "demo", "2 + 2?", "choice", "B", ("3", "4", "5"), metadata=metadata)
    >>> reply = ModelReply('{"Answer": "B", "A": 0.4, "B": 0.4, "C": 0.2}')
    >>> trial = read_reply(question, "demo", {"answer": [reply]})
    >>> trial["correct"], trial["confidence"], trial["answer_correct"]
    (0.5, 0.4, 1.0)
    """
    metadata, reply = question.metadata, replies["answer"][0]
    form = QUESTION_SETS[metadata["question_set"]].form
    if form == "judgement":
        reading = read_judgement(reply.text, metadata.get("given", ""))
        # The key says whether the given answer is right (appendix C.1).
        trial = _single_answer_trial(question, reading, {}, grade("yes", kind="boolean", gold=question.gold))
        if "own_answer" not in reading.rules:
            trial |= {"judged_correct": trial["correct"], "judged_confidence": trial["confidence"]}
        return trial
    by_token = option_probabilities(tokens_from_reply(reply), possible_answers(question))
    if form == "options":
        return _options_trial(question, read_options_reply(reply.text, question.choices), by_token)
    reading = read_boolean_reply(reply.text)
    correct = grade(reading.answer, kind="boolean", gold=question.gold)
    return _single_answer_trial(question, reading, by_token, correct)


def _single_answer_trial(
    question: Question, reading: Reading, by_token: Mapping[str, float], correct: float
) -> QuestionSetTrial:
    """Return the trial of a reply about one answer, which is also the favourite."""
    confidence = reading.confidence_raw if is_probability(reading.confidence_raw) else math.nan
    return _trial(
        question,
        reading,
        by_token,
        correct=correct,
        confidence=confidence,
        answer_correct=correct,
        answer_confidence=confidence,
        confidence_raw=reading.confidence_raw,
    )


def _options_trial(
    question: Question, reading: OptionsReading, by_token: Mapping[str, float]
) -> QuestionSetTrial:
    """Return the trial of a reply that states a probability of every option."""
    answer = "" if reading.status == "unreadable" else reading.answer
    answer_correct = grade(answer, kind="choice", gold=question.gold)
    distribution = dict(zip(question.options, reading.probabilities, strict=False)) if answer else {}
    return _trial(
        question,
        reading,
        by_token,
        correct=_credit(question, reading.favourites) if distribution else answer_correct,
        confidence=reading.confidence_raw if distribution else math.nan,
        favourites="+".join(reading.favourites),
        answer_correct=answer_correct,
        answer_confidence=distribution.get(answer, math.nan),
        confidence_raw=dict(zip(question.options, reading.stated, strict=True)).get(answer, math.nan),
        stated=" ".join(f"{value:g}" for value in reading.stated),
    )


def _trial(
    question: Question,
    reading: Reading,
    by_token: Mapping[str, float],
    *,
    correct: float,
    confidence: float,
    **columns: Any,
) -> QuestionSetTrial:
    """Return a trial with the columns that do not depend on the form, and the given ``columns``."""
    top = max(by_token.values(), default=math.nan)
    favourites = [option for option, p in by_token.items() if p == top]
    return QuestionSetTrial(
        **read_trial(question, question.source, reading, correct=correct, confidence=confidence),
        gold=question.gold or "",
        stimulus={"yes": 1.0, "no": 0.0}.get(question.gold or "", math.nan),
        token_correct=_credit(question, favourites),
        token_confidence=top,
        judged_correct=math.nan,
        judged_confidence=math.nan,
        **{"favourites": "", "stated": "", **columns},  # type: ignore[typeddict-item]
    )


def _credit(question: Question, favourites: Sequence[str]) -> float:
    """Return the credit for the favourites, shared if they are tied; NaN without favourites or without key."""
    if question.gold is None or not favourites:
        return math.nan
    return (question.gold in favourites) / len(favourites)


def explain(trial: QuestionSetTrial, question: Question, tokens: Sequence[Token] = ()) -> dict[str, str]:
    """Return the rows of the explanation that the log viewer shows."""
    given = "in place of the given one, which is " if "own_answer" in trial["rules"] else ""
    rows = {
        "Answer": f"{escape_markdown(trial['answer']) or 'none'}: {given}**{verdict(trial['answer_correct'])}**",
        "Key": escape_markdown(trial["gold"] or "none"),
        "Confidence": format_number(trial["confidence_raw"]),
    }
    if trial["stated"]:
        stated = zip(question.options, trial["stated"].split(), strict=True)
        rows["Stated"] = ", ".join(f"{letter} {value}" for letter, value in stated)
    if trial["favourites"] not in ("", trial["answer"]):
        favourites = trial["favourites"].replace("+", ", ")
        rows["Favourite"] = f"{favourites}: **{verdict(trial['correct'])}**, {trial['confidence']:.3f}"
    return rows | token_probability(trial, tokens)
