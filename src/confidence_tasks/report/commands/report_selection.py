"""Which models and questions a report has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from confidence_tasks.logs.about_models import AboutModels
    from confidence_tasks.logs.collection import Collection
    from confidence_tasks.report.groups import ModelGroups


def checked_groups(groups: ModelGroups, about: AboutModels, collection: Collection) -> ModelGroups:
    """Return the user's groups, or else those by kind; BadParameter if an option names no model of the logs."""
    from confidence_tasks.report.groups import groups_by_kind

    models = sorted({file.model for file in collection.files})
    known = {*models, *(name.rpartition("/")[2] for name in models)}
    for name, members in groups:
        _refuse(f"--group {name}", [member for member in members if member not in known], models)
    in_file = [name for name, _ in about]
    _refuse("--models", in_file if known.isdisjoint(in_file) else [], models)
    return groups or groups_by_kind(about, sorted(known))


def _refuse(option: str, unknown: Sequence[str], models: Sequence[str]) -> None:
    """Raise BadParameter if an option names unknown models."""
    if unknown:
        known = ", ".join(models) or "none"
        raise click.BadParameter(f"{option}: no trials of {', '.join(unknown)}; the models are {known}")


def with_named_questions(collection: Collection, questions: Sequence[str] | None) -> Collection:
    """Return the trials of the named questions, or all if none are named; BadParameter if one has no trial."""
    if not questions:
        return collection
    from confidence_tasks.logs.questions import with_questions

    try:
        return with_questions(collection, set(questions))
    except ValueError as error:
        raise click.BadParameter(f"--questions: {error}") from error
