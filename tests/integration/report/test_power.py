"""Power: the subjects on arrays are those in words, and what is predicted is what whole studies find."""

import json
import math

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.special import ndtr, ndtri
from scipy.stats import multivariate_normal
from tests.unit.report.full_studies import Setting, whole_study

from confidence_tasks.cli import main
from confidence_tasks.decisions.power import MIN_QUESTIONS, power_curve, power_designs
from confidence_tasks.reading.integer_scale import Scale
from confidence_tasks.simulation.draws import QUESTION_DRAWS, REPLY_DRAWS, decide, paired_draws
from confidence_tasks.simulation.reply import call_seed, subject_seed
from confidence_tasks.simulation.reports import simulated_reports
from confidence_tasks.simulation.subject import Subject, uniform
from confidence_tasks.sources import Question
from confidence_tasks.studies.fermieval import subject as fermieval
from confidence_tasks.studies.fermieval.subject import stated_interval
from confidence_tasks.studies.logprob_metacognition import simulated_replies as nlp_metad
from confidence_tasks.studies.logprob_metacognition.power import simulate_answers
from confidence_tasks.studies.scales import replies as scales
from confidence_tasks.studies.scales.replies import BASELINE

NAMES = [f"q-{i}" for i in range(400)]
"""Questions."""


def draws(**keys):
    """The normal numbers that make a subject on arrays draw what the one in words draws."""
    return {
        name: np.array([ndtri(uniform(*key(question))) for question in NAMES]) for name, key in keys.items()
    }


@pytest.mark.parametrize(
    "subject",
    [
        Subject(),
        Subject(d_prime=0.5, meta_d_prime=2.0, bias=-0.7, gain=0.6),
        Subject(noise=1.2, difficulty_spread=0.8, scale_gain={"0-20": 0.4}),
        Subject(rounding=0.7, round_to=10, bias=1.0),
        Subject(meta_d_prime=0.0, anchors=(0.9, 0.95, 1.0)),
    ],
    ids=["ideal", "distorted", "noisy", "rounder", "anchored"],
)
@pytest.mark.parametrize("scale", [Scale(0, 20), BASELINE], ids=lambda scale: scale.label)
def test_the_subject_on_arrays_is_the_subject_in_words(subject: Subject, scale: Scale) -> None:
    drawn = draws(
        difficulty=lambda q: (7, q, "difficulty"),
        outcome=lambda q: (7, q, "outcome"),
        evidence=lambda q: (7, q, "evidence"),
        noise=lambda q: (7, q, scale.label, "noise"),
        rounding=lambda q: (7, q, scale.label, "rounding"),
    )
    correct, confidence = decide(subject, drawn, scale.label)
    stated = simulated_reports(subject, confidence, scale, drawn)

    wanted = [subject.decide(name, scale.label, 7) for name in NAMES]
    assert correct.tolist() == [decision.correct for decision in wanted]
    np.testing.assert_allclose(confidence, [decision.confidence for decision in wanted], rtol=1e-9)
    reports = [
        scales.report_confidence(decision.confidence, scale, subject, 7, name, scale.label)
        for name, decision in zip(NAMES, wanted, strict=True)
    ]
    assert stated.tolist() == reports


def test_intervals_on_arrays_are_the_intervals_in_words() -> None:
    subject = Subject(perception=0.6, belief_sd=1.3)
    drawn = draws(belief=lambda q: (7, q, "belief"), tunnel=lambda q: (7, q, 0.8, "tunnel"))
    lower, upper = stated_interval(subject, 0.8, drawn)
    for i, name in enumerate(NAMES):
        question = Question(name, "made-up", "How large?", "number", "4")
        ends = fermieval.stated_ends(question, subject, 0.8, "7", 0.8)
        assert (lower[i] + 4, upper[i] + 4) == ends


@pytest.mark.parametrize("temperature", [0.5, 1.0])
def test_short_answers_on_arrays_are_those_in_words(temperature: float) -> None:
    subject = Subject(d_prime=0.9, evidence_ratio=1.6, temperature_gain=-0.4, difficulty_spread=0.7)
    seed = call_seed(7, temperature)
    drawn = draws(
        difficulty=lambda q: (subject_seed(seed), q, "difficulty"),
        outcome=lambda q: (seed, q, "outcome"),
        evidence=lambda q: (seed, q, "evidence"),
    )
    correct, mean_logprob = simulate_answers(subject, temperature, drawn)
    for i, name in enumerate(NAMES):
        question = Question(name, "made-up", "Who?", "text", "Jane Austen")
        assert correct[i] == nlp_metad.is_right(question, subject, seed)
        wanted = nlp_metad.answer_logprob(subject, bool(correct[i]), temperature, seed, name)
        assert mean_logprob[i] == pytest.approx(wanted, abs=1e-9)


