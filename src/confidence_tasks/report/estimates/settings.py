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
        Number of resamples of questions, and of exchanges of conditions in tests.
    level : float
        Nominal coverage of intervals, in (0, 1).
    seed : int
        Seed of all draws.
    groups : tuple
        Named groups of models; some tables show the mean of each.
    about : tuple
        What the user's file says of models; some tables of papers show it.
    cluster : str
        What questions of a cluster share, as in :func:`confidence_tasks.logs.clusters.with_units`.
    """

    n_resamples: int = 10_000
    level: float = 0.95
    seed: int = 0
    groups: ModelGroups = ()
    cluster: str = ""
    about: AboutModels = ()

    def seed_of(self, *purpose: str) -> tuple[int, int]:
        """Return the seed of the draws for one purpose: the same in every report, whatever else is in it."""
        return self.seed, zlib.crc32("/".join(purpose).encode())

    def generator(self, *purpose: str) -> np.random.Generator:
        """Return the generator of the draws for one purpose."""
        return np.random.default_rng(self.seed_of(*purpose))
