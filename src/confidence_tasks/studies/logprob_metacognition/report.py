"""The log-probability study in the report: what is valid, what is replicated, and what became of each hypothesis.

Cacioli (2026), arXiv:2603.25112: tables 2 to 7 of its first version, led by the measures of its second.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr

from confidence_tasks.report import paper
from confidence_tasks.report.checks import check
from confidence_tasks.report.estimates import Settings
from confidence_tasks.report.extra_tables import extra_table, interval_cells, trials_frame
from confidence_tasks.report.figures import Colour, Figure, LegendEntry, Line, Panel, panel, panels
from confidence_tasks.report.figures.general import ModelStyles, figure_of, line_of_rows, model_keys
from confidence_tasks.report.labels import measure_label, p_value
from confidence_tasks.report.paper import MODELS, by_group, by_measure, heading
from confidence_tasks.report.power import METACOGNITION, Draws, EffectParameter, PowerDesign, accuracy_of
from confidence_tasks.report.results import TaskResults
from confidence_tasks.report.task_trials import Columns, TaskTrials
from confidence_tasks.simulation.subject import Subject
from confidence_tasks.statistics.core import BoolArray, FloatArray
from confidence_tasks.statistics.information import meta_information_test
from confidence_tasks.studies.logprob_metacognition.hypotheses import (
    ROBUSTNESS_CHECKS,
    Outcome,
    hypotheses,
    monotonicity,
)
from confidence_tasks.studies.logprob_metacognition.replies import (
    CONDITIONS,
    condition_of,
    mean_logprob_of,
    temperature_of,
)
from confidence_tasks.studies.logprob_metacognition.resampling import (
    TEMPERATURE,
    VERSION_1,
    Cell,
    CellKey,
    LogprobResampler,
    quarter_counts,
    resample,
)
from confidence_tasks.studies.logprob_metacognition.trials import LARGEST_RATIO, MEASURES

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
"""Measures of the second version, accuracy of selective models, and the calibration that they are set against."""

BY_CONSTRUCTION = (
    "With correctness in the place of the stimulus, d′ and meta-d′ are functions of one table: M-ratio is 1 for"
    " evidence of equal variance, however much or little the model knows of what it knows. What moves it are the ratio"
    " of variances and the share of right answers. The author withdrew it in the second version of the paper; it is"
    " here to compare with the first."
)
"""What to know before version 1's M-ratio is read."""


@dataclass(frozen=True, eq=False)
class Analysis:
    """All models of the task, resampled together, and what became of every hypothesis."""

    experiment: LogprobResampler

    @cached_property
    def hypotheses(self) -> dict[str, Outcome]:
        """Outcomes of the hypotheses, by number; H2 and H4 also by meta-information."""
        return {found.name: found for found in hypotheses(self.experiment)}

    @cached_property
    def robustness(self) -> dict[str, Outcome]:
        """Outcomes of the robustness checks, by number."""
        return {found.name: found for found in (check(self.experiment) for check in ROBUSTNESS_CHECKS)}

    @cached_property
    def robustness_points(self) -> pd.DataFrame:
        """M-ratio of every model as registered and by each check, named by ``label``."""
        points = {
            (row["model"], label): {**row, "label": label}
            for name, found in self.robustness.items()
            for row in found.rows.to_dict("records")
            for label in [_way(name, row["way"])]
        }
        return pd.DataFrame(points.values())

    @cached_property
    def monotonicity(self) -> Outcome:
        """Whether accuracy rises with the evidence."""
        return monotonicity(self.experiment)


def _way(check: str, way: str) -> str:
    """Name a way to compute M-ratio: by the number of its check and, where that has several, which."""
    several = {"R1": way.replace("=", " = "), "R4": f"R4 {way}"}
    return "K = 4" if way == "primary" else several.get(check, check)


def analyse(task_trials: TaskTrials, settings: Settings) -> Analysis:
    """Resample what the hypotheses compare, of all models of the task at once."""
    return Analysis(resample(trials_frame(task_trials), settings=settings))


# Tables ----------------------------------------------------------------------------------------------------------


