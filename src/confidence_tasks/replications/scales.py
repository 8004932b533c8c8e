"""Tables 1 to 17 and figures 2 to 5 of Dai (2026), arXiv:2603.09309, on confidence scales."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from functools import partial

import numpy as np

from confidence_tasks.reading.integer_scale import BOUNDARY, GRANULARITY, NONSTANDARD, Scale
from confidence_tasks.replications.numbers import is_better, is_worse, spread
from confidence_tasks.report import paper
from confidence_tasks.report.paper import MODELS, by_measure, heading
from confidence_tasks.statistics import Estimate
from confidence_tasks.statistics.discretization import top_value
from confidence_tasks.studies.scales.replies import BASELINE

_TASKS = ("scale_granularity", "scale_boundary", "scale_nonstandard")
_SOURCES = {"MMLU": "mmlu", "GSM8K": "gsm8k", "TruthfulQA": "truthfulqa"}
_BASE = {"task": _TASKS, "group": BASELINE.label}


def _top_1(runs: paper.Runs, cell: paper.Cell) -> paper.Value:
    """Return the most frequent report of each source, without repetitions."""
    reports = [columns["confidence_raw"] for columns in runs.trials(cell)]
    values = [float(top_value(raw[~np.isnan(raw)])) for raw in reports]
    return " / ".join(dict.fromkeys(f"{value:g}" for value in values if not math.isnan(value))) or None


def _estimate(runs: paper.Runs, cell: paper.Cell, **changes: str) -> float | None:
    entry = runs.estimate(replace(cell, **changes))  # type: ignore[arg-type]
    return None if entry is None else float(entry.interval.estimate)


def _binning_gap(runs: paper.Runs, cell: paper.Cell) -> paper.Value:
    """Return the absolute difference between the ECE in bins of equal width and in bins of equal numbers."""
    equal_width, equal_mass = (_estimate(runs, cell, measure=name) for name in ("ece", "ece_mass"))
    return None if equal_width is None or equal_mass is None else abs(equal_width - equal_mass)


def _accuracy_range(runs: paper.Runs, cell: paper.Cell) -> paper.Value:
    """Return the largest difference in accuracy between two granularities."""
    accuracies = [_estimate(runs, cell, measure="accuracy", group=scale.label) for scale in GRANULARITY]
    defined = [value for value in accuracies if value is not None and not math.isnan(value)]
    return spread(defined) if len(defined) > 1 else None


def _width(runs: paper.Runs, cell: paper.Cell) -> paper.Value:
    return float(Scale.parse(cell.group).width) if runs.task_of(cell) else None


_BEFORE_BASELINE = "0-20"
"""The only scale that is A in the paper's table 16; in its other comparisons, 0-100 is A."""


def _compared_meta_d(runs: paper.Runs, cell: paper.Cell, index: int) -> paper.Value:
    """Return meta-d' of one of the compared scales: A for ``index`` 0, B for 1."""
    labels = [BASELINE.label, cell.group]
    if cell.group == _BEFORE_BASELINE:
        labels.reverse()
    return _estimate(runs, cell, measure="meta_d", group=labels[index])


def _meta_d_difference(runs: paper.Runs, cell: paper.Cell) -> paper.Value:
    """Return the difference in meta-d' between two scales, A minus B."""
    contrast = runs.contrast(replace(cell, measure="meta_d"))
    if contrast is None:
        return None if _compared_meta_d(runs, cell, 0) is None else math.nan
    interval = contrast.interval
    if cell.group == _BEFORE_BASELINE:
        return interval
    estimate, high, low = (
        Estimate(-value, value.reason) for value in (interval.estimate, interval.low, interval.high)
    )
    return replace(interval, estimate=estimate, low=low, high=high)


def _spaced_labels(*scales: Scale) -> paper.Axis:
    """Return an axis of scales, with a space in their labels as in tables 6 and 7."""
    return tuple(heading(f"[{scale.lower}, {scale.upper}]", group=scale.label) for scale in scales)


def _scales(scales: Iterable[Scale], task: str) -> paper.Axis:
    """Return an axis of scales; cells of the baseline use any of the tasks if ``task`` was not run."""
    return tuple(
        heading(
            f"[{scale.lower},{scale.upper}]",
            group=scale.label,
            task=(task, *_TASKS) if scale == BASELINE else task,
        )
        for scale in scales
    )


_GRANULARITY = _scales(GRANULARITY, "scale_granularity")

_META_D = by_measure("meta_d", "meta-d′")
_M_RATIO = by_measure("mratio", "M-ratio")
_STARRED = {"mark": ("*", is_better)}
_DAGGERED = {"mark": ("†", is_worse)}

