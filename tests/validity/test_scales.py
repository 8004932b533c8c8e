"""What a simulated subject is given comes out of the scale study's measures, on each of the thirteen scales.

The expected values do not come from the package's statistics: they are integrals over the subject's evidence.
"""

import math
from statistics import NormalDist

import numpy as np
import pytest
from tests.items import reply_to
from tests.trials import scale_trial

from confidence_tasks.reading.integer_scale import ALL_SCALES, GRANULARITY, Scale
from confidence_tasks.simulation.reports import ENOUGH_ROUND_NUMBERS, report_confidence
from confidence_tasks.simulation.subject import Subject
from confidence_tasks.sources import Question, load
from confidence_tasks.statistics import auroc2, bootstrap, permutation_test
from confidence_tasks.statistics.calibration import ece_noise_floor
from confidence_tasks.statistics.inference import bonferroni
from confidence_tasks.studies.scales import STUDY
from confidence_tasks.studies.scales.measures import MEASURES
from confidence_tasks.studies.scales.replies import BASELINE
from confidence_tasks.study.columns import columns
from confidence_tasks.study.inference import Columns

pytestmark = pytest.mark.slow

N = 3_000
COMPUTE = {measure.name: measure.compute for measure in MEASURES}
SUBJECT = Subject(d_prime=1.4, meta_d_prime=1.0, bias=0.5)
PHI = NormalDist().cdf


@pytest.fixture(scope="module")
def questions() -> list[Question]:
    return load("arithmetic", n=N)


def asked(subject: Subject, scale: Scale, questions: list[Question]) -> Columns:
    """The trials of a subject on a scale, through prompt, reply and reader."""
    replies = [reply_to(STUDY, question, scale.label, subject, seed="7").text for question in questions]
    return columns([scale_trial(q, scale, reply) for q, reply in zip(questions, replies, strict=True)])


def reports(subject: Subject, scale: Scale) -> dict[int, tuple[float, float]]:
    """Probability of each report of a subject without habits, right and wrong, by quadrature over the evidence."""
    accuracy, m = PHI(subject.d_prime / 2), subject.meta_d_prime
    y = (np.arange(200_000) + 0.5) * (12 / 200_000)
    density = {
        correct: np.exp(-((y - sign * m / 2) ** 2) / 2)
        / math.sqrt(2 * math.pi)
        * (12 / 200_000)
        * share
        / norm
        for correct, sign, share, norm in (
            (True, 1, accuracy, PHI(m / 2)),
            (False, -1, 1 - accuracy, PHI(-m / 2)),
        )
    }
    odds = np.log(density[True] / density[False])
    stated = 1 / (1 + np.exp(-(subject.bias + subject.gain * odds)))
    raw = np.rint(scale.lower + stated * scale.width).astype(int)
    return {
        int(value): tuple(float(density[correct][raw == value].sum()) for correct in (True, False))
        for value in np.unique(raw)
    }


def near(observed: float, share: float, n: int = N) -> bool:
    """Whether an observed share lies within four standard errors of the true one."""
    return abs(observed - share) <= 4 * math.sqrt(share * (1 - share) / n) + 1e-9


@pytest.mark.parametrize("scale", ALL_SCALES, ids=lambda scale: scale.label)
def test_sensitivity_and_calibration_are_recovered(scale: Scale, questions: list[Question]) -> None:
    found = asked(SUBJECT, scale, questions)
    assert near(COMPUTE["accuracy"](found, None), PHI(SUBJECT.d_prime / 2))
    assert COMPUTE["parse_rate_strict"](found, None) == 1.0

    weights = np.random.default_rng(0).multinomial(N, [1 / N] * N, size=300).astype(float)
    for name, truth in (
        ("meta_d", SUBJECT.meta_d_prime),
        ("mratio", SUBJECT.meta_d_prime / SUBJECT.d_prime),
    ):
        error = float(np.nanstd(COMPUTE[name](found, weights)))
        assert abs(COMPUTE[name](found, None) - truth) < 4 * error, name

    truth = reports(SUBJECT, scale)
    right, wrong = np.array(list(truth.values())).T
    share, stated = right + wrong, np.array([scale.normalise(raw) for raw in truth])
    bins = np.clip(np.ceil(stated * 10 - 1e-9), 1, 10).astype(int)
    gaps = [abs((right - share * stated)[bins == b].sum()) for b in range(1, 11)]
    error = float(np.std(COMPUTE["ece"](found, weights)))
    floor = ece_noise_floor(found["confidence"])
    assert abs(COMPUTE["ece"](found, None) - sum(gaps)) < 4 * error + floor


