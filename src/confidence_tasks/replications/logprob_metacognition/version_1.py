"""Tables 1 to 7 and figures 1 to 3 of version 1 of Cacioli (2026), arXiv:2603.25112, and its hypotheses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from confidence_tasks.replications.logprob_metacognition.hypotheses import (
    monotonicity,
    outcomes,
    robustness_intervals,
)
from confidence_tasks.replications.logprob_metacognition.version_1_figures import (
    domain_figure,
    efficiency_space,
    robustness_figure,
    temperature_figure,
)
from confidence_tasks.replications.logprob_metacognition.version_2 import valid_measures
from confidence_tasks.replications.numbers import about, from_table, spread
from confidence_tasks.report import paper
from confidence_tasks.report.extra_tables import extra_table, interval_cells
from confidence_tasks.report.labels import measure_label, p_value
from confidence_tasks.report.paper import MODELS, by_measure, heading
from confidence_tasks.report.results import TaskResults
from confidence_tasks.studies.logprob_metacognition.cell_tables import TEMPERATURE, CellKey
from confidence_tasks.studies.logprob_metacognition.fixed_edges import VERSION_1
from confidence_tasks.studies.logprob_metacognition.measures import LARGEST_RATIO
from confidence_tasks.studies.logprob_metacognition.quarters import quarters_of
from confidence_tasks.studies.logprob_metacognition.report import BY_CONSTRUCTION, measure_cells, whole_cells


@extra_table(
    "verdicts",
    "Hypotheses and robustness checks",
    f"H1 to H4 and R1 to R6 as registered: all of them concern version 1’s M-ratio. {BY_CONSTRUCTION} H2 and H4 by"
    " meta-information test the same on a valid measure, corrected for the number of pairs. The estimate is that of"
    " the deciding case.",
)
def verdicts(results: TaskResults) -> Iterator[dict[str, Any]]:
    """Return the verdict on every hypothesis and robustness check, with the deciding case."""
    for name, outcome in outcomes(results.analysis).items():
        yield {
            "hypothesis": f"{name}: {outcome.title}" if outcome.title != name else name,
            **{name: getattr(outcome, name) for name in ("verdict", "estimate", "low", "high")},
            "case": outcome.about,
            "why": outcome.why,
            "holds if": outcome.rule,
            "n": outcome.n,
        }


@extra_table(
    "domains",
    f"By domain at T = {TEMPERATURE:g}",
    "Domains with at least 50 right and 50 wrong questions. All domains share the bins of M-ratio.",
)
def by_domain(results: TaskResults) -> Iterator[dict[str, Any]]:
    """Return table 6 of the first version, with meta-information beside M-ratio."""
    resampler = results.analysis
    for cell in resampler.testable(domains=resampler.domains):
        row: dict[str, Any] = {"model": cell.key.model, "domain": cell.key.domain}
        for measure in ("meta_information", "mratio_v1"):
            row |= interval_cells(measure_label(measure), cell.interval(measure))
        yield {**row, "n": cell.n}


@extra_table(
    "temperatures",
    "Over temperatures, version 1",
    f"For replication. {BY_CONSTRUCTION} Bins have the edges of T = {TEMPERATURE:g} at every temperature, except those"
    " of meta-information, which each condition has of its own. Rows of a model are paired, because the questions are"
    f" the same. The type-2 criterion is set at the median of T = {TEMPERATURE:g}: above 0 few answers exceed it, below"
    f" 0 many. Draws with |M| above {LARGEST_RATIO:g} are dropped and counted.",
)
def by_temperature(results: TaskResults) -> Iterator[dict[str, Any]]:
    """Return tables 2 and 7 of the first version: d', meta-d' and M-ratio over temperatures, edges fixed at T = 1."""
    measures = ("meta_information", "accuracy", *VERSION_1, "criterion_v1")
    for cell in whole_cells(results, every_temperature=True):
        yield {
            "model": cell.key.model,
            "source": cell.key.source,
            "T": f"{cell.key.temperature:g}",
            **measure_cells(cell, measures, results),
            "draws dropped": cell.n_dropped,
            "n": cell.n,
        }


@extra_table(
    "quarters",
    f"Accuracy by quarter of the log-probability at T = {TEMPERATURE:g}",
    "Accuracy must rise if the log-probability is graded evidence. The paper asks for a strict rise of the four"
    " shares; p is that of the null hypothesis that accuracy does not rise at one of the three steps.",
)
def quarters(results: TaskResults) -> Iterator[dict[str, Any]]:
    """Return table 5 of the first version: accuracy by quarters of the evidence."""
    for test in monotonicity(results.analysis).tests.to_dict("records"):
        yield (
            {"model": test["what"]}
            | {name: test.get(name, float("nan")) for name in ("q1", "q2", "q3", "q4")}
            | {"rises strictly": "yes" if test["rises"] else "no", "p": p_value(test["p_value"])}
        )


@extra_table(
    "robustness",
    "Robustness of version 1’s M-ratio",
    "K = 4 first, then other numbers of bins (R1), unequal variance (R2), bins of equal width (R3), other questions"
    " (R4), the log-probability of the right answer (R5), and equal numbers of right and wrong answers (R6).",
)
def robustness_table(results: TaskResults) -> Iterator[dict[str, Any]]:
    """Return table 4 of the first version, with a column for every robustness check."""
    for model, intervals in robustness_intervals(results).items():
        row: dict[str, Any] = {"model": model}
        for label, interval in intervals.items():
            row |= interval_cells(label, interval)
        yield row


_TRIVIA, _NATURAL = "trivia_qa", "nq_open"
_AT_ONE = {"task": "nlp_metad", "group": "T=1", "source": _TRIVIA, "digits": 3}
_EFFICIENCY = {"measure": "mratio_v1"}
_SENSITIVITY = by_measure("d_prime_v1", "d′"), by_measure("meta_d_v1", "meta-d′")


def _below_one(runs: paper.Runs, cell: paper.Cell) -> bool:
    """Return whether the interval of M-ratio lies below 1."""
    entry = runs.estimate(replace(cell, measure="mratio_v1"))
    return entry is not None and float(entry.interval.high) < 1.0


def _rank(runs: paper.Runs, cell: paper.Cell, by: str) -> paper.Value:
    """Return a model's rank by a measure, the highest first; values that are printed alike are tied."""

    def printed(model: str) -> float | None:
        entry = runs.estimate(replace(cell, model=model, measure=by))
        return None if entry is None else round(float(entry.interval.estimate), cell.digits)

    values = {model: printed(model) for model in runs.models(cell.tasks)}
    value = values[cell.model]
    if value is None or np.isnan(value):
        return value
    rank = 1 + sum(other is not None and other > value for other in values.values())
    tied = sum(other == value for other in values.values()) > 1
    ending = {1: "st", 2: "nd", 3: "rd"}.get(rank, "th" if rank < 20 else "")
    return f"{rank}{ending}{'†' if tied else ''}"


