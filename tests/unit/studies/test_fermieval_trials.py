"""FermiEval's trials, and the measures of intervals as stated and as conformally adjusted."""

import math

import numpy as np
import pytest
import scipy.stats
from tests.trials import fermieval_trial
from tests.unit.statistics.peers import load_interval_score

from confidence_tasks.reading.explanation import explanation
from confidence_tasks.sources import Question
from confidence_tasks.statistics import Reason, bootstrap
from confidence_tasks.studies.fermieval import STUDY
from confidence_tasks.studies.fermieval.adjusted_measures import CONFORMAL_MEASURES, JACKKNIFE_MEASURES
from confidence_tasks.studies.fermieval.adjustments import ADJUSTMENTS
from confidence_tasks.studies.fermieval.measures import MEASURES
from confidence_tasks.studies.fermieval.replies import LEVELS, condition_of, interval_reply
from confidence_tasks.studies.fermieval.summary import fermieval_summary
from confidence_tasks.study.columns import columns

interval_score = load_interval_score()

HALVES = ("calibration", "test")


def question(i=0, truth=5):
    return Question(f"fermi-{i:04d}", "fermi", "How many?", "number", str(truth))


def made_up(n=200, seed=0, levels=(0.9,), offset=1.0):
    """Trials of an overconfident subject, in both halves."""
    rng = np.random.default_rng(seed)
    trials = []
    for i, truth in enumerate(rng.integers(-5, 20, n)):
        for level in levels:
            center, half = round(truth + rng.normal(0.0, 3.0)), int(rng.integers(0, 3))
            reply = interval_reply(int(center - half * offset), int(center + half * offset))
            trials.append(fermieval_trial(question(i, truth), level, HALVES[i % 2], reply))
    return trials


# Trials


@pytest.mark.parametrize(
    ("lower", "upper", "correct", "width", "winkler"),
    [
        (4, 6, 1.0, 2.0, 2.0),
        (5, 5, 1.0, 0.0, 0.0),
        (5, 9, 1.0, 4.0, 4.0),
        (6, 8, 0.0, 2.0, 22.0),
        (-9, 3, 0.0, 12.0, 52.0),
    ],
)
def test_an_interval_is_scored(lower, upper, correct, width, winkler):
    trial = fermieval_trial(question(), 0.9, "test", interval_reply(lower, upper))
    assert (trial["correct"], trial["width"], trial["confidence"]) == (correct, width, 0.9)
    assert trial["winkler"] == pytest.approx(winkler, abs=1e-12)
    assert trial["winkler"] == pytest.approx(float(interval_score(5.0, lower, upper, 0.1)), abs=1e-9)


@pytest.mark.parametrize("reply", ["", '{"L": 3}', "between three and six", '{"L": 1e9, "U": 1e12}'])
def test_a_trial_without_an_interval_has_no_numbers(reply):
    trial = fermieval_trial(question(), 0.9, "test", reply)
    for key in ("correct", "confidence", "lower", "upper", "width", "winkler"):
        assert math.isnan(trial[key])
    assert trial["truth"] == 5.0


def test_every_trial_has_the_same_keys_and_no_missing_value_but_nan():
    trials = [fermieval_trial(question(), 0.9, "test", text) for text in (interval_reply(1, 2), "", "{")]
    assert {frozenset(trial) for trial in trials} == {frozenset(trials[0])}
    assert all(isinstance(value, float | str) for trial in trials for value in trial.values())


def test_the_explanation_shows_nothing_that_a_reply_could_inject():
    shown = explanation(
        STUDY, fermieval_trial(question(), 0.9, "test", '{"L": "<b>1</b>", "U": "10^2"}'), question()
    )
    assert "<b>" not in shown
    assert "contains the truth" in explanation(
        STUDY, fermieval_trial(question(), 0.9, "test", interval_reply(4, 5)), question()
    )


