"""Calibration and metacognition of any answers, given as arrays, tables or logs, in Python and notebooks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from confidence_tasks.catalogue import study_named
from confidence_tasks.logs.collection import Path
from confidence_tasks.logs.sequences import of_stopped_run
from confidence_tasks.logs.task_trials import Columns, TaskTrials
from confidence_tasks.own_replies.intervals import LEVEL, interval_trials
from confidence_tasks.report.checks import notice_records
from confidence_tasks.report.clusters import with_units
from confidence_tasks.report.estimates import Estimated, Settings, distributions, estimates
from confidence_tasks.report.extra_tables import trials_frame
from confidence_tasks.report.given import (
    Data,
    cluster_name,
    column_names,
    columns_of,
    is_path,
    measure_names,
    read_tasks,
    settings_of,
    standard_measures,
)
from confidence_tasks.report.groups import Group, split_by_source
from confidence_tasks.report.results import compute_results, estimates_frame, results_without_numbers
from confidence_tasks.report.stopped import remark_on
from confidence_tasks.report.summary_tables import Summary, grouped
from confidence_tasks.statistics import Reason
from confidence_tasks.study import score_measures as scored
from confidence_tasks.study.given import label_column, named_column
from confidence_tasks.study.given_trials import as_pandas, given_trials, with_given_units
from confidence_tasks.study.measures import Measure, StatisticCall
from confidence_tasks.study.standard import computable
from confidence_tasks.study.units import SAMPLING_UNIT


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
    n_resamples: int = 10_000,
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
    n_resamples : int, default 10000
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
    >>> rng = np.random.default_rng(0)
    >>> confidence = rng.uniform(0.5, 1.0, 500).round(2)
    >>> correct = rng.random(500) < confidence - 0.1
    >>> summary(correct, confidence, measures=["accuracy", "ece", "auroc"])
    measure   value    95% interval    n
    Accuracy  0.666  [0.623, 0.706]  500
    ECE       0.099  [0.060, 0.138]  500
    AUROC     0.715  [0.665, 0.760]  500
    """
    scored.check_kind(kind)
    settings = settings_of(level, n_resamples, seed)
    correct, confidence, data = map(as_pandas, (correct, confidence, data))
    if data is None and _is_data(correct, confidence):
        data, correct = correct, None  # type: ignore[assignment]
    if kind == "interval":
        return _summary_of_intervals(data, by, (questions, cluster), measures, settings)
    if kind != "confidence":
        columns = (correct, confidence, by, questions, cluster)
        return _summary_of_scores(data, columns, kind, measures, settings)
    if data is None or isinstance(data, pd.DataFrame):
        trials, names = given_trials(data, correct, confidence, by, questions, cluster)
        return _summary_of_trials(trials, names, standard_measures(measures), {}, settings)
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
    found = _summary_of_trials(trials, names, measures, own, settings)
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


def _summary_of_trials(
    trials: pd.DataFrame,
    names: tuple[str, ...],
    measures: Sequence[Measure],
    own: Mapping[str, Mapping[str, Measure]],
    settings: Settings,
) -> Summary:
    """Summarise trials by the columns of some names; ``own`` has the measures of the study of each task."""
    # As in a report, each model is resampled separately, so that its numbers do not depend on other models.
    rows = []
    for _, positions in grouped(trials, [name for name in ("task", "model") if name in names]):
        part = trials.iloc[positions].reset_index(drop=True)
        for labels, row in _summarise(part, names, _own_measures(measures, part, own), settings):
            rows.append({**dict(zip(names, labels, strict=True)), **row})
    frame = pd.DataFrame(rows, columns=[*names, *_columns_of_numbers(trials)])
    shown = [*names, "question_id", "source", "correct", "confidence", *({SAMPLING_UNIT} & set(trials))]
    return Summary(frame, names, settings.level, trials[list(dict.fromkeys(shown))])


