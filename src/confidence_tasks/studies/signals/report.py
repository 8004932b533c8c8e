"""Report of the signal study: discrimination against cost, the combination, correlations and disagreements."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from confidence_tasks.drawing import Colour
from confidence_tasks.logs.task_trials import ModelTrials
from confidence_tasks.logs.texts import printable
from confidence_tasks.report import checks
from confidence_tasks.report.estimates.contrast import Contrast
from confidence_tasks.report.extra_tables import ExtraTable, extra_table, interval_cells, side_by_side
from confidence_tasks.report.figures import Line, Panel, general, panel, panels
from confidence_tasks.report.figures.general import (
    ModelStyles,
    figure_by_model,
    line_of_intervals,
)
from confidence_tasks.report.groups import ALL_TRIALS
from confidence_tasks.report.notices import check, subsets_of
from confidence_tasks.report.results import TaskResults
from confidence_tasks.report.study_report import StudyReport
from confidence_tasks.studies.signals.choice import chosen_by_halves
from confidence_tasks.studies.signals.measures import POOLED, signal_table
from confidence_tasks.studies.signals.table import SIGNALS

if TYPE_CHECKING:
    from matplotlib.axes import Axes


DISAGREEMENTS = 10
"""Maximum number of questions listed for a model."""

LONGEST = 80
"""Maximum number of characters shown of a question or an answer."""

MIN_LABEL_DISTANCE = 0.05
"""Minimum vertical distance of two labels, as a proportion of the axis."""


@figure_by_model(
    "worth_and_price",
    "Discrimination and cost of each signal",
    "AUROC with its interval against the tokens of the answer and the signal together, prompts and replies. Signals"
    " towards the upper left discriminate better at lower cost; a signal on the line at one half is uninformative.",
    size=(4.2, 2.8),
)
def worth_and_price(results: TaskResults, styles: ModelStyles, model: ModelTrials) -> Iterator[Panel]:
    """Draw each signal's AUROC with its interval against its tokens per question."""
    lines = []
    for signal in results.conditions:
        auroc, tokens = (results.estimate(model.label, signal, name) for name in ("auroc", "tokens"))
        if auroc is None or tokens is None:
            continue
        x = float(tokens.interval.estimate)
        if not np.isnan([x, auroc.interval.estimate]).any():
            lines.append(line_of_intervals(signal, [auroc.interval], *styles[model.label], x=[x]))
    if lines:
        yield panel("", _draw_labelled_points, lines=lines)


def _draw_labelled_points(axes: Axes, lines: Sequence[Line]) -> None:
    """Draw points with intervals on a logarithmic scale of tokens, each with the name of its signal."""
    from matplotlib.ticker import LogLocator

    panels.points(axes, lines, "tokens per question", "AUROC", reference=0.5)
    axes.set_xscale("log")
    tokens = np.array([line.x[0] for line in lines])
    axes.set_xlim(tokens.min() / 1.15, tokens.max() * 3.0)  # labels are on the right of their points
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.minorticks_off()
    low, high = axes.get_ylim()
    for x in np.unique(tokens):
        y = -np.inf
        for line in sorted((line for line in lines if line.x[0] == x), key=lambda line: line.y[0]):
            y = max(float(line.y[0]), y + MIN_LABEL_DISTANCE * (high - low))
            axes.annotate(
                line.label,
                (x, y),
                xytext=(5, 0),
                textcoords="offset points",
                annotation_clip=False,  # the uppermost of many labels may be above the frame
                va="center",
                fontsize=6,
                color=Colour.INK,
                bbox={"facecolor": Colour.PAPER, "edgecolor": "none", "pad": 0.5},
                zorder=3,  # above the intervals of other points
            )


combined = side_by_side(
    "combined",
    "All signals together",
    "A cross-fitted logistic regression on all signals: each question is predicted by a model fitted to other"
    " questions. The gain is over the signal with the highest AUROC, which is selected on the same trials.",
    ALL_TRIALS,
    [measure.name for measure in POOLED],
)
"""AUROC of all signals together, and its gain over the best single signal."""


@extra_table(
    "worth",
    "What each signal needs, costs and is worth",
    "Calls and tokens are per question, with those of the answer. The difference from the stated confidence is paired"
    " by question, and its p-value is corrected for all signals. A signal beats the stated confidence if the"
    " corrected p is below .05.",
)
def worth(results: TaskResults) -> Iterator[dict[str, Any]]:
    """Return each signal with what it needs and costs, its AUROC, and the difference from the baseline."""
    for model in results.models:
        for signal in (name for name in results.conditions if name in SIGNALS):
            auroc = results.estimate(model.label, signal, "auroc")
            if auroc is not None:
                yield {
                    "model": model.label,
                    "signal": signal,
                    "needs": SIGNALS[signal].requirements,
                    "calls": _estimate(results, model.label, signal, "calls"),
                    "tokens": _estimate(results, model.label, signal, "tokens"),
                    **interval_cells("AUROC", auroc.interval),
                    **_difference(results.contrast(model.label, signal, "auroc")),
                }


