"""FermiEval: from a reply to a trial, and the measures of intervals, as stated and conformally adjusted.

Epstein, Winnicki, Sornwanee & Dwaraknath (2025), "LLMs are Overconfident: Evaluating Confidence Interval Calibration
with FermiEval".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from confidence_tasks import statistics
from confidence_tasks.reading.explanation import plain
from confidence_tasks.studies.fermieval.replies import (
    CALIBRATION,
    LARGEST_EXPONENT,
    TEST,
    condition_of,
    level_of,
    read_fermi_interval,
)
from confidence_tasks.study import Question, Replies, Status, TaskMetrics, Token
from confidence_tasks.study.measures import (
    PARSE_RATE,
    PARSE_RATE_STRICT,
    Columns,
    Compute,
    Informative,
    Measure,
    Value,
    among,
    count,
    min_count,
    named,
    not_resampled,
    proportion,
    rows_of,
    share,
    statistic_of,
    summarise,
    undefined,
)
from confidence_tasks.study.reference import np
from confidence_tasks.study.trial import ReadTrial

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from confidence_tasks.statistics.core import FloatArray, IntArray
    from confidence_tasks.statistics.intervals.conformal import Ends

EXCLUDED = "excluded"
"""The ``split`` of a trial in neither half: its truth or an end lies beyond ``max_exponent``."""


class IntervalTrial(ReadTrial):
    """A trial of FermiEval; ``correct`` is 1 where the interval holds the truth, ``confidence`` its nominal coverage.

    ``answer`` is the interval as written.

    Attributes
    ----------
    level : float
        Nominal coverage that was asked for.
    lower, upper : float
        The interval, in exponents of ten; NaN when there is none.
    truth : float
        The right exponent.
    width : float
        Upper minus lower end.
    winkler : float
        Winkler score of the interval.
    split : str
        ``calibration`` or ``test``, or ``excluded`` where the truth or an end lies beyond ``max_exponent``.
    """

    level: float
    lower: float
    upper: float
    truth: float
    width: float
    winkler: float
    split: str


def read_interval(question: Question, condition: str, replies: Replies) -> IntervalTrial:
    """Read the interval and compare it with the key, which is an exponent.

    The metadata of the question say which half it is of, ``calibration`` or ``test``. With ``max_exponent`` there, a
    trial whose truth or an end lies further from 0 is in neither, as in the paper's figures with 100; without it all
    intervals count that can be read.

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
    reading = read_fermi_interval(replies["interval"][0].text)
    lower, upper, truth = reading.lower, reading.upper, float(question.gold or math.nan)
    read = not (math.isnan(lower) or math.isnan(truth))
    beyond = max_exponent is not None and any(abs(end) > max_exponent for end in (truth, lower, upper))
    if beyond or (max_exponent is not None and reading.status == "out_of_range"):
        split = EXCLUDED
    return IntervalTrial(
        question_id=question.id,
        source=question.source,
        condition=condition,
        correct=float(statistics.coverage([truth], [lower], [upper])) if read else math.nan,
        confidence=level if read else math.nan,
        status=reading.status,
        level=level,
        lower=lower,
        upper=upper,
        truth=truth,
        width=upper - lower,
        winkler=float(statistics.winkler_score([truth], [lower], [upper], level)) if read else math.nan,
        split=split,
        answer=reading.stated,
        rules="+".join(reading.rules),
    )


# Measures -------------------------------------------------------------------------------------------------------


def _in_split(trials: Columns, split: str) -> NDArray[np.bool_]:
    stated: NDArray[np.bool_] = (trials["split"] == split) & ~np.isnan(trials["lower"])
    return stated


def within_split(trials: Columns, split: str) -> Columns:
    """Return the trials of one half that state an interval."""
    return rows_of(trials, _in_split(trials, split))


def of_intervals(make: Callable[[Columns], Columns], compute: Compute) -> Compute:
    """Make a measure of the intervals that ``make`` makes of trials, however these are resampled.

    It gets trials with a column ``row``, their position, and keeps it: an interval has the weight of that trial.
    """

    def computed(trials: Columns, weights: FloatArray | None = None) -> Value:
        made = make({**trials, "row": np.arange(len(trials["split"]))})
        return compute(made, None if weights is None else weights[..., made["row"]])

    return computed


def _of_split(split: str, compute: Compute) -> Compute:
    """A measure of the trials of one half."""
    return among(lambda trials: trials["split"] == split, compute)


def _of_counted(measure: Measure) -> Measure:
    """A measure of replies without those that ``n_excluded`` counts."""
    return replace(
        measure,
        compute=among(lambda trials: trials["split"] != EXCLUDED, measure.compute),
        description=f"{measure.description} Replies that `n_excluded` counts are left out.",
    )


