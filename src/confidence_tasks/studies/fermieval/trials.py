"""FermiEval's trials, and the measures of intervals as stated and as conformally adjusted.

Epstein, Winnicki, Sornwanee & Dwaraknath (2025), "LLMs are Overconfident: Evaluating Confidence Interval Calibration
with FermiEval".
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from confidence_tasks import statistics
from confidence_tasks.reading.explanation import escape_markdown
from confidence_tasks.statistics import intervals
from confidence_tasks.studies.fermieval.replies import (
    CALIBRATION,
    LARGEST_EXPONENT,
    TEST,
    condition_of,
    largest_end,
    level_of,
    read_fermi_interval,
)
from confidence_tasks.study import Question, Replies, Status, TaskMetrics, Token
from confidence_tasks.study.inference import BoundedMean, Inference, Proportion, Shifted
from confidence_tasks.study.measures import (
    PARSE_RATE,
    PARSE_RATE_STRICT,
    Better,
    Columns,
    Compute,
    Informative,
    InformativeOf,
    Measure,
    Value,
    count_measure,
    not_resampled,
    proportion_measure,
    proportion_of,
    restrict_to,
    rows_of,
    select_measures,
    smallest_set,
    statistic_of,
    summarise,
    unfinished,
)
from confidence_tasks.study.trial import ReadTrial
from confidence_tasks.study.units import SAMPLING_UNIT, units_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from confidence_tasks.statistics.core import FloatArray, IntArray
    from confidence_tasks.statistics.intervals.conformal import Ends

EXCLUDED = "excluded"
"""The ``split`` of a trial that is left out because its truth or an end lies beyond ``max_exponent``."""


class IntervalTrial(ReadTrial):
    """A trial of FermiEval; ``correct`` is 1 if the interval contains the truth, ``confidence`` the nominal coverage.

    ``answer`` is the interval as written.

    Attributes
    ----------
    level : float
        Requested nominal coverage.
    lower, upper : float
        Ends of the interval as exponents of ten; NaN if there is none.
    truth : float
        The true exponent.
    width : float
        Upper end minus lower end.
    winkler : float
        Winkler score of the interval.
    split : str
        ``calibration`` or ``test``; ``excluded`` if the truth or an end lies beyond ``max_exponent``.
    """

    level: float
    lower: float
    upper: float
    truth: float
    width: float
    winkler: float
    split: str


def read_interval(question: Question, condition: str, replies: Replies) -> IntervalTrial:
    """Read the interval of a reply and compare it with the key, which is an exponent.

    The metadata of the question hold its ``split``, ``calibration`` or ``test``. If they also hold ``max_exponent``, a
    trial whose truth or one of whose ends lies further from 0 is excluded; the paper's figures use 100.

    Examples
    --------
    >>> from confidence_tasks.study import ModelReply
    >>> about = {"split": "test", "max_exponent": 100}
    >>> question = Question("fermi-1", "fermi", "Pennies in a trillion?", "number", "13", metadata=about)
    >>> read_interval(question, "p=0.9", {"interval": [ModelReply('{"L": 10, "U": 101}')]})["split"]
    'excluded'
    >>> trial = read_interval(question, "p=0.9", {"interval": [ModelReply('Some 10^11. {"L": 10, "U": 12}')]})
    >>> trial["condition"], trial["correct"], trial["width"], round(trial["winkler"], 6)
    ('p=0.9', 0.0, 2.0, 22.0)
    """
    level, split = level_of(condition), question.metadata["split"]
    max_exponent = question.metadata.get("max_exponent")
    truth = float(question.gold or math.nan)
    reading = read_fermi_interval(replies["interval"][0].text, largest_end(truth))
    lower, upper = reading.lower, reading.upper
    scored = not (math.isnan(lower) or math.isnan(truth))
    beyond = max_exponent is not None and any(abs(end) > max_exponent for end in (truth, lower, upper))
    if beyond or (max_exponent is not None and reading.status == "out_of_range"):
        split = EXCLUDED
    return IntervalTrial(
        question_id=question.id,
        source=question.source,
        condition=condition,
        correct=float(statistics.coverage([truth], [lower], [upper])) if scored else math.nan,
        confidence=level if scored else math.nan,
        status=reading.status,
        level=level,
        lower=lower,
        upper=upper,
        truth=truth,
        width=upper - lower,
        winkler=float(statistics.winkler_score([truth], [lower], [upper], level)) if scored else math.nan,
        split=split,
        answer=reading.stated,
        rules="+".join(reading.rules),
    )


# Measures -------------------------------------------------------------------------------------------------------


def has_interval(trials: Columns, split: str) -> NDArray[np.bool_]:
    """Return which trials belong to a half and state an interval."""
    rows: NDArray[np.bool_] = (trials["split"] == split) & ~np.isnan(trials["lower"])
    return rows


def within_split(trials: Columns, split: str) -> Columns:
    """Return the trials of one half that state an interval."""
    return rows_of(trials, has_interval(trials, split))


def of_intervals(make: Callable[[Columns], Columns], compute: Compute) -> Compute:
    """Return a measure that computes ``compute`` on the intervals that ``make`` derives from trials.

    ``make`` gets the trials with a column ``row``, their position, which it must keep: under resampling an interval has
    the weight of the trial at that position.
    """

    def computed(trials: Columns, weights: FloatArray | None = None) -> Value:
        intervals = make({**trials, "row": np.arange(len(trials["split"]))})
        return compute(intervals, None if weights is None else weights[..., intervals["row"]])

    return computed


def _within_half(split: str, compute: Compute) -> Compute:
    return restrict_to(lambda trials: trials["split"] == split, compute)


def _without_excluded(measure: Measure) -> Measure:
    return replace(
        measure,
        compute=restrict_to(lambda trials: trials["split"] != EXCLUDED, measure.compute),
        description=f"{measure.description} Replies counted by `n_excluded` are left out.",
    )


_COVERAGE = statistic_of(intervals.coverage, "truth", "lower", "upper")
_WIDTH = statistic_of(intervals.mean_width, "lower", "upper")
_WINKLER = statistic_of(intervals.winkler_score, "truth", "lower", "upper", "level")


_ENOUGH_MISSES = 4
"""Minimum number of misses for an interval of the Winkler score. With fewer misses, the score is too low and its
interval lies below the true value. A higher minimum would select studies whose score is too high. See
``docs/reliability.md``."""


def _misses(split: str) -> InformativeOf:
    """Return the rule that finds the questions of one half whose interval misses the truth."""

    def missed(trials: Columns) -> NDArray[Any]:
        outside = (trials["truth"] < trials["lower"]) | (trials["truth"] > trials["upper"])
        return np.asarray(outside & (trials["split"] == split))

    return smallest_set(missed, enough=_ENOUGH_MISSES)


def _covered_if_missing(trials: Columns) -> NDArray[Any]:
    """Return whether each interval contains the truth: 0 without an interval, NaN for an unfinished reply."""
    return np.where(unfinished(trials), np.nan, trials["correct"] == 1.0)


_POSITIVE = (0.0, math.inf)

MEASURES: tuple[Measure, ...] = (
    Measure(
        "coverage_gap",
        _within_half(TEST, proportion_of(lambda trials: trials["correct"] - trials["level"])),
        "Observed minus nominal coverage on the test half; below 0 is overconfident.",
        inference=Shifted("coverage"),
    ),
    proportion_measure(
        "coverage",
        _within_half(TEST, _COVERAGE),
        "Share of the intervals stated for the test half that contain the truth.",
    ),
    proportion_measure(
        "coverage_of_all",
        _within_half(TEST, proportion_of(_covered_if_missing)),
        "Coverage on the test half if a reply without an interval counts as a miss. Replies that were cut off, "
        "filtered or hold only reasoning are left out.",
    ),
    Measure(
        "mean_width",
        _within_half(TEST, _WIDTH),
        "Mean width of the intervals for the test half, in orders of magnitude.",
        inference=BoundedMean(*_POSITIVE),
    ),
    Measure(
        "winkler",
        _within_half(TEST, _WINKLER),
        "Winkler score on the test half: width, plus 2/alpha times the distance by which the truth is missed.",
        "lower",
        inference=BoundedMean(*_POSITIVE, informative=_misses(TEST)),
    ),
    proportion_measure(
        "degenerate_share",
        _within_half(TEST, statistic_of(intervals.degenerate_share, "lower", "upper")),
        "Share of the intervals for the test half that are a single exponent.",
    ),
    _without_excluded(PARSE_RATE),
    _without_excluded(PARSE_RATE_STRICT),
    count_measure(
        "n_excluded",
        lambda trials: trials["split"] == EXCLUDED,
        "Number of replies in either half that are left out because the truth or an end lies beyond `max_exponent`.",
    ),
)
"""Measures of the intervals as stated, on the test half; the last three are over both halves."""


@dataclass(frozen=True, slots=True)
class Adjustment:
    """A method that adjusts the intervals of the test half; all trials have the same level.

    Attributes
    ----------
    change : str
        What the method does to the ends.
    fitted_on : {"calibration", "test"}
        The half that the adjustment is fitted on. Runs with a calibration half have no intervals by a method that is
        fitted on the test half, and other runs have none by the other methods.
    refit : callable
        ``refit(known, new, level, weights)`` fits the adjustment to the trials ``known``, once for each row of integer
        weights. It returns a list of the distinct adjusted ends of the trials ``new``, and for each row of
        weights the position of its ends in that list.
    """

    change: str
    fitted_on: str
    refit: Callable[[Columns, Columns, float, FloatArray], tuple[list[Ends], IntArray]]

    def applies_to(self, trials: Columns) -> bool:
        """Whether the trials have the half that the method needs."""
        return (CALIBRATION in trials["split"]) is (self.fitted_on == CALIBRATION)

    def adjust(self, trials: Columns) -> Columns:
        """Return the trials of the test half that state an interval, with adjusted ``lower`` and ``upper``.

        Ends are infinite if there are too few questions for the level.
        """
        ((adjusted, _),) = self._by_outcome(trials, np.ones((1, len(trials["split"]))))
        return adjusted

    def refitted(self, compute: Compute) -> Compute:
        """Return a measure of adjusted intervals that refits the adjustment for each row of weights."""

        def computed(trials: Columns, weights: FloatArray | None = None) -> Value:
            if weights is None:
                return compute(self.adjust(trials), None)
            values, new = np.empty(len(weights)), self._adjusted(trials)
            for adjusted, rows in self._by_outcome(trials, weights):
                values[rows] = compute(adjusted, weights[rows][:, new])
            return values

        return computed

    def _adjusted(self, trials: Columns) -> NDArray[np.bool_]:
        return has_interval(trials, TEST) & self.applies_to(trials)

    def _by_outcome(self, trials: Columns, weights: FloatArray) -> Iterator[tuple[Columns, NDArray[Any]]]:
        """Yield each distinct set of adjusted trials with a mask of the rows of weights that lead to it."""
        fitted_on = has_interval(trials, self.fitted_on)
        known, new = rows_of(trials, fitted_on), rows_of(trials, self._adjusted(trials))
        if not len(new["level"]):
            yield new, np.ones(len(weights), dtype=np.bool_)
            return
        outcomes, outcome_of_row = self.refit(known, new, float(new["level"][0]), weights[:, fitted_on])
        for number, (lower, upper) in enumerate(outcomes):
            yield {**new, "lower": lower, "upper": upper}, outcome_of_row == number


def _conformal(change: str, **options: bool) -> Adjustment:
    """Return a conformal adjustment that is fitted on the calibration half.

    ``options`` are ``asymmetric`` and ``normalized`` of :func:`confidence_tasks.statistics.intervals.fit_conformal`.
    """

    def refit(known: Columns, new: Columns, level: float, weights: FloatArray) -> tuple[list[Ends], IntArray]:
        intervals = known["truth"], known["lower"], known["upper"]
        return statistics.intervals.conformal.refit_conformal(
            intervals, (new["lower"], new["upper"]), level, weights, questions=units_of(known), **options
        )

    return Adjustment(change, CALIBRATION, refit)


JACKKNIFE = "conformal_jackknife"

ADJUSTMENTS: Mapping[str, Adjustment] = {
    "conformal": _conformal("both ends moved by the same distance"),
    "conformal_asymmetric": _conformal("each end moved by a distance of its own", asymmetric=True),
    "conformal_normalized": _conformal("both ends moved in proportion to the width", normalized=True),
    JACKKNIFE: Adjustment(
        "both ends moved by the same distance",
        TEST,
        lambda known, new, level, weights: statistics.intervals.conformal.refit_jackknife(
            (new["truth"], new["lower"], new["upper"]), level, weights, units_of(new)
        ),
    ),
}
"""Adjustments by the name of their method; the last one fits each question's interval on all other questions."""


