"""The tables and figures of RiskEval's paper: Wang, Zhou, Devic & Fu (2026), arXiv:2601.07767."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from confidence_tasks.report.figures import panels
from confidence_tasks.report.figures.figure import Figure, LegendEntry, Panel, panel
from confidence_tasks.report.figures.general import MakeFigure, ModelStyles, line_of_intervals
from confidence_tasks.report.figures.panels import Line
from confidence_tasks.report.labels import measure_label, printable
from confidence_tasks.report.paper import (
    Axis,
    PaperFigure,
    PaperTable,
    Replication,
    TaskParameters,
    by_measure,
)

if TYPE_CHECKING:
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


MeasureLines: TypeAlias = "Callable[[str, str], list[Line]]"
"""Gives the lines of a measure on a source."""


def _over_lambda(number: int, title: str, *measures: str) -> MakeFigure:
    """Return what draws measures over the penalty: a row a measure, a column a source, a line a model."""
    said = ", ".join(map(measure_label, measures))

    def make(results: TaskResults, styles: ModelStyles) -> Figure:
        shown = [model for model in results.models if number != 7 or _strategy(model) == "use_confidence"]
        return _figure(
            results,
            f"{title} (figure {number} of the paper)",
            f"{said} under each penalty, with intervals; flat lines do not heed the stakes.",
            number,
            {measure_label(measure) if len(measures) > 1 else "": measure for measure in measures},
            lambda measure, source: [
                _line(results, model, measure, source, styles) for model in shown if _asked(model, source)
            ],
            [LegendEntry(model.label, *styles[model.label]) for model in shown],
        )

    return make


def _effect_of_strategy(results: TaskResults, styles: ModelStyles) -> Figure:
    """Draw figure 8: what being told to use confidence changes of it and of policy consistency."""
    pairs = [
        (one, other)
        for models in results.asked_in_several_ways.values()
        for one in models
        for other in models
        if (_strategy(one), _strategy(other)) == ("base", "use_confidence")
    ]

    def changes(measure: str, source: str) -> list[Line]:
        changed = []
        for pair in pairs:
            if all(_asked(model, source) for model in pair):
                before, after = (_line(results, model, measure, source, styles) for model in pair)
                changed.append(replace(before, label=pair[0].name, y=after.y - before.y, low=None, high=None))
        return changed

    return _figure(
        results,
        "What it changes to be told to use confidence (figure 8 of the paper)",
        "Told to use its confidence minus not told, under each penalty.",
        8,
        {f"Δ {measure_label(measure)}": measure for measure in ("confidence", "policy_consistency")},
        changes,
        [LegendEntry(one.name, *styles[one.label]) for one, _ in pairs],
    )


def _strategy(model: ModelTrials) -> str:
    return model.files[-1].setup.get("strategy", "base")


def _asked(model: ModelTrials, source: str) -> bool:
    return source in set(map(str, model.columns["source"]))


def _line(results: TaskResults, model: ModelTrials, measure: str, source: str, styles: ModelStyles) -> Line:
    entries = [results.estimate(model.label, label, measure, source) for label in results.conditions]
    intervals = [None if entry is None else entry.interval for entry in entries]
    return line_of_intervals(model.label, intervals, *styles[model.label])


def _figure(
    results: TaskResults,
    title: str,
    caption: str,
    number_: int,
    measures: Mapping[str, str],
    lines_of: MeasureLines,
    legend: Sequence[LegendEntry],
) -> Figure:
    """Draw a row a measure, under its label, and a column a source: the paper's first and in its order."""
    others = sorted({*results.sources} - {*SOURCES})
    sources = [*(name for name in SOURCES if name in results.sources), *others]
    rows = tuple(
        (
            label,
            tuple(
                over_penalties(SOURCES.get(source, printable(source)), results.conditions, lines, "")
                for source in sources
                if (lines := lines_of(measure, source))
            ),
        )
        for label, measure in measures.items()
    )
    name = f"{results.task_trials.slug}_figure_{number_}"
    return Figure(name, title, caption, rows, tuple(legend), size=(2.5, 1.9))


