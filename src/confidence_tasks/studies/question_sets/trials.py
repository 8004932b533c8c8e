"""The calibration question sets: from a reply to a trial, and the measures of each set.

arXiv:2605.23909, sections 5 and 6, appendix C.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from confidence_tasks.reading.answers import Answer, read_answer
from confidence_tasks.reading.cleaning import strip_thoughts, truncate_reply
from confidence_tasks.reading.explanation import escape_markdown, format_number, token_probability, verdict
from confidence_tasks.reading.fields import (
    KEYS,
    JsonFields,
    declines,
    is_probability,
    read_answer_and_confidence,
    read_json_fields,
    read_probability,
    status_of,
)
from confidence_tasks.reading.grading import grade
from confidence_tasks.reading.token_probabilities import option_probabilities
from confidence_tasks.simulation.reply import answer, reply_probabilities
from confidence_tasks.simulation.subject import Subject, expected_values
from confidence_tasks.studies.question_sets.replies import (
    QUESTION_SETS,
    Form,
    answers_of,
    belief_in_form,
    reply_in_form,
)
from confidence_tasks.studies.scales.replies import PERCENT, report_distribution
from confidence_tasks.study import ModelReply, Question, Reading, Replies, TaskMetrics, Token
from confidence_tasks.study.measures import (
    ACCURACY,
    ACCURACY_OF_ALL,
    CONFIDENCE,
    PARSE_RATE,
    PARSE_RATE_STRICT,
    UNIT,
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
from confidence_tasks.study.reference import np
from confidence_tasks.study.standard import BRIER, OVERCONFIDENCE
from confidence_tasks.study.trial import LETTERS, ReadTrial, read_trial

# Reading a reply ----------------------------------------------------------------------------------------------

SUM_TOLERANCE = 0.015
"""How far probabilities may miss a sum of 1 and still keep to the format: three of .33 do."""

_TIE = 1e-9
_CONTINUED = re.compile(
    r"\s*+(?P<quote>[\"']?)(?P<confidence>[-+]?[\d.]{1,20}%?)(?=\s*+(?:[\"'}]|\Z))[\"']?(?P<rest>.*)",
    re.DOTALL,
)

_CONTINUED_AGAIN = re.compile(r"^[ \t]{0,8}[\"']?[-+]?[\d.]{1,20}%?[\"'}]", re.MULTILINE)


def read_boolean_reply(text: str) -> Reading:
    """Read ``True`` or ``False``, as ``yes`` or ``no``, and a confidence; a hedged answer counts as what it claims.

    Examples
    --------
    >>> read_boolean_reply('{"Answer": "True", "Confidence": 0.95}')
    Reading(answer='yes', confidence_raw=0.95, status='ok', rules=())
    >>> read_boolean_reply('{"Answer": "It depends", "Confidence": 0.7}').status
    'missing_answer'
    """
    return read_answer_and_confidence(
        text, lambda said: read_answer(said.capitalize() if said in {"true", "false"} else said, "boolean")
    )


def read_judgement(text: str, given: str) -> Reading:
    r"""Read the confidence in an answer that was given; a number that continues the prompt's object counts as well.

    The answer of the reading is the one that the confidence is about: the given one, or the one that the reply puts in
    its place (rule ``own_answer``).

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
    """Probabilities that a reply states for the options.

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
    """Read an answer and a probability of every option, in the order shown; any text in, a reading out.

    The answer is the favourite where the reply has no field for it, and the confidence the highest normalised
    probability. The status is ``unreadable`` when all probabilities are 0, ``missing_confidence`` when one is missing,
    ``out_of_range`` when one is outside [0, 1].

    Examples
    --------
    >>> reading = read_options_reply('{"Answer": "B", "A": 0.2, "B": 0.6}', ("left", "right"))
    >>> reading.answer, round(reading.confidence_raw, 3), reading.status, reading.rules
    ('B', 0.75, 'repaired', ('normalised',))
    """
    text, letters = truncate_reply(text), LETTERS[: len(choices)]
    found = read_json_fields(text, ("Answer", *letters))
    values = [read_probability(found.fields.get(letter, "")) for letter in letters]
    stated = tuple(value for value, _ in values)
    rules = tuple(dict.fromkeys((*found.rules, *(rule for _, used in values for rule in used))))
    probabilities = _normalised(stated)
    top = max(probabilities, default=math.nan)
    favourites = tuple(letter for letter, p in zip(letters, probabilities, strict=False) if p >= top - _TIE)
    if probabilities and abs(math.fsum(stated) - 1.0) > SUM_TOLERANCE:
        rules = (*rules, "normalised")
    said = found.fields.get("Answer", "")
    if "Answer" in found.fields:
        answer = read_answer(said, "choice", choices)
    else:
        answer = Answer(favourites[0], ("favourite",)) if len(favourites) == 1 else Answer("")
    rules = (*rules, *answer.rules)
    absent = [math.isnan(value) for value in stated]
    status = status_of(
        answered=answer.found,
        stated=not any(absent) if answer.found else not all(absent),
        inside=all(map(is_probability, stated)),
        refused=not answer.found and all(absent) and declines(said, text),
        rules=rules,
    )
    if not any(absent) and not any(stated):
        status = "unreadable"  # probabilities that are all 0 say nothing
    return OptionsReading(answer.text, top, status, rules, stated, probabilities, favourites)


def _normalised(stated: Sequence[float]) -> tuple[float, ...]:
    """Divide probabilities by their sum (equation 5); nothing when one is missing or impossible, or all are 0."""
    total = math.fsum(stated) if all(map(is_probability, stated)) else 0.0
    return tuple(value / total for value in stated) if total > 0 else ()


# Trials -------------------------------------------------------------------------------------------------------


class QuestionSetTrial(ReadTrial):
    """A trial of a calibration question set; ``answer`` is the answer stated, for HaluEval the one judged.

    ``correct`` and ``confidence`` are about the favourite: the option with the highest probability, ties sharing the
    credit. Where a reply states one answer only, or judges a given one, that is the favourite.

    Attributes
    ----------
    gold : str
        The key.
    stimulus : float
        1 when the key is yes and 0 when it is no, the two alternatives of signal detection; NaN for sets of options.
    favourites : str
        The options with the highest probability, joined by ``+``; empty when the reply gives no distribution.
    answer_correct, answer_confidence : float
        Whether the stated answer is right, and its probability; tables 3 and 4 of the paper are of these.
    confidence_raw : float
        The probability of the stated answer before normalisation, wherever it lies.
    stated : str
        The probabilities of all options as stated, with spaces between.
    judged_correct, judged_confidence : float
        ``correct`` and ``confidence`` of a reply that judges the given answer; NaN where it puts its own in the place
        of that, and where none was given.
    token_correct, token_confidence : float
        Correctness and probability of the favourite by token probabilities, ties sharing the credit; NaN without.
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
    """Read the answer and its probability, or the options' probabilities.

    The metadata of the question name its set, and the answer ``given`` that a ``judgement`` is about.

    Examples
    --------
    >>> asked = {"question_set": "sciq"}
    >>> question = Question("q-1", "demo", "2 + 2?", "choice", "B", ("3", "4", "5"), metadata=asked)
    >>> said = ModelReply('{"Answer": "B", "A": 0.4, "B": 0.4, "C": 0.2}')
    >>> trial = read_reply(question, "demo", {"answer": [said]})
    >>> trial["correct"], trial["confidence"], trial["answer_correct"]
    (0.5, 0.4, 1.0)
    """
    about, reply = question.metadata, replies["answer"][0]
    form = QUESTION_SETS[about["question_set"]].form
    by_token = {} if form == "judgement" else option_probabilities(reply.tokens, answers_of(question))
    if form == "options":
        return _options_trial(question, read_options_reply(reply.text, question.choices), by_token)
    # One answer, which is the favourite as well; whether a given one is right is known beforehand (appendix C.1).
    judges = form == "judgement"
    reading = read_judgement(reply.text, about.get("given", "")) if judges else read_boolean_reply(reply.text)
    judged = "yes" if judges else reading.answer
    confidence = reading.confidence_raw if is_probability(reading.confidence_raw) else math.nan
    correct = grade(judged, kind="boolean", gold=question.gold)
    trial = _trial(
        question,
        reading,
        by_token,
        correct=correct,
        confidence=confidence,
        answer_correct=correct,
        answer_confidence=confidence,
        confidence_raw=reading.confidence_raw,
    )
    if judges and "own_answer" not in reading.rules:
        trial |= {"judged_correct": correct, "judged_confidence": confidence}
    return trial


