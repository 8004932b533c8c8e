"""``confidence_tasks.metrics``: the estimates of a report as a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd

from confidence_tasks.logs.clusters import with_units
from confidence_tasks.logs.collection import Path
from confidence_tasks.report.checks import notice_records
from confidence_tasks.report.given import cluster_name, measure_names, read_tasks, settings_of
from confidence_tasks.report.result_tables import estimates_frame
from confidence_tasks.report.results import compute_results


def metrics(
    paths: Path | Iterable[Path],
    *,
    cluster: str = "",
    correct: str = "",
    scorer: str = "",
    signals: str = "",
    measures: Sequence[str] | None = None,
    level: float = 0.95,
    n_resamples: int = 2_000,
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
        ``low``, ``high``, ``n`` (all trials of the condition, with or without a value), ``n_clusters`` and
        ``design_effect`` (NaN without clusters) and ``reason`` (why a value or an interval is missing, or that its
        nominal coverage does not hold). With several sources,
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
