"""Calibration and metacognition of any answers, from arrays, tables or logs, for use in Python and in notebooks."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence, ValuesView
from dataclasses import replace
from itertools import product
from numbers import Integral, Real
from os import PathLike
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from confidence_tasks.report.collection import Collection, Path, collect
from confidence_tasks.report.compare import (
    FIRST,
    SECOND,
    Comparison,
    compared_measures,
    holm_corrected,
    model_pairs,
)
from confidence_tasks.report.compare import compare as compare_models
from confidence_tasks.report.estimates import Settings, distributions, estimates
from confidence_tasks.report.extra_tables import trials_frame
from confidence_tasks.report.labels import why_missing
from confidence_tasks.report.results import compute_results, estimates_frame
from confidence_tasks.report.summary_tables import Differences, Summary, grouped
from confidence_tasks.report.task_trials import Columns, Group, TaskTrials, group_by_task, split_by_source
from confidence_tasks.statistics import Reason
from confidence_tasks.statistics.core import FloatArray, undefined
from confidence_tasks.study.measures import Measure, StatisticCall
from confidence_tasks.study.parameter import did_you_mean
from confidence_tasks.study.standard import NEED_OUTCOMES, STANDARD


def _named(names: Sequence[str] | str | None, known: Sequence[str]) -> Sequence[str]:
    """Return the names of measures that are asked for, by default all; ValueError if one is unknown."""
    asked = [names] if isinstance(names, str) else names or known
    for name in asked:
        if name not in known:
            raise ValueError(
                f"there is no measure {name!r}{did_you_mean(name, known)}; there are {', '.join(known)}"
            )
    return asked


def _chosen(names: Sequence[str] | None) -> list[Measure]:
    standard = {measure.name: measure for measure in STANDARD}
    return [standard[name] for name in _named(names, list(standard))]


def _computable(measures: Sequence[Measure], trials: pd.DataFrame) -> list[Measure]:
    """Return the measures of such trials: of probabilities, those that do not compare right with wrong."""
    if trials["correct"].isin([0.0, 1.0]).where(trials["correct"].notna(), other=True).all():
        return list(measures)
    return [replace(each, informative=None) for each in measures if each.name not in NEED_OUTCOMES]


def _columns(trials: pd.DataFrame) -> Columns:
    return {name: trials[name].to_numpy() for name in ("question_id", "source", "correct", "confidence")}


def summary(
    correct: ArrayLike | str | Data | None = None,
    confidence: ArrayLike | str | None = None,
    *,
    data: Data | None = None,
    by: Any = None,
    questions: ArrayLike | str | None = None,
    measures: Sequence[str] | None = None,
    level: float = 0.95,
    n_resamples: int = 10_000,
    seed: int = 0,
) -> Summary:
    """Summarise how right and how sure some answers are, and what confidence tells of being right.

    Parameters
    ----------
    correct : array_like, shape (n,), or str
        1 for a right answer, 0 for a wrong one, NaN for neither; or the probability of being right, in [0, 1]. With
        ``data``, the name of the column. A table or paths given here are taken as ``data``.
    confidence : array_like, shape (n,), or str
        Confidence in [0, 1], NaN where none was stated. With ``data``, the name of the column.
    data : DataFrame, path or sequence of paths, optional
        A table, with one row a trial; or Inspect logs, sample files of lm-eval, files of trials, or folders of these.
        Of a table, the columns ``correct``, ``confidence``, ``question_id`` and ``source`` are read unless others are
        named; where there are several sources, values are means over these, as in reports.
    by : array_like, mapping, str or sequence of str, optional
        What groups the trials: labels, shape (n,), or several such by name; with ``data``, names of columns. Logs are
        grouped by ``("task", "model", "condition")`` by default.
    questions : array_like, shape (n,), or str, optional
        Which question each trial asked, by any labels. Intervals are over questions; by default each trial is a
        question of its own.
    measures : sequence of str, optional
        Names of the measures, by default all: ``accuracy``, ``confidence``, ``overconfidence``, ``ece``, ``brier``,
        ``auroc``, ``meta_information`` and ``mratio``.
    level : float, default 0.95
        Nominal coverage of the intervals, in (0, 1).
    n_resamples : int, default 10000
        Resamples of questions.
    seed : int, default 0
        Seed of the resamples.

    Returns
    -------
    Summary
        Prints as a table; :meth:`~Table.to_frame` gives the numbers, :meth:`~Summary.plot` the reliability curve.
        What cannot be computed is NaN, with a reason.

    Raises
    ------
    ValueError
        If lengths differ, a value is no number in [0, 1], a name is unknown, or there are no trials in the logs.

    See Also
    --------
    compare : The same of two models, with differences and tests.
    metrics : Every measure of the study of a log.

    Notes
    -----
    Numbers and intervals are those of ``confidence-tasks report``: each measure has the interval that suits it
    (``docs/reliability.md``), all from one draw of questions.

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
    settings = _settings(level, n_resamples, seed)
    correct, confidence, data = (_as_pandas(given) for given in (correct, confidence, data))
    if data is None and (isinstance(correct, pd.DataFrame) or (confidence is None and is_path(correct))):
        data, correct = correct, None  # type: ignore[assignment]
    if data is None or isinstance(data, pd.DataFrame):
        trials, names = trials_of(data, correct, confidence, by, questions)
    else:
        logs = [trials_frame(task).assign(task=task.task) for task in collected(data)]
        by = ("task", "model", "condition") if by is None else by
        trials, names = trials_of(pd.concat(logs, ignore_index=True), None, None, by, None)
    chosen = _chosen(measures)
    # As in a report, each model has a draw of its own, which does not depend on what else is in the table.
    apart = [name for name in ("task", "model") if name in names]
    rows = [
        {**dict(zip(names, labels, strict=True)), **row}
        for _, positions in grouped(trials, apart)
        for labels, row in _summarised(trials.iloc[positions].reset_index(drop=True), names, chosen, settings)
    ]
    frame = pd.DataFrame(rows, columns=[*names, "measure", "value", "low", "high", "n", "reason"])
    return Summary(frame, names, level, trials)


