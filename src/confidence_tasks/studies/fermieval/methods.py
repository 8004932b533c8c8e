"""FermiEval's methods side by side: base, conformal, token probabilities and samples at every level, from trials.

Epstein, Winnicki, Sornwanee & Dwaraknath (2025), figure 2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

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
from confidence_tasks.study.measures import Columns, rows_of


def base_intervals(trials: Columns, levels: Sequence[float]) -> dict[str, dict[float, Columns]]:
    """Return the test half's intervals as stated, and adjusted by the calibration half or, without it, by each other.

    By method (``base``, ``conformal``, ``conformal_asymmetric``, ``conformal_normalized`` or, without the calibration
    half, ``conformal_jackknife``) and level.
    """
    found = {"base": within_split(trials, TEST)}
    if (trials["split"] == CALIBRATION).any():
        found |= {name: adjustment.adjust(trials) for name, (adjustment, _) in VARIANTS.items()}
    else:
        found["conformal_jackknife"] = JACKKNIFE.adjust(trials)
    return {
        method: {level: rows_of(table, table["level"] == level) for level in levels}
        for method, table in found.items()
    }


def logprob_intervals(trials: Columns, levels: Sequence[float]) -> dict[str, dict[float, Columns]]:
    """Return the test half's smallest sets, and those after temperature scaling where it can be fitted.

    By method (``logprob``, ``logprob_scaled``) and level.
    """
    temperature = float(fitted_temperature(trials, levels).temperature)
    temperatures = {"logprob": 1.0} | ({} if math.isnan(temperature) else {"logprob_scaled": temperature})
    return {
        method: {level: set_intervals(trials, level, value) for level in levels}
        for method, value in temperatures.items()
    }


def sampling_intervals(
    trials: Columns, levels: Sequence[float], shortfall_weight: float
) -> dict[str, dict[float, Columns]]:
    """Return the test half's outer quantiles of samples, at the temperature chosen for each level.

    By method (``sampling_interval``, ``sampling_direct``, ``sampling_reasoned``) and level.
    """
    found: dict[str, dict[float, Columns]] = {}
    for ask in dict.fromkeys(trials["ask"]):
        for level in levels:
            rows = (trials["ask"] == ask) & (np.isnan(trials["level"]) | (trials["level"] == level))
            asked = rows_of(trials, rows)
            several = np.unique(asked["temperature"])
            best = several[0] if len(several) == 1 else chosen_temperature(asked, level, shortfall_weight)
            made = sampled_intervals(rows_of(asked, asked["temperature"] == best), level)
            found.setdefault(f"sampling_{ask}", {})[level] = made
    return found


def method_table(
    levels: Sequence[float],
    *,
    intervals: Columns | None = None,
    logprob: Columns | None = None,
    sampling: Columns | None = None,
    shortfall_weight: float = SHORTFALL_WEIGHT,
) -> pd.DataFrame:
    """Set the methods side by side at every level, on the test half.

    Parameters
    ----------
    levels : sequence of float
        Nominal coverages.
    intervals, logprob, sampling : mapping of str to ndarray, optional
        Trials of one model in ``fermieval``, ``fermieval_logprob`` and ``fermieval_sampling``; leave out what was not
        run. Samples of several temperatures need those of the calibration half.
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
    if intervals:
        methods |= base_intervals(intervals, levels)
    if logprob:
        methods |= logprob_intervals(logprob, levels)
    if sampling:
        methods |= sampling_intervals(sampling, levels, shortfall_weight)
    return pd.DataFrame(
        {"level": level, "method": method, **_figures(by_level[level])}
        for level in levels
        for method, by_level in methods.items()
    )


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