_COVERAGE = statistic_of("coverage", "truth", "lower", "upper")
_WIDTH = statistic_of("mean_width", "lower", "upper")
_WINKLER = statistic_of("winkler_score", "truth", "lower", "upper", "level")


_ENOUGH_MISSES = 4
"""Misses that an interval of the Winkler score needs. Studies with fewer have too low a score and an interval that lies
below the truth; if more are asked for, those printed are of the unlucky (``docs/reliability.md``)."""


def _missed(split: str) -> Callable[[Columns], Any]:
    """Intervals of one half that miss."""
    return lambda trials: (trials["split"] == split) & (trials["correct"] == 0.0)


def _outside(intervals: Columns) -> Any:
    """Return the same for adjusted intervals."""
    truth = intervals["truth"]
    return (truth < intervals["lower"]) | (truth > intervals["upper"])


_POSITIVE_MEAN: Mapping[str, Any] = {"interval": "transformed", "is_mean": True, "bounds": (0.0, math.inf)}

MEASURES: tuple[Measure, ...] = (
    Measure(
        "coverage_gap",
        _of_split(TEST, proportion(lambda trials: trials["correct"] - trials["level"])),
        "Observed minus nominal coverage on the test half; below 0 is overconfident.",
        proportion="coverage",
    ),
    share(
        "coverage",
        _of_split(TEST, _COVERAGE),
        "Share of the intervals stated for the test half that hold the truth.",
    ),
    share(
        "coverage_of_all",
        _of_split(TEST, proportion(lambda trials: trials["correct"] == 1.0)),
        "The same where a reply without an interval counts as a miss.",
    ),
    Measure(
        "mean_width",
        _of_split(TEST, _WIDTH),
        "Mean width of the intervals for the test half, in orders of magnitude.",
        **_POSITIVE_MEAN,
    ),
    Measure(
        "winkler",
        _of_split(TEST, _WINKLER),
        "Winkler score on the test half: width, plus 2/alpha times the distance by which the truth is missed.",
        "lower",
        informative=min_count(_missed(TEST), enough=_ENOUGH_MISSES),
        **_POSITIVE_MEAN,
    ),
    share(
        "degenerate_share",
        _of_split(TEST, statistic_of("degenerate_share", "lower", "upper")),
        "Share of the intervals for the test half that are a single exponent.",
    ),
    _of_counted(PARSE_RATE),
    _of_counted(PARSE_RATE_STRICT),
    count(
        "n_excluded",
        lambda trials: trials["split"] == EXCLUDED,
        "Number of replies of either half that are left out, as the truth or an end lies beyond `max_exponent`.",
    ),
)
"""Measures of the intervals as stated, over the test half; the last three are over all replies."""


@dataclass(frozen=True, slots=True)
class Adjustment:
    """A way to adjust the intervals of the test half, level by level.

    Attributes
    ----------
    fitted_on : {"calibration", "test"}
        The half that it is fitted on.
    refit : callable
        ``refit(known, new, level, weights)`` fits it to the known trials of a level for each row of weights, which are
        whole numbers: the ends of the new ones in each distinct outcome, and which outcome is each row's.
    """

    fitted_on: str
    refit: Callable[[Columns, Columns, float, FloatArray], tuple[list[Ends], IntArray]]

    def adjust(self, trials: Columns) -> Columns:
        """Return the trials of the test half that state an interval, with adjusted ``lower`` and ``upper``.

        Ends are infinite where there are too few questions for a level.
        """
        ((adjusted, _),) = self._by_outcome(trials, np.ones((1, len(trials["split"]))))
        return adjusted

    def refitted(self, compute: Compute) -> Compute:
        """Make a measure of adjusted intervals that fits the adjustment for each row of weights."""

        def computed(trials: Columns, weights: FloatArray | None = None) -> Value:
            if weights is None:
                return compute(self.adjust(trials), None)
            values, judged = np.empty(len(weights)), _in_split(trials, TEST)
            for adjusted, rows in self._by_outcome(trials, weights):
                values[rows] = compute(adjusted, weights[rows][:, judged])
            return values

        return computed

    def _by_outcome(self, trials: Columns, weights: FloatArray) -> Iterator[tuple[Columns, NDArray[Any]]]:
        """Yield the adjusted trials of each distinct outcome of all levels, with the rows of weights that have it."""
        fitted_on = _in_split(trials, self.fitted_on)
        known, new = rows_of(trials, fitted_on), within_split(trials, TEST)
        levels = np.unique(new["level"])
        found = []
        for level in levels:
            same, asked = known["level"] == level, new["level"] == level
            its_weights = weights[:, fitted_on][:, same]
            found.append(self.refit(rows_of(known, same), rows_of(new, asked), float(level), its_weights))
        chosen = np.array([rows for _, rows in found], dtype=np.intp).reshape(len(levels), len(weights)).T
        outcomes, which = np.unique(chosen, axis=0, return_inverse=True)
        for number, outcome in enumerate(outcomes):
            lower, upper = new["lower"].copy(), new["upper"].copy()
            for level, (ends, _), its in zip(levels, found, outcome, strict=True):
                asked = new["level"] == level
                lower[asked], upper[asked] = ends[its]
            yield {**new, "lower": lower, "upper": upper}, which.ravel() == number


