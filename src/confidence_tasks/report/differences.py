"""``confidence_tasks.compare``: two models, releases or groups of answers, given as arrays, tables or logs."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from confidence_tasks.logs.clusters import with_units
from confidence_tasks.logs.model_pairs import model_pairs
from confidence_tasks.logs.task_trials import ModelTrials, TaskTrials
from confidence_tasks.report import given
from confidence_tasks.report.checks import told
from confidence_tasks.report.compared_runs import cautions
from confidence_tasks.report.estimates import compare as comparison
from confidence_tasks.report.estimates.contrast import Contrast
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.estimates.two_models import compare_models
from confidence_tasks.report.ranks import Ranks, ranks_of
from confidence_tasks.report.stopped import remark_on
from confidence_tasks.report.summary_tables import Differences, grouped
from confidence_tasks.study.given_trials import as_pandas, given_trials


def compare(
    a: Any,
    b: Any = None,
    *more: Any,
    correct: str | None = None,
    confidence: str | None = None,
    questions: Any = None,
    cluster: Any = None,
    by: str | Sequence[str] | None = None,
    model_a: str | None = None,
    model_b: str | None = None,
    scorer: str = "",
    signals: str = "",
    measures: Sequence[str] | None = None,
    level: float = 0.95,
    n_resamples: int = 2_000,
    seed: int = 0,
) -> Differences | Ranks:
    """Compare two models, releases or groups of answers: differences with intervals and tests, A minus B.

    Several models are compared all at once: each has a rank with limits.

    Parameters
    ----------
    a, b : pair of array_like, DataFrame, or path(s)
        Answers of each: ``(correct, confidence)`` as in :func:`summary`, a table with these columns, or logs.
    *more : pair of array_like, DataFrame, or path(s), optional
        Answers of further models. With these, or with ``a`` alone, which then are logs of several models, all models
        are compared at once, on the questions that all of them were asked.
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
    scorer, signals : str, optional
        As in :func:`summary`, and so is ``correct`` for logs.
    measures : sequence of str, optional
        Names of measures: by default those of :func:`summary` or, for logs, those of ``confidence-tasks compare``.
    level, n_resamples, seed
        As in :func:`summary`; ``n_resamples`` is also the number of exchanges. A test has five times as
        many if its p-value is below 0.1.

    Returns
    -------
    Differences or Ranks
        Prints as a table; :meth:`~Table.to_frame` returns the numbers, :meth:`~Differences.plot` draws them. Several
        models give :class:`~confidence_tasks.report.ranks.Ranks`, which has the simultaneous intervals of all pairs in
        ``pairs``.

    Raises
    ------
    ValueError
        As in :func:`summary`, and if A and B share no question.

    Warns
    -----
    UserWarning
        For logs, for each serious notice of the report's checks; all notices are in ``notices``.

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
    settings = given.settings_of(level, n_resamples, seed)
    if more or b is None:
        columns = {"correct": correct, "confidence": confidence, "questions": questions, "cluster": cluster}
        for_two = {"by": by, "model_a": model_a, "model_b": model_b}
        return ranks_of(_given((a, b, *more)), columns, for_two, (scorer, signals), measures, settings)
    a, b = map(as_pandas, (a, b))
    by_names = given.column_names(by)
    kind, other = _kind(a), _kind(b)
    if kind != other:
        raise ValueError(f"a is {kind} and b is {other}: give two of the same kind")
    if kind == "logs":
        logs = [given.read_tasks(side, correct, scorer, signals) for side in (a, b)]
        settings = replace(settings, cluster=given.cluster_name(cluster))
        return _compare_logs(logs, by_names, (model_a, model_b), measures, settings)
    _check_no_models(model_a, model_b)
    if kind == "a table":
        questions = questions if questions is not None else _shared_questions(a, b)
        sides = [given_trials(side, correct, confidence, by_names, questions, cluster)[0] for side in (a, b)]
    else:
        sides = _sides_of_arrays(a, b, by, questions, cluster)
    chosen = [measure.name for measure in given.standard_measures(measures)]
    return _compare_tables(sides[0], sides[1], by_names, chosen, settings, paired=questions is not None)


