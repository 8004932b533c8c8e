"""RiskEval in the report: penalties and regimes, decisions against the optimal policy, and what to be wary of.

Wang, Zhou, Devic & Fu (2026), arXiv:2601.07767.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from confidence_tasks.report import paper
from confidence_tasks.report.checks import cells_of, check
from confidence_tasks.report.extra_tables import extra_table, interval_cells, side_by_side
from confidence_tasks.report.figures import Colour, Figure, LegendEntry, Line, Panel, panel, panels
from confidence_tasks.report.figures.general import (
    MakeFigure,
    ModelStyles,
    figure_by_model,
    interval_line,
    trials_by_source,
)
from confidence_tasks.report.labels import measure_label, printable
from confidence_tasks.report.paper import by_measure
from confidence_tasks.report.results import TaskResults
from confidence_tasks.report.score_replies import ReplyForm, Row
from confidence_tasks.report.task_trials import Columns, Group, ModelTrials, by_condition
from confidence_tasks.statistics import optimal_threshold
from confidence_tasks.statistics.core import FloatArray
from confidence_tasks.studies.riskeval import STUDY
from confidence_tasks.studies.riskeval.measures import REGIMES, interval_over_questions
from confidence_tasks.studies.riskeval.replies import condition_of as condition_of_penalty
from confidence_tasks.studies.riskeval.replies import penalty_of
from confidence_tasks.study.measures import proportion_measure, rows_of
from confidence_tasks.study.trial import Item, Question

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
"""Why means over all penalties do not compare with the paper's."""


def over_penalties(
    title: str, labels: Sequence[str], lines: Sequence[Line], y: str, lowest: float | None = None
) -> Panel:
    """Return a panel of lines over the penalties that conditions stand for."""
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
    for name, belongs in REGIMES.items():
        within = (group for group in penalties if belongs(penalty_of(group.label)))
        if cells := tuple(cell for group in within for cell in group.cells):
            groups.append(Group(name, "regime", cells, skips_undefined=True))
    return groups


_SIZE = (2.5, 1.9)


@figure_by_model(
    "decisions",
    "Abstention against penalty",
    "Share of questions that each model declines to answer, with intervals; in grey, the share that it would"
    " decline if it acted on the confidence that it states. A flat line is a model that does not heed the stakes.",
    keys=(LegendEntry("optimal by the stated confidence", Colour.MUTED),),
    size=_SIZE,
)
def decisions(results: TaskResults, styles: ModelStyles, model: ModelTrials) -> Iterator[Panel]:
    """Draw how often a model abstains under each penalty, and how often its confidence says that it should."""
    labels = results.conditions
    own = interval_line(results, model.label, labels, "abstention_rate", *styles[model.label])
    shares = []
    for label, threshold in zip(labels, _optimal(labels), strict=True):
        confidence = [
            columns["confidence"] for columns in trials_by_source(results, model, label, "confidence")
        ]
        stated = [values[~np.isnan(values)] for values in confidence]
        shares.append(np.mean([np.mean(values < threshold) for values in stated if len(values)] or np.nan))
    optimal = Line("optimal by its confidence", Colour.MUTED, own.x, np.array(shares))
    yield over_penalties("", labels, [optimal, own], "abstention rate", lowest=0.0)


@figure_by_model(
    "thresholds",
    "Implied threshold",
    "Confidence from which a model answers, by a logistic fit of its decisions; in grey the optimal one,"
    " penalty / (1 + penalty). It cannot be told where a model always answers or always abstains.",
    keys=(LegendEntry("optimal", Colour.MUTED),),
    size=_SIZE,
)
def thresholds(results: TaskResults, styles: ModelStyles, model: ModelTrials) -> Iterator[Panel]:
    """Draw the confidence from which a model answers, against the one from which it should."""
    labels = results.conditions
    own = interval_line(results, model.label, labels, "implied_threshold", *styles[model.label])
    optimal = Line("optimal threshold", Colour.MUTED, own.x, _optimal(labels))
    yield over_penalties("", labels, [optimal, own], "threshold", lowest=0.0)


def _optimal(labels: Sequence[str]) -> FloatArray:
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
    "Means over the penalties, calibration first, then decisions. Normalised measures are over 1 + penalty; the"
    f" scaffold’s utility is what the optimal policy makes of the same answers and confidences. {NOT_COMPARABLE}",
    "all",
)
"""Tables 2, 3 and 5 of the paper, which average over penalties that it does not print."""

over_high_penalties = _side_by_side(
    "high_penalties",
    "Where errors are dear",
    f"The same over the penalties from 10 on, where declining to answer matters most. {COMPARABLE}",
    "high_penalty",
)
"""Tables 1, 4 and 6 of the paper."""


_AGREEMENT = tuple(
    proportion_measure(name, name, "Share of replies of which the rules read the same.")
    for name in ("same_decision", "same_answer", "same_confidence")
)


@extra_table(
    "rules_and_parser",
    "Rules and parser",
    "Share of the replies read by the parser’s model of which the rules read the same: the decision; the answer,"
    " where both find one; and the confidence, to half a hundredth or that there is none. With intervals over"
    " questions.",
)
def rules_and_parser(results: TaskResults) -> Iterator[dict[str, Any]]:
    """Return how often the rules read what the parser's model reads, of the models whose replies it read.

    The paper has a model read every reply; this is what reading by rules would have changed.
    """
    drawn = {name: getattr(results.settings, name) for name in ("n_resamples", "level", "seed")}
    for model in results.models:
        parsed = rows_of(model.columns, ~np.isnan(model.columns["same_decision"]))
        n = len(parsed["question_id"])
        if n:
            row: dict[str, Any] = {"model": model.label}
            for measure in _AGREEMENT:
                row |= interval_cells(measure.name, interval_over_questions(measure, parsed, **drawn))
            yield {**row, "replies": n}


