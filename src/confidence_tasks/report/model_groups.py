"""Groups of models that the user names, such as reasoning and chat models: rows of their means in tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd

from confidence_tasks.report.estimates import ModelGroups
from confidence_tasks.report.extra_tables import ExtraTable

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
    of_groups = [model for _, members in groups for model in _members(models, members)]
    return list({model.label: model for model in (*of_groups, *models)}.values())


def _members(models: Sequence[ModelTrials], members: Sequence[str]) -> list[ModelTrials]:
    """Return the models of a group, in the order in which the user names them."""
    return [model for member in members for model in models if is_member(model, [member])]


def with_group_means(table: ExtraTable, models: Sequence[ModelTrials], groups: ModelGroups) -> ExtraTable:
    """Put the models of each group together in a table of models, and the mean over them below.

    As the "Aggregate" rows of table 2 of arXiv:2605.23909: every number is averaged over the group's models, but the
    number of trials, which is that of any of them where all are judged on the same questions. Means have no limits.
    """
    if not groups or table.frame.empty:
        return table
    frame, own = table.frame, {label for pair in table.limits.values() for label in pair}
    parts, placed = [], set()
    for name, members in groups:
        labels = [model.label for model in _members(models, members) if model.label in set(frame["model"])]
        if not labels:
            continue
        rows = frame.set_index("model", drop=False).loc[labels]
        numbers = [
            column
            for column in frame.columns
            if column not in own | {"model", "n"} and pd.api.types.is_numeric_dtype(frame[column])
        ]
        mean = {"model": f"{name} (mean)", **rows[numbers].mean().to_dict()}
        if "n" in frame and rows["n"].nunique() == 1:
            mean["n"] = rows["n"].iloc[0]
        parts += [rows, pd.DataFrame([mean])]
        placed |= set(labels)
    parts.append(frame[~frame["model"].isin(placed)])
    joined = pd.concat([part for part in parts if len(part)], ignore_index=True).reindex(
        columns=frame.columns
    )
    texts = dict.fromkeys(table.reasons.values(), "")
    return replace(table, frame=joined.fillna(texts) if texts else joined)
