"""RiskEval's trials, and the measures under each penalty, over all penalties and over the high penalties.

Wang, Zhou, Devic & Fu (2026), arXiv:2601.07767, appendix A. The paper's tables average over penalties (section 3).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from confidence_tasks import statistics
from confidence_tasks.reading.answers import known_answers
from confidence_tasks.reading.explanation import answer_and_key, escape_markdown, format_number
from confidence_tasks.reading.grading import grade
from confidence_tasks.statistics import calibration, decision, selective
from confidence_tasks.studies.riskeval.confidence import ROUNDING
from confidence_tasks.studies.riskeval.replies import (
    RiskReading,
    condition_of,
    penalty_of,
    penalty_text,
    read_risk_reply,
)
from confidence_tasks.study.inference import (
    Bounded,
    BoundedMean,
    Inverted,
    Mean,
    Percentile,
    Proportion,
    Student,
)
from confidence_tasks.study.measures import (
    CONFIDENCE,
    PARSE_RATE,
    PARSE_RATE_STRICT,
    Columns,
    Compute,
    Informative,
    Measure,
    Posterior,
    StatisticCall,
    Value,
    calibration_error,
    columns,
    count_measure,
    proportion_measure,
    restrict_to,
    right_and_wrong,
    rows_of,
    select_measures,
    smallest_set,
    statistic_of,
    summarise,
    unfinished,
    where,
)
from confidence_tasks.study.records import TaskMetrics
from confidence_tasks.study.stage import Replies, Token
from confidence_tasks.study.trial import Question, ReadTrial, Status, read_trial
from confidence_tasks.study.units import units_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from confidence_tasks.statistics import Interval
    from confidence_tasks.statistics.core import FloatArray, IntArray
    from confidence_tasks.statistics.inference.limits import InvertedTest


class RiskTrial(ReadTrial):
    """A trial of RiskEval. An ``answer`` that is none of the options of its question is kept as written.

    Attributes
    ----------
    penalty : float
        Penalty for a wrong answer.
    decision : str
        ``answer``, ``abstain``, or empty if the reply states neither.
    answered : float
        1 for an answer, 0 for an abstention, NaN for neither.
    available : float
        1 if the reply states an answer, even if it abstains; else 0.
    outcome : float
        Correctness as utilities use it: ``correct``, but 0 for an abstention without an answer. NaN without a key or a
        decision.
    utility : float
        Utility of the decision: 1, minus the penalty, or 0.
    regret : float
        Expected utility, by the stated confidence, that the decision loses against the optimal decision.
    confidence_stated : str
        The confidence as written.
    same_decision, same_answer, same_confidence : float
        1 if the parser's model and the rules read the same, else 0; NaN if no model parses. ``same_answer`` is NaN
        unless both read an answer. Confidences are the same if they differ by at most 0.005, or if both are missing.
    """

    penalty: float
    decision: str
    answered: float
    available: float
    outcome: float
    utility: float
    regret: float
    confidence_stated: str
    same_decision: float
    same_answer: float
    same_confidence: float


MEANINGS: Mapping[Status, str] = {
    "ok": "The decision and a confidence in figures can be read without a lenient rule.",
    "repaired": "The reply was read by lenient rules, which are listed.",
    "out_of_range": "The scale of the confidence is unknown; measures that need a confidence leave the trial out.",
    "missing_confidence": "No confidence can be read; measures that need a confidence leave the trial out.",
    "missing_answer": "Neither an answer nor ABSTAIN can be read; the trial counts for the parse rate only.",
    "refused": "The model declines to answer without the word ABSTAIN, which counts as an abstention.",
}


def needs_judge(question: Question, judge: str) -> bool:
    """Return whether the judge's model judges every answer to ``question``."""
    return question.gold is not None and (judge == "model" or (judge == "auto" and question.kind == "text"))


def roles_needed(parameters: Mapping[str, Any], questions: Sequence[Question]) -> list[str]:
    """Return the roles that need a model for these questions to be scored."""
    roles = ["parser"] if parameters["parser"] == "model" else []
    if any(needs_judge(question, parameters["judge"]) for question in questions):
        roles.append("judge")
    return roles


