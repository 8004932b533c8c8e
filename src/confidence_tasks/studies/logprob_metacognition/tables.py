"""Log-probability metacognition over trials: measures of every model, source and temperature, with intervals.

One draw of questions serves every cell of a source: all models, temperatures, domains and ways of binning. The
difference of two cells is then paired by question, whatever the two are.

Cacioli (2026), arXiv:2603.25112, section 3.2, and its second version for the measures that are valid.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from confidence_tasks.report.estimates import Distribution, Settings, informative
from confidence_tasks.report.groups import Columns
from confidence_tasks.statistics import (
    Estimate,
    Reason,
    accuracy_at_coverage,
    auroc2,
    fit_meta_d,
    meta_information,
)
from confidence_tasks.statistics.calibration.binning import Bins
from confidence_tasks.statistics.core import FloatArray
from confidence_tasks.statistics.inference.limits import InvertedTest
from confidence_tasks.statistics.inference.resampling import as_estimate
from confidence_tasks.statistics.inference.weights import ratio
from confidence_tasks.statistics.sdt import MetaD, UnequalVarianceSDT, fit_uv_sdt
from confidence_tasks.studies.logprob_metacognition.trials import COVERAGES
from confidence_tasks.studies.logprob_metacognition.trials import MEASURES as IN_THE_LOG
from confidence_tasks.study.measures import Measure

TEMPERATURE = 1.0
"""At which the hypotheses are tested and the edges of the bins lie."""

PRIMARY_SOURCE = "trivia_qa"
"""On which they are tested, where it was asked."""

LARGEST_RATIO = 10.0
"""M-ratios beyond this are left out of an interval, and counted (section 3.2)."""

INFORMATION_BINS = 10
"""Bins of equal mass between which meta-information tells, as in ``meta_information``."""

SETTINGS = Settings(n_resamples=10_000, level=0.95, seed=42)
"""The paper's."""

PRIMARY = ""
"""Name of the study's own binning."""


class CellKey(NamedTuple):
    """What a cell is of; the domain is empty for all of them together."""

    model: str
    source: str
    temperature: float
    domain: str = ""
    binning: str = PRIMARY


