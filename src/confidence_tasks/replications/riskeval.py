"""Tables 1 to 6 and figures 1 to 8 of Wang, Zhou, Devic & Fu (2026), arXiv:2601.07767, on RiskEval."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from confidence_tasks.logs.task_trials import ModelTrials
from confidence_tasks.logs.texts import printable
from confidence_tasks.report import paper
from confidence_tasks.report.figures import Figure, LegendEntry, Line
from confidence_tasks.report.figures.general import MakeFigure, ModelStyles, interval_line
from confidence_tasks.report.labels import measure_label
from confidence_tasks.report.paper import by_measure
from confidence_tasks.report.results import TaskResults
from confidence_tasks.studies.riskeval.report import COMPARABLE, NOT_COMPARABLE, penalty_panel

SOURCES: Mapping[str, str] = {"hle": "HLE", "gpqa_diamond": "GPQA Diamond", "gsm8k": "GSM8K"}
"""The paper's question sources, in the order of its figures."""

_SIZE = (2.5, 1.9)

_FIGURES_OVER_PENALTIES: Mapping[int, tuple[str, ...]] = {
    1: ("Abstention", "abstention_rate"),
    2: ("Stated confidence", "confidence"),
    3: ("Normalised utility", "normalized_utility"),
    4: ("Policy consistency", "policy_consistency"),
    5: ("Confidence and calibration", "confidence", "auarc", "ece", "brier"),
    6: ("Utility and regret", "utility", "normalized_regret"),
    7: ("Instruction to use confidence", "abstention_rate", "normalized_regret", "policy_consistency"),
}
"""Figures of the paper by number: their titles, and the measures that they draw over the penalty."""

_STRATEGY_FIGURES = (7, 8)
"""Numbers of the figures of models with ``strategy=use_confidence``."""


def _figure_over_penalties(results: TaskResults, styles: ModelStyles, number: int) -> Figure:
    """Draw a figure of the paper, with a row per measure, a column per source and a line per model."""
    title, *measures = _FIGURES_OVER_PENALTIES[number]
    models = [
        model
        for model in results.models
        if number not in _STRATEGY_FIGURES or _strategy(model) == "use_confidence"
    ]

    def make_lines(measure: str, source: str) -> list[Line]:
        asked = [model for model in models if source in model.columns["source"]]
        return [_line(results, model, measure, source, styles) for model in asked]

    return _figure(
        results,
        f"{title} (figure {number} of the paper)",
        f"{', '.join(map(measure_label, measures))} under each penalty, with intervals.",
        number,
        {measure_label(measure) if len(measures) > 1 else "": measure for measure in measures},
        make_lines,
        [LegendEntry(model.label, *styles[model.label]) for model in models],
    )


def _effect_of_strategy(results: TaskResults, styles: ModelStyles) -> Figure:
    """Draw figure 8: the effect of ``strategy=use_confidence`` on confidence and policy consistency."""
    pairs = [
        (base, other)
        for models in results.variants_by_model.values()
        for base in models
        for other in models
        if (_strategy(base), _strategy(other)) == ("base", "use_confidence")
    ]

    def make_lines(measure: str, source: str) -> list[Line]:
        lines = []
        for pair in pairs:
            if all(source in model.columns["source"] for model in pair):
                before, after = (_line(results, model, measure, source, styles) for model in pair)
                lines.append(replace(before, label=pair[0].name, y=after.y - before.y, low=None, high=None))
        return lines

    return _figure(
        results,
        "Effect of the instruction to use confidence (figure 8 of the paper)",
        "Value with the instruction to use confidence minus value without it, under each penalty.",
        8,
        {f"Δ {measure_label(measure)}": measure for measure in ("confidence", "policy_consistency")},
        make_lines,
        [LegendEntry(base.name, *styles[base.label]) for base, _ in pairs],
    )


def _strategy(model: ModelTrials) -> str:
    return model.files[-1].parameters.get("strategy", "base")


def _line(results: TaskResults, model: ModelTrials, measure: str, source: str, styles: ModelStyles) -> Line:
    style = styles[model.label]
    return interval_line(results, model.label, results.conditions, measure, *style, source=source)


