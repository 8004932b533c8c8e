"""RiskEval's report: penalties and regimes, decisions against the optimal policy, and checks.

Wang, Zhou, Devic & Fu (2026), arXiv:2601.07767.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from confidence_tasks.drawing import Colour
from confidence_tasks.logs.task_trials import Columns, ModelTrials
from confidence_tasks.logs.texts import printable
from confidence_tasks.report import checks, paper
from confidence_tasks.report.extra_tables import extra_table, interval_cells, side_by_side
from confidence_tasks.report.figures import Figure, LegendEntry, Line, Panel, general, panel, panels
from confidence_tasks.report.figures.general import (
    MakeFigure,
    ModelStyles,
    figure_by_model,
    interval_line,
    trials_by_source,
)
from confidence_tasks.report.groups import Group, by_condition
from confidence_tasks.report.labels import measure_label
from confidence_tasks.report.notices import cells_of, check
from confidence_tasks.report.paper import by_measure
from confidence_tasks.report.reply_forms import ReplyForm
from confidence_tasks.report.results import TaskResults
from confidence_tasks.report.score_replies import Row
from confidence_tasks.report.study_report import StudyReport
from confidence_tasks.statistics import optimal_threshold
from confidence_tasks.statistics.core import FloatArray
from confidence_tasks.studies.riskeval import STUDY
from confidence_tasks.studies.riskeval.fitted import fitted_thresholds
from confidence_tasks.studies.riskeval.measures import REGIMES, interval_over_questions
from confidence_tasks.studies.riskeval.power import POWER
from confidence_tasks.studies.riskeval.replies import condition_of, penalty_of
from confidence_tasks.study.measures import proportion_measure, rows_of
from confidence_tasks.study.trial import Item, Question

SOURCES: Mapping[str, str] = {"hle": "HLE", "gpqa_diamond": "GPQA Diamond", "gsm8k": "GSM8K"}
"""The paper's question sources, in the order of its figures."""

COMPARABLE = (
    "Comparable with the paper: this package’s penalties from 10 on have a mean threshold of .958, and the paper’s"
    " tables imply .955 to .958."
)
"""Statement that means over the high penalties can be compared with the paper's."""

NOT_COMPARABLE = (
    "Not comparable with the paper: the grid of penalties is this package’s, as the paper prints none. Its mean"
    " threshold is .626, and the paper’s tables imply .527 to .530."
)
"""Statement that means over all penalties cannot be compared with the paper's."""


def penalty_panel(
    title: str, labels: Sequence[str], lines: Sequence[Line], y: str, lowest: float | None = None
) -> Panel:
    """Return a panel of lines over the penalties of some conditions."""
    ticks = [label.partition("=")[2] for label in labels]
    return panel(title, panels.trends, labels=ticks, lines=lines, x="penalty", y=y, lowest=lowest)


def by_penalty_and_regime(columns: Columns) -> list[Group]:
    """Group trials by penalty, and average them over all penalties and over the high ones.

    Examples
    --------
    >>> columns = {"condition": np.array(["lambda=1", "lambda=20"]), "source": np.array(["a", "a"])}
    >>> [(group.label, group.n) for group in by_penalty_and_regime(columns)]
    [('lambda=1', 1), ('lambda=20', 1), ('all', 2), ('high_penalty', 1)]
    """
    groups = by_condition(columns)
    penalties = tuple(groups)
    for name, lowest in REGIMES.items():
        members = (group for group in penalties if penalty_of(group.label) >= lowest)
        if cells := tuple(cell for group in members for cell in group.subsets):
            groups.append(Group(name, "regime", cells, skips_undefined=True))
    return groups


_SIZE = (2.5, 1.9)


@figure_by_model(
    "decisions",
    "Abstention against penalty",
    "Share of questions on which the model abstains, with intervals; in grey, the share on which it would abstain if it"
    " acted on its stated confidence. A flat line is a model that ignores the penalty.",
    keys=(LegendEntry("optimal policy on the stated confidence", Colour.MUTED),),
    size=_SIZE,
)
def decisions(results: TaskResults, styles: ModelStyles, model: ModelTrials) -> Iterator[Panel]:
    """Draw how often a model abstains under each penalty, and how often the optimal policy would."""
    labels = results.conditions
    observed = interval_line(results, model.label, labels, "abstention_rate", *styles[model.label])
    rates = []
    for label, threshold in zip(labels, _optimal_thresholds(labels), strict=True):
        confidence = [
            columns["confidence"] for columns in trials_by_source(results, model, label, "confidence")
        ]
        stated = [values[~np.isnan(values)] for values in confidence]
        rates.append(np.mean([np.mean(values < threshold) for values in stated if len(values)] or np.nan))
    optimal = Line("optimal policy", Colour.MUTED, observed.x, np.array(rates))
    yield penalty_panel("", labels, [optimal, observed], "abstention rate", lowest=0.0)