@pytest.mark.slow
def test_power_for_auroc2_is_that_of_its_standard_error() -> None:
    """Hanley & McNeil's variance of independent areas of two normal distributions, summed over the population."""
    n = 400
    curve = power_curve("nlp_metad", "auroc2", 0.08, n=[n], n_studies=300)
    accuracy = ndtr(0.7)
    right, wrong = n * accuracy, n * (1 - accuracy)
    variance = 0.0
    for distance, area in (
        (curve.pair.first, curve.pair.first_measure),
        (curve.pair.second, curve.pair.second_measure),
    ):
        assert area == pytest.approx(ndtr(distance / math.sqrt(2)), abs=2e-3)
        # Two right answers above one wrong one, or one above two: for normal evidence both are this.
        both = multivariate_normal(cov=[[2.0, 1.0], [1.0, 2.0]]).cdf([distance, distance])
        variance += (area * (1 - area) + (right + wrong - 2) * (both - area**2)) / (right * wrong)
    phi = ndtr(0.08 / math.sqrt(variance) - 1.959964)
    assert curve.power[0] == pytest.approx(phi, abs=0.09)


def test_paired_draws_have_the_correlation_asked_for() -> None:
    (first,), (second,) = paired_draws(12, 0.6, np.random.default_rng(0))
    for name in QUESTION_DRAWS + REPLY_DRAWS:
        wanted = 0.6 if name in QUESTION_DRAWS else 0.0
        assert abs(first[name].mean()) < 0.02
        assert abs(second[name].std() - 1.0) < 0.05
        assert abs(np.corrcoef(first[name], second[name])[0, 1] - wanted) < 0.05


@pytest.mark.slow
def test_one_model_asked_twice_needs_fewer_questions() -> None:
    apart, alike = (
        power_curve("scales", "ece", -0.1, n=[150], correlation=correlation, n_studies=150).power[0]
        for correlation in (0.0, 1.0)
    )
    assert alike > apart + 0.1


@pytest.mark.slow
def test_a_small_alpha_has_exchanges_enough_to_reject() -> None:
    (power,) = power_curve("scales", "accuracy", -0.15, n=[500], alpha=0.001, n_studies=25).power
    assert power > 0.9


def test_the_seed_decides_everything() -> None:
    once, again, other = (
        power_curve("fermieval", "coverage", 0.1, n=[60], n_studies=60, seed=seed) for seed in (3, 3, 4)
    )
    assert once.power == again.power
    assert once.pair == again.pair
    assert once.power != other.power


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"study": "lifeeval"}, "study 'lifeeval' is not one of benchmark, fermieval, nlp_metad"),
        (
            {"measure": "entropy"},
            "the power of scales cannot be computed for 'entropy'. Its measures are mratio",
        ),
        ({"effect": 0.0}, "other than 0"),
        ({"effect": math.nan}, "other than 0"),
        ({"effect": 9.0}, r"A has 1\.000, and A minus B ranges from .* to .*Choose an effect in this range"),
        ({"n": []}, f"{MIN_QUESTIONS} or more"),
        ({"n": [5]}, f"{MIN_QUESTIONS} or more"),
        ({"alpha": 1.0}, "alpha and target"),
        ({"correlation": 1.5}, "correlation"),
        ({"condition": "low"}, "unknown scale 'low'"),
        ({"profile": "nobody"}, "there is no simulated subject"),
        ({"parameters": {"iq": 3}}, "has no iq"),
    ],
)
def test_what_cannot_be_planned_is_refused(changed: dict[str, object], said: str) -> None:
    wanted = {"study": "scales", "measure": "mratio", "effect": -0.5, "n": [100]} | changed
    with pytest.raises(ValueError, match=said):
        power_curve(**wanted)


@pytest.mark.slow
@pytest.mark.sampled("measure")
@pytest.mark.parametrize(
    ("study", "measure"), [(s, m) for s, plan in power_designs().items() for m in plan.measures]
)
def test_every_planned_measure_is_moved_by_its_lever(study: str, measure: str) -> None:
    lower = ("ece", "ece_extra_bin", "overconfidence", "brier", "winkler")
    effect = -0.02 if measure in lower else 0.02
    curve = power_curve(study, measure, effect, n=[MIN_QUESTIONS], n_studies=20)
    assert curve.pair.first_measure - curve.pair.second_measure == pytest.approx(effect, abs=2e-3)