@pytest.mark.parametrize(
    ("reply", "meaning"),
    [
        ('{"L": 1, "U": 9999}', "the interval is left out"),
        ('{"L": 1}', "Only one end"),
        ("Some.", "No interval"),
    ],
)
def test_the_explanation_says_what_a_status_means_of_an_interval(reply, meaning):
    assert meaning in explanation(STUDY, fermieval_trial(question(), 0.9, "test", reply), question())


# Measures


def test_measures_as_stated_are_those_of_the_test_half():
    trials = made_up(levels=LEVELS)
    summary = fermieval_summary(trials, LEVELS)
    for level in LEVELS:
        label = condition_of(level)
        rows = [t for t in trials if t["level"] == level and t["split"] == "test"]
        observed = np.mean([t["correct"] for t in rows])
        assert summary[f"coverage/{label}"] == pytest.approx(observed)
        assert summary[f"coverage_gap/{label}"] == pytest.approx(observed - level)
        assert summary[f"mean_width/{label}"] == pytest.approx(np.mean([t["width"] for t in rows]))
        assert summary[f"winkler/{label}"] == pytest.approx(np.mean([t["winkler"] for t in rows]))
        assert summary[f"coverage_low/{label}"] < observed < summary[f"coverage_high/{label}"]
    for name in ("coverage_gap", "winkler"):
        each = [summary[f"{name}/{condition_of(level)}"] for level in LEVELS]
        assert summary[f"{name}/all"] == pytest.approx(np.mean(each))


def test_replies_that_epochs_repeat_leave_the_limits_of_coverage_as_they_are():
    trials = made_up(60)
    once, often = (fermieval_summary(each, [0.9]) for each in (trials, 5 * trials))
    label = condition_of(0.9)
    held = [trial["correct"] for trial in trials if trial["split"] == "test"]
    expected = scipy.stats.binomtest(int(sum(held)), len(held)).proportion_ci(method="wilson")
    for summary in (once, often):
        assert (summary[f"coverage_low/{label}"], summary[f"coverage_high/{label}"]) == pytest.approx(
            expected
        )


@pytest.mark.parametrize("calibrated", [True, False])
def test_replies_that_epochs_repeat_leave_the_adjusted_intervals_as_they_are(calibrated):
    """The level of .99 needs 99 calibration questions, however often each is asked."""
    trials = made_up(60, levels=LEVELS)
    once, often = (fermieval_summary(each, LEVELS, conformal=calibrated) for each in (trials, 5 * trials))
    names = [name for name in once if name.startswith("conformal")]
    assert names
    assert [often[name] for name in names] == pytest.approx([once[name] for name in names], nan_ok=True)


def test_unreadable_replies_count_as_misses_only_in_coverage_of_all():
    trials = made_up(100)
    broken = [*trials, *(fermieval_trial(question(900 + i), 0.9, "test", "") for i in range(50))]
    before, after = (fermieval_summary(some, [0.9]) for some in (trials, broken))
    assert after["coverage/p=0.9"] == before["coverage/p=0.9"] == before["coverage_of_all/p=0.9"]
    assert after["coverage_of_all/p=0.9"] == pytest.approx(before["coverage/p=0.9"] / 2)
    assert after["parse_rate/p=0.9"] == pytest.approx(100 / 150)
    assert after["conformal_winkler/p=0.9"] == before["conformal_winkler/p=0.9"]


def test_conformal_adjustment_is_fitted_on_the_calibration_half_alone():
    trials = made_up(400)
    known = [t for t in trials if t["split"] == "calibration"]
    scores = sorted(max(t["lower"] - t["truth"], t["truth"] - t["upper"]) for t in known)
    shift = scores[math.ceil(0.9 * 201) - 1]
    adjusted = ADJUSTMENTS["conformal"].adjust(columns(trials))
    new = [t for t in trials if t["split"] == "test"]
    assert adjusted["lower"] == pytest.approx([t["lower"] - shift for t in new])
    assert adjusted["upper"] == pytest.approx([t["upper"] + shift for t in new])
    summary = fermieval_summary(trials, [0.9])
    assert summary["conformal_shift/p=0.9"] == shift
    expected = interval_score(adjusted["truth"], adjusted["lower"], adjusted["upper"], 0.1)
    assert summary["conformal_winkler/p=0.9"] == pytest.approx(np.mean(expected), abs=1e-9)
    assert summary["conformal_coverage/p=0.9"] > summary["coverage/p=0.9"] + 0.2
    worse = [t if t["split"] == "test" else {**t, "truth": t["truth"] + 50.0} for t in trials]
    assert fermieval_summary(worse, [0.9])["conformal_shift/p=0.9"] > shift + 40.0