def _shift(trials: Columns) -> float:
    """Return the distance by which symmetric conformal adjustment moves both ends."""
    known, new = within_split(trials, CALIBRATION), within_split(trials, TEST)
    if CALIBRATION not in trials["split"] or not len(new["level"]):
        return math.nan
    return statistics.intervals.fit_conformal(
        known["truth"],
        known["lower"],
        known["upper"],
        float(new["level"][0]),
        questions=units_of(known),
    ).above


def _coverage_gap(intervals: Columns, weights: FloatArray | None = None) -> Value:
    level = float(intervals["level"][0]) if len(intervals["level"]) else math.nan
    return _COVERAGE(intervals, weights) - level


FIGURES: tuple[tuple[str, Compute, str, Better], ...] = (
    ("coverage", _COVERAGE, "Share of the intervals that contain the truth", "neither"),
    ("coverage_gap", _coverage_gap, "Observed minus nominal coverage", "neither"),
    ("mean_width", _WIDTH, "Mean width of the intervals", "neither"),
    ("winkler", _WINKLER, "Winkler score of the intervals", "lower"),
)
"""Name, function, description and direction of the measures of the intervals of one method at one level."""

_ADJUSTED: tuple[tuple[str, Compute, str, Better], ...] = (
    ("coverage", _COVERAGE, "Coverage", "neither"),
    ("width", _WIDTH, "Mean width", "neither"),
    ("winkler", _WINKLER, "Winkler score", "lower"),
)
"""Name, function, description and direction of the measures of adjusted intervals."""


