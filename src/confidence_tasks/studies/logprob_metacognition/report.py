"""Report of the log-probability study: the valid measures, the replicated tables and the outcome of each hypothesis.

Cacioli (2026), arXiv:2603.25112: measures of its second version, then tables 2 to 7 of its first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import ndtr

from confidence_tasks.drawing import Colour
from confidence_tasks.logs.task_trials import Columns, TaskTrials
from confidence_tasks.report import checks, paper
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.extra_tables import extra_table, interval_cells, trials_frame
from confidence_tasks.report.figures import Figure, LegendEntry, Line, Panel, general, panel, panels
from confidence_tasks.report.figures.general import ModelStyles, figure_of, line_of_intervals, model_keys
from confidence_tasks.report.labels import measure_label, p_value
from confidence_tasks.report.notices import check
from confidence_tasks.report.paper import MODELS, by_measure, heading
from confidence_tasks.report.results import TaskResults
from confidence_tasks.report.study_report import StudyReport
from confidence_tasks.simulation.draws import Draws, accuracy_of
from confidence_tasks.simulation.power_design import METACOGNITION, EffectParameter, PowerDesign
from confidence_tasks.simulation.subject import Subject
from confidence_tasks.statistics import Interval
from confidence_tasks.statistics.core import BoolArray, FloatArray
from confidence_tasks.statistics.information import meta_information_test
from confidence_tasks.studies.logprob_metacognition import paper_2
from confidence_tasks.studies.logprob_metacognition.hypotheses import (
    ROBUSTNESS_CHECKS,
    TEMPERATURES,
    Outcome,
    hypotheses,
    monotonicity,
)
from confidence_tasks.studies.logprob_metacognition.measures import LARGEST_RATIO, MEASURES, RATINGS
from confidence_tasks.studies.logprob_metacognition.replies import CONDITIONS, draw_mean_logprob
from confidence_tasks.studies.logprob_metacognition.resampling import (
    TEMPERATURE,
    VERSION_1,
    Cell,
    CellKey,
    LogprobResampler,
    by_model,
    quarters_of,
    resample,
    version_1,
)

VALID = (
    "meta_information",
    "auroc2",
    "z_roc_slope",
    "d_a",
    "accuracy_50",
    "accuracy_80",
    "accuracy",
    "ece",
    "brier",
)
"""Measures of the second version, accuracy at coverage, and calibration for comparison."""

BY_CONSTRUCTION = (
    "Version 1 takes correctness for the stimulus, so that d′ and meta-d′ are functions of one table: M-ratio is 1 for"
    " evidence of equal variance, however much the model knows about its own correctness. M-ratio changes only with the"
    " ratio of variances and the share of right answers. The author withdrew it in the second version of the paper; the"
    " report has it for comparison with the first."
)
"""Warning that goes with version 1's M-ratio."""


class Analysis(NamedTuple):
    """Resampled cells of all models of the task, and the outcomes of the hypotheses and checks by name."""

    resampler: LogprobResampler
    outcomes: dict[str, Outcome]


def analyse(task_trials: TaskTrials, settings: Settings) -> Analysis:
    """Resample the cells of all models of the task together, and test the hypotheses and the robustness."""
    resampler = resample(trials_frame(task_trials), settings=settings)
    checks = (test(resampler) for test in ROBUSTNESS_CHECKS)
    outcomes = (*hypotheses(resampler), monotonicity(resampler), *checks)
    return Analysis(resampler, {outcome.name: outcome for outcome in outcomes})


# Tables ----------------------------------------------------------------------------------------------------------


@extra_table(
    "verdicts",
    "Hypotheses and robustness checks",
    f"H1 to H4 and R1 to R6 as registered: all of them concern version 1’s M-ratio. {BY_CONSTRUCTION} H2 and H4 by"
    " meta-information test the same on a valid measure, corrected for the number of pairs. The estimate is that of"
    " the deciding case.",
)
def verdicts(results: TaskResults) -> Iterator[dict[str, Any]]:
    """Return the verdict on every hypothesis and robustness check, with the deciding case."""
    for name, outcome in results.analysis.outcomes.items():
        yield {
            "hypothesis": f"{name}: {outcome.title}" if outcome.title != name else name,
            **{name: getattr(outcome, name) for name in ("verdict", "estimate", "low", "high")},
            "case": outcome.about,
            "why": outcome.why,
            "holds if": outcome.rule,
            "n": outcome.n,
        }


