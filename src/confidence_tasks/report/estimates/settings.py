"""Settings of intervals and tests."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np

from confidence_tasks.logs.about_models import AboutModels
from confidence_tasks.report.groups import ModelGroups


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of intervals and tests.

    Attributes
    ----------
    n_resamples : int
        Number of resamples of questions, and of exchanges of conditions in tests. With 2,000, a limit of an interval
        varies by 6% of the standard error of the estimate (Efron & Tibshirani 1993, An Introduction to the Bootstrap,
        chapter 14, doi:10.1201/9780429246593).
    level : float
        Nominal coverage of intervals, in (0, 1).
    seed : int
        Seed of all draws.
    groups : tuple
        Named groups of models; some tables show the mean of each.
    cluster : str
        What questions of a cluster share, as in :func:`confidence_tasks.logs.clusters.with_units`.
    about : tuple
        What the user's file says of models; some tables of papers show it.
    exchange_factor : int
        How many times as many exchanges a test has if its p-value, by the first of them or by Student's distribution,
        is below 0.1.
    """

    n_resamples: int = 2_000
    level: float = 0.95
    seed: int = 0
    groups: ModelGroups = ()
    cluster: str = ""
    about: AboutModels = ()
    exchange_factor: int = 5

    @property
    def n_exchanges(self) -> tuple[int, int]:
        """Smallest and largest number of exchanges of a test."""
        return self.n_resamples, self.n_resamples * self.exchange_factor

    def seed_of(self, *purpose: str) -> tuple[int, int]:
        """Return the seed of the draws for one purpose: the same in every report, whatever else is in it."""
        return self.seed, zlib.crc32("/".join(purpose).encode())

    def generator(self, *purpose: str) -> np.random.Generator:
        """Return the generator of the draws for one purpose."""
        return np.random.default_rng(self.seed_of(*purpose))
