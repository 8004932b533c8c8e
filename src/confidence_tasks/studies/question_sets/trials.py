"""The calibration question sets: from a reply to a trial, and the measures of each set.

arXiv:2605.23909, sections 5 and 6, appendix C.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from confidence_tasks.harness.inspect.explanation import number, plain, token_probability, verdict
from confidence_tasks.reading.grading import grade
from confidence_tasks.reading.token_probabilities import option_probabilities
from confidence_tasks.studies.question_sets.prompts import QUESTION_SETS, Form, answers_of
from confidence_tasks.study import Question, Reading, Replies, TaskMetrics, Token, Trial
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
    mean,
    min_count,
    named,
    overconfidence,
    proportion,
    right_and_wrong,
    share,
    statistic_of,
    summarise,
)
from confidence_tasks.study.standard import BRIER, OVERCONFIDENCE

if TYPE_CHECKING:
    from confidence_tasks.study.measures import Columns, Compute


class QuestionSetTrial(Trial):
    """A trial of a calibration question set.

    ``correct`` and ``confidence`` are about the favourite: the option with the highest probability, ties sharing the
    credit. Where a reply states one answer only, or judges a given one, that is the favourite.

    Attributes
    ----------
    answer : str
        The answer stated (for HaluEval the one judged), empty when there is none.
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
    rules : str
        Names of the lenient reading rules used, joined by ``+``.
    """

    answer: str
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
    rules: str


def question_set_trial(
    form: Form, question: Question, reply: str, tokens: Sequence[Token] = (), given: str = ""
) -> QuestionSetTrial:
    """Read a reply of a form to ``question`` into a trial, with its tokens where the provider gives probabilities.

    ``given`` is the answer that a ``judgement`` is about.

    Examples
    --------
    >>> question = Question("q-1", "demo", "2 + 2?", "choice", "B", ("3", "4", "5"))
    >>> trial = question_set_trial("options", question, '{"Answer": "B", "A": 0.4, "B": 0.4, "C": 0.2}')
    >>> trial["correct"], trial["confidence"], trial["answer_correct"]
    (0.5, 0.4, 1.0)
    """
    return _TRIALS[form](question, reply, tokens, given)


def read_reply(question: Question, condition: str, replies: Replies) -> QuestionSetTrial:
    """Read the answer and its probability, or the options' probabilities."""
    about, reply = question.metadata, replies["answer"][0]
    form = QUESTION_SETS[about["question_set"]].form
    return question_set_trial(form, question, reply.text, reply.tokens, about.get("given", ""))


def _boolean_trial(question: Question, reply: str, tokens: Sequence[Token], given: str) -> QuestionSetTrial:
    """A trial of true or false with a confidence."""
    from confidence_tasks.studies.question_sets.reader import read_boolean_reply

    reading = read_boolean_reply(reply)
    correct = grade(reading.answer, kind="boolean", gold=question.gold)
    return _single(question, reading, correct, option_probabilities(tokens, answers_of(question)))


def _judgement_trial(question: Question, reply: str, tokens: Sequence[Token], given: str) -> QuestionSetTrial:
    """A trial of the confidence in a given answer; whether that is right is known beforehand (appendix C.1)."""
    from confidence_tasks.studies.question_sets.reader import read_judgement

    reading = read_judgement(reply, given)
    trial = _single(question, reading, grade("yes", kind="boolean", gold=question.gold), {})
    if "own_answer" not in reading.rules:
        trial |= {"judged_correct": trial["correct"], "judged_confidence": trial["confidence"]}
    return trial


def _single(
    question: Question, reading: Reading, correct: float, by_token: Mapping[str, float]
) -> QuestionSetTrial:
    """A trial of one answer, which is the favourite as well."""
    from confidence_tasks.reading.stated_probability import is_probability

    confidence = reading.confidence_raw if is_probability(reading.confidence_raw) else math.nan
    return _trial(
        question,
        by_token,
        correct=correct,
        confidence=confidence,
        status=reading.status,
        answer=reading.answer,
        answer_correct=correct,
        answer_confidence=confidence,
        confidence_raw=reading.confidence_raw,
        rules="+".join(reading.rules),
    )