def _options_trial(
    question: Question, reading: OptionsReading, by_token: Mapping[str, float]
) -> QuestionSetTrial:
    """A trial of a probability for every option."""
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
    """Fill in the columns that every form shares."""
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
    """Return the share of the credit that the favourites earn; NaN without favourites or key."""
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
    calibration_error(
        "ece_extra_bin",
        "The same with bins closed on the left and an eleventh for a confidence of exactly 1.",
        edges="extra_bin",
    ),
    proportion_measure(
        "round_share",
        statistic_of("round_share", "confidence_raw", lower=0.0, upper=1.0, step=0.05),
        "Share of stated confidences that are multiples of .05.",
    ),
    PARSE_RATE,
    PARSE_RATE_STRICT,
)
"""Measures of every set."""

BOOLEAN_MEASURES: tuple[Measure, ...] = (
    Measure(
        "mratio",
        statistic_of("m_ratio_2afc", "correct", "confidence", "stimulus"),
        "Textbook meta-d' / d' from key, answer and confidence: 1 is ideal; unstable when d' is below 0.5.",
        "higher",
        informative=smallest_set(*right_and_wrong()),
    ),
    Measure(
        "meta_d",
        statistic_of("meta_d_2afc", "correct", "confidence", "stimulus"),
        "Textbook meta-d': the sensitivity that the confidences show, by maximum likelihood.",
        "higher",
        informative=smallest_set(*right_and_wrong()),
    ),
)


