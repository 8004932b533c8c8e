"""Calibration and metacognition of any answers, given as arrays, tables or logs, in Python and notebooks."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from numbers import Integral, Real
from os import PathLike
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from confidence_tasks.harness.correctness import Correctness
from confidence_tasks.report.checks import notice_records
from confidence_tasks.report.clusters import with_units
from confidence_tasks.report.collection import Path, collect
from confidence_tasks.report.compare import (
    Comparison,
    Pair,
    compare_models,
    holm_corrected,
    model_pairs,
)
from confidence_tasks.report.compare import compare as compare_pairs
from confidence_tasks.report.estimates import Settings, distributions, estimates
from confidence_tasks.report.extra_tables import trials_frame
from confidence_tasks.report.interval_summary import INTERVAL_MEASURES, summarise_intervals
from confidence_tasks.report.labels import why_missing
from confidence_tasks.report.results import compute_results, estimates_frame, results_without_numbers
from confidence_tasks.report.summary_tables import Differences, Summary, grouped
from confidence_tasks.report.task_trials import Columns, Group, TaskTrials, group_by_task, split_by_source
from confidence_tasks.statistics import Reason
from confidence_tasks.statistics.core import (
    undefined,
)
from confidence_tasks.study.given import named_column
from confidence_tasks.study.given_trials import as_pandas, given_trials
from confidence_tasks.study.measures import Measure, StatisticCall
from confidence_tasks.study.parameter import did_you_mean
from confidence_tasks.study.score_measures import (
    OF_PROBABILITIES,
    SCORE_MEASURES,
    as_scores,
    check_kind,
    left_out,
    stretched,
    with_scores,
)
from confidence_tasks.study.standard import STANDARD, computable
from confidence_tasks.study.units import SAMPLING_UNIT


def _measure_names(names: Sequence[str] | str | None, known: Sequence[str]) -> Sequence[str]:
    """Return the names of the requested measures, by default all; ValueError if one is unknown."""
    requested = [names] if isinstance(names, str) else names or known
    for name in requested:
        if name not in known:
            raise ValueError(
                f"there is no measure {name!r}{did_you_mean(name, known)}; there are {', '.join(known)}"
            )
    return requested


def _standard_measures(names: Sequence[str] | None) -> list[Measure]:
    standard = {measure.name: measure for measure in STANDARD}
    return [standard[name] for name in _measure_names(names, list(standard))]


def _columns(trials: pd.DataFrame) -> Columns:
    return {str(name): trials[name].to_numpy() for name in trials}


def summary(
    correct: ArrayLike | str | Data | None = None,
    confidence: ArrayLike | str | None = None,
    *,
    data: Data | None = None,
    by: Any = None,
    questions: ArrayLike | str | None = None,
    cluster: ArrayLike | str | None = None,
    scorer: str = "",
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
    check_kind(kind)
    settings = _settings(level, n_resamples, seed)
    noticed: list[dict[str, str]] = []
    own: dict[str, Mapping[str, Measure]] = {}
    correct, confidence, data = map(as_pandas, (correct, confidence, data))
    if data is None and (isinstance(correct, pd.DataFrame) or (confidence is None and _is_path(correct))):
        data, correct = correct, None  # type: ignore[assignment]
    if kind == "interval":
        return _summary_of_intervals(data, by, questions, measures, settings)
    if kind != "confidence":
        columns = (correct, confidence, by, questions, cluster)
        return _summary_of_scores(data, columns, kind, measures, settings)
    if data is None or isinstance(data, pd.DataFrame):
        trials, names = given_trials(data, correct, confidence, by, questions, cluster)
    else:
        tasks = with_units(_read_tasks(data, correct, scorer), _cluster_name(cluster))
        noticed = notice_records(results_without_numbers(tasks), stacklevel=2)
        logs = pd.concat([trials_frame(task).assign(task=task.task) for task in tasks], ignore_index=True)
        by = ("task", "model", "condition") if by is None else by
        trials, names = given_trials(logs, None, None, by, None)
        trials = trials.join(logs[[name for name in logs if name not in trials]])
        own = {task.task: task.study.measures_by_name for task in tasks}
    chosen = _standard_measures(measures)
    # As in a report, each model is resampled separately, so that its numbers do not depend on other models.
    rows = []
    for _, positions in grouped(trials, [name for name in ("task", "model") if name in names]):
        part = trials.iloc[positions].reset_index(drop=True)
        for labels, row in _summarise(part, names, _own_measures(chosen, part, own), settings):
            rows.append({**dict(zip(names, labels, strict=True)), **row})
    of_clusters = ["n_clusters", "design_effect"] if SAMPLING_UNIT in trials else []
    frame = pd.DataFrame(
        rows, columns=[*names, "measure", "value", "low", "high", "n", *of_clusters, "reason"]
    )
    shown = [*names, "question_id", "source", "correct", "confidence", *({SAMPLING_UNIT} & set(trials))]
    return Summary(frame, names, level, trials[list(dict.fromkeys(shown))], noticed)


def _summary_of_intervals(
    data: Any, by: Any, questions: Any, measures: Sequence[str] | None, settings: Settings
) -> Summary:
    if not isinstance(data, pd.DataFrame):
        raise ValueError("kind='interval' needs a table with the columns low, high, truth and level")
    names = [by] if isinstance(by, str) else list(by or ())
    requested = _measure_names(measures, INTERVAL_MEASURES)
    return summarise_intervals(data, names, questions, requested, settings)


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
    scores = as_scores(given, kind)
    trials, names = given_trials(data, correct, stretched(scores), by, questions, cluster)
    trials = with_scores(trials, scores)
    requested = _measure_names(measures, [*SCORE_MEASURES, *OF_PROBABILITIES])
    chosen = [SCORE_MEASURES[name] for name in requested if name in SCORE_MEASURES]
    rows = [
        {**dict(zip(names, labels, strict=True)), **row}
        for labels, row in _summarise(trials, names, chosen, settings)
    ]
    rows += [
        {**dict(zip(names, labels, strict=True)), **row}
        for labels, positions in grouped(trials, names)
        for row in left_out(requested, len(positions))
    ]
    frame = pd.DataFrame(rows, columns=[*names, "measure", "value", "low", "high", "n", "reason"])
    return Summary(frame, names, settings.level, trials)


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


def _settings(level: float, n_resamples: int, seed: int) -> Settings:
    if not isinstance(level, Real) or not 0.0 < level < 1.0:
        raise ValueError(f"level must lie in (0, 1), got {level!r}: 95% is 0.95")
    for name, number, least in (("n_resamples", n_resamples, 1), ("seed", seed, 0)):
        if isinstance(number, bool) or not isinstance(number, Integral) or number < least:
            raise ValueError(f"{name} must be a whole number from {least} up, got {number!r}")
    return Settings(n_resamples, level, seed)


def _summarise(
    trials: pd.DataFrame, by: Sequence[str], measures: Sequence[Measure], settings: Settings
) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Yield the labels of each group with each measure: its value, limits, number of trials, and reason if missing."""
    columns = _columns(trials)
    defined = computable(measures, columns["correct"])
    parts = [(labels, np.isin(np.arange(len(trials)), rows)) for labels, rows in grouped(trials, by)]
    groups = [Group(str(i), "group", split_by_source(columns, mask)) for i, (_, mask) in enumerate(parts)]
    cells = [cell for group in groups for cell in group.cells]
    drawn = distributions(columns, cells, defined, settings)
    estimated = {
        (entry.group, entry.measure): entry
        for group in groups
        if group.cells
        for entry in estimates([group], defined, drawn, settings)
        if not entry.source
    }
    for (i, (labels, mask)), measure in product(enumerate(parts), measures):
        needed = list(measure.compute.columns) if isinstance(measure.compute, StatisticCall) else []
        n = len(trials[mask].dropna(subset=needed))
        entry = estimated.get((str(i), measure.name))
        if entry is None or not n:
            value = low = high = undefined(Reason.EMPTY)
            reason = f"no value: {'correct is a probability, not an outcome' if n else value.reason}"
        else:
            interval = entry.interval
            value, low, high, reason = interval.estimate, interval.low, interval.high, why_missing(interval)
        clusters = entry.clusters if entry else None
        numbers = {"value": float(value), "low": float(low), "high": float(high), "n": n, "reason": reason}
        numbers["n_clusters"] = clusters.n if clusters else math.nan
        numbers["design_effect"] = clusters.design_effect if clusters else math.nan
        yield labels, {"measure": measure.name, **numbers}