def _given(models: Sequence[Any]) -> list[Any]:
    """Return the models that are given."""
    return [as_pandas(each) for each in models if each is not None]


def _check_no_models(*names: str | None) -> None:
    """Raise ValueError if a model is named."""
    if any(name is not None for name in names):
        raise ValueError("model_a and model_b select models of logs, but a and b are not logs")


def _kind(side: Any) -> str:
    """Return in words what a side is."""
    if given.is_path(side):
        return "logs"
    return "a table" if isinstance(side, pd.DataFrame) else "arrays"


def _shared_questions(a: pd.DataFrame, b: pd.DataFrame) -> str | None:
    """Return the default name of the column of questions, if both tables have it."""
    return "question_id" if "question_id" in a and "question_id" in b else None


def _sides_of_arrays(a: Any, b: Any, by: Any, questions: Any, cluster: Any) -> list[pd.DataFrame]:
    """Return the trials of pairs of arrays."""
    if by is not None:
        raise ValueError("by names columns of tables or logs, but a and b are arrays: give two tables")
    return [
        given_trials(None, *given.correct_and_confidence(side), None, of_side, shared)[0]
        for side, of_side, shared in zip((a, b), _pair(questions), _pair(cluster), strict=True)
    ]


def _pair(labels: Any) -> tuple[Any, Any]:
    """Return the labels of A and of B, which are a pair of arrays or the same array."""
    is_pair = isinstance(labels, tuple | list) and len(labels) == 2 and all(map(np.ndim, labels))
    return (labels[0], labels[1]) if is_pair else (labels, labels)


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
        {"task": each.task, "condition": each.group, **_difference(each)}
        for task, first, second in pairs
        for each in compare_models(first, second, task, measures, settings, "".join(by))
    ]
    if not rows:
        raise ValueError(
            "; ".join(["a and b share no question under the same condition of one task", *skipped])
        )
    for text in skipped:
        warnings.warn(text, stacklevel=3)
    noticed = _told(pairs, settings)
    return Differences(
        pd.DataFrame(rows), ("task", "condition"), settings.level, paired=True, notices=noticed
    )


def _told(
    pairs: Sequence[tuple[TaskTrials, ModelTrials, ModelTrials]], settings: Settings
) -> list[dict[str, str]]:
    """Return the notices on each comparison, and warn of the serious ones."""
    noticed = []
    for task, first, second in pairs:
        for notice in cautions(first, second, task, settings):
            noticed.append(told(task.task, notice, stacklevel=4))  # noqa: PERF401 (a frame in 3.11)
    return noticed


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
    compared = dict(zip(pairs, comparison.compare(list(pairs.values()), settings), strict=True))
    rows: list[dict[str, Any]] = []
    for measure in measures:
        found = [
            (group, each)
            for group, of_pair in compared.items()
            for each in of_pair
            if each.measure == measure
        ]
        corrected = comparison.holm_corrected([each for _, each in found])
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
) -> dict[tuple[str, ...], comparison.Pair]:
    """Return the trials to compare by the labels of their group."""
    if not paired:  # independent samples share no question
        a, b = (side.assign(question_id=name + side["question_id"]) for name, side in (("a", a), ("b", b)))
    of_b = dict(grouped(b, by))
    return {
        group: comparison.Pair(
            given.under_one_condition(a.iloc[rows]),
            given.under_one_condition(b.iloc[of_b[group]]),
            tuple(measures),
            conditions=("",) if paired else None,
        )
        for group, rows in grouped(a, by)
        if group in of_b
    }


def _difference(each: Contrast) -> dict[str, Any]:
    a, b = each.values
    return {
        "measure": each.measure,
        "a": float(a.estimate),
        "b": float(b.estimate),
        "difference": float(each.interval.estimate),
        "low": float(each.interval.low),
        "high": float(each.interval.high),
        "p_value": each.p_value,
        "p_adjusted": each.p_adjusted,
        "n": each.n_questions,
        **_of_clusters(each),
        "reason": remark_on(each.interval, each.a.model, each.b.model),
    }


def _of_clusters(each: Contrast) -> dict[str, Any]:
    if each.n_clusters is None:
        return {}
    return {"n_clusters": each.n_clusters, "design_effect": each.design_effect}
