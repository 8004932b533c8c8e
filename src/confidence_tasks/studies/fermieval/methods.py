"""The methods of FermiEval's three tasks side by side: intervals as stated, by token probabilities and from samples.

Epstein, Winnicki, Sornwanee & Dwaraknath (2025), arXiv:2510.26995, figure 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from confidence_tasks.logs.task_trials import ModelTrials
from confidence_tasks.report.extra_tables import extra_table
from confidence_tasks.report.notices import check
from confidence_tasks.report.results import TaskResults
from confidence_tasks.studies.fermieval.adjustments import ADJUSTMENTS, JACKKNIFE, within_split
from confidence_tasks.studies.fermieval.logprob.measures import fitted_temperature, set_intervals
from confidence_tasks.studies.fermieval.measures import FIGURES
from confidence_tasks.studies.fermieval.replies import CALIBRATION, LEVELS, PAPER_MAX_EXPONENT, TEST
from confidence_tasks.studies.fermieval.sampling.measures import intervals_at, rows_in
from confidence_tasks.studies.fermieval.sampling.trials import SHORTFALL_WEIGHT
from confidence_tasks.studies.fermieval.summary import coverage_interval
from confidence_tasks.studies.fermieval.trials import EXCLUDED
from confidence_tasks.study.columns import rows_of
from confidence_tasks.study.inference import Columns
from confidence_tasks.study.units import units_of

STATED, BY_LOGPROB, SAMPLED = TASKS = "fermieval", "fermieval_logprob", "fermieval_sampling"
"""Names of the three studies, one for each task."""


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
    n_dropped = leaves_out(results)
    scores = _score_methods(results, paper_exclusions=True) if n_dropped else pd.DataFrame()
    if not len(scores):
        return scores
    frame = _pivot_levels(scores, *names)
    return frame.assign(**{"replies left out": frame["model"].map(n_dropped)})


def leaves_out(results: TaskResults) -> dict[str, int]:
    """Return how many trials of each model the paper's figures leave out; empty if there are none of any model."""
    n_dropped = {model.label: int(np.sum(_excluded_in_paper(model))) for model in results.models}
    return n_dropped if any(n_dropped.values()) else {}


def _excluded_in_paper(model: ModelTrials) -> NDArray[np.bool_]:
    """Return which trials with an interval the paper's figures leave out."""
    ends = np.abs([model.columns[name] for name in ("truth", "lower", "upper")])
    return np.asarray((ends > PAPER_MAX_EXPONENT).any(axis=0) & (model.columns["split"] != EXCLUDED))


def within_paper(model: ModelTrials) -> Columns:
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
            trials[task] = within_paper(model)
        last_run = runs.get(SAMPLED, model).files[-1]
        table = method_table(
            levels_in(results),
            trials,
            float(last_run.parameters.get("shortfall_weight", SHORTFALL_WEIGHT)),
        )
        tables.append(table.assign(model=model.label))
    return pd.concat(tables, ignore_index=True)


def levels_in(results: TaskResults) -> Sequence[float]:
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
