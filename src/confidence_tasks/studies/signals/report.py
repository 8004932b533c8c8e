"""Signals in the report: what each is worth and costs, what they share, and where they disagree."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata, spearmanr

from confidence_tasks.report.checks import Notice, notice_if_any
from confidence_tasks.report.extra_tables import ExtraTable, table_of_entries
from confidence_tasks.report.figures import panels
from confidence_tasks.report.figures.figure import Figure, Panel
from confidence_tasks.report.figures.general import ModelStyles, by_condition, model_keys
from confidence_tasks.report.figures.panels import Line
from confidence_tasks.report.groups import BY_CONDITION
from confidence_tasks.report.results import ALL_TRIALS
from confidence_tasks.studies.signals.trials import POOLED, signal_table

if TYPE_CHECKING:
    from confidence_tasks.report.results import TaskResults

DISAGREEMENTS = 10
"""Questions that are listed for a model."""


def worth_and_price(results: TaskResults, styles: ModelStyles) -> Figure:
    """Draw each signal's AUROC with its interval against its tokens a question, a panel a model."""
    its_panels = []
    for model in results.models:
        colour, marker = styles[model.label]
        lines = []
        for signal in results.conditions:
            area, price = (results.estimate(model.label, signal, name) for name in ("auroc", "tokens"))
            if area is None or price is None:
                continue
            point = [price.interval.estimate, area.interval.estimate]
            if np.isnan(point).any():
                continue
            x, y, low, high = (
                np.array([value], dtype=np.float64)
                for value in (*point, area.interval.low, area.interval.high)
            )
            lines.append(Line(signal, colour, x, y, low, high, marker))
        if lines:
            draw = partial(panels.points, lines=lines, x="tokens a question", y="AUROC", reference=0.5)
            its_panels.append(Panel(model.label, draw))
    return Figure(
        f"{results.task_trials.slug}_worth_and_price",
        "What a signal is worth and what it costs",
        "AUROC with its interval against the tokens that the answer and the signal take together, prompts and replies."
        " Towards the upper left a signal tells more for less; on the line at one half it tells nothing.",
        (("", tuple(its_panels)),) if its_panels else (),
        model_keys(results, styles),
        size=(4.2, 2.8),
    )


def by_signal(results: TaskResults, styles: ModelStyles) -> Figure:
    """Draw the AUROC of every signal."""
    return by_condition(
        results,
        styles,
        "auroc",
        title="What each signal tells",
        caption="AUROC of each signal with its interval: the chance that a right answer has a surer signal than a wrong"
        " one.",
        reference=0.5,
    )


def combined(results: TaskResults) -> ExtraTable:
    """Return the AUROC of all signals together, and the gain over the best single one."""
    names = [measure.name for measure in POOLED]
    rows = [
        (model.label, [results.estimate(model.label, ALL_TRIALS, name) for name in names])
        for model in results.models
    ]
    return table_of_entries(
        f"{results.task_trials.slug}_combined",
        "All signals together",
        "A logistic regression on all signals, each question predicted by the others. The gain is over the signal with"
        " the highest AUROC on these trials, which is chosen with hindsight.",
        rows,
        names,
    )


def rank_correlations(results: TaskResults) -> ExtraTable:
    """Return Spearman's correlation of every pair of signals."""
    records: list[dict[str, Any]] = []
    for model in results.models:
        table = signal_table(model.columns)
        for i, first in enumerate(table.signals):
            record: dict[str, Any] = {"model": model.label, "signal": first}
            for j, second in enumerate(table.signals):
                record[second] = 1.0 if i == j else _spearman(table.evidence[:, i], table.evidence[:, j])
            records.append(record)
    return ExtraTable(
        f"{results.task_trials.slug}_rank_correlations",
        "What signals share",
        "Spearman’s rank correlation over the answers that have both signals. Signals that know the same correlate; two"
        " good signals that do not are worth combining.",
        pd.DataFrame(records),
        decimals=2,
    )


def _spearman(first: Any, second: Any) -> float:
    both = ~np.isnan(first) & ~np.isnan(second)
    x, y = first[both], second[both]
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    return float(spearmanr(x, y).statistic)


def disagreements(results: TaskResults) -> ExtraTable:
    """Return the questions whose answers' ranks differ most between the signals."""
    records: list[dict[str, Any]] = []
    for model in results.models:
        table = signal_table(model.columns)
        if len(table.signals) < 2 or len(table.correct) < 2:
            continue
        ranks = np.full(table.evidence.shape, np.nan)
        for column, values in enumerate(table.evidence.T):
            known = ~np.isnan(values)
            ranks[known, column] = (rankdata(values[known]) - 0.5) / max(known.sum(), 1)
        several = (~np.isnan(ranks)).sum(axis=1) > 1
        spread = np.where(
            several, np.nanmax(ranks, axis=1, initial=0) - np.nanmin(ranks, axis=1, initial=1), 0
        )
        for row in np.argsort(-spread, kind="stable")[:DISAGREEMENTS]:
            if spread[row] <= 0:
                break
            trial = table.first[row]
            low, high = int(np.nanargmin(ranks[row])), int(np.nanargmax(ranks[row]))
            records.append(
                {
                    "model": model.label,
                    "question": str(model.columns["question_id"][trial]),
                    "answer": str(model.columns["answer"][trial])[:80],
                    "right": "yes" if table.correct[row] else "no",
                    "surest by": table.signals[high],
                    "its rank": ranks[row, high],
                    "least sure by": table.signals[low],
                    "its rank there": ranks[row, low],
                }
            )
    return ExtraTable(
        f"{results.task_trials.slug}_disagreements",
        "Where signals disagree most",
        "Answers that one signal ranks among the surest and another among the least sure. Ranks run from 0, the least"
        " sure answer of all, to 1.",
        pd.DataFrame(records),
        decimals=2,
    )


def missing_signals(results: TaskResults) -> Iterator[Notice]:
    """Signals that are missing for many answers, with the most frequent reason."""
    where = []
    for model in results.models:
        for group in results.groups[model.label]:
            if group.by != BY_CONDITION:
                continue
            rows = np.concatenate([cell.rows for cell in group.cells])
            problems = [str(problem) for problem in model.columns["problem"][rows] if problem]
            if len(problems) > 0.1 * len(rows):
                reasons, counts = np.unique(problems, return_counts=True)
                where.append(
                    f"{model.label}, {group.label}: {len(problems) / len(rows):.0%}, mostly because"
                    f" {reasons[counts.argmax()]}"
                )
    yield from notice_if_any(
        "warning",
        "Signals without a value",
        "Measures of a signal rest on the answers that have it: compare signals that rest on the same ones.",
        where,
    )
