"""FermiEval in the report: coverage against what was asked for, methods side by side, and what to be wary of.

Epstein, Winnicki, Sornwanee & Dwaraknath (2025), arXiv:2510.26995, figures 1 and 2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from confidence_tasks.harness.inspect.samples import Item, one_of
from confidence_tasks.report.checks import Notice, cells_of, notice_if_any
from confidence_tasks.report.extra_tables import ExtraTable
from confidence_tasks.report.figures import panels
from confidence_tasks.report.figures.figure import Colour, Figure, LegendEntry, Panel, series
from confidence_tasks.report.figures.general import ModelStyles, interval_line
from confidence_tasks.report.figures.panels import Line
from confidence_tasks.report.reply_files import Row
from confidence_tasks.report.reply_form import ReplyForm, number_in, whole_number_in
from confidence_tasks.report.staged import metrics_of_items
from confidence_tasks.sources.fermi import LARGEST_EXPONENT
from confidence_tasks.statistics.intervals import adjusted_interval_covariance
from confidence_tasks.studies.fermieval import STUDY
from confidence_tasks.studies.fermieval.methods import method_table
from confidence_tasks.studies.fermieval.prompts import LARGEST_KEY, LEVELS
from confidence_tasks.studies.fermieval.prompts import condition_of as condition_of_level
from confidence_tasks.studies.fermieval.trials import (
    CALIBRATION,
    EXCLUDED,
    PAPER_MAX_EXPONENT,
    TEST,
    within_split,
)
from confidence_tasks.studies.fermieval_sampling.trials import SHORTFALL_WEIGHT
from confidence_tasks.study.question import Question

if TYPE_CHECKING:
    from confidence_tasks.report.results import TaskResults
    from confidence_tasks.report.task_trials import ModelTrials
    from confidence_tasks.statistics.core import FloatArray


STATED, BY_LOGPROB, SAMPLED = "fermieval", "fermieval_logprob", "fermieval_sampling"
"""Names of the studies, which are one a task."""

MANY_DEGENERATE = 0.2
"""Share of intervals of a single exponent above which widths say little."""


def level_of(condition: str) -> float:
    """Return the nominal coverage that a condition asks for; ValueError if it is none.

    Examples
    --------
    >>> level_of("p=0.95")
    0.95
    """
    level = float(condition.removeprefix("p="))
    if not 0.0 < level < 1.0:
        raise ValueError("write p=0.95")
    return level


def calibration(results: TaskResults, styles: ModelStyles) -> Figure:
    """Draw observed against nominal coverage, of intervals as stated and as conformally adjusted."""
    labels = results.conditions
    nominal = np.array([level_of(label) for label in labels])
    its_panels = []
    for model in results.models:
        colour, marker = styles[model.label]
        stated = interval_line(results, model.label, labels, "coverage", colour, marker)
        adjusted = [
            interval_line(results, model.label, labels, name, Colour.INK, "D")
            for name in ("conformal_coverage", "conformal_jackknife_coverage")
        ]
        defined = [line for line in adjusted if not np.isnan(line.y).all()]
        lines = [Line("nominal", Colour.MUTED, stated.x, nominal), *defined, stated]
        ticks = [label.removeprefix("p=0") for label in labels]
        draw = partial(
            panels.trends, labels=ticks, lines=lines, x="nominal coverage", y="observed", lowest=None
        )
        its_panels.append(Panel(model.label, draw))
    return Figure(
        f"{results.task_trials.slug}_calibration",
        "Coverage against nominal coverage",
        "Share of the test half’s intervals that hold the truth, with intervals: as stated, and after conformal"
        " adjustment by the calibration half or, where none was asked, by the other questions. Grey is what was asked"
        " for; below it a model, in its own colour, is overconfident.",
        (("", tuple(its_panels)),),
        (
            LegendEntry("asked for", Colour.MUTED),
            LegendEntry("conformal", Colour.INK, "D"),
            *(LegendEntry(f"{model.label}, as stated", *styles[model.label]) for model in results.models),
        ),
        size=(2.5, 2.1),
    )


def winkler_by_method(results: TaskResults, styles: ModelStyles) -> Figure:
    """Draw the Winkler scores of each model's methods at every level, as figure 2 of the paper does."""
    methods = _methods(results)
    names = list(dict.fromkeys(methods["method"]))
    looks = {name: series(i) for i, name in enumerate(names)}
    its_panels = []
    for model in results.models:
        own = methods[methods["model"] == model.label]
        levels = sorted(set(own["level"]))
        lines = []
        for name in names:
            scores = own[own["method"] == name].sort_values("level")["winkler"].to_numpy()
            if len(scores):
                finite = np.where(np.isfinite(scores), scores, np.nan)
                colour, marker = looks[name]
                x = np.arange(len(levels), dtype=np.float64)
                lines.append(Line(_words(name), colour, x, finite, marker=marker))
        draw = partial(
            panels.trends,
            labels=[f"{level:g}".removeprefix("0") for level in levels],
            lines=lines,
            x="nominal coverage",
            y="Winkler score",
            logarithmic=True,
        )
        if lines:
            its_panels.append(Panel(model.label, draw))
    return Figure(
        f"{results.task_trials.slug}_winkler_by_method",
        "Winkler score by method",
        "Lower is better: width, and what is missed weighs more the stricter the level. All on the test half. A gap is"
        " an interval without end, which conformal adjustment gives when its calibration half is too small for the"
        " level.",
        (("", tuple(its_panels)),),
        tuple(LegendEntry(_words(name), *look_of) for name, look_of in looks.items()),
        size=(2.5, 2.1),
    )