@extra_table(
    "valid",
    f"Log-probability as evidence of correctness at T = {TEMPERATURE:g}",
    "The measures of the paper’s second version. Meta-information is the share of the uncertainty about correctness"
    " that the log-probability removes, corrected for bias; p is that of a permutation test of no information. A z-ROC"
    " slope other than 1 means unequal variance. The two further accuracies are those of the most confident 50% and 80%"
    " of the answers. ECE and Brier score use exp(mean log-probability) as confidence.",
)
def valid_measures(results: TaskResults) -> Iterator[dict[str, Any]]:
    """Return the second version's measures at T = 1, with the permutation test of meta-information."""
    for cell in _whole_cells(results):
        test = meta_information_test(
            cell.correct, cell.evidence, questions=cell.questions, seed=results.settings.seed
        )
        row = {"model": cell.key.model, "source": cell.key.source, **_measure_cells(cell, VALID, results)}
        yield {**row, "p": p_value(test.p_value), "n": cell.n}


@extra_table(
    "domains",
    f"By domain at T = {TEMPERATURE:g}",
    "Domains with at least 50 right and 50 wrong questions. All domains share the bins of M-ratio.",
)
def by_domain(results: TaskResults) -> Iterator[dict[str, Any]]:
    """Return table 6 of the first version, with meta-information beside M-ratio."""
    resampler = results.analysis.resampler
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
    for cell in _whole_cells(results, every_temperature=True):
        yield {
            "model": cell.key.model,
            "source": cell.key.source,
            "T": f"{cell.key.temperature:g}",
            **_measure_cells(cell, measures, results),
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
    for test in results.analysis.outcomes["Monotonicity"].tests.to_dict("records"):
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
    for model, intervals in _robustness_intervals(results).items():
        row: dict[str, Any] = {"model": model}
        for label, interval in intervals.items():
            row |= interval_cells(label, interval)
        yield row


def _robustness_intervals(results: TaskResults) -> dict[str, dict[str, Interval]]:
    """Return the M-ratio of every model, as registered and by each check."""
    resampler = results.analysis.resampler
    primary = f"K = {RATINGS}"
    by_label = {cell.key.model: {primary: cell.interval("mratio_v1")} for cell in resampler.testable()}
    for robustness_check in ROBUSTNESS_CHECKS:
        for cell in robustness_check.cells(resampler):
            label, _ = robustness_check.describe(cell)
            by_label[cell.key.model][label] = cell.interval(robustness_check.measure)
    return by_label


def _whole_cells(results: TaskResults, *, every_temperature: bool = False) -> list[Cell]:
    """Return the cell of each model and source at T = 1, or at every temperature."""
    cells: dict[CellKey, Cell] = results.analysis.resampler.cells
    return [
        cell
        for key, cell in cells.items()
        if not (key.domain or key.binning) and (every_temperature or key.temperature == TEMPERATURE)
    ]


def _measure_cells(cell: Cell, measures: Sequence[str], results: TaskResults) -> dict[str, float | str]:
    """Return measures of a cell as in the main table, and the criterion, which is not in the main table."""
    row: dict[str, float | str] = {}
    for name in measures:
        label = measure_label(name)
        if name == "criterion_v1":
            row |= interval_cells(label, cell.measure(name).interval(results.settings))
            continue
        entry = results.estimate(
            cell.key.model, CONDITIONS.label(cell.key.temperature), name, cell.key.source
        )
        row |= interval_cells(label, entry.interval) if entry else {label: np.nan}
    return row


# Checks ----------------------------------------------------------------------------------------------------------


@check(
    "warning",
    "Version 1’s M-ratio is 1 by construction",
    BY_CONSTRUCTION,
)
def m_ratio_by_construction(results: TaskResults) -> Iterable[str]:
    """Name all models: the notice concerns each of them."""
    return [model.label for model in results.models]


@check(
    "note",
    f"No trials at T = {TEMPERATURE:g}",
    "The nearest temperature sets the edges of the bins, and the hypotheses cannot be tested.",
)
def no_reference_temperature(results: TaskResults) -> Iterator[str]:
    """Name models without trials at temperature 1."""
    keys = pd.DataFrame(list(results.analysis.resampler.cells), columns=CellKey._fields)
    for (model, source), temperature in keys.groupby(["model", "source"], sort=False)["temperature"]:
        nearest = temperature.iloc[(temperature - TEMPERATURE).abs().argmin()]
        if nearest != TEMPERATURE:
            yield f"{model}, {source}: T = {nearest:g} instead"


@check(
    "note",
    "Right and wrong answers differ in variance",
    "The z-ROC slope is not 1. Version 1’s M-ratio departs from 1 for that reason alone, in a direction that"
    " depends on the share of right answers; read d_a and meta-information instead.",
)
def unequal_variance(results: TaskResults) -> Iterator[str]:
    """Name models and sources whose z-ROC slope differs from 1."""
    for cell in _whole_cells(results):
        slope = results.estimate(
            cell.key.model, CONDITIONS.label(TEMPERATURE), "z_roc_slope", cell.key.source
        )
        if slope and (slope.interval.low > 1.0 or slope.interval.high < 1.0):
            yield (
                f"{cell.key.model}, {cell.key.source}: slope {slope.interval.estimate:.2f}"
                f" [{slope.interval.low:.2f}, {slope.interval.high:.2f}],"
                f" M-ratio {float(cell.measure('mratio_v1').value):.2f}"
            )


_WIDE = (7.4, 3.0)


@figure_of(
    "efficiency_space",
    "Metacognitive efficiency space, version 1",
    "Meta-d′ with intervals against d′ at T = 1. M-ratio is 1 on the dashed line, where evidence of equal variance lies"
    " by construction.",
    size=(3.4, 2.6),
)
def efficiency_space(results: TaskResults, styles: ModelStyles) -> Iterator[Panel]:
    """Draw meta-d' against d' of version 1 at T = 1."""
    lines = [
        line_of_intervals(
            cell.key.model,
            [cell.interval("meta_d_v1")],
            *styles[cell.key.model],
            x=[cell.measure("d_prime_v1").value],
        )
        for cell in results.analysis.resampler.testable()
    ]
    if lines:
        yield panel("", panels.points, lines=lines, x="d′", y="meta-d′", diagonal=True)


def domain_figure(results: TaskResults, styles: ModelStyles) -> Figure:
    """Draw meta-information and version 1's M-ratio by domain at T = 1."""
    resampler = results.analysis.resampler
    cells = by_model(resampler.testable(domains=resampler.domains), "domain")
    domains = list(dict.fromkeys(domain for parts in cells.values() for domain in parts))
    names = [domain.replace(" & ", "\n& ") for domain in domains]
    rows = []
    for measure, label, reference in (
        ("meta_information", "meta-information", None),
        ("mratio_v1", "M-ratio", 1.0),
    ):
        intervals = {
            model: {domain: cell.interval(measure) for domain, cell in parts.items()}
            for model, parts in cells.items()
        }
        if lines := _lines(intervals, domains, styles):
            drawn = panel("", panels.intervals, labels=names, lines=lines, y=label, reference=reference)
            rows.append(("", (drawn,)))
    return Figure(
        f"{results.task_trials.slug}_domains",
        "By domain",
        "Meta-information (above) and version 1’s M-ratio (below) in each domain at T = 1, with intervals.",
        tuple(rows),
        model_keys(results, styles),
        size=_WIDE,
    )


_SENSITIVITIES = (("d_prime_v1", "d′", Colour.MUTED), ("meta_d_v1", "meta-d′", Colour.RIGHT))


@figure_of(
    "temperatures",
    "d′ and meta-d′ over temperatures, version 1",
    "With intervals; bins have the edges of T = 1 at every temperature. H3 asks for a stable meta-d′ while d′ varies,"
    " although both are functions of one table.",
    keys=tuple(LegendEntry(label, colour) for _, label, colour in _SENSITIVITIES),
    size=(2.4, 2.0),
)
def temperature_figure(results: TaskResults, styles: ModelStyles) -> Iterator[Panel]:
    """Draw d' and meta-d' of version 1 against temperature, as H3 compares them."""
    cells = by_model(results.analysis.resampler.testable(temperatures=TEMPERATURES), "temperature")
    for model, parts in cells.items():
        lines = [
            line_of_intervals(label, [cell.interval(measure) for cell in parts.values()], colour, "")
            for measure, label, colour in _SENSITIVITIES
        ]
        ticks = [f"{temperature:g}" for temperature in parts]
        yield panel(model, panels.trends, labels=ticks, lines=lines, x="temperature", y="", lowest=None)


@figure_of(
    "quarters",
    "Accuracy by quarter of the log-probability",
    "At T = 1, with Wilson’s intervals. A curve that rises throughout shows graded evidence of correctness.",
    size=(2.6, 2.1),
)
def by_quarter(results: TaskResults, styles: ModelStyles) -> Iterator[Panel]:
    """Draw accuracy by quarters of the evidence at T = 1."""
    resampler = results.analysis.resampler
    for source in resampler.sources:
        lines = []
        for cell in resampler.testable(source):
            accuracy, low, high = quarters_of(cell).accuracy
            colour, marker = styles[cell.key.model]
            x = np.arange(len(accuracy), dtype=np.float64)
            lines.append(Line(cell.key.model, colour, x, accuracy, low, high, marker))
        if lines:
            yield panel(source, panels.trends, labels=list("1234"), lines=lines, x="quarter", y="accuracy")


@figure_of(
    "robustness",
    "Robustness of version 1’s M-ratio",
    "At T = 1, with intervals: first as registered, then by each robustness check. A model of unequal variance (R2)"
    " moves M-ratio to 1, because unequal variance is what M-ratio reflects.",
    size=_WIDE,
)
def robustness_figure(results: TaskResults, styles: ModelStyles) -> Iterator[Panel]:
    """Draw version 1's M-ratio as registered and by each robustness check."""
    intervals = _robustness_intervals(results)
    labels = list(dict.fromkeys(label for by_label in intervals.values() for label in by_label))
    if lines := _lines(intervals, labels, styles):
        yield panel("", panels.intervals, labels=labels, lines=lines, y="M-ratio", reference=1.0)


def _lines(
    intervals: Mapping[str, Mapping[str, Interval]], positions: Sequence[str], styles: ModelStyles
) -> list[Line]:
    """Return a line over named positions for each model."""
    return [
        line_of_intervals(model, [by_position.get(name) for name in positions], *styles[model])
        for model, by_position in intervals.items()
    ]


# Power analysis -----------------------------------------------------------------------------------------------

_GRID = 0.03
"""Step in nats to which log-probabilities are rounded, a tenth of their spread, so that many questions are alike."""


def simulate_answers(subject: Subject, temperature: float, draws: Draws) -> tuple[BoolArray, FloatArray]:
    """Return whether each short answer is right, and the mean log-probability of its tokens."""
    correct = ndtr(draws["outcome"]) < accuracy_of(subject, draws)
    return correct, draw_mean_logprob(subject, correct, temperature, draws["evidence"])


def _simulate_replies(subject: Subject, draws: Sequence[Draws], condition: str) -> Columns:
    correct, mean_logprob = simulate_answers(subject, CONDITIONS.number(condition), draws[0])
    return {"correct": correct.astype(np.float64), "mean_logprob": _GRID * np.rint(mean_logprob / _GRID)}


POWER = PowerDesign(
    condition="T=1",
    read_condition=CONDITIONS.label_of,
    n_replies=1,
    replies=_simulate_replies,
    trials=lambda replies, condition: {**replies, "confidence": np.exp(replies["mean_logprob"])},
    effects={
        **dict.fromkeys(("meta_information", "auroc2", "d_a", "mean_logprob_difference"), METACOGNITION),
        "z_roc_slope": EffectParameter("evidence_ratio", 0.3, 3.0),
        "accuracy": EffectParameter("d_prime", 0.0, 4.0),
    },
    every_measure=MEASURES,
)


# Tables and figures of the paper --------------------------------------------------------------------------------

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
    trials = task.analysis.resampler.cells.get(CellKey(cell.model, cell.source)) if task else None
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
                heading("Family", measure=paper.about("family")),
                heading("Params", measure=paper.about("size")),
                heading("Instruct", measure=paper.about("kind", yes_unless="base")),
                heading("Quant size", measure=paper.about("quantised")),
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
                heading(label, measure=paper.from_table("robustness", column))
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
                heading(name, measure=paper.from_table("domains", measure_label("mratio_v1"), domain=name))
                for name in _DOMAINS
            ),
            columns=MODELS,
            at={**_AT_ONE, "better": "lower"},
            best="column",
            total=("Range", paper.spread),
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
)

REPORT = StudyReport(
    figures=(
        by_quarter,
        general.type2_roc,
        general.selective,
        domain_figure,
        efficiency_space,
        temperature_figure,
        robustness_figure,
        *paper_2.FIGURES,
    ),
    tables=(verdicts, valid_measures, quarters, by_domain, by_temperature, robustness_table),
    checks=(*checks.GENERAL, m_ratio_by_construction, unequal_variance, no_reference_temperature),
    cross_condition_distributions=version_1,
    analysis=analyse,
    replication=(REPLICATION, paper_2.REPLICATION),
    power=(POWER,),
)
