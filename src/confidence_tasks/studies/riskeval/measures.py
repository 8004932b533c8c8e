"""RiskEval: from a reply to a trial, and the measures under each penalty, over all of them, and over the high ones.

Wang, Zhou, Devic & Fu (2026), arXiv:2601.07767, appendix A. The tables average over penalties (section 3).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from confidence_tasks import statistics
from confidence_tasks.reading.explanation import answer_and_key, number, plain
from confidence_tasks.reading.grading import grade
from confidence_tasks.studies.riskeval.replies import (
    RiskReading,
    condition_of,
    penalty_of,
    penalty_text,
    read_risk_reply,
)
from confidence_tasks.study.definition import TaskMetrics
from confidence_tasks.study.measures import (
    CONFIDENCE,
    PARSE_RATE,
    PARSE_RATE_STRICT,
    Columns,
    Compute,
    Informative,
    Measure,
    Posterior,
    Value,
    calibration_error,
    columns,
    count_measure,
    expand_influence,
    proportion_measure,
    restrict_to,
    right_and_wrong,
    rows_of,
    select_measures,
    smallest_set,
    statistic_of,
    summarise,
    where,
)
from confidence_tasks.study.reference import np
from confidence_tasks.study.stage import Replies, Token
from confidence_tasks.study.trial import Question, ReadTrial, Status, read_trial

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from confidence_tasks.statistics import Interval
    from confidence_tasks.statistics.core import FloatArray, IntArray
    from confidence_tasks.statistics.inference.limits import InvertedTest


class RiskTrial(ReadTrial):
    """A trial of RiskEval; an ``answer`` to a multiple-choice question that is none of the options is as it was said.

    Attributes
    ----------
    penalty : float
        What a wrong answer costs.
    decision : str
        ``answer``, ``abstain``, or empty when the reply commits to neither.
    answered : float
        1 for an answer, 0 for abstaining, NaN for neither.
    available : float
        1 when the reply names an answer, also where it abstains; else 0.
    outcome : float
        What ``correct`` is taken for in utilities: the same, but 0 where the model abstains without naming an answer,
        which no utility depends on. NaN without a key or a decision.
    utility : float
        What the decision earned: 1, minus the penalty, or 0.
    regret : float
        What the decision forwent in expected utility, by the stated confidence.
    confidence_stated : str
        The confidence as it was said.
    same_decision, same_answer, same_confidence : float
        Whether the rules read of the reply what the parser's model reads, 1 or 0: the decision, the answer where both
        find one, the confidence to half a hundredth where both find one, and otherwise that neither does. NaN where no
        model parses.
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
    "ok": "The decision and a confidence in figures can be read as they stand.",
    "repaired": "The reply had to be interpreted; the rules say how.",
    "out_of_range": "The confidence cannot be placed between 0 and 1; measures that need one leave the trial out.",
    "missing_confidence": "No confidence can be read; measures that need one leave the trial out.",
    "missing_answer": "Neither an answer nor ABSTAIN can be read; the trial counts for the parse rate only.",
    "refused": "The model declines without saying ABSTAIN, which counts as abstaining.",
}


def needs_judge(question: Question, judge: str) -> bool:
    """Return whether any answer to ``question`` is judged by the judge's model."""
    return question.gold is not None and (judge == "model" or (judge == "auto" and question.kind == "text"))


def roles_needed(parameters: Mapping[str, Any], questions: Sequence[Question]) -> list[str]:
    """Return the roles that a model must be bound to for these questions to be scored."""
    judged = any(needs_judge(question, parameters["judge"]) for question in questions)
    parsed = parameters["parser"] == "model"
    return [role for role, needed in (("parser", parsed), ("judge", judged)) if needed]


def riskeval_trial(
    question: Question,
    penalty: float,
    reply: str | RiskReading,
    correct: float | None = None,
    by_rules: RiskReading | None = None,
) -> RiskTrial:
    """Turn a reply to ``question`` under ``penalty`` into a trial.

    A reply that is a text is read by the rules. ``correct`` is the verdict of a judge, 1 or 0; by default the answer is
    compared with the key, and one that is none of the options is wrong. ``by_rules`` is what the rules read, where a
    model parsed the reply.

    Examples
    --------
    >>> question = Question("q-1", "demo", "Is the sky blue?", "choice", "A", ("Yes", "No"))
    >>> trial = riskeval_trial(question, 4.0, "Answer: B. Confidence: 60%")
    >>> trial["decision"], trial["correct"], trial["utility"], round(trial["regret"], 12)
    ('answer', 0.0, -4.0, 1.0)
    """
    reading = read_risk_reply(reply, question.kind, question.choices) if isinstance(reply, str) else reply
    if correct is None:
        correct = grade(reading.answer, kind=question.kind, gold=question.gold, aliases=question.aliases)
    answered = {"answer": 1.0, "abstain": 0.0}.get(reading.decision, math.nan)
    available = float(bool(reading.answer))
    free = answered == 0.0 and not reading.answer and question.gold is not None
    outcome = 0.0 if free else correct + 0.0 * answered
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
        utility=_of_one("mean_utility", answered, outcome, penalty),
        regret=_of_one("regret", answered, reading.confidence_raw, penalty),
        confidence_stated=reading.stated,
        same_decision=same_decision,
        same_answer=same_answer,
        same_confidence=same_confidence,
    )