@pytest.mark.parametrize("scale", ALL_SCALES, ids=lambda scale: scale.label)
def test_habits_of_reporting_are_recovered(scale: Scale, questions: list[Question]) -> None:
    truth = reports(SUBJECT, scale)
    by_chance = sum(sum(p) for raw, p in truth.items() if raw % 5 == 0)
    enough = len(range(-(-scale.lower // 5) * 5, scale.upper + 1, 5)) >= ENOUGH_ROUND_NUMBERS
    drawn = 0.6 if enough else 0.0
    found = asked(Subject(d_prime=1.4, meta_d_prime=1.0, bias=0.5, rounding=0.6), scale, questions)
    assert near(COMPUTE["round_share"](found, None), drawn + (1 - drawn) * by_chance)

    outside = sum(sum(p) for raw, p in reports(SUBJECT, BASELINE).items() if scale.violates(raw))
    found = asked(Subject(d_prime=1.4, meta_d_prime=1.0, bias=0.5, ignores_bounds=0.3), scale, questions)
    assert near(COMPUTE["violation_rate"](found, None), 0.3 * outside)

    cumulative = np.cumsum([sum(p) for p in truth.values()])
    values = np.array(list(truth))
    low, high = (values[np.searchsorted(cumulative, q)] for q in (0.05, 0.95))
    found = asked(SUBJECT, scale, questions)
    slack = max(1, 0.03 * scale.width)
    assert abs(COMPUTE["utilization"](found, None) * scale.width - (high - low)) <= slack


# contrasts


def stated(subject: Subject, n: int, seed: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Correctness and confidence on each granularity scale, without the detour through text."""
    made = {}
    for scale in GRANULARITY:
        decisions = [subject.decide(f"q{i}", scale.label, seed) for i in range(n)]
        raw = [
            report_confidence(d.confidence, scale, subject, seed, i, scale.label)
            for i, d in enumerate(decisions)
        ]
        made[scale.label] = (
            np.array([float(d.correct) for d in decisions]),
            np.array([scale.normalise(r) for r in raw]),
        )
    return made


def adjusted_p_values(made: dict[str, tuple[np.ndarray, np.ndarray]], n_resamples: int) -> dict[str, float]:
    """Bonferroni-adjusted permutation p-values of each scale's AUROC against 0-100."""
    labels = [label for label in made if label != BASELINE.label]
    raw = [
        permutation_test(auroc2, made[label], made[BASELINE.label], n_resamples=n_resamples).p_value
        for label in labels
    ]
    return dict(zip(labels, bonferroni(raw), strict=True))


def test_an_advantage_that_is_there_is_found() -> None:
    subject = Subject(d_prime=1.4, meta_d_prime=0.8, scale_gain={"0-20": 2.0}, noise=0.3)
    p_values = adjusted_p_values(stated(subject, 800, seed=1), 999)
    assert p_values["0-20"] < 0.01


def test_no_advantage_is_found_where_there_is_none() -> None:
    """The two finest scales, where rounding to the scale itself costs next to nothing."""
    subject = Subject(d_prime=1.4, meta_d_prime=1.0, noise=0.6)
    runs, false_alarms = 150, 0
    for seed in range(runs):
        made = stated(subject, 120, seed=100 + seed)
        first, second = made["0-50"], made["0-100"]
        false_alarms += permutation_test(auroc2, first, second, n_resamples=199, seed=seed).p_value <= 0.05
    assert false_alarms <= 0.05 * runs + 3 * math.sqrt(0.05 * 0.95 * runs)


def test_the_interval_of_a_measure_covers_what_was_put_in(questions: list[Question]) -> None:
    found = asked(SUBJECT, BASELINE, questions)

    def mratio(correct: np.ndarray, confidence: np.ndarray, *, weights: np.ndarray) -> np.ndarray:
        return COMPUTE["mratio"]({"correct": correct, "confidence": confidence}, weights)

    interval = bootstrap(mratio, found["correct"], found["confidence"], n_resamples=500, level=0.999)
    assert interval.low < SUBJECT.meta_d_prime / SUBJECT.d_prime < interval.high
