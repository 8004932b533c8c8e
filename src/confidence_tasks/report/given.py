"""What a user gives to the functions in Python: names of measures, settings, and the paths of logs."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from os import PathLike
from typing import Any, TypeAlias

import pandas as pd

from confidence_tasks.harness.correctness import Correctness, further_signals
from confidence_tasks.logs.collection import Path, collect
from confidence_tasks.logs.task_trials import Columns, TaskTrials, group_by_task
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.study.given_trials import as_pandas
from confidence_tasks.study.measure import Measure
from confidence_tasks.study.parameter import did_you_mean
from confidence_tasks.study.standard import STANDARD

Data: TypeAlias = pd.DataFrame | Path | Iterable[Path]
"""A table of trials, or paths of logs, sample files of lm-eval, files of trials, or folders of these."""


def is_path(value: Any) -> bool:
    """Return whether a value is a path or a non-empty sequence of paths."""
    if isinstance(value, str | PathLike):
        return True
    return isinstance(value, list | tuple) and len(value) > 0 and all(map(is_path, value))


def read_tasks(
    paths: Path | Iterable[Path], correct: Any = None, scorer: str = "", signals: str = ""
) -> list[TaskTrials]:
    """Read logs, with a warning for each skipped file; ValueError if there are no trials."""
    if not isinstance(correct, str | None):
        raise ValueError("for logs, correct is a metric such as 'exact_match', or a bound such as 'f1>=0.5'")
    if isinstance(paths, pd.DataFrame | Mapping):
        raise ValueError("give the paths of logs; for a table, `summary` computes the measures")
    paths = as_pandas(paths)
    chosen = Correctness.parse(correct or "", scorer)._replace(signals=further_signals(signals))
    collection = collect(paths, correct=chosen)
    skipped = [f"{file.path}: {file.reason}" for file in collection.skipped]
    if not collection.files:
        raise ValueError(f"no trials were found: {'; '.join(skipped)}")
    for text in skipped:
        warnings.warn(f"skipped {text}", stacklevel=3)
    return group_by_task(collection.files)


def measure_names(names: Sequence[str] | str | None, known: Sequence[str]) -> Sequence[str]:
    """Return the names of the requested measures, by default all; ValueError if one is unknown."""
    requested = [names] if isinstance(names, str) else names or known
    for name in requested:
        if name not in known:
            raise ValueError(
                f"there is no measure {name!r}; there are {', '.join(known)}{did_you_mean(name, known)}"
            )
    return requested


def standard_measures(names: Sequence[str] | None) -> list[Measure]:
    """Return standard measures by their names, by default all."""
    standard = {measure.name: measure for measure in STANDARD}
    return [standard[name] for name in measure_names(names, list(standard))]


def columns_of(trials: pd.DataFrame) -> Columns:
    """Return the columns of a table as arrays."""
    return {str(name): trials[name].to_numpy() for name in trials}


def settings_of(level: float, n_resamples: int, seed: int) -> Settings:
    """Return the settings of intervals; ValueError names the value that is no level, count or seed."""
    if not isinstance(level, Real) or not 0.0 < level < 1.0:
        raise ValueError(f"level must lie in (0, 1), got {level!r}: 95% is 0.95")
    for name, number, least in (("n_resamples", n_resamples, 1), ("seed", seed, 0)):
        if isinstance(number, bool) or not isinstance(number, Integral) or number < least:
            raise ValueError(f"{name} must be a whole number from {least} up, got {number!r}")
    return Settings(n_resamples, level, seed)


def column_names(by: str | Iterable[str] | None) -> tuple[str, ...]:
    """Return names of columns: of one, of several, or of none."""
    return (by,) if isinstance(by, str) else tuple(by or ())


def cluster_name(cluster: Any) -> str:
    """Return the name of what questions of logs share; empty for none."""
    if not isinstance(cluster, str | None):
        raise ValueError("cluster names what the questions of logs share, such as 'passage' or a column")
    return cluster or ""


def correct_and_confidence(side: Any) -> tuple[Any, Any]:
    """Return the two arrays of a model; ValueError if these are not two."""
    try:
        correct, confidence = side
    except (TypeError, ValueError):
        raise ValueError(
            "give a and b as (correct, confidence), as tables with these columns, or as paths of logs"
        ) from None
    return correct, confidence


def under_one_condition(trials: pd.DataFrame) -> Columns:
    """Return the columns of a table of trials, all under one condition without a name."""
    return columns_of(trials.assign(condition=""))