def _settings(level: float, n_resamples: int, seed: int) -> Settings:
    if not isinstance(level, Real) or not 0.0 < level < 1.0:
        raise ValueError(f"level must lie in (0, 1), got {level!r}: 95% is 0.95")
    for name, number, least in (("n_resamples", n_resamples, 1), ("seed", seed, 0)):
        if not isinstance(number, Integral) or number < least:
            raise ValueError(f"{name} must be a whole number from {least} up, got {number!r}")
    return Settings(n_resamples, level, seed)


def _summarised(
    trials: pd.DataFrame, by: Sequence[str], measures: Sequence[Measure], settings: Settings
) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Yield the labels of each group with each of its measures, and how many trials have what it needs."""
    columns, computable = _columns(trials), _computable(measures, trials)
    parts = [(labels, np.isin(np.arange(len(trials)), rows)) for labels, rows in grouped(trials, by)]
    groups = [Group(str(i), "group", split_by_source(columns, mask)) for i, (_, mask) in enumerate(parts)]
    cells = [cell for group in groups for cell in group.cells]
    drawn = distributions(columns, cells, computable, settings)
    found = {
        (entry.group, entry.measure): entry.interval
        for group in groups
        if group.cells
        for entry in estimates([group], computable, drawn, settings)
        if not entry.source
    }
    for (i, (labels, mask)), measure in product(enumerate(parts), measures):
        needed = list(measure.compute.columns) if isinstance(measure.compute, StatisticCall) else []
        n = len(trials[mask].dropna(subset=needed))
        interval = found.get((str(i), measure.name))
        if interval is None or not n:
            value = low = high = undefined(Reason.EMPTY)
            reason = f"no value: {'correct is a probability, no outcome' if n else value.reason}"
        else:
            value, low, high, reason = interval.estimate, interval.low, interval.high, why_missing(interval)
        numbers = {"value": float(value), "low": float(low), "high": float(high), "n": n, "reason": reason}
        yield labels, {"measure": measure.name, **numbers}


def metrics(
    paths: Path | Iterable[Path],
    *,
    measures: Sequence[str] | None = None,
    level: float = 0.95,
    n_resamples: int = 10_000,
    seed: int = 0,
) -> pd.DataFrame:
    r"""Return every measure of the studies of some logs, by condition, as a tidy table.

    Parameters
    ----------
    paths : path or sequence of paths
        Inspect logs, sample files of lm-eval, files of trials, or folders of these.
    measures : sequence of str, optional
        Names of measures; by default all of each study.
    level, n_resamples, seed
        As in :func:`summary`.

    Returns
    -------
    DataFrame
        One row a measure and condition: ``study``, ``task``, ``model``, ``condition``, ``measure``, ``value``, ``low``,
        ``high``, ``n`` (trials) and ``reason`` (why a value or an interval is missing). Means over the sources, where
        there are several.

    Raises
    ------
    ValueError
        If a measure is none of the studies', or there are no trials.

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
    tasks = collected(paths)
    asked = _named(
        measures, list(dict.fromkeys(name for task in tasks for name in task.study.measures_by_name))
    )
    table = estimates_frame(compute_results(tasks, settings))
    table = table[(table["source"] == "") & table["measure"].isin(asked)]
    return table.rename(columns={"group": "condition"})[
        ["study", "task", "model", "condition", "measure", "value", "low", "high", "n", "reason"]
    ].reset_index(drop=True)