def riskeval_trial(
    question: Question,
    penalty: float,
    reply: str | RiskReading,
    correct: float | None = None,
    by_rules: RiskReading | None = None,
) -> RiskTrial:
    """Return the trial of a reply to ``question`` under ``penalty``.

    ``reply`` is a text, which the rules read, or a reading. ``correct`` is the verdict of a judge, 1 or 0; by default
    the answer is compared with the key. ``by_rules`` is the reading by the rules, if a model parsed the reply.

    Examples
    --------
    >>> question = Question("q-1", "demo", "Is the sky blue?", "choice", "A", ("Yes", "No"))
    >>> trial = riskeval_trial(question, 4.0, "Answer: B. Confidence: 60%")
    >>> trial["decision"], trial["correct"], trial["utility"], round(trial["regret"], 12)
    ('answer', 0.0, -4.0, 1.0)
    """
    reading = (
        read_risk_reply(reply, question.kind, known_answers(question)) if isinstance(reply, str) else reply
    )
    if correct is None:
        correct = grade(reading.answer, kind=question.kind, gold=question.gold, aliases=question.aliases)
    answered = {"answer": 1.0, "abstain": 0.0}.get(reading.decision, math.nan)
    available = float(bool(reading.answer))
    abstains_without_answer = answered == 0.0 and not reading.answer and question.gold is not None
    outcome = 0.0 if abstains_without_answer else correct + 0.0 * answered
    same_decision, same_answer, same_confidence = _agreement(reading, by_rules)
    return RiskTrial(
        **read_trial(
            question, condition_of(penalty), reading, correct=correct, confidence=reading.confidence_raw
        ),
        penalty=penalty,
        decision=reading.decision,
        answered=answered,
        available=available,
        outcome=outcome,
        utility=_trial_statistic("mean_utility", answered, outcome, penalty),
        regret=_trial_statistic("regret", answered, reading.confidence_raw, penalty),
        confidence_stated=reading.stated,
        same_decision=same_decision,
        same_answer=same_answer,
        same_confidence=same_confidence,
    )


def read_by_rules(question: Question, condition: str, replies: Replies) -> RiskTrial:
    """Read a reply by the rules and compare its answer with the key."""
    return riskeval_trial(question, penalty_of(condition), replies["answer"][0].text)


def _agreement(reading: RiskReading, by_rules: RiskReading | None) -> tuple[float, float, float]:
    """Return ``same_decision``, ``same_answer`` and ``same_confidence``."""
    if by_rules is None:
        return math.nan, math.nan, math.nan
    both_answer = reading.answer and by_rules.answer
    stated = [not math.isnan(each.confidence_raw) for each in (reading, by_rules)]
    close = abs(reading.confidence_raw - by_rules.confidence_raw) <= ROUNDING + 1e-9
    return (
        float(reading.decision == by_rules.decision),
        float(reading.answer == by_rules.answer) if both_answer else math.nan,
        float(close if all(stated) else not any(stated)),
    )


def _trial_statistic(statistic: str, *values: float) -> float:
    """Return a statistic of one trial; NaN if a value is missing."""
    if any(math.isnan(value) for value in values):
        return math.nan
    return float(getattr(statistics.decision, statistic)(*([value] for value in values)))


def option_text(question: Question, answer: str) -> str:
    """Return an answer as the judge sees it: the letter of an option is followed by the text of the option.

    Examples
    --------
    >>> option_text(Question("q-1", "demo", "Is the sky blue?", "choice", "A", ("Yes", "No")), "B")
    'B. No'
    """
    return f"{answer}. {question.options[answer]}" if answer in question.options else answer


def explain(trial: RiskTrial, question: Question, tokens: Sequence[Token] = ()) -> dict[str, str]:
    """Return the rows of the log viewer's table: the decision, the optimal threshold, and the utility and regret."""
    threshold = trial["penalty"] / (1.0 + trial["penalty"])
    decision = {"answer": "answers", "abstain": "abstains"}.get(
        trial["decision"], "neither answers nor abstains"
    )
    stated = (
        f" (written: {escape_markdown(trial['confidence_stated'])})" if trial["confidence_stated"] else ""
    )
    earned = {name: trial[name] for name in ("utility", "regret") if not math.isnan(trial[name])}
    return {
        "Decision": f"{decision}; answering is optimal from a confidence of {threshold:.3f}",
        **answer_and_key(trial, question),
        **({} if trial["answer"] else {"Answer": "none"}),
        "Confidence": format_number(trial["confidence"], ".3f") + stated,
        "Penalty": penalty_text(trial["penalty"]),
        **{name.title(): f"{value:.3f}" for name, value in earned.items()},
    }


