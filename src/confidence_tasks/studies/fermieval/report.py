"""FermiEval's report: coverage against nominal coverage, methods side by side, and checks.

Epstein, Winnicki, Sornwanee & Dwaraknath (2025), arXiv:2510.26995, figures 1 and 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from confidence_tasks.drawing import Colour
from confidence_tasks.logs.task_trials import ModelTrials
from confidence_tasks.report import checks, paper
from confidence_tasks.report.extra_tables import extra_table, trials_frame
from confidence_tasks.report.figures import Figure, LegendEntry, Line, Panel, panel, panels
from confidence_tasks.report.figures.general import ModelStyles, figure_by_model, interval_line
from confidence_tasks.report.notices import check
from confidence_tasks.report.paper import MODELS, heading
from confidence_tasks.report.reply_forms import ReplyForm, number_in, whole_number_in
from confidence_tasks.report.results import TaskResults
from confidence_tasks.report.score_replies import Row
from confidence_tasks.report.study_report import StudyReport
from confidence_tasks.sources.fermi import LARGEST_EXPONENT
from confidence_tasks.studies.fermieval import STUDY, tunnel
from confidence_tasks.studies.fermieval.power import POWER
from confidence_tasks.studies.fermieval.replies import (
    CALIBRATION,
    LARGEST_KEY,
    LEVELS,
    PAPER_MAX_EXPONENT,
    TEST,
    condition_of,
    level_of,
)
from confidence_tasks.studies.fermieval.trials import (
    ADJUSTMENTS,
    EXCLUDED,
    FIGURES,
    JACKKNIFE,
    coverage_interval,
    within_split,
)
from confidence_tasks.studies.fermieval_logprob.measures import fitted_temperature, set_intervals
from confidence_tasks.studies.fermieval_sampling.trials import SHORTFALL_WEIGHT, intervals_at, rows_in
from confidence_tasks.study.measures import Columns, rows_of
from confidence_tasks.study.parameter import one_of
from confidence_tasks.study.trial import Item, Question
from confidence_tasks.study.units import units_of

STATED, BY_LOGPROB, SAMPLED = _TASKS = "fermieval", "fermieval_logprob", "fermieval_sampling"
"""Names of the three studies, one for each task."""

_SIZE = (2.5, 2.1)


def _coverage_legend(results: TaskResults, styles: ModelStyles) -> tuple[LegendEntry, ...]:
    stated = (LegendEntry(f"{model.label}, as stated", *styles[model.label]) for model in results.models)
    return LegendEntry("nominal", Colour.MUTED), LegendEntry("conformal", Colour.INK, "D"), *stated


@figure_by_model(
    "calibration",
    "Coverage against nominal coverage",
    "Share of the test half’s intervals that contain the truth, with its confidence interval: as stated, in the"
    " model’s colour, and after conformal adjustment by the calibration half or, without one, by the other questions."
    " Grey is the nominal coverage; below it a model is overconfident.",
    keys=_coverage_legend,
    size=_SIZE,
)
def calibration(results: TaskResults, styles: ModelStyles, model: ModelTrials) -> Iterator[Panel]:
    """Draw observed against nominal coverage, for intervals as stated and as conformally adjusted."""
    labels = results.conditions
    stated = interval_line(results, model.label, labels, "coverage", *styles[model.label])
    adjusted = [
        interval_line(results, model.label, labels, name, Colour.INK, "D")
        for name in ("conformal_coverage", "conformal_jackknife_coverage")
    ]
    yield _coverage_panel(labels, stated, adjusted)


def _coverage_panel(labels: Sequence[str], stated: Line, adjusted: Iterable[Line]) -> Panel:
    """Return the panel of one model, without adjusted intervals that it does not have."""
    defined = [line for line in adjusted if not np.isnan(line.y).all()]
    nominal = Line("nominal", Colour.MUTED, stated.x, np.array([level_of(label) for label in labels]))
    return panel(
        "",
        panels.trends,
        labels=[label.removeprefix("p=0") for label in labels],
        lines=[nominal, *defined, stated],
        x="nominal coverage",
        y="observed",
        lowest=None,
    )


@figure_by_model(
    "calibration_as_published",
    "Coverage against nominal coverage, with the paper’s exclusions",
    f"The same without items whose truth or an end lies beyond ±{PAPER_MAX_EXPONENT}, which the paper’s figures leave"
    " out.",
    keys=_coverage_legend,
    size=_SIZE,
)
def paper_calibration(results: TaskResults, styles: ModelStyles, model: ModelTrials) -> Iterator[Panel]:
    """Draw figure 1 of the paper with its exclusions; nothing if they leave no trial of any model out."""
    if not _leaves_out(results):
        return
    levels = _levels(results)
    scores = method_table(levels, {STATED: _within_paper(model)}).set_index("method")
    lines = {
        name: _coverage_line(model.label, scores.loc[[name]], *style)
        for name, style in (
            ("base", styles[model.label]),
            ("conformal", (Colour.INK, "D")),
            (JACKKNIFE, (Colour.INK, "D")),
        )
        if name in scores.index
    }
    labels = [condition_of(level) for level in levels]
    yield _coverage_panel(labels, lines.pop("base"), lines.values())


def _coverage_line(label: str, scores: pd.DataFrame, colour: Colour, marker: str) -> Line:
    """Return the coverage of one method by level, with Wilson's intervals."""
    value, low, high = (
        scores[name].to_numpy(np.float64) for name in ("coverage", "coverage_low", "coverage_high")
    )
    return Line(label, colour, np.arange(len(value), dtype=np.float64), value, low, high, marker)


