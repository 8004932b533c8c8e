"""The studies that are installed: every folder of ``confidence_tasks.studies``, and the entry points of other packages.

A package of its own declares its study in its ``pyproject.toml``::

    [project.entry-points."confidence_tasks.studies"]
    my_study = "my_package:STUDY"

Studies are imported by name here, so that nothing below them needs to know any of them.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import iter_modules
from typing import Any

from confidence_tasks.study.definition import Study
from confidence_tasks.study.reference import LazyModule

ENTRY_POINTS = "confidence_tasks.studies"
"""Group of entry points, and the package of this distribution's own studies."""

_replies = LazyModule("confidence_tasks.report.score_replies")

_log = logging.getLogger(__name__)


@cache
def studies() -> tuple[Study, ...]:
    """Return every study: this package's, in the order of their names, then those of other packages.

    A study of another package that cannot be imported, or whose name is taken, is named in a warning and left out.

    Examples
    --------
    >>> [study.name for study in studies()][:2]
    ['fermieval', 'fermieval_logprob']
    """
    own = [import_module(name).STUDY for name in own_packages()]
    found = {study.name: study for study in own}
    for entry in entry_points(group=ENTRY_POINTS):
        try:
            study = entry.load()
            if not isinstance(study, Study):
                raise TypeError(f"it is a {type(study).__name__}, no Study")
            if found.get(study.name, study) is not study:
                raise ValueError(f"there is another study called {study.name}")
        except Exception as error:
            said = " ".join(str(error).split())[:200]
            _log.warning(
                "study %s (%s) is left out: %s: %s", entry.name, entry.value, type(error).__name__, said
            )
        else:
            found[study.name] = study
    return tuple(found.values())


def own_packages() -> Iterator[str]:
    """Yield the names of the packages of this distribution's own studies."""
    package = import_module(ENTRY_POINTS)
    yield from (f"{ENTRY_POINTS}.{found.name}" for found in iter_modules(package.__path__) if found.ispkg)


def study_of_scores(scores: Mapping[str, Any]) -> Study | None:
    """Return the study whose scorer gave one of the scores; None when there is none."""
    return next((study for study in studies() if study.scorer_name in scores), None)


@cache
def power_designs() -> Mapping[str, Any]:
    """Return how studies are simulated for power analysis, by name of the study."""
    loaded = {study: study.power.load() for study in studies() if study.power and study.simulate_reply}
    return {
        study.name: design
        for study, power in loaded.items()
        for design in (power(study) if callable(power) else [power])
    }


@cache
def reply_forms() -> Mapping[str, Any]:
    """Return how files of replies are scored, by the name that ``confidence-tasks score --study`` takes."""
    loaded = (
        study.reply_forms.load() if study.reply_forms else _replies.default_forms(study)
        for study in studies()
    )
    return {name: form for forms in loaded for name, form in forms.items()}