@extra_table(
    "verdicts",
    "Hypotheses and robustness checks",
    f"H1 to H4 and R1 to R6 as registered, all of them about version 1’s M-ratio. {BY_CONSTRUCTION} H2 and H4 by"
    " meta-information, corrected for the number of pairs, ask the same of a measure that is valid. The estimate is"
    " that of the case that decides.",
)
def verdicts(results: TaskResults) -> Iterator[dict[str, Any]]:
    """Return the verdict on every hypothesis and robustness check, with what decided it."""
    analysis = results.analysis
    outcomes = {**analysis.hypotheses, "Monotonicity": analysis.monotonicity, **analysis.robustness}
    for name, outcome in outcomes.items():
        yield {
            "hypothesis": f"{name}: {outcome.title}" if outcome.title != name else name,
            **{name: getattr(outcome, name) for name in ("verdict", "estimate", "low", "high")},
            "of": outcome.about,
            "why": outcome.why,
            "holds if": outcome.rule,
            "n": outcome.n,
        }


@extra_table(
    "valid",
    f"What log-probability tells at T = {TEMPERATURE:g}",
    "The measures of the paper’s second version. Meta-information is the share of the uncertainty about correctness"
    " that the log-probability removes, corrected for bias; p is of the permutation test that it removes none. A"
    " z-ROC slope other than 1 is unequal variance. Accuracies are of the most confident half and four fifths of"
    " the answers. ECE and Brier score take exp(mean log-probability) for the confidence.",
)
def valid_measures(results: TaskResults) -> Iterator[dict[str, Any]]:
    """Return the second version's measures at T = 1, with the permutation test of meta-information."""
    for cell in _at_one(results):
        test = meta_information_test(
            cell.correct, cell.evidence, questions=cell.asked, seed=results.settings.seed
        )
        row = {"model": cell.key.model, "source": cell.key.source, **_measured(cell, VALID, results)}
        yield {**row, "p": p_value(test.p_value), "n": cell.n}


@extra_table(
    "domains",
    f"By domain at T = {TEMPERATURE:g}",
    "Domains with at least 50 right and 50 wrong questions. Bins of M-ratio are those of all domains together.",
)
def by_domain(results: TaskResults) -> Iterable[dict[str, Any]]:
    """Return table 6 of the first version, with meta-information beside M-ratio."""
    analysis = results.analysis
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for name in ("H2 by meta-information", "H2"):
        for each in analysis.hypotheses[name].rows.to_dict("records"):
            key = {name: each[name] for name in ("model", "domain")}
            row = rows.setdefault(tuple(key.values()), key)
            row.pop("n", None)  # the last column
            row |= {**_shown(measure_label(str(each["measure"])), each), "n": each["n"]}
    return rows.values()


@extra_table(
    "temperatures",
    "Over temperatures, version 1",
    f"For replication. {BY_CONSTRUCTION} Bins have the edges of T = {TEMPERATURE:g} at every temperature, those of"
    " meta-information are a condition’s own. Questions are the same, so that rows of a model are paired. The type-2"
    f" criterion is that of calling an answer sure above the median of T = {TEMPERATURE:g}: above 0 few answers are"
    f" sure, below 0 many. Draws with |M| above {LARGEST_RATIO:g} are dropped, and counted.",
)
def by_temperature(results: TaskResults) -> Iterator[dict[str, Any]]:
    """Return tables 2 and 7 of the first version: d', meta-d' and M-ratio over temperatures, edges fixed at T = 1."""
    measures = ("meta_information", "accuracy", *VERSION_1, "criterion_v1")
    for cell in results.analysis.experiment.cells.values():
        if not (cell.key.domain or cell.key.binning):
            place = {"model": cell.key.model, "source": cell.key.source, "T": f"{cell.key.temperature:g}"}
            measured = _measured(cell, measures, results)
            yield {**place, **measured, "draws dropped": cell.n_dropped, "n": cell.n}


@extra_table(
    "quarters",
    f"Accuracy by quarter of the log-probability at T = {TEMPERATURE:g}",
    "It must rise if the log-probability is graded evidence. The paper asks for a strict rise of the four shares; p"
    " is of the hypothesis that somewhere accuracy does not rise.",
)
def quarters(results: TaskResults) -> Iterator[dict[str, Any]]:
    """Return table 5 of the first version: accuracy by quarters of the evidence."""
    for test in results.analysis.monotonicity.tests.to_dict("records"):
        yield (
            {"model": test["what"]}
            | {name: test.get(name, float("nan")) for name in ("q1", "q2", "q3", "q4")}
            | {"rises strictly": "yes" if test["rises"] else "no", "p": p_value(test["p_value"])}
        )


