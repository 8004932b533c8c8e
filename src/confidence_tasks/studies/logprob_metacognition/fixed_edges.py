"""Distributions of version 1's measures for the conditions of one model, whose bins have the edges of T = 1."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from confidence_tasks.logs.task_trials import Columns
from confidence_tasks.report.estimates.distribution import Distribution
from confidence_tasks.report.estimates.distributions import Distributions
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.groups import TrialSubset
from confidence_tasks.statistics import Estimate, Reason
from confidence_tasks.studies.logprob_metacognition.cell_tables import BINNINGS, PRIMARY, CellKey
from confidence_tasks.studies.logprob_metacognition.resampling import resample
from confidence_tasks.study.units import SAMPLING_UNIT

VERSION_1 = ("d_prime_v1", "meta_d_v1", "mratio_v1")
"""Measures of version 1 of the paper, whose bins have the edges of T = 1."""


def version_1(columns: Columns, subsets: Iterable[TrialSubset], settings: Settings) -> Distributions:
    """Return the distributions of version 1's measures for the conditions of one model."""
    needed = ("question_id", "source", "temperature", "correct", "mean_logprob")
    present = [name for name in (*needed, SAMPLING_UNIT) if name in columns]
    trials = pd.DataFrame({name: columns[name] for name in present}).assign(model="", domain=None)
    cells = resample(trials, settings=settings, binnings={PRIMARY: BINNINGS[PRIMARY]}).cells
    missing = Distribution(
        Estimate(np.nan, Reason.EMPTY), np.full(settings.n_resamples, np.nan), frozenset[str]()
    )
    drawn: dict[tuple[TrialSubset, str], Distribution] = {}
    for subset in subsets:
        temperature = float(columns["temperature"][subset.rows[0]])
        cell = cells.get(CellKey("", subset.source, temperature))
        drawn |= {(subset, name): cell.measure(name) if cell else missing for name in VERSION_1}
    return drawn