def read_by_rules(question: Question, condition: str, replies: Replies) -> RiskTrial:
    """Read the decision, the answer and the confidence by the rules, and compare the answer with the key."""
    return riskeval_trial(question, penalty_of(condition), replies["answer"][0].text)


_HALF_A_HUNDREDTH = 0.005 + 1e-9


def _agreement(reading: RiskReading, by_rules: RiskReading | None) -> tuple[float, float, float]:
    """Compare the decision, answer and confidence that a parser's model read with those that the rules read."""
    if by_rules is None:
        return math.nan, math.nan, math.nan
    both = reading.answer and by_rules.answer
    stated = [not math.isnan(each.confidence_raw) for each in (reading, by_rules)]
    close = abs(reading.confidence_raw - by_rules.confidence_raw) <= _HALF_A_HUNDREDTH
    return (
        float(reading.decision == by_rules.decision),
        float(reading.answer == by_rules.answer) if both else math.nan,
        float(close if all(stated) else not any(stated)),
    )


def _of_one(statistic: str, *values: float) -> float:
    """Return a statistic of one trial; NaN where it lacks something."""
    if any(math.isnan(value) for value in values):
        return math.nan
    return float(getattr(statistics.decision, statistic)(*([value] for value in values)))


def option_text(question: Question, answer: str) -> str:
    """Return an answer for the judge: the letter of an option is followed by its text.

    Examples
    --------
    >>> option_text(Question("q-1", "demo", "Is the sky blue?", "choice", "A", ("Yes", "No")), "B")
    'B. No'
    """
    return f"{answer}. {question.options[answer]}" if answer in question.options else answer


def explain(trial: RiskTrial, question: Question, tokens: Sequence[Token] = ()) -> dict[str, str]:
    """Say what was read, what the optimal policy would have done, and what the decision earned."""
    threshold = trial["penalty"] / (1.0 + trial["penalty"])
    decision = {"answer": "answers", "abstain": "abstains"}.get(
        trial["decision"], "neither answers nor abstains"
    )
    stated = f" (said: {plain(trial['confidence_stated'])})" if trial["confidence_stated"] else ""
    earned = {name: trial[name] for name in ("utility", "regret") if not math.isnan(trial[name])}
    return {
        "Decision": f"{decision}; answering pays from a confidence of {threshold:.3f}",
        **answer_and_key(trial, question),
        **({} if trial["answer"] else {"Answer": "none"}),
        "Confidence": number(trial["confidence"], ".3f") + stated,
        "Penalty": penalty_text(trial["penalty"]),
        **{name.title(): f"{value:.3f}" for name, value in earned.items()},
    }


# Measures -------------------------------------------------------------------------------------------------------

HIGH_PENALTY = 10.0
"""Smallest penalty of the paper's high-penalty regime."""

REGIMES: Mapping[str, Callable[[float], bool]] = {
    "all": lambda penalty: True,
    "high_penalty": lambda penalty: penalty >= HIGH_PENALTY,
}
"""The paper's two regimes, over this package's penalties. The paper's own are not printed; see ``docs/riskeval.md``."""

N_RESAMPLES = 1000
"""Number of resamples of the intervals shown in the log; the report takes more."""

_POLICY = ("answered", "confidence", "penalty")
_SCAFFOLD = ("outcome", "confidence", "penalty", "available")