@extra_table(
    "robustness",
    "Version 1’s M-ratio computed otherwise",
    "K = 4 first, then other numbers of bins (R1), unequal variance (R2), bins of equal width (R3), other questions"
    " (R4), the log-probability of the right answer (R5), and as many right as wrong answers (R6).",
)
def other_bins(results: TaskResults) -> Iterable[dict[str, Any]]:
    """Return table 4 of the first version, for every robustness check: M-ratio as it was and computed otherwise."""
    rows: dict[str, dict[str, Any]] = {}
    for each in results.analysis.robustness_points.to_dict("records"):
        row = rows.setdefault(str(each["model"]), {"model": each["model"]})
        row |= _shown(each["label"], each)
    return rows.values()


def _at_one(results: TaskResults) -> list[Cell]:
    """All trials of each model and source at T = 1."""
    cells: dict[CellKey, Cell] = results.analysis.experiment.cells
    return [cell for key, cell in cells.items() if key == CellKey(key.model, key.source)]


def _measured(cell: Cell, measures: Sequence[str], results: TaskResults) -> dict[str, float | str]:
    """Return measures of a cell as the main table has them, and the criterion, which is in none."""
    row: dict[str, float | str] = {}
    for name in measures:
        label = measure_label(name)
        if name == "criterion_v1":
            row |= interval_cells(label, cell.measure(name).interval(results.settings))
            continue
        entry = results.estimate(cell.key.model, condition_of(cell.key.temperature), name, cell.key.source)
        row |= interval_cells(label, entry.interval) if entry else {label: np.nan}
    return row


def _shown(label: str, point: Mapping[Any, Any]) -> dict[str, float]:
    return {label: point["estimate"], f"{label} low": point["low"], f"{label} high": point["high"]}


# Checks ----------------------------------------------------------------------------------------------------------


@check(
    "warning",
    "Version 1’s M-ratio is 1 by construction",
    BY_CONSTRUCTION,
)
def m_ratio_by_construction(results: TaskResults) -> Iterable[str]:
    """Name all models: the notice concerns each."""
    return [model.label for model in results.models]


@check(
    "note",
    f"Not asked at T = {TEMPERATURE:g}",
    "Edges of bins are those of the nearest temperature, and the hypotheses cannot be tested.",
)
def no_reference_temperature(results: TaskResults) -> Iterator[str]:
    """Name models that were not asked at temperature 1, which sets the bins and is tested."""
    experiment = results.analysis.experiment
    for model in experiment.models:
        for source in experiment.sources:
            asked = experiment.temperatures(model, source)
            if asked and TEMPERATURE not in asked:
                nearest = min(asked, key=lambda temperature: abs(temperature - TEMPERATURE))
                yield f"{model}, {source}: T = {nearest:g} instead"


@check(
    "note",
    "Right and wrong answers differ in variance",
    "The z-ROC slope is not 1. Version 1’s M-ratio departs from 1 for that reason alone, in a direction that"
    " depends on the share of right answers; read d_a and meta-information instead.",
)
def unequal_variance(results: TaskResults) -> Iterator[str]:
    """Name where variances differ, which changes version 1's M-ratio."""
    for cell in _at_one(results):
        slope = results.estimate(cell.key.model, condition_of(TEMPERATURE), "z_roc_slope", cell.key.source)
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
    "Meta-d′ with intervals against d′ at T = 1. On the dashed line M-ratio is 1, where evidence of equal variance"
    " lies by construction.",
    size=(3.4, 2.6),
)
def efficiency_space(results: TaskResults, styles: ModelStyles) -> Iterator[Panel]:
    """Draw meta-d' against d' of version 1 at T = 1."""
    rows = results.analysis.hypotheses["H1"].rows
    if len(rows):
        x = rows.loc[rows["measure"] == "d_prime_v1", ["estimate"]].to_numpy(dtype=np.float64)
        drawn = zip(_lines(rows, "measure", ["meta_d_v1"], styles), x, strict=True)
        lines = [replace(line, x=own) for line, own in drawn]
        yield panel("", panels.points, lines=lines, x="d′", y="meta-d′", diagonal=True)