@pytest.mark.parametrize("method", ["conformal", "conformal_asymmetric", "conformal_normalized"])
def test_adjusted_intervals_cover_on_average_over_splits(method):
    adjustment = ADJUSTMENTS[method]
    covered = []
    for seed in range(30):
        new = adjustment.adjust(columns(made_up(60, seed)))
        covered.append(np.mean((new["lower"] <= new["truth"]) & (new["truth"] <= new["upper"])))
    assert np.mean(covered) > 0.87  # three standard errors below 0.9


def test_too_few_calibration_questions_give_infinite_shifts():
    summary = fermieval_summary(made_up(40, levels=(0.9, 0.99)), (0.9, 0.99))
    assert math.isfinite(summary["conformal_shift/p=0.9"])
    for name in ("shift", "width", "winkler"):
        assert summary[f"conformal_{name}/p=0.99"] == math.inf
    assert summary["conformal_coverage/p=0.99"] == 1.0


def test_without_the_calibration_half_intervals_are_adjusted_by_jackknife():
    trials = [trial for trial in made_up(200) if trial["split"] == "test"]
    summary = fermieval_summary(trials, [0.9], conformal=False)
    assert {name.partition("/")[0] for name in summary} == {
        *(measure.name for measure in (*MEASURES, *JACKKNIFE_MEASURES)),
        *("coverage_low", "coverage_high"),
    }
    adjusted = ADJUSTMENTS["conformal_jackknife"].adjust(columns(trials))
    one, others = trials[7], [trial for trial in trials if trial is not trials[7]]
    as_halves = [{**trial, "split": "calibration"} for trial in others] + [one]
    split = ADJUSTMENTS["conformal"].adjust(columns(as_halves))
    assert (adjusted["lower"][7], adjusted["upper"][7]) == (split["lower"][0], split["upper"][0])
    assert summary["coverage/p=0.9"] < 0.6
    assert summary["conformal_jackknife_coverage/p=0.9"] >= 0.9
    assert summary["conformal_jackknife_winkler/p=0.9"] < summary["winkler/p=0.9"]


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize(
    "measure", [*CONFORMAL_MEASURES, *JACKKNIFE_MEASURES], ids=lambda measure: measure.name
)
def test_infinite_widths_have_no_standard_error_and_no_warning(measure):
    trials = made_up(20, levels=(0.99,))
    table = columns(trials)
    if measure in JACKKNIFE_MEASURES:
        table["split"][:] = "test"
    interval = bootstrap(
        lambda _, *, weights: measure.compute(table, weights), range(len(trials)), n_resamples=200
    )
    if measure.name.endswith(("width", "winkler")):
        assert interval.estimate == math.inf
        assert interval.low.reason is Reason.INFINITE
        assert math.isnan(interval.standard_error)


def test_without_trials_the_keys_are_the_same_and_the_values_nan():
    summary = fermieval_summary([], LEVELS)
    assert summary.keys() == fermieval_summary(made_up(20, levels=LEVELS), LEVELS).keys()
    assert all(math.isnan(value) for value in summary.values())


def test_weights_that_are_counts_stand_for_repeated_trials():
    trials = made_up(60)
    table = columns(trials)
    test = table["split"] == "test"
    weights = np.random.default_rng(1).integers(0, 4, (3, len(trials))).astype(float)
    weights[:, ~test] = 1.0
    resampled = [measure for measure in (*MEASURES, *CONFORMAL_MEASURES) if measure.name != "conformal_shift"]
    for measure in resampled:
        values = measure.compute(table, weights)
        for row, value in zip(weights, values, strict=True):
            repeated = [trial for trial, count in zip(trials, row, strict=True) for _ in range(int(count))]
            assert value == pytest.approx(measure.compute(columns(repeated), None)), measure.name


