"""The pairs of models of two groups of logs, task by task."""

from __future__ import annotations

from collections.abc import Sequence

from confidence_tasks.logs.task_trials import ModelTrials, TaskTrials


def model_pairs(
    ours: Sequence[TaskTrials],
    theirs: Sequence[TaskTrials],
    wanted: tuple[str | None, str | None] = (None, None),
    options: tuple[str, str] = ("--model-a", "--model-b"),
) -> tuple[list[tuple[TaskTrials, ModelTrials, ModelTrials]], dict[str, str]]:
    """Return the models to compare in each task, and for every other task the reason why it is not compared.

    ``wanted`` holds the name or label of the model of A and of B; None selects the only model. Error messages call
    them by the names in ``options``.

    Raises ValueError if a wanted model is in no task, or if None is wanted and there are several models.
    """
    for side, name, option in zip((ours, theirs), wanted, options, strict=True):
        _check_model(side, name, option)
    of_a, of_b = _by_task(ours), _by_task(theirs)
    pairs, unpaired = [], {}
    for key in dict.fromkeys([*of_a, *of_b]):
        _, task = key
        if key not in of_a or key not in of_b:
            unpaired[task] = f"only {'A' if key in of_a else 'B'} has trials of this task"
            continue
        a = _model(of_a[key], wanted[0], options[0])
        b = _model(of_b[key], wanted[1], options[1])
        if isinstance(a, ModelTrials) and isinstance(b, ModelTrials):
            pairs.append((of_a[key], a, b))
        else:
            unpaired[task] = "; ".join(dict.fromkeys(each for each in (a, b) if isinstance(each, str)))
    return pairs, unpaired


def _check_model(tasks: Sequence[TaskTrials], wanted: str | None, option: str) -> None:
    """Raise ValueError if no task has the wanted model."""
    models = [model for task_trials in tasks for model in task_trials.models]
    names = {model.name for model in models} | {model.label for model in models}
    if wanted is not None and tasks and wanted not in names:
        labels = dict.fromkeys(model.label for model in models)
        raise ValueError(f"{option}: there is no {wanted}; choose one of {', '.join(labels)}")


def _by_task(tasks: Sequence[TaskTrials]) -> dict[tuple[str, str], TaskTrials]:
    return {(task_trials.study.name, task_trials.task): task_trials for task_trials in tasks}


def _model(task_trials: TaskTrials, wanted: str | None, option: str) -> ModelTrials | str:
    """Return the model with the wanted label or name, or the only model; otherwise the reason why there is none."""
    models = task_trials.models
    labels = ", ".join(model.label for model in models)
    if wanted is None:
        if len(models) == 1:
            return models[0]
        raise ValueError(f"{task_trials.task}: choose one of its models with {option}: {labels}")
    by_label = {model.label: model for model in models}
    if wanted in by_label:
        return by_label[wanted]
    by_name = [model for model in models if model.name == wanted]
    if len(by_name) == 1:
        return by_name[0]
    if by_name:
        return f"{wanted} ran with several settings: name one with {option}: {labels}"
    return f"it has no model {wanted} ({option}); its models are {labels}"
