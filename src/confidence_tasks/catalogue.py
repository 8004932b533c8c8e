"""The installed studies: the folders of ``confidence_tasks.studies``, and the entry points of other packages.

Another package declares its study in its ``pyproject.toml``::

    [project.entry-points."confidence_tasks.studies"]
    my_study = "my_package:STUDY"

This module imports the studies by name, so that no other module needs to know them.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import walk_packages
from typing import Any

from confidence_tasks.study.definition import Study
from confidence_tasks.study.parameter import did_you_mean

ENTRY_POINTS = "confidence_tasks.studies"
"""Group of the entry points, and package of the studies that belong to this distribution."""

LM_EVAL_TASKS: Mapping[str, str] = {
    "with_confidence": f"{ENTRY_POINTS}.benchmark.lm_eval_tasks:with_confidence",
}
"""Functions that make tasks of lm-eval from tasks of others, by the name of the task; each takes a configuration."""

DRY_RUNS: Mapping[str, str] = {
    "with_confidence": f"{ENTRY_POINTS}.benchmark.dry_run:DRY_RUN",
}
"""How the calls of tasks of this package are planned that belong to no study, by the name of the task; each is an
:class:`~confidence_tasks.harness.inspect.dry_run.OtherTask`."""

BENCHMARK = "benchmark"
"""Name of the study whose trials are of tasks that no study asks."""

_log = logging.getLogger(__name__)


@cache
def studies() -> tuple[Study, ...]:
    """Return every installed study: those of this package in alphabetical order, then those of other packages.

    If a study of another package cannot be imported, or its name is taken, it is left out with a warning.

    Examples
    --------
    >>> [study.name for study in studies()][:2]
    ['benchmark', 'fermieval']
    """
    own: list[Study] = [import_module(name).STUDY for name in own_packages()]
    by_name = {study.name: study for study in sorted(own, key=lambda study: study.name)}
    for entry in entry_points(group=ENTRY_POINTS):
        try:
            study = entry.load()
            if not isinstance(study, Study):
                raise TypeError(f"it is a {type(study).__name__}, not a Study")
            if by_name.get(study.name, study) is not study:
                raise ValueError(f"there is another study called {study.name}")
        except Exception as error:
            message = " ".join(str(error).split())[:200]
            _log.warning(
                "study %s (%s) is left out: %s: %s", entry.name, entry.value, type(error).__name__, message
            )
        else:
            by_name[study.name] = study
    return tuple(by_name.values())


def study_named(name: str) -> Study:
    """Return the study that has a name."""
    return next(study for study in studies() if study.name == name)


def known_study(name: str, known: Sequence[str]) -> str:
    """Return ``name`` if it is one of the known studies.

    Raises ValueError otherwise, which suggests the study of a task, or the most similar name.
    """
    if name in known:
        return name
    of_task = next((study.name for study in studies() if name in study.designs), "")
    hint = f"; did you mean {of_task!r}?" if of_task in known else did_you_mean(name, known)
    raise ValueError(f"{name!r} is not one of {', '.join(known)}{hint}")


def own_packages() -> Iterator[str]:
    """Yield the names of the packages that hold this distribution's own studies.

    A folder in the folder of a study is a study of the same paper.
    """
    package = import_module(ENTRY_POINTS)
    yield from (module.name for module in walk_packages(package.__path__, f"{ENTRY_POINTS}.") if module.ispkg)


def study_of_scores(scores: Mapping[str, Any]) -> Study | None:
    """Return the study whose scorer produced one of the scores; None if there is none."""
    return next((study for study in studies() if study.scorer_name in scores), None)


def name_of_others(task: str) -> str:
    """Return the name of a task that no study asks, marked if a study has a task with this name.

    Examples
    --------
    >>> name_of_others("gsm8k"), name_of_others("boolq")
    ('gsm8k', 'boolq (benchmark)')
    """
    is_taken = any(task in study.designs for study in studies())
    return f"{task} (benchmark)" if is_taken else task


def study_of_task(task: str) -> Study | None:
    """Return the study of a task of lm-eval, or None if no study asks it.

    It is that with the longest name, as ``fermieval_sampling`` also starts with ``fermieval``.
    """
    known = [study for study in studies() if study.design_of(task) in study.designs]
    return max(known, key=lambda study: len(study.design_of(task)), default=None)
