"""Figures of the best age to guess and of its score: arXiv:2605.23909, figures 4 and 5."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import cast

import numpy as np

from confidence_tasks.drawing import Colour, ordered
from confidence_tasks.report.figures import LegendEntry, Line, Panel, panel, panels
from confidence_tasks.report.figures.general import ModelStyles, figure_of
from confidence_tasks.report.labels import group_label
from confidence_tasks.report.results import TaskResults
from confidence_tasks.sources import SourceError
from confidence_tasks.statistics.core import FloatArray
from confidence_tasks.statistics.life_table import Window, best_guess
from confidence_tasks.studies.lifeeval.replies import death_probabilities

_SEXES = (("female", Colour.SERIES_1), ("male", Colour.SERIES_0))


_AGES = np.arange(0.0, 101.0)


_SHIPPED = "None"
"""Value of the parameter ``table`` in the log of a run with the shipped life table."""


@figure_of(
    "best_guesses",
    "Best age to guess",
    "The guess with the highest score, by minimum age. It is constant up to a certain age. The scores of neighbouring"
    " guesses differ from the best score by a fraction of a percent.",
    keys=tuple(LegendEntry(sex, colour) for sex, colour in _SEXES),
)
def best_guesses(results: TaskResults, styles: ModelStyles) -> Iterator[Panel]:
    """Draw figure 5 of the paper: the best guess against the minimum age, by radius and sex."""
    radii = _radii(results)
    for (table, window, label), radius in product(_tables_and_windows(results), radii):
        lines = [
            Line(sex, colour, _AGES, _best_guesses(table, sex, radius, window)[0]) for sex, colour in _SEXES
        ]
        title = group_label(f"radius={radius:g}") + label
        yield panel(title, panels.over_range, lines=lines, x="minimum age", y="best guess", shares=False)


def _radius_colours(results: TaskResults) -> dict[int, Colour]:
    radii = _radii(results)
    return {radius: ordered(i, len(radii)) for i, radius in enumerate(radii)}


@figure_of(
    "maximum_scores",
    "Best possible score",
    "The highest score that a guess can have, by minimum age: difficulty falls with the age and with the radius.",
    keys=lambda results, styles: tuple(
        LegendEntry(group_label(f"radius={radius:g}"), colour)
        for radius, colour in _radius_colours(results).items()
    ),
    size=(2.6, 2.1),
)
def maximum_scores(results: TaskResults, styles: ModelStyles) -> Iterator[Panel]:
    """Draw figure 4 of the paper: the maximum achievable score against the minimum age, by sex and radius."""
    for (table, window, label), (sex, _) in product(_tables_and_windows(results), _SEXES):
        lines = [
            Line(f"radius={radius:g}", colour, _AGES, _best_guesses(table, sex, radius, window)[1])
            for radius, colour in _radius_colours(results).items()
        ]
        yield panel(f"{sex}{label}", panels.over_range, lines=lines, x="minimum age", y="best score")


def _radii(results: TaskResults) -> list[int]:
    return sorted({int(radius) for model in results.models for radius in model.columns["radius"]})


def _tables_and_windows(results: TaskResults) -> list[tuple[str, str, str]]:
    """Return the life tables and windows of the trials, each pair with its label in titles."""
    windows = sorted(
        {str(window) for model in results.models for window in model.columns["window"] if window}
    )
    tables = sorted(
        {file.parameters.get("table", _SHIPPED) for model in results.models for file in model.files}
    )
    return [
        (table, window, f", {window.replace('_', ' ')}" if len(windows) > 1 else "")
        for table, window in product(tables, windows)
    ]


@lru_cache(maxsize=64)  # two figures show the same guesses
def _best_guesses(table: str, sex: str, radius: int, window: str) -> tuple[FloatArray, FloatArray]:
    """Return the best guesses and their scores by age; NaN if the file of the life table is not on this machine."""
    try:
        q = death_probabilities("" if table == _SHIPPED else table, sex)
    except SourceError:
        return np.full(len(_AGES), np.nan), np.full(len(_AGES), np.nan)
    guesses = [
        best_guess(q, minimum_age=int(age), radius=radius, window=cast("Window", window)) for age in _AGES
    ]
    ages, scores = ([float(getattr(guess, name)) for guess in guesses] for name in ("age", "score"))
    return np.array(ages), np.array(scores)
