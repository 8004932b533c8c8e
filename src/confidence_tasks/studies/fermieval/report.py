"""FermiEval in the report: coverage against what was asked for, methods side by side, and what to be wary of.

Epstein, Winnicki, Sornwanee & Dwaraknath (2025), arXiv:2510.26995, figures 1 and 2.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from confidence_tasks.report import paper
from confidence_tasks.report.checks import cells_of, check
from confidence_tasks.report.extra_tables import extra_table, trials_frame
from confidence_tasks.report.figures import Colour, Figure, LegendEntry, Line, Panel, panel, panels, series
from confidence_tasks.report.figures.general import ModelStyles, figure_by_model, interval_line
from confidence_tasks.report.paper import MODELS, heading
from confidence_tasks.report.results import TaskResults
from confidence_tasks.report.score_replies import ReplyForm, Row, number_in, whole_number_in
from confidence_tasks.report.task_trials import ModelTrials
from confidence_tasks.sources.fermi import LARGEST_EXPONENT
from confidence_tasks.statistics import wilson_interval
from confidence_tasks.statistics.intervals import degenerate_share
from confidence_tasks.studies.fermieval import STUDY
from confidence_tasks.studies.fermieval.replies import (
    CALIBRATION,
    LARGEST_KEY,
    LEVELS,
    PAPER_MAX_EXPONENT,
    TEST,
    level_of,
)
from confidence_tasks.studies.fermieval.replies import condition_of as condition_of_level
from confidence_tasks.studies.fermieval.trials import EXCLUDED, FIGURES, JACKKNIFE, VARIANTS, within_split
from confidence_tasks.studies.fermieval_logprob.trials import fitted_temperature, set_intervals
from confidence_tasks.studies.fermieval_sampling.trials import (
    SHORTFALL_WEIGHT,
    chosen_temperature,
    sampled_intervals,
)
from confidence_tasks.study.measures import Columns, rows_of
from confidence_tasks.study.parameter import one_of
from confidence_tasks.study.trial import Item, Question

STATED, BY_LOGPROB, SAMPLED = _TASKS = "fermieval", "fermieval_logprob", "fermieval_sampling"
"""Names of the three studies, one for each task."""

MANY_DEGENERATE = 0.2
"""Share of intervals of a single exponent above which widths say little."""


_SIZE = (2.5, 2.1)


def _coverage_legend(results: TaskResults, styles: ModelStyles) -> tuple[LegendEntry, ...]:
    stated = (LegendEntry(f"{model.label}, as stated", *styles[model.label]) for model in results.models)
    return LegendEntry("asked for", Colour.MUTED), LegendEntry("conformal", Colour.INK, "D"), *stated


@figure_by_model(
    "calibration",
    "Coverage against nominal coverage",
    "Share of the test half’s intervals that hold the truth, with intervals: as stated, and after conformal"
    " adjustment by the calibration half or, where none was asked, by the other questions. Grey is what was asked"
    " for; below it a model, in its own colour, is overconfident.",
    keys=_coverage_legend,
    size=_SIZE,
)
def calibration(results: TaskResults, styles: ModelStyles, model: ModelTrials) -> Iterator[Panel]:
    """Draw observed against nominal coverage, of intervals as stated and as conformally adjusted."""
    labels = results.conditions
    stated = interval_line(results, model.label, labels, "coverage", *styles[model.label])
    adjusted = [
        interval_line(results, model.label, labels, name, Colour.INK, "D")
        for name in ("conformal_coverage", "conformal_jackknife_coverage")
    ]
    defined = [line for line in adjusted if not np.isnan(line.y).all()]
    nominal = Line("nominal", Colour.MUTED, stated.x, np.array([level_of(label) for label in labels]))
    yield panel(
        "",
        panels.trends,
        labels=[label.removeprefix("p=0") for label in labels],
        lines=[nominal, *defined, stated],
        x="nominal coverage",
        y="observed",
        lowest=None,
    )


# Methods side by side -----------------------------------------------------------------------------------------


Intervals: TypeAlias = dict[tuple[str, float], Columns]
"""Intervals of the test half by method and level."""


def _stated(trials: Columns, levels: Sequence[float]) -> Intervals:
    """Return intervals as stated, and adjusted by the calibration half or, without it, by each other."""
    found = {"base": within_split(trials, TEST)}
    if (trials["split"] == CALIBRATION).any():
        found |= {name: adjustment.adjust(trials) for name, (adjustment, _) in VARIANTS.items()}
    else:
        found["conformal_jackknife"] = JACKKNIFE.adjust(trials)
    return {
        (method, level): rows_of(table, table["level"] == level)
        for method, table in found.items()
        for level in levels
    }


def _by_logprob(trials: Columns, levels: Sequence[float]) -> Intervals:
    """Return the smallest sets, and those after temperature scaling where it can be fitted."""
    temperature = float(fitted_temperature(trials, levels).temperature)
    temperatures = {"logprob": 1.0} | ({} if math.isnan(temperature) else {"logprob_scaled": temperature})
    return {
        (method, level): set_intervals(trials, level, value)
        for method, value in temperatures.items()
        for level in levels
    }


def _sampled(trials: Columns, levels: Sequence[float], shortfall_weight: float) -> Intervals:
    """Return outer quantiles of samples, by way of asking, at the temperature chosen for each level."""
    found: Intervals = {}
    for ask, level in product(dict.fromkeys(trials["ask"]), levels):
        rows = (trials["ask"] == ask) & (np.isnan(trials["level"]) | (trials["level"] == level))
        asked = rows_of(trials, rows)
        several = np.unique(asked["temperature"])
        best = several[0] if len(several) == 1 else chosen_temperature(asked, level, shortfall_weight)
        at_best = rows_of(asked, asked["temperature"] == best)
        found[f"sampling_{ask}", level] = sampled_intervals(at_best, level)
    return found


def method_table(
    levels: Sequence[float],
    *,
    intervals: Columns | None = None,
    logprob: Columns | None = None,
    sampling: Columns | None = None,
    shortfall_weight: float = SHORTFALL_WEIGHT,
) -> pd.DataFrame:
    """Set the methods side by side at every level, on the test half.

    Parameters
    ----------
    levels : sequence of float
        Nominal coverages.
    intervals, logprob, sampling : mapping of str to ndarray, optional
        Trials of one model in ``fermieval``, ``fermieval_logprob`` and ``fermieval_sampling``; leave out what was not
        run. Samples of several temperatures need those of the calibration half.
    shortfall_weight : float
        Weight of the squared shortfall of coverage where the temperature of samples is chosen.

    Returns
    -------
    DataFrame
        One row a level and method: ``level``, ``method``, ``coverage`` with Wilson's ``coverage_low`` and
        ``coverage_high``, ``coverage_gap``, ``mean_width``, ``winkler``, ``degenerate_share``, and ``n``, the number of
        questions. Widths and scores are infinite where conformal adjustment has too few calibration questions.
    """
    made = {
        **(_stated(intervals, levels) if intervals else {}),
        **(_by_logprob(logprob, levels) if logprob else {}),
        **(_sampled(sampling, levels, shortfall_weight) if sampling else {}),
    }
    return pd.DataFrame(
        {"level": level, "method": method, **_figures(table)}
        for (method, level), table in sorted(made.items(), key=lambda item: levels.index(item[0][1]))
    )


def _figures(table: Columns) -> dict[str, float]:
    """Return the figures of the intervals of one method at one level."""
    found = {name: float(compute(table, None)) for name, compute, *_ in FIGURES}
    n = len(table["truth"])
    low, high = wilson_interval(0.0 if n == 0 else round(found["coverage"] * n), n)
    return {
        **found,
        "coverage_low": float(low),
        "coverage_high": float(high),
        "degenerate_share": float(degenerate_share(table["lower"], table["upper"])),
        "n": n,
    }


def winkler_by_method(results: TaskResults, styles: ModelStyles) -> Figure:
    """Draw the Winkler scores of each model's methods at every level, as figure 2 of the paper does."""
    methods = _methods(results)
    looks = {name: series(i) for i, name in enumerate(dict.fromkeys(methods["method"]))}
    its_panels = []
    for label, own in methods.groupby("model", sort=False):
        levels = sorted(set(own["level"]))
        lines = []
        for name, scores in own.sort_values("level").groupby("method", sort=False)["winkler"]:
            finite = scores.where(np.isfinite(scores)).to_numpy()
            colour, marker = looks[str(name)]
            x = np.arange(len(levels), dtype=np.float64)
            lines.append(Line(_words(str(name)), colour, x, finite, marker=marker))
        ticks = [f"{level:g}".removeprefix("0") for level in levels]
        axes = {"x": "nominal coverage", "y": "Winkler score", "logarithmic": True}
        its_panels.append(panel(str(label), panels.trends, labels=ticks, lines=lines, **axes))
    return Figure(
        f"{results.task_trials.slug}_winkler_by_method",
        "Winkler score at each level, by method",
        "Lower is better: width, and what is missed weighs more the stricter the level. All on the test half. A gap is"
        " an interval without end, which conformal adjustment gives when its calibration half is too small for the"
        " level.",
        (("", tuple(its_panels)),),
        tuple(LegendEntry(_words(name), *look) for name, look in looks.items()),
        size=_SIZE,
    )


