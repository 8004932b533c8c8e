"""The log-probability study in the report: what is valid, what is replicated, and what became of each hypothesis.

Cacioli (2026), arXiv:2603.25112: tables 2 to 7 of its first version, led by the measures of its second.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from confidence_tasks.report.checks import Notice, notice_if_any
from confidence_tasks.report.estimates import Settings
from confidence_tasks.report.extra_tables import ExtraTable, trials_frame
from confidence_tasks.report.figures import panels
from confidence_tasks.report.figures.figure import Colour, Figure, LegendEntry, Panel
from confidence_tasks.report.figures.general import ModelStyles, model_keys
from confidence_tasks.report.figures.panels import Line
from confidence_tasks.report.labels import measure_label, p_value
from confidence_tasks.statistics.information import meta_information_test
from confidence_tasks.studies.logprob_metacognition.hypotheses import Outcome, hypotheses, limits, point
from confidence_tasks.studies.logprob_metacognition.prompts import condition_of
from confidence_tasks.studies.logprob_metacognition.resampling import (
    TEMPERATURE,
    VERSION_1,
    Cell,
    CellKey,
    LogprobResampler,
    resample,
)
from confidence_tasks.studies.logprob_metacognition.robustness import ROBUSTNESS_CHECKS, monotonicity
from confidence_tasks.studies.logprob_metacognition.trials import LARGEST_RATIO

if TYPE_CHECKING:
    from confidence_tasks.report.results import TaskResults
    from confidence_tasks.report.task_trials import TaskTrials


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

COLUMNS_OF_VERSION_1 = ("accuracy", *VERSION_1)
"""Columns of table 2 of the first version."""

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
        """What became of the hypotheses, by number; H2 and H4 also by meta-information."""
        return {_unique(found): found for found in hypotheses(self.experiment)}

    @cached_property
    def robustness(self) -> dict[str, Outcome]:
        """What became of the robustness checks, by number."""
        return {found.name: found for found in (check(self.experiment) for check in ROBUSTNESS_CHECKS)}

    @cached_property
    def robustness_points(self) -> pd.DataFrame:
        """M-ratio of every model as registered and by each check, named by ``label``."""
        parts = [found.rows.assign(check=name) for name, found in self.robustness.items() if len(found.rows)]
        if not parts:
            return pd.DataFrame()
        points = pd.concat(parts, ignore_index=True)
        return points.assign(label=list(map(_way, points.to_dict("records")))).drop_duplicates(
            ["model", "label"]
        )

    @cached_property
    def monotonicity(self) -> Outcome:
        """Whether accuracy rises with the evidence."""
        return monotonicity(self.experiment)


def _way(point: Mapping[Any, Any]) -> str:
    """Name a way to compute M-ratio: by the number of its check and, where that has several, which."""
    if point["way"] == "primary":
        return "K = 4"
    several = {"R1": str(point["way"]).replace("=", " = "), "R4": f"R4 {point['way']}"}
    return several.get(point["check"], str(point["check"]))


def _unique(found: Outcome) -> str:
    return f"{found.name} by meta-information" if "meta-information" in found.claim else found.name


def analyse(task_trials: TaskTrials, settings: Settings) -> Analysis:
    """Resample what the hypotheses compare, of all models of the task at once."""
    return Analysis(resample(trials_frame(task_trials), settings=settings))


# Tables ----------------------------------------------------------------------------------------------------------


def verdicts(results: TaskResults) -> ExtraTable:
    """Return the verdict on every hypothesis and robustness check, with what decided it."""
    analysis = results.analysis
    outcomes = {**analysis.hypotheses, "Monotonicity": analysis.monotonicity, **analysis.robustness}
    rows = [
        {
            "hypothesis": f"{name}: {outcome.title}" if outcome.title != name else name,
            "verdict": outcome.verdict,
            "estimate": outcome.estimate,
            "low": outcome.low,
            "high": outcome.high,
            "of": outcome.about,
            "why": outcome.why,
            "holds if": outcome.rule,
            "n": outcome.n,
        }
        for name, outcome in outcomes.items()
    ]
    return ExtraTable(
        f"{results.task_trials.slug}_verdicts",
        "Hypotheses and robustness checks",
        f"H1 to H4 and R1 to R6 as registered, all of them about version 1’s M-ratio. {BY_CONSTRUCTION} H2 and H4 by"
        " meta-information, corrected for the number of pairs, ask the same of a measure that is valid. The estimate is"
        " that of the case that decides.",
        pd.DataFrame(rows),
        {"estimate": ("low", "high")},
    )


def valid_measures(results: TaskResults) -> ExtraTable:
    """Return the second version's measures at T = 1, with the permutation test of meta-information."""
    rows = []
    for cell in _at_one(results):
        test = meta_information_test(
            cell.correct, cell.evidence, questions=cell.asked, seed=results.settings.seed
        )
        row = _labels(cell) | _measured(cell, VALID, results)
        rows.append(row | {"p": p_value(test.p_value), "n": cell.n})
    return _table(
        results,
        "valid",
        f"What log-probability tells at T = {TEMPERATURE:g}",
        "The measures of the paper’s second version. Meta-information is the share of the uncertainty about correctness"
        " that the log-probability removes, corrected for bias; p is of the permutation test that it removes none. A"
        " z-ROC slope other than 1 is unequal variance. Accuracies are of the most confident half and four fifths of"
        " the answers. ECE and Brier score take exp(mean log-probability) for the confidence.",
        rows,
        VALID,
    )


