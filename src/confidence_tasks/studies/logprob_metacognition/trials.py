"""Trials and measures of the log-probability study.

The tokens of an answer are those that overlap its span in the reply. The measures are those of Cacioli (2026),
arXiv:2603.25112, in its second version, and for replication those of its first.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from confidence_tasks.reading.explanation import answer_and_key, escape_markdown
from confidence_tasks.reading.grading import match_answer
from confidence_tasks.reading.token_probabilities import AnswerTokens, answer_tokens, missing_reason
from confidence_tasks.simulation.subject import Subject, evaluate_measures, even_points
from confidence_tasks.statistics import information, sdt, selective
from confidence_tasks.statistics.core import Reason
from confidence_tasks.studies.logprob_metacognition.author import AUTHOR, NO_ANSWER
from confidence_tasks.studies.logprob_metacognition.replies import (
    ALL_TOKENS,
    ANSWER,
    CONDITIONS,
    EVASIONS,
    FIRST_RELEASE,
    GOLD,
    SLOPPY_FORMS,
    domain_of,
    draw_mean_logprob,
    read_answer_of,
    reading_of,
    span_of_evidence,
)
from confidence_tasks.study import TaskMetrics
from confidence_tasks.study.inference import Bounded, Inverted, Percentile, Proportion, Student
from confidence_tasks.study.measures import (
    ACCURACY,
    ACCURACY_OF_ALL,
    PARSE_RATE,
    Columns,
    Compute,
    Measure,
    StatisticCall,
    Value,
    auroc,
    calibration_error,
    inverted_test_of,
    proportion_of,
    right_and_wrong,
    select_measures,
    smallest_set,
    statistic_of,
    summarise,
)
from confidence_tasks.study.stage import ModelReply, Replies, Token
from confidence_tasks.study.standard import BRIER, with_stable_d_prime, withheld
from confidence_tasks.study.trial import Question, Status, Trial

if TYPE_CHECKING:
    from confidence_tasks.statistics.core import FloatArray

RATINGS = 4
"""The paper's K: the evidence is cut into 2K ratings (section 3.2)."""

PADDING: Final = "hautus"
"""Padding of count tables: the paper adds 0.5 to each cell (section 3.2)."""

LARGEST_RATIO = 10.0
"""Absolute M-ratio above which a draw is dropped from an interval and counted (section 3.2)."""

COVERAGES = (0.5, 0.8)
"""Coverages at which accuracy is measured; the paper compares models at the first (section 5.1)."""

CLASSIFIER_ROLE = "domain_classifier"

DOMAIN_CHOICES = ("lexicon", "model")
"""Methods that assign a question to a domain."""


class LogprobTrial(Trial):
    """A trial of the log-probability study.

    ``confidence`` is exp(``mean_logprob``), the geometric mean of the probabilities of the answer's tokens.

    Attributes
    ----------
    temperature : float
        Sampling temperature; 0 is greedy decoding.
    mean_logprob : float
        Mean log-probability of the reply's tokens, or of the answer's with ``span=answer``, in nats, the study's
        evidence; NaN if it is missing.
    tokens : float
        Number of these tokens; NaN if the reply was not finished.
    domain : str
        Knowledge domain of the question, one of ``confidence_tasks.studies.logprob_metacognition.replies.DOMAINS``.
    answer : str
        The answer as read; empty if it is missing.
    match : str
        How the answer matches the key or an alias: ``exact``, ``fuzzy`` or ``none``.
    gold_mean_logprob : float
        Mean log-probability of the key, scored after the same prompt; NaN without ``force_gold``.
    """

    temperature: float
    mean_logprob: float
    tokens: float
    domain: str
    answer: str
    match: str
    gold_mean_logprob: float


MEANINGS: Mapping[Status, str] = {
    "ok": "The reply is an answer and nothing else.",
    "repaired": "The answer had to be taken out of a longer reply.",
    "missing_confidence": "The provider's tokens are not those of the reply, or have no log-probabilities; the answer "
    "still counts for accuracy.",
    "unreadable": "The reply holds neither letters nor digits.",
    "refused": "The reply declines to answer; the author’s scoring counts it as wrong.",
}


