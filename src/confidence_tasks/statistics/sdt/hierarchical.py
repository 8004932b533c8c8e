"""Hierarchical meta-d': the distribution of log M-ratio over models, domains or sources (extra ``bayes``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from confidence_tasks.statistics.core import BoolArray, FloatArray, Reason, check_level, check_seed
from confidence_tasks.statistics.sdt.count_tables import Tables

_DIRECTION = np.array([-1.0, 1.0])
"""Direction away from the type-1 criterion: negative for response S1, positive for S2."""


@dataclass(frozen=True, slots=True)
class PosteriorDraws:
    """Posterior draws of one quantity, or of one quantity per unit, and their summary.

    Attributes
    ----------
    mean, standard_deviation, low, high : ndarray, shape () or (J,)
        Mean, standard deviation and equal-tailed credible interval.
    level : float
        Posterior probability of the interval.
    draws : ndarray, shape (chains, samples) or (chains, samples, J)
        The draws, for contrasts and plots.
    """

    mean: FloatArray
    standard_deviation: FloatArray
    low: FloatArray
    high: FloatArray
    level: float
    draws: FloatArray


@dataclass(frozen=True, slots=True)
class HierarchicalMetaD:
    """Estimates of M-ratio for the group and for each unit, with convergence diagnostics.

    Attributes
    ----------
    log_m_mean : PosteriorDraws
        Mean of log M over the population of units.
    log_m_spread : PosteriorDraws
        Standard deviation of log M over the population of units.
    m_ratio : PosteriorDraws
        exp(log_m_mean): M of the typical unit.
    unit_m_ratio : PosteriorDraws
        M of each of the J units, shrunken towards the group; the shrinkage is stronger for units with little data. NaN
        for a unit whose counts do not identify it.
    reasons : tuple of Reason or None
        The reason why a unit has no M-ratio, or None, for each of the J units.
    r_hat : float
        Largest split R-hat of the group parameters; above 1.01 the chains have not mixed.
    effective_sample_size : float
        Smallest effective sample size of the group parameters.
    n_divergent : int
        Number of divergent transitions; results with any are doubtful.
    seed : int
        Seed of the sampler.
    """

    log_m_mean: PosteriorDraws
    log_m_spread: PosteriorDraws
    m_ratio: PosteriorDraws
    unit_m_ratio: PosteriorDraws
    reasons: tuple[Reason | None, ...]
    r_hat: float
    effective_sample_size: float
    n_divergent: int
    seed: int

    @property
    def converged(self) -> bool:
        """True if R-hat is below 1.01, the effective sample size above 400, and no transition diverged."""
        return self.r_hat < 1.01 and self.effective_sample_size > 400 and self.n_divergent == 0


def hierarchical_meta_d(
    nR_S1: ArrayLike,
    nR_S2: ArrayLike,
    *,
    design_effect: ArrayLike = 1.0,
    n_warmup: int = 1000,
    n_samples: int = 1000,
    n_chains: int = 4,
    level: float = 0.95,
    seed: int = 0,
) -> HierarchicalMetaD:
    """Estimate the M-ratios of several units in a two-alternative task jointly, by Markov chain Monte Carlo.

    Each unit has the model of :func:`~confidence_tasks.statistics.sdt.meta_d.fit_meta_d` (equal variances, relative
    criterion). The logarithms of the M-ratios have a normal distribution over units. Its mean is the log M-ratio of the
    typical unit; its standard deviation measures differences between units, without sampling error.

    Parameters
    ----------
    nR_S1, nR_S2 : array_like of int, shape (J, 2K)
        Counts of J units, two or more, from "S1, highest rating" to "S2, highest rating". No padding is needed.
    design_effect : array_like, shape () or (J,), default 1.0
        Variance of each unit's proportions relative to independent trials, at least 1. The model takes trials for
        independent ones, which repeats of a question and questions of a cluster are not: a unit of n trials then counts
        as n / design_effect. For questions that were all asked E times, E is the cautious value, which counts every
        question once.
    n_warmup, n_samples, n_chains : int
        Number of adaptation steps, number of draws per chain, and number of chains.
    level : float, default 0.95
        Posterior probability of the intervals, in (0, 1).
    seed : int, default 0
        Seed of the sampler.

    Returns
    -------
    HierarchicalMetaD
        Check ``converged`` before using the result. A unit needs a response that has right and wrong answers and two
        ratings in use. Other units would show the prior, so they are left out and have NaN. With fewer than two units
        left, all values are NaN.

    Raises
    ------
    ImportError
        If the extra ``bayes`` is not installed: ``pip install 'confidence-tasks[bayes]'``.

    Notes
    -----
    Priors: mean of log M, normal (0, 1); spread of log M, half-normal (1); d' and type-1 criterion, normal over units
    with means normal (1, 1.5) and (0, 1) and half-normal (1) spreads; distances between neighbouring criteria,
    log-normal with median 0.5 and spread 1. "Spread" means standard deviation. Type-1 parameters are estimated jointly
    with the others, so their uncertainty is taken into account. Division of the counts by the design effect is the
    first-order correction of Rao & Scott (1984) for clustered counts.

    References
    ----------
    Fleming (2017), HMeta-d: hierarchical Bayesian estimation of metacognitive efficiency from confidence ratings,
    doi:10.1093/nc/nix007. Hoffman & Gelman (2014), The No-U-Turn Sampler, JMLR 15:1593-1623. Rao & Scott (1984), On
    chi-squared tests for multiway contingency tables, doi:10.1214/aos/1176346391.
    """
    tables = Tables.of(nR_S1, nR_S2)
    k = tables.ratings
    s1, s2 = tables.s1, tables.s2
    answered_s1 = np.stack([s2[:, :k], s1[:, :k]], axis=1)[:, :, ::-1]
    answered_s2 = np.stack([s1[:, k:], s2[:, k:]], axis=1)
    counts = np.stack([answered_s1, answered_s2], axis=1)  # (J, sides, [wrong, correct], ratings outwards)
    _check_arguments(counts, n_warmup, n_samples, n_chains, level)
    check_seed(seed)
    effects = _design_effects(design_effect, len(counts))
    identified = _identified(counts)
    reasons = tuple(None if each else Reason.NOT_IDENTIFIED for each in identified)
    if identified.sum() < 2:
        draws = _without_draws(n_chains, n_samples, len(counts))
        return HierarchicalMetaD(
            **_summarize(draws, level),
            reasons=reasons,
            r_hat=np.nan,
            effective_sample_size=np.nan,
            n_divergent=0,
            seed=seed,
        )
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
        effective = (counts / effects[:, np.newaxis, np.newaxis, np.newaxis])[identified]
        sampler.run(jax.random.PRNGKey(seed), effective, extra_fields=("diverging",))
        draws = {name: np.asarray(value) for name, value in sampler.get_samples(group_by_chain=True).items()}
        n_divergent = int(np.asarray(sampler.get_extra_fields()["diverging"]).sum())
    group = [draws["log_m_mean"], draws["log_m_spread"]]
    of_units = np.full((n_chains, n_samples, len(counts)), np.nan)
    of_units[..., identified] = draws["log_m"]
    return HierarchicalMetaD(
        **_summarize({**draws, "log_m": of_units}, level),
        reasons=reasons,
        r_hat=max(float(split_gelman_rubin(chains)) for chains in group),
        effective_sample_size=min(float(effective_sample_size(chains)) for chains in group),
        n_divergent=n_divergent,
        seed=seed,
    )


def _design_effects(given: ArrayLike, n_units: int) -> FloatArray:
    """Return the design effect of each unit, (J,)."""
    effects = np.asarray(given, dtype=np.float64)
    if effects.shape not in ((), (n_units,)):
        raise ValueError(f"design_effect needs one number, or one for each of the {n_units} units")
    if not (np.isfinite(effects) & (effects >= 1.0)).all():
        raise ValueError(
            "design_effect must be at least 1: repeated trials do not count as more than they are"
        )
    return np.broadcast_to(effects, (n_units,))


def _identified(counts: FloatArray) -> BoolArray:
    """Return whether the counts of each unit identify its M-ratio, (J,)."""
    both_outcomes = (counts.sum(axis=3) > 0.0).all(axis=2)
    ratings_vary = (counts.sum(axis=2) > 0.0).sum(axis=2) > 1
    return np.asarray((both_outcomes & ratings_vary).any(axis=1))


def _without_draws(n_chains: int, n_samples: int, n_units: int) -> dict[str, FloatArray]:
    """Return NaN in place of all draws."""
    group = np.full((n_chains, n_samples), np.nan)
    return {
        "log_m_mean": group,
        "log_m_spread": group,
        "log_m": np.full((n_chains, n_samples, n_units), np.nan),
    }


def _summarize(draws: Mapping[str, FloatArray], level: float) -> dict[str, PosteriorDraws]:
    quantities = {
        "log_m_mean": draws["log_m_mean"],
        "log_m_spread": draws["log_m_spread"],
        "m_ratio": np.exp(draws["log_m_mean"]),
        "unit_m_ratio": np.exp(draws["log_m"]),
    }
    posteriors = {}
    for name, values in quantities.items():
        low, high = np.quantile(values, [(1.0 - level) / 2.0, (1.0 + level) / 2.0], axis=(0, 1))
        mean, deviation = values.mean(axis=(0, 1)), values.std(axis=(0, 1))
        posteriors[name] = PosteriorDraws(mean, deviation, low, high, level, values)
    return posteriors


def _model(counts: FloatArray) -> None:
    """Define likelihood and priors for numpyro."""
    import jax.numpy as jnp
    import numpyro
    from numpyro.distributions import HalfNormal, Normal

    units, sides, _, ratings = counts.shape
    log_m_mean = numpyro.sample("log_m_mean", Normal(0.0, 1.0))
    log_m_spread = numpyro.sample("log_m_spread", HalfNormal(1.0))
    d_mean = numpyro.sample("d_mean", Normal(1.0, 1.5))
    d_spread = numpyro.sample("d_spread", HalfNormal(1.0))
    # Non-centred parametrization: with little data, log M itself and its spread have a funnel-shaped posterior.
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
    """Return the log-likelihood of the responses, and of the ratings given the responses."""
    import jax.numpy as jnp
    from jax.scipy.special import log_ndtr

    # Distance of the type-1 criterion from the mean in the direction of the response: d'/2 + c for wrong answers,
    # -d'/2 + c for correct ones, with the sign of c according to the response.
    outcome = np.array([1.0, -1.0])
    # (units, sides, outcomes)
    distance = outcome * d_prime[:, None, None] / 2.0 + (_DIRECTION * criterion[:, None])[:, :, None]
    response = jnp.sum(counts.sum(axis=-1) * log_ndtr(-distance))
    start = m_ratio[:, None, None] * distance
    thresholds = jnp.cumsum(gap, axis=-1)[:, :, None, :]
    boundaries = jnp.concatenate([start[..., None], start[..., None] + thresholds], axis=-1)
    log_tail = log_ndtr(-boundaries)
    cell = log_tail[..., :-1] + jnp.log(-jnp.expm1(jnp.diff(log_tail, axis=-1)))
    rating = jnp.concatenate([cell, log_tail[..., -1:]], axis=-1) - log_tail[..., :1]
    return response + jnp.sum(counts * rating)


def _check_arguments(counts: FloatArray, n_warmup: int, n_samples: int, n_chains: int, level: float) -> None:
    if counts.shape[0] < 2 or counts.shape[-1] < 2:
        raise ValueError(f"give two or more units and ratings, got {counts.shape[0]} and {counts.shape[-1]}")
    if (counts % 1.0).any():
        raise ValueError("counts must be whole numbers, zero or above")
    if min(n_warmup, n_samples, n_chains) < 1 or n_samples < 4:
        raise ValueError("n_warmup and n_chains must be at least 1, n_samples at least 4")
    check_level(level)