def version_1(results: TaskResults) -> ExtraTable:
    """Return table 2 of the first version."""
    return _table(
        results,
        "version_1",
        "Metacognitive efficiency, version 1",
        f"For replication. {BY_CONSTRUCTION} Draws with |M| above {LARGEST_RATIO:g} are dropped, and counted.",
        [
            _labels(cell)
            | _measured(cell, COLUMNS_OF_VERSION_1, results)
            | {"draws dropped": cell.n_dropped, "n": cell.n}
            for cell in _at_one(results)
        ],
        COLUMNS_OF_VERSION_1,
    )


def rankings(results: TaskResults) -> ExtraTable:
    """Return table 3 of the first version: the order of the models by each measure."""
    ranked = ("meta_information", "auroc2", "mratio_v1")
    cells = [
        cell for cell in _at_one(results) if cell.key.source == results.analysis.experiment.primary_source
    ]
    frame = pd.DataFrame(
        [
            {"model": cell.key.model}
            | {measure_label(name): _measured(cell, [name], results)[measure_label(name)] for name in ranked}
            for cell in cells
        ]
    )
    if len(frame) < 2:
        frame = frame.iloc[:0]
    for position, name in enumerate(list(frame.columns[1:]), start=1):
        ranks = frame[name].rank(ascending=False, method="min")
        frame.insert(2 * position, f"rank by {name}", ranks.fillna(len(ranks)).astype(int))
    return ExtraTable(
        f"{results.task_trials.slug}_rankings",
        "Order of the models",
        "The first version found the order by AUROC₂ and by M-ratio inverted. AUROC₂ and meta-information follow how"
        " far right and wrong answers lie apart; version 1’s M-ratio follows the ratio of their variances.",
        frame,
    )


def by_domain(results: TaskResults) -> ExtraTable:
    """Return table 6 of the first version, with meta-information beside M-ratio."""
    analysis = results.analysis
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    sizes: dict[tuple[str, str], int] = {}
    for name in ("H2 by meta-information", "H2"):
        for each in analysis.hypotheses[name].rows.to_dict("records"):
            key = each["model"], each["domain"]
            row = rows.setdefault(key, {"model": each["model"], "domain": each["domain"]})
            row |= _shown(str(each["measure"]), each)
            sizes[key] = each["n"]
    return _table(
        results,
        "domains",
        f"By domain at T = {TEMPERATURE:g}",
        "Domains with at least 50 right and 50 wrong questions. Bins of M-ratio are those of all domains together.",
        [{**row, "n": sizes[key]} for key, row in rows.items()],
        ("meta_information", "mratio_v1"),
    )


def by_temperature(results: TaskResults) -> ExtraTable:
    """Return table 7 of the first version: d', meta-d' and M-ratio over temperatures, edges fixed at T = 1."""
    experiment = results.analysis.experiment
    measures = ("meta_information", *COLUMNS_OF_VERSION_1, "criterion_v1")
    rows = [
        {"model": cell.key.model, "source": cell.key.source, "T": f"{cell.key.temperature:g}"}
        | _measured(cell, measures, results)
        | {"n": cell.n}
        for cell in experiment.cells.values()
        if not (cell.key.domain or cell.key.binning)
    ]
    return _table(
        results,
        "temperatures",
        "Over temperatures",
        f"Bins have the edges of T = {TEMPERATURE:g} at every temperature, those of meta-information are a condition’s"
        " own. Questions are the same, so that rows of a model are paired. The type-2 criterion is that of calling an"
        f" answer sure above the median of T = {TEMPERATURE:g}: above 0 few answers are sure, below 0 many.",
        rows,
        measures,
    )


