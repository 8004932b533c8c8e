"""The main measures of a report in an experiment tracker, by the tracker's own client: MLflow or Weights & Biases."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from confidence_tasks.logs.texts import without_controls

if TYPE_CHECKING:
    from confidence_tasks.report.results import TaskResults

PROJECT = "confidence_tasks"
"""Name of the experiment or project, unless the client's own settings name another."""

_NOT_IN_NAMES = re.compile(r"[^\w./ -]", re.ASCII)
"""What MLflow refuses in the name of a metric."""


def tracked_metrics(task: TaskResults, model: str) -> Iterator[tuple[str, float]]:
    """Yield the headline measures of a model as ``task/condition/measure``, and its limits with ``_low`` and ``_high``.

    Missing values are left out. Other characters than letters, digits, ``_-./`` and space become ``_``.
    """
    for condition in task.conditions:
        for measure in task.headline:
            entry = task.estimate(model, condition, measure.name)
            if entry is None:
                continue
            interval = entry.interval
            name = _NOT_IN_NAMES.sub("_", f"{task.task_trials.task}/{condition}/{measure.name}")
            numbers = {"": interval.estimate, "_low": interval.low, "_high": interval.high}
            yield from ((name + end, float(each)) for end, each in numbers.items() if math.isfinite(each))


def metrics_by_model(results: Iterable[TaskResults]) -> dict[str, dict[str, float]]:
    """Return the metrics of every model, over all tasks."""
    by_model: dict[str, dict[str, float]] = {}
    for task in results:
        for model in task.models:
            by_model.setdefault(without_controls(model.label), {}).update(tracked_metrics(task, model.label))
    return by_model


def _to_mlflow(metrics: Mapping[str, Mapping[str, float]], page: Path) -> None:
    import mlflow

    if mlflow.active_run() is None:
        mlflow.set_experiment(PROJECT)
    for model, of_model in metrics.items():
        with mlflow.start_run(run_name=model, nested=True):
            mlflow.log_param("model", model)
            mlflow.log_metrics(dict(of_model))
            mlflow.log_artifact(str(page))


def _to_wandb(metrics: Mapping[str, Mapping[str, float]], page: Path) -> None:
    import wandb

    for model, of_model in metrics.items():
        with wandb.init(project=PROJECT, name=model, config={"model": model}, reinit="create_new") as run:
            run.summary.update(dict(of_model))
            run.save(str(page.resolve()), base_path=str(page.resolve().parent), policy="now")


TRACKERS: dict[str, Callable[[Mapping[str, Mapping[str, float]], Path], None]] = {
    "mlflow": _to_mlflow,
    "wandb": _to_wandb,
}
"""What writes the metrics of each model, and the page, into a run of each tracker."""


def installed_tracker(name: str) -> str:
    """Return the name of a tracker; ValueError if its client is not installed."""
    if find_spec(name) is None:
        raise ValueError(f"{name} is not installed: pip install 'confidence-tasks[{name}]'")
    return name


def track(name: str, results: Iterable[TaskResults], page: Path) -> None:
    """Write one run for each model into a tracker.

    Parameters
    ----------
    name : str
        ``"mlflow"`` or ``"wandb"``. The client's own environment variables say where the runs go.
    results : iterable of TaskResults
        The numbers of each task.
    page : Path
        The file of the report, which becomes an artifact of every run.
    """
    TRACKERS[name](metrics_by_model(results), page)