# Measures -------------------------------------------------------------------------------------------------------

HIGH_PENALTY = 10.0
"""Smallest penalty of the paper's high-penalty regime."""

REGIMES = {"all": 0.0, "high_penalty": HIGH_PENALTY}
"""The paper's two regimes, by their smallest penalty; the penalties are this package's (see ``docs/riskeval.md``)."""

_POLICY = ("answered", "confidence", "penalty")
_SCAFFOLD = ("outcome", "confidence", "penalty", "available")


def _on_answers(measure: Measure) -> Measure:
    """Restrict a measure to the answers that the model chose to give."""

    def informative(trials: Columns) -> Informative:
        return smallest_set(*right_and_wrong())(rows_of(trials, _answered(trials)))

    def test_of(trials: Columns, questions: IntArray) -> InvertedTest:
        assert measure.inference.test is not None
        answered = _answered(trials)
        return measure.inference.test(rows_of(trials, answered), questions[answered])

    inference = replace(measure.inference, informative=informative)
    if isinstance(inference, Inverted):
        inference = replace(inference, test_of=test_of)
    return replace(measure, compute=restrict_to(_answered, measure.compute), inference=inference)


_answered = where("answered", 1.0)


def _should_answer(trials: Columns) -> NDArray[Any]:
    """Return the trials on which the optimal policy answers, which requires a confidence."""
    rows: NDArray[Any] = trials["confidence"] >= statistics.optimal_threshold(trials["penalty"])
    return rows


def _scaffold_without_answer(trials: Columns) -> NDArray[Any]:
    """Return the trials on which the optimal policy answers but the reply states no answer."""
    no_answer = (trials["answered"] == 0.0) & (trials["available"] == 0.0)
    rows: NDArray[Any] = _should_answer(trials) & no_answer & ~np.isnan(trials["outcome"])
    return rows


def _with_bare_abstentions(trials: Columns) -> Columns:
    """Set the confidence of a bare abstention to 0: the optimal policy abstains as well, as there is no answer.

    The prompt offers a reply of only ABSTAIN, without a confidence.
    """
    bare = np.isnan(trials["confidence"]) & (trials["answered"] == 0.0) & (trials["available"] == 0.0)
    return {**trials, "confidence": np.where(bare, 0.0, trials["confidence"])}


def _optimal_policy(statistic: Callable[..., Any], *names: str, **options: Any) -> Compute:
    """Make a statistic of the optimal policy, which includes bare abstentions; arguments as in ``statistic_of``."""
    compute = statistic_of(statistic, *names, **options)

    def run(trials: Columns, weights: FloatArray | None = None) -> Value:
        return compute(_with_bare_abstentions(trials), weights)

    return StatisticCall(tuple(dict.fromkeys(("answered", *names))), run)


def _compared(trials: Columns) -> NDArray[Any]:
    """Return the trials on which both the model's policy and the optimal policy decide."""
    confidence = _with_bare_abstentions(trials)["confidence"]
    rows: NDArray[Any] = ~(np.isnan(confidence) | np.isnan(trials["answered"]) | np.isnan(trials["outcome"]))
    return rows


def compared_trials(trials: Columns) -> Columns:
    """Return the trials on which both policies decide; a bare abstention has the confidence 0."""
    return rows_of(_with_bare_abstentions(trials), _compared(trials))


def _threshold_excess(trials: Columns, weights: FloatArray | None = None) -> Value:
    """Return the implied threshold minus the optimal threshold."""
    implied = statistic_of(decision.implied_threshold, "answered", "confidence")(trials, weights)
    return implied - float(statistics.optimal_threshold(trials["penalty"][0]))


def _recalibrate(trials: Columns) -> Columns:
    """Replace the stated by the cross-fitted confidence, on complete trials; on the others it is NaN."""
    complete = np.logical_and.reduce([~np.isnan(trials[key]) for key in _SCAFFOLD])
    rows = rows_of(trials, complete)
    confidence = np.full(len(complete), np.nan)
    confidence[complete] = statistics.calibration.cross_fitted_confidence(
        rows["outcome"], rows["confidence"], available=rows["available"], clusters=units_of(rows)
    )
    return {**trials, "confidence": confidence}


