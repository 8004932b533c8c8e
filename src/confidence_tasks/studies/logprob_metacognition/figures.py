"""Figures of the log-probability study: efficiency space, domains, temperatures, quarters, and robustness."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from confidence_tasks.report.figures import panels
from confidence_tasks.report.figures.figure import Figure, LegendEntry, Panel
from confidence_tasks.report.figures.general import ModelStyles, model_keys
from confidence_tasks.report.figures.panels import Line
from confidence_tasks.report.figures.style import Colour
from confidence_tasks.studies.logprob_metacognition.outcomes import point
from confidence_tasks.studies.logprob_metacognition.report import analysis_of

if TYPE_CHECKING:
    from confidence_tasks.report.results import TaskResults

_WIDE = (7.4, 3.0)


def efficiency_space(results: TaskResults, styles: ModelStyles) -> Figure:
    """Draw meta-d' against d' of version 1 at T = 1."""
    rows = analysis_of(results).hypotheses["H1"].rows
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


def by_domain(results: TaskResults, styles: ModelStyles) -> Figure:
    """Draw meta-information and version 1's M-ratio by domain at T = 1."""
    rows = []
    for name, label, reference in (
        ("H2 by meta-information", "meta-information", None),
        ("H2", "M-ratio", 1.0),
    ):
        points = analysis_of(results).hypotheses[name].rows
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


def by_temperature(results: TaskResults, styles: ModelStyles) -> Figure:
    """Draw d' and meta-d' of version 1 against temperature, as H3 compares them."""
    rows = analysis_of(results).hypotheses["H3"].rows
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
    experiment = analysis_of(results).experiment
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
    rows = analysis_of(results).monotonicity.rows
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
    points = analysis_of(results).robustness_points
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