def _words(method: str) -> str:
    return method.replace("_", " ")


@extra_table(
    "winkler_by_method",
    "Winkler score by method",
    "On the test half, lower is better: intervals as stated, conformally adjusted, from token probabilities and"
    " from samples, where those tasks were run. Infinite where the calibration half is too small for the level.",
    decimals=1,
)
def method_scores(results: TaskResults) -> pd.DataFrame:
    """Return the Winkler scores of each model's methods at every level, as in figure 2 of the paper."""
    return _wide(_methods(results), "winkler")


@extra_table(
    "winkler_as_published",
    "Winkler score by method, as the paper counts",
    f"The same without items whose truth or an end lies beyond ±{PAPER_MAX_EXPONENT}, which the paper's figures"
    " leave out: one far end can outweigh all others. Replies left out are of both halves and all levels.",
    decimals=1,
)
def paper_scores(results: TaskResults) -> pd.DataFrame:
    """Return figure 2 of the paper by its own rule: only items whose truth and both ends lie within 100 of 0 count.

    Empty where the rule leaves nothing out, as :func:`method_scores` is then the same.
    """
    n_dropped = {model.label: int(np.sum(_beyond_the_papers(model))) for model in results.models}
    methods = _methods(results, as_the_paper=True) if any(n_dropped.values()) else pd.DataFrame()
    if not len(methods):
        return methods
    frame = _wide(methods, "winkler")
    return frame.assign(**{"replies left out": frame["model"].map(n_dropped)})


