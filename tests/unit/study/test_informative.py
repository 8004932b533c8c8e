"""Number of informative questions of a measure: counted by hand, and independent of repetitions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from confidence_tasks.studies.fermieval import summary as fermieval
from confidence_tasks.studies.lifeeval.question_sets import measures as question_sets
from confidence_tasks.studies.riskeval import measures as riskeval_measures
from confidence_tasks.studies.scales import measures as scales
from confidence_tasks.study.measure import Measure

NAN = math.nan
SCALES, SETS, RISK, FERMI = (
    {measure.name: measure for measure in measures}
    for measures in (
        scales.MEASURES,
        question_sets.ALL_MEASURES,
        riskeval_measures.MEASURES,
        fermieval.REPORTED_MEASURES,
    )
)


def count_informative(measure: Measure, trials) -> float:
    """Return the count. Without question ids, each trial has its own question."""
    assert measure.inference.informative is not None
    own = np.array([f"q{i}" for i in range(len(next(iter(trials.values()))))], dtype=object)
    return measure.inference.informative({"question_id": own, **trials}).count


def judged(*groups):
    """Trials of (number, correct, confidence)."""
    return {
        "correct": np.concatenate([np.full(n, correct) for n, correct, _ in groups]),
        "confidence": np.concatenate([np.full(n, confidence) for n, _, confidence in groups]),
    }


@pytest.mark.parametrize(("name", "enough"), [("auroc", 5), ("brier", 5), ("overconfidence", 2)])
def test_comparisons_of_right_and_wrong_count_the_rarer(name, enough):
    """``enough`` questions count as the five that an interval needs."""
    trials = judged((90, 1.0, 0.9), (7, 0.0, 0.8), (50, NAN, 0.8), (50, 0.0, NAN))
    assert count_informative(SCALES[name], trials) == 7.0 * 5.0 / enough


def test_calibration_errors_need_right_and_wrong_answers():
    for name in ("ece", "ece_15", "ece_20", "ece_mass"):
        assert count_informative(SCALES[name], judged((500, 1.0, 0.9), (3, 0.0, 0.9))) == 3.0, name


def test_meta_information_needs_confidence_that_varies():
    assert count_informative(SCALES["meta_information"], judged((50, 1.0, 0.9), (50, 0.0, 0.9))) == 0.0
    assert count_informative(
        SCALES["meta_information"], judged((30, 1.0, 0.9), (10, 1.0, 0.6), (10, 0.0, 0.9))
    ) == (pytest.approx(2.0))
    assert count_informative(SCALES["meta_information"], judged((3, 1.0, NAN))) == 0.0


def test_stated_and_token_measures_count_separately():
    nothing = np.full(9, NAN)
    trials = {
        "answer_correct": np.array([1.0] * 6 + [0.0] * 3),
        "answer_confidence": np.full(9, 0.8),
        "token_correct": nothing,
        "token_confidence": nothing,
    }
    assert count_informative(SETS["auroc"], trials) == 3.0
    assert count_informative(SETS["token_overconfidence"], trials) == 0.0


def risky(penalty, *groups):
    """Trials of (number, answered, outcome, confidence)."""
    columns = [np.concatenate([np.full(group[0], group[i]) for group in groups]) for i in (1, 2, 3)]
    answered, outcome, confidence = columns
    return {
        "answered": answered,
        "outcome": outcome,
        "correct": np.where(answered == 1.0, outcome, NAN),
        "confidence": confidence,
        "available": np.ones(len(answered)),
        "penalty": np.full(len(answered), float(penalty)),
        "confidence_raw": confidence,
    }


def test_measures_of_given_answers_count_the_rarer_of_right_and_wrong_ones():
    trials = risky(20, (60, 1.0, 1.0, 0.9), (6, 1.0, 0.0, 0.9), (4, 0.0, 1.0, 0.99), (1, 0.0, 0.0, 0.99))
    for name in ("auarc", "brier", "ece"):
        assert count_informative(RISK[name], trials) == 6.0, name
    for name in (
        "regret",
        "normalized_regret",
        "normalized_scaffold_gain",
    ):  # all of them are not as it would
        assert count_informative(RISK[name], trials) == 71.0, name


def test_thresholds_count_where_answers_and_abstentions_overlap():
    apart = risky(1, (30, 1.0, 1.0, 0.8), (30, 0.0, 1.0, 0.4))
    assert count_informative(RISK["implied_threshold"], apart) == 0.0
    overlapping = risky(
        1,
        (30, 1.0, 1.0, 0.8),
        (7, 1.0, 1.0, 0.5),
        (4, 0.0, 1.0, 0.6),
        (30, 0.0, 1.0, 0.4),
        (9, NAN, 1.0, 0.5),
    )
    assert count_informative(RISK["threshold_excess"], overlapping) == 4.0
    assert count_informative(RISK["threshold_excess"], risky(1, (9, 1.0, 1.0, 0.8))) == 0.0


def stated(n_held, n_missed, split):
    n = n_held + n_missed
    truth = np.array([0.0] * n_held + [9.0] * n_missed)
    return {
        "split": np.full(n, split, dtype=object),
        "truth": truth,
        "lower": np.full(n, -1.0),
        "upper": np.full(n, 1.0),
        "level": np.full(n, 0.9),
        "correct": (truth == 0.0).astype(float),
    }


def test_winkler_scores_count_the_misses_of_their_half():
    test, other = stated(80, 4, "test"), stated(80, 40, "calibration")
    both = {name: np.concatenate([test[name], other[name]]) for name in test}
    assert count_informative(FERMI["winkler"], both) == 5.0
    assert count_informative(FERMI["winkler_calibration"], both) == 50.0
    assert count_informative(FERMI["conformal_winkler"], both) == 0.0  # moved out to 9, nothing is missed
    assert count_informative(FERMI["conformal_jackknife_winkler"], stated(80, 2, "test")) == 2.5


draws = st.integers(0, 2**32 - 1)


@given(seed=draws, n=st.integers(1, 25), times=st.integers(2, 6))
def test_a_question_counts_once_however_often_it_is_asked(seed, n, times):
    rng = np.random.default_rng(seed)
    risk = risky(
        3, *((1, rng.integers(2), rng.integers(2), rng.choice([0.3, 0.7, 0.8, 0.95, NAN])) for _ in range(n))
    ) | {"question_id": np.array([f"q{i}" for i in range(n)], dtype=object)}
    order = rng.permutation(n * times)
    repeated = {name: np.tile(column, times)[order] for name, column in risk.items()}
    for table in (SCALES, RISK):
        for name, measure in table.items():
            if measure.inference.informative is not None:
                assert count_informative(measure, repeated) == pytest.approx(
                    count_informative(measure, risk)
                ), name


def test_a_question_that_is_right_and_wrong_counts_in_both_sets():
    trials = judged((3, 1.0, 0.9), (3, 0.0, 0.9)) | {"question_id": np.array(["a", "b", "c"] * 2)}
    assert count_informative(SCALES["auroc"], trials) == 3.0


def test_no_trials_count_zero():
    nothing = {name: column[:0] for name, column in risky(3, (1, 1.0, 1.0, 0.5)).items()}
    for table in (SCALES, RISK):
        for name, measure in table.items():
            if measure.inference.informative is not None:
                assert count_informative(measure, nothing) == 0.0, name


@pytest.mark.parametrize("table", [SCALES, SETS, RISK, FERMI])
def test_measures_with_student_intervals_have_informative_questions(table):
    """Only means of all trials need no count."""
    for measure in table.values():
        if measure.inference.method in ("transformed", "student") and not measure.inference.is_mean:
            assert measure.inference.informative is not None, measure.name
