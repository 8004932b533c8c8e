"""The simulated subject: an observer whose accuracy, metacognition and habits of reporting are known.

Type 1. The subject is right with probability Phi(d'/2), the accuracy of an unbiased two-choice observer.

Type 2. Its confidence reads evidence y > 0 with the distribution that an ideal observer of sensitivity meta-d' has
given the same outcome: N(m/2, 1) when right and N(-m/2, 1) when wrong, both cut to y > 0. So the type-2 ROC is that
of meta-d' = m at every criterion: what Maniscalco & Lau (2012, doi:10.1016/j.concog.2011.09.021) define, exactly.

Report. The probability of being right given y is known in closed form. A calibrated subject states it; bias and gain
distort it on the logit scale; habits (round numbers, ceilings, bounds that are not heeded) distort the number.

Truth. A study's ``true_values(subject, condition, task, parameters)`` goes through every reply that the subject can
give under a condition, weighted by its probability, and evaluates the study's measures on them. What a subject draws
from a continuum is averaged over points that fill it evenly (Roberts' R sequence): the numbers depend on no seed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import blake2b
from numbers import Real
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, TypeVar

from confidence_tasks.study.measures import Measure, columns
from confidence_tasks.study.parameter import meant
from confidence_tasks.study.reference import np

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from confidence_tasks.study.measures import Columns

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
"""The largest sensitivity to either side: beyond it the chance of being right is 0 or 1 to within rounding."""


@dataclass(frozen=True, slots=True)
class Subject:
    """Parameters of a simulated subject.

    Attributes
    ----------
    d_prime : float
        Type-1 sensitivity, from -10 to 10; accuracy is Phi(d_prime / 2).
    meta_d_prime : float
        Type-2 sensitivity, from -10 to 10; 0 is confidence that carries nothing.
    scale_gain : mapping of str to float
        Factor on meta-d' under the named condition, up to a meta-d' of 10: the advantage of a scale.
    bias : float
        Added to the logit of the calibrated confidence; positive is overconfidence.
    gain : float
        Factor on the logit of the calibrated confidence.
    noise : float
        Standard deviation of a normal shift of the logit that knows nothing of the outcome. It is drawn anew in each
        condition, and takes away from meta-d'.
    rounding : float
        Share of reports drawn to the nearest multiple of ``round_to``, on scales that hold enough of them.
    round_to : int
        The grid of round numbers, in units of the scale.
    anchors : tuple of float
        Where not empty, every report is drawn to the nearest of these shares of the scale.
    ignores_bounds : float
        Share of reports given on 0 to 100 whatever scale was asked for.
    difficulty_spread : float
        Standard deviation over questions of a normal shift of d', which stays within -10 to 10; 0 makes meta-d' exactly
        recoverable.
    sloppiness : float
        Share of replies that stray from the format.
    hazard_noise : float
        Standard deviation over questions of the logarithm of the factor by which the subject is wrong about the risk of
        dying; 0 knows the life table by heart.
    caution : float
        Factor on a penalty for a wrong answer, when deciding whether to answer; 1 is optimal, 0 never abstains.
    risk_sensitivity : float
        Power to which the penalty is taken into account, from 0 to 10; 1 is optimal, 0 heeds it not at all. By default
        0, as of the models of RiskEval's paper.
    belief_sd : float
        Standard deviation, in orders of magnitude, of what the subject believes of a quantity; above 0.
    perception : float
        Mass of that belief which the subject sees in one call, in (0, 1]; 1 sees all of it. By default 0.65, about the
        coverage at which the models of FermiEval's paper stagnate.
    evidence_ratio : float
        Standard deviation of right answers' log-probabilities over that of wrong ones', whose means lie meta-d' of the
        latter apart; 1 is equal variance.
    temperature_shift : float
        By how many nats log-probabilities fall for each unit of temperature.
    temperature_gain : float
        By how much the distance of right and wrong answers' log-probabilities grows for each unit of temperature.
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
        """Return the probability that the subject is right about a question whose standard score of d' is given."""
        return _NORMAL.cdf(_sensible(self.d_prime + self.difficulty_spread * difficulty) / 2)

    def answering_threshold(self, penalty: float) -> float:
        """Return the confidence from which the subject answers when a wrong answer costs ``penalty``.

        It acts as an optimal agent would under the penalty ``caution * penalty ** risk_sensitivity``: the logit of the
        threshold is linear in the log of the penalty.
        """
        felt: float = self.caution * penalty**self.risk_sensitivity
        return felt / (1.0 + felt)

    def decide(self, question_id: str, condition: str, seed: object) -> Decision:
        """Return whether the subject is right about a question, and its confidence under a condition.

        The outcome and the evidence depend on the question alone, so that conditions are paired by question; only
        ``scale_gain`` and ``noise`` make the confidence differ between them.
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
        """Return the confidence at a quantile of the evidence, in (0, 1), that the subject has given an outcome.

        ``accuracy`` is the probability of being right, and ``shift`` that of the logit by noise.
        """
        meta = _sensible(self.meta_d_prime * self.scale_gain.get(condition, 1.0))
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
        """Return the subject's confidence in something that it knows to have a chance of ``chance``.

        The logit of the chance times M-ratio, distorted as any confidence: without metacognition it is one half.

        Examples
        --------
        >>> round(Subject().restate(0.8, "q-1", 0), 6), Subject(meta_d_prime=0.0).restate(0.8, "q-1", 0)
        (0.8, 0.5)
        """
        return self.restated(chance, normal(seed, question_id, "noise"))

    def restated(self, chance: float, score: float) -> float:
        """Return the same where the noise has a standard score."""
        m_ratio = self.meta_d_prime / self.d_prime if self.d_prime else 0.0
        known = m_ratio * _logit(min(max(chance, 1e-6), 1.0 - 1e-6))
        return _logistic(self.bias + self.noise * score + self.gain * known)


@dataclass(frozen=True, slots=True)
class Decision:
    """The subject's outcome on a question, and its confidence in [0, 1] before it is put in words."""

    correct: bool
    confidence: float