def _beyond_the_papers(model: ModelTrials) -> NDArray[np.bool_]:
    """Return which trials with an interval the paper's figures leave out."""
    ends = np.abs([model.columns[name] for name in ("truth", "lower", "upper")])
    return np.asarray((ends > PAPER_MAX_EXPONENT).any(axis=0) & (model.columns["split"] != EXCLUDED))


@extra_table(
    "coverage_by_method",
    "Coverage by method",
    "On the test half, with Wilson’s intervals; n is the number of questions.",
    decimals=2,
)
def method_coverage(results: TaskResults) -> pd.DataFrame:
    """Return the coverage of each model's methods at every level."""
    return _wide(_methods(results), "coverage", "coverage_low", "coverage_high")


def _methods(results: TaskResults, *, as_the_paper: bool = False) -> pd.DataFrame:
    """Return the methods of every model, those of all tasks of the study together where intervals were stated."""
    own = results.task_trials.study.name
    if own != STATED and STATED in {task_trials.study.name for task_trials in results.related}:
        return pd.DataFrame(columns=["model", "method", "level"])
    tables = []
    for model in results.models:
        ran = {
            task_trials.study.name: other
            for task_trials in (results.related if own == STATED else ())
            for other in task_trials.models
            if other.name == model.name
        } | {own: model}
        trials = {name: other.columns for name, other in ran.items()}
        if as_the_paper:
            trials[own] = rows_of(trials[own], ~_beyond_the_papers(model))
        sampling = trials.get(SAMPLED)
        setups: list[Mapping[str, Any]] = [file.setup for file in ran.get(SAMPLED, model).files]
        weights = [setup["shortfall_weight"] for setup in setups if "shortfall_weight" in setup]
        table = method_table(
            _levels(results),
            intervals=trials.get(STATED),
            logprob=trials.get(BY_LOGPROB),
            sampling=sampling if sampling and _temperature_is_told(sampling) else None,
            shortfall_weight=float([SHORTFALL_WEIGHT, *weights][-1]),  # of the last run
        )
        tables.append(table.assign(model=model.label))
    return pd.concat(tables, ignore_index=True)