def quarters(results: TaskResults) -> ExtraTable:
    """Return table 5 of the first version: accuracy by quarters of the evidence."""
    rows = [
        {"model": test["what"]}
        | {name: test.get(name, float("nan")) for name in ("q1", "q2", "q3", "q4")}
        | {"rises strictly": "yes" if test["rises"] else "no", "p": p_value(test["p_value"])}
        for test in results.analysis.monotonicity.tests.to_dict("records")
    ]
    return ExtraTable(
        f"{results.task_trials.slug}_quarters",
        f"Accuracy by quarter of the log-probability at T = {TEMPERATURE:g}",
        "It must rise if the log-probability is graded evidence. The paper asks for a strict rise of the four shares; p"
        " is of the hypothesis that somewhere accuracy does not rise.",
        pd.DataFrame(rows),
    )


def other_bins(results: TaskResults) -> ExtraTable:
    """Return table 4 of the first version, for every robustness check: M-ratio as it was and computed otherwise."""
    points = results.analysis.robustness_points
    rows: dict[str, dict[str, Any]] = {}
    for each in points.to_dict("records"):
        row = rows.setdefault(str(each["model"]), {"model": each["model"]})
        row |= {each["label"]: each["value"]}
        row |= {f"{each['label']} {limit}": each[limit] for limit in ("low", "high")}
    labels = list(dict.fromkeys(points["label"])) if len(points) else []
    return ExtraTable(
        f"{results.task_trials.slug}_robustness",
        "Version 1’s M-ratio computed otherwise",
        "K = 4 first, then other numbers of bins (R1), unequal variance (R2), bins of equal width (R3), other questions"
        " (R4), the log-probability of the right answer (R5), and as many right as wrong answers (R6).",
        pd.DataFrame(list(rows.values())),
        {label: (f"{label} low", f"{label} high") for label in labels},
    )


def _at_one(results: TaskResults) -> list[Cell]:
    """All trials of each model and source at T = 1."""
    cells: Mapping[CellKey, Cell] = results.analysis.experiment.cells
    return [cell for key, cell in cells.items() if key == CellKey(key.model, key.source, TEMPERATURE)]


def _labels(cell: Cell) -> dict[str, Any]:
    return {"model": cell.key.model, "source": cell.key.source}


def _measured(cell: Cell, measures: Sequence[str], results: TaskResults) -> dict[str, float]:
    """Return measures of a cell as the main table has them, and the criterion, which is in none."""
    row: dict[str, float] = {}
    for name in measures:
        if name == "criterion_v1":
            found = limits(cell.measure(name), results.settings)
        else:
            condition = condition_of(cell.key.temperature)
            entry = results.estimate(cell.key.model, condition, name, cell.key.source)
            found = {
                limit: float(getattr(entry.interval, limit)) if entry else np.nan
                for limit in ("estimate", "low", "high")
            }
        row |= _shown(name, {"value": found["estimate"], **found})
    return row


def _shown(measure: str, point: Mapping[Any, Any]) -> dict[str, float]:
    label = measure_label(measure)
    return {label: point["value"], f"{label} low": point["low"], f"{label} high": point["high"]}


def _table(
    results: TaskResults,
    name: str,
    title: str,
    note: str,
    rows: Sequence[Mapping[str, Any]],
    measures: Sequence[str],
) -> ExtraTable:
    labels = [measure_label(measure) for measure in measures]
    return ExtraTable(
        f"{results.task_trials.slug}_{name}",
        title,
        note,
        pd.DataFrame(list(rows)),
        {label: (f"{label} low", f"{label} high") for label in labels},
    )


# Checks ----------------------------------------------------------------------------------------------------------


def m_ratio_by_construction(results: TaskResults) -> Iterator[Notice]:
    """What version 1's M-ratio is not."""
    measured = [model.label for model in results.models]
    yield from notice_if_any("warning", "Version 1’s M-ratio is 1 by construction", BY_CONSTRUCTION, measured)


