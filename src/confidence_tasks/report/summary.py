"""Calibration and metacognition of any answers, given as arrays, tables or logs, in Python and notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
from numpy.typing import ArrayLike

from confidence_tasks.logs.clusters import with_units
from confidence_tasks.logs.sequences import of_stopped_run
from confidence_tasks.logs.task_trials import TaskTrials
from confidence_tasks.report.checks import notice_records
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.extra_tables import trials_frame
from confidence_tasks.report.given import (
    Data,
    cluster_name,
    is_path,
    read_tasks,
    settings_of,
    standard_measures,
)
from confidence_tasks.report.results import results_without_numbers
from confidence_tasks.report.summarised import summary_of_intervals, summary_of_scores, summary_of_trials
from confidence_tasks.report.summary_tables import Summary
from confidence_tasks.study import score_measures as scored
from confidence_tasks.study.given_trials import as_pandas, given_trials
from confidence_tasks.study.measure import Measure


def summary(
    correct: ArrayLike | str | Data | None = None,
    confidence: ArrayLike | str | None = None,
    *,
    data: Data | None = None,
    by: Any = None,
    questions: ArrayLike | str | None = None,
    cluster: ArrayLike | str | None = None,
    scorer: str = "",
    signals: str = "",
    measures: Sequence[str] | None = None,
    kind: str = "confidence",
    level: float = 0.95,
    n_resamples: int = 2_000,
    seed: int = 0,
) -> Summary:
    """Summarise the accuracy, calibration and metacognition of answers with a confidence.

    Parameters
    ----------
    correct : array_like, shape (n,), or str
        1 for a right answer, 0 for a wrong one, NaN or masked for neither; or the probability of being right, in
        [0, 1]. With ``data``, the name of the column, or for logs what says whether an answer to a task of others is
        right: a metric such as ``exact_match``, or a bound such as ``f1>=0.5``. A table or paths in this place are
        taken as ``data``.
    confidence : array_like, shape (n,), or str
        Confidence in [0, 1], NaN or masked where none was stated. With ``data``, the name of the column.
    data : DataFrame, path or sequence of paths, optional
        A table with one row per trial; or Inspect logs, sample files of lm-eval, files of trials, or folders of these.
        ``EvalLog`` objects, such as ``inspect_ai.eval`` returns, stand for their files.
        The columns of a table are ``correct``, ``confidence``, ``question_id`` and ``source``, unless others are named.
        With several sources, values are means over the sources, as in reports.
    by : array_like, mapping, str or sequence of str, optional
        Groups of the trials: labels, shape (n,), or a mapping of names to labels; with ``data``, names of columns. Logs
        are grouped by ``("task", "model", "condition")`` by default.
    questions : array_like, shape (n,), or str, optional
        The question of each trial, by any labels. Questions are resampled for the intervals; by default each trial is a
        question of its own.
    cluster : array_like, shape (n,), or str, optional
        What several questions share, such as a passage, by any labels; with ``data``, the name of a column. Clusters
        are resampled instead of questions. For logs ``"passage"``, ``"pair"``, ``"family"``, the name of a column or
        ``"none"``; by default the clusters of each source (``docs/inference.md``).
    scorer : str, optional
        For Inspect logs of tasks of others, the scorer that says whether an answer is right; by default the first.
    signals : str, optional
        For logs of tasks of others, further signals, which need no call: names separated by commas, or ``all``, as
        ``docs/any_benchmark.md`` lists them.
    measures : sequence of str, optional
        Names of the measures, by default all: ``accuracy``, ``confidence``, ``overconfidence``, ``ece``, ``brier``,
        ``auroc``, ``meta_information`` and ``mratio``.
    kind : {"confidence", "score", "uncertainty", "interval"}, default "confidence"
        What ``confidence`` holds: probabilities, or scores of any range, of which a high one means sure (``score``,
        such as a log-probability) or unsure (``uncertainty``, such as an entropy). Scores have the measures ``auroc``,
        ``prr``, ``prr_50``, ``auarc``, ``meta_information``, ``accuracy``, and ``ece_recalibrated`` and
        ``brier_recalibrated`` after a logistic recalibration fitted to other questions. ``ece`` and ``brier`` are
        missing, with the reason. ``interval``: ``data`` is a table with the ends ``low`` and ``high`` of stated
        intervals, the ``truth``, and the nominal coverage ``level``, such as 0.9. Each level has ``coverage``,
        ``coverage_gap``, ``width`` and ``winkler``, the latter two also after a conformal adjustment.
    level : float, default 0.95
        Nominal coverage of the intervals, in (0, 1).
    n_resamples : int, default 2000
        Number of resamples of the questions.
    seed : int, default 0
        Seed of the resamples.

    Returns
    -------
    Summary
        Prints as a table; :meth:`~Table.to_frame` returns the numbers, :meth:`~Summary.plot` draws the reliability
        curve. A number that cannot be computed is NaN, with a reason.

    Raises
    ------
    ValueError
        If lengths differ, a value is not a number in [0, 1], a name is unknown, or the logs have no trials.

    See Also
    --------
    compare : The measures of two models, with differences and tests.
    metrics : Every measure of the study of a log.

    Notes
    -----
    If a run stopped early at the decision of its gate, the gated measure has a confidence sequence, and ``reason`` says
    of other intervals that their nominal coverage does not hold.

    On logs, a measure that the study has is the study's own. Numbers and intervals equal those of ``confidence-tasks
    report``. The kind of interval depends on the measure
    (``docs/reliability.md``); all use the same resamples of the questions.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> confidence = rng.uniform(0.5, 1.0, 500).round(2)
    >>> correct = rng.random(500) < confidence - 0.1
    >>> summary(correct, confidence, measures=["accuracy", "ece", "auroc"])
    measure   value    95% interval    n
    Accuracy  0.666  [0.624, 0.706]  500
    ECE       0.099  [0.060, 0.138]  500
    AUROC     0.715  [0.665, 0.760]  500
    """
    scored.check_kind(kind)
    settings = settings_of(level, n_resamples, seed)
    correct, confidence, data = map(as_pandas, (correct, confidence, data))
    if data is None and _is_data(correct, confidence):
        data, correct = correct, None  # type: ignore[assignment]
    if kind == "interval":
        return summary_of_intervals(data, by, (questions, cluster), measures, settings)
    if kind != "confidence":
        columns = (correct, confidence, by, questions, cluster)
        return summary_of_scores(data, columns, kind, measures, settings)
    if data is None or isinstance(data, pd.DataFrame):
        trials, names = given_trials(data, correct, confidence, by, questions, cluster)
        return summary_of_trials(trials, names, standard_measures(measures), {}, settings)
    tasks = with_units(read_tasks(data, correct, scorer, signals), cluster_name(cluster))
    noticed = notice_records(results_without_numbers(tasks), stacklevel=2)
    of_logs = _summary_of_logs(tasks, by, standard_measures(measures), settings)
    return replace(of_logs, notices=noticed)


def _is_data(correct: Any, confidence: Any) -> bool:
    """Return whether the first argument is a table or logs."""
    return isinstance(correct, pd.DataFrame) or (confidence is None and is_path(correct))


def _summary_of_logs(
    tasks: Sequence[TaskTrials], by: Any, measures: Sequence[Measure], settings: Settings
) -> Summary:
    """Summarise the trials of logs, with the study's own measures where it has them."""
    logs = pd.concat([trials_frame(task).assign(task=task.task) for task in tasks], ignore_index=True)
    by = OF_LOGS if by is None else by
    trials, names = given_trials(logs, None, None, by, None)
    trials = trials.join(logs[[name for name in logs if name not in trials]])
    own = {task.task: task.study.measures_by_name for task in tasks}
    found = summary_of_trials(trials, names, measures, own, settings)
    return replace(found, frame=_with_sequences(found.frame, tasks)) if set(names) == set(OF_LOGS) else found


OF_LOGS = ("task", "model", "condition")
"""Groups of the trials of logs."""


def _with_sequences(frame: pd.DataFrame, tasks: Sequence[TaskTrials]) -> pd.DataFrame:
    """Return measures by task, model and condition with valid intervals of the gates of runs that stopped early."""
    frame = frame.set_index([*OF_LOGS, "measure"])
    found = [each for task in tasks for model in task.models for each in of_stopped_run(task, model)]
    for each in found:
        row = each.task, each.model, each.condition, each.gate.measure
        if row in frame.index and len(each.limits.low):
            frame.loc[row, ["low", "high", "reason"]] = each.limits.low[-1], each.limits.high[-1], ""
    return frame.reset_index()