@pytest.mark.slow
def test_the_command_prints_a_curve_and_writes_files(tmp_path) -> None:
    table, figure = tmp_path / "power.csv", tmp_path / "power.svg"
    arguments = ["power", "fermieval", "--effect", "0.1", "--n", "50,400", "--studies", "100"]
    shown = CliRunner().invoke(main, [*arguments, "--csv", str(table), "--figure", str(figure)])
    assert shown.exit_code == 0, shown.output
    assert "About" in shown.output
    assert table.read_text().splitlines()[0] == "n,power,low,high,withheld"
    assert figure.read_text().count("<svg") == 1

    told = json.loads(CliRunner().invoke(main, [*arguments, "--json"]).stdout)
    assert [row["n"] for row in told["curve"]] == [50, 400]
    assert told["curve"][0]["power"] < 0.8 < told["curve"][1]["power"]
    assert 50 < told["needed"] < 400


def test_the_command_says_what_compare_would_withhold() -> None:
    """Of a calibrated subject that hardly ever states more than .9, nobody can tell M-ratio at .9."""
    arguments = ["power", "scales", "--effect", "0.6", "--n", "100", "--studies", "100"]
    assert "In up to 100% of these studies, compare withholds" in CliRunner().invoke(main, arguments).stdout
    (withheld,) = power_curve("scales", "accuracy", 0.1, n=[100], n_studies=20).withheld
    assert withheld == 0.0


def test_the_sign_of_a_difference_is_that_of_compare() -> None:
    """A subject that is right more often than the other: A minus B is above 0 in both."""
    setting = Setting("scales", "accuracy", 0.25, 60, 0, 1, again=1)
    pair = power_curve("scales", "accuracy", 0.25, n=[60], n_studies=10).pair
    assert pair.first > pair.second
    compared = whole_study(setting, pair, 0)
    assert compared.interval.estimate > 0.0
    assert compared.interval.estimate == pytest.approx(
        compared.values[0].estimate - compared.values[1].estimate
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--effect", "5"], "A minus B ranges from"),
        (["--effect", "0.1", "--n", "many"], "not a list of whole numbers"),
        (["--effect", "0.1", "-M", "perception"], "not KEY=NUMBER"),
        (["--effect", "0.1", "--measure", "mratio"], "coverage, coverage_gap"),
        (["--effect", "0.1", "--condition", "p=2"], "between 0 and 1"),
    ],
)
def test_the_command_says_what_is_wrong(arguments: list[str], said: str) -> None:
    shown = CliRunner().invoke(main, ["power", "fermieval", *arguments])
    assert shown.exit_code == 2
    assert said in shown.output


def _planned_replies(subject: Subject, scale: Scale) -> dict[str, np.ndarray]:
    of_first, _ = paired_draws(12, 0.0, np.random.default_rng(5))
    return dict(power_designs()["scales"].replies(subject, of_first, scale.label))


@pytest.mark.parametrize("upper", [5_000, 200_000])
@pytest.mark.parametrize("rounding", [0.0, 0.7])
def test_however_wide_a_scale_is_questions_are_of_as_many_kinds(upper: int, rounding: float) -> None:
    raw = _planned_replies(Subject(rounding=rounding), Scale(0, upper))["confidence_raw"]
    assert 100 < len(np.unique(raw)) <= 202
    assert raw.min() >= 0.0
    assert raw.max() <= upper


def test_up_to_two_hundred_steps_are_planned_for_one_by_one() -> None:
    scale, subject = Scale(7, 207), Subject(rounding=0.5, round_to=5)
    of_first, _ = paired_draws(12, 0.0, np.random.default_rng(5))
    _, confidence = decide(subject, of_first[0], scale.label)
    exact = simulated_reports(subject, confidence, scale, of_first[0])
    np.testing.assert_array_equal(_planned_replies(subject, scale)["confidence_raw"], exact)


@pytest.mark.parametrize("name", power_designs()["scales"].measures)
def test_steps_taken_together_leave_the_measures_as_they_are(name: str) -> None:
    scale, subject = Scale(0, 4_999), Subject(bias=0.5)
    of_first, _ = paired_draws(12, 0.0, np.random.default_rng(5))
    correct, confidence = decide(subject, of_first[0], scale.label)
    plan = power_designs()["scales"]
    exact = {
        "correct": correct.astype(float),
        "confidence_raw": simulated_reports(subject, confidence, scale, of_first[0]),
    }
    of_all, of_steps = (
        float(plan.measures[name].compute(plan.trials(replies, scale.label), None))
        for replies in (exact, _planned_replies(subject, scale))
    )
    assert of_steps == pytest.approx(of_all, abs=0.003)