# Items that the paper's figures leave out


@pytest.mark.parametrize(
    ("truth", "lower", "upper", "split"),
    [
        (100, -100, 100, "test"),
        (-100, -100, -100, "test"),
        (101, 0, 100, "excluded"),
        (-101, 0, 100, "excluded"),
        (5, -101, 9, "excluded"),
        (5, 4, 101, "excluded"),
        (5, 101, -4, "excluded"),
        (5, 4, 5_000, "excluded"),
    ],
)
def test_a_truth_or_an_end_beyond_max_exponent_excludes_the_trial(truth, lower, upper, split):
    reply = interval_reply(lower, upper)
    assert fermieval_trial(question(truth=truth), 0.99, "test", reply, 100)["split"] == split
    assert fermieval_trial(question(truth=truth), 0.99, "test", reply)["split"] == "test"


def test_an_unreadable_reply_is_not_excluded():
    assert fermieval_trial(question(), 0.99, "test", "Hard to say.", 100)["split"] == "test"


def test_excluded_trials_do_not_count_for_the_winkler_score():
    """Width plus 200 times the miss at p = .99, over the three of seven trials that are not excluded."""
    stated = [(5, 4, 6), (5, 7, 9), (100, 90, 100), (14_889, 3, 9), (5, 2, 200), (5, 4, 900), (5, -101, 5)]
    trials = [
        fermieval_trial(question(i, truth), 0.99, "test", interval_reply(lower, upper), 100)
        for i, (truth, lower, upper) in enumerate(stated)
    ]
    summary = fermieval_summary(trials, [0.99], conformal=False)
    assert summary["winkler/p=0.99"] == pytest.approx((2 + (2 + 200 * 2) + 10) / 3)
    assert summary["n_excluded/p=0.99"] == 4.0
    assert summary["coverage_of_all/p=0.99"] == pytest.approx(2 / 3)
    unlimited = [
        fermieval_trial(question(i, truth), 0.99, "test", interval_reply(lower, upper))
        for i, (truth, lower, upper) in enumerate(stated)
    ]
    summary = fermieval_summary(unlimited, [0.99], conformal=False)
    assert summary["winkler/p=0.99"] > 400_000
    assert summary["n_excluded/p=0.99"] == 0.0


def test_a_reply_is_readable_unreadable_or_excluded():
    """An end beyond 10^100 is nearly always the quantity itself: it is not read, or with a limit excluded."""
    stated = [interval_reply(4, 6), interval_reply(4, 900), interval_reply(4, 5_000), "Hard to say."]
    for limit, read, left_out in ((100, 1 / 2, 2), (None, 1 / 4, 0)):
        trials = [fermieval_trial(question(i), 0.99, "test", reply, limit) for i, reply in enumerate(stated)]
        summary = fermieval_summary(trials, [0.99], conformal=False)
        assert summary["parse_rate/p=0.99"] == pytest.approx(read)
        assert summary["parse_rate_strict/p=0.99"] == pytest.approx(read)
        assert summary["n_excluded/p=0.99"] == left_out


def test_excluded_trials_are_not_fitted_on():
    near = [fermieval_trial(question(i, 5), 0.9, "calibration", interval_reply(4, 4), 100) for i in range(20)]
    far = [
        fermieval_trial(question(i, 500), 0.9, "calibration", interval_reply(4, 4), 100)
        for i in range(20, 40)
    ]
    new = [fermieval_trial(question(i, 5), 0.9, "test", interval_reply(4, 4), 100) for i in range(40, 45)]
    adjusted = ADJUSTMENTS["conformal"].adjust(columns(near + far + new))
    assert adjusted["upper"].tolist() == [5.0] * 5
