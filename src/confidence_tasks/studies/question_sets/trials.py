"""The calibration question sets: reading a reply into a trial, and the measures of each set.

arXiv:2605.23909, sections 5 and 6, appendix C.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from confidence_tasks.reading.answers import Answer, read_answer
from confidence_tasks.reading.cleaning import truncate_reply
from confidence_tasks.reading.explanation import escape_markdown, format_number, token_probability, verdict
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
from confidence_tasks.reading.grading import grade
from confidence_tasks.reading.thoughts import strip_thoughts
from confidence_tasks.reading.token_probabilities import option_probabilities, tokens_from_reply
from confidence_tasks.simulation.reply import answer, reply_probabilities
from confidence_tasks.simulation.subject import Subject, expected_values
from confidence_tasks.statistics import sdt
from confidence_tasks.studies.lifeeval.trials import extra_bin_error, rounded_share
from confidence_tasks.studies.question_sets.replies import (
    KINDS,
    QUESTION_SETS,
    Form,
    confidence_in_form,
    possible_answers,
    reply_in_form,
)
from confidence_tasks.studies.scales.replies import PERCENT, report_distribution
from confidence_tasks.study import ModelReply, Question, Reading, Replies, TaskMetrics, Token
from confidence_tasks.study.inference import Percentile
from confidence_tasks.study.measures import (
    ACCURACY,
    ACCURACY_OF_ALL,
    CONFIDENCE,
    PARSE_RATE,
    PARSE_RATE_STRICT,
    UNIT,
    Better,
    Measure,
    auroc,
    calibration_error,
    mean_measure,
    overconfidence,
    proportion_measure,
    proportion_of,
    right_and_wrong,
    select_measures,
    smallest_set,
    statistic_of,
    summarise,
)
from confidence_tasks.study.standard import BRIER, OVERCONFIDENCE, with_stable_d_prime
from confidence_tasks.study.trial import LETTERS, ReadTrial, read_trial

# Reading a reply ----------------------------------------------------------------------------------------------

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


# Trials -------------------------------------------------------------------------------------------------------


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


# Measures -------------------------------------------------------------------------------------------------------


MEASURES: tuple[Measure, ...] = (
    calibration_error("ece", "Expected calibration error, 10 bins closed on the right."),
    ACCURACY,
    ACCURACY_OF_ALL,
    CONFIDENCE,
    OVERCONFIDENCE,
    BRIER,
    auroc(
        "auroc",
        "Chance that a right stated answer has more confidence than a wrong one; ties count one half.",
        "answer_correct",
        "answer_confidence",
    ),
    extra_bin_error(),
    rounded_share("confidence_raw"),
    PARSE_RATE,
    PARSE_RATE_STRICT,
)
"""Measures of every set."""

BOOLEAN_MEASURES: tuple[Measure, ...] = (
    Measure(
        "mratio",
        with_stable_d_prime(
            statistic_of(sdt.m_ratio_2afc, "correct", "confidence", "stimulus"),
            statistic_of(sdt.d_prime_2afc, "correct", "confidence", "stimulus"),
        ),
        "Textbook meta-d' / d' from key, answer and confidence: 1 is ideal; withheld if d' is below 0.5.",
        "higher",
        inference=Percentile(informative=smallest_set(*right_and_wrong())),
    ),
    Measure(
        "meta_d",
        statistic_of(sdt.meta_d_2afc, "correct", "confidence", "stimulus"),
        "Textbook meta-d': type-2 sensitivity of the confidences, by maximum likelihood.",
        "higher",
        inference=Percentile(informative=smallest_set(*right_and_wrong())),
    ),
)


def _calibration_measures(
    prefix: str, ece: str, accuracy: str, confidence: str, over: str, better: Better = "higher"
) -> tuple[Measure, ...]:
    """Return calibration error, accuracy, mean confidence and overconfidence, with their descriptions.

    The columns are ``{prefix}_correct`` and ``{prefix}_confidence``; ``better`` is the direction of accuracy.
    """
    columns = f"{prefix}_correct", f"{prefix}_confidence"
    return (
        calibration_error(f"{prefix}_ece", ece, *columns),
        proportion_measure(f"{prefix}_accuracy", columns[0], accuracy, better),
        mean_measure(columns[1], columns[1], confidence, bounds=UNIT),
        overconfidence(f"{prefix}_overconfidence", over, *columns),
    )


OPTIONS_MEASURES: tuple[Measure, ...] = _calibration_measures(
    "answer",
    "Expected calibration error of the stated answers, as in tables 3 and 4 of the paper.",
    "Mean correctness of the stated answers, whichever option has the highest probability.",
    "Mean normalised probability of the stated answers.",
    "Mean probability of the stated answers minus their accuracy.",
)

JUDGEMENT_MEASURES: tuple[Measure, ...] = (
    proportion_measure(
        "own_answer_share",
        proportion_of(
            lambda trials: np.array(["own_answer" in rules.split("+") for rules in trials["rules"]])
        ),
        "Share of replies that replace the given answer by an answer of their own.",
    ),
    *_calibration_measures(
        "judged",
        "Expected calibration error of the replies that judge the given answer.",
        "Share of right answers among the given answers that are judged.",
        "Mean confidence of the replies that judge the given answer.",
        "Mean confidence minus accuracy of the replies that judge the given answer.",
        better="neither",
    ),
    auroc(
        "judged_auroc",
        "Chance that a right judged answer has more confidence than a wrong one; ties count one half.",
        "judged_correct",
        "judged_confidence",
    ),
)

TOKEN_MEASURES: tuple[Measure, ...] = _calibration_measures(
    "token",
    "Expected calibration error of the token probabilities.",
    "Mean correctness of the options with the highest token probability.",
    "Mean token probability of the options with the highest token probability.",
    "Mean token probability of the options with the highest token probability, minus their mean correctness.",
)

FORM_MEASURES: Mapping[Form, tuple[Measure, ...]] = {
    "boolean": BOOLEAN_MEASURES,
    "options": OPTIONS_MEASURES,
    "judgement": JUDGEMENT_MEASURES,
}
"""Measures of the sets of each form, in addition to `MEASURES`."""

ALL_MEASURES = MEASURES + BOOLEAN_MEASURES + OPTIONS_MEASURES + JUDGEMENT_MEASURES + TOKEN_MEASURES
"""The measures of all sets; a measure that does not apply to a set is NaN or trivial."""


def measures_of(form: Form, *, token_probabilities: bool = False) -> tuple[Measure, ...]:
    """Return the measures of the question sets of a form."""
    return MEASURES + FORM_MEASURES[form] + (TOKEN_MEASURES if token_probabilities else ())


def question_set_summary(
    trials: Sequence[Mapping[str, Any]],
    *,
    task: str,
    conditions: Sequence[str],
    token_probabilities: bool = False,
    names: Sequence[str] | None = None,
) -> dict[str, float]:
    """Return the named measures of a question set, by default all."""
    measures = measures_of(QUESTION_SETS[task].form, token_probabilities=token_probabilities)
    return summarise(trials, select_measures(measures, names), conditions)


LOGGED = ("ece", "accuracy", "overconfidence", "auroc", "parse_rate")
"""Measures that logs have by default; the mean confidence is the sum of accuracy and overconfidence."""


def question_set_metrics(parameters: Mapping[str, Any], conditions: Sequence[str]) -> TaskMetrics:
    """Return the metrics of a run: the measures of the set's form; HaluEval has no token probabilities."""
    task = parameters["task"]
    token_probabilities = bool(parameters.get("top_logprobs"))
    arguments = {"task": task, "conditions": list(conditions), "token_probabilities": token_probabilities}
    measures = measures_of(QUESTION_SETS[task].form, token_probabilities=token_probabilities)
    return TaskMetrics(question_set_summary, arguments, measures, conditions[0], default_measures=LOGGED)


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