def metrics(
    paths: Path | Iterable[Path],
    *,
    cluster: str = "",
    correct: str = "",
    scorer: str = "",
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
    correct, scorer : str, optional
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
        (why a value or an interval is missing). With several sources, values are means over the sources.
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
    settings = _settings(level, n_resamples, seed)
    tasks = with_units(_read_tasks(paths, correct, scorer), _cluster_name(cluster))
    known = list(dict.fromkeys(name for task in tasks for name in task.study.measures_by_name))
    names = _measure_names(measures, known)
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


# Comparisons ---------------------------------------------------------------------------------------------------------


def compare(
    a: Any,
    b: Any,
    *,
    correct: str | None = None,
    confidence: str | None = None,
    questions: Any = None,
    cluster: Any = None,
    by: str | Sequence[str] | None = None,
    model_a: str | None = None,
    model_b: str | None = None,
    scorer: str = "",
    measures: Sequence[str] | None = None,
    level: float = 0.95,
    n_resamples: int = 10_000,
    seed: int = 0,
) -> Differences:
    """Compare two models, releases or groups of answers: differences with intervals and tests, A minus B.

    Parameters
    ----------
    a, b : pair of array_like, DataFrame, or path(s)
        Answers of each: ``(correct, confidence)`` as in :func:`summary`, a table with these columns, or logs.
    correct, confidence : str, optional
        For tables, the names of these columns, if they differ from the defaults.
    questions : array_like, pair of array_like, or str, optional
        The question of each trial: one array if A and B have the same questions in the same order, otherwise a pair.
        For tables, the name of the column, by default ``question_id`` if both have it. With questions, A and B are
        paired by the questions that both have; without, they are independent samples.
    cluster : array_like, pair of array_like, or str, optional
        What several questions share, such as a passage: clusters are the units instead of questions. One array for A
        and B, or a pair; for tables, the name of a column; for logs as in :func:`summary`.
    by : str or sequence of str, optional
        Columns of tables, or one column of logs: A and B are compared separately for each of their values. Logs are
        always compared by task and condition.
    model_a, model_b : str, optional
        For logs with several models, the names of the model of A and of the model of B.
    scorer : str, optional
        As in :func:`summary`, and so is ``correct`` for logs.
    measures : sequence of str, optional
        Names of measures: by default those of :func:`summary` or, for logs, those of ``confidence-tasks compare``.
    level, n_resamples, seed
        As in :func:`summary`; ``n_resamples`` is also the number of exchanges.

    Returns
    -------
    Differences
        Prints as a table; :meth:`~Table.to_frame` returns the numbers, :meth:`~Differences.plot` draws them.

    Raises
    ------
    ValueError
        As in :func:`summary`, and if A and B share no question.

    Notes
    -----
    Interval and p-value come from one pivot, as in ``confidence-tasks compare``, and cannot contradict each other.
    Where the measure allows it, the test is a studentised permutation test, which exchanges A and B within questions
    or, without questions, trials between A and B.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> correct = rng.random(300) < 0.7
    >>> sure = np.where(correct, 0.8, 0.6)
    >>> differences = compare((correct, sure), (correct, np.full(300, 0.9)), questions=np.arange(300))
    >>> differences.to_frame().set_index("measure").loc["overconfidence", ["a", "b"]].round(3).tolist()
    [0.099, 0.273]
    """
    settings, models = _settings(level, n_resamples, seed), (model_a, model_b)
    a, b = map(as_pandas, (a, b))
    names = () if by is None else (by,) if isinstance(by, str) else tuple(by)
    kind, other = (
        "logs" if _is_path(side) else "a table" if isinstance(side, pd.DataFrame) else "arrays"
        for side in (a, b)
    )
    if kind != other:
        raise ValueError(f"a is {kind} and b is {other}: give two of the same kind")
    if kind == "logs":
        logs = [_read_tasks(side, correct, scorer) for side in (a, b)]
        return _compare_logs(logs, names, models, measures, replace(settings, cluster=_cluster_name(cluster)))
    if models != (None, None):
        raise ValueError("model_a and model_b select models of logs, but a and b are not logs")
    if kind == "a table":
        if questions is None and all("question_id" in side for side in (a, b)):
            questions = "question_id"
        sides = [given_trials(side, correct, confidence, names, questions, cluster)[0] for side in (a, b)]
    else:
        if by is not None:
            raise ValueError("by names columns of tables or logs, but a and b are arrays: give two tables")
        sides = [
            given_trials(None, *_correct_and_confidence(side), None, of_side, shared)[0]
            for side, of_side, shared in zip((a, b), _pair(questions), _pair(cluster), strict=True)
        ]
    chosen = [measure.name for measure in _standard_measures(measures)]
    return _compare_tables(sides[0], sides[1], names, chosen, settings, paired=questions is not None)


def _pair(labels: Any) -> tuple[Any, Any]:
    """Return the labels of A and of B, which are a pair of arrays or the same array."""
    is_pair = isinstance(labels, tuple | list) and len(labels) == 2 and all(map(np.ndim, labels))
    return (labels[0], labels[1]) if is_pair else (labels, labels)


def _cluster_name(cluster: Any) -> str:
    if not isinstance(cluster, str | None):
        raise ValueError("cluster names what the questions of logs share, such as 'passage' or a column")
    return cluster or ""


def _correct_and_confidence(side: Any) -> tuple[Any, Any]:
    try:
        correct, confidence = side
    except (TypeError, ValueError):
        raise ValueError(
            "give a and b as (correct, confidence), as tables with these columns, or as paths of logs"
        ) from None
    return correct, confidence


def _compare_logs(
    logs: Sequence[list[TaskTrials]],
    by: tuple[str, ...],
    models: tuple[str | None, str | None],
    measures: Sequence[str] | None,
    settings: Settings,
) -> Differences:
    if len(by) > 1:
        raise ValueError(f"logs are compared by one column besides task and condition, got {', '.join(by)}")
    ours, theirs = (with_units(tasks, settings.cluster) for tasks in logs)
    pairs, unpaired = model_pairs(ours, theirs, models, ("model_a", "model_b"))
    skipped = [f"skipped {task}: {reason}" for task, reason in unpaired.items()]
    rows = [
        {"task": each.task, "condition": each.condition, **_difference(each)}
        for task, first, second in pairs
        for each in compare_models(first, second, task, measures, settings, "".join(by))
    ]
    if not rows:
        raise ValueError(
            "; ".join(["a and b share no question under the same condition of one task", *skipped])
        )
    for text in skipped:
        warnings.warn(text, stacklevel=3)
    return Differences(pd.DataFrame(rows), ("task", "condition"), settings.level, paired=True)


def _compare_tables(
    a: pd.DataFrame,
    b: pd.DataFrame,
    by: tuple[str, ...],
    measures: Sequence[str],
    settings: Settings,
    *,
    paired: bool,
) -> Differences:
    """Compare the trials of each group that A and B share."""
    pairs = _pairs_by_group(a, b, by, measures, paired=paired)
    compared = dict(zip(pairs, compare_pairs(list(pairs.values()), settings), strict=True))
    rows: list[dict[str, Any]] = []
    for measure in measures:
        found = [
            (group, each)
            for group, of_pair in compared.items()
            for each in of_pair
            if each.measure == measure
        ]
        corrected = holm_corrected([each for _, each in found])
        for (group, _), each in zip(found, corrected, strict=True):
            rows.append({**dict(zip(by, group, strict=True)), **_difference(each)})
    if not rows and paired:
        raise ValueError(
            "a and b share no question: give the same labels to the same questions, or leave out questions to compare"
            " independent samples"
        )
    if not rows:
        raise ValueError("a or b has no trials")
    return Differences(pd.DataFrame(rows), by, settings.level, paired)


def _pairs_by_group(
    a: pd.DataFrame, b: pd.DataFrame, by: tuple[str, ...], measures: Sequence[str], *, paired: bool
) -> dict[tuple[str, ...], Pair]:
    """Return the trials to compare by the labels of their group."""
    if not paired:  # independent samples share no question
        a, b = (side.assign(question_id=name + side["question_id"]) for name, side in (("a", a), ("b", b)))
    of_b = dict(grouped(b, by))
    return {
        group: Pair(
            _under_one_condition(a.iloc[rows]),
            _under_one_condition(b.iloc[of_b[group]]),
            tuple(measures),
            conditions=("",) if paired else None,
        )
        for group, rows in grouped(a, by)
        if group in of_b
    }


def _under_one_condition(trials: pd.DataFrame) -> Columns:
    return _columns(trials.assign(condition=""))


def _difference(each: Comparison) -> dict[str, Any]:
    return {
        "measure": each.measure,
        "a": float(each.first_interval.estimate),
        "b": float(each.second_interval.estimate),
        "difference": float(each.difference.estimate),
        "low": float(each.difference.low),
        "high": float(each.difference.high),
        "p_value": each.p_value,
        "p_adjusted": each.p_adjusted,
        "n": each.n_questions,
        **_of_clusters(each),
        "reason": why_missing(each.difference),
    }


def _of_clusters(each: Comparison) -> dict[str, Any]:
    if each.n_clusters is None:
        return {}
    return {"n_clusters": each.n_clusters, "design_effect": each.design_effects[-1]}


# Input ----------------------------------------------------------------------------------------------------------


Data: TypeAlias = pd.DataFrame | Path | Iterable[Path]
"""A table of trials, or paths of logs, sample files of lm-eval, files of trials, or folders of these."""


def _is_path(value: Any) -> bool:
    """Return whether a value is a path or a non-empty sequence of paths."""
    if isinstance(value, str | PathLike):
        return True
    return isinstance(value, list | tuple) and len(value) > 0 and all(map(_is_path, value))


def _read_tasks(paths: Path | Iterable[Path], correct: Any = None, scorer: str = "") -> list[TaskTrials]:
    """Read logs, with a warning for each skipped file; ValueError if there are no trials."""
    if not isinstance(correct, str | None):
        raise ValueError("for logs, correct is a metric such as 'exact_match', or a bound such as 'f1>=0.5'")
    if isinstance(paths, pd.DataFrame | Mapping):
        raise ValueError("give the paths of logs; for a table, `summary` computes the measures")
    paths = as_pandas(paths)
    collection = collect(paths, correct=Correctness.parse(correct or "", scorer))
    skipped = [f"{file.path}: {file.reason}" for file in collection.skipped]
    if not collection.files:
        raise ValueError(f"no trials were found: {'; '.join(skipped)}")
    for text in skipped:
        warnings.warn(f"skipped {text}", stacklevel=3)
    return group_by_task(collection.files)