# Comparisons ---------------------------------------------------------------------------------------------------------


def compare(
    a: Any,
    b: Any,
    *,
    correct: str | None = None,
    confidence: str | None = None,
    questions: Any = None,
    by: str | Sequence[str] | None = None,
    models: tuple[str | None, str | None] = (None, None),
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
        Of tables, the names of these columns if they are others.
    questions : array_like, pair of array_like, or str, optional
        Which question each trial asked: one array if both were asked the same in the same order, otherwise one of
        each. Of tables, the name of the column, by default ``question_id`` if both have it. With questions, only
        those of both are compared, paired; without, A and B are independent samples.
    by : str or sequence of str, optional
        Of tables, columns for whose values A and B are compared separately, and of logs one column. Logs are compared
        by task and condition in any case.
    models : pair of str, optional
        Of logs with several models, which one of A and which one of B.
    measures : sequence of str, optional
        Names of measures: by default those of :func:`summary`, and of logs what ``confidence-tasks compare`` has.
    level, n_resamples, seed
        As in :func:`summary`; ``n_resamples`` is also the number of exchanges.

    Returns
    -------
    Differences
        Prints as a table; :meth:`~Table.to_frame` gives the numbers, :meth:`~Differences.plot` draws them.

    Raises
    ------
    ValueError
        As in :func:`summary`, and if there is no question that both were asked.

    Notes
    -----
    Interval and p-value come from one pivot, as in ``confidence-tasks compare``: they cannot contradict each other.
    Where it can, the test exchanges A and B within questions, or without questions each trial between A and B, and
    studentises.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> correct = rng.random(300) < 0.7
    >>> sure = np.where(correct, 0.8, 0.6)
    >>> found = compare((correct, sure), (correct, np.full(300, 0.9)), questions=np.arange(300))
    >>> found.to_frame().set_index("measure").loc["overconfidence", ["a", "b"]].round(3).tolist()
    [0.099, 0.273]
    """
    settings = _settings(level, n_resamples, seed)
    a, b = map(_as_pandas, (a, b))
    names = () if by is None else (by,) if isinstance(by, str) else tuple(by)
    kind, other = (
        "logs" if is_path(side) else "a table" if isinstance(side, pd.DataFrame) else "arrays"
        for side in (a, b)
    )
    if kind != other:
        raise ValueError(f"a is {kind} and b {other}: give two of a kind")
    if kind == "logs":
        return _compared_logs(a, b, names, models, measures, settings)
    if models != (None, None):
        raise ValueError("models are chosen of logs: a and b are none")
    if kind == "a table":
        asked = questions or ("question_id" if all("question_id" in side for side in (a, b)) else None)
        sides = [trials_of(side, correct, confidence, names, asked)[0] for side in (a, b)]
    else:
        if by is not None:
            raise ValueError("by names columns of tables or logs, and a and b are arrays: give two tables")
        asked = questions
        of_each = isinstance(questions, tuple | list) and len(questions) == 2 and all(map(np.ndim, questions))
        each = questions if of_each else (questions, questions)
        sides = [trials_of(None, *_pair(side), None, its)[0] for side, its in zip((a, b), each, strict=True)]
    return _compared_trials(sides[0], sides[1], names, _chosen(measures), settings, paired=asked is not None)


def _pair(side: Any) -> tuple[Any, Any]:
    try:
        correct, confidence = side
    except (TypeError, ValueError):
        raise ValueError(
            "give a and b as (correct, confidence), as tables with these columns, or as paths of logs"
        ) from None
    return correct, confidence


def _compared_logs(
    a: Any,
    b: Any,
    by: tuple[str, ...],
    models: tuple[str | None, str | None],
    measures: Sequence[str] | None,
    settings: Settings,
) -> Differences:
    if len(by) > 1:
        raise ValueError(f"logs are compared by one column beside task and condition, got {', '.join(by)}")
    pairs, unpaired = model_pairs(collected(a), collected(b), models, ("models[0]", "models[1]"))
    skipped = [f"skipped {task}: {reason}" for task, reason in unpaired.items()]
    rows = [
        {"task": each.task, "condition": each.condition, **_difference(each)}
        for task, one, other in pairs
        for each in compare_models(one, other, task, measures, settings, "".join(by))
    ]
    if not rows:
        raise ValueError(
            "; ".join(["no question was asked of both under the same condition of one task", *skipped])
        )
    for each in skipped:
        warnings.warn(each, stacklevel=3)
    return Differences(pd.DataFrame(rows), ("task", "condition"), settings.level)


def _compared_trials(
    a: pd.DataFrame,
    b: pd.DataFrame,
    by: tuple[str, ...],
    measures: Sequence[Measure],
    settings: Settings,
    *,
    paired: bool,
) -> Differences:
    """Compare the trials of each group that both have."""
    if not paired:  # independent samples: no question of one is one of the other
        a, b = (side.assign(question_id=name + side["question_id"]) for name, side in (("a", a), ("b", b)))
    groups = [dict(grouped(side, by)) for side in (a, b)]
    found: list[Comparison] = []
    for labels in (label for label in groups[0] if label in groups[1]):
        one, other = (side.iloc[rows[labels]] for side, rows in zip((a, b), groups, strict=True))
        if paired:
            keys = [pd.MultiIndex.from_frame(side[["source", "question_id"]]) for side in (one, other)]
            one, other = one[keys[0].isin(keys[1])], other[keys[1].isin(keys[0])]
        if len(one) and len(other):
            stacked = pd.concat([one, other], ignore_index=True)
            side = np.repeat([FIRST, SECOND], [len(one), len(other)])
            its = _computable(measures, stacked)
            of_both = compared_measures(_columns(stacked), side, its, settings)
            found += (replace(each, condition="\x1f".join(labels)) for each in of_both)
    if not found:
        raise ValueError(
            "there is no question that both were asked: give the same labels to the same questions, or leave out"
            " questions to compare independent samples"
            if paired
            else "a or b has no trials"
        )
    rows = [
        {**dict(zip(by, each.condition.split("\x1f"), strict=False)), **_difference(each)}
        for measure in measures
        for each in holm_corrected([each for each in found if each.measure == measure.name])
    ]
    return Differences(pd.DataFrame(rows), by, settings.level)


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
        "reason": why_missing(each.difference),
    }


# Trials as they are given -----------------------------------------------------------------------------------------


Data: TypeAlias = pd.DataFrame | Path | Iterable[Path]
"""A table of trials, or paths of logs, sample files of lm-eval, files of trials, or folders of these."""


def _as_pandas(value: Any) -> Any:
    """Return a mapping of columns or another library's table or column as one of pandas, and an iterator as a list."""
    if isinstance(value, Mapping):
        try:
            return pd.DataFrame(value)
        except ValueError as error:
            raise ValueError(f"a mapping holds columns of one length: {error}") from None
    if hasattr(value, "to_pandas"):
        return value.to_pandas()
    return list(value) if isinstance(value, Iterator | ValuesView) else value


def _numbers(values: ArrayLike, name: str, texts: str, numbers: str) -> FloatArray:
    """Return a column of numbers in [0, 1], NaN where one is missing.

    ValueError otherwise, which says what to do about ``texts``, and about other values that are no such ``numbers``.
    """
    array = values.to_numpy() if isinstance(values, pd.Series) else np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name} has shape {array.shape}: give one number a trial")
    if array.dtype.kind in "OUST":
        wrong = [value for value in array.tolist() if isinstance(value, str | bytes)]
        if wrong:
            raise ValueError(f"{name} holds {wrong[0]!r}, which is a text: {texts}")
    try:
        found = pd.to_numeric(pd.Series(array), errors="raise").to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} holds what is no number: {numbers}") from error
    with np.errstate(invalid="ignore"):
        outside = np.flatnonzero((found < 0.0) | (found > 1.0))
    if len(outside):
        at = outside[0]
        raise ValueError(f"{name} must lie in [0, 1], and trial {at} has {found[at]:g}: {numbers}")
    return found