def no_reference_temperature(results: TaskResults) -> Iterator[Notice]:
    """Models that were not asked at the temperature that edges and hypotheses are of."""
    experiment = results.analysis.experiment
    where = []
    for model in experiment.models:
        for source in experiment.sources:
            asked = experiment.temperatures(model, source)
            if asked and TEMPERATURE not in asked:
                nearest = min(asked, key=lambda temperature: abs(temperature - TEMPERATURE))
                where.append(f"{model}, {source}: T = {nearest:g} instead")
    yield from notice_if_any(
        "note",
        f"Not asked at T = {TEMPERATURE:g}",
        "Edges of bins are those of the nearest temperature, and the hypotheses cannot be tested.",
        where,
    )


def unequal_variance(results: TaskResults) -> Iterator[Notice]:
    """Where variances differ, which is what moves version 1's M-ratio."""
    where = []
    for cell in _at_one(results):
        slope = results.estimate(cell.key.model, condition_of(TEMPERATURE), "z_roc_slope", cell.key.source)
        if slope and (slope.interval.low > 1.0 or slope.interval.high < 1.0):
            where.append(
                f"{cell.key.model}, {cell.key.source}: slope {slope.interval.estimate:.2f}"
                f" [{slope.interval.low:.2f}, {slope.interval.high:.2f}],"
                f" M-ratio {float(cell.measure('mratio_v1').value):.2f}"
            )
    yield from notice_if_any(
        "note",
        "Right and wrong answers differ in variance",
        "The z-ROC slope is not 1. Version 1’s M-ratio departs from 1 for that reason alone, in a direction that"
        " depends on the share of right answers; read d_a and meta-information instead.",
        where,
    )


_WIDE = (7.4, 3.0)


def efficiency_space(results: TaskResults, styles: ModelStyles) -> Figure:
    """Draw meta-d' against d' of version 1 at T = 1."""
    rows = results.analysis.hypotheses["H1"].rows
    lines = []
    for model in _models(rows):
        of_model = rows[rows["model"] == model].set_index("measure")
        y, low, high = (
            of_model.loc[["meta_d_v1"], name].to_numpy(dtype=np.float64) for name in ("value", "low", "high")
        )
        x = of_model.loc[["d_prime_v1"], "value"].to_numpy(dtype=np.float64)
        lines.append(Line(model, styles[model][0], x, y, low, high, styles[model][1]))
    draw = partial(panels.points, lines=lines, x="d′", y="meta-d′", diagonal=True)
    return Figure(
        f"{results.task_trials.slug}_efficiency_space",
        "Metacognitive efficiency space, version 1",
        "Meta-d′ with intervals against d′ at T = 1. On the dashed line M-ratio is 1, where evidence of equal variance"
        " lies by construction.",
        (("", (Panel("", draw),)),) if lines else (),
        model_keys(results, styles),
        size=(3.4, 2.6),
    )


def domain_figure(results: TaskResults, styles: ModelStyles) -> Figure:
    """Draw meta-information and version 1's M-ratio by domain at T = 1."""
    rows = []
    for name, label, reference in (
        ("H2 by meta-information", "meta-information", None),
        ("H2", "M-ratio", 1.0),
    ):
        points = results.analysis.hypotheses[name].rows
        domains = list(dict.fromkeys(points["domain"])) if len(points) else []
        lines = [_line(points, model, "domain", domains, styles) for model in _models(points)]
        if lines:
            names = [domain.replace(" & ", "\n& ") for domain in domains]
            draw = partial(panels.intervals, labels=names, lines=lines, y=label, reference=reference)
            rows.append(("", (Panel("", draw),)))
    return Figure(
        f"{results.task_trials.slug}_domains",
        "By domain",
        "Meta-information, and below it version 1’s M-ratio, in each domain at T = 1, with intervals.",
        tuple(rows),
        model_keys(results, styles),
        size=_WIDE,
    )


def temperature_figure(results: TaskResults, styles: ModelStyles) -> Figure:
    """Draw d' and meta-d' of version 1 against temperature, as H3 compares them."""
    rows = results.analysis.hypotheses["H3"].rows
    its_panels = []
    for model in _models(rows):
        of_model = rows[rows["model"] == model]
        temperatures = list(dict.fromkeys(of_model["temperature"]))
        lines = [
            _points(of_model[of_model["measure"] == measure], "temperature", temperatures, label, colour)
            for measure, label, colour in _SENSITIVITIES
        ]
        ticks = [f"{temperature:g}" for temperature in temperatures]
        draw = partial(panels.trends, labels=ticks, lines=lines, x="temperature", y="", lowest=None)
        its_panels.append(Panel(model, draw))
    return Figure(
        f"{results.task_trials.slug}_temperatures",
        "d′ and meta-d′ over temperatures, version 1",
        "With intervals, bins having the edges of T = 1 throughout. H3 asks for a meta-d′ that stays while d′ moves;"
        " both are functions of one table.",
        (("", tuple(its_panels)),),
        tuple(LegendEntry(label, colour) for _, label, colour in _SENSITIVITIES),
        size=(2.4, 2.0),
    )


