"""People's answers to LifeEval's questions, beside those of models: arXiv:2605.23909, the authors' public answers."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean
from typing import Any

import numpy as np

from confidence_tasks.drawing import Colour
from confidence_tasks.report.extra_tables import extra_table
from confidence_tasks.report.figures import LegendEntry, Line, Panel, panel, panels
from confidence_tasks.report.figures.general import ModelStyles, figure_of, interval_line, model_keys
from confidence_tasks.report.labels import group_label, measure_label
from confidence_tasks.report.results import TaskResults
from confidence_tasks.studies.lifeeval.replies import CONDITIONS

PEOPLE = {1: (0.46, 0.106), 5: (0.59, 0.373), 10: (0.69, 0.616), 20: (0.78, 0.865)}
"""Mean confidence and mean score of 980 answers of 98 people, by radius in years."""

N_ANSWERS = 980
LABEL = "People"
_STYLE = (Colour.INK, "D")


def means_over_radii() -> tuple[float, float]:
    """Return people's confidence and score as means over the radii.

    Examples
    --------
    >>> [round(mean, 3) for mean in means_over_radii()]
    [0.63, 0.49]
    """
    confidence, score = (fmean(values) for values in zip(*PEOPLE.values(), strict=True))
    return confidence, score


@figure_of(
    "overconfidence_and_people",
    "Overconfidence of models and people by radius",
    "Mean confidence minus mean score. Models have intervals; people are the means of 980 public answers of 98 people"
    " (MIT), not paired by question.",
    keys=lambda results, styles: (*model_keys(results, styles), LegendEntry(LABEL, *_STYLE)),
    size=(5.0, 2.8),
)
def overconfidence_and_people(results: TaskResults, styles: ModelStyles) -> Iterator[Panel]:
    """Draw figure 3 of the paper, overconfidence by radius, with a line of people."""
    labels = results.conditions
    radii = [CONDITIONS.number(label) for label in labels]
    if not PEOPLE.keys() & set(radii):
        return
    lines = [
        interval_line(results, model.label, labels, "overconfidence", *styles[model.label])
        for model in results.models
    ]
    means = (PEOPLE.get(int(radius), (np.nan, np.nan)) for radius in radii)
    gaps = np.array([confidence - score for confidence, score in means])
    colour, marker = _STYLE
    lines.append(Line(LABEL, colour, np.arange(len(labels), dtype=np.float64), gaps, marker=marker))
    axes = {"y": measure_label("overconfidence"), "reference": 0.0}
    yield panel("", panels.intervals, labels=list(map(group_label, labels)), lines=lines, **axes)


@extra_table(
    "people",
    "People and models by radius",
    "Mean confidence and score of 980 public answers of 98 people (MIT), and of the models. The rows are not paired by"
    " question.",
)
def people(results: TaskResults) -> Iterator[dict[str, Any]]:
    """Return the means of people, and those of each model, at the radii at which people were asked."""
    for radius, (confidence, score) in PEOPLE.items():
        yield _row(LABEL, radius, confidence, score)
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