def _answers(correct: Any, confidence: Any) -> tuple[FloatArray, FloatArray]:
    """Return both columns as numbers; ValueError if lengths differ, or one seems to be in the place of the other."""
    outcomes = "give 1 for right, 0 for wrong and NaN for neither, such as `answers == key`"
    right = _numbers(correct, "correct", outcomes, outcomes)
    stated = _numbers(
        confidence,
        "confidence",
        "give numbers in [0, 1], such as by `float(text)`, and NaN where none was stated",
        "divide percentages by 100, and take `numpy.exp` of log-probabilities",
    )
    if len(right) != len(stated):
        raise ValueError(
            f"correct has {len(right)} values and confidence {len(stated)}: give one of each a trial, NaN where it is"
            " missing"
        )
    if np.asarray(confidence).dtype == bool and ((right > 0.0) & (right < 1.0)).any():
        raise ValueError("confidence holds True and False, and correct fractions: give correct first")
    return right, stated


def _texts(values: Any, name: str, n: int) -> NDArray[Any]:
    """Return labels as texts, one a trial."""
    labels = pd.Series(np.asarray(values).ravel() if not isinstance(values, pd.Series) else values.to_numpy())
    if len(labels) != n:
        raise ValueError(f"{name} has {len(labels)} values for {n} trials: give one a trial")
    if labels.isna().any():
        at = int(np.flatnonzero(labels.isna())[0])
        raise ValueError(f"{name} lacks a value at trial {at}: drop such trials or give them a label")
    return labels.map(str).to_numpy(dtype=object)