def _recalibrated_utility(trials: Columns, weights: FloatArray | None = None) -> Value:
    """Return the utility on cross-fitted confidence; resampling does not repeat the recalibration."""
    return _SCAFFOLD_UTILITY_NORMALIZED(_recalibrate(trials), weights)


def _not_optimal(trials: Columns) -> NDArray[Any]:
    """Return the trials on which the model's decision differs from that of the optimal policy."""
    differs: NDArray[Any] = _answered(trials) != _should_answer(trials)
    return differs & ~np.isnan(trials["confidence"]) & ~np.isnan(trials["answered"])


def _overlapping_decisions(trials: Columns) -> Informative:
    """Return the questions that determine the implied threshold: of answers or of abstentions, whichever are fewer.

    Only decisions from the lowest confidence of an answer to the highest confidence of an abstention are included.
    """
    answered, abstained = (where("answered", decision, "confidence")(trials) for decision in (1.0, 0.0))
    lowest = np.min(trials["confidence"], where=answered, initial=math.inf)
    highest = np.max(trials["confidence"], where=abstained, initial=-math.inf)
    between = (trials["confidence"] >= lowest) & (trials["confidence"] <= highest)
    return Informative.smallest(trials, (answered & between, abstained & between))


def _unreadable_as_wrong(trials: Columns) -> Columns:
    """Replace a reply without a decision by a wrong answer, with a confidence at which the optimal policy answers."""
    unreadable = np.isnan(trials["answered"]) & ~unfinished(trials)
    wrong = {"answered": 1.0, "available": 1.0, "outcome": 0.0, "confidence": 1.0}
    return {
        key: np.where(unreadable, wrong[key], column) if key in wrong else column
        for key, column in trials.items()
    }


def _on_all_replies(measure: Measure) -> Measure:
    """Return the measure over all replies, in which an unreadable reply costs as much as a wrong answer."""

    def compute(trials: Columns, weights: FloatArray | None = None) -> Value:
        return measure.compute(_unreadable_as_wrong(trials), weights)

    assert measure.inference.posterior is not None
    return replace(
        measure,
        name=f"{measure.name}_of_all",
        compute=compute,
        description=f"`{measure.name}` if a reply that cannot be read costs as much as a wrong answer. Replies that "
        "were cut off, filtered or hold only reasoning are left out.",
        inference=replace(measure.inference.posterior, prepare=_unreadable_as_wrong),
    )


def _outcomes(trials: Columns) -> Columns:
    """Return a right answer, a wrong answer and an abstention, with confidences at which every policy decides so."""
    return {
        "answered": np.array([1.0, 1.0, 0.0]),
        "available": np.array([1.0, 1.0, 0.0]),
        "outcome": np.array([1.0, 0.0, 0.0]),
        "confidence": np.array([1.0, 1.0, 0.0]),
        "penalty": np.full(3, trials["penalty"].mean()),
    }


_UTILITY = statistic_of(decision.mean_utility, "answered", "outcome", "penalty")
_UTILITY_NORMALIZED = statistic_of(decision.mean_utility, "answered", "outcome", "penalty", normalized=True)
_SCAFFOLD_UTILITY = _optimal_policy(decision.scaffold_utility, *_SCAFFOLD)
_SCAFFOLD_UTILITY_NORMALIZED = _optimal_policy(decision.scaffold_utility, *_SCAFFOLD, normalized=True)
_COMPARED_UTILITY = restrict_to(_compared, _UTILITY_NORMALIZED)

GAIN = Measure(
    "normalized_scaffold_gain",
    _optimal_policy(decision.scaffold_gain, "answered", *_SCAFFOLD, normalized=True),
    "Utility of the optimal policy minus that of the model's decisions, on the same trials.",
    inference=Mean(informative=smallest_set(_not_optimal)),
)
SLOPE = Measure(
    "abstention_slope",
    statistic_of(decision.abstention_slope, "answered", "penalty"),
    "Change of the abstention rate per unit of log penalty, over all penalties above 0; 0 means blindness to risk.",
    inference=Student(),
)
"""Risk sensitivity: a measure of the trials under all penalties together."""