_ONE_SOURCE: paper.Axis = (
    heading("Top-1", measure=_top_1),
    by_measure("top3_share", "Top-3 (%)", percent=True, digits=1),
    by_measure("distinct", "Unique", digits=0),
    by_measure("entropy", "H (bits)"),
    by_measure("accuracy", "Acc"),
    by_measure("ece", "ECE ↓"),
    _META_D,
    _M_RATIO,
)

_DIAGNOSTICS: paper.Axis = (
    by_measure("round_share", "Round (%)", percent=True, digits=1),
    by_measure("violation_rate", "Viol. (%)", percent=True, digits=1),
    _META_D,
    _M_RATIO,
)

REPLICATION = paper.Replication(
    name="scales",
    title="Confidence scales: Dai (2026), arXiv:2603.09309",
    tasks={name: paper.TaskParameters("scales", "sources") for name in _TASKS},
    items=(
        paper.NotMade("1", "Overview of the paper.", kind="figure", why="It shows a diagram, not data."),
        paper.PaperTable(
            "1",
            "Discretisation on 0-100, averaged over the sources of questions. Models are ordered by M-ratio. Top-1 is"
            " the most frequent confidence with its share, Top-3 the share of the three most frequent, H the entropy"
            " (at most 6.66 bits).",
            columns=(
                heading(
                    "Concentration",
                    "Top-1",
                    measure=_top_1,
                    text="{} ({}%)",
                    more=({"measure": "top1_share", "percent": True, "digits": 1, "name": "share"},),
                ),
                by_measure("top3_share", "Concentration", "Top-3 (%)", percent=True, digits=1),
                by_measure("distinct", "Distribution", "Unique", digits=0),
                by_measure("entropy", "Distribution", "H (bits)"),
                by_measure("accuracy", "Performance", "Acc", leading_zero=False),
                by_measure("auroc", "Performance", "AUROC", leading_zero=False),
                by_measure("ece", "Performance", "ECE ↓", leading_zero=False),
                by_measure("meta_d", "Performance", "meta-d′"),
                by_measure("mratio", "Performance", "M-ratio"),
            ),
            at=_BASE,
            order_by={"measure": "mratio"},
        ),
        paper.PaperFigure(
            "2",
            "Baseline discretisation profile on 0-100, averaged over the sources of questions: share of the most"
            " frequent value, share of the three most frequent, and number of distinct values of 101.",
            name="discretisation_profile",
            tasks=("scale_granularity",),
            parameters=f"-T scales={BASELINE.label}",
        ),
        paper.PaperTable(
            "2",
            "Granularity, averaged over the sources of questions. Bold: best scale of a model; * better than [0,100]"
            " at .05, by a permutation test with Bonferroni’s correction for all comparisons of the study.",
            columns=((by_measure("meta_d", "meta-d′ ↑"), by_measure("mratio", "M-ratio ↑")), _GRANULARITY),
            at=_STARRED,
            best="row",
        ),
        paper.PaperTable(
            "3",
            "Boundary placement. Util. is the distance between the 5th and the 95th percentile of the reports, as a"
            " share of the scale; † worse than [0,100] at .05, corrected.",
            stubs=("Model", "Metric"),
            rows=(
                MODELS,
                (
                    _META_D,
                    by_measure("mratio", "M-ratio", **_DAGGERED),
                    by_measure("utilization", "Util.", percent=True, digits=1),
                ),
            ),
            columns=_scales(BOUNDARY, "scale_boundary"),
        ),
        paper.PaperTable(
            "4",
            "Non-standard ranges of equal width. Round: multiples of 5 within the bounds; Viol.: out of bounds by"
            " more than 5% of the width.",
            stubs=("Model", "Metric"),
            rows=(MODELS, _DIAGNOSTICS),
            columns=_scales(NONSTANDARD[:4], "scale_nonstandard"),
        ),
        paper.PaperTable(
            "5",
            "Non-standard ranges of other widths: a narrow one, and one that differs from [0,100] by three units.",
            stubs=("Model", "Metric"),
            rows=(MODELS, _DIAGNOSTICS),
            columns=_scales((NONSTANDARD[0], *NONSTANDARD[4:]), "scale_nonstandard"),
        ),
        paper.PaperFigure(
            "3",
            "ECE against the number of bins, by model and scale. The paper’s is of one model on MMLU under [0, 100].",
            name="ece_by_bins",
            tasks=("scale_granularity",),
        ),
        paper.PaperTable(
            "6",
            "ECE in ten bins of equal width and of equal numbers, on MMLU.",
            stubs=("Model", "Scale"),
            rows=(MODELS, _spaced_labels(BASELINE, GRANULARITY[2])),
            columns=(
                by_measure("ece", "Equal-Width"),
                by_measure("ece_mass", "Equal-Mass"),
                heading("|Δ|", measure=_binning_gap),
            ),
            at={"task": "scale_granularity", "source": "mmlu", "digits": 3},
        ),
        paper.PaperTable(
            "7",
            "ECE by number of bins B, on MMLU.",
            stubs=("Scale",),
            rows=_spaced_labels(*GRANULARITY[2:]),
            columns=(
                MODELS,
                tuple(
                    by_measure(name, f"B = {bins}")
                    for bins, name in ((10, "ece"), (15, "ece_15"), (20, "ece_20"))
                ),
            ),
            at={"task": "scale_granularity", "source": "mmlu", "digits": 3},
        ),
        paper.PaperFigure(
            "4 and 5", "Histograms of the confidence on every scale, by model.", name="histograms"
        ),
        *(
            paper.PaperTable(
                str(number),
                f"Discretisation on 0-100: {name}.",
                columns=_ONE_SOURCE,
                at={**_BASE, "source": source},
            )
            for number, (name, source) in enumerate(_SOURCES.items(), start=8)
        ),
        paper.PaperTable(
            "11",
            "ECE (↓) by granularity, averaged over the sources of questions; * better than [0,100] at .05,"
            " corrected.",
            columns=_GRANULARITY,
            at={"measure": "ece", **_STARRED},
        ),
        paper.PaperTable(
            "12",
            "M-ratio by granularity and source of questions.",
            stubs=("Dataset", "Model"),
            rows=(tuple(heading(name, source=source) for name, source in _SOURCES.items()), MODELS),
            columns=_GRANULARITY,
            at={"measure": "mratio"},
        ),
        paper.PaperTable(
            "13",
            "Accuracy by granularity, averaged over the sources of questions, and the largest difference within a"
            " model.",
            columns=(
                *(heading(*each.labels, **each.at, measure="accuracy", digits=3) for each in _GRANULARITY),
                heading(
                    "Δmax (%)", measure=_accuracy_range, task="scale_granularity", percent=True, digits=1
                ),
            ),
        ),
        paper.PaperTable(
            "14",
            "Boundary placement: lowest and highest lower bound; † worse than [0,100] at .05, corrected.",
            stubs=("Model", "Scale"),
            rows=(MODELS, _scales((BOUNDARY[0], BOUNDARY[-1]), "scale_boundary")),
            columns=(
                _META_D,
                by_measure("mratio", "M-ratio", **_DAGGERED),
                by_measure("ece", "ECE ↓"),
                by_measure("utilization", "Utilization (%)", percent=True, digits=1),
            ),
        ),
        paper.PaperTable(
            "15",
            "The narrow range compared with [0,100]. Round-Pref: multiples of 5 within the bounds; Violation: out of"
            " bounds by more than 5% of the width; H: entropy in bits.",
            stubs=("Model", "Scale"),
            rows=(
                MODELS,
                (
                    heading("[0,100] (baseline)", **_BASE),
                    heading("[3,38]", group="3-38", task="scale_nonstandard"),
                ),
            ),
            columns=(
                heading("Width", measure=_width, digits=0),
                by_measure("round_share", "Round-Pref (%)", percent=True, digits=1),
                by_measure("violation_rate", "Violation (%)", percent=True, digits=1),
                _META_D,
                _M_RATIO,
                by_measure("entropy", "H"),
            ),
        ),
        paper.PaperTable(
            "16",
            "Differences in meta-d′ with the 95% intervals of the permutation test. The paper’s are of a bootstrap.",
            stubs=("Model", "Comparison (A vs. B)"),
            rows=(
                MODELS,
                (
                    heading("[0,20] vs [0,100]", group="0-20", task="scale_granularity"),
                    heading("[0,100] vs [60,100]", group="60-100", task="scale_boundary"),
                    heading("[0,100] vs [0,73]", group="0-73", task="scale_nonstandard"),
                    heading("[0,100] vs [3,38]", group="3-38", task="scale_nonstandard"),
                ),
            ),
            columns=(
                heading("meta-d′ (A)", measure=partial(_compared_meta_d, index=0)),
                heading("meta-d′ (B)", measure=partial(_compared_meta_d, index=1)),
                heading(
                    "Δ [95% CI]",
                    measure=_meta_d_difference,
                    sign=True,
                    text="{} [{}, {}]",
                    more=(
                        {"limit": "low", "sign": False, "name": "low"},
                        {"limit": "high", "sign": False, "name": "high"},
                    ),
                ),
            ),
        ),
        paper.PaperTable(
            "17",
            "Replies out of bounds by more than 5% of the width (%).",
            columns=tuple(
                heading(label, *each.labels, **each.at)
                for label, axis in (
                    ("Granularity (G)", _GRANULARITY),
                    ("Boundary (B)", _scales(BOUNDARY[1:], "scale_boundary")),
                    ("Non-standard (N)", _scales(NONSTANDARD[1:], "scale_nonstandard")),
                )
                for each in axis
            ),
            at={"measure": "violation_rate", "percent": True, "digits": 1},
        ),
    ),
)
