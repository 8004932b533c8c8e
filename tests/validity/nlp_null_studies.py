"""Log-probability studies in which a hypothesis is false, to see how often its verdict is "supported" nevertheless."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np
import pandas as pd
from tests.unit.studies.logprob_trials import DOMAINS, Evidence, together, trials

from confidence_tasks.replications.logprob_metacognition.hypotheses import (
    TEMPERATURES,
    Outcome,
    domain_specific_efficiency,
    hidden_structure,
    suboptimal_metacognition,
    temperature_dissociation,
)
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.studies.logprob_metacognition.cell_tables import BINNINGS, PRIMARY
from confidence_tasks.studies.logprob_metacognition.resampling import LogprobResampler, resample

EQUAL = Evidence(1.4, 1.0, 0.5)
"""M-ratio 1."""

UNEQUAL = Evidence(1.9, 1.7, 0.43)
"""About a model of the paper; M-ratio 1.08."""


def _experiment(parts: Sequence[pd.DataFrame], n_resamples: int) -> LogprobResampler:
    settings = Settings(n_resamples)
    return resample(together(*parts), settings=settings, binnings={PRIMARY: BINNINGS[PRIMARY]})


def models_alike(
    rng: np.random.Generator, n: int, n_resamples: int, n_models: int, evidence: Evidence = EQUAL
) -> LogprobResampler:
    """Models that do not differ, at T = 1."""
    parts = [trials(evidence, n, model=str(model), rng=rng, domain=DOMAINS[0]) for model in range(n_models)]
    return _experiment(parts, n_resamples)


def domains_alike(
    rng: np.random.Generator, n: int, n_resamples: int, n_models: int, evidence: Evidence = EQUAL
) -> LogprobResampler:
    """Models whose four domains do not differ."""
    parts = [trials(evidence, n, model=str(model), rng=rng) for model in range(n_models)]
    return _experiment(parts, n_resamples)


def over_temperatures(
    rng: np.random.Generator, n: int, n_resamples: int, n_models: int, distances: Sequence[float]
) -> LogprobResampler:
    """Models of equal variance, so that d' and meta-d' are one: these at the four temperatures of H3."""
    parts = [
        trials(Evidence(d, 1.0, 0.5), n, model=str(model), rng=rng, temperature=t, domain=DOMAINS[0])
        for model in range(n_models)
        for t, d in zip(TEMPERATURES, distances, strict=True)
    ]
    return _experiment(parts, n_resamples)


Study: TypeAlias = Callable[[np.random.Generator, int, int, int], LogprobResampler]
"""``study(rng, n, n_resamples, n_models)``."""

_CORRECTED: Mapping[str, Callable[[LogprobResampler], Outcome]] = {
    "H2": partial(domain_specific_efficiency, corrected=True),
    "H4": partial(hidden_structure, corrected=True),
}

STUDIES: Mapping[str, tuple[Study, Callable[[LogprobResampler], Outcome]]] = {
    "H1, M-ratio 1": (models_alike, suboptimal_metacognition),
    "H2": (domains_alike, domain_specific_efficiency),
    "H2, corrected": (domains_alike, _CORRECTED["H2"]),
    "H2 by meta-information": (
        domains_alike,
        partial(domain_specific_efficiency, measure="meta_information", corrected=True),
    ),
    "H3, nothing varies": (partial(over_temperatures, distances=(1.4,) * 4), temperature_dissociation),
    "H3, meta-d' differs by the margin": (
        partial(over_temperatures, distances=(1.4, 1.4, 1.4, 1.7)),
        temperature_dissociation,
    ),
    "H4": (models_alike, hidden_structure),
    "H4, corrected": (models_alike, _CORRECTED["H4"]),
    "H4 by meta-information": (
        models_alike,
        partial(hidden_structure, measure="meta_information", corrected=True),
    ),
}
"""By name: studies in which a hypothesis is false, and its test."""


def supported(
    name: str, *, n: int, n_models: int, n_studies: int, n_resamples: int = 2_000, seed: int = 0
) -> float:
    """Share of the studies in which a false hypothesis is supported."""
    study, test = STUDIES[name]
    rng = np.random.default_rng([seed, n, n_models])
    return float(
        np.mean([test(study(rng, n, n_resamples, n_models)).verdict == "supported" for _ in range(n_studies)])
    )