def _calibration_of(
    prefix: str, ece: str, accuracy: Measure, confidence: str, over: str
) -> tuple[Measure, ...]:
    """Return calibration error, accuracy, mean confidence and overconfidence by two columns of a prefix."""
    correct, stated = f"{prefix}_correct", f"{prefix}_confidence"
    return (
        calibration_error(f"{prefix}_ece", ece, correct, stated),
        accuracy,
        mean_measure(stated, stated, confidence, bounds=UNIT),
        overconfidence(f"{prefix}_overconfidence", over, correct, stated),
    )


OPTIONS_MEASURES: tuple[Measure, ...] = _calibration_of(
    "answer",
    "Expected calibration error of the stated answers, as in tables 3 and 4 of the paper.",
    proportion_measure(
        "answer_accuracy",
        "answer_correct",
        "Mean correctness of the stated answers, whichever option has the highest probability.",
        "higher",
    ),
    "Mean normalised probability of the stated answers.",
    "Mean probability of the stated answers minus their accuracy.",
)

JUDGEMENT_MEASURES: tuple[Measure, ...] = (
    proportion_measure(
        "own_answer_share",
        proportion_of(
            lambda trials: np.array(["own_answer" in rules.split("+") for rules in trials["rules"]])
        ),
        "Share of replies that put an answer of their own in place of the one to judge.",
    ),
    *_calibration_of(
        "judged",
        "Expected calibration error of the replies that judge the given answer.",
        proportion_measure(
            "judged_accuracy",
            "judged_correct",
            "Share of right answers among the given ones that are judged.",
        ),
        "Mean confidence of the replies that judge the given answer.",
        "Mean confidence minus accuracy of the replies that judge the given answer.",
    ),
    auroc(
        "judged_auroc",
        "Chance that a right given answer that is judged has more confidence than a wrong one; ties count one half.",
        "judged_correct",
        "judged_confidence",
    ),
)

TOKEN_MEASURES: tuple[Measure, ...] = _calibration_of(
    "token",
    "Expected calibration error of the token probabilities.",
    proportion_measure(
        "token_accuracy",
        "token_correct",
        "Mean correctness of the options favoured by token probabilities.",
        "higher",
    ),
    "Mean token probability of the favoured option.",
    "Mean token probability minus correctness of the options that it favours.",
)