def read_reply(question: Question, condition: str, replies: Replies) -> LogprobTrial:
    """Read the answer, align the tokens of the evidence and grade it; the domain is that of the lexicon.

    The metadata of the question say how: ``scoring``, ``span``, ``similarity``, and whether the reply has ``one_line``.

    Examples
    --------
    >>> from confidence_tasks.study import ModelReply
    >>> question = Question("q-1", "demo", "Who wrote the novel Emma?", "text", "Jane Austen")
    >>> tokens = (Token("Jane", -0.1, {}), Token(" Austin", -0.4, {}), Token(".", -0.2, {}))
    >>> trial = read_reply(question, "T=0.7", {ANSWER: [ModelReply("Jane Austin.", tokens)]})
    >>> trial["condition"], trial["correct"], trial["match"], round(trial["confidence"], 4), trial["domain"]
    ('T=0.7', 1.0, 'fuzzy', 0.7788, 'Arts & Literature')
    """
    (reply,) = replies[ANSWER]
    how = reading_of(question.metadata)
    answer = read_answer_of(question, reply.text, how)
    evidence = answer_tokens(reply.tokens, reply.text, *span_of_evidence(question, reply.text, answer, how))
    gold_mean_logprob = math.nan
    for scored in replies.get(GOLD, ()):
        begin = len(scored.text) - len(question.gold or "")
        gold_mean_logprob = answer_tokens(scored.tokens, scored.text, begin, len(scored.text)).mean_logprob
    match = match_answer(answer.text, question, how["similarity"])
    # The author's scoring has no missing answer: one that is refused is wrong.
    is_graded = bool(answer.text) or (how["scoring"] == AUTHOR and answer.status in NO_ANSWER)
    mean_logprob = evidence.mean_logprob if is_graded else math.nan
    return LogprobTrial(
        question_id=question.id,
        source=question.source,
        condition=condition,
        correct=float(match != "none") if is_graded and question.gold is not None else math.nan,
        confidence=math.exp(mean_logprob),
        status="missing_confidence" if answer.text and math.isnan(mean_logprob) else answer.status,
        temperature=CONDITIONS.number(condition),
        mean_logprob=mean_logprob,
        tokens=_number_of_tokens(reply, evidence, is_graded=is_graded),
        domain=domain_of(question.text),
        answer=answer.text,
        match=match,
        gold_mean_logprob=gold_mean_logprob,
    )


def _number_of_tokens(reply: ModelReply, evidence: AnswerTokens, *, is_graded: bool) -> float:
    if reply.stop and not reply.text:
        return math.nan
    return float(evidence.tokens if is_graded else 0)


# Measures -------------------------------------------------------------------------------------------------------


_EVIDENCE = ("correct", "mean_logprob")
"""Columns of most measures: correctness and evidence."""

_CLASSES = right_and_wrong(confidence="mean_logprob")
"""Right and wrong answers with evidence."""

FEWEST_OF_A_CLASS = 50
"""Minimum number of right and of wrong answers for version 1's M-ratio (section 4.1), below which padding dominates."""


def _padding_dominates(trials: Columns) -> Reason | None:
    """Return the reason to withhold version 1's M-ratio of few right or few wrong answers, or None."""
    few = min(members(trials).sum() for members in _CLASSES) < FEWEST_OF_A_CLASS
    return Reason.FEW_INFORMATIVE if few else None


def drop_large_ratios(m_ratio: Value) -> FloatArray:
    """Replace M-ratios beyond ``LARGEST_RATIO`` by NaN."""
    return np.where(np.abs(m_ratio) > LARGEST_RATIO, np.nan, m_ratio)


def _without_large_ratios(m_ratio: Compute) -> Compute:
    """Drop large M-ratios of resamples, and keep the estimate as it is."""

    def compute(trials: Columns, weights: FloatArray | None = None) -> Value:
        value = m_ratio(trials, weights)
        return value if weights is None else drop_large_ratios(value)

    return StatisticCall(_EVIDENCE, compute)


def _m_ratio_of_version_1(ratings: int) -> Compute:
    """Return version 1's M-ratio, withheld if its d' is small or its padding dominates."""
    options: dict[str, Any] = {"padding": PADDING, "n_ratings": ratings}
    m_ratio = withheld(
        _without_large_ratios(statistic_of(sdt.m_ratio_ratings, *_EVIDENCE, **options)), _padding_dominates
    )
    return with_stable_d_prime(m_ratio, statistic_of(sdt.d_prime_ratings, *_EVIDENCE, **options))


