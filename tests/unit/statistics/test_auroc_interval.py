"""The interval of the AUROC by DeLong's variance, against the definition over all pairs and by simulation."""

import math

import numpy as np
import pytest
from scipy.stats import t as student

from confidence_tasks.statistics import Reason, auroc2, auroc2_interval, bootstrap


def by_pairs(correct, confidence, questions, level):
    """Return the limits from every pair of a right and a wrong answer: O(n^2), in plain Python."""
    trials = list(zip(correct, confidence, questions, strict=True))
    right = [(value, question) for outcome, value, question in trials if outcome]
    wrong = [(value, question) for outcome, value, question in trials if not outcome]

    def wins(a, b):
        return 1.0 if a > b else 0.5 if a == b else 0.0

    area = sum(wins(a, b) for a, _ in right for b, _ in wrong) / (len(right) * len(wrong))
    sums = dict.fromkeys(questions, 0.0)
    for value, question in right:
        placement = sum(wins(value, b) for b, _ in wrong) / len(wrong)
        sums[question] += (placement - area) / math.sqrt(len(right) * (len(right) - 1))
    for value, question in wrong:
        placement = sum(wins(a, value) for a, _ in right) / len(right)
        sums[question] += (placement - area) / math.sqrt(len(wrong) * (len(wrong) - 1))
    error = math.sqrt(sum(each**2 for each in sums.values()))
    smaller = min(len({question for _, question in kind}) for kind in (right, wrong))
    freedom = min(len(sums) - 1, 1.25 * smaller)
    reach = student.ppf((1 + level) / 2, freedom) * error / (area * (1 - area))
    logit = math.log(area / (1 - area))
    return [1 / (1 + math.exp(-each)) for each in (logit - reach, logit + reach)]


@pytest.mark.parametrize("digits", [1, 2, 16])
@pytest.mark.parametrize("epochs", [1, 3])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_matches_delongs_variance_over_all_pairs(digits, epochs, level) -> None:
    rng = np.random.default_rng(digits + epochs)
    confidence = np.round(rng.random(90), digits)
    correct = (rng.random(90) < confidence).astype(float)
    questions = np.arange(90) // epochs
    given = None if epochs == 1 else questions
    limits = auroc2_interval(correct, confidence, questions=given, level=level)
    assert limits == pytest.approx(by_pairs(correct, confidence, questions.tolist(), level), abs=1e-12)


def test_labels_may_be_texts_and_order_does_not_matter() -> None:
    rng = np.random.default_rng(5)
    confidence = rng.random(60)
    correct = (rng.random(60) < confidence).astype(float)
    number = rng.integers(0, 30, 60)
    order = rng.permutation(60)
    limits = auroc2_interval(correct, confidence, questions=number)
    texts = [f"question {each}" for each in number[order]]
    assert auroc2_interval(correct[order], confidence[order], questions=texts) == pytest.approx(limits)


def test_many_trials_agree_with_the_bootstrap() -> None:
    rng = np.random.default_rng(2)
    confidence = rng.random(4_000)
    correct = (rng.random(4_000) < confidence).astype(float)
    smaller = min(correct.sum(), (1.0 - correct).sum())
    resampled = bootstrap(
        auroc2, correct, confidence, n_resamples=4_000, method="transformed", n_informative=smaller
    )
    assert auroc2_interval(correct, confidence) == pytest.approx((resampled.low, resampled.high), abs=5e-4)


@pytest.mark.parametrize(
    ("correct", "confidence", "reason"),
    [
        ([], [], Reason.EMPTY),
        ([1] * 9, [0.5] * 9, Reason.ONE_CLASS),
        ([1] * 9 + [0] * 4, np.linspace(0, 1, 13), Reason.FEW_INFORMATIVE),
        ([0] * 5 + [1] * 5, np.linspace(0, 1, 10), Reason.NOT_IDENTIFIED),
        ([0] * 5 + [1] * 5, [0.5] * 10, Reason.CONSTANT),
    ],
)
def test_missing_limits_have_a_reason(correct, confidence, reason) -> None:
    limits = auroc2_interval(correct, confidence)
    assert np.isnan(limits).all()
    assert [each.reason for each in limits] == [reason, reason]


def test_invalid_levels_and_labels_raise() -> None:
    with pytest.raises(ValueError, match="level must lie in"):
        auroc2_interval([1, 0], [0.5, 0.5], level=95)
    with pytest.raises(ValueError, match="questions must have shape"):
        auroc2_interval([1, 0], [0.5, 0.5], questions=["a"])


@pytest.mark.parametrize(("n", "distance"), [(100, 0.5), (300, 1.5), (1_000, 1.0)])
def test_coverage_is_nominal(n, distance) -> None:
    rng = np.random.default_rng(n)
    truth = 0.5 * (1.0 + math.erf(distance / 2.0))  # Phi(distance / sqrt 2)
    n_covering = 0
    for _ in range(1_000):
        correct = (rng.random(n) < 0.7).astype(float)
        evidence = rng.normal(distance * correct)
        low, high = auroc2_interval(correct, 1.0 / (1.0 + np.exp(-evidence)))
        n_covering += low <= truth <= high
    assert 0.93 <= n_covering / 1_000 <= 0.97