def domain_figure(results: TaskResults, styles: ModelStyles) -> Figure:
    """Draw meta-information and version 1's M-ratio by domain at T = 1."""
    rows = []
    for name, label, reference in (
        ("H2 by meta-information", "meta-information", None),
        ("H2", "M-ratio", 1.0),
    ):
        points = results.analysis.hypotheses[name].rows
        domains = list(dict.fromkeys(points["domain"])) if len(points) else []
        if lines := _lines(points, "domain", domains, styles):
            names = [domain.replace(" & ", "\n& ") for domain in domains]
            drawn = panel("", panels.intervals, labels=names, lines=lines, y=label, reference=reference)
            rows.append(("", (drawn,)))
    return Figure(
        f"{results.task_trials.slug}_domains",
        "By domain",
        "Meta-information, and below it version 1’s M-ratio, in each domain at T = 1, with intervals.",
        tuple(rows),
        model_keys(results, styles),
        size=_WIDE,
    )


_SENSITIVITIES = (("d_prime_v1", "d′", Colour.MUTED), ("meta_d_v1", "meta-d′", Colour.RIGHT))


@figure_of(
    "temperatures",
    "d′ and meta-d′ over temperatures, version 1",
    "With intervals, bins having the edges of T = 1 throughout. H3 asks for a meta-d′ that stays while d′ moves;"
    " both are functions of one table.",
    keys=tuple(LegendEntry(label, colour) for _, label, colour in _SENSITIVITIES),
    size=(2.4, 2.0),
)
def temperature_figure(results: TaskResults, styles: ModelStyles) -> Iterator[Panel]:
    """Draw d' and meta-d' of version 1 against temperature, as H3 compares them."""
    rows = results.analysis.hypotheses["H3"].rows
    for model, of_model in rows.groupby("model", sort=False) if len(rows) else ():
        temperatures = list(dict.fromkeys(of_model["temperature"]))
        lines = [
            line_of_rows(of_model[of_model["measure"] == measure], "temperature", temperatures, label, colour)
            for measure, label, colour in _SENSITIVITIES
        ]
        ticks = [f"{temperature:g}" for temperature in temperatures]
        yield panel(str(model), panels.trends, labels=ticks, lines=lines, x="temperature", y="", lowest=None)


@figure_of(
    "quarters",
    "Accuracy by quarter of the log-probability",
    "At T = 1, with Wilson’s intervals. A curve that rises throughout is graded evidence of correctness.",
    size=(2.6, 2.1),
)
def by_quarter(results: TaskResults, styles: ModelStyles) -> Iterator[Panel]:
    """Draw accuracy by quarters of the evidence at T = 1."""
    rows = results.analysis.monotonicity.rows
    for source, of_source in rows.groupby("source", sort=False) if len(rows) else ():
        lines = _lines(of_source, "quarter", [1, 2, 3, 4], styles)
        yield panel(str(source), panels.trends, labels=list("1234"), lines=lines, x="quarter", y="accuracy")


@figure_of(
    "robustness",
    "Version 1’s M-ratio computed otherwise",
    "At T = 1, with intervals: first as registered, then by each robustness check. That it moves to 1 when"
    " variances may differ (R2) is what it is made of.",
    size=_WIDE,
)
def robustness(results: TaskResults, styles: ModelStyles) -> Iterator[Panel]:
    """Draw version 1's M-ratio as it is and as each robustness check computes it."""
    points = results.analysis.robustness_points
    if len(points):
        labels = list(dict.fromkeys(points["label"]))
        lines = _lines(points, "label", labels, styles)
        yield panel("", panels.intervals, labels=labels, lines=lines, y="M-ratio", reference=1.0)


def _lines(rows: pd.DataFrame, by: str, positions: Sequence[object], styles: ModelStyles) -> list[Line]:
    """Return the points of each model as a line over named positions of a column."""
    by_model = rows.groupby("model", sort=False) if len(rows) else ()
    return [line_of_rows(its, by, positions, str(model), *styles[str(model)]) for model, its in by_model]


# How the study is planned -------------------------------------------------------------------------------------

_GRID = 0.03
"""Step in nats to which log-probabilities are rounded, so that questions are alike: a tenth of their spread."""


