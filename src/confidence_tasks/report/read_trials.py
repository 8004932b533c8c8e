"""Trials of logs and files as one table, with the notices of the report's checks."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

import pandas as pd

from confidence_tasks.harness.correctness import Correctness, further_signals
from confidence_tasks.logs.collection import Path, collect
from confidence_tasks.logs.task_trials import group_by_task
from confidence_tasks.report.checks import notice_records
from confidence_tasks.report.results import results_without_numbers


def trials(
    paths: Path | Iterable[Path], *, correct: str = "", scorer: str = "", signals: str = ""
) -> pd.DataFrame:
    r"""Read trials from logs and files.

    Parameters
    ----------
    paths : path or iterable of paths
        Inspect logs (``.eval``, ``.json``), sample files of lm-eval (``samples_*.jsonl``), plain files of trials (CSV,
        JSON lines, Parquet), or folders of these, searched in depth. Any address that fsspec opens will do, such as
        ``s3://bucket/logs``.
    correct, scorer : str, optional
        What says whether an answer to a task of others is right: a metric, or a bound such as ``f1>=0.5``, and a scorer
        of Inspect.
    signals : str, optional
        Further signals of tasks of others, separated by commas, or ``all``, as ``docs/any_benchmark.md`` lists them.

    Returns
    -------
    DataFrame
        One row a trial: ``study``, ``task``, ``model``, the columns of the study's trial record (missing where another
        study has them), ``rules`` that the reply needed, ``sample_id``, ``epoch``, ``setup`` (how the model was asked,
        as a JSON object) and ``log``.

    Warns
    -----
    UserWarning
        For each file that was skipped, whole or in part, with the reason; and for each serious notice of the report's
        checks of trials. All their notices are in ``attrs["notices"]``, a list of mappings with ``severity``, ``task``,
        ``title``, ``meaning`` and ``where``.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> path = f"{folder}/mine.csv"
    >>> with open(path, "w") as file:
    ...     _ = file.write("study,question_id,source,condition,correct,confidence,status\n")
    ...     _ = file.write("scales,q-1,mine,0-20,1,0.85,ok\n")
    >>> trials(path)[["study", "question_id", "confidence"]]
        study question_id  confidence
    0  scales         q-1        0.85
    """
    chosen = Correctness.parse(correct, scorer)._replace(signals=further_signals(signals))
    collection = collect(paths, correct=chosen)
    for skipped in collection.skipped:
        warnings.warn(f"skipped {skipped.path}: {skipped.reason}", stacklevel=2)
    frame = collection.frame()
    every = results_without_numbers(group_by_task(collection.files))
    frame.attrs["notices"] = notice_records(every, stacklevel=2)
    return frame