def _words(method: str) -> str:
    return method.replace("_", " ")


def method_scores(results: TaskResults) -> ExtraTable:
    """Return the Winkler scores of each model's methods at every level, as in figure 2 of the paper."""
    return ExtraTable(
        f"{results.task_trials.slug}_winkler_by_method",
        "Winkler score by method",
        "On the test half, lower is better: intervals as stated, conformally adjusted, from token probabilities and"
        " from samples, where those tasks were run. Infinite where the calibration half is too small for the level.",
        _wide(_methods(results), ("winkler",)),
        decimals=1,
    )


def paper_scores(results: TaskResults) -> ExtraTable:
    """Return figure 2 of the paper by its own rule: only items whose truth and both ends lie within 100 of 0 count.

    Empty where the rule leaves nothing out, as :func:`method_scores` is then the same.
    """
    n_dropped = {model.label: int(np.sum(_beyond_the_papers(model))) for model in results.models}
    methods = _methods(results, as_the_paper=True) if any(n_dropped.values()) else pd.DataFrame()
    frame = _wide(methods, ("winkler",)) if len(methods) else methods
    if len(frame):
        frame["replies left out"] = [n_dropped[label] for label in frame["model"]]
    return ExtraTable(
        f"{results.task_trials.slug}_winkler_as_published",
        "Winkler score by method, as the paper counts",
        f"The same without items whose truth or an end lies beyond ±{PAPER_MAX_EXPONENT}, which the paper's figures"
        " leave out: one far end can outweigh all others. Replies left out are of both halves and all levels.",
        frame,
        decimals=1,
    )


def _beyond_the_papers(model: ModelTrials) -> NDArray[np.bool_]:
    """Return which trials with an interval the paper's figures leave out."""
    ends = np.abs([model.columns[name] for name in ("truth", "lower", "upper")])
    counted = model.columns["split"] != EXCLUDED
    beyond: NDArray[np.bool_] = np.any(ends > PAPER_MAX_EXPONENT, axis=0) & counted
    return beyond


def method_coverage(results: TaskResults) -> ExtraTable:
    """Return the coverage of each model's methods at every level."""
    frame = _wide(_methods(results), ("coverage", "coverage_low", "coverage_high"))
    limits = {
        name: (f"{name} low", f"{name} high") for name in frame.columns if f"{name} low" in frame.columns
    }
    return ExtraTable(
        f"{results.task_trials.slug}_coverage_by_method",
        "Coverage by method",
        "On the test half, with Wilson’s intervals; n is the number of questions.",
        frame,
        limits,
        decimals=2,
    )