def _adjusted_measures(method: str) -> Iterator[Measure]:
    adjustment = ADJUSTMENTS[method]
    fitted_on = "all other questions" if method == JACKKNIFE else "the calibration half"

    def misses(trials: Columns) -> Informative:
        return _misses(TEST)(adjustment.adjust(trials))

    inferences: Mapping[str, Inference] = {
        "coverage": Proportion(),
        "width": BoundedMean(*_POSITIVE),
        "winkler": BoundedMean(*_POSITIVE, informative=misses),
    }
    for name, compute, description, better in _ADJUSTED:
        by_construction = method == JACKKNIFE and name == "coverage"
        yield Measure(
            f"{method}_{name}",
            of_intervals(adjustment.adjust, compute),
            f"{description} of the test half's intervals with {adjustment.change}, fitted on {fitted_on}"
            f"{', which is the nominal coverage by construction, up to ties' if by_construction else ''}.",
            better,
            inferences[name],
            fitted=True,
            refitted=adjustment.refitted(compute),
        )


CONFORMAL_MEASURES: tuple[Measure, ...] = (
    *(measure for method in ADJUSTMENTS if method != JACKKNIFE for measure in _adjusted_measures(method)),
    Measure(
        "conformal_shift",
        not_resampled(_shift),
        "Distance by which conformal adjustment moves both ends; infinite with too few calibration questions.",
        "lower",
        fitted=True,
    ),
    proportion_measure(
        "coverage_calibration",
        _within_half(CALIBRATION, _COVERAGE),
        "Share of the intervals stated for the calibration half that contain the truth.",
    ),
    Measure(
        "winkler_calibration",
        _within_half(CALIBRATION, _WINKLER),
        "Winkler score on the calibration half.",
        "lower",
        inference=BoundedMean(*_POSITIVE, informative=_misses(CALIBRATION)),
    ),
)
"""Measures of runs with a calibration half."""