@dataclass(frozen=True, eq=False)
class ConditionCounts:
    """Trials under one condition, and what they come to in every resample of questions.

    Attributes
    ----------
    key : CellKey
        Which trials.
    correct, evidence : ndarray, shape (n,)
        Their correctness and evidence; trials that lack one are left out.
    asked : ndarray of str, shape (n,)
        Their questions.
    edges : ndarray, shape (2K - 1,)
        Inner edges of the bins.
    counts : ndarray, shape (2, 2K)
        Wrong and right answers by bin of evidence, lowest first.
    count_draws : ndarray, shape (R, 2, 2K)
        The same of each resample.
    posterior_draws : ndarray, shape (R, 2, 2K)
        The same drawn from their posterior distribution; none where edges are not quantiles.
    deciles, decile_draws : ndarray, shape (2, 10) and (R, 2, 10)
        The same by the cell's own bins of equal mass; none for other binnings than the primary one.
    area_draws : ndarray, shape (R,)
        AUROC2 of each resample; none for other binnings than the primary one.
    sum_draws : ndarray, shape (R, S)
        In each resample the sums of ``SUMMED`` over all trials, readable or not; none for domains and other binnings.
    """

    key: CellKey
    correct: FloatArray
    evidence: FloatArray
    asked: NDArray[np.str_]
    edges: FloatArray
    counts: FloatArray
    count_draws: FloatArray
    posterior_draws: FloatArray | None = None
    deciles: FloatArray | None = None
    decile_draws: FloatArray | None = None
    area_draws: FloatArray | None = None
    sums: FloatArray | None = None
    sum_draws: FloatArray | None = None
    _measured: dict[str, Distribution] = field(default_factory=dict, init=False)

    @property
    def n(self) -> int:
        """Number of trials."""
        return len(self.correct)

    @cached_property
    def questions(self) -> frozenset[str]:
        """Its questions."""
        return frozenset(map(str, self.asked))

    @property
    def smaller_class(self) -> int:
        """How many questions were answered right or wrong, whichever are fewer."""
        return min(len(np.unique(self.asked[self.correct == value])) for value in (0.0, 1.0))

    @cached_property
    def fit(self) -> MetaD:
        """Version 1's fit of the trials: correctness in the place of the stimulus, 0.5 added to every cell."""
        return fit_meta_d(*self.counts, padding="hautus")

    @cached_property
    def fit_draws(self) -> MetaD:
        """The same of each draw from the posterior distribution, which needs nothing added."""
        if self.posterior_draws is None or not self.smaller_class:
            return self.fit_resamples
        return fit_meta_d(self.posterior_draws[:, 0], self.posterior_draws[:, 1], padding="none")

    @cached_property
    def fit_resamples(self) -> MetaD:
        """The same of each resample."""
        return fit_meta_d(self.count_draws[:, 0], self.count_draws[:, 1], padding="hautus")

    @cached_property
    def unequal_variance(self) -> UnequalVarianceSDT:
        """The normal distributions of wrong and right answers' evidence, each with its own variance."""
        return fit_uv_sdt(*self.counts)

    @cached_property
    def unequal_variance_draws(self) -> UnequalVarianceSDT:
        """The same of each resample."""
        return fit_uv_sdt(self.count_draws[:, 0], self.count_draws[:, 1])

    @property
    def standard_deviation_ratio(self) -> Estimate:
        """The sd of the evidence of wrong answers over that of right ones."""
        return as_estimate(self.unequal_variance.slope)

    @property
    def n_dropped(self) -> int:
        """Draws with an M-ratio too large to be believed."""
        return int((np.abs(self.fit_draws.m_ratio) > LARGEST_RATIO).sum())

    def measure(self, name: str) -> Distribution:
        """Return a measure, one of ``MEASURES``, with its resamples."""
        if name not in self._measured:
            value, resamples = MEASURES[name](self)
            part = COVERED.get(name) if value in (0.0, 1.0) else None
            in_the_log = _IN_THE_LOG[_DECIDED_AS.get(name, name)]
            self._measured[name] = Distribution(
                as_estimate(value),
                np.asarray(resamples, dtype=np.float64),
                self.questions if part is None else self.most_confident(part),
                informative(in_the_log, self.columns),
                inverted_test=self._binned(in_the_log),
            )
        return self._measured[name]

    def _binned(self, measure: Measure) -> InvertedTest | None:
        """Return what the interval of a measure is made of, where a test is inverted."""
        if measure.test_inversion is None:
            return None
        _, question = np.unique(self.asked, return_inverse=True)
        return measure.test_inversion(self.columns, question)

    def most_confident(self, coverage: float) -> frozenset[str]:
        """Return the questions of that share of the trials whose evidence is highest."""
        descending = np.argsort(-self.evidence, kind="stable")
        return frozenset(map(str, self.asked[descending[: math.ceil(coverage * self.n)]]))

    @property
    def columns(self) -> Columns:
        """Its trials as the log has them, as far as it takes to say which questions decide a measure."""
        return {
            "correct": self.correct,
            "mean_logprob": self.evidence,
            "confidence": np.exp(self.evidence),
            "question_id": self.asked,
        }


_IN_THE_LOG = {measure.name: measure for measure in IN_THE_LOG}

_DECIDED_AS = dict.fromkeys(("d_prime_v1", "meta_d_v1", "mratio_v1", "mratio_v1_unequal"), "auroc2") | {
    "mratio_v1_resampled": "mratio_v1",
    "criterion_v1": "auroc2",
}
"""Measures that need no more trials than others: drawn from their posterior distribution, as few as AUROC2."""

_Value: TypeAlias = tuple[Any, Any]


CALIBRATION_BINS = Bins(10)
"""Bins of the expected calibration error."""

GAPS = tuple(f"gap_{k}" for k in range(CALIBRATION_BINS.number))
"""By bin of confidence, the sum of correctness less confidence."""

SUMMED = (
    "asked",
    "readable",
    "judged",
    "right",
    "with_evidence",
    "evidence",
    "wrong_complete",
    "evidence_of_wrong",
    "right_complete",
    "evidence_of_right",
    "complete",
    "squared_error",
    *GAPS,
)
"""What is added up over all trials of a cell, in this order."""


def _mean(of: str, over: str) -> Callable[[ConditionCounts], _Value]:
    """Return the mean of one sum over another."""
    return lambda cell: _ratios(cell, of, over)