def _quarter(runs: paper.Runs, cell: paper.Cell, number: int) -> paper.Value:
    """Return accuracy in a quarter of the log-probability, the lowest first."""
    task = runs.task_of(cell)
    trials = task.analysis.cells.get(CellKey(cell.model, cell.source)) if task else None
    if trials is None:
        return None
    accuracy, _, _ = quarters_of(trials).accuracy
    return float(accuracy[number]) if number < len(accuracy) else np.nan


_DOMAINS = ("History & Politics", "Arts & Literature", "Geography", "Science & Technology")
REPLICATION = paper.Replication(
    name="nlp_metad",
    title="Log-probability metacognition: Cacioli (2026), arXiv:2603.25112, version 1",
    tasks={"nlp_metad": paper.TaskParameters("temperatures", "source")},
    items=(
        paper.PaperTable(
            "1",
            "Models, their sizes and quantisations, as the user’s file has them.",
            columns=(
                heading("Family", measure=about("family")),
                heading("Params", measure=about("size")),
                heading("Instruct", measure=about("kind", yes_unless="base")),
                heading("Quant size", measure=about("quantised")),
            ),
            at={"task": "nlp_metad"},
            of_models=True,
        ),
        paper.PaperTable(
            "2",
            "Metacognitive efficiency at T = 1 on TriviaQA, with bootstrap intervals. Bold: the interval lies"
            " below 1. The author withdrew this M-ratio in the second version.",
            columns=(
                by_measure("accuracy", "Acc"),
                *_SENSITIVITY,
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
            at=_AT_ONE,
            order_by=_EFFICIENCY,
        ),
        paper.PaperFigure(
            "1", "Metacognitive efficiency space at T = 1 on TriviaQA.", name="efficiency_space"
        ),
        paper.PaperTable(
            "3",
            "Order of the models by AUROC₂ and by M-ratio. † tied.",
            columns=(
                by_measure("auroc2", "AUROC₂"),
                heading("Rank by AUROC₂", measure=partial(_rank, by="auroc2")),
                by_measure("mratio_v1", "M-ratio"),
                heading("Rank by M-ratio", measure=partial(_rank, by="mratio_v1")),
            ),
            at=_AT_ONE,
            order_by={"measure": "auroc2"},
        ),
        paper.PaperFigure("2", "M-ratio by domain at T = 1 on TriviaQA.", name="domains"),
        paper.PaperFigure("3", "d′ and meta-d′ by temperature on TriviaQA.", name="temperatures"),
        paper.PaperTable(
            "4",
            "R1: M-ratio by the number K of bins per side.",
            columns=tuple(
                heading(label, measure=from_table("robustness", column))
                for label, column in (("K=3", "K = 3"), ("K=4 (primary)", "K = 4"), ("K=6", "K = 6"))
            ),
            at=_AT_ONE,
            order_by=_EFFICIENCY,
        ),
        paper.PaperTable(
            "5",
            "Accuracy by quarter of the log-probability at T = 1.",
            stubs=("Model", "Dataset"),
            rows=(MODELS, (heading("TriviaQA", source=_TRIVIA), heading("NQ", source=_NATURAL))),
            columns=tuple(heading(f"Q{'₁₂₃₄'[i]}", measure=partial(_quarter, number=i)) for i in range(4)),
            at={**_AT_ONE, "source": ""},
        ),
        paper.PaperTable(
            "6",
            "M-ratio by domain at T = 1 on TriviaQA. Bold: the weakest domain of a model.",
            stubs=("Domain",),
            rows=tuple(
                heading(name, measure=from_table("domains", measure_label("mratio_v1"), domain=name))
                for name in _DOMAINS
            ),
            columns=MODELS,
            at={**_AT_ONE, "better": "lower"},
            best="column",
            total=("Range", spread),
            total_digits=2,
        ),
        paper.PaperTable(
            "7",
            "d′, meta-d′ and M-ratio by temperature on TriviaQA.",
            stubs=("Model", "T"),
            rows=(MODELS, tuple(heading(f"{t:.1f}", group=f"T={t:g}") for t in (0.3, 0.5, 0.7, 1.0))),
            columns=(*_SENSITIVITY, by_measure("mratio_v1", "M")),
            at={"task": "nlp_metad", "source": _TRIVIA, "digits": 3},
        ),
    ),
    figures={"nlp_metad": (domain_figure, efficiency_space, temperature_figure, robustness_figure)},
    tables={
        "nlp_metad": (verdicts, valid_measures, quarters, by_domain, by_temperature, robustness_table),
    },
)