def _options_trial(question: Question, reply: str, tokens: Sequence[Token], given: str) -> QuestionSetTrial:
    """A trial of a probability for every option."""
    from confidence_tasks.studies.question_sets.reader import read_options_reply

    reading = read_options_reply(reply, question.choices)
    answer = "" if reading.status == "unreadable" else reading.answer
    answer_correct = grade(answer, kind="choice", gold=question.gold)
    distribution = dict(zip(question.options, reading.probabilities, strict=False)) if answer else {}
    return _trial(
        question,
        option_probabilities(tokens, answers_of(question)),
        correct=_credit(question, reading.favourites) if distribution else answer_correct,
        confidence=reading.confidence_raw if distribution else math.nan,
        status=reading.status,
        answer=reading.answer,
        favourites="+".join(reading.favourites),
        answer_correct=answer_correct,
        answer_confidence=distribution.get(answer, math.nan),
        confidence_raw=dict(zip(question.options, reading.stated, strict=True)).get(answer, math.nan),
        stated=" ".join(f"{value:g}" for value in reading.stated),
        rules="+".join(reading.rules),
    )


_TRIALS: Mapping[Form, Callable[[Question, str, Sequence[Token], str], QuestionSetTrial]] = {
    "boolean": _boolean_trial,
    "options": _options_trial,
    "judgement": _judgement_trial,
}


def _trial(question: Question, by_token: Mapping[str, float], **columns: Any) -> QuestionSetTrial:
    """Fill in the columns that every form shares."""
    top = max(by_token.values(), default=math.nan)
    favourites = [option for option, p in by_token.items() if p == top]
    return QuestionSetTrial(
        question_id=question.id,
        source=question.source,
        condition=question.source,
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


def _used_rule(name: str) -> Compute:
    """Return the share of replies that needed a reading rule."""

    def used(trials: Columns) -> Any:
        import numpy as np

        return np.array([name in rules.split("+") for rules in trials["rules"]], dtype=np.float64)

    return proportion(used)


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
    share(
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
        informative=min_count(*right_and_wrong()),
    ),
    Measure(
        "meta_d",
        statistic_of("meta_d_2afc", "correct", "confidence", "stimulus"),
        "Textbook meta-d': the sensitivity that the confidences show, by maximum likelihood.",
        "higher",
        informative=min_count(*right_and_wrong()),
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
        mean(stated, stated, confidence, bounds=UNIT),
        overconfidence(f"{prefix}_overconfidence", over, correct, stated),
    )


OPTIONS_MEASURES: tuple[Measure, ...] = _calibration_of(
    "answer",
    "Expected calibration error of the stated answers, as in tables 3 and 4 of the paper.",
    share(
        "answer_accuracy",
        "answer_correct",
        "Mean correctness of the stated answers, whichever option has the highest probability.",
        "higher",
    ),
    "Mean normalised probability of the stated answers.",
    "Mean probability of the stated answers minus their accuracy.",
)

JUDGEMENT_MEASURES: tuple[Measure, ...] = (
    share(
        "own_answer_share",
        _used_rule("own_answer"),
        "Share of replies that put an answer of their own in place of the one to judge.",
    ),
    *_calibration_of(
        "judged",
        "Expected calibration error of the replies that judge the given answer.",
        share(
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
    share(
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
"""What the sets of one form have beside `MEASURES`."""

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
    return summarise(trials, named(measures, names), conditions)


LOGGED = ("ece", "accuracy", "overconfidence", "auroc")
"""What a log has by default; the mean confidence is accuracy and overconfidence together."""


def question_set_metrics(parameters: Mapping[str, Any], conditions: Sequence[str]) -> TaskMetrics:
    """Return the measures of the set's form; a judgement of a given answer has no token probabilities."""
    task = parameters["task"]
    form = QUESTION_SETS[task].form
    tokens = bool(parameters.get("top_logprobs"))
    arguments = {"task": task, "conditions": list(conditions), "token_probabilities": tokens}
    measures = measures_of(form, token_probabilities=tokens)
    return TaskMetrics(question_set_summary, arguments, measures, conditions[0], names=LOGGED)


def explain(trial: QuestionSetTrial, question: Question, tokens: Sequence[Token] = ()) -> dict[str, str]:
    """Say what was read and what became of it."""
    about = "in place of the given one, which is " if "own_answer" in trial["rules"] else ""
    rows = {
        "Answer": f"{plain(trial['answer']) or 'none'}: {about}**{verdict(trial['answer_correct'])}**",
        "Key": plain(trial["gold"] or "none"),
        "Confidence": number(trial["confidence_raw"]),
    }
    if trial["stated"]:
        stated = zip(question.options, trial["stated"].split(), strict=True)
        rows["Stated"] = ", ".join(f"{letter} {value}" for letter, value in stated)
    if trial["favourites"] not in ("", trial["answer"]):
        favourites = trial["favourites"].replace("+", ", ")
        rows["Favourite"] = f"{favourites}: **{verdict(trial['correct'])}**, {trial['confidence']:.3f}"
    return rows | token_probability(trial, tokens)