def conformal(**options: bool) -> Adjustment:
    """Adjust intervals by what those of the calibration half call for.

    ``asymmetric`` and ``normalized`` are as in :func:`confidence_tasks.statistics.intervals.fit_conformal`.
    """

    def refit(known: Columns, new: Columns, level: float, weights: FloatArray) -> tuple[list[Ends], IntArray]:
        intervals = known["truth"], known["lower"], known["upper"]
        return statistics.intervals.conformal.refit_conformal(
            intervals, (new["lower"], new["upper"]), level, weights, **options
        )

    return Adjustment(CALIBRATION, refit)


JACKKNIFE = Adjustment(
    TEST,
    lambda known, new, level, weights: statistics.intervals.conformal.refit_jackknife(
        (new["truth"], new["lower"], new["upper"]), level, weights
    ),
)
"""Adjusts each question's interval by the other questions, where no calibration half was set aside."""


def _shift(trials: Columns) -> float:
    """Return how far either end is moved where both are moved alike."""
    known, new = within_split(trials, CALIBRATION), within_split(trials, TEST)
    if not len(new["level"]):
        return math.nan
    return statistics.intervals.fit_conformal(
        known["truth"], known["lower"], known["upper"], float(new["level"][0])
    ).above


def _coverage_gap(intervals: Columns, weights: FloatArray | None = None) -> Value:
    level = float(intervals["level"][0]) if len(intervals["level"]) else math.nan
    return _COVERAGE(intervals, weights) - level


FIGURES: tuple[tuple[str, Compute, str, Literal["lower", "neither"]], ...] = (
    ("coverage", _COVERAGE, "Share of the intervals that hold the truth", "neither"),
    ("coverage_gap", _coverage_gap, "Observed minus nominal coverage", "neither"),
    ("mean_width", _WIDTH, "Mean width of the intervals", "neither"),
    ("winkler", _WINKLER, "Winkler score of the intervals", "lower"),
)
"""Measures of the intervals of one level, however they were made."""

_ADJUSTED: tuple[tuple[str, Compute, str, Mapping[str, Any]], ...] = (
    ("coverage", _COVERAGE, "Coverage", {"interval": "wilson"}),
    ("width", _WIDTH, "Mean width", _POSITIVE_MEAN),
    ("winkler", _WINKLER, "Winkler score", {"better": "lower", **_POSITIVE_MEAN}),
)
"""Measures of adjusted intervals, with how the interval of each is computed."""


def _adjusted_measures(
    name: str, adjustment: Adjustment, described: str, note: str = "."
) -> tuple[Measure, ...]:
    """Return the figures of adjusted intervals; the description of coverage ends with a note."""

    def misses(trials: Columns) -> Informative:
        return min_count(_outside, enough=_ENOUGH_MISSES)(adjustment.adjust(trials))

    return tuple(
        Measure(
            f"{name}_{figure}",
            of_intervals(adjustment.adjust, compute),
            f"{what} of {described}{note if figure == 'coverage' else '.'}",
            **how,
            informative=misses if figure == "winkler" else None,
            fitted=True,
            refitted=adjustment.refitted(compute),
        )
        for figure, compute, what, how in _ADJUSTED
    )


VARIANTS: Mapping[str, tuple[Adjustment, str]] = {
    "conformal": (conformal(), "moved outwards alike"),
    "conformal_asymmetric": (conformal(asymmetric=True), "moved each by its own score"),
    "conformal_normalized": (conformal(normalized=True), "moved in proportion to the width"),
}
"""Methods that adjust intervals by the calibration half, with what each does to the ends."""

CONFORMAL_MEASURES: tuple[Measure, ...] = (
    *(
        measure
        for variant, (adjustment, how) in VARIANTS.items()
        for measure in _adjusted_measures(
            variant,
            adjustment,
            f"the test half's intervals, with ends {how} as the calibration half calls for",
        )
    ),
    Measure(
        "conformal_shift",
        not_resampled(_shift),
        "How far conformal adjustment moves either end; infinite with too few calibration questions for the level.",
        "lower",
        fitted=True,
    ),
    share(
        "coverage_calibration",
        _of_split(CALIBRATION, _COVERAGE),
        "Share of the intervals stated for the calibration half that hold the truth.",
    ),
    Measure(
        "winkler_calibration",
        _of_split(CALIBRATION, _WINKLER),
        "Winkler score on the calibration half.",
        "lower",
        informative=min_count(_missed(CALIBRATION), enough=_ENOUGH_MISSES),
        **_POSITIVE_MEAN,
    ),
)
"""Measures that need the calibration half."""

