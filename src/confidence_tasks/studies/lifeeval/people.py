"""People's answers to LifeEval's questions, beside those of models: arXiv:2605.23909, the authors' public answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from confidence_tasks.report.extra_tables import extra_table
from confidence_tasks.report.results import TaskResults
from confidence_tasks.studies.lifeeval.replies import CONDITIONS

PEOPLE = {1: (0.46, 0.106), 5: (0.59, 0.373), 10: (0.69, 0.616), 20: (0.78, 0.865)}
"""Mean confidence and mean score of 980 answers of 98 people, by radius in years."""


@extra_table(
    "people",
    "People and models by radius",
    "Mean confidence and score of 980 public answers of 98 people (MIT), and of the models. The rows are not paired by"
    " question.",
)
def people(results: TaskResults) -> Iterator[dict[str, Any]]:
    """Return the means of people, and those of each model, at the radii at which people were asked."""
    for radius, (confidence, score) in PEOPLE.items():
        yield _row("People", radius, confidence, score)
    for model in results.models:
        for radius in PEOPLE:
            group = CONDITIONS.label(radius)
            entries = [results.estimate(model.label, group, name) for name in ("confidence", "score")]
            found = [float(entry.interval.estimate) for entry in entries if entry is not None]
            if len(found) == len(entries):
                yield _row(model.label, radius, *found)


def _row(who: str, radius: int, confidence: float, score: float) -> dict[str, Any]:
    numbers = {"confidence": confidence, "score": score, "overconfidence": confidence - score}
    return {"model": who, "radius": str(radius), **numbers}
