"""Groups of models that the user names, such as reasoning and chat models: rows of their means in tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from confidence_tasks.report.estimates import ModelGroups

if TYPE_CHECKING:
    from confidence_tasks.report.task_trials import ModelTrials


def parse_groups(texts: Iterable[str]) -> ModelGroups:
    """Read groups as a command line gives them; ValueError unless each is a name and models.

    Examples
    --------
    >>> parse_groups(["reasoning=o3,deepseek-r1", "chat=gpt-4o"])
    (('reasoning', ('o3', 'deepseek-r1')), ('chat', ('gpt-4o',)))
    """
    groups = []
    for text in texts:
        name, _, models = text.partition("=")
        members = tuple(model.strip() for model in models.split(",") if model.strip())
        if not name.strip() or not members:
            raise ValueError(f"{text!r} is not a name and models, such as reasoning=openai/o3,deepseek-r1")
        groups.append((name.strip(), members))
    return tuple(groups)


def is_member(model: ModelTrials, members: Sequence[str]) -> bool:
    """Return whether a model is named, by its whole name, its label or the name behind its provider."""
    return not {model.name, model.label, model.name.rpartition("/")[2]}.isdisjoint(members)


def ordered_by_group(models: Sequence[ModelTrials], groups: ModelGroups) -> list[ModelTrials]:
    """Return the models of each group in turn, then those of none."""
    of_groups = [model for _, members in groups for model in members_of(models, members)]
    return list({model.label: model for model in (*of_groups, *models)}.values())


def members_of(models: Sequence[ModelTrials], members: Sequence[str]) -> list[ModelTrials]:
    """Return the models of a group, in the order in which the user names them."""
    return [model for member in members for model in models if is_member(model, [member])]