def _summary_of_intervals(
    data: Any, by: Any, units: tuple[Any, Any], measures: Sequence[str] | None, settings: Settings
) -> Summary:
    """Summarise the intervals in a table, for each group and level. ``units`` are the questions and their clusters."""
    if not isinstance(data, pd.DataFrame):
        raise ValueError("kind='interval' needs a table with the columns low, high, truth and level")
    own = study_named("intervals").measures_by_name
    chosen = [own[name] for name in measure_names(measures, list(own))]
    data, names = data.reset_index(drop=True), column_names(by)
    labels = {name: label_column(named_column(data, name, "by"), name, len(data)) for name in names}
    questions, cluster = units
    trials = interval_trials(data, questions).join(pd.DataFrame(labels))
    if cluster is not None:
        of_rows = label_column(named_column(data, cluster, "cluster"), "cluster", len(data))
        trials = with_given_units(trials, of_rows[trials.index])
    trials = trials.reset_index(drop=True)
    parts = [(key, trials.iloc[rows].reset_index(drop=True)) for key, rows in grouped(trials, names)]
    rows = [  # as in a report, each model is resampled separately
        {**dict(zip(names, key, strict=True)), LEVEL: condition.removeprefix("p="), **row}
        for key, part in parts
        for (condition,), row in _summarise(part, ("condition",), chosen, settings)
    ]
    shown = [*names, LEVEL, *_columns_of_numbers(trials)]
    of_level = trials.assign(level=trials["condition"].str.removeprefix("p="))
    return Summary(pd.DataFrame(rows, columns=shown), (*names, LEVEL), settings.level, of_level)


def _summary_of_scores(
    data: Any, columns: tuple[Any, ...], kind: str, measures: Sequence[str] | None, settings: Settings
) -> Summary:
    """Summarise answers with scores, given as arrays or as columns of a table."""
    if not isinstance(data, pd.DataFrame | None):
        raise ValueError("logs say themselves what their signals are: leave out kind")
    correct, confidence, by, questions, cluster = columns
    given = named_column(
        pd.DataFrame() if data is None else data,
        "confidence" if confidence is None else confidence,
        "confidence",
    )
    scores = scored.as_scores(given, kind)
    trials, names = given_trials(data, correct, scored.stretched(scores), by, questions, cluster)
    trials = scored.with_scores(trials, scores)
    requested = measure_names(measures, [*scored.SCORE_MEASURES, *scored.OF_PROBABILITIES])
    chosen = [scored.SCORE_MEASURES[name] for name in requested if name in scored.SCORE_MEASURES]
    rows = [
        {**dict(zip(names, labels, strict=True)), **row}
        for labels, row in _summarise(trials, names, chosen, settings)
    ]
    rows += [
        {**dict(zip(names, labels, strict=True)), **row}
        for labels, positions in grouped(trials, names)
        for row in scored.left_out(requested, len(positions))
    ]
    frame = pd.DataFrame(rows, columns=[*names, *_columns_of_numbers(trials)])
    return Summary(frame, names, settings.level, trials)


def _columns_of_numbers(trials: pd.DataFrame) -> list[str]:
    """Return the columns of a table of measures; with clusters, also their number and effect."""
    of_clusters = ["n_clusters", "design_effect"] if SAMPLING_UNIT in trials else []
    return ["measure", "value", "low", "high", "n", *of_clusters, "reason"]