def _levels(results: TaskResults) -> Sequence[float]:
    """Return the levels that were asked for; the paper's where replies are for any level."""
    asked = np.concatenate([model.columns.get("level", np.array([])) for model in results.models])
    return sorted(set(asked[~np.isnan(asked)])) or LEVELS


def _temperature_is_told(samples: Columns) -> bool:
    """Return whether there is one temperature, or a calibration half to choose one by."""
    return len(np.unique(samples["temperature"])) == 1 or CALIBRATION in samples["split"]


def _wide(methods: pd.DataFrame, *names: str) -> pd.DataFrame:
    """Put the levels in columns: one row a model and method, with the range of the numbers of questions."""
    rows: list[dict[str, Any]] = []
    for (model, method), own in methods.groupby(["model", "method"], sort=False):
        row: dict[str, Any] = {"model": model, "method": _words(str(method))}
        for record in own.to_dict("records"):
            at = f"p = {record['level']:g}"
            row |= {f"{at} {name.partition('_')[2]}".strip(): record[name] for name in names}
        sizes = sorted({own["n"].min(), own["n"].max()})
        rows.append({**row, "n": "–".join(map(str, sizes))})
    return pd.DataFrame(rows)


@check(
    "note",
    "Many intervals are a single exponent",
    "They state certainty of the order of magnitude, whatever coverage was asked for.",
)
def degenerate(results: TaskResults) -> Iterator[str]:
    """Intervals that are a single exponent."""
    for model, condition, columns in cells_of(results):
        width = columns["width"][~np.isnan(columns["width"])]
        if len(width) and np.mean(width == 0) > MANY_DEGENERATE:
            yield f"{model}, {condition}: {np.mean(width == 0):.0%}"


@check(
    "note",
    "Probabilities that add up to more than 1",
    "Rounded log-probabilities do that. The probabilities were divided by their sum.",
)
def masses_above_one(results: TaskResults) -> Iterator[str]:
    """Distributions whose probabilities add up to more than 1, by rounding."""
    for model, _, columns in cells_of(results):
        above = columns["integer_mass"][columns["integer_mass"] > 1.0 + 1e-9]
        if len(above):
            yield f"{model}: {len(above)} of {len(columns['integer_mass'])}, up to {above.max():.6g}"


@check(
    "warning",
    "No temperature can be chosen",
    "Samples were drawn at several temperatures, and without the calibration half there is nothing to choose one"
    " by: intervals from samples are not in the tables of methods. Report on one temperature at a time.",
)
def no_temperature(results: TaskResults) -> Iterable[str]:
    """Models sampled at several temperatures with nothing to choose by."""
    return [model.label for model in results.models if not _temperature_is_told(model.columns)]


@check(
    "note",
    "One half of the questions is missing",
    "Measures are of the test half: without it there are none. Without the calibration half, each interval is"
    " adjusted by those of the other questions (jackknife+).",
)
def no_calibration_half(results: TaskResults) -> Iterator[str]:
    """Models without the half that adjustment is fitted on."""
    for model in results.models:
        halves = {CALIBRATION, TEST} - set(model.columns["split"])
        yield from (f"{model.label}: no {half} questions" for half in sorted(halves))


_SHOWN = (-20, 40)


def truths(results: TaskResults, styles: ModelStyles) -> Figure:
    """Draw figure 6 of the paper: how the right exponents of the questions asked are distributed, from -20 to 40."""
    low, high = _SHOWN
    trials = trials_frame(results.task_trials)
    values = trials.drop_duplicates("question_id", keep="last")["truth"].to_numpy()
    inside = values[(values >= low) & (values <= high)]
    drawn = panel("", panels.counts, values=inside, low=low, high=high, x="exponent", y="questions")
    return Figure(
        f"{results.task_trials.slug}_truths",
        "Right exponents",
        f"Number of questions by exponent of the right answer: {len(inside):,} of {len(values):,} questions lie within"
        f" {low} to {high} and are shown.",
        (("", (drawn,) if len(inside) else ()),),
        size=(5.0, 2.2),
    )


