"""Figures of version 1 of Cacioli (2026), arXiv:2603.25112, and of its robustness checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from confidence_tasks.drawing import Colour
from confidence_tasks.replications.logprob_metacognition.hypotheses import (
    TEMPERATURES,
    by_model,
    robustness_intervals,
)
from confidence_tasks.report.figures import Figure, LegendEntry, Line, Panel, panel, panels
from confidence_tasks.report.figures.general import ModelStyles, figure_of, line_of_intervals, model_keys
from confidence_tasks.report.results import TaskResults
from confidence_tasks.statistics import Interval

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
        for cell in results.analysis.testable()
    ]
    if lines:
        yield panel("", panels.points, lines=lines, x="d′", y="meta-d′", diagonal=True)


def domain_figure(results: TaskResults, styles: ModelStyles) -> Figure:
    """Draw meta-information and version 1's M-ratio by domain at T = 1."""
    resampler = results.analysis
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
    cells = by_model(results.analysis.testable(temperatures=TEMPERATURES), "temperature")
    for model, parts in cells.items():
        lines = [
            line_of_intervals(label, [cell.interval(measure) for cell in parts.values()], colour, "")
            for measure, label, colour in _SENSITIVITIES
        ]
        ticks = [f"{temperature:g}" for temperature in parts]
        yield panel(model, panels.trends, labels=ticks, lines=lines, x="temperature", y="", lowest=None)


@figure_of(
    "robustness",
    "Version 1’s M-ratio by robustness check",
    "At T = 1, with intervals: first as registered, then by each robustness check. A model of unequal variance (R2)"
    " moves M-ratio to 1, because unequal variance is what M-ratio reflects.",
    size=_WIDE,
)
def robustness_figure(results: TaskResults, styles: ModelStyles) -> Iterator[Panel]:
    """Draw version 1's M-ratio as registered and by each robustness check."""
    intervals = robustness_intervals(results)
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