def _methods(results: TaskResults, *, as_the_paper: bool = False) -> pd.DataFrame:
    """Return the methods of every model, those of all tasks of the study together where intervals were stated."""
    own = results.task_trials.study.name
    stated = own == STATED
    if not stated and STATED in {task_trials.study.name for task_trials in results.related}:
        return pd.DataFrame(columns=["model", "method", "level"])
    levels = _levels(results)
    tables = []
    for model in results.models:
        trials = {
            task_trials.study.name: _records(other)
            for task_trials in (results.related if stated else ())
            for other in task_trials.models
            if other.name == model.name
        } | {own: _records(model)}
        if as_the_paper:
            kept = ~_beyond_the_papers(model)
            trials[own] = [trial for trial, keep in zip(trials[own], kept, strict=True) if keep]
        sampling = trials.get(SAMPLED, [])
        table = method_table(
            levels,
            intervals=trials.get(STATED, ()),
            logprob=trials.get(BY_LOGPROB, ()),
            sampling=sampling if _temperature_is_told(sampling) else (),
            shortfall_weight=_shortfall_weight(results, model.name),
        )
        tables.append(table.assign(model=model.label))
    return pd.concat(tables, ignore_index=True)


def _shortfall_weight(results: TaskResults, name: str) -> float:
    """Return the weight that a model's samples were run with; that of the last run where there are several."""
    files = [
        file
        for section in (results.task_trials, *results.related)
        if section.study.name == SAMPLED
        for model in section.models
        if model.name == name
        for file in model.files
    ]
    said = [file.setup["shortfall_weight"] for file in files if "shortfall_weight" in file.setup]
    return float(said[-1]) if said else SHORTFALL_WEIGHT


def _levels(results: TaskResults) -> Sequence[float]:
    """Return the levels that were asked for; the paper's where replies are for any level."""
    asked = np.concatenate([model.columns.get("level", np.array([])) for model in results.models])
    return sorted(set(asked[~np.isnan(asked)])) or LEVELS