JACKKNIFE_MEASURES: tuple[Measure, ...] = tuple(_adjusted_measures(JACKKNIFE))
"""Measures of runs without a calibration half."""

REPORTED_MEASURES = MEASURES + CONFORMAL_MEASURES + JACKKNIFE_MEASURES
"""Measures of stated and of adjusted intervals, for runs with and without a calibration half."""


def fermieval_summary(
    trials: Sequence[Mapping[str, Any]],
    levels: Sequence[float],
    *,
    conformal: bool = True,
    names: Sequence[str] | None = None,
) -> dict[str, float]:
    """Return every measure at every level and averaged over levels.

    Intervals are adjusted by the calibration half or, with ``conformal=False``, by all other questions. Keys are
    ``name/p=0.95`` at a level and ``name/all`` for the mean over levels. Unless ``names`` selects measures,
    ``coverage_low`` and ``coverage_high`` are the limits of Wilson's 95% interval of coverage.
    """
    labels = [condition_of(level) for level in levels]
    measures = select_measures(MEASURES + (CONFORMAL_MEASURES if conformal else JACKKNIFE_MEASURES), names)
    values = summarise(trials, measures, labels)
    averages = {
        f"{measure.name}/all": sum(values[f"{measure.name}/{label}"] for label in labels) / len(labels)
        for measure in measures
    }
    return averages | values | (_coverage_limits(trials, labels) if names is None else {})