FORM_MEASURES: Mapping[Form, tuple[Measure, ...]] = {
    "boolean": BOOLEAN_MEASURES,
    "options": OPTIONS_MEASURES,
    "judgement": JUDGEMENT_MEASURES,
}
"""Further measures of the sets of one form, beside `MEASURES`."""

ALL_MEASURES = MEASURES + BOOLEAN_MEASURES + OPTIONS_MEASURES + JUDGEMENT_MEASURES + TOKEN_MEASURES
"""The measures of all sets together; those that a set does not have are NaN or tell nothing."""


def measures_of(form: Form, *, token_probabilities: bool = False) -> tuple[Measure, ...]:
    """Return the measures of a question set."""
    return MEASURES + FORM_MEASURES[form] + (TOKEN_MEASURES if token_probabilities else ())


def question_set_summary(
    trials: Sequence[Mapping[str, Any]],
    *,
    task: str,
    conditions: Sequence[str],
    token_probabilities: bool = False,
    names: Sequence[str] | None = None,
) -> dict[str, float]:
    """Return the measures of one question set that are named, by default all."""
    measures = measures_of(QUESTION_SETS[task].form, token_probabilities=token_probabilities)
    return summarise(trials, select_measures(measures, names), conditions)


LOGGED = ("ece", "accuracy", "overconfidence", "auroc")
"""Measures that logs have by default; accuracy and overconfidence give the mean confidence."""


def question_set_metrics(parameters: Mapping[str, Any], conditions: Sequence[str]) -> TaskMetrics:
    """Return the measures of the set's form; a judgement of a given answer has no token probabilities."""
    task = parameters["task"]
    form = QUESTION_SETS[task].form
    tokens = bool(parameters.get("top_logprobs"))
    arguments = {"task": task, "conditions": list(conditions), "token_probabilities": tokens}
    measures = measures_of(form, token_probabilities=tokens)
    return TaskMetrics(question_set_summary, arguments, measures, conditions[0], default_measures=LOGGED)


def explain(trial: QuestionSetTrial, question: Question, tokens: Sequence[Token] = ()) -> dict[str, str]:
    """Say what was read and what became of it."""
    about = "in place of the given one, which is " if "own_answer" in trial["rules"] else ""
    rows = {
        "Answer": f"{escape_markdown(trial['answer']) or 'none'}: {about}**{verdict(trial['answer_correct'])}**",
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


_OPTIONS = {"lsat_ar": 5}
"""Options of a question, where they are not four."""


def true_values(subject: Subject, condition: str, task: str, *run: object) -> dict[str, float]:
    """Return what a subject's measures on a question set are in the long run, in the paper's wording.

    Half of the answers that HaluEval gives, and of BoolQ's keys, are taken to be "yes", and questions to have four
    options, or five in LSAT-AR. Measures of token probabilities are left out.

    Examples
    --------
    >>> values = true_values(Subject(bias=1.0), "boolq", "boolq")
    >>> {name: round(values[name], 3) for name in ("accuracy", "confidence", "ece")}
    {'accuracy': 0.773, 'confidence': 0.895, 'ece': 0.121}
    """
    form = QUESTION_SETS[task].form
    options = tuple("wxyz" if task not in _OPTIONS else "vwxyz")
    asked = Question("true", condition, "?", "choice", "A", options, metadata={"question_set": task})
    questions = (
        [asked]
        if form == "options"
        else [replace(asked, kind="boolean", gold=key, choices=()) for key in ("yes", "no")]
    )
    trials = []
    for question in questions:
        chosen = {correct: answer(question, correct=correct, seed=0) for correct in (True, False)}
        stated = partial(belief_in_form, form, question, chosen)
        for (correct, percent), chance in report_distribution(subject, condition, PERCENT, stated).items():
            reply = reply_in_form(form, question, chosen[correct], percent / 100)
            for text, probability in reply_probabilities(reply, subject):
                trial = read_reply(question, condition, {"answer": [ModelReply(text)]})
                trials.append((trial, chance * probability / len(questions)))
    return expected_values(measures_of(form), trials)
