"""The simulated subject: an observer with known accuracy, metacognition and reporting habits.

Type 1. The subject is right with probability Phi(d'/2), the accuracy of an unbiased two-choice observer.

Type 2. The confidence is based on evidence y > 0, whose distribution is that of an ideal observer with sensitivity
m = meta-d' given the same outcome: N(m/2, 1) for a right answer and N(-m/2, 1) for a wrong one, both truncated to
y > 0. The type-2 ROC curve is then that of meta-d' = m at every criterion, exactly as Maniscalco & Lau (2012,
doi:10.1016/j.concog.2011.09.021) define meta-d'.

Report. The probability of being right given y has a closed form. A calibrated subject states this probability. Bias and
gain distort it on the logit scale, and reporting habits (round numbers, ceilings, ignored bounds) distort the number.

Truth. ``study.simulation.true_values(subject, condition, task, parameters)`` enumerates the replies that a subject can
give under a condition, weights them by their probabilities, and computes the measures of the study. Continuous random
variables are averaged over evenly spaced points (Roberts' R sequence), so that the values do not depend on a seed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import blake2b
from numbers import Real
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from confidence_tasks.study.columns import columns
from confidence_tasks.study.measure import Measure
from confidence_tasks.study.parameter import did_you_mean

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from confidence_tasks.study.inference import Columns

Model = TypeVar("Model", bound="DataclassInstance")

_NORMAL = NormalDist()
_UNIT = 2.0**-53


def uniform(*key: object) -> float:
    """Return a number in the open interval (0, 1) that is a fixed function of ``key``.

    Examples
    --------
    >>> uniform(1, "mmlu-0017", "type1") == uniform(1, "mmlu-0017", "type1")
    True
    """
    digest = blake2b("\x1f".join(map(str, key)).encode(), digest_size=8).digest()
    return ((int.from_bytes(digest) >> 11) + 0.5) * _UNIT


def normal(*key: object) -> float:
    """Return a standard normal number that is a fixed function of ``key``."""
    return _NORMAL.inv_cdf(uniform(*key))


def pick(options: int, *key: object) -> int:
    """Return an index below ``options`` that is a fixed function of ``key``."""
    return int(uniform(*key) * options)


STRONGEST = 10.0
"""Largest absolute sensitivity. Beyond it the probability of being right is 0 or 1 to within rounding."""


@dataclass(frozen=True, slots=True)
class Subject:
    """Parameters of a simulated subject.

    Attributes
    ----------
    d_prime : float
        Type-1 sensitivity, from -10 to 10; accuracy is Phi(d_prime / 2).
    meta_d_prime : float
        Type-2 sensitivity, from -10 to 10; 0 means that confidence is unrelated to correctness.
    scale_gain : mapping of str to float
        Factor on meta-d' by condition, up to a meta-d' of 10. It makes one scale better than another.
    bias : float
        Added to the logit of the calibrated confidence; positive values make the subject overconfident.
    gain : float
        Factor on the logit of the calibrated confidence.
    noise : float
        Standard deviation of a normal shift of the logit that is independent of the outcome and of other conditions. It
        lowers meta-d'.
    rounding : float
        Proportion of reports that are rounded to a multiple of ``round_to``, on scales with enough multiples.
    round_to : int
        Spacing of round numbers, in units of the scale.
    anchors : tuple of float
        Positions on the scale, in [0, 1]. If there are any, every report moves to the nearest of them.
    ignores_bounds : float
        Proportion of reports on a scale from 0 to 100 instead of the requested one.
    difficulty_spread : float
        Standard deviation over questions of a normal shift of d', which stays within -10 to 10. meta-d' is exactly
        recoverable only with 0.
    sloppiness : float
        Proportion of replies that do not have the requested format.
    hazard_noise : float
        Standard deviation over questions of the log ratio of the risk of dying as the subject believes it to the risk
        in the life table; with 0 the subject knows the life table.
    caution : float
        Factor on the penalty for a wrong answer in the decision to answer; 1 is optimal, 0 never abstains.
    risk_sensitivity : float
        Exponent of the penalty in the decision to answer, from 0 to 10; 1 is optimal, 0 ignores the penalty, as the
        models of RiskEval's paper do.
    belief_sd : float
        Standard deviation of the subject's belief about a quantity, in orders of magnitude; above 0.
    perception : float
        Proportion of the belief's probability mass that the subject perceives in one call, in (0, 1]. The default of
        0.65 is about the coverage at which the models of FermiEval's paper stagnate.
    evidence_ratio : float
        Ratio of the standard deviations of the log-probabilities of right and of wrong answers; 1 is equal variance.
        Their means differ by meta-d' standard deviations of wrong answers.
    temperature_shift : float
        Decrease of log-probabilities per unit of temperature, in nats.
    temperature_gain : float
        Increase, per unit of temperature, of the distance between the log-probabilities of right and wrong answers.
    """

    d_prime: float = 1.5
    meta_d_prime: float = 1.5
    scale_gain: Mapping[str, float] = field(default_factory=dict)
    bias: float = 0.0
    gain: float = 1.0
    noise: float = 0.0
    rounding: float = 0.0
    round_to: int = 5
    anchors: tuple[float, ...] = ()
    ignores_bounds: float = 0.0
    difficulty_spread: float = 0.0
    sloppiness: float = 0.0
    hazard_noise: float = 0.0
    caution: float = 1.0
    risk_sensitivity: float = 0.0
    belief_sd: float = 2.0
    perception: float = 0.65
    evidence_ratio: float = 1.0
    temperature_shift: float = 0.2
    temperature_gain: float = 0.0

    def accuracy(self, question_id: str, seed: object) -> float:
        """Return the probability that the subject is right about a question."""
        return self.accuracy_at(normal(seed, question_id, "difficulty"))

    def accuracy_at(self, difficulty: float) -> float:
        """Return the probability of a right answer if d' is shifted by ``difficulty`` standard deviations."""
        return _NORMAL.cdf(_clip_sensitivity(self.d_prime + self.difficulty_spread * difficulty) / 2)

    def answering_threshold(self, penalty: float) -> float:
        """Return the smallest confidence at which the subject answers when a wrong answer costs ``penalty``.

        The subject decides as an optimal agent with the penalty ``caution * penalty ** risk_sensitivity``. The logit of
        the threshold is therefore linear in the logarithm of the penalty.
        """
        perceived: float = self.caution * penalty**self.risk_sensitivity
        return perceived / (1.0 + perceived)

    def decide(self, question_id: str, condition: str, seed: object) -> Decision:
        """Return whether the subject is right about a question, and its confidence under a condition.

        The outcome and the evidence depend on the question only. Confidence differs between conditions only by
        ``scale_gain`` and ``noise``.
        """
        accuracy = self.accuracy(question_id, seed)
        correct = uniform(seed, question_id, "outcome") < accuracy
        confidence = self.confidence_at(
            uniform(seed, question_id, "evidence"),
            condition,
            correct=correct,
            accuracy=accuracy,
            shift=self.noise * normal(seed, question_id, condition, "noise"),
        )
        return Decision(correct, confidence)

    def confidence_at(
        self, quantile: float, condition: str, *, correct: bool, accuracy: float, shift: float = 0.0
    ) -> float:
        """Return the confidence for a quantile, in (0, 1), of the evidence given the outcome.

        ``accuracy`` is the probability of a right answer, and ``shift`` the shift of the logit by noise.
        """
        meta = _clip_sensitivity(self.meta_d_prime * self.scale_gain.get(condition, 1.0))
        mean = meta / 2 if correct else -meta / 2
        below = _NORMAL.cdf(-mean)  # the evidence is cut to positive values
        evidence = mean + _NORMAL.inv_cdf(min(below + quantile * (1.0 - below), 1.0 - 1e-16))
        calibrated = (
            meta * evidence
            + _logit(accuracy)
            + math.log(_NORMAL.cdf(-meta / 2))
            - math.log(_NORMAL.cdf(meta / 2))
        )
        return _logistic(self.bias + shift + self.gain * calibrated)

    def restate(self, chance: float, question_id: str, seed: object) -> float:
        """Return the confidence that the subject states for an event of probability ``chance``.

        It is the logit of the probability times M-ratio, distorted like any confidence. Without metacognition it is one
        half.

        Examples
        --------
        >>> round(Subject().restate(0.8, "q-1", 0), 6), Subject(meta_d_prime=0.0).restate(0.8, "q-1", 0)
        (0.8, 0.5)
        """
        return self.restate_at(chance, normal(seed, question_id, "noise"))

    def restate_at(self, chance: float, score: float) -> float:
        """Return the result of :meth:`restate` for the standard score of the noise."""
        m_ratio = self.meta_d_prime / self.d_prime if self.d_prime else 0.0
        known = m_ratio * _logit(min(max(chance, 1e-6), 1.0 - 1e-6))
        return _logistic(self.bias + self.noise * score + self.gain * known)


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether the subject is right about a question, and its confidence in [0, 1] before it is reported."""

    correct: bool
    confidence: float


def _clip_sensitivity(sensitivity: float) -> float:
    return min(max(sensitivity, -STRONGEST), STRONGEST)


def _logit(p: float) -> float:
    return math.log(p) - math.log1p(-p)


def _logistic(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x)) if x >= 0 else math.exp(x) / (1.0 + math.exp(x))


PROFILES: dict[str, Subject] = {
    "ideal": Subject(risk_sensitivity=1.0, perception=1.0),
    "overconfident": Subject(meta_d_prime=1.0, bias=1.2, rounding=0.8),
    "underconfident": Subject(meta_d_prime=1.0, bias=-1.2, rounding=0.8, perception=1.0),
    "rounder": Subject(meta_d_prime=1.0, anchors=(0.9, 0.95, 1.0)),
    "blind": Subject(meta_d_prime=0.0, noise=1.5),
    "reckless": Subject(meta_d_prime=1.0, caution=0.0),
    "cautious": Subject(meta_d_prime=1.0, caution=10.0, risk_sensitivity=1.0),
    "tunnel": Subject(perception=0.65),
    "partial": Subject(meta_d_prime=1.0, risk_sensitivity=0.3),
    "sloppy": Subject(meta_d_prime=1.0, bias=0.6, rounding=0.9, ignores_bounds=0.1, sloppiness=0.4),
}

_ABOVE_ZERO = math.ulp(0.0)

_BOUNDS: Mapping[str, tuple[float, float]] = {
    **dict.fromkeys(("d_prime", "meta_d_prime"), (-STRONGEST, STRONGEST)),
    **dict.fromkeys(("rounding", "ignores_bounds", "sloppiness"), (0.0, 1.0)),
    **dict.fromkeys(("misreading", "false_right", "false_wrong", "garbling"), (0.0, 1.0)),
    **dict.fromkeys(("noise", "difficulty_spread", "hazard_noise", "caution"), (0.0, math.inf)),
    **dict.fromkeys(("belief_sd", "evidence_ratio"), (_ABOVE_ZERO, math.inf)),
    "perception": (_ABOVE_ZERO, 1.0),
    "risk_sensitivity": (0.0, 10.0),
    "round_to": (1.0, math.inf),
}
"""Bounds of the parameters that do not allow every number."""


def make_subject(profile: str, /, **changes: Any) -> Subject:
    """Return the simulated subject called ``profile``, with some of its parameters changed.

    ValueError if there is no such profile or parameter, or a value is not allowed.

    Examples
    --------
    >>> make_subject("ideal", meta_d_prime=0.5).meta_d_prime
    0.5
    """
    return make_from_profile("subject", PROFILES, profile, changes)


def make_from_profile(
    kind: str, profiles: Mapping[str, Model], name: str, changes: Mapping[str, Any]
) -> Model:
    """Return one of several simulated models with some of its parameters changed; messages call it a ``kind``."""
    if name not in profiles:
        hint = did_you_mean(name, profiles) or "."
        raise ValueError(f"there is no simulated {kind} {name!r}{hint} There are {', '.join(profiles)}")
    defaults = asdict(next(iter(profiles.values())))
    if unknown := sorted(changes.keys() - defaults.keys()):
        raise ValueError(
            f"a simulated {kind} has no {', '.join(unknown)}{did_you_mean(unknown[0], defaults) or '.'} "
            f"Its parameters are {', '.join(sorted(defaults))}"
        )
    checked = {each: _check_parameter(each, value, defaults[each]) for each, value in changes.items()}
    return replace(profiles[name], **checked)


def _check_parameter(name: str, value: Any, default: Any) -> Any:
    """Return the value of a parameter in the type of its default; ValueError if the value is not allowed."""
    if isinstance(default, tuple):
        is_list = isinstance(value, Sequence) and not isinstance(value, str)
        if is_list and all(_is_number(share) and 0.0 <= share <= 1.0 for share in value):
            return tuple(map(float, value))
        raise ValueError(f"{name} must be a list of numbers from 0 to 1, got {value!r}")
    if isinstance(default, Mapping):
        if isinstance(value, Mapping) and all(map(_is_number, value.values())):
            return dict(value)
        raise ValueError(f"{name} must give a number for each condition that it names, got {value!r}")
    low, high = _BOUNDS.get(name, (-math.inf, math.inf))
    if not _is_number(value) or not low <= value <= high or (isinstance(default, int) and value % 1):
        kind = "whole number" if isinstance(default, int) else "number"
        bounds = [
            *(["above 0"] if low == _ABOVE_ZERO else [f"of at least {low:g}"] if math.isfinite(low) else []),
            *([f"of at most {high:g}"] if math.isfinite(high) else []),
        ]
        raise ValueError(f"{name} must be a {' '.join([kind, ' and '.join(bounds)]).strip()}, got {value!r}")
    return type(default)(value)


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


_POINTS = 10_000

TRIALS = 1e9
"""Number of trials in the limit, for measures with a correction for the number of trials."""


def even_points(dimensions: int, n: int = _POINTS) -> Iterator[tuple[float, ...]]:
    """Yield points that are evenly spread in the open unit cube (Roberts' R sequence).

    Examples
    --------
    >>> [round(u, 3) for (u,) in even_points(1, 4)]
    [0.118, 0.736, 0.354, 0.972]
    """
    ratio = 2.0
    for _ in range(64):  # the root of x^(d + 1) = x + 1
        ratio = (1.0 + ratio) ** (1.0 / (dimensions + 1))
    steps = [ratio ** -(j + 1) for j in range(dimensions)]
    for i in range(1, n + 1):
        yield tuple((0.5 + i * step) % 1.0 or 0.5 for step in steps)


def decisions(subject: Subject, condition: str) -> Iterator[tuple[bool, float, float]]:
    """Yield the possible decisions of a subject under a condition: outcome, confidence and probability."""
    for evidence, noise, difficulty in even_points(3):
        accuracy = subject.accuracy_at(_NORMAL.inv_cdf(difficulty))
        shift = subject.noise * _NORMAL.inv_cdf(noise)
        for correct, chance in ((True, accuracy), (False, 1.0 - accuracy)):
            confidence = subject.confidence_at(
                evidence, condition, correct=correct, accuracy=accuracy, shift=shift
            )
            yield correct, confidence, chance / _POINTS


def expected_values(
    measures: Iterable[Measure], trials: Iterable[tuple[Mapping[str, Any], float]]
) -> dict[str, float]:
    """Return the expected value of each measure, by name, from the possible trials and their probabilities.

    Numbers of trials and undefined measures are left out.
    """
    rows, probabilities = zip(*trials, strict=True)
    table = columns([{**row, "question_id": str(i)} for i, row in enumerate(rows)])
    return evaluate_measures(measures, table, np.array(probabilities))


def evaluate_measures(measures: Iterable[Measure], trials: Columns, probabilities: Any) -> dict[str, float]:
    """Return what :func:`expected_values` returns, from the columns of the possible trials."""
    values = {
        measure.name: float(measure.compute(trials, TRIALS * probabilities))
        for measure in measures
        if not measure.inference.is_count
    }
    return {name: value for name, value in values.items() if not math.isnan(value)}