def _temperature_is_told(samples: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether there is one temperature, or a calibration half to choose one by."""
    temperatures = {sample["temperature"] for sample in samples}
    return len(temperatures) == 1 or CALIBRATION in {sample["split"] for sample in samples}


def _wide(methods: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Put the levels in columns: one row a model and method."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    sizes: dict[tuple[str, str], set[int]] = {}
    for record in methods.to_dict("records"):
        method = str(record["method"]).replace("_", " ")
        row = rows.setdefault((record["model"], method), {"model": record["model"], "method": method})
        for name in names:
            row[f"p = {record['level']:g} {name.partition('_')[2]}".strip()] = record[name]
        sizes.setdefault((record["model"], method), set()).add(record["n"])
    return pd.DataFrame([{**row, "n": _range(sizes[key])} for key, row in rows.items()])


def _range(sizes: set[int]) -> str:
    low, high = min(sizes), max(sizes)
    return f"{low}" if low == high else f"{low}–{high}"


def _records(model: ModelTrials) -> list[dict[str, Any]]:
    names = list(model.columns)
    return [dict(zip(names, row, strict=True)) for row in zip(*model.columns.values(), strict=True)]


def degenerate(results: TaskResults) -> Iterator[Notice]:
    """Intervals that are a single exponent."""
    where = []
    for model, condition, columns in cells_of(results):
        width = columns["width"][~np.isnan(columns["width"])]
        if len(width) and np.mean(width == 0) > MANY_DEGENERATE:
            where.append(f"{model}, {condition}: {np.mean(width == 0):.0%}")
    yield from notice_if_any(
        "note",
        "Many intervals are a single exponent",
        "They state certainty of the order of magnitude, whatever coverage was asked for.",
        where,
    )


def masses_above_one(results: TaskResults) -> Iterator[Notice]:
    """Distributions whose probabilities add up to more than 1, by rounding."""
    where = []
    for model, _, columns in cells_of(results):
        above = columns["integer_mass"][columns["integer_mass"] > 1.0 + 1e-9]
        if len(above):
            where.append(f"{model}: {len(above)} of {len(columns['integer_mass'])}, up to {above.max():.6g}")
    yield from notice_if_any(
        "note",
        "Probabilities that add up to more than 1",
        "Rounded log-probabilities do that. The probabilities were divided by their sum.",
        where,
    )


def no_temperature(results: TaskResults) -> Iterator[Notice]:
    """Models sampled at several temperatures with nothing to choose by."""
    yield from notice_if_any(
        "warning",
        "No temperature can be chosen",
        "Samples were drawn at several temperatures, and without the calibration half there is nothing to choose one"
        " by: intervals from samples are not in the tables of methods. Report on one temperature at a time.",
        [model.label for model in results.models if not _temperature_is_told(_records(model))],
    )


def no_calibration_half(results: TaskResults) -> Iterator[Notice]:
    """Models without the half that adjustment is fitted on."""
    where = []
    for model in results.models:
        halves = set(map(str, model.columns["split"]))
        where += [f"{model.label}: no {half} questions" for half in (CALIBRATION, TEST) if half not in halves]
    yield from notice_if_any(
        "note",
        "One half of the questions is missing",
        "Measures are of the test half: without it there are none. Without the calibration half, each interval is"
        " adjusted by those of the other questions (jackknife+).",
        where,
    )


_BELIEF = NormalDist()
"""The belief of the pictures; theory 1 holds for any."""

_X = np.linspace(-3.2, 3.2, 321)
_QUERIES = (20, 100)
"""Numbers of samples that proposition 1 is shown for."""


def perception_of(model: ModelTrials) -> tuple[float, float]:
    """Estimate the mass of its belief that a model sees, from the strictest level that it was asked.

    Coverage stagnates at the perception as the level rises (theory 1); at level p it is p times the perception.

    Returns
    -------
    perception, level : float
        Coverage on the test half over the level, at most 1, and the level; NaN without intervals.
    """
    judged = within_split(model.columns, TEST)
    if not len(judged["level"]):
        return math.nan, math.nan
    level = float(judged["level"].max())
    held = judged["correct"][judged["level"] == level]
    return min(float(held.mean()) / level, 1.0), level


def perception(results: TaskResults) -> ExtraTable:
    """Return proposition 1 of the paper for every model: its perception, and how exact adjusted intervals become.

    The standard error of either end is in standard deviations of a normal belief; it falls with the square root of the
    number of samples.
    """
    rows = []
    for model in results.models:
        beta, level = perception_of(model)
        if math.isnan(beta) or beta == 0.0:
            continue
        density = _BELIEF.pdf(_BELIEF.inv_cdf((1.0 - level) / 2.0))
        errors = {
            f"error, {n} samples": math.sqrt(
                adjusted_interval_covariance(level, beta, (density, density), n)[0, 0]
            )
            for n in _QUERIES
        }
        rows.append({"model": model.label, "level": level, "perception": beta, **errors})
    return ExtraTable(
        f"{results.task_trials.slug}_perception",
        "How much of its belief a model sees",
        "If a model saw a random part of its belief in each call and took it for the whole, its coverage would be the"
        " level times the mass of that part: perception is coverage over the strictest level, at most 1. The outer"
        " quantiles of sampled intervals would then be right on average, with this standard error (proposition 1, with"
        " the square of one less the perception that its proof calls for), in standard deviations of a normal belief.",
        pd.DataFrame(rows),
    )


def tunnels(results: TaskResults, styles: ModelStyles) -> Figure:
    """Draw figure 3 of the paper: the belief, and the parts of it that two queries may see."""
    its_panels = []
    density = np.array([_BELIEF.pdf(x) for x in _X])
    quantile = np.array([_BELIEF.cdf(x) for x in _X])
    for model in results.models:
        beta, _ = perception_of(model)
        if not 0.0 < beta <= 1.0:
            continue
        lines = [Line("belief", Colour.INK, _X, density)]
        for start, (name, colour) in zip((0.0, 1.0 - beta), _QUERY_KEYS, strict=True):
            seen = (quantile >= start) & (quantile <= start + beta)
            lines.append(Line(name, colour, _X[seen], density[seen] / beta))
        draw = partial(panels.over_range, lines=lines, x="belief (SD)", y="density", shares=False)
        its_panels.append(Panel(model.label, draw))
    return Figure(
        f"{results.task_trials.slug}_tunnels",
        "The perception tunnel",
        "Theory, not data: a normal belief, and the parts of it that the first and the last of the possible queries"
        " see, each with the mass that a model's coverage tells.",
        (("", tuple(its_panels)),),
        (LegendEntry("belief", Colour.INK), *(LegendEntry(*key) for key in _QUERY_KEYS)),
    )


_QUERY_KEYS = (("leftmost part", Colour.SERIES_5), ("rightmost part", Colour.SERIES_2))
_END_KEYS = (("lower end", Colour.WRONG), ("upper end", Colour.RIGHT))


def stated_ends(results: TaskResults, styles: ModelStyles) -> Figure:
    """Draw figure 4 of the paper: how the ends that a tunnel leads to are distributed, over the belief."""
    its_panels = []
    density = np.array([_BELIEF.pdf(x) for x in _X])
    for model in results.models:
        beta, level = perception_of(model)
        if not 0.0 < beta < 1.0:
            continue
        lines = [Line("belief", Colour.INK, _X, density)]
        for (name, colour), tail in zip(_END_KEYS, ((1.0 - level) / 2.0, (1.0 + level) / 2.0), strict=True):
            lines.append(Line(name, colour, *end_density(beta, tail)))
        draw = partial(panels.over_range, lines=lines, x="belief (SD)", y="density", shares=False)
        its_panels.append(Panel(model.label, draw))
    return Figure(
        f"{results.task_trials.slug}_stated_ends",
        "Ends of intervals under the perception tunnel",
        "Theory, not data: a normal belief, and the distributions over queries of the lower and the upper end that are"
        " stated at the strictest level, with the perception that a model's coverage tells. Their outer quantiles are"
        " those of the belief, however small the part that is seen.",
        (("", tuple(its_panels)),),
        (LegendEntry("belief", Colour.INK), *(LegendEntry(*key) for key in _END_KEYS)),
    )


def end_density(beta: float, quantile: float) -> tuple[FloatArray, FloatArray]:
    """Return the density over queries of a quantile of the part that is seen: where it is above 0, and how high.

    The end lies at F = start + quantile * beta, the start being uniform on [0, 1 - beta].
    """
    low, high = quantile * beta, 1.0 - beta + quantile * beta
    mass = np.array([_BELIEF.cdf(x) for x in _X])
    some = (mass >= low) & (mass <= high)
    return _X[some], np.array([_BELIEF.pdf(x) for x in _X[some]]) / (1.0 - beta)


_SHOWN = (-20, 40)


def truths(results: TaskResults, styles: ModelStyles) -> Figure:
    """Draw figure 6 of the paper: how the right exponents of the questions asked are distributed, from -20 to 40."""
    known = {
        str(name): float(truth)
        for model in results.models
        for name, truth in zip(model.columns["question_id"], model.columns["truth"], strict=True)
    }
    values = np.array(list(known.values()))
    inside = values[(values >= _SHOWN[0]) & (values <= _SHOWN[1])]
    draw = partial(panels.counts, values=inside, low=_SHOWN[0], high=_SHOWN[1], x="exponent", y="questions")
    return Figure(
        f"{results.task_trials.slug}_truths",
        "Right exponents",
        f"Number of questions by exponent of the right answer: {len(inside):,} of {len(values):,} questions lie within"
        f" {_SHOWN[0]} to {_SHOWN[1]} and are shown.",
        (("", (Panel("", draw),) if len(inside) else ()),),
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


def _interval_metrics(items: Sequence[Item]) -> list[Any]:
    calibrated = any(item.metadata["split"] == CALIBRATION for item in items)
    return metrics_of_items(STUDY, items, split="all" if calibrated else TEST)


REPLY_FORMS: Mapping[str, ReplyForm] = {
    "fermieval": ReplyForm(
        {
            "exponent": "the key, a power of ten: 3 for a truth of 1,000",
            "level": "nominal coverage, such as 0.95; split may be calibration or test, and "
            "max_exponent the largest exponent that counts, 100 in the paper's figures",
        },
        "p=",
        _interval,
        STUDY.make_scorer,
        _interval_metrics,
        "number",
        key="exponent",
        optional=("split", "max_exponent"),
    ),
}
