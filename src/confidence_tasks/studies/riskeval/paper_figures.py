"""The figures of RiskEval's paper, for the models of a report.

Wang, Zhou, Devic & Fu (2026), arXiv:2601.07767. A figure has a column of panels a source, in the paper's order, and
a line a model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from confidence_tasks.report.figures import panels
from confidence_tasks.report.figures.figure import Figure, LegendEntry, Panel
from confidence_tasks.report.figures.general import ModelStyles, line_of_entries
from confidence_tasks.report.figures.panels import Line
from confidence_tasks.report.labels import measure_label, printable

if TYPE_CHECKING:
    from confidence_tasks.report.estimates import Estimated
    from confidence_tasks.report.results import TaskResults
    from confidence_tasks.report.task_trials import ModelTrials

SOURCES: Mapping[str, str] = {"hle": "HLE", "gpqa_diamond": "GPQA Diamond", "gsm8k": "GSM8K"}
"""The paper's question sources, in the order of its figures."""

COMPARABLE = (
    "Comparable with the paper: this package’s penalties from 10 on have a mean threshold of .958, and the paper’s"
    " tables imply .955 to .958."
)
"""Why means over the high penalties compare with the paper's."""

NOT_COMPARABLE = (
    "Not comparable with the paper: the grid of penalties is this package’s, as the paper prints none. Its mean"
    " threshold is .626, and the paper’s tables imply .527 to .530."
)
"""Why means over all penalties do not."""


def entry_of(
    results: TaskResults, model: ModelTrials, group: str, measure: str, source: str
) -> Estimated | None:
    """Return a model's entry of a measure on one source; None where it was not asked."""
    alone = set(map(str, model.columns["source"])) == {source}
    return results.estimate(model.label, group, measure, "" if alone else source)


def figure_1(results: TaskResults, styles: ModelStyles) -> Figure:
    """Figure 1 of the paper, on every source: abstention rate over the penalty."""
    return _over_lambda(results, styles, 1, "Abstention", ["abstention_rate"])


def figure_2(results: TaskResults, styles: ModelStyles) -> Figure:
    """Figure 2 of the paper: mean stated confidence over the penalty."""
    return _over_lambda(results, styles, 2, "Stated confidence", ["confidence"])


def figure_3(results: TaskResults, styles: ModelStyles) -> Figure:
    """Figure 3 of the paper: normalised utility over the penalty."""
    return _over_lambda(results, styles, 3, "Normalised utility", ["normalized_utility"])


def figure_4(results: TaskResults, styles: ModelStyles) -> Figure:
    """Figure 4 of the paper: policy consistency over the penalty."""
    return _over_lambda(results, styles, 4, "Policy consistency", ["policy_consistency"])


def figure_5(results: TaskResults, styles: ModelStyles) -> Figure:
    """Figure 5 of the paper: confidence, AUARC, ECE and Brier score over the penalty, one row each."""
    return _over_lambda(
        results, styles, 5, "Confidence and calibration", ["confidence", "auarc", "ece", "brier"]
    )


def figure_6(results: TaskResults, styles: ModelStyles) -> Figure:
    """Figure 6 of the paper: utility in points and normalised regret over the penalty, one row each."""
    return _over_lambda(results, styles, 6, "Utility and regret", ["utility", "normalized_regret"])


def figure_7(results: TaskResults, styles: ModelStyles) -> Figure:
    """Figure 7 of the paper: abstention, normalised regret and policy consistency where confidence is to decide."""
    told = [model for model in results.models if _strategy(model) == "use_confidence"]
    measures = ["abstention_rate", "normalized_regret", "policy_consistency"]
    return _over_lambda(results, styles, 7, "Told to use confidence", measures, told)


def figure_8(results: TaskResults, styles: ModelStyles) -> Figure:
    """Figure 8 of the paper: what being told to use confidence changes of it and of policy consistency."""
    pairs = [
        (one, other)
        for models in results.asked_in_several_ways.values()
        for one in models
        for other in models
        if (_strategy(one), _strategy(other)) == ("base", "use_confidence")
    ]
    rows = []
    for measure in ("confidence", "policy_consistency"):
        columns = {
            source: [
                _difference(results, *pair, measure, source, styles)
                for pair in pairs
                if _asked(pair[0], source) and _asked(pair[1], source)
            ]
            for source in _sources(results)
        }
        rows.append((f"Δ {measure_label(measure)}", columns))
    return _figure(
        results,
        8,
        "What it changes to be told to use confidence",
        "Told to use its confidence minus not told, under each penalty.",
        rows,
        [LegendEntry(one.name, *styles[one.label]) for one, _ in pairs],
    )


def _strategy(model: ModelTrials) -> str:
    return model.files[-1].setup.get("strategy", "base")


def _sources(results: TaskResults) -> list[str]:
    """Return the sources that were asked, the paper's first and in its order."""
    return [*(name for name in SOURCES if name in results.sources), *sorted({*results.sources} - {*SOURCES})]


def _asked(model: ModelTrials, source: str) -> bool:
    return source in set(map(str, model.columns["source"]))


def _line(results: TaskResults, model: ModelTrials, measure: str, source: str, styles: ModelStyles) -> Line:
    entries = [entry_of(results, model, label, measure, source) for label in results.conditions]
    return line_of_entries(model.label, entries, *styles[model.label])


def _difference(
    results: TaskResults,
    one: ModelTrials,
    other: ModelTrials,
    measure: str,
    source: str,
    styles: ModelStyles,
) -> Line:
    before, after = (_line(results, model, measure, source, styles) for model in (one, other))
    return Line(one.name, before.colour, before.x, after.y - before.y, marker=before.marker)


def _over_lambda(
    results: TaskResults,
    styles: ModelStyles,
    number_: int,
    title: str,
    measures: Sequence[str],
    models: Sequence[ModelTrials] | None = None,
) -> Figure:
    """Draw measures over the penalty: a row a measure, a column a source, a line a model."""
    shown = results.models if models is None else models
    rows = [
        (
            measure_label(measure) if len(measures) > 1 else "",
            {
                source: [
                    _line(results, model, measure, source, styles) for model in shown if _asked(model, source)
                ]
                for source in _sources(results)
            },
        )
        for measure in measures
    ]
    said = ", ".join(measure_label(measure) for measure in measures)
    return _figure(
        results,
        number_,
        title,
        f"{said} under each penalty, with intervals; flat lines do not heed the stakes.",
        rows,
        [LegendEntry(model.label, *styles[model.label]) for model in shown],
    )


def _figure(
    results: TaskResults,
    number_: int,
    title: str,
    caption: str,
    rows: Sequence[tuple[str, Mapping[str, Sequence[Line]]]],
    legend: Sequence[LegendEntry],
) -> Figure:
    ticks = [label.partition("=")[2] for label in results.conditions]
    return Figure(
        f"{results.task_trials.slug}_figure_{number_}",
        f"{title} (figure {number_} of the paper)",
        caption,
        tuple((label, tuple(_panels(columns, ticks))) for label, columns in rows),
        tuple(legend),
        size=(2.5, 1.9),
    )


def _panels(columns: Mapping[str, Sequence[Line]], ticks: Sequence[str]) -> Iterator[Panel]:
    for source, lines in columns.items():
        if lines:
            draw = partial(panels.trends, labels=ticks, lines=lines, x="penalty", y="", lowest=None)
            yield Panel(SOURCES.get(source, printable(source)), draw)


FIGURES = (figure_1, figure_2, figure_3, figure_4, figure_5, figure_6, figure_7, figure_8)