def _estimate(results: TaskResults, model: str, signal: str, measure: str) -> float:
    entry = results.estimate(model, signal, measure)
    return float(entry.interval.estimate) if entry else math.nan


def _difference(contrast: Contrast | None) -> dict[str, float | str]:
    """Return the cells of a difference from the baseline; of the baseline itself there is none."""
    if contrast is None:
        return {"beats stated": ""}
    cells = interval_cells("difference", contrast.interval) | {"p": contrast.p_adjusted}
    better = contrast.significant and contrast.interval.estimate > 0
    return cells | {"beats stated": "yes" if better else "no"}


@extra_table(
    "choice",
    "The best signal, chosen on one half of the questions",
    "The signal with the highest AUROC on a random half of the questions, and its AUROC on the other half, which is not"
    " raised by the choice. If both halves choose the same signal at about the same AUROC, the choice is stable.",
    decimals=2,
)
def choice(results: TaskResults) -> Iterator[dict[str, Any]]:
    """Return the signals chosen on each half, with their AUROC on both."""
    for model in results.models:
        for half, chosen in zip(("first", "second"), chosen_by_halves(model.columns), strict=False):
            yield {
                "model": model.label,
                "chosen on": half,
                "signal": chosen.signal,
                "AUROC where chosen": chosen.there,
                "AUROC on the other half": chosen.auroc,
                "AUROC on the other half low": chosen.low,
                "AUROC on the other half high": chosen.high,
                "stated there": chosen.baseline,
                "n": chosen.n,
            }


@extra_table(
    "rank_correlations",
    "Rank correlations of signals",
    "Spearman’s rank correlation over the answers that have both signals. Signals with the same information correlate;"
    " two good signals that do not correlate are worth combining.",
    decimals=2,
)
def rank_correlations(results: TaskResults) -> Iterator[dict[str, Any]]:
    """Return Spearman's correlation of every pair of signals."""
    for model in results.models:
        rho = signal_table(model.columns).regressors.corr("spearman", min_periods=3)
        rho = rho.where(~np.eye(len(rho), dtype=np.bool_), 1.0)
        for signal, row in zip(rho, rho.to_numpy(), strict=True):
            yield {"model": model.label, "signal": signal, **dict(zip(map(str, rho), row, strict=True))}


def disagreements(results: TaskResults) -> ExtraTable:
    """Return the answers whose ranks differ most between the signals."""
    records: list[dict[str, Any]] = []
    trials: list[tuple[ModelTrials, int]] = []
    for model in results.models:
        table = signal_table(model.columns)
        ranks = (table.regressors.rank() - 0.5) / table.regressors.count()
        spread = ranks.max(axis=1) - ranks.min(axis=1)
        for row in spread[spread > 0.0].nlargest(DISAGREEMENTS).index:
            trial, answer_ranks = int(table.trial[row]), ranks.loc[row]
            trials.append((model, trial))
            records.append(
                {
                    "model": model.label,
                    "question": printable(str(model.columns["question_id"][trial])[:LONGEST]),
                    "answer": printable(str(model.columns["answer"][trial])[:LONGEST]),
                    "right": "yes" if table.correct[row] else "no",
                    "most confident signal": answer_ranks.idxmax(),
                    "highest rank": answer_ranks.max(),
                    "least confident signal": answer_ranks.idxmin(),
                    "lowest rank": answer_ranks.min(),
                }
            )
    return ExtraTable(
        f"{results.task_trials.slug}_disagreements",
        "Largest disagreements between signals",
        "Answers that one signal ranks among the most confident and another among the least confident. Ranks run from"
        " 0 for the least confident answer to 1 for the most confident. Links open in Inspect’s viewer.",
        pd.DataFrame(records),
        decimals=2,
        trials={"question": trials},
    )


@check(
    "warning",
    "Signals without a value",
    "Measures of a signal use only the answers that have the signal. Compare signals over the same answers.",
)
def missing_signals(results: TaskResults) -> Iterator[str]:
    """Name signals that are missing for more than a tenth of the answers, with the most frequent reason."""
    for model, signal, columns in subsets_of(results, "problem"):
        problems = [str(problem) for problem in columns["problem"] if problem]
        missing = len(problems) / len(columns["problem"])
        if missing > 0.1:
            reason, _ = Counter(problems).most_common(1)[0]
            yield f"{model}, {signal}: {missing:.0%}, mostly because {reason}"


@check(
    "note",
    "Signals of reasoning are left out",
    "No reply of these models has reasoning, or neither its tokens nor their number are reported.",
)
def without_reasoning(results: TaskResults) -> Iterator[str]:
    """Name the models without reasoning, with the signals that are left out."""
    for model in results.models:
        if model.absent:
            yield f"{model.label}: {', '.join(model.absent)}"


REPORT = StudyReport(
    figures=(worth_and_price, general.reliability, general.type2_roc, general.selective),
    lead=worth_and_price,
    tables=(worth, choice, combined, rank_correlations, disagreements),
    checks=(*checks.GENERAL, missing_signals, without_reasoning),
)