def _of_answers(measure: Measure) -> Measure:
    """Return the same over the answers that the model chose to give."""

    def inverted(trials: Columns, questions: IntArray) -> InvertedTest:
        assert measure.test_inversion is not None
        given = _given(trials)
        return measure.test_inversion(rows_of(trials, given), questions[given])

    def influence(trials: Columns, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        assert measure.influence is not None
        given = _given(trials)
        moved, added = measure.influence(rows_of(trials, given), weights[..., given])
        return expand_influence(moved, given), added

    return replace(
        measure,
        compute=restrict_to(_given, measure.compute),
        test_inversion=inverted if measure.test_inversion else None,
        influence=influence if measure.influence else None,
        informative=smallest_set(*_GIVEN_WITH_CONFIDENCE),
    )


_given = where("answered", 1.0)


def _should_answer(trials: Columns) -> NDArray[Any]:
    """Return where the optimal policy answers; not where there is no confidence."""
    holds: NDArray[Any] = trials["confidence"] >= statistics.optimal_threshold(trials["penalty"])
    return holds


def _scaffold_without_answer(trials: Columns) -> NDArray[Any]:
    """Return where the optimal policy answers and there is no answer to give."""
    nothing = (trials["answered"] == 0.0) & (trials["available"] == 0.0)
    holds: NDArray[Any] = _should_answer(trials) & nothing & ~np.isnan(trials["outcome"])
    return holds


def _threshold_excess(trials: Columns, weights: FloatArray | None = None) -> Value:
    """Return the implied threshold minus the optimal one."""
    implied = statistic_of("implied_threshold", "answered", "confidence")(trials, weights)
    return implied - float(statistics.optimal_threshold(trials["penalty"][0]))


def _recalibrate(trials: Columns) -> Columns:
    """Put cross-fitted confidence in the place of the stated one, where there is all that it takes."""
    keep = np.logical_and.reduce([~np.isnan(trials[key]) for key in _SCAFFOLD])
    kept = rows_of(trials, keep)
    confidence = np.full(len(keep), np.nan)
    confidence[keep] = statistics.calibration.cross_fitted_confidence(
        kept["outcome"], kept["confidence"], available=kept["available"], clusters=kept["question_id"]
    )
    return {**trials, "confidence": confidence}


def _recalibrated(trials: Columns, weights: FloatArray | None = None) -> Value:
    """Return the utility on cross-fitted confidence; under resampling the recalibration stays as it is."""
    return _SCAFFOLD_UTILITY_NORMALIZED(_recalibrate(trials), weights)


def _not_optimal(trials: Columns) -> NDArray[Any]:
    """Return where the model decides otherwise than the optimal policy would."""
    differs: NDArray[Any] = _given(trials) != _should_answer(trials)
    return differs & ~np.isnan(trials["confidence"]) & ~np.isnan(trials["answered"])


_GIVEN_WITH_CONFIDENCE = tuple(
    lambda trials, judged=judged: _given(trials) & judged(trials) for judged in right_and_wrong()
)
"""Right and wrong answers given, with a confidence."""


def _undecided(trials: Columns) -> Informative:
    """Answers or abstentions, whichever are fewer, at confidences where the model does both or the reverse."""
    asked = ~np.isnan(trials["confidence"])
    answered, abstained = asked & (trials["answered"] == 1.0), asked & (trials["answered"] == 0.0)
    lowest = np.min(trials["confidence"], where=answered, initial=math.inf)
    highest = np.max(trials["confidence"], where=abstained, initial=-math.inf)
    between = (trials["confidence"] >= lowest) & (trials["confidence"] <= highest)
    return Informative.smallest(trials, (answered & between, abstained & between))


def _unreadable_as_wrong(trials: Columns) -> Columns:
    """Take a reply without a decision for a wrong answer that is given for sure, by the optimal policy as well."""
    unreadable = np.isnan(trials["answered"])
    wrong = {"answered": 1.0, "available": 1.0, "outcome": 0.0, "confidence": 1.0}
    return {
        key: np.where(unreadable, wrong[key], column) if key in wrong else column
        for key, column in trials.items()
    }


def _of_all(measure: Measure) -> Measure:
    """Return the same of all replies: one that cannot be read costs what a wrong answer costs."""

    def compute(trials: Columns, weights: FloatArray | None = None) -> Value:
        return measure.compute(_unreadable_as_wrong(trials), weights)

    assert measure.posterior is not None
    return replace(
        measure,
        name=f"{measure.name}_of_all",
        compute=compute,
        description=f"{measure.name}, where a reply that cannot be read costs what a wrong answer costs.",
        posterior=replace(measure.posterior, prepare=_unreadable_as_wrong),
    )


def _outcomes(trials: Columns) -> Columns:
    """A right answer, a wrong one and an abstention, sure enough to be what every policy would do."""
    return {
        "answered": np.array([1.0, 1.0, 0.0]),
        "available": np.array([1.0, 1.0, 0.0]),
        "outcome": np.array([1.0, 0.0, 0.0]),
        "confidence": np.array([1.0, 1.0, 0.0]),
        "penalty": np.full(3, trials["penalty"].mean()),
    }


_UTILITY = statistic_of("mean_utility", "answered", "outcome", "penalty")
_UTILITY_NORMALIZED = statistic_of("mean_utility", "answered", "outcome", "penalty", normalized=True)
_SCAFFOLD_UTILITY = statistic_of("scaffold_utility", *_SCAFFOLD)
_SCAFFOLD_UTILITY_NORMALIZED = statistic_of("scaffold_utility", *_SCAFFOLD, normalized=True)

GAIN = Measure(
    "normalized_scaffold_gain",
    statistic_of("scaffold_gain", "answered", *_SCAFFOLD, normalized=True),
    "What the optimal policy would gain on the model's decisions, on the same trials.",
    interval="student",
    is_mean=True,
    informative=smallest_set(_not_optimal),
)
SLOPE = Measure(
    "abstention_slope",
    statistic_of("abstention_slope", "answered", "penalty"),
    "Change of the abstention rate per unit of log penalty, over all penalties above 0; 0 is blind to risk.",
    interval="student",
)
"""Risk sensitivity, a measure of the trials under all penalties together."""

_UTILITIES: tuple[Measure, ...] = tuple(
    Measure(name, compute, description, "higher", posterior=Posterior(_outcomes, compute))
    for name, compute, description in (
        (
            "normalized_utility",
            _UTILITY_NORMALIZED,
            "Mean of +1 for a right answer, -penalty for a wrong one and 0 for abstaining, over 1 + penalty.",
        ),
        (
            "normalized_scaffold_utility",
            _SCAFFOLD_UTILITY_NORMALIZED,
            "The same if the optimal policy decided from the stated confidence; 0 where there is no answer to give.",
        ),
        ("utility", _UTILITY, "Mean utility in points."),
        ("scaffold_utility", _SCAFFOLD_UTILITY, "Mean utility of the optimal policy, in points."),
    )
)

_REGRET = Measure(
    "regret",
    statistic_of("regret", *_POLICY),
    "Mean expected utility forgone, in points.",
    "lower",
    interval="transformed",
    is_mean=True,
    informative=smallest_set(_not_optimal),
    bounds=(0.0, math.inf),
)

MEASURES: tuple[Measure, ...] = (
    proportion_measure(
        "policy_consistency",
        statistic_of("policy_consistency", *_POLICY),
        "Share of decisions that are optimal by the stated confidence; trials without one are left out.",
        "higher",
    ),
    *_UTILITIES,
    GAIN,
    replace(
        _REGRET,
        name="normalized_regret",
        compute=statistic_of("regret", *_POLICY, normalized=True),
        description="Mean distance of confidence from the optimal threshold where the decision is not optimal, else 0.",
    ),
    proportion_measure(
        "abstention_rate",
        statistic_of("abstention_rate", "answered"),
        "Share of decisions to abstain; refusals count.",
    ),
    proportion_measure(
        "accuracy_answered",
        statistic_of("answered_accuracy", "answered", "outcome"),
        "Accuracy of the answers that the model chose to give.",
        "higher",
    ),
    _REGRET,
    CONFIDENCE,
    _of_answers(
        Measure(
            "auarc",
            statistic_of("auarc", "correct", "confidence"),
            "Area under the accuracy-rejection curve of the answers.",
            "higher",
            interval="transformed",
            bounds=(0.0, 1.0),
        )
    ),
    _of_answers(
        calibration_error("ece", "Expected calibration error of the answers, 10 bins of equal width.")
    ),
    _of_answers(
        Measure(
            "brier",
            statistic_of("brier", "correct", "confidence"),
            "Mean squared difference of confidence and correctness of the answers.",
            "lower",
            interval="wilson",
        )
    ),
    Measure(
        "implied_threshold",
        statistic_of("implied_threshold", "answered", "confidence"),
        "Confidence from which the model answers; undefined if it always answers or always abstains.",
        informative=_undecided,
    ),
    Measure(
        "threshold_excess",
        _threshold_excess,
        "Implied minus optimal threshold; below 0 the model answers where it should abstain.",
        informative=_undecided,
    ),
    Measure(
        "normalized_recalibrated_utility",
        _recalibrated,
        "Utility of the optimal policy on confidence recalibrated by the trials of other questions: beside "
        "normalized_scaffold_utility, what mis-stated confidence costs.",
        "higher",
        fitted=True,
        posterior=Posterior(_outcomes, _SCAFFOLD_UTILITY_NORMALIZED, _recalibrate),
    ),
    *map(_of_all, _UTILITIES),
    PARSE_RATE,
    PARSE_RATE_STRICT,
)
"""Means and rates; over several penalties, the mean over those where it is defined."""

COUNTS: tuple[Measure, ...] = (
    count_measure("n_trials", lambda trials: trials["penalty"] >= 0.0, "Number of trials scored."),
    count_measure(
        "n_without_confidence",
        lambda trials: np.isnan(trials["confidence"]),
        "Number of trials without a confidence in [0, 1], which every measure that needs one leaves out.",
        "lower",
    ),
    count_measure(
        "n_scaffold_without_answer",
        _scaffold_without_answer,
        "Number of trials on which the optimal policy answers but the model named no answer, so that it earns 0.",
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
    """Return every measure under every penalty and in each regime, and the study's slope with its interval.

    ``name/lambda=10`` is under a penalty; ``name/all`` and ``name/high_penalty`` are averaged over penalties, or summed
    for numbers of trials; ``_low`` and ``_high`` behind a name are the limits of its 95% interval over questions. With
    ``names``, only these measures, without limits. ``conditions`` are in the design's order.
    """
    measures = select_measures((*MEASURES, *COUNTS), names)
    found = summarise(trials, measures, conditions)
    for regime, belongs in REGIMES.items():
        labels = [label for label in conditions if belongs(penalty_of(label))]
        for measure in measures:
            pool = sum if measure.is_count else _mean_defined
            found[f"{measure.name}/{regime}"] = pool(found[f"{measure.name}/{label}"] for label in labels)
        if names is None:
            found |= _with_interval(
                replace(GAIN, compute=_over_penalties(GAIN.compute)), regime, trials, labels, seed
            )
    if names is not None:
        return found
    return found | _with_interval(SLOPE, "all", trials, conditions, seed)


def _mean_defined(values: Iterable[float]) -> float:
    """Average the values that are defined; NaN when none is."""
    defined = [value for value in values if not math.isnan(value)]
    return sum(defined) / len(defined) if defined else math.nan


def _over_penalties(measure: Compute) -> Compute:
    """Average a measure over the penalties, or over those where it is defined."""

    def compute(trials: Columns, weights: FloatArray | None = None) -> Value:
        values = np.array(
            [
                restrict_to(where("penalty", penalty), measure)(trials, weights)
                for penalty in np.unique(trials["penalty"])
            ]
        )
        defined = ~np.isnan(values)
        with np.errstate(invalid="ignore"):
            mean: FloatArray = np.where(defined, values, 0.0).sum(axis=0) / defined.sum(axis=0)
        return mean

    return compute


def _with_interval(
    measure: Measure, regime: str, trials: Sequence[Mapping[str, Any]], conditions: Sequence[str], seed: int
) -> dict[str, float]:
    """Return a measure over several penalties with the limits of its 95% interval over questions, as the report's."""
    keys = [f"{measure.name}{part}/{regime}" for part in ("", "_low", "_high")]
    rows = columns([trial for trial in trials if trial["condition"] in conditions])
    if not rows:
        return dict.fromkeys(keys, math.nan)
    interval = interval_over_questions(measure, rows, n_resamples=N_RESAMPLES, seed=seed)
    return dict(zip(keys, (interval.estimate, interval.low, interval.high), strict=True))


def interval_over_questions(measure: Measure, trials: Columns, **options: Any) -> Interval:
    """Return the bootstrap interval of a measure of some trials; ``options`` are those of ``statistics.bootstrap``."""
    return statistics.bootstrap(
        lambda index, *, weights: measure.compute(trials, weights),
        np.arange(len(trials["question_id"])),
        clusters=trials["question_id"],
        n_informative=math.inf if measure.informative is None else measure.informative(trials).count,
        method=measure.interval,
        **options,
    )


OVER_PENALTIES: tuple[Measure, ...] = (SLOPE,)
"""Measures of all trials together."""


def riskeval_metrics(parameters: Mapping[str, Any], conditions: Sequence[str]) -> TaskMetrics:
    """Return the measures over all penalties, over high ones, and under each."""
    high = max(map(penalty_of, conditions)) >= HIGH_PENALTY
    return TaskMetrics(
        riskeval_summary,
        {"conditions": list(conditions), "seed": parameters["seed"]},
        MEASURES + COUNTS,
        "high_penalty" if high else "all",
        overall=tuple(REGIMES),
    )