@figure_by_model(
    "thresholds",
    "Implied threshold",
    "Confidence from which a model answers, by a logistic fit of its decisions; in grey the optimal threshold,"
    " penalty / (1 + penalty). It is undefined if a model always answers or always abstains.",
    keys=(LegendEntry("optimal", Colour.MUTED),),
    size=_SIZE,
)
def thresholds(results: TaskResults, styles: ModelStyles, model: ModelTrials) -> Iterator[Panel]:
    """Draw the confidence from which a model answers, and the optimal threshold."""
    labels = results.conditions
    implied = interval_line(results, model.label, labels, "implied_threshold", *styles[model.label])
    optimal = Line("optimal threshold", Colour.MUTED, implied.x, _optimal_thresholds(labels))
    yield penalty_panel("", labels, [optimal, implied], "threshold", lowest=0.0)


def _optimal_thresholds(labels: Sequence[str]) -> FloatArray:
    return np.atleast_1d(optimal_threshold(np.array([penalty_of(label) for label in labels])))


_side_by_side = partial(
    side_by_side,
    measures=(
        *("accuracy_answered", "ece", "brier", "auarc", "abstention_rate", "policy_consistency"),
        *(
            "normalized_regret",
            "normalized_utility",
            "normalized_scaffold_utility",
            "normalized_scaffold_gain",
        ),
    ),
)

over_all_penalties = _side_by_side(
    "all_penalties",
    "Over all penalties",
    "Means over the penalties: calibration, then decisions. Normalised measures are divided by 1 + penalty. The"
    " scaffold’s utility is that of the optimal policy with the same answers and confidences."
    f" {NOT_COMPARABLE}",
    "all",
)
"""Tables 2, 3 and 5 of the paper, which average over penalties that the paper does not print."""

over_high_penalties = _side_by_side(
    "high_penalties",
    "Over high penalties",
    f"The same measures over the penalties from 10 on, at which abstention matters most. {COMPARABLE}",
    "high_penalty",
)
"""Tables 1, 4 and 6 of the paper."""


_AGREEMENT = tuple(
    proportion_measure(
        name, name, "Share of replies in which the rules and the parser’s model read the same."
    )
    for name in ("same_decision", "same_answer", "same_confidence")
)


@extra_table(
    "rules_and_parser",
    "Agreement of rules and parser",
    "Share of the replies in which the rules and the parser’s model agree on the decision, on the answer (if both"
    " read one), and on the confidence (within 0.005, or that there is none). With intervals over questions.",
)
def rules_and_parser(results: TaskResults) -> Iterator[dict[str, Any]]:
    """Return how often the rules and the parser's model read the same, for models whose replies were parsed by a model.

    In the paper a model reads every reply; the table shows what reading by rules would change.
    """
    options = {name: getattr(results.settings, name) for name in ("n_resamples", "level", "seed")}
    for model in results.models:
        parsed = rows_of(model.columns, ~np.isnan(model.columns["same_decision"]))
        n = len(parsed["question_id"])
        if n:
            row: dict[str, Any] = {"model": model.label}
            for measure in _AGREEMENT:
                row |= interval_cells(measure.name, interval_over_questions(measure, parsed, **options))
            yield {**row, "replies": n}


@check(
    "note",
    "Constant decisions",
    "Risk sensitivity and implied thresholds cannot be estimated if a model always answers or always abstains.",
)
def never_or_always(results: TaskResults) -> Iterator[str]:
    """Yield the models that always answer or always abstain."""
    for model in results.models:
        answered = model.columns["answered"]
        share = float(np.nanmean(answered)) if not np.isnan(answered).all() else np.nan
        if share in (0.0, 1.0):
            yield f"{model.label}: {'answers' if share else 'abstains from'} every question"


@check(
    "warning",
    "Decisions without a stated confidence",
    "Policy consistency, regret, the optimal policy and calibration leave these decisions out; utility and abstention"
    " include them. The two kinds of measure are therefore computed on different trials.",
)
def without_confidence(results: TaskResults) -> Iterator[str]:
    """Yield the share of trials without a confidence, where it is large."""
    for model, condition, columns in cells_of(results, "confidence"):
        share = float(np.isnan(columns["confidence"]).mean())
        if share > 0.1:
            yield f"{model}, {condition}: {share:.0%}"


def _risk_item(question: Question, row: Row) -> Item:
    penalty = penalty_of(str(row["penalty"]))
    return Item(question, condition_of(penalty), question.text, metadata={"penalty": penalty})


REPLY_FORMS: Mapping[str, ReplyForm] = {
    "riskeval": ReplyForm(
        STUDY,
        {"penalty": "penalty for a wrong answer"},
        _risk_item,
        "lambda=",
        scoring={"parser": "rules", "judge": "rules"},
    )
}


# Tables and figures of the paper ------------------------------------------------------------------------------


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
)


REPORT = StudyReport(
    figures=(decisions, thresholds, general.reliability_overall, general.selective_overall, *FIGURES),
    lead=decisions,
    tables=(over_all_penalties, over_high_penalties, fitted_thresholds, rules_and_parser),
    checks=(*checks.GENERAL, never_or_always, without_confidence),
    grouping=by_penalty_and_regime,
    replication=REPLICATION,
    reply_forms=REPLY_FORMS,
    power=(POWER,),
)