# Methods side by side -----------------------------------------------------------------------------------------


def method_table(
    levels: Sequence[float], trials: Mapping[str, Columns], shortfall_weight: float = SHORTFALL_WEIGHT
) -> pd.DataFrame:
    """Return the scores of the methods at every level, on the test half.

    Parameters
    ----------
    levels : sequence of float
        Nominal coverages.
    trials : mapping of str to mapping of str to ndarray
        Trials of one model by study: ``fermieval``, ``fermieval_logprob`` and ``fermieval_sampling``, as far as they
        were run.
    shortfall_weight : float
        Weight of the squared shortfall of coverage in the choice of the temperature of samples.

    Returns
    -------
    DataFrame
        One row per level and method: ``level``, ``method``, ``coverage`` with Wilson's ``coverage_low`` and
        ``coverage_high``, ``coverage_gap``, ``mean_width``, ``winkler``, and ``n``, the number of questions. Widths and
        scores are infinite if conformal adjustment has too few calibration questions.
    """
    return pd.DataFrame(
        {"level": level, "method": method, **_scores(intervals)}
        for level in levels
        for method, intervals in _intervals_by_method(trials, level, levels, shortfall_weight)
    )


def _intervals_by_method(
    trials: Mapping[str, Columns], level: float, levels: Sequence[float], shortfall_weight: float
) -> Iterator[tuple[str, Columns]]:
    """Yield the name of each method, and its intervals of the test half at a level."""
    if STATED in trials:
        stated = rows_in(trials[STATED], level=level)
        yield "base", within_split(stated, TEST)
        for name, adjustment in ADJUSTMENTS.items():
            if adjustment.applies_to(trials[STATED]):
                yield name, adjustment.adjust(stated)
    if BY_LOGPROB in trials:
        tokens = trials[BY_LOGPROB]
        yield from _with_adjusted("logprob", partial(set_intervals, tokens, level))
        temperature = float(fitted_temperature(tokens, levels).temperature)
        if not math.isnan(temperature):
            yield "logprob_scaled", set_intervals(tokens, level, temperature)
    if SAMPLED in trials and _can_choose_temperature(trials[SAMPLED]):
        for ask in dict.fromkeys(trials[SAMPLED]["ask"]):
            make = partial(intervals_at, trials[SAMPLED], ask, level, shortfall_weight)
            yield from _with_adjusted(f"sampling_{ask}", make)