def _column(table: pd.DataFrame, given: Any, what: str) -> Any:
    """Return a column by its name, and values as they are; ValueError that tells the columns there are."""
    if np.ndim(given):
        return given
    if given not in table:
        names = [str(name) for name in table.columns]
        others = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
        raise ValueError(
            f"{what}={given!r} is no column; there are {others}{did_you_mean(str(given), names)}"
            if names
            else f"{what}={given!r}: give one value a trial, or the table that has this column as data="
        )
    return table[given]


def trials_of(
    table: pd.DataFrame | None, correct: Any, confidence: Any, by: Any, questions: Any
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return trials, of arrays or of the columns of a table, and the names of what groups them."""
    if table is None and confidence is None:
        raise ValueError(
            "give confidence beside correct, a table with the columns correct and confidence, or the path of a log"
        )
    table = pd.DataFrame() if table is None else table
    right, stated = _answers(
        _column(table, "correct" if correct is None else correct, "correct"),
        _column(table, "confidence" if confidence is None else confidence, "confidence"),
    )
    if isinstance(by, str) or (isinstance(by, list | tuple) and len(table.columns)):
        by = {str(name): _column(table, name, "by") for name in ([by] if isinstance(by, str) else by)}
    elif not isinstance(by, Mapping):
        by = {} if by is None else {str(getattr(by, "name", None) or "group"): by}
    n = len(right)
    columns = {name: _texts(values, name, n) for name, values in by.items()}
    asked = "question_id" if questions is None and "question_id" in table else questions
    columns["question_id"] = (
        # Numbers of one length, so that the questions are in the order of the rows.
        np.array([f"{i:09d}" for i in range(n)], dtype=object)
        if asked is None
        else _texts(_column(table, asked, "questions"), "questions", n)
    )
    columns["source"] = _texts(table["source"], "source", n) if "source" in table else np.full(n, "", object)
    return pd.DataFrame({**columns, "correct": right, "confidence": stated}), tuple(by)


def is_path(value: Any) -> bool:
    """Return whether a value is a path or several."""
    if isinstance(value, str | PathLike):
        return True
    return isinstance(value, list | tuple) and len(value) > 0 and all(map(is_path, value))


def collected(paths: Path | Iterable[Path]) -> list[TaskTrials]:
    """Read logs; warn of what was skipped, and raise FileNotFoundError or ValueError where nothing is left."""
    if isinstance(paths, pd.DataFrame | Mapping):
        raise ValueError("this reads logs, by their paths: of a table, `summary` has the measures")
    found: Collection = collect(paths)
    if not found.files:
        said = "; ".join(f"{skipped.path}: {skipped.reason}" for skipped in found.skipped)
        raise ValueError(f"no trials were found: {said}")
    for skipped in found.skipped:
        warnings.warn(f"skipped {skipped.path}: {skipped.reason}", stacklevel=3)
    return group_by_task(found.files)