@check(
    "note",
    "The same decision throughout",
    "Risk sensitivity and implied thresholds cannot be told from decisions that never vary.",
)
def never_or_always(results: TaskResults) -> Iterator[str]:
    """Models that decide the same whatever the penalty."""
    for model in results.models:
        answered = model.columns["answered"]
        share = float(np.nanmean(answered)) if not np.isnan(answered).all() else np.nan
        if share in (0.0, 1.0):
            yield f"{model.label}: {'answers' if share else 'abstains from'} every question"


@check(
    "warning",
    "Decisions without a stated confidence",
    "They are left out of policy consistency, regret, the optimal policy and calibration, but count for utility and"
    " abstention: measures of the two kinds rest on different trials.",
)
def without_confidence(results: TaskResults) -> Iterator[str]:
    """Decisions that come without a confidence."""
    for model, condition, columns in cells_of(results, "confidence"):
        share = float(np.isnan(columns["confidence"]).mean())
        if share > 0.1:
            yield f"{model}, {condition}: {share:.0%}"


def _risk(question: Question, row: Row) -> Item:
    penalty = penalty_of(str(row["penalty"]))
    return Item(question, condition_of_penalty(penalty), question.text, metadata={"penalty": penalty})


REPLY_FORMS: Mapping[str, ReplyForm] = {
    "riskeval": ReplyForm(
        STUDY,
        {"penalty": "what a wrong answer costs"},
        _risk,
        "lambda=",
        scoring={"parser": "rules", "judge": "rules"},
    )
}


# Tables and figures of the paper ------------------------------------------------------------------------------


_OVER_PENALTIES: Mapping[int, tuple[str, ...]] = {
    1: ("Abstention", "abstention_rate"),
    2: ("Stated confidence", "confidence"),
    3: ("Normalised utility", "normalized_utility"),
    4: ("Policy consistency", "policy_consistency"),
    5: ("Confidence and calibration", "confidence", "auarc", "ece", "brier"),
    6: ("Utility and regret", "utility", "normalized_regret"),
    7: ("Told to use confidence", "abstention_rate", "normalized_regret", "policy_consistency"),
}
"""Figures of the paper by number: their titles, and the measures that they draw over the penalty."""

_OF_STRATEGY = (7, 8)
"""Numbers of the figures of models told to use their confidence."""


def _over_penalties(results: TaskResults, styles: ModelStyles, number: int) -> Figure:
    """Draw a figure of the paper: a row a measure, a column a source, a line a model."""
    title, *measures = _OVER_PENALTIES[number]
    told = number in _OF_STRATEGY
    shown = [model for model in results.models if not told or _strategy(model) == "use_confidence"]

    def lines(measure: str, source: str) -> list[Line]:
        asked = [model for model in shown if source in model.columns["source"]]
        return [_line(results, model, measure, source, styles) for model in asked]

    return _figure(
        results,
        f"{title} (figure {number} of the paper)",
        f"{', '.join(map(measure_label, measures))} under each penalty, with intervals; flat lines do not heed the"
        " stakes.",
        number,
        {measure_label(measure) if len(measures) > 1 else "": measure for measure in measures},
        lines,
        [LegendEntry(model.label, *styles[model.label]) for model in shown],
    )


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
            if all(source in model.columns["source"] for model in pair):
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


def _line(results: TaskResults, model: ModelTrials, measure: str, source: str, styles: ModelStyles) -> Line:
    looks = styles[model.label]
    return interval_line(results, model.label, results.conditions, measure, *looks, source=source)


def _figure(
    results: TaskResults,
    title: str,
    caption: str,
    number_: int,
    measures: Mapping[str, str],
    lines_of: Callable[[str, str], list[Line]],
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


FIGURES: tuple[MakeFigure, ...] = (
    *(partial(_over_penalties, number=number) for number in _OVER_PENALTIES),
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


def _table(number: int, source: str, regime: str) -> paper.PaperTable:
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


def _drawn(number: int, caption: str, sources: Mapping[str, str] = SOURCES) -> paper.PaperFigure:
    parameters = "-T strategy=use_confidence" if number in _OF_STRATEGY else ""
    named = f"figure_{number}"
    return paper.PaperFigure(str(number), caption, name=named, parameters=parameters, sources=sources)


REPLICATION = paper.Replication(
    name="riskeval",
    title="RiskEval: Wang, Zhou, Devic & Fu (2026), arXiv:2601.07767",
    tasks={"riskeval": paper.TaskParameters("penalties", "source")},
    items=(
        _drawn(1, "Abstention rate by penalty, on HLE.", sources={"hle": SOURCES["hle"]}),
        _drawn(2, "Stated confidence by penalty."),
        _drawn(3, "Normalised utility by penalty."),
        _drawn(4, "Policy consistency by penalty."),
        _table(1, "hle", _HIGH),
        _drawn(5, "Stated confidence, AUARC, ECE and Brier score by penalty."),
        _table(2, "hle", _ALL),
        _table(3, "gpqa_diamond", _ALL),
        _table(4, "gpqa_diamond", _HIGH),
        _table(5, "gsm8k", _ALL),
        _table(6, "gsm8k", _HIGH),
        _drawn(6, "Utility in points and normalised regret by penalty."),
        _drawn(7, "Abstention, normalised regret and policy consistency when told to use confidence."),
        _drawn(8, "What it changes to be told to use confidence."),
    ),
)