JACKKNIFE_MEASURES: tuple[Measure, ...] = _adjusted_measures(
    "conformal_jackknife",
    JACKKNIFE,
    "the intervals, with ends moved outwards as the other questions asked call for",
    ", which makes it the nominal one, up to ties.",
)
"""Measures of intervals that are adjusted without a calibration half."""


def _of_design(measure: Measure, *, calibration: bool) -> Measure:
    """Restrict a measure to trials with a calibration half, or to those without one; of others it is NaN."""

    def restricted(whole: Compute) -> Compute:
        def compute(columns: Columns, weights: FloatArray | None = None) -> Value:
            of_design = bool((columns["split"] == CALIBRATION).any()) is calibration
            return whole(columns, weights) if of_design else undefined(weights)

        return compute

    refitted = restricted(measure.refitted) if measure.refitted else None
    return replace(measure, compute=restricted(measure.compute), refitted=refitted)


REPORTED_MEASURES: tuple[Measure, ...] = (
    *MEASURES,
    *(_of_design(measure, calibration=True) for measure in CONFORMAL_MEASURES),
    *(_of_design(measure, calibration=False) for measure in JACKKNIFE_MEASURES),
)
"""Measures of stated intervals, adjusted by the calibration half or, without one, by each other."""


def fermieval_summary(
    trials: Sequence[Mapping[str, Any]],
    levels: Sequence[float],
    *,
    conformal: bool = True,
    names: Sequence[str] | None = None,
) -> dict[str, float]:
    """Return every measure at every level and averaged over them, with Wilson's interval of each coverage.

    Without ``conformal``, for a run without the calibration half, intervals are adjusted by each other. Keys are
    ``name/p=0.95`` at a level, ``name/all`` for the mean over levels and, unless measures are named, ``coverage_low``
    and ``coverage_high`` for the limits of the 95% interval of coverage.
    """
    labels = [condition_of(level) for level in levels]
    measures = named(MEASURES + (CONFORMAL_MEASURES if conformal else JACKKNIFE_MEASURES), names)
    found = summarise(trials, measures, labels)
    averages = {
        f"{measure.name}/all": sum(found[f"{measure.name}/{label}"] for label in labels) / len(labels)
        for measure in measures
    }
    return averages | found | (_coverage_limits(trials, labels) if names is None else {})


def _coverage_limits(trials: Sequence[Mapping[str, Any]], labels: Sequence[str]) -> dict[str, float]:
    limits: dict[str, float] = {}
    judged = [trial for trial in trials if trial["split"] == TEST and not math.isnan(trial["correct"])]
    for label in labels:
        held = [trial["correct"] for trial in judged if trial["condition"] == label]
        low, high = statistics.wilson_interval(sum(held), len(held))
        limits |= {f"coverage_low/{label}": float(low), f"coverage_high/{label}": float(high)}
    return limits


CALIBRATED = ("all", "authors")
"""Splits that have a calibration half."""

LOGGED = ("coverage", "coverage_gap", "mean_width", "winkler", "parse_rate")
"""Measures that logs have by default for intervals of exponents."""


def fermieval_metrics(parameters: Mapping[str, Any], conditions: Sequence[str]) -> TaskMetrics:
    """Return the measures by level; without a calibration half, intervals are adjusted by each other."""
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
    "out_of_range": f"An end lies beyond 10^±{LARGEST_EXPONENT:g}: no order of magnitude; it is left out.",
    "missing_answer": "Only one end of the interval can be read; the trial counts for the parse rate only.",
    "unreadable": "No interval can be read; the trial counts for the parse rate only.",
}


def explain(trial: IntervalTrial, question: Question, tokens: Sequence[Token] = ()) -> dict[str, str]:
    """Say what was read and what it was worth."""
    rows = {
        "Interval": f"10^[{plain(trial['answer'])}]" if trial["answer"] else "none",
        "Asked for": f"{trial['level']:.1%} coverage",
        "Truth": f"10^{trial['truth']:g}",
    }
    if not math.isnan(trial["correct"]):
        verdict = "holds the truth" if trial["correct"] else "misses the truth"
        rows["Verdict"] = f"**{verdict}**; Winkler score {trial['winkler']:.3f}"
    if trial["split"] == EXCLUDED:
        rows["Left out"] = "The truth or an end lies beyond the largest exponent that counts."
    return rows