def _figure(
    results: TaskResults,
    title: str,
    caption: str,
    number: int,
    measures: Mapping[str, str],
    make_lines: Callable[[str, str], list[Line]],
    legend: Sequence[LegendEntry],
) -> Figure:
    """Draw a row per measure, by label, and a column per source: the paper's sources in its order, then others."""
    others = sorted({*results.sources} - {*SOURCES})
    sources = [*(name for name in SOURCES if name in results.sources), *others]
    rows = tuple(
        (
            label,
            tuple(
                penalty_panel(SOURCES.get(source, printable(source)), results.conditions, lines, "")
                for source in sources
                if (lines := make_lines(measure, source))
            ),
        )
        for label, measure in measures.items()
    )
    name = f"{results.task_trials.slug}_figure_{number}"
    return Figure(name, title, caption, rows, tuple(legend), size=_SIZE)


FIGURES: tuple[MakeFigure, ...] = (
    *(partial(_figure_over_penalties, number=number) for number in _FIGURES_OVER_PENALTIES),
    _effect_of_strategy,
)


_CALIBRATION, _DECISIONS = "Calibration Metrics", "Decision-Making Metrics"

_COLUMNS: paper.Axis = (
    by_measure("auarc", _CALIBRATION, "AUARC ↑"),
    by_measure("ece", _CALIBRATION, "ECE ↓"),
    by_measure("brier", _CALIBRATION, "Brier ↓"),
    by_measure("confidence", _CALIBRATION, "Conf."),
    by_measure("policy_consistency", _DECISIONS, "Pol. Con. ↑"),
    by_measure("normalized_regret", _DECISIONS, "N. Reg. ↓"),
    by_measure("normalized_compared_utility", _DECISIONS, "Norm. Utility ↑ w/ π_M"),
    by_measure(
        "normalized_scaffold_utility",
        _DECISIONS,
        "w/ π*",
        text="{} ({})",
        more=({"measure": "normalized_scaffold_gain", "sign": True, "name": "gain"},),
    ),
    by_measure("n_compared", _DECISIONS, "n", digits=0),
)

_HIGH, _ALL = "high_penalty", "all"

_REGIMES = {
    _HIGH: f"means over the penalties from 10 on. {COMPARABLE}",
    _ALL: f"means over all penalties. {NOT_COMPARABLE}",
}


def _paper_table(number: int, source: str, regime: str) -> paper.PaperTable:
    return paper.PaperTable(
        str(number),
        f"{SOURCES[source]}: {_REGIMES[regime]} w/ π_M is the utility of the model’s own decisions over 1 +"
        " penalty, w/ π* that of the optimal policy on its stated confidence, with the gain in brackets. Bold: best;"
        " italics: second best.",
        columns=_COLUMNS,
        at={"task": "riskeval", "group": regime, "source": source, "digits": 3},
        best="column",
        second=True,
    )


def _paper_figure(number: int, caption: str, sources: Mapping[str, str] = SOURCES) -> paper.PaperFigure:
    parameters = "-T strategy=use_confidence" if number in _STRATEGY_FIGURES else ""
    name = f"figure_{number}"
    return paper.PaperFigure(str(number), caption, name=name, parameters=parameters, sources=sources)


REPLICATION = paper.Replication(
    name="riskeval",
    title="RiskEval: Wang, Zhou, Devic & Fu (2026), arXiv:2601.07767",
    tasks={"riskeval": paper.TaskParameters("penalties", "source")},
    items=(
        _paper_figure(1, "Abstention rate by penalty, on HLE.", sources={"hle": SOURCES["hle"]}),
        _paper_figure(2, "Stated confidence by penalty."),
        _paper_figure(3, "Normalised utility by penalty."),
        _paper_figure(4, "Policy consistency by penalty."),
        _paper_table(1, "hle", _HIGH),
        _paper_figure(5, "Stated confidence, AUARC, ECE and Brier score by penalty."),
        _paper_table(2, "hle", _ALL),
        _paper_table(3, "gpqa_diamond", _ALL),
        _paper_table(4, "gpqa_diamond", _HIGH),
        _paper_table(5, "gsm8k", _ALL),
        _paper_table(6, "gsm8k", _HIGH),
        _paper_figure(6, "Utility in points and normalised regret by penalty."),
        _paper_figure(
            7, "Abstention, normalised regret and policy consistency with the instruction to use confidence."
        ),
        _paper_figure(8, "Effect of the instruction to use confidence."),
    ),
    figures={"riskeval": FIGURES},
)