def _sensible(sensitivity: float) -> float:
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

_LEAST = math.ulp(0.0)

_WITHIN: Mapping[str, tuple[float, float]] = {
    **dict.fromkeys(("d_prime", "meta_d_prime"), (-STRONGEST, STRONGEST)),
    **dict.fromkeys(("rounding", "ignores_bounds", "sloppiness"), (0.0, 1.0)),
    **dict.fromkeys(("misreading", "false_right", "false_wrong", "garbling"), (0.0, 1.0)),
    **dict.fromkeys(("noise", "difficulty_spread", "hazard_noise", "caution"), (0.0, math.inf)),
    **dict.fromkeys(("belief_sd", "evidence_ratio"), (_LEAST, math.inf)),
    "perception": (_LEAST, 1.0),
    "risk_sensitivity": (0.0, 10.0),
    "round_to": (1.0, math.inf),
}
"""Ranges of the parameters that do not take every number."""


def make_subject(profile: str, /, **changes: Any) -> Subject:
    """Return the subject called ``profile`` with some of its parameters changed.

    ValueError if there is no such profile or parameter, or a value is not what the parameter may be; the message says
    what there is.

    Examples
    --------
    >>> make_subject("ideal", meta_d_prime=0.5).meta_d_prime
    0.5
    """
    return changed("subject", PROFILES, profile, changes)


def changed(kind: str, named: Mapping[str, Model], name: str, changes: Mapping[str, Any]) -> Model:
    """Return the simulated model of a name and a kind, such as ``subject``, with some of its parameters changed."""
    if name not in named:
        raise ValueError(
            f"there is no simulated {kind} {name!r}{meant(name, named) or '.'} There are {', '.join(named)}"
        )
    defaults = asdict(next(iter(named.values())))
    if unknown := sorted(changes.keys() - defaults.keys()):
        raise ValueError(
            f"a simulated {kind} has no {', '.join(unknown)}{meant(unknown[0], defaults) or '.'} "
            f"Its parameters are {', '.join(sorted(defaults))}"
        )
    return replace(
        named[name], **{each: _checked(each, new, defaults[each]) for each, new in changes.items()}
    )


def _checked(name: str, value: Any, default: Any) -> Any:
    """Return a parameter's value of the type that its default has."""
    if isinstance(default, tuple):
        whole = isinstance(value, Sequence) and not isinstance(value, str)
        if whole and all(_is_number(share) and 0.0 <= share <= 1.0 for share in value):
            return tuple(map(float, value))
        raise ValueError(f"{name} must be a list of numbers from 0 to 1, got {value!r}")
    if isinstance(default, Mapping):
        if isinstance(value, Mapping) and all(map(_is_number, value.values())):
            return dict(value)
        raise ValueError(f"{name} must give a number for each condition that it names, got {value!r}")
    low, high = _WITHIN.get(name, (-math.inf, math.inf))
    if not _is_number(value) or not low <= value <= high or (isinstance(default, int) and value % 1):
        kind = "whole number" if isinstance(default, int) else "number"
        bounds = [
            *(["above 0"] if low == _LEAST else [f"of at least {low:g}"] if math.isfinite(low) else []),
            *([f"of at most {high:g}"] if math.isfinite(high) else []),
        ]
        raise ValueError(f"{name} must be a {' '.join([kind, ' and '.join(bounds)]).strip()}, got {value!r}")
    return type(default)(value)


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


_POINTS = 10_000

TRIALS = 1e9
"""Number of trials in the long run, for measures that are corrected for the number of trials."""


def even_points(dimensions: int, n: int = _POINTS) -> Iterator[tuple[float, ...]]:
    """Yield points that fill the open unit cube evenly.

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
    """Yield outcome, confidence and probability of what a subject decides under a condition, over all questions."""
    for evidence, noise, difficulty in even_points(3):
        accuracy = subject.accuracy_at(_NORMAL.inv_cdf(difficulty))
        shift = subject.noise * _NORMAL.inv_cdf(noise)
        for correct, chance in ((True, accuracy), (False, 1.0 - accuracy)):
            confidence = subject.confidence_at(
                evidence, condition, correct=correct, accuracy=accuracy, shift=shift
            )
            yield correct, confidence, chance / _POINTS


def long_run(
    measures: Iterable[Measure], trials: Iterable[tuple[Mapping[str, Any], float]]
) -> dict[str, float]:
    """Evaluate measures, by name, on the trials that can be, weighted by their probabilities.

    Numbers of trials are left out, as are measures that are not defined.
    """
    rows, weights = zip(*trials, strict=True)
    return of_columns(
        measures,
        columns([{**row, "question_id": str(i)} for i, row in enumerate(rows)]),
        np.array(weights),
    )


def of_columns(measures: Iterable[Measure], trials: Columns, probabilities: Any) -> dict[str, float]:
    """Evaluate measures on columns of trials that are weighted by their probabilities, as :func:`long_run`."""
    values = {
        measure.name: float(measure.compute(trials, TRIALS * probabilities))
        for measure in measures
        if not measure.is_count
    }
    return {name: value for name, value in values.items() if not math.isnan(value)}