def over_penalties(
    title: str, labels: Sequence[str], lines: Sequence[Line], y: str, lowest: float | None = None
) -> Panel:
    """Return a panel of lines over the penalties that conditions stand for."""
    ticks = [label.partition("=")[2] for label in labels]
    return panel(title, panels.trends, labels=ticks, lines=lines, x="penalty", y=y, lowest=lowest)


FIGURES: tuple[MakeFigure, ...] = (
    _over_lambda(1, "Abstention", "abstention_rate"),
    _over_lambda(2, "Stated confidence", "confidence"),
    _over_lambda(3, "Normalised utility", "normalized_utility"),
    _over_lambda(4, "Policy consistency", "policy_consistency"),
    _over_lambda(5, "Confidence and calibration", "confidence", "auarc", "ece", "brier"),
    _over_lambda(6, "Utility and regret", "utility", "normalized_regret"),
    _over_lambda(7, "Told to use confidence", "abstention_rate", "normalized_regret", "policy_consistency"),
    _effect_of_strategy,
)
"""The last two are of models told to use their confidence."""


_CALIBRATION, _DECISIONS = "Calibration Metrics", "Decision-Making Metrics"

_COLUMNS: Axis = (
    by_measure("auarc", _CALIBRATION, "AUARC ↑"),
    by_measure("ece", _CALIBRATION, "ECE ↓"),
    by_measure("brier", _CALIBRATION, "Brier ↓"),
    by_measure("confidence", _CALIBRATION, "Conf."),
    by_measure("policy_consistency", _DECISIONS, "Pol. Con. ↑"),
    by_measure("normalized_regret", _DECISIONS, "N. Reg. ↓"),
    by_measure("normalized_utility", _DECISIONS, "Norm. Utility ↑ w/ π_M"),
    by_measure(
        "normalized_scaffold_utility",
        _DECISIONS,
        "w/ π*",
        text="{} ({})",
        more=({"measure": "normalized_scaffold_gain", "sign": True, "name": "gain"},),
    ),
)

_HIGH, _ALL = "high_penalty", "all"

_REGIMES = {
    _HIGH: f"means over the penalties from 10 on. {COMPARABLE}",
    _ALL: f"means over all penalties. {NOT_COMPARABLE}",
}


def _table(number: int, source: str, regime: str) -> PaperTable:
    return PaperTable(
        str(number),
        f"{SOURCES[source]}: {_REGIMES[regime]} w/ π_M is the utility of the model’s own decisions over 1 +"
        " penalty, w/ π* that of the optimal policy on its stated confidence, with the gain in brackets. Bold: best;"
        " italics: second best.",
        columns=(_COLUMNS,),
        at={"task": "riskeval", "group": regime, "source": source, "digits": 3},
        best="column",
        second=True,
    )


def _paper_figure(
    number: int, caption: str, parameters: str = "", sources: Mapping[str, str] = SOURCES
) -> PaperFigure:
    return PaperFigure(str(number), caption, name=f"figure_{number}", parameters=parameters, sources=sources)


_TOLD = "-T strategy=use_confidence"

REPLICATION = Replication(
    name="riskeval",
    title="RiskEval: Wang, Zhou, Devic & Fu (2026), arXiv:2601.07767",
    tasks={"riskeval": TaskParameters("penalties", "source")},
    items=(
        _paper_figure(1, "Abstention rate by penalty, on HLE.", sources={"hle": SOURCES["hle"]}),
        _paper_figure(2, "Stated confidence by penalty."),
        _paper_figure(3, "Normalised utility by penalty."),
        _paper_figure(4, "Policy consistency by penalty."),
        _table(1, "hle", _HIGH),
        _paper_figure(5, "Stated confidence, AUARC, ECE and Brier score by penalty."),
        _table(2, "hle", _ALL),
        _table(3, "gpqa_diamond", _ALL),
        _table(4, "gpqa_diamond", _HIGH),
        _table(5, "gsm8k", _ALL),
        _table(6, "gsm8k", _HIGH),
        _paper_figure(6, "Utility in points and normalised regret by penalty."),
        _paper_figure(
            7, "Abstention, normalised regret and policy consistency when told to use confidence.", _TOLD
        ),
        _paper_figure(8, "What it changes to be told to use confidence.", _TOLD),
    ),
)
