"""Hierarchical meta-d': the mean and the spread of log M-ratio over models, domains or sources (extra ``bayes``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from confidence_tasks.statistics.core import FloatArray, check_level
from confidence_tasks.statistics.sdt.count_tables import Tables

_DIRECTION = np.array([-1.0, 1.0])
"""Away from the type-1 criterion: to the left for response S1, to the right for S2."""


@dataclass(frozen=True, slots=True)
class Posterior:
    """Draws from the posterior of one quantity, or of one per unit, and their summary.

    Attributes
    ----------
    mean, standard_deviation, low, high : ndarray, shape () or (J,)
        Summary of the draws; the limits are equal-tailed.
    level : float
        Posterior probability of the interval.
    draws : ndarray, shape (chains, samples) or (chains, samples, J)
        The draws themselves, for contrasts and plots.
    """

    mean: FloatArray
    standard_deviation: FloatArray
    low: FloatArray
    high: FloatArray
    level: float
    draws: FloatArray


@dataclass(frozen=True, slots=True)
class HierarchicalMetaD:
    """Group and unit estimates of M-ratio, with the checks of the sampler.

    Attributes
    ----------
    log_m_mean : Posterior
        Mean of log M over the population of units.
    log_m_spread : Posterior
        Standard deviation of log M over the population of units.
    m_ratio : Posterior
        exp(log_m_mean): M of the typical unit.
    unit_m_ratio : Posterior
        M of each of the J units, drawn towards the group as far as its own trials leave it open.
    r_hat : float
        Largest split R-hat of the group parameters; above 1.01 the chains have not mixed.
    effective_sample_size : float
        Smallest of the group parameters.
    n_divergent : int
        Transitions in which the sampler failed; any casts doubt on the result.
    seed : int
        The seed.
    """

    log_m_mean: Posterior
    log_m_spread: Posterior
    m_ratio: Posterior
    unit_m_ratio: Posterior
    r_hat: float
    effective_sample_size: float
    n_divergent: int
    seed: int

    @property
    def converged(self) -> bool:
        """Whether the sampler's checks all pass."""
        return self.r_hat < 1.01 and self.effective_sample_size > 400 and self.n_divergent == 0


def hierarchical_meta_d(
    nR_S1: ArrayLike,
    nR_S2: ArrayLike,
    *,
    n_warmup: int = 1000,
    n_samples: int = 1000,
    n_chains: int = 4,
    level: float = 0.95,
    seed: int = 0,
) -> HierarchicalMetaD:
    """Estimate M-ratio for several units with two alternatives together, by Markov chain Monte Carlo.

    Each unit has the model of :func:`~confidence_tasks.statistics.sdt.meta_d.fit_meta_d` (equal variances, relative
    criterion), and the logarithms of their M-ratios are a sample from a normal distribution. Its mean says how good the
    metacognition of the typical unit is and its spread how much units differ, net of sampling error.

    Parameters
    ----------
    nR_S1, nR_S2 : array_like of int, shape (J, 2K)
        Counts of J units, two or more, from "S1, highest rating" to "S2, highest rating". No padding is needed.
    n_warmup, n_samples, n_chains : int
        Length of the sampler's adaptation, draws kept per chain, and number of chains.
    level : float, default 0.95
        Posterior probability of the intervals, in (0, 1).
    seed : int, default 0
        Seed of the sampler.

    Returns
    -------
    HierarchicalMetaD
        See its ``converged`` before use.

    Raises
    ------
    ImportError
        If the extra is not installed: ``pip install 'confidence-tasks[bayes]'``.

    Notes
    -----
    Priors: mean of log M, normal (0, 1); spread of log M, half-normal (1); d' and type-1 criterion, normal over units
    with means normal (1, 1.5) and (0, 1) and half-normal (1) spreads; distances between neighbouring criteria,
    log-normal around 0.5 with spread 1. Type-1 parameters are estimated jointly, so that their uncertainty counts.

    References
    ----------
    Fleming (2017), HMeta-d: hierarchical Bayesian estimation of metacognitive efficiency from confidence ratings,
    doi:10.1093/nc/nix007. Hoffman & Gelman (2014), The No-U-Turn Sampler, JMLR 15:1593-1623.
    """
    tables = Tables.of(nR_S1, nR_S2)
    k = tables.ratings
    s1, s2 = tables.s1, tables.s2
    answered_s1 = np.stack([s2[:, :k], s1[:, :k]], axis=1)[:, :, ::-1]
    answered_s2 = np.stack([s1[:, k:], s2[:, k:]], axis=1)
    counts = np.stack([answered_s1, answered_s2], axis=1)  # (J, sides, [wrong, correct], ratings outwards)
    _check(counts, n_warmup, n_samples, n_chains, level)
    try:
        import jax
        from numpyro.diagnostics import effective_sample_size, split_gelman_rubin
        from numpyro.infer import MCMC, NUTS
    except ImportError as error:
        raise ImportError(
            "hierarchical meta-d' needs the extra bayes: pip install 'confidence-tasks[bayes]'"
        ) from error
    with jax.enable_x64(True):
        sampler = MCMC(
            NUTS(_model, target_accept_prob=0.9),
            num_warmup=n_warmup,
            num_samples=n_samples,
            num_chains=n_chains,
            chain_method="vectorized",
            progress_bar=False,
        )
        sampler.run(jax.random.PRNGKey(seed), counts, extra_fields=("diverging",))
        draws = {name: np.asarray(value) for name, value in sampler.get_samples(group_by_chain=True).items()}
        n_divergent = int(np.asarray(sampler.get_extra_fields()["diverging"]).sum())
    group = [draws["log_m_mean"], draws["log_m_spread"]]
    return HierarchicalMetaD(
        **_posteriors(draws, level),
        r_hat=max(float(split_gelman_rubin(chains)) for chains in group),
        effective_sample_size=min(float(effective_sample_size(chains)) for chains in group),
        n_divergent=n_divergent,
        seed=seed,
    )


