"""FermiEval's theory in the report: how much of its belief a model sees, and what follows for sampled intervals.

Epstein, Winnicki, Sornwanee & Dwaraknath (2025), theory 1, proposition 1 and figures 3, 4 and 6. The paper draws its
figures 3 and 4 for a perception of its own choice; here they have each model's.
"""

from __future__ import annotations

import math
from functools import partial
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from confidence_tasks.report.extra_tables import ExtraTable
from confidence_tasks.report.figures import panels
from confidence_tasks.report.figures.figure import Figure, LegendEntry, Panel
from confidence_tasks.report.figures.general import ModelStyles
from confidence_tasks.report.figures.panels import Line
from confidence_tasks.report.figures.style import Colour
from confidence_tasks.statistics.intervals import adjusted_interval_covariance
from confidence_tasks.studies.fermieval.trials import TEST, within_split

if TYPE_CHECKING:
    from confidence_tasks.report.results import TaskResults
    from confidence_tasks.report.task_trials import ModelTrials
    from confidence_tasks.statistics.core import FloatArray

_BELIEF = NormalDist()
"""The belief of the pictures; theory 1 holds for any."""

_X = np.linspace(-3.2, 3.2, 321)
_QUERIES = (20, 100)
"""Numbers of samples that proposition 1 is shown for."""


def perception_of(model: ModelTrials) -> tuple[float, float]:
    """Estimate the mass of its belief that a model sees, from the strictest level that it was asked.

    Coverage stagnates at the perception as the level rises (theory 1); at level p it is p times the perception.

    Returns
    -------
    perception, level : float
        Coverage on the test half over the level, at most 1, and the level; NaN without intervals.
    """
    judged = within_split(model.columns, TEST)
    if not len(judged["level"]):
        return math.nan, math.nan
    level = float(judged["level"].max())
    held = judged["correct"][judged["level"] == level]
    return min(float(held.mean()) / level, 1.0), level


def perception(results: TaskResults) -> ExtraTable:
    """Return proposition 1 of the paper for every model: its perception, and how exact adjusted intervals become.

    The standard error of either end is in standard deviations of a normal belief; it falls with the square root of the
    number of samples.
    """
    rows = []
    for model in results.models:
        beta, level = perception_of(model)
        if math.isnan(beta) or beta == 0.0:
            continue
        density = _BELIEF.pdf(_BELIEF.inv_cdf((1.0 - level) / 2.0))
        errors = {
            f"error, {n} samples": math.sqrt(
                adjusted_interval_covariance(level, beta, (density, density), n)[0, 0]
            )
            for n in _QUERIES
        }
        rows.append({"model": model.label, "level": level, "perception": beta, **errors})
    return ExtraTable(
        f"{results.task_trials.slug}_perception",
        "How much of its belief a model sees",
        "If a model saw a random part of its belief in each call and took it for the whole, its coverage would be the"
        " level times the mass of that part: perception is coverage over the strictest level, at most 1. The outer"
        " quantiles of sampled intervals would then be right on average, with this standard error (proposition 1, with"
        " the square of one less the perception that its proof calls for), in standard deviations of a normal belief.",
        pd.DataFrame(rows),
    )


def tunnels(results: TaskResults, styles: ModelStyles) -> Figure:
    """Draw figure 3 of the paper: the belief, and the parts of it that two queries may see."""
    its_panels = []
    density = np.array([_BELIEF.pdf(x) for x in _X])
    quantile = np.array([_BELIEF.cdf(x) for x in _X])
    for model in results.models:
        beta, _ = perception_of(model)
        if not 0.0 < beta <= 1.0:
            continue
        lines = [Line("belief", Colour.INK, _X, density)]
        for start, (name, colour) in zip((0.0, 1.0 - beta), _QUERY_KEYS, strict=True):
            seen = (quantile >= start) & (quantile <= start + beta)
            lines.append(Line(name, colour, _X[seen], density[seen] / beta))
        draw = partial(panels.over_range, lines=lines, x="belief (SD)", y="density", shares=False)
        its_panels.append(Panel(model.label, draw))
    return Figure(
        f"{results.task_trials.slug}_tunnels",
        "The perception tunnel",
        "Theory, not data: a normal belief, and the parts of it that the first and the last of the possible queries"
        " see, each with the mass that a model's coverage tells.",
        (("", tuple(its_panels)),),
        (LegendEntry("belief", Colour.INK), *(LegendEntry(*key) for key in _QUERY_KEYS)),
    )


_QUERY_KEYS = (("leftmost part", Colour.SERIES_5), ("rightmost part", Colour.SERIES_2))
_END_KEYS = (("lower end", Colour.WRONG), ("upper end", Colour.RIGHT))


def stated_ends(results: TaskResults, styles: ModelStyles) -> Figure:
    """Draw figure 4 of the paper: how the ends that a tunnel leads to are distributed, over the belief."""
    its_panels = []
    density = np.array([_BELIEF.pdf(x) for x in _X])
    for model in results.models:
        beta, level = perception_of(model)
        if not 0.0 < beta < 1.0:
            continue
        lines = [Line("belief", Colour.INK, _X, density)]
        for (name, colour), tail in zip(_END_KEYS, ((1.0 - level) / 2.0, (1.0 + level) / 2.0), strict=True):
            lines.append(Line(name, colour, *end_density(beta, tail)))
        draw = partial(panels.over_range, lines=lines, x="belief (SD)", y="density", shares=False)
        its_panels.append(Panel(model.label, draw))
    return Figure(
        f"{results.task_trials.slug}_stated_ends",
        "Ends of intervals under the perception tunnel",
        "Theory, not data: a normal belief, and the distributions over queries of the lower and the upper end that are"
        " stated at the strictest level, with the perception that a model's coverage tells. Their outer quantiles are"
        " those of the belief, however small the part that is seen.",
        (("", tuple(its_panels)),),
        (LegendEntry("belief", Colour.INK), *(LegendEntry(*key) for key in _END_KEYS)),
    )


def end_density(beta: float, quantile: float) -> tuple[FloatArray, FloatArray]:
    """Return the density over queries of a quantile of the part that is seen: where it is above 0, and how high.

    The end lies at F = start + quantile * beta, the start being uniform on [0, 1 - beta].
    """
    low, high = quantile * beta, 1.0 - beta + quantile * beta
    mass = np.array([_BELIEF.cdf(x) for x in _X])
    some = (mass >= low) & (mass <= high)
    return _X[some], np.array([_BELIEF.pdf(x) for x in _X[some]]) / (1.0 - beta)


_SHOWN = (-20, 40)


def truths(results: TaskResults, styles: ModelStyles) -> Figure:
    """Draw figure 6 of the paper: how the right exponents of the questions asked are distributed, from -20 to 40."""
    known = {
        str(name): float(truth)
        for model in results.models
        for name, truth in zip(model.columns["question_id"], model.columns["truth"], strict=True)
    }
    values = np.array(list(known.values()))
    inside = values[(values >= _SHOWN[0]) & (values <= _SHOWN[1])]
    draw = partial(panels.counts, values=inside, low=_SHOWN[0], high=_SHOWN[1], x="exponent", y="questions")
    return Figure(
        f"{results.task_trials.slug}_truths",
        "Right exponents",
        f"Number of questions by exponent of the right answer: {len(inside):,} of {len(values):,} questions lie within"
        f" {_SHOWN[0]} to {_SHOWN[1]} and are shown.",
        (("", (Panel("", draw),) if len(inside) else ()),),
        size=(5.0, 2.2),
    )
