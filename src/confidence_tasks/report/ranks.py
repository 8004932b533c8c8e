"""The ranks of several models as a table that prints in a terminal or a notebook."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any

import numpy as np
import pandas as pd

from confidence_tasks.logs.clusters import with_units
from confidence_tasks.logs.task_trials import TaskTrials
from confidence_tasks.report import given, ranked_tasks
from confidence_tasks.report.estimates.paired_trials import shared_trials
from confidence_tasks.report.estimates.ranking import Ranking, rank_by_measures, rank_text
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.labels import measure_label, number
from confidence_tasks.report.stopped import remark_on
from confidence_tasks.report.summary_tables import Table
from confidence_tasks.study.given_trials import given_trials
from confidence_tasks.study.measure import Measure
from confidence_tasks.study.standard import computable

KEYS = ("study", "task", "condition")


@dataclass(frozen=True, repr=False, eq=False)
class Ranks(Table):
    """The models of each measure with their ranks, returned by :func:`compare` for more than two models.

    Attributes
    ----------
    frame : DataFrame
        The columns of ``by``, then ``measure``, ``model``, ``value``, ``low``, ``high`` (the interval of the model
        alone), ``rank_first`` and ``rank_last`` (limits of the rank), ``leads`` (whether the model is not told apart
        from the best), ``n`` (shared questions) and ``reason`` (why a value, an interval or a rank is missing).
    pairs : DataFrame
        All pairs of models: ``first``, ``second``, their ``difference``, ``low``, ``high``, ``p_adjusted`` and
        ``reason``. All intervals and ranks of a task hold at once with the level.
    """

    pairs: pd.DataFrame

    @classmethod
    def of(cls, rankings: Sequence[Ranking], level: float) -> Ranks:
        """Return the tables of rankings."""
        return cls(rank_frame(rankings), ("task", "condition"), level, pair_frame(rankings))

    def _cells(self, row: pd.Series[Any]) -> dict[str, str]:
        return {
            "measure": measure_label(row["measure"]),
            "model": row["model"],
            "value": number(row["value"], 3),
            **self._interval(row),
            "rank": rank_text(row["rank_first"], row["rank_last"]),
            "n": f"{row['n']:,}",
        }

    def _note(self) -> str:
        return "rank: all ranks hold at once with this level; a rank from 1 is not told apart from the best"


def ranks_of(
    models: Sequence[Any],
    columns: Mapping[str, Any],
    for_two: Mapping[str, Any],
    of_logs: tuple[str, str],
    measures: Sequence[str] | None,
    settings: Settings,
) -> Ranks:
    """Compare several models at once, as :func:`~confidence_tasks.compare` does.

    Parameters
    ----------
    models : sequence
        Paths of logs, tables, or pairs of arrays, all of one kind.
    columns : mapping
        The arguments ``correct``, ``confidence``, ``questions`` and ``cluster``.
    for_two : mapping
        The arguments that only two models have; they must be None.
    of_logs : (str, str)
        The arguments ``scorer`` and ``signals``.
    measures
        As in :func:`~confidence_tasks.compare`.
    settings : Settings
        Settings of intervals and tests.

    Raises
    ------
    ValueError
        If the models are of several kinds or share no question, or their questions are not given.
    """
    if unsuitable := [name for name, value in for_two.items() if value is not None]:
        raise ValueError(f"{', '.join(unsuitable)} is for two models: give a and b")
    if all(map(given.is_path, models)):
        cluster = given.cluster_name(columns["cluster"])
        by_path = {str(path): given.read_tasks(path, columns["correct"], *of_logs) for path in models}
        tasks = with_units(ranked_tasks.joined_tasks(by_path), cluster)
        rankings = ranked_tasks.rank_tasks(tasks, measures, settings)
        for task in tasks:
            _warn(task)
    else:
        rankings = _rank_trials(_given(models, columns), given.standard_measures(measures), settings)
    if not rankings:
        raise ValueError("no two models share a question under the same condition of one task")
    return Ranks.of(rankings, settings.level)


def _warn(task: TaskTrials) -> None:
    """Raise a Python warning for each serious notice, and for questions that are left out."""
    if len(task.models) > 1:
        raised = [each for each in ranked_tasks.cautions_of_many(task) if each.severity == "serious"]
        for notice in dict.fromkeys([*ranked_tasks.left_out(task), *raised]):
            warnings.warn(f"{task.task}: {notice.title}: {'; '.join(notice.where)}", stacklevel=4)


def _given(models: Sequence[Any], columns: Mapping[str, Any]) -> list[pd.DataFrame]:
    """Return the trials of models that are given as tables or as pairs of arrays."""
    n_tables = sum(isinstance(model, pd.DataFrame) for model in models)
    if any(map(given.is_path, models)) or n_tables not in (0, len(models)):
        raise ValueError("give models of one kind: logs, tables, or pairs of arrays")
    if len(models) < 2:
        raise ValueError("give the answers of two models or more")
    questions, cluster = columns["questions"], columns["cluster"]
    if questions is None and n_tables:
        questions = "question_id"
    if questions is None:
        raise ValueError("several models are compared on the same questions: give questions")
    if n_tables:
        names = columns["correct"], columns["confidence"], None, questions, cluster
        return [given_trials(model, *names)[0] for model in models]
    return _of_arrays(models, questions, cluster)


def _of_arrays(models: Sequence[Any], questions: Any, cluster: Any) -> list[pd.DataFrame]:
    """Return the trials of models that are given as pairs of arrays."""
    n = len(models)
    return [
        given_trials(None, *given.correct_and_confidence(model), None, of_model, shared)[0]
        for model, of_model, shared in zip(models, _each(questions, n), _each(cluster, n), strict=True)
    ]


def _each(labels: Any, n: int) -> list[Any]:
    """Return the labels of each of n models, which are n arrays or the same array."""
    is_many = isinstance(labels, tuple | list) and len(labels) == n and all(map(np.ndim, labels))
    return list(labels) if is_many else [labels] * n


def _rank_trials(
    trials: Sequence[pd.DataFrame], measures: Sequence[Measure], settings: Settings
) -> list[Ranking]:
    """Rank models called A, B, ... on the questions that all have."""
    shared = shared_trials([given.under_one_condition(each) for each in trials], ("",))
    if not len(shared[0]["question_id"]):
        return []
    defined = computable(measures, np.concatenate([each["correct"] for each in shared]))
    labels = [ascii_uppercase[i] if i < len(ascii_uppercase) else str(i + 1) for i in range(len(trials))]
    return rank_by_measures(defined, settings, len(defined), labels, shared)


def rank_frame(rankings: Sequence[Ranking]) -> pd.DataFrame:
    """Return one row for each model of each ranking."""
    rows = [
        {
            **_names(ranking),
            "model": each.model,
            "value": float(each.interval.estimate),
            "low": float(each.interval.low),
            "high": float(each.interval.high),
            "rank_first": each.first,
            "rank_last": each.last,
            "leads": each.model in ranking.leaders,
            "n": ranking.n_questions,
            "reason": each.reason or remark_on(each.interval, each.model),
        }
        for ranking in rankings
        for each in ranking.models
    ]
    return pd.DataFrame(rows)


def pair_frame(rankings: Sequence[Ranking]) -> pd.DataFrame:
    """Return one row for each pair of models of each ranking."""
    rows = [
        {
            **_names(ranking),
            "first": pair.first,
            "second": pair.second,
            "difference": float(pair.difference.estimate),
            "low": float(pair.difference.low),
            "high": float(pair.difference.high),
            "p_adjusted": pair.p_adjusted,
            "reason": remark_on(pair.difference, pair.first, pair.second),
        }
        for ranking in rankings
        for pair in ranking.pairs
    ]
    columns = ("first", "second", "difference", "low", "high", "p_adjusted", "reason")
    return pd.DataFrame(rows, columns=[*KEYS, "measure", *columns])


def _names(ranking: Ranking) -> dict[str, str]:
    return {**{name: getattr(ranking, name) for name in KEYS}, "measure": ranking.measure}


def not_told_apart(ranking: Ranking) -> str:
    """Return a sentence on the models that are not told apart from the best; empty if no direction is better."""
    leaders, ranked = ranking.leaders, [each for each in ranking.models if each.first]
    if not leaders:
        return ""
    found = f"pairs that differ: {sum(pair.differs for pair in ranking.pairs)} of {len(ranking.pairs)}"
    if len(leaders) == 1:
        return f"{leaders[0]} is better than every other model; {found}."
    if len(leaders) == len(ranked):
        return f"No model is told apart from the best, {leaders[0]}; {found}."
    return f"Not told apart from the best, {leaders[0]}: {', '.join(leaders[1:])}; {found}."