def _posteriors(draws: Mapping[str, FloatArray], level: float) -> dict[str, Posterior]:
    quantities = {
        "log_m_mean": draws["log_m_mean"],
        "log_m_spread": draws["log_m_spread"],
        "m_ratio": np.exp(draws["log_m_mean"]),
        "unit_m_ratio": np.exp(draws["log_m"]),
    }
    found = {}
    for name, values in quantities.items():
        low, high = np.quantile(values, [(1.0 - level) / 2.0, (1.0 + level) / 2.0], axis=(0, 1))
        mean, deviation = values.mean(axis=(0, 1)), values.std(axis=(0, 1))
        found[name] = Posterior(mean, deviation, low, high, level, values)
    return found


def _model(counts: FloatArray) -> None:
    """Likelihood and priors, in the language of numpyro."""
    import jax.numpy as jnp
    import numpyro
    from numpyro.distributions import HalfNormal, Normal

    units, sides, _, ratings = counts.shape
    log_m_mean = numpyro.sample("log_m_mean", Normal(0.0, 1.0))
    log_m_spread = numpyro.sample("log_m_spread", HalfNormal(1.0))
    d_mean = numpyro.sample("d_mean", Normal(1.0, 1.5))
    d_spread = numpyro.sample("d_spread", HalfNormal(1.0))
    # The deviation, not log M itself: where trials say little, the two would be tied in a funnel.
    deviation = numpyro.sample("deviation", Normal(0.0, 1.0).expand([units]).to_event(1))
    log_m = numpyro.deterministic("log_m", log_m_mean + log_m_spread * deviation)
    d_prime = numpyro.sample("d_prime", Normal(d_mean, d_spread).expand([units]).to_event(1))
    c_mean = numpyro.sample("c_mean", Normal(0.0, 1.0))
    c_spread = numpyro.sample("c_spread", HalfNormal(1.0))
    criterion = numpyro.sample("criterion", Normal(c_mean, c_spread).expand([units]).to_event(1))
    log_gap = numpyro.sample(
        "log_gap", Normal(np.log(0.5), 1.0).expand([units, sides, ratings - 1]).to_event(3)
    )
    likelihood = _log_likelihood(counts, d_prime, criterion, jnp.exp(log_m), jnp.exp(log_gap))
    numpyro.factor("counts", likelihood)


def _log_likelihood(counts: FloatArray, d_prime: Any, criterion: Any, m_ratio: Any, gap: Any) -> Any:
    """Return the log-likelihood of responses and, given these, of ratings."""
    import jax.numpy as jnp
    from jax.scipy.special import log_ndtr

    # How far the criterion lies from the mean, in halves of d': beyond it for wrong answers, before it for right ones.
    outcome = np.array([1.0, -1.0])
    # (units, sides, outcomes)
    from_mean = outcome * d_prime[:, None, None] / 2.0 + (_DIRECTION * criterion[:, None])[:, :, None]
    response = jnp.sum(counts.sum(axis=-1) * log_ndtr(-from_mean))
    start = m_ratio[:, None, None] * from_mean
    thresholds = jnp.cumsum(gap, axis=-1)[:, :, None, :]
    boundaries = jnp.concatenate([start[..., None], start[..., None] + thresholds], axis=-1)
    beyond = log_ndtr(-boundaries)
    cell = beyond[..., :-1] + jnp.log(-jnp.expm1(jnp.diff(beyond, axis=-1)))
    rating = jnp.concatenate([cell, beyond[..., -1:]], axis=-1) - beyond[..., :1]
    return response + jnp.sum(counts * rating)


def _check(counts: FloatArray, n_warmup: int, n_samples: int, n_chains: int, level: float) -> None:
    """Raise ValueError for counts or options outside their domain."""
    if counts.shape[0] < 2 or counts.shape[-1] < 2:
        raise ValueError(f"give two or more units and ratings, got {counts.shape[0]} and {counts.shape[-1]}")
    if (counts % 1.0).any():
        raise ValueError("counts must be whole numbers, zero or above")
    if min(n_warmup, n_samples, n_chains) < 1 or n_samples < 4:
        raise ValueError("n_warmup and n_chains must be at least 1, n_samples at least 4")
    check_level(level)