def _ratios(cell: ConditionCounts, of: str, over: str) -> _Value:
    if cell.sums is None or cell.sum_draws is None:
        raise ValueError(f"only whole conditions have means of all trials, {cell.key} is a part")
    i, j = SUMMED.index(of), SUMMED.index(over)
    return ratio(cell.sums[i : i + 1], cell.sums[j : j + 1])[0], ratio(
        cell.sum_draws[:, i], cell.sum_draws[:, j]
    )


def _calibration_error(cell: ConditionCounts) -> _Value:
    """Return the sum over bins of how far confidence is from correctness, over the number of trials."""
    if cell.sums is None or cell.sum_draws is None:
        raise ValueError(f"only whole conditions have a calibration error, {cell.key} is a part")
    gaps, n = [SUMMED.index(name) for name in GAPS], SUMMED.index("complete")
    value = ratio(np.abs(cell.sums[gaps]).sum(keepdims=True), cell.sums[n : n + 1])[0]
    return value, ratio(np.abs(cell.sum_draws[:, gaps]).sum(axis=1), cell.sum_draws[:, n])


def _criterion(cell: ConditionCounts) -> _Value:
    """Minus the mean of the z-scores of right and of wrong answers above the middle edge, 0.5 added to each cell."""

    def criterion(counts: FloatArray) -> FloatArray:
        """Return it of tables of shape (..., 2, 2K); NaN of those without right or without wrong answers."""
        high = counts[..., counts.shape[-1] // 2 :].sum(axis=-1)
        z = ndtri((high + 0.5) / (counts.sum(axis=-1) + 1.0))
        both = (counts.sum(axis=-1) > 0.0).all(axis=-1)
        return np.asarray(np.where(both, -z.mean(axis=-1), np.nan))

    value = float(criterion(cell.counts))
    return Estimate(value, Reason.ONE_CLASS if np.isnan(value) else None), criterion(cell.count_draws)


def _difference(cell: ConditionCounts) -> _Value:
    wrong = _ratios(cell, "evidence_of_wrong", "wrong_complete")
    right = _ratios(cell, "evidence_of_right", "right_complete")
    return right[0] - wrong[0], right[1] - wrong[1]


def _of_fit(name: str) -> Callable[[ConditionCounts], _Value]:
    return lambda cell: (getattr(cell.fit, name), getattr(cell.fit_draws, name))


def _m_ratio(cell: ConditionCounts) -> _Value:
    return cell.fit.m_ratio, _moderate(cell.fit_draws.m_ratio)


def _resampled_m_ratio(cell: ConditionCounts) -> _Value:
    return cell.fit.m_ratio, _moderate(cell.fit_resamples.m_ratio)


def _unequal_variance_m_ratio(cell: ConditionCounts) -> _Value:
    """M-ratio at the ratio of standard deviations that the trials suggest, or a draw from their distribution."""
    if cell.posterior_draws is None:
        raise ValueError(f"it is measured between quantiles, not in {cell.key.binning!r}")
    s, (wrong, right) = cell.standard_deviation_ratio, np.moveaxis(cell.posterior_draws, 1, 0)
    if np.isnan(s):
        return Estimate(s, s.reason), np.full(len(wrong), np.nan)
    s_draws = np.asarray(fit_uv_sdt(wrong, right, padding="none").slope)
    draws = fit_meta_d(wrong, right, padding="none", s=np.where(np.isnan(s_draws), s, s_draws))
    m_ratio = np.where(np.isnan(s_draws), np.nan, _moderate(draws.m_ratio))
    return fit_meta_d(*cell.counts, padding="hautus", s=s).m_ratio, m_ratio


def _moderate(m_ratio: Any) -> FloatArray:
    return np.where(np.abs(m_ratio) > LARGEST_RATIO, np.nan, m_ratio)


def _of_two_normals(name: str) -> Callable[[ConditionCounts], _Value]:
    return lambda cell: (getattr(cell.unequal_variance, name), getattr(cell.unequal_variance_draws, name))


def _auroc(cell: ConditionCounts) -> _Value:
    return auroc2(cell.correct, _ranks(cell)), cell.area_draws


def _ranks(cell: ConditionCounts) -> FloatArray:
    """Return the evidence as a confidence in [0, 1]; only its order counts."""
    return np.searchsorted(np.sort(cell.evidence), cell.evidence) / max(cell.n, 1)


def _meta_information(cell: ConditionCounts) -> _Value:
    """Bias-corrected share of the uncertainty about correctness that the evidence removes.

    A resample is drawn from the observed table, whose information is too large by the bias: in a resample it comes off
    twice, once for having been sampled from the trials and once for the trials having been sampled.
    """
    counts, draws = _deciles(cell)
    value = meta_information(*_DECILES, bins=None, weights=counts)
    return value, meta_information(*_DECILES, bins=None, weights=draws) - (_observed(cell) - value)


def _observed(cell: ConditionCounts) -> float:
    """Meta-information with its bias."""
    counts, _ = _deciles(cell)
    return float(meta_information(*_DECILES, bins=None, weights=counts, correction="none"))


def _accuracy_at(coverage: float) -> Callable[[ConditionCounts], _Value]:
    """Accuracy of the most confident share; in a resample, trials of one tenth of the evidence count as tied."""

    def value(cell: ConditionCounts) -> _Value:
        draws = accuracy_at_coverage(*_DECILES, coverage=coverage, weights=_deciles(cell)[1])
        return accuracy_at_coverage(cell.correct, _ranks(cell), coverage=coverage), draws

    return value


_DECILES = (
    np.repeat([0.0, 1.0], INFORMATION_BINS),
    np.tile(np.arange(INFORMATION_BINS) / INFORMATION_BINS, 2),
)
"""Correctness and evidence of the cells of a table of deciles."""


def _deciles(cell: ConditionCounts) -> tuple[FloatArray, FloatArray]:
    if cell.deciles is None or cell.decile_draws is None:
        raise ValueError(f"it is measured in the primary binning, not in {cell.key.binning!r}")
    return cell.deciles.ravel(), cell.decile_draws.reshape(len(cell.decile_draws), -1)


COVERED = {f"accuracy_{round(100 * coverage)}": coverage for coverage in COVERAGES}
"""Measures of selective models, and the share of the trials that each is of."""

MEASURES: Mapping[str, Callable[[ConditionCounts], _Value]] = {
    "meta_information": _meta_information,
    "auroc2": _auroc,
    "z_roc_slope": _of_two_normals("slope"),
    "d_a": _of_two_normals("d_a"),
    "accuracy": _mean("right", "judged"),
    "parse_rate": _mean("readable", "asked"),
    "ece": _calibration_error,
    "brier": _mean("squared_error", "complete"),
    "mean_logprob": _mean("evidence", "with_evidence"),
    "mean_logprob_difference": _difference,
    **{name: _accuracy_at(coverage) for name, coverage in COVERED.items()},
    "d_prime_v1": _of_fit("d_prime"),
    "meta_d_v1": _of_fit("meta_d"),
    "mratio_v1": _m_ratio,
    "mratio_v1_unequal": _unequal_variance_m_ratio,
    "mratio_v1_resampled": _resampled_m_ratio,
    "criterion_v1": _criterion,
}
"""Measures of a cell by the names that they have in the log, if there: the value, and that of each resample."""


@dataclass(frozen=True, eq=False)
class LogprobResampler:
    """All cells of some models, by model, source and temperature, and how uncertainty was computed."""

    cells: Mapping[CellKey, ConditionCounts]
    settings: Settings

    @cached_property
    def models(self) -> list[str]:
        """The models, in order."""
        return list(dict.fromkeys(key.model for key in self.cells))

    @cached_property
    def sources(self) -> list[str]:
        """The sources of questions, that of the hypotheses first."""
        names = sorted({key.source for key in self.cells})
        return sorted(names, key=lambda name: name != PRIMARY_SOURCE)

    @property
    def primary_source(self) -> str:
        """The source that the hypotheses are tested on; empty without trials."""
        return self.sources[0] if self.sources else ""

    def get(
        self,
        model: str,
        source: str,
        *,
        temperature: float = TEMPERATURE,
        domain: str = "",
        binning: str = PRIMARY,
    ) -> ConditionCounts | None:
        """Return a cell; None where there are no trials."""
        return self.cells.get(CellKey(model, source, temperature, domain, binning))

    def temperatures(self, model: str, source: str) -> list[float]:
        """Temperatures at which a model was asked, ascending."""
        return sorted({key.temperature for key in self.cells if key.model == model and key.source == source})

    def domains(self, source: str) -> list[str]:
        """Domains of a source's questions."""
        return sorted({key.domain for key in self.cells if key.source == source and key.domain})