def _summarise(
    trials: pd.DataFrame, by: Sequence[str], measures: Sequence[Measure], settings: Settings
) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Yield the labels of each group with each measure: its value, limits, number of trials, and reason if missing."""
    parts = [(labels, np.isin(np.arange(len(trials)), rows)) for labels, rows in grouped(trials, by)]
    estimated = _estimates(columns_of(trials), [mask for _, mask in parts], measures, settings)
    for (i, (labels, mask)), measure in product(enumerate(parts), measures):
        yield labels, _row(measure, trials[mask], estimated.get((str(i), measure.name)))


def _estimates(
    columns: Columns, masks: Sequence[NDArray[np.bool_]], measures: Sequence[Measure], settings: Settings
) -> dict[tuple[str, str], Estimated]:
    """Return the estimates of each group of trials and measure, by the number of the group; means over sources."""
    defined = computable(measures, columns["correct"])
    groups = [Group(str(i), "group", split_by_source(columns, mask)) for i, mask in enumerate(masks)]
    drawn = distributions(columns, [cell for group in groups for cell in group.cells], defined, settings)
    estimated = {}
    for group in groups:
        if group.cells:
            of_group = estimates([group], defined, drawn, settings)
            estimated.update({(each.group, each.measure): each for each in of_group if not each.source})
    return estimated


def _row(measure: Measure, trials: pd.DataFrame, entry: Estimated | None) -> dict[str, Any]:
    """Return the numbers of a measure of some trials, and the reason of those that are missing."""
    needed = list(measure.compute.columns) if isinstance(measure.compute, StatisticCall) else []
    n = len(trials.dropna(subset=needed))
    row: dict[str, Any] = {"measure": measure.name, "n": n}
    if n and entry is not None:
        interval = entry.interval
        row |= {"value": float(interval.estimate), "low": float(interval.low), "high": float(interval.high)}
        row["reason"] = remark_on(interval, *trials.get("model", pd.Series()).astype(str).unique())
    else:
        row |= dict.fromkeys(("value", "low", "high"), math.nan)
        row["reason"] = f"no value: {'correct is a probability, not an outcome' if n else Reason.EMPTY}"
    clusters = entry.clusters if entry else None
    row["n_clusters"] = clusters.n if clusters else math.nan
    row["design_effect"] = clusters.design_effect if clusters else math.nan
    return row


def _own_measures(
    measures: Sequence[Measure], trials: pd.DataFrame, own: Mapping[str, Mapping[str, Measure]]
) -> list[Measure]:
    """Return the study's own measures in place of the standard ones of the same name.

    Trials of several tasks have the measures that their studies share. ``own`` has the measures of each task.
    """
    if not own:
        return list(measures)
    tables = [own[task] for task in dict.fromkeys(trials["task"])]
    chosen = []
    for measure in measures:
        found = {id(table.get(measure.name)): table.get(measure.name) for table in tables}
        shared = found.popitem()[1] if len(found) == 1 else None
        chosen.append(shared or measure)
    return chosen


def metrics(
    paths: Path | Iterable[Path],
    *,
    cluster: str = "",
    correct: str = "",
    scorer: str = "",
    signals: str = "",
    measures: Sequence[str] | None = None,
    level: float = 0.95,
    n_resamples: int = 10_000,
    seed: int = 0,
) -> pd.DataFrame:
    r"""Return every measure of the studies of logs, by condition, as a tidy table.

    Parameters
    ----------
    paths : path or sequence of paths
        Inspect logs, sample files of lm-eval, files of trials, or folders of these.
    cluster : str, optional
        As in :func:`summary` for logs.
    correct, scorer, signals : str, optional
        As in :func:`summary` for logs.
    measures : sequence of str, optional
        Names of measures; by default all measures of each study.
    level, n_resamples, seed
        As in :func:`summary`.

    Returns
    -------
    DataFrame
        One row per measure and condition: ``study``, ``task``, ``model``, ``condition``, ``measure``, ``value``,
        ``low``, ``high``, ``n`` (trials), ``n_clusters`` and ``design_effect`` (NaN without clusters) and ``reason``
        (why a value or an interval is missing, or that its nominal coverage does not hold). With several sources,
        values are means over the sources.
        ``attrs["notices"]`` has the notices of the report's checks, a list of mappings with ``severity``, ``task``,
        ``title``, ``meaning`` and ``where``.

    Raises
    ------
    ValueError
        If no study has a measure, or there are no trials.

    Warns
    -----
    UserWarning
        For each serious notice, and for each skipped file.

    Examples
    --------
    >>> import tempfile
    >>> path = f"{tempfile.mkdtemp()}/mine.csv"
    >>> with open(path, "w") as file:
    ...     _ = file.write("study,question_id,source,condition,correct,confidence,status\n")
    ...     _ = file.write("scales,q-1,mine,0-20,1,0.85,ok\nscales,q-2,mine,0-20,0,0.7,ok\n")
    >>> metrics(path, measures=["accuracy", "brier"])[["condition", "measure", "value", "n"]]
      condition   measure    value  n
    0      0-20  accuracy  0.50000  2
    1      0-20     brier  0.25625  2
    """
    settings = settings_of(level, n_resamples, seed)
    tasks = with_units(read_tasks(paths, correct, scorer, signals), cluster_name(cluster))
    known = list(dict.fromkeys(name for task in tasks for name in task.study.measures_by_name))
    names = measure_names(measures, known)
    results = list(compute_results(tasks, settings))
    table = estimates_frame(results)
    table = table[(table["source"] == "") & table["measure"].isin(names)]
    table = table.rename(columns={"group": "condition"})[
        [
            *("study", "task", "model", "condition", "measure", "value", "low", "high", "n"),
            *("n_clusters", "design_effect", "reason"),
        ]
    ].reset_index(drop=True)
    table.attrs["notices"] = notice_records(results, stacklevel=2)
    return table