def _interval(question: Question, row: Row) -> Item:
    level = number_in(row, "level", 0.0, 1.0)
    if level in (0.0, 1.0):
        raise ValueError(f"level={row['level']!r} must lie between 0 and 1, such as 0.95")
    limited = row.get("max_exponent") is not None
    largest = LARGEST_KEY if limited else LARGEST_EXPONENT
    try:
        key = whole_number_in(row, "exponent", -largest, largest)
    except ValueError as error:
        raise ValueError(f"{error}{'' if limited else '; max_exponent leaves larger ones out'}") from error
    question = replace(question, gold=str(key))
    split = one_of((CALIBRATION, TEST), str(row.get("split") or TEST), "split")
    metadata: dict[str, Any] = {"level": level, "split": split}
    if limited:
        metadata["max_exponent"] = number_in(row, "max_exponent", 1.0, LARGEST_KEY)
    return Item(question, condition_of_level(level), question.text, metadata=metadata)


def _half(items: Sequence[Item]) -> dict[str, str]:
    calibrated = any(item.metadata["split"] == CALIBRATION for item in items)
    return {"split": "all" if calibrated else TEST}


REPLY_FORMS: Mapping[str, ReplyForm] = {
    "fermieval": ReplyForm(
        STUDY,
        {
            "exponent": "the key, a power of ten: 3 for a truth of 1,000",
            "level": "nominal coverage, such as 0.95; split may be calibration or test, and "
            "max_exponent the largest exponent that counts, 100 in the paper's figures",
        },
        _interval,
        "p=",
        "number",
        key="exponent",
        optional=("split", "max_exponent"),
        parameters=_half,
    ),
}


# The tables and figures of the paper ----------------------------------------------------------------------------

_LEVELS = ("p=0.9", "p=0.95", "p=0.99")


def _of_method(runs: paper.Runs, cell: paper.Cell, method: str, tables: Sequence[str]) -> paper.Value:
    """Return a method's number from the first of some tables that there is; one task has it for all."""
    column = f"p = {level_of(cell.group):g}"
    for table, task in product(tables, _TASKS):
        found = paper.from_table(table, column, method=method)(runs, replace(cell, task=task, group=""))
        if isinstance(found, float) and not math.isnan(found):
            return found
    return None


_winkler_of = partial(_of_method, tables=("winkler_as_published", "winkler_by_method"))
_coverage_of = partial(_of_method, tables=("coverage_by_method",))

REPLICATION = paper.Replication(
    name="fermieval",
    title="FermiEval: Epstein, Winnicki, Sornwanee & Dwaraknath (2025), arXiv:2510.26995",
    tasks=dict.fromkeys(_TASKS, paper.TaskParameters("levels")),
    items=(
        paper.NotMade("1", "Four questions of the archive.", why="They are examples, not results."),
        paper.PaperTable(
            "2",
            "Coverage on the test half: intervals as stated, and from token probabilities.",
            stubs=("Model", "Nominal p"),
            rows=(MODELS, tuple(heading(f"{level_of(label):.2f}", group=label) for label in _LEVELS)),
            columns=(
                heading("Baseline obs. cov.", measure=partial(_coverage_of, method="base"), task=STATED),
                heading(
                    "Logprob obs. cov.", measure=partial(_coverage_of, method="logprob"), task=BY_LOGPROB
                ),
            ),
        ),
        paper.PaperFigure(
            "1", "Coverage against nominal coverage, by model.", name="calibration", tasks=(STATED,)
        ),
        paper.PaperTable(
            "2",
            "Winkler score on the test half, lower is better: intervals as stated, after conformal adjustment"
            " by the calibration half, and from token probabilities. As in the paper, without items whose truth or an"
            " end lies beyond ±100.",
            kind="figure",
            stubs=("p (α)", "method"),
            rows=(
                tuple(
                    heading(f"p={100 * level_of(label):g} (α = {1 - level_of(label):.2f})", group=label)
                    for label in _LEVELS
                ),
                tuple(
                    heading(method, measure=partial(_winkler_of, method=method), task=task)
                    for method, task in (("base", STATED), ("conformal", STATED), ("logprob", BY_LOGPROB))
                ),
            ),
            columns=MODELS,
        ),
        paper.PaperFigure(
            "3", "The perception tunnel: what a query sees of a belief.", name="tunnels", tasks=(STATED,)
        ),
        paper.PaperFigure(
            "4", "Where the ends of stated intervals lie.", name="stated_ends", tasks=(STATED,)
        ),
        paper.PaperFigure(
            "5",
            "Coverage against nominal coverage; the paper’s open models.",
            name="calibration",
            tasks=(STATED,),
        ),
        paper.PaperFigure("6", "The true exponents of the questions.", name="truths", tasks=(STATED,)),
    ),
)