def _with_adjusted(method: str, make: Callable[..., Columns]) -> Iterator[tuple[str, Columns]]:
    """Yield the intervals of a method on the test half, and those after conformal adjustment of both ends.

    ``make(split=...)`` returns the intervals of a half. Without a calibration half, each interval is adjusted by all
    other questions (jackknife+).
    """
    known, new = make(split=CALIBRATION), make(split=TEST)
    yield method, new
    both = {name: np.concatenate([known[name], new[name]]) for name in new}
    for name in ("conformal", JACKKNIFE):
        if ADJUSTMENTS[name].applies_to(both):
            yield f"{method}_{name}", ADJUSTMENTS[name].adjust(both)


def _scores(intervals: Columns) -> dict[str, float]:
    scores = {name: float(compute(intervals, None)) for name, compute, *_ in FIGURES}
    n = len(intervals["truth"])
    low, high = coverage_interval(round(scores["coverage"] * n) if n else 0.0, units_of(intervals))
    return {
        **scores,
        "coverage_low": low,
        "coverage_high": high,
        "n": len(set(intervals["question_id"])),
    }


@extra_table(
    "winkler_by_method",
    "Winkler score by method",
    "On the test half, lower is better: intervals as stated and, if those tasks were run, from token probabilities and"
    " from samples, each also after conformal adjustment. Infinite if the calibration half is too small for the level."
    " The guarantee of coverage needs intervals that do not depend on the calibration half: a temperature of samples"
    " that is chosen there weakens it.",
    decimals=1,
)
def method_scores(results: TaskResults) -> pd.DataFrame:
    """Return the Winkler scores of each model's methods at every level, as in figure 2 of the paper."""
    return _pivot_levels(_score_methods(results), "winkler")


@extra_table(
    "winkler_as_published",
    "Winkler score by method, with the paper’s exclusions",
    f"Without items whose truth or an end lies beyond ±{PAPER_MAX_EXPONENT}, which the paper’s figures leave out: one"
    " distant end can outweigh all others. The number of replies left out is over both halves and all levels.",
    decimals=1,
)
def paper_scores(results: TaskResults) -> pd.DataFrame:
    """Return figure 2 of the paper with its exclusions: the truth and both ends must lie within 100 of 0.

    Empty if nothing is left out, because :func:`method_scores` is then the same.
    """
    return _as_published(results, "winkler")


def _as_published(results: TaskResults, *names: str) -> pd.DataFrame:
    """Return scores of the methods by level, with the paper's exclusions; empty if they leave nothing out."""
    n_dropped = _leaves_out(results)
    scores = _score_methods(results, paper_exclusions=True) if n_dropped else pd.DataFrame()
    if not len(scores):
        return scores
    frame = _pivot_levels(scores, *names)
    return frame.assign(**{"replies left out": frame["model"].map(n_dropped)})


def _leaves_out(results: TaskResults) -> dict[str, int]:
    """Return how many trials of each model the paper's figures leave out; empty if there are none of any model."""
    n_dropped = {model.label: int(np.sum(_excluded_in_paper(model))) for model in results.models}
    return n_dropped if any(n_dropped.values()) else {}


def _excluded_in_paper(model: ModelTrials) -> NDArray[np.bool_]:
    """Return which trials with an interval the paper's figures leave out."""
    ends = np.abs([model.columns[name] for name in ("truth", "lower", "upper")])
    return np.asarray((ends > PAPER_MAX_EXPONENT).any(axis=0) & (model.columns["split"] != EXCLUDED))


def _within_paper(model: ModelTrials) -> Columns:
    """Return the trials of a model without those that the paper's figures leave out."""
    return rows_of(model.columns, ~_excluded_in_paper(model))