def true_values(subject: Subject, condition: str, task: str, *run: object) -> dict[str, float]:
    """Return the true values of a subject's measures on a question set, with the paper's prompts.

    Half of HaluEval's given answers are right, and half of BoolQ's keys are "yes". Questions have four options, or five
    in LSAT-AR. Measures of token probabilities are left out.

    Examples
    --------
    >>> values = true_values(Subject(bias=1.0), "boolq", "boolq")
    >>> {name: round(values[name], 3) for name in ("accuracy", "confidence", "ece")}
    {'accuracy': 0.773, 'confidence': 0.895, 'ece': 0.121}
    """
    form = QUESTION_SETS[task].form
    options = tuple("vwxyz" if task == "lsat_ar" else "wxyz") if form == "options" else ()
    metadata = {"question_set": task}
    questions = [
        Question("true", condition, "?", KINDS[form], key, options, metadata=metadata)
        for key in (("A",) if form == "options" else ("yes", "no"))
    ]
    trials = [
        (trial, probability / len(questions))
        for question in questions
        for trial, probability in _trial_distribution(subject, question, condition, form)
    ]
    return expected_values(measures_of(form), trials)


def _trial_distribution(
    subject: Subject, question: Question, condition: str, form: Form
) -> Iterator[tuple[QuestionSetTrial, float]]:
    """Yield the trials of a subject's possible replies to a question, with their probabilities."""
    chosen = {correct: answer(question, correct=correct, seed=0) for correct in (True, False)}
    reports = report_distribution(
        subject,
        condition,
        PERCENT,
        lambda confidence, correct: confidence_in_form(form, question, chosen[correct], confidence),
    )
    for (correct, percent), p_report in reports.items():
        reply = reply_in_form(form, question, chosen[correct], percent / 100)
        for text, p_text in reply_probabilities(reply, subject):
            yield read_reply(question, condition, {"answer": [ModelReply(text)]}), p_report * p_text