def logprob_measures(ratings: int = RATINGS) -> tuple[Measure, ...]:
    """Return the study's measures; those of count tables cut the evidence into ``2 * ratings`` ratings."""
    cut: dict[str, Any] = {"n_ratings": ratings}
    return (
        Measure(
            "meta_information",
            statistic_of(information.meta_information, *_EVIDENCE, by_unit=True),
            "Share of the uncertainty about correctness that the answer's log-probability removes, corrected for bias; "
            "valid for any distributions.",
            "higher",
            inference=Inverted(
                inverted_test_of(information.InformationTables, "correct", "mean_logprob"),
                informative=smallest_set(*_CLASSES),
            ),
        ),
        auroc(
            "auroc2",
            "Chance that a right answer has a higher log-probability than a wrong one; ties count one half.",
        ),
        Measure(
            "z_roc_slope",
            statistic_of(sdt.z_roc_slope, *_EVIDENCE, **cut),
            "Ratio of the standard deviations of wrong and right answers' evidence; 1 is equal variance.",
            inference=Bounded(0.0, math.inf, informative=smallest_set(*_CLASSES)),
        ),
        Measure(
            "d_a",
            statistic_of(sdt.d_a, *_EVIDENCE, **cut),
            "Distance of right from wrong answers' evidence in root-mean-square standard deviations.",
            "higher",
            inference=Student(informative=smallest_set(*_CLASSES)),
        ),
        ACCURACY,
        ACCURACY_OF_ALL,
        PARSE_RATE,
        calibration_error(
            "ece", "Expected calibration error of exp(mean log-probability), 10 bins of equal width."
        ),
        replace(BRIER, description="Mean squared difference of exp(mean log-probability) and correctness."),
        Measure(
            "mean_logprob",
            proportion_of(lambda trials: trials["mean_logprob"]),
            "Mean log-probability a token of the answers, in nats.",
        ),
        Measure(
            "mean_logprob_difference",
            statistic_of(sdt.mean_difference, *_EVIDENCE),
            "Mean log-probability of right answers minus that of wrong ones, in nats a token.",
            "higher",
            inference=Student(informative=smallest_set(*_CLASSES)),
        ),
        *(
            Measure(
                f"accuracy_{round(100 * coverage)}",
                statistic_of(selective.accuracy_at_coverage, "correct", "confidence", coverage=coverage),
                f"Accuracy of the {coverage:.0%} of answers with the highest log-probability.",
                "higher",
                inference=Proportion(),
            )
            for coverage in COVERAGES
        ),
        Measure(
            "d_prime_v1",
            statistic_of(sdt.d_prime_ratings, *_EVIDENCE, padding=PADDING, **cut),
            "d' of right against wrong answers at the median of the evidence (version 1).",
            "higher",
            inference=Percentile(informative=smallest_set(*_CLASSES, enough=2 * FEWEST_OF_A_CLASS)),
        ),
        Measure(
            "meta_d_v1",
            statistic_of(sdt.meta_d_ratings, *_EVIDENCE, padding=PADDING, **cut),
            "Version 1's meta-d', computed from the same table as d': see mratio_v1.",
            inference=Percentile(informative=smallest_set(*_CLASSES, enough=FEWEST_OF_A_CLASS)),
        ),
        Measure(
            "mratio_v1",
            _m_ratio_of_version_1(ratings),
            "Version 1's meta-d' / d', for replication only. Warning: both come from one table, so it is 1 by "
            "construction under equal variance, whatever the metacognition, and changes with the ratio of variances "
            "and the base rate. The author withdrew it. Bins are quantiles of the condition, in the report of T = 1. "
            "Withheld if d' is below 0.5, or with fewer than 50 right or wrong answers.",
            inference=Percentile(informative=smallest_set(*_CLASSES, enough=FEWEST_OF_A_CLASS)),
        ),
    )


MEASURES: tuple[Measure, ...] = logprob_measures()