@extra_table(
    "reductions",
    "Reduction of the Winkler score by conformal adjustment",
    "Means over the models with both scores, as in the paper’s text, with the exclusions of its figures: the score"
    " before and after adjustment, the difference, and its share of the mean score before.",
    decimals=2,
)
def reductions(results: TaskResults) -> pd.DataFrame:
    """Return by how much conformal adjustment lowers the scores of the models on average."""
    return mean_reductions(_score_methods(results, paper_exclusions=True))


def mean_reductions(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the reduction of the Winkler score by conformal adjustment, averaged over models, by method and level.

    Parameters
    ----------
    scores : DataFrame
        ``model``, ``method``, ``level`` and ``winkler``. The method ``conformal`` adjusts ``base``, and one that is
        named after another, such as ``logprob_conformal``, adjusts that one.

    Returns
    -------
    DataFrame
        ``method`` before adjustment, ``level``, ``before`` and ``after``, the mean scores of the ``models`` with two
        finite scores, ``drop``, their difference, and ``reduction (%)``, 100 times drop over before. From Epstein et
        al. (2025), "Scoring all of the models".

    Examples
    --------
    >>> scores = pd.DataFrame(
    ...     [("a", "base", 0.9, 40.0), ("a", "conformal", 0.9, 30.0), ("b", "base", 0.9, 10.0)],
    ...     columns=["model", "method", "level", "winkler"],
    ... )
    >>> mean_reductions(scores)[["before", "after", "drop", "reduction (%)", "models"]].values.tolist()
    [[40.0, 30.0, 10.0, 25.0, 1.0]]
    """
    finite = scores[np.isfinite(scores["winkler"].astype(np.float64))]
    by_method = finite.pivot_table(index=["level", "model"], columns="method", values="winkler", sort=False)
    rows = []
    for adjusted in (name for name in by_method if str(name).endswith("conformal")):
        method = str(adjusted).removesuffix("conformal").rstrip("_") or "base"
        if method not in by_method:
            continue
        for level, pairs in by_method[[method, adjusted]].dropna().groupby(level="level"):
            before, after = (float(pairs[name].mean()) for name in (method, adjusted))
            share = 100.0 * (before - after) / before if before else math.nan
            row = {"method": method.replace("_", " "), "level": level, "before": before, "after": after}
            rows.append({**row, "drop": before - after, "reduction (%)": share, "models": len(pairs)})
    return pd.DataFrame(rows)


@extra_table(
    "coverage_by_method",
    "Coverage by method",
    "On the test half, with Wilson’s intervals; n is the number of questions.",
    decimals=2,
)
def method_coverage(results: TaskResults) -> pd.DataFrame:
    """Return the coverage of each model's methods at every level."""
    return _pivot_levels(_score_methods(results), "coverage", "coverage_low", "coverage_high")


@extra_table(
    "coverage_as_published",
    "Coverage by method, with the paper’s exclusions",
    f"Without items whose truth or an end lies beyond ±{PAPER_MAX_EXPONENT}, as in the table of Winkler scores with"
    " these exclusions.",
    decimals=2,
)
def paper_coverage(results: TaskResults) -> pd.DataFrame:
    """Return the coverage of each model's methods with the paper's exclusions; empty if they leave nothing out."""
    return _as_published(results, "coverage", "coverage_low", "coverage_high")


def _score_methods(results: TaskResults, *, paper_exclusions: bool = False) -> pd.DataFrame:
    """Return the scores of every model's methods: ``fermieval`` has those of all three tasks.

    Empty for another task if ``fermieval`` is in the same report.
    """
    task = results.task_trials.study.name
    if task != STATED and STATED in {related.study.name for related in results.related}:
        return pd.DataFrame(columns=["model", "method", "level"])
    tables = []
    for model in results.models:
        runs = {
            related.study.name: run
            for related in (results.related if task == STATED else ())
            for run in related.models
            if run.name == model.name
        } | {task: model}
        trials = {name: run.columns for name, run in runs.items()}
        if paper_exclusions:
            trials[task] = _within_paper(model)
        last_run = runs.get(SAMPLED, model).files[-1]
        table = method_table(
            _levels(results),
            trials,
            float(last_run.parameters.get("shortfall_weight", SHORTFALL_WEIGHT)),
        )
        tables.append(table.assign(model=model.label))
    return pd.concat(tables, ignore_index=True)


def _levels(results: TaskResults) -> Sequence[float]:
    """Return the levels of the trials; the paper's levels if trials have none."""
    levels = np.concatenate([model.columns.get("level", np.array([])) for model in results.models])
    return sorted(set(levels[~np.isnan(levels)])) or LEVELS


def _can_choose_temperature(samples: Columns) -> bool:
    """Return whether there is one temperature, or a calibration half on which to choose one."""
    return len(np.unique(samples["temperature"])) == 1 or CALIBRATION in samples["split"]


def _pivot_levels(scores: pd.DataFrame, *names: str) -> pd.DataFrame:
    """Put the levels in columns: one row per model and method, with the range of the number of questions."""
    rows: list[dict[str, Any]] = []
    for (model, method), group in scores.groupby(["model", "method"], sort=False):
        row: dict[str, Any] = {"model": model, "method": str(method).replace("_", " ")}
        for record in group.to_dict("records"):
            column = f"p = {record['level']:g}"
            row |= {f"{column} {name.partition('_')[2]}".strip(): record[name] for name in names}
        sizes = sorted({group["n"].min(), group["n"].max()})
        rows.append({**row, "n": "–".join(map(str, sizes))})
    return pd.DataFrame(rows)


@check(
    "warning",
    "No temperature can be chosen",
    "Samples were drawn at several temperatures, but without the calibration half, on which one is chosen: intervals"
    " from samples are not in the tables of methods. Report on one temperature at a time.",
)
def no_temperature(results: TaskResults) -> Iterable[str]:
    """Return the models sampled at several temperatures without a calibration half."""
    return [model.label for model in results.models if not _can_choose_temperature(model.columns)]


@check(
    "note",
    "One half of the questions is missing",
    "Measures are computed on the test half; without it there are none. Without the calibration half, each interval"
    " is adjusted by all other questions (jackknife+).",
)
def no_calibration_half(results: TaskResults) -> Iterator[str]:
    """Yield the models without questions of one half."""
    for model in results.models:
        missing = {CALIBRATION, TEST} - set(model.columns["split"])
        yield from (f"{model.label}: no {half} questions" for half in sorted(missing))


def truths(results: TaskResults, styles: ModelStyles) -> Figure:
    """Draw figure 6 of the paper: the distribution of the true exponents of the questions, from -20 to 40."""
    low, high = -20, 40
    trials = trials_frame(results.task_trials)
    values = trials.drop_duplicates("question_id", keep="last")["truth"].to_numpy()
    inside = values[(values >= low) & (values <= high)]
    histogram = panel("", panels.counts, values=inside, low=low, high=high, x="exponent", y="questions")
    return Figure(
        f"{results.task_trials.slug}_truths",
        "True exponents",
        f"Number of questions by true exponent. The {len(inside):,} of {len(values):,} questions from {low} to {high}"
        " are shown.",
        (("", (histogram,) if len(inside) else ()),),
        size=(5.0, 2.2),
    )


# Files of replies -----------------------------------------------------------------------------------------------


def _interval_item(question: Question, row: Row) -> Item:
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
    return Item(question, condition_of(level), question.text, metadata=metadata)


REPLY_FORMS: Mapping[str, ReplyForm] = {
    "fermieval": ReplyForm(
        STUDY,
        {
            "exponent": "the key, a power of ten: 3 for a truth of 1,000",
            "level": "nominal coverage, such as 0.95; split may be calibration or test, and max_exponent the largest "
            "exponent that is not left out, 100 in the paper's figures",
        },
        _interval_item,
        "p=",
        "number",
        key="exponent",
        optional=("split", "max_exponent"),
        parameters=lambda items: {
            "split": "all" if any(item.metadata["split"] == CALIBRATION for item in items) else TEST
        },
    ),
}


# The tables and figures of the paper ----------------------------------------------------------------------------

_LEVELS = ("p=0.9", "p=0.95", "p=0.99")
_OPEN = "open"
"""Group of models of the paper's figure 5; figure 1 has the others."""


def _method_score(runs: paper.Runs, cell: paper.Cell, method: str, tables: Sequence[str]) -> paper.Value:
    """Return the score of a method from the first table, in any of the three tasks, that has it.

    NaN if the model was asked, and the method needs other trials, such as a calibration half.
    """
    column = f"p = {level_of(cell.group):g}"
    for table, task in product(tables, _TASKS):
        value = paper.from_table(table, column, method=method)(runs, replace(cell, task=task, group=""))
        if isinstance(value, float) and not math.isnan(value):
            return value
    return math.nan if runs.task_of(replace(cell, group="")) else None


_winkler = partial(_method_score, tables=("winkler_as_published", "winkler_by_method"))
_coverage = partial(_method_score, tables=("coverage_as_published", "coverage_by_method"))

REPLICATION = paper.Replication(
    name="fermieval",
    title="FermiEval: Epstein, Winnicki, Sornwanee & Dwaraknath (2025), arXiv:2510.26995",
    tasks=dict.fromkeys(_TASKS, paper.TaskParameters("levels")),
    items=(
        paper.NotMade("1", "Four questions of the archive.", why="The table shows examples, not results."),
        paper.PaperTable(
            "2",
            "Coverage on the test half: intervals as stated, and from token probabilities. As in the paper, without"
            " items whose truth or an end lies beyond ±100.",
            stubs=("Model", "Nominal p"),
            rows=(MODELS, tuple(heading(f"{level_of(label):.2f}", group=label) for label in _LEVELS)),
            columns=(
                heading("Baseline obs. cov.", measure=partial(_coverage, method="base"), task=STATED),
                heading("Logprob obs. cov.", measure=partial(_coverage, method="logprob"), task=BY_LOGPROB),
            ),
        ),
        paper.PaperFigure(
            "1",
            "Coverage against nominal coverage, by model. As in the paper, without items whose truth or an end lies"
            " beyond ±100.",
            name="calibration_as_published",
            otherwise="calibration",
            tasks=(STATED,),
            not_of_type=_OPEN,
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
                    heading(method, measure=partial(_winkler, method=method), task=task)
                    for method, task in (("base", STATED), ("conformal", STATED), ("logprob", BY_LOGPROB))
                ),
            ),
            columns=MODELS,
        ),
        paper.PaperFigure(
            "3",
            "The perception tunnel: the part of a belief that a query sees.",
            name="tunnels",
            tasks=(STATED,),
        ),
        paper.PaperFigure(
            "4", "The distribution of the ends of stated intervals.", name="stated_ends", tasks=(STATED,)
        ),
        paper.PaperFigure(
            "5",
            "Coverage against nominal coverage, of open models. As in the paper, without items whose truth or an end"
            " lies beyond ±100.",
            name="calibration_as_published",
            otherwise="calibration",
            tasks=(STATED,),
            of_type=_OPEN,
        ),
        paper.PaperFigure("6", "The true exponents of the questions.", name="truths", tasks=(STATED,)),
    ),
)

REPORT = StudyReport(
    figures=(calibration, paper_calibration, tunnel.tunnels, tunnel.stated_ends, truths),
    lead=calibration,
    tables=(method_scores, paper_scores, reductions, method_coverage, paper_coverage, tunnel.perception),
    checks=(*checks.READING, no_calibration_half),
    replication=REPLICATION,
    reply_forms=REPLY_FORMS,
    power=(POWER,),
)
