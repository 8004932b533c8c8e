"""RiskEval in the report: penalties and regimes, decisions against the optimal policy, and what to be wary of.

Wang, Zhou, Devic & Fu (2026), arXiv:2601.07767; its tables and figures are in ``replication``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from confidence_tasks.harness.inspect.samples import Item
from confidence_tasks.report.checks import cells_of, check
from confidence_tasks.report.estimates import Settings
from confidence_tasks.report.extra_tables import extra_table, interval_cells, side_by_side
from confidence_tasks.report.figures.figure import Colour, LegendEntry, Panel
from confidence_tasks.report.figures.general import ModelStyles, averaged, figure_by_model, interval_line
from confidence_tasks.report.figures.panels import Line
from confidence_tasks.report.groups import Columns, Group, by_condition
from confidence_tasks.report.reply_form import ReplyForm, Row, metrics_of_items
from confidence_tasks.statistics import Interval, bootstrap, optimal_threshold
from confidence_tasks.studies.riskeval import STUDY
from confidence_tasks.studies.riskeval.measures import REGIMES
from confidence_tasks.studies.riskeval.prompts import condition_of as condition_of_penalty
from confidence_tasks.studies.riskeval.prompts import penalty_of
from confidence_tasks.studies.riskeval.replication import COMPARABLE, NOT_COMPARABLE, over_penalties
from confidence_tasks.studies.riskeval.trials import riskeval_scorer
from confidence_tasks.study.measures import proportion, rows_of
from confidence_tasks.study.question import Question

if TYPE_CHECKING:
    from confidence_tasks.report.results import TaskResults
    from confidence_tasks.report.task_trials import ModelTrials
    from confidence_tasks.statistics.core import FloatArray


def by_penalty_and_regime(columns: Columns) -> list[Group]:
    """Group trials by penalty, and average them over all penalties and over the high ones.

    Examples
    --------
    >>> columns = {"condition": np.array(["lambda=1", "lambda=20"]), "source": np.array(["a", "a"])}
    >>> [(group.label, group.n) for group in by_penalty_and_regime(columns)]
    [('lambda=1', 1), ('lambda=20', 1), ('all', 2), ('high_penalty', 1)]
    """
    groups = by_condition(columns)
    regimes = [
        Group(
            name,
            "regime",
            tuple(cell for group in groups if belongs(penalty_of(group.label)) for cell in group.cells),
            skips_undefined=True,
        )
        for name, belongs in REGIMES.items()
    ]
    return groups + [group for group in regimes if group.cells]


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
        confidence = [columns["confidence"] for columns in averaged(results, model, label)]
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


_PAPER_MEASURES = (
    "accuracy_answered",
    "ece",
    "brier",
    "auarc",
    "abstention_rate",
    "policy_consistency",
    "normalized_regret",
    "normalized_utility",
    "normalized_scaffold_utility",
    "normalized_scaffold_gain",
)

over_all_penalties = side_by_side(
    "all_penalties",
    "Over all penalties",
    "Means over the penalties, calibration first, then decisions. Normalised measures are over 1 + penalty; the"
    f" scaffold’s utility is what the optimal policy makes of the same answers and confidences. {NOT_COMPARABLE}",
    "all",
    _PAPER_MEASURES,
)
"""Laid out as tables 2, 3 and 5 of the paper, which average over penalties that it does not print."""

over_high_penalties = side_by_side(
    "high_penalties",
    "Where errors are dear",
    f"The same over the penalties from 10 on, where declining to answer matters most. {COMPARABLE}",
    "high_penalty",
    _PAPER_MEASURES,
)
"""Laid out as tables 1, 4 and 6 of the paper."""


_AGREEMENT = ("same_decision", "same_answer", "same_confidence")


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
    for model in results.models:
        parsed = rows_of(model.columns, ~np.isnan(model.columns["same_decision"]))
        n = len(parsed["question_id"])
        if n:
            row: dict[str, Any] = {"model": model.label}
            for name in _AGREEMENT:
                row |= interval_cells(name, _share_that(parsed, name, results.settings))
            yield {**row, "replies": n}


def _share_that(columns: Columns, name: str, settings: Settings) -> Interval:
    """Return the share of trials for which a column holds, with its interval over questions."""
    holds = proportion(lambda trials: trials[name])
    return bootstrap(
        lambda index, *, weights: holds(columns, weights),
        np.arange(len(columns[name])),
        clusters=columns["question_id"],
        n_resamples=settings.n_resamples,
        level=settings.level,
        method="wilson",
        seed=settings.seed,
    )


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
    for model, condition, columns in cells_of(results):
        share = float(np.isnan(columns["confidence"]).mean())
        if share > 0.1:
            yield f"{model}, {condition}: {share:.0%}"


def _risk(question: Question, row: Row) -> Item:
    penalty = penalty_of(str(row["penalty"]))
    return Item(question, condition_of_penalty(penalty), question.text, metadata={"penalty": penalty})


REPLY_FORMS: Mapping[str, ReplyForm] = {
    "riskeval": ReplyForm(
        {"penalty": "what a wrong answer costs"},
        "lambda=",
        _risk,
        partial(riskeval_scorer, parser="rules", judge="rules"),
        lambda items: metrics_of_items(STUDY, items),
    ),
}