def nlp_summary(
    trials: Sequence[Mapping[str, Any]],
    *,
    conditions: Sequence[str],
    ratings: int = RATINGS,
    names: Sequence[str] | None = None,
) -> dict[str, float]:
    """Return the measures of the given names, by default all, at every temperature."""
    return summarise(trials, select_measures(logprob_measures(ratings), names), conditions)


def logprob_metrics(parameters: Mapping[str, Any], conditions: Sequence[str]) -> TaskMetrics:
    """Return the measures at every temperature, with ``k`` ratings on either side; T = 1 is the headline."""
    headline = "T=1" if "T=1" in conditions else conditions[0]
    arguments = {"conditions": list(conditions), "ratings": parameters["k"]}
    return TaskMetrics(
        nlp_summary, arguments, logprob_measures(parameters["k"]), headline, overall=(headline,)
    )


def classifier_role(parameters: Mapping[str, Any], questions: Sequence[Question]) -> list[str]:
    """Return the role of the model that sorts questions into domains, if a model does."""
    return [CLASSIFIER_ROLE] if parameters["domains"] == "model" else []


def explain(trial: LogprobTrial, question: Question, tokens: Sequence[Token] = ()) -> dict[str, str]:
    """Return the rows of the log viewer: answer and key, evidence or the reason why it is missing, and domain."""
    rows = answer_and_key(trial, question)
    if trial["match"] == "fuzzy":
        rows["Answer"] += ", by its similarity to the key or an alias"
    rows["Mean log-probability"] = (
        ": ".join(filter(None, ("none", escape_markdown(missing_reason(tokens)))))
        if math.isnan(trial["mean_logprob"])
        else f"{trial['mean_logprob']:.4f} nats over {trial['tokens']:g} tokens,"
        f" a probability of {trial['confidence']:.3f} each"
    )
    if not math.isnan(trial["gold_mean_logprob"]):
        rows["Of the key"] = f"{trial['gold_mean_logprob']:.4f} nats"
    return rows | {"Domain": escape_markdown(trial["domain"])}


def true_values(subject: Subject, condition: str, *run: object) -> dict[str, float]:
    """Return the true values of a subject's measures at a temperature.

    Raises ValueError for a sloppy subject whose whole reply is the answer or the evidence: what it says around its
    answers has no known effect. ``run`` is the task and its parameters, if they are known.

    AUROC2, d_a and the slope of the z-ROC agree with the formulas of :mod:`.replies`, except for the binning of the
    latter two and the bound of log-probabilities at 0.

    Examples
    --------
    >>> values = true_values(Subject(), "T=1")
    >>> {name: round(values[name], 2) for name in ("accuracy", "auroc2", "z_roc_slope", "d_a")}
    {'accuracy': 0.77, 'auroc2': 0.86, 'z_roc_slope': 1.0, 'd_a': 1.5}
    """
    how = reading_of(run[1]) if len(run) > 1 and isinstance(run[1], Mapping) else FIRST_RELEASE
    if subject.sloppiness and (how["scoring"] == AUTHOR or how["span"] == ALL_TOKENS):
        raise ValueError("true values of a sloppy subject are known for scoring=line and span=answer only")
    temperature, standard_normal = CONDITIONS.number(condition), NormalDist()
    evasion_rate = subject.sloppiness * len(EVASIONS) / (len(SLOPPY_FORMS) + len(EVASIONS))
    correct, noises, probabilities = [], [], []
    for noise, difficulty in even_points(2):
        accuracy = subject.accuracy_at(standard_normal.inv_cdf(difficulty))
        for right, probability in ((True, accuracy), (False, 1.0 - accuracy)):
            correct.append(float(right))
            noises.append(standard_normal.inv_cdf(noise))
            probabilities.append(probability)
    mean_logprob = draw_mean_logprob(subject, correct, temperature, noises)
    weights = np.array(probabilities) * (1.0 - evasion_rate) / (sum(probabilities) or 1.0)
    trials = {
        "correct": np.array([*correct, math.nan]),
        "mean_logprob": np.array([*mean_logprob, math.nan]),
        "confidence": np.array([*np.exp(mean_logprob), math.nan]),
        "status": np.array([*["ok"] * len(mean_logprob), "unreadable"]),
    }
    return evaluate_measures(MEASURES, trials, np.array([*weights, evasion_rate]))