def _coverage_limits(trials: Sequence[Mapping[str, Any]], labels: Sequence[str]) -> dict[str, float]:
    limits: dict[str, float] = {}
    scored = [trial for trial in trials if trial["split"] == TEST and not math.isnan(trial["correct"])]
    for label in labels:
        of_level = [trial for trial in scored if trial["condition"] == label]
        n_held = sum(trial["correct"] for trial in of_level)
        units = [trial.get(SAMPLING_UNIT, trial["question_id"]) for trial in of_level]
        low, high = coverage_interval(n_held, units)
        limits |= {f"coverage_low/{label}": low, f"coverage_high/{label}": high}
    return limits


def coverage_interval(n_held: float, units: Sequence[str] | NDArray[Any]) -> tuple[float, float]:
    """Return Wilson's 95% interval of coverage, given the number of trials that hold the truth and their units.

    The intervals of a unit, such as a question in several epochs, are assumed to hold the truth all together or not at
    all, so that the number of independent trials is Kish's effective number.

    Examples
    --------
    >>> low, high = coverage_interval(6, ["a", "a", "b", "b", "c", "c", "d", "d"])  # 3 of 4
    >>> round(low, 3), round(high, 3)
    (0.301, 0.954)
    """
    n, sizes = len(units), np.array([*Counter(units).values()], dtype=np.float64)
    independent = n**2 / float(np.square(sizes).sum()) if n else 0.0
    low, high = statistics.wilson_interval(n_held * independent / max(n, 1), independent)
    return float(low), float(high)


CALIBRATED = ("all", "authors")
"""Splits that have a calibration half."""

LOGGED = ("coverage", "coverage_gap", "mean_width", "winkler", "parse_rate")
"""Measures that logs of the tasks on exponents hold by default."""


def fermieval_metrics(parameters: Mapping[str, Any], conditions: Sequence[str]) -> TaskMetrics:
    """Return the measures by level: those of adjustment by the calibration half or, without one, by jackknife+."""
    calibrated = parameters["split"] in CALIBRATED
    return TaskMetrics(
        fermieval_summary,
        {"levels": [level_of(label) for label in conditions], "conformal": calibrated},
        MEASURES + (CONFORMAL_MEASURES if calibrated else JACKKNIFE_MEASURES),
        conditions[0] if len(conditions) == 1 else "all",
        overall=("all",),
    )


# The explanation -------------------------------------------------------------------------------------------------

MEANINGS: Mapping[Status, str] = {
    "out_of_range": f"An end lies beyond 10^±{LARGEST_EXPONENT:g}; the interval is left out.",
    "missing_answer": "Only one end of the interval can be read; the trial counts for the parse rate only.",
    "unreadable": "No interval can be read; the trial counts for the parse rate only.",
}


def explain(trial: IntervalTrial, question: Question, tokens: Sequence[Token] = ()) -> dict[str, str]:
    """Return the rows of the log viewer's table: the interval, the truth and the score."""
    rows = {
        "Interval": f"10^[{escape_markdown(trial['answer'])}]" if trial["answer"] else "none",
        "Nominal coverage": f"{trial['level']:.1%}",
        "Truth": f"10^{trial['truth']:g}",
    }
    if not math.isnan(trial["correct"]):
        verdict = "contains the truth" if trial["correct"] else "misses the truth"
        rows["Verdict"] = f"**{verdict}**; Winkler score {trial['winkler']:.3f}"
    if trial["split"] == EXCLUDED:
        rows["Left out"] = "The truth or an end lies beyond `max_exponent`."
    return rows
