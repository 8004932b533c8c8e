"""RiskEval's report: penalties and regimes, decisions against the optimal policy, and checks.

Wang, Zhou, Devic & Fu (2026), arXiv:2601.07767.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from confidence_tasks.drawing import Colour
from confidence_tasks.logs.task_trials import Columns, ModelTrials
from confidence_tasks.report import checks
from confidence_tasks.report.extra_tables import extra_table, interval_cells, side_by_side
from confidence_tasks.report.figures import LegendEntry, Line, Panel, general, panel, panels
from confidence_tasks.report.figures.general import (
    ModelStyles,
    figure_by_model,
    interval_line,
    trials_by_source,
)
from confidence_tasks.report.groups import Group, by_condition
from confidence_tasks.report.notices import check, subsets_of
from confidence_tasks.report.results import TaskResults
from confidence_tasks.report.study_report import StudyReport
from confidence_tasks.statistics import optimal_threshold
from confidence_tasks.statistics.core import FloatArray
from confidence_tasks.studies.riskeval.fitted import fitted_thresholds
from confidence_tasks.studies.riskeval.forms import REPLY_FORMS
from confidence_tasks.studies.riskeval.power import POWER
from confidence_tasks.studies.riskeval.replies import penalty_of
from confidence_tasks.studies.riskeval.summary import REGIMES, interval_over_questions
from confidence_tasks.study.columns import rows_of
from confidence_tasks.study.measures import proportion_measure

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
    for model, condition, columns in subsets_of(results, "confidence"):
        share = float(np.isnan(columns["confidence"]).mean())
        if share > 0.1:
            yield f"{model}, {condition}: {share:.0%}"


REPORT = StudyReport(
    figures=(decisions, thresholds, general.reliability_overall, general.selective_overall),
    lead=decisions,
    tables=(over_all_penalties, over_high_penalties, fitted_thresholds, rules_and_parser),
    checks=(*checks.GENERAL, never_or_always, without_confidence),
    grouping=by_penalty_and_regime,
    replication="confidence_tasks.replications.riskeval:REPLICATION",
    reply_forms=REPLY_FORMS,
    power=(POWER,),
)
