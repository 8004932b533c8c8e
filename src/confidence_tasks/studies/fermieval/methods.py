"""FermiEval's methods side by side: base, conformal, token probabilities and samples at every level, from trials.

Epstein, Winnicki, Sornwanee & Dwaraknath (2025), figure 2.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from confidence_tasks.statistics import wilson_interval
from confidence_tasks.statistics.intervals import degenerate_share
from confidence_tasks.studies.fermieval.prompts import CALIBRATION, TEST
from confidence_tasks.studies.fermieval.trials import FIGURES, JACKKNIFE, VARIANTS, within_split
from confidence_tasks.studies.fermieval_logprob.trials import fitted_temperature, set_intervals
from confidence_tasks.studies.fermieval_sampling.trials import (
    SHORTFALL_WEIGHT,
    chosen_temperature,
    sampled_intervals,
)
from confidence_tasks.study.measures import Columns, columns, rows_of

Trials = Sequence[Mapping[str, Any]]

_ENDS = ("question_id", "truth", "lower", "upper", "level")


def base_intervals(trials: Trials, levels: Sequence[float]) -> dict[str, dict[float, Columns]]:
    """Return the test half's intervals as stated, and adjusted by the calibration half or, without it, by each other.

    By method (``base``, ``conformal``, ``conformal_asymmetric``, ``conformal_normalized`` or, without the calibration
    half, ``conformal_jackknife``) and level.
    """
    every = columns(trials)
    found = {"base": within_split(every, TEST)}
    if (every["split"] == CALIBRATION).any():
        found |= {name: adjustment.adjust(every) for name, (adjustment, _) in VARIANTS.items()}
    else:
        found["conformal_jackknife"] = JACKKNIFE.adjust(every)
    return {
        method: {level: rows_of(table, table["level"] == level) for level in levels}
        for method, table in found.items()
    }


def logprob_intervals(trials: Trials, levels: Sequence[float]) -> dict[str, dict[float, Columns]]:
    """Return the test half's smallest sets, and those after temperature scaling where it can be fitted.

    By method (``logprob``, ``logprob_scaled``) and level.
    """
    every = columns(trials)
    temperature = float(fitted_temperature(every, levels).temperature)
    temperatures = {"logprob": 1.0} | ({} if math.isnan(temperature) else {"logprob_scaled": temperature})
    return {
        method: {level: set_intervals(every, level, value) for level in levels}
        for method, value in temperatures.items()
    }


def sampling_intervals(
    trials: Trials, levels: Sequence[float], shortfall_weight: float = SHORTFALL_WEIGHT
) -> dict[str, dict[float, Columns]]:
    """Return the test half's outer quantiles of samples, at the temperature chosen for each level.

    By method (``sampling_interval``, ``sampling_direct``, ``sampling_reasoned``) and level. ValueError if there are
    several temperatures and no calibration trials to choose by.
    """
    every = columns(trials)
    found: dict[str, dict[float, Columns]] = {}
    for ask in dict.fromkeys(every["ask"]):
        own = rows_of(every, every["ask"] == ask)
        found[f"sampling_{ask}"] = {}
        for level in levels:
            asked = rows_of(own, np.isnan(own["level"]) | (own["level"] == level))
            best = _temperature(asked, level, shortfall_weight)
            found[f"sampling_{ask}"][level] = sampled_intervals(
                rows_of(asked, asked["temperature"] == best), level
            )
    return found


def _temperature(trials: Columns, level: float, shortfall_weight: float) -> float:
    """Return the temperature chosen on the calibration half, or the only one there is."""
    several = np.unique(trials["temperature"])
    if len(several) == 1:
        return float(several[0])
    best = chosen_temperature(trials, level, shortfall_weight)
    if math.isnan(best) and len(several):
        raise ValueError(
            "several temperatures and no calibration trials to choose by; give trials of one of them"
        )
    return best


def method_table(
    levels: Sequence[float],
    *,
    intervals: Trials = (),
    logprob: Trials = (),
    sampling: Trials = (),
    paired: bool = False,
    shortfall_weight: float = SHORTFALL_WEIGHT,
) -> pd.DataFrame:
    """Set the methods side by side at every level, on the test half.

    Parameters
    ----------
    levels : sequence of float
        Nominal coverages.
    intervals, logprob, sampling : sequence of mapping
        Trials of one model in ``fermieval``, ``fermieval_logprob`` and ``fermieval_sampling``; leave out what was not
        run.
    paired : bool
        Compare the methods on the questions that all of them have an interval for at that level.
    shortfall_weight : float
        Weight of the squared shortfall of coverage where the temperature of samples is chosen.

    Returns
    -------
    DataFrame
        One row a level and method: ``level``, ``method``, ``coverage`` with Wilson's ``coverage_low`` and
        ``coverage_high``, ``coverage_gap``, ``mean_width``, ``winkler``, ``degenerate_share``, and ``n``, the number of
        questions. Widths and scores are infinite where conformal adjustment has too few calibration questions.
    """
    methods: dict[str, dict[float, Columns]] = {}
    for trials, made in (
        (intervals, base_intervals),
        (logprob, logprob_intervals),
        (sampling, partial(sampling_intervals, shortfall_weight=shortfall_weight)),
    ):
        if trials:
            methods |= made(trials, levels)
    rows = []
    for level in levels:
        tables = {
            method: {key: by_level[level][key] for key in _ENDS} for method, by_level in methods.items()
        }
        for method, table in (_common(tables) if paired else tables).items():
            rows.append({"level": level, "method": method, **_figures(table)})
    return pd.DataFrame(rows)


def _common(tables: Mapping[str, Columns]) -> dict[str, Columns]:
    """Keep the questions that every method has an interval for."""
    shared = set.intersection(*(set(table["question_id"]) for table in tables.values()))
    return {
        method: rows_of(table, [name in shared for name in table["question_id"]])
        for method, table in tables.items()
    }


def _figures(table: Columns) -> dict[str, float]:
    """Return the figures of the intervals of one method at one level."""
    found = {name: float(compute(table, None)) for name, compute, *_ in FIGURES}
    n = len(table["truth"])
    low, high = wilson_interval(0.0 if n == 0 else round(found["coverage"] * n), n)
    return {
        **found,
        "coverage_low": float(low),
        "coverage_high": float(high),
        "degenerate_share": float(degenerate_share(table["lower"], table["upper"])),
        "n": n,
    }


def side_by_side(table: pd.DataFrame, figure: str = "winkler") -> pd.DataFrame:
    """Lay one figure of :func:`method_table` out as the paper does: levels down, methods across.

    Examples
    --------
    >>> rows = {"level": [0.9, 0.9], "method": ["base", "conformal"], "winkler": [27.92, 20.78]}
    >>> side_by_side(pd.DataFrame(rows))
    method   base  conformal
    level
    0.9     27.92      20.78
    """
    return table.pivot(index="level", columns="method", values=figure)[list(dict.fromkeys(table["method"]))]
