"""The tables and figures of the log-probability paper's first version: Cacioli (2026), arXiv:2603.25112."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from confidence_tasks.report.labels import measure_label
from confidence_tasks.report.paper import (
    MODELS,
    Cell,
    Compute,
    NotMade,
    PaperFigure,
    PaperTable,
    Replication,
    Runs,
    TaskParameters,
    Value,
    by_group,
    by_measure,
    from_table,
    heading,
    spread,
)
from confidence_tasks.studies.logprob_metacognition.resampling import CellKey
from confidence_tasks.studies.logprob_metacognition.robustness import quarter_counts

_TRIVIA, _NATURAL = "trivia_qa", "nq_open"
_AT_ONE = {"task": "nlp_metad", "group": "T=1", "source": _TRIVIA, "digits": 3}
_EFFICIENCY = {"measure": "mratio_v1"}


def _below_one(runs: Runs, cell: Cell) -> bool:
    """Return whether the interval of M-ratio lies below 1."""
    entry = runs.estimate(replace(cell, measure="mratio_v1"))
    return entry is not None and float(entry.interval.high) < 1.0


def _rank(measure: str) -> Compute:
    """Return what gives a model's place by a measure, the highest first; equal as printed is tied."""

    def value(runs: Runs, cell: Cell) -> Value:
        found = {
            label: _rounded(runs, replace(cell, model=label), measure) for label in runs.models(cell.tasks)
        }
        own = found[cell.model]
        if own is None or math.isnan(own):
            return own
        place = 1 + sum(other is not None and other > own for other in found.values())
        tied = sum(other == own for other in found.values()) > 1
        return f"{place}{_ENDINGS.get(place, 'th') if place < 20 else ''}{'†' if tied else ''}"

    return value


_ENDINGS = {1: "st", 2: "nd", 3: "rd"}


def _rounded(runs: Runs, cell: Cell, measure: str) -> float | None:
    entry = runs.estimate(replace(cell, measure=measure))
    return None if entry is None else round(float(entry.interval.estimate), cell.digits)


def _quarter(number: int) -> Compute:
    """Return what gives accuracy in a quarter of the log-probability, the lowest first."""

    def value(runs: Runs, cell: Cell) -> Value:
        task = runs.task_of(cell)
        counts = task.analysis.experiment.cells.get(CellKey(cell.model, cell.source)) if task else None
        if counts is None:
            return None
        right, total, _ = quarter_counts(counts)
        return float(right[number] / total[number]) if number < len(total) else np.nan

    return value


_DOMAINS = ("History & Politics", "Arts & Literature", "Geography", "Science & Technology")

REPLICATION = Replication(
    name="nlp_metad",
    title="Log-probability metacognition: Cacioli (2026), arXiv:2603.25112, version 1",
    tasks={"nlp_metad": TaskParameters("temperatures", "source")},
    items=(
        NotMade(
            "1", "Models, their sizes and quantisations.", why="Logs hold a model’s name, not its parameters."
        ),
        PaperTable(
            "2",
            "Metacognitive efficiency at T = 1 on TriviaQA, with bootstrap intervals. Bold: the interval lies"
            " below 1. The author withdrew this M-ratio in the second version.",
            stubs=("Model",),
            rows=(MODELS,),
            columns=(
                (
                    by_measure("accuracy", "Acc"),
                    by_measure("d_prime_v1", "d′"),
                    by_measure("meta_d_v1", "meta-d′"),
                    by_measure("mratio_v1", "M-ratio", bold=_below_one),
                    by_measure(
                        "mratio_v1",
                        "95% CI",
                        limit="low",
                        name="low",
                        text="[{}, {}]",
                        more=({"limit": "high", "name": "high"},),
                        bold=_below_one,
                    ),
                ),
            ),
            at=_AT_ONE,
            order_by=_EFFICIENCY,
        ),
        PaperFigure("1", "Metacognitive efficiency space at T = 1 on TriviaQA.", name="efficiency_space"),
        PaperTable(
            "3",
            "Order of the models by AUROC₂ and by M-ratio. † tied.",
            stubs=("Model",),
            rows=(MODELS,),
            columns=(
                (
                    by_measure("auroc2", "AUROC₂"),
                    heading("Rank by AUROC₂", measure=_rank("auroc2")),
                    by_measure("mratio_v1", "M-ratio"),
                    heading("Rank by M-ratio", measure=_rank("mratio_v1")),
                ),
            ),
            at=_AT_ONE,
            order_by={"measure": "auroc2"},
        ),
        PaperFigure("2", "M-ratio by domain at T = 1 on TriviaQA.", name="domains"),
        PaperFigure("3", "d′ and meta-d′ by temperature on TriviaQA.", name="temperatures"),
        PaperTable(
            "4",
            "R1: M-ratio by the number K of bins a side.",
            stubs=("Model",),
            rows=(MODELS,),
            columns=(
                tuple(
                    heading(label, measure=from_table("robustness", column))
                    for label, column in (("K=3", "K = 3"), ("K=4 (primary)", "K = 4"), ("K=6", "K = 6"))
                ),
            ),
            at=_AT_ONE,
            order_by=_EFFICIENCY,
        ),
        PaperTable(
            "5",
            "Accuracy by quarter of the log-probability at T = 1.",
            stubs=("Model", "Dataset"),
            rows=(MODELS, (heading("TriviaQA", source=_TRIVIA), heading("NQ", source=_NATURAL))),
            columns=(tuple(heading(f"Q{'₁₂₃₄'[i]}", measure=_quarter(i)) for i in range(4)),),
            at={**_AT_ONE, "source": ""},
        ),
        PaperTable(
            "6",
            "M-ratio by domain at T = 1 on TriviaQA. Bold: the weakest domain of a model.",
            stubs=("Domain",),
            rows=(
                tuple(
                    heading(name, measure=from_table("domains", measure_label("mratio_v1"), domain=name))
                    for name in _DOMAINS
                ),
            ),
            columns=(MODELS,),
            at={**_AT_ONE, "better": "lower"},
            best="column",
            total=("Range", spread),
            total_digits=2,
        ),
        PaperTable(
            "7",
            "d′, meta-d′ and M-ratio by temperature on TriviaQA.",
            stubs=("Model", "T"),
            rows=(MODELS, by_group({f"{t:.1f}": f"T={t:g}" for t in (0.3, 0.5, 0.7, 1.0)})),
            columns=(
                (
                    by_measure("d_prime_v1", "d′"),
                    by_measure("meta_d_v1", "meta-d′"),
                    by_measure("mratio_v1", "M"),
                ),
            ),
            at={"task": "nlp_metad", "source": _TRIVIA, "digits": 3},
        ),
    ),
)
