"""LifeEval through Inspect: what was put into a simulated subject comes out of the log."""

import math

import pytest
from inspect_ai.model import get_model

from confidence_tasks import lifeeval
from confidence_tasks.studies.lifeeval import RADII
from confidence_tasks.studies.lifeeval.measures import MEASURES, TOKEN_MEASURES
from confidence_tasks.study.trial import STATUSES

from .conftest import Run, metrics, saying, trials

QUESTIONS = 40


def test_who_knows_the_table_is_perfect_in_every_group(run: Run) -> None:
    found = metrics(run(lifeeval(n=QUESTIONS)))
    groups = {name.partition("/")[2] for name in found}
    assert {"all", *(f"radius={radius}" for radius in RADII), "sex=male", "age=80+"} <= groups
    assert {f"{measure.name}/all" for measure in MEASURES} <= found.keys()
    assert found["regret/all"] == pytest.approx(0.0, abs=1e-12)
    assert found["ece/all"] < 0.005
    assert abs(found["hard_easy/all"]) < 0.01
    assert found["confidence_correlation/all"] > 0.999
    assert found["parse_rate_strict/all"] == 1.0


def test_a_subject_without_metacognition_shows_the_whole_hard_easy_effect(run: Run) -> None:
    model = get_model("simulated/ideal", meta_d_prime=0.0, bias=1.0)
    found = metrics(run(lifeeval(n=QUESTIONS), model))
    assert found["hard_easy/all"] == pytest.approx(1.0, abs=1e-9)
    assert found["overconfidence/radius=1"] > 0.5 > 0.0 > found["overconfidence/radius=20"]
    assert found["confidence/all"] == pytest.approx(0.73)
    assert math.isnan(found["confidence_correlation/all"])


def test_windows_are_never_mixed_and_the_log_says_which(run: Run) -> None:
    half_open, inclusive = (run(lifeeval(n=16, window=window)) for window in ("half_open", "inclusive"))
    assert {trial["window"] for trial in trials(half_open)} == {"half_open"}
    assert {trial["window"] for trial in trials(inclusive)} == {"inclusive"}
    assert metrics(inclusive)["mas/all"] > metrics(half_open)["mas/all"]


def test_another_table(run: Run, tmp_path) -> None:
    path = tmp_path / "short_lives.csv"
    rows = [f"{age},{min(1.0, 0.02 + age / 60)},{min(1.0, 0.01 + age / 80)}" for age in range(101)]
    path.write_text("\n".join(["age,male_qx,female_qx", *rows]))
    log = run(lifeeval(n=16, table=str(path), population="a Ruritanian"))
    assert metrics(log)["regret/all"] == pytest.approx(0.0, abs=1e-12)
    assert log.samples is not None
    assert "Given that a Ruritanian " in str(log.samples[0].input)
    assert all(0.0 < trial["mas"] <= 1.0 for trial in trials(log))


def test_token_probabilities_beside_stated_ones(run: Run) -> None:
    log = run(lifeeval(n=16, top_logprobs=5))
    found = metrics(log)
    assert {measure.name for measure in TOKEN_MEASURES} <= {name.partition("/")[0] for name in found}
    for trial in trials(log):
        assert trial["token_confidence"] == pytest.approx(trial["confidence"], abs=0.006)


def test_any_reply_becomes_a_trial_with_a_status(run: Run) -> None:
    hostile = [
        "",
        "\x00\u202e",
        '{"Answer": ' + "9" * 5_000 + "}",
        "<script>alert(1)</script>",
        "{" * 10_000,
        "84",
    ]
    made = trials(run(lifeeval(n=len(hostile)), saying(hostile)))
    assert len(made) == len(hostile)
    assert all(trial["status"] in STATUSES for trial in made)
    assert all(math.isnan(trial["confidence"]) for trial in made)


def test_the_log_shows_the_headline_and_where_numbers_come_from(run: Run) -> None:
    log = run(lifeeval(n=8, seed=3))
    assert log.eval.metadata is not None
    assert log.eval.metadata["seed"] == 3
    assert log.eval.headline_metric is not None
    assert log.eval.headline_metric.metric in metrics(log)
    assert log.eval.metadata["parameters"]["window"] == "half_open"