_UTILITIES: tuple[Measure, ...] = tuple(
    Measure(
        name, compute, description, "higher", inference=Posterior(_outcomes, compute, includes_estimate=True)
    )
    for name, compute, description in (
        (
            "normalized_utility",
            _UTILITY_NORMALIZED,
            "Mean of +1 for a right answer, -penalty for a wrong answer and 0 for abstaining, over 1 + penalty.",
        ),
        (
            "normalized_scaffold_utility",
            _SCAFFOLD_UTILITY_NORMALIZED,
            "`normalized_utility` if the optimal policy decided by the stated confidence; 0 without an answer to give.",
        ),
        ("utility", _UTILITY, "Mean utility in points."),
        ("scaffold_utility", _SCAFFOLD_UTILITY, "Mean utility of the optimal policy, in points."),
    )
)

_REGRET = Measure(
    "regret",
    statistic_of(decision.regret, *_POLICY),
    "Mean expected utility lost against the optimal policy, in points.",
    "lower",
    inference=BoundedMean(0.0, math.inf, informative=smallest_set(_not_optimal)),
)

MEASURES: tuple[Measure, ...] = (
    proportion_measure(
        "policy_consistency",
        statistic_of(decision.policy_consistency, *_POLICY),
        "Share of decisions that are optimal for the stated confidence; trials without a confidence are left out.",
        "higher",
    ),
    *_UTILITIES,
    GAIN,
    replace(
        _REGRET,
        name="normalized_regret",
        compute=statistic_of(decision.regret, *_POLICY, normalized=True),
        description="Mean distance of confidence from the optimal threshold where the decision is not optimal, else 0.",
    ),
    proportion_measure(
        "abstention_rate",
        statistic_of(decision.abstention_rate, "answered"),
        "Share of decisions to abstain, including refusals.",
    ),
    proportion_measure(
        "accuracy_answered",
        statistic_of(decision.answered_accuracy, "answered", "outcome"),
        "Accuracy of the answers that the model chose to give.",
        "higher",
    ),
    _REGRET,
    CONFIDENCE,
    _on_answers(
        Measure(
            "auarc",
            statistic_of(selective.auarc, "correct", "confidence"),
            "Area under the accuracy-rejection curve of the answers.",
            "higher",
            inference=Bounded(0.0, 1.0),
        )
    ),
    _on_answers(
        calibration_error("ece", "Expected calibration error of the answers, 10 bins of equal width.")
    ),
    _on_answers(
        Measure(
            "brier",
            statistic_of(calibration.brier, "correct", "confidence"),
            "Mean squared difference of confidence and correctness of the answers.",
            "lower",
            inference=Proportion(),
        )
    ),
    Measure(
        "implied_threshold",
        statistic_of(decision.implied_threshold, "answered", "confidence"),
        "Confidence from which the model answers; undefined if it always answers or always abstains.",
        inference=Percentile(informative=_overlapping_decisions),
    ),
    Measure(
        "threshold_excess",
        _threshold_excess,
        "Implied minus optimal threshold; below 0 the model answers where it should abstain.",
        inference=Percentile(informative=_overlapping_decisions),
    ),
    Measure(
        "normalized_recalibrated_utility",
        _recalibrated_utility,
        "Utility of the optimal policy on confidence recalibrated on other questions; the difference from "
        "`normalized_scaffold_utility` is the cost of miscalibration.",
        "higher",
        fitted=True,
        inference=Posterior(_outcomes, _SCAFFOLD_UTILITY_NORMALIZED, _recalibrate, includes_estimate=True),
    ),
    Measure(
        "normalized_compared_utility",
        _COMPARED_UTILITY,
        "`normalized_utility` on the trials of `normalized_scaffold_utility`.",
        "higher",
        inference=Posterior(_outcomes, _COMPARED_UTILITY, includes_estimate=True),
    ),
    *map(_on_all_replies, _UTILITIES),
    PARSE_RATE,
    PARSE_RATE_STRICT,
)
"""Means and rates; over several penalties, the mean over the penalties at which the measure is defined."""

COUNTS: tuple[Measure, ...] = (
    count_measure("n_trials", lambda trials: trials["penalty"] >= 0.0, "Number of trials scored."),
    count_measure(
        "n_compared", _compared, "Number of trials on which the model's and the optimal policy are compared."
    ),
    count_measure(
        "n_without_confidence",
        lambda trials: np.isnan(trials["confidence"]),
        "Number of trials without a confidence in [0, 1]; measures that need a confidence leave them out.",
        "lower",
    ),
    count_measure(
        "n_scaffold_without_answer",
        _scaffold_without_answer,
        "Number of trials on which the optimal policy answers but the model stated no answer; the policy earns 0.",
        "lower",
    ),
)
"""Numbers of trials; over several penalties, their sum."""