_SENSITIVITIES = (("d_prime_v1", "d′", Colour.MUTED), ("meta_d_v1", "meta-d′", Colour.RIGHT))


def criterion_by_temperature(results: TaskResults, styles: ModelStyles) -> Figure:
    """Draw the type-2 criterion against temperature, which the paper says temperature moves."""
    experiment = results.analysis.experiment
    its_panels = []
    for source in experiment.sources:
        of_source = [
            key for key in experiment.cells if key.source == source and not (key.domain or key.binning)
        ]
        temperatures = sorted({key.temperature for key in of_source})
        rows = pd.DataFrame(
            [
                point(
                    experiment.cells[key],
                    "criterion_v1",
                    experiment.settings,
                    model=key.model,
                    temperature=key.temperature,
                )
                for key in of_source
            ]
        )
        lines = [_line(rows, model, "temperature", temperatures, styles) for model in _models(rows)]
        ticks = [f"{temperature:g}" for temperature in temperatures]
        draw = partial(panels.trends, labels=ticks, lines=lines, x="temperature", y="criterion", lowest=None)
        if len(temperatures) > 1:
            its_panels.append(Panel(source, draw))
    return Figure(
        f"{results.task_trials.slug}_criterion",
        "Type-2 criterion over temperatures",
        "Of calling an answer sure whose log-probability is above the median of T = 1, with intervals: above 0 few"
        " answers are sure, below 0 many. The paper holds that temperature moves it and leaves meta-d′ alone.",
        (("", tuple(its_panels)),),
        model_keys(results, styles),
        size=(2.6, 2.1),
    )


def by_quarter(results: TaskResults, styles: ModelStyles) -> Figure:
    """Draw accuracy by quarters of the evidence at T = 1."""
    rows = results.analysis.monotonicity.rows
    its_panels = []
    for source in dict.fromkeys(rows["source"]) if len(rows) else ():
        of_source = rows[rows["source"] == source]
        lines = [_line(of_source, model, "quarter", [1, 2, 3, 4], styles) for model in _models(of_source)]
        draw = partial(panels.trends, labels=list("1234"), lines=lines, x="quarter", y="accuracy")
        its_panels.append(Panel(str(source), draw))
    return Figure(
        f"{results.task_trials.slug}_quarters",
        "Accuracy by quarter of the log-probability",
        "At T = 1, with Wilson’s intervals. A curve that rises throughout is graded evidence of correctness.",
        (("", tuple(its_panels)),),
        model_keys(results, styles),
        size=(2.6, 2.1),
    )


def robustness(results: TaskResults, styles: ModelStyles) -> Figure:
    """Draw version 1's M-ratio as it is and as each robustness check computes it."""
    points = results.analysis.robustness_points
    labels = list(dict.fromkeys(points["label"])) if len(points) else []
    lines = [_line(points, model, "label", labels, styles) for model in _models(points)]
    draw = partial(panels.intervals, labels=labels, lines=lines, y="M-ratio", reference=1.0)
    return Figure(
        f"{results.task_trials.slug}_robustness",
        "Version 1’s M-ratio computed otherwise",
        "At T = 1, with intervals: first as registered, then by each robustness check. That it moves to 1 when"
        " variances may differ (R2) is what it is made of.",
        (("", (Panel("", draw),)),) if lines else (),
        model_keys(results, styles),
        size=_WIDE,
    )


def _models(rows: pd.DataFrame) -> list[str]:
    return list(dict.fromkeys(rows["model"])) if len(rows) else []


def _line(rows: pd.DataFrame, model: str, by: str, positions: Sequence[object], styles: ModelStyles) -> Line:
    return _points(rows[rows["model"] == model], by, positions, model, *styles[model])


def _points(
    rows: pd.DataFrame, by: str, positions: Sequence[object], label: str, colour: Colour, marker: str = ""
) -> Line:
    """Return the points of one series at named places; those that it lacks are NaN."""
    placed = rows.drop_duplicates(by).set_index(by).reindex(list(positions))
    y, low, high = (placed[name].to_numpy(dtype=np.float64) for name in ("value", "low", "high"))
    return Line(label, colour, np.arange(len(positions), dtype=np.float64), y, low, high, marker)