def answered_shortly(subject: Subject, temperature: float, draws: Draws) -> tuple[BoolArray, FloatArray]:
    """Return whether each short answer is right, and the mean log-probability of its tokens."""
    correct = ndtr(draws["outcome"]) < accuracy_of(subject, draws)
    return correct, mean_logprob_of(subject, correct, temperature, draws["evidence"])


def _short_replies(subject: Subject, draws: Sequence[Draws], condition: str) -> Columns:
    correct, mean_logprob = answered_shortly(subject, temperature_of(condition), draws[0])
    return {"correct": correct.astype(np.float64), "mean_logprob": _GRID * np.rint(mean_logprob / _GRID)}


POWER = PowerDesign(
    condition="T=1",
    read_condition=CONDITIONS.label_of,
    n_replies=1,
    replies=_short_replies,
    trials=lambda replies, condition: {**replies, "confidence": np.exp(replies["mean_logprob"])},
    effects={
        **dict.fromkeys(("meta_information", "auroc2", "d_a", "mean_logprob_difference"), METACOGNITION),
        "z_roc_slope": EffectParameter("evidence_ratio", 0.3, 3.0),
        "accuracy": EffectParameter("d_prime", 0.0, 4.0),
    },
    every_measure=MEASURES,
)


# The tables and figures of the paper ----------------------------------------------------------------------------

_TRIVIA, _NATURAL = "trivia_qa", "nq_open"
_AT_ONE = {"task": "nlp_metad", "group": "T=1", "source": _TRIVIA, "digits": 3}
_EFFICIENCY = {"measure": "mratio_v1"}
_SENSITIVITY = by_measure("d_prime_v1", "d′"), by_measure("meta_d_v1", "meta-d′")


def _below_one(runs: paper.Runs, cell: paper.Cell) -> bool:
    """Return whether the interval of M-ratio lies below 1."""
    entry = runs.estimate(replace(cell, measure="mratio_v1"))
    return entry is not None and float(entry.interval.high) < 1.0


def _rank(runs: paper.Runs, cell: paper.Cell, by: str) -> paper.Value:
    """Return a model's place by a measure, the highest first; equal as printed is tied."""
    found = {label: _rounded(runs, replace(cell, model=label), by) for label in runs.models(cell.tasks)}
    own = found[cell.model]
    if own is None or np.isnan(own):
        return own
    place = 1 + sum(other is not None and other > own for other in found.values())
    tied = sum(other == own for other in found.values()) > 1
    ending = {1: "st", 2: "nd", 3: "rd"}.get(place, "th" if place < 20 else "")
    return f"{place}{ending}{'†' if tied else ''}"


def _rounded(runs: paper.Runs, cell: paper.Cell, measure: str) -> float | None:
    entry = runs.estimate(replace(cell, measure=measure))
    return None if entry is None else round(float(entry.interval.estimate), cell.digits)


def _quarter(runs: paper.Runs, cell: paper.Cell, number: int) -> paper.Value:
    """Return accuracy in a quarter of the log-probability, the lowest first."""
    task = runs.task_of(cell)
    counts = task.analysis.experiment.cells.get(CellKey(cell.model, cell.source)) if task else None
    if counts is None:
        return None
    right, total, _ = quarter_counts(counts)
    return float(right[number] / total[number]) if number < len(total) else np.nan


_DOMAINS = ("History & Politics", "Arts & Literature", "Geography", "Science & Technology")

REPLICATION = paper.Replication(
    name="nlp_metad",
    title="Log-probability metacognition: Cacioli (2026), arXiv:2603.25112, version 1",
    tasks={"nlp_metad": paper.TaskParameters("temperatures", "source")},
    items=(
        paper.NotMade(
            "1", "Models, their sizes and quantisations.", why="Logs hold a model’s name, not its parameters."
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
            "R1: M-ratio by the number K of bins a side.",
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
            rows=(MODELS, by_group({f"{t:.1f}": f"T={t:g}" for t in (0.3, 0.5, 0.7, 1.0)})),
            columns=(*_SENSITIVITY, by_measure("mratio_v1", "M")),
            at={"task": "nlp_metad", "source": _TRIVIA, "digits": 3},
        ),
    ),
)