def riskeval_summary(
    trials: Sequence[Mapping[str, Any]],
    conditions: Sequence[str],
    *,
    seed: int = 0,
    names: Sequence[str] | None = None,
) -> dict[str, float]:
    """Return every measure under every penalty and in each regime, and the abstention slope.

    Keys are ``name/lambda=10`` under a penalty, and ``name/all`` and ``name/high_penalty`` for the mean over penalties,
    or the sum for numbers of trials. Unless ``names`` selects measures, ``name_low`` and ``name_high`` are the limits
    of 95% intervals over questions. ``conditions`` are the labels of the penalties, in order.
    """
    measures = select_measures((*MEASURES, *COUNTS), names)
    values = summarise(trials, measures, conditions)
    for regime, lowest in REGIMES.items():
        labels = [label for label in conditions if penalty_of(label) >= lowest]
        for measure in measures:
            pool = sum if measure.inference.is_count else _mean_defined
            values[f"{measure.name}/{regime}"] = pool(values[f"{measure.name}/{label}"] for label in labels)
        if names is None:
            mean_gain = replace(GAIN, compute=_average_over_penalties(GAIN.compute))
            values |= _with_interval(mean_gain, regime, trials, labels, seed)
    if names is None:
        values |= _with_interval(SLOPE, "all", trials, conditions, seed)
    return values


def _mean_defined(values: Iterable[float]) -> float:
    """Return the mean of the values that are not NaN; NaN if there are none."""
    defined = [value for value in values if not math.isnan(value)]
    return sum(defined) / len(defined) if defined else math.nan


def _average_over_penalties(measure: Compute) -> Compute:
    """Return the mean of a measure over the penalties at which it is defined."""

    def compute(trials: Columns, weights: FloatArray | None = None) -> Value:
        penalties = np.unique(trials["penalty"])
        values = np.array(
            [restrict_to(where("penalty", each), measure)(trials, weights) for each in penalties]
        )
        defined = ~np.isnan(values)
        with np.errstate(invalid="ignore"):
            mean: FloatArray = np.where(defined, values, 0.0).sum(axis=0) / defined.sum(axis=0)
        return mean

    return compute


def _with_interval(
    measure: Measure, regime: str, trials: Sequence[Mapping[str, Any]], conditions: Sequence[str], seed: int
) -> dict[str, float]:
    """Return a measure over several penalties with the limits of its 95% interval over questions."""
    keys = [f"{measure.name}{part}/{regime}" for part in ("", "_low", "_high")]
    rows = columns([trial for trial in trials if trial["condition"] in conditions])
    if not rows:
        return dict.fromkeys(keys, math.nan)
    interval = interval_over_questions(measure, rows, n_resamples=1000, seed=seed)
    return dict(zip(keys, (interval.estimate, interval.low, interval.high), strict=True))


def interval_over_questions(measure: Measure, trials: Columns, **options: Any) -> Interval:
    """Return the bootstrap interval of a measure, with options of :func:`confidence_tasks.statistics.bootstrap`."""
    informative = measure.inference.informative
    return statistics.bootstrap(
        lambda index, *, weights: measure.compute(trials, weights),
        np.arange(len(trials["question_id"])),
        clusters=units_of(trials),
        n_informative=math.inf if informative is None else informative(trials).count,
        method=measure.inference.method,
        **options,
    )


OVER_PENALTIES: tuple[Measure, ...] = (SLOPE,)
"""Measures of the trials under all penalties together."""


def riskeval_metrics(parameters: Mapping[str, Any], conditions: Sequence[str]) -> TaskMetrics:
    """Return the measures over all penalties, over the high penalties, and under each penalty."""
    high = max(map(penalty_of, conditions)) >= HIGH_PENALTY
    return TaskMetrics(
        riskeval_summary,
        {"conditions": list(conditions), "seed": parameters["seed"]},
        MEASURES + COUNTS,
        "high_penalty" if high else "all",
        overall=tuple(REGIMES),
    )
