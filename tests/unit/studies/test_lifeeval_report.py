"""LifeEval in reports: tables over models, groups of trials and figures."""

import json
import math
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from inspect_ai import eval as inspect_eval
from tests.trials import lifeeval_trial
from tests.unit.report.runs import undrawn_report

from confidence_tasks import boolq, lifeeval
from confidence_tasks.logs.task_trials import group_by_task
from confidence_tasks.replications.all_question_sets import ece_of_formula, stated_against_token
from confidence_tasks.replications.common_questions import common_subset
from confidence_tasks.report import collect
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.figures.general import model_styles
from confidence_tasks.report.read_trials import trials as read_trials
from confidence_tasks.report.results import compute_results
from confidence_tasks.sources.generated import lifeeval_question
from confidence_tasks.statistics import ece
from confidence_tasks.studies.lifeeval.best_guesses import best_guesses
from confidence_tasks.studies.lifeeval.measures import MEASURES, group_labels, lifeeval_summary
from confidence_tasks.studies.lifeeval.report import by_radius_sex_and_age
from confidence_tasks.studies.lifeeval.trials import maximum_score

RADII = (1, 5, 10, 20)


def trials(model="a", gain=1.0, shift=0.0, ages=range(0, 101, 4), seed=0):
    """Return trials of a model whose confidence is linear in the maximum achievable score, with noise."""
    rng = np.random.default_rng(seed)
    made = []
    for sex in ("male", "female"):
        for age in ages:
            for radius in RADII:
                case = lifeeval_question(sex, age, radius)
                stated = float(np.clip(shift + gain * maximum_score(case) + rng.normal(0, 0.02), 0, 1))
                made.append(
                    {**lifeeval_trial(case, f'{{"Answer": 84, "Confidence": {stated}}}'), "model": model}
                )
    return pd.DataFrame(made)


@pytest.fixture(scope="module")
def two_models():
    return pd.concat([trials("a", seed=1), trials("b", gain=0.3, shift=0.5, seed=2)], ignore_index=True)


# The common subset ----------------------------------------------------------------------------------------------


def test_the_common_subset_has_the_questions_that_all_models_answered(two_models):
    missing = two_models.copy()
    missing.loc[3, "confidence"] = math.nan
    missing.loc[len(two_models) - 1, "correct"] = math.nan
    missing = missing.drop(index=7)
    common = common_subset(missing)
    out = set(two_models.loc[[3, len(two_models) - 1, 7], "question_id"])
    assert set(common["question_id"]) == set(two_models["question_id"]) - out
    assert common.groupby("question_id")["model"].nunique().eq(2).all()


def test_the_common_subset_is_empty_without_a_common_question(two_models):
    first = two_models.query("model == 'a' and sex == 'male'")
    second = two_models.query("model == 'b' and sex == 'female'")
    assert len(common_subset(pd.concat([first, second]))) == 0


def test_a_question_under_two_conditions_counts_as_two():
    rows = [
        {"model": model, "question_id": "q", "condition": condition, "correct": 1.0, "confidence": confidence}
        for model, condition, confidence in [
            ("a", "x", 0.5),
            ("a", "y", 0.5),
            ("b", "x", 0.5),
            ("b", "y", math.nan),
        ]
    ]
    assert list(common_subset(pd.DataFrame(rows))["condition"]) == ["x", "x"]


# Tables ---------------------------------------------------------------------------------------------------------


def test_estimates_of_the_report_equal_the_metrics_of_the_log(two_models, tmp_path):
    labelled = two_models.assign(study="lifeeval", task="lifeeval")
    labelled.to_csv(tmp_path / "trials.csv", index=False)
    (results,) = undrawn_report(collect(tmp_path), settings=Settings(n_resamples=10)).results
    for model, its in two_models.groupby("model"):
        logged = lifeeval_summary(its.drop(columns="model").to_dict("records"), radii=RADII)
        groups = [group for group in results.groups[model] if group.by in ("all", "radius")]
        for measure, group in product(MEASURES, groups):
            entry = results.estimate(model, group.label, measure.name)
            assert entry.interval.estimate == pytest.approx(
                logged[f"{measure.name}/{group.label}"], abs=1e-12, nan_ok=True
            )


# Stated confidence against token probabilities ------------------------------------------------------------------


def test_stated_and_token_are_compared_on_the_same_trials(two_models):
    some = two_models.assign(token_confidence=np.where(two_models.index % 2, 1.0, math.nan))
    table = stated_against_token(some).set_index("model")
    kept = some[some["token_confidence"].notna() & (some["model"] == "a")]
    assert table.loc["a", "n"] == len(kept)
    assert table.loc["a", "token_confidence"] == 1.0
    assert table.loc["a", "stated_ece"] == pytest.approx(ece(kept["correct"], kept["confidence"]))
    assert table.loc["a", "token_overconfidence"] == pytest.approx(1.0 - kept["correct"].mean())


def test_a_model_without_token_probabilities_has_no_comparison(two_models):
    row = stated_against_token(two_models).iloc[0]
    assert row["n"] == 0
    assert math.isnan(row["token_ece"])


def test_the_correctness_of_tokens_is_used_if_there_is_one():
    rows = {"model": "a", "source": "sciq", "correct": [1.0, 1.0], "confidence": 0.6}
    made = pd.DataFrame({**rows, "token_correct": [1.0, 0.0], "token_confidence": [0.9, 0.9]})
    row = stated_against_token(made).iloc[0]
    assert row["token_overconfidence"] == pytest.approx(0.4)
    assert row["stated_overconfidence"] == pytest.approx(-0.4)


# Logs -----------------------------------------------------------------------------------------------------------


def test_logs_of_both_studies_are_read_as_trials(tmp_path):
    for task in (lifeeval(n=8), boolq(n=6, source="arithmetic_boolean")):
        (log,) = inspect_eval(task, model="simulated/ideal", log_dir=str(tmp_path), display="none")
        assert log.status == "success"
    found = read_trials([tmp_path])
    lives, booleans = (found[found["task"].str.endswith(name)] for name in ("lifeeval", "boolq"))
    assert (len(lives), len(booleans)) == (8, 6)
    assert lives["correct"].to_numpy() == pytest.approx(lives["mas"].to_numpy(), abs=1e-12)
    assert booleans["stimulus"].isin([0.0, 1.0]).all()


def test_groups_of_a_report_are_those_of_the_log(two_models):
    one = two_models.query("model == 'a'")
    groups = by_radius_sex_and_age(
        {key: one[key].to_numpy() for key in ("condition", "sex", "age", "source")}
    )
    assert [group.label for group in groups] == [
        label for labels in group_labels(RADII).values() for label in labels
    ]
    assert [group.n for group in groups if group.by == "radius"] == [len(one) / 4] * 4


@pytest.mark.parametrize(("table", "drawn"), [("None", True), ("/no/such/table.csv", False)])
def test_best_guesses_use_the_life_table_of_the_run_and_are_nan_without_its_file(tmp_path, table, drawn):
    rows = pd.DataFrame(trials(ages=range(0, 101, 20))).assign(
        study="lifeeval", task="lifeeval", setup=json.dumps({"table": table})
    )
    rows.to_csv(tmp_path / "a.csv", index=False)
    (results,) = compute_results(group_by_task(collect(tmp_path).files), Settings(n_resamples=20))
    figure = best_guesses(results, model_styles(["a"]))
    lines = figure.rows[0][1][0].draw.keywords["lines"]
    assert [bool(np.isfinite(line.y).all()) for line in lines] == [drawn, drawn]


# The ECE of the printed formula -----------------------------------------------------------------------------------


def formula_by_bins(trials):
    """Return sum over m of n_m |acc - conf| / n, with the bins (m - 1) / 10 < c <= m / 10, in exact arithmetic."""
    total = Fraction(0)
    for m in range(1, 11):
        members = [(right, sure) for right, sure in trials if Fraction(m - 1, 10) < sure <= Fraction(m, 10)]
        total += abs(sum((right - sure for right, sure in members), Fraction(0)))
    return float(total / len(trials))


@pytest.mark.parametrize("seed", range(6))
def test_the_ece_of_the_formula_has_a_confidence_of_0_in_no_bin(seed):
    rng = np.random.default_rng(seed)
    trials = [
        (int(rng.integers(2)), Fraction(int(rng.choice([0, 0, 3, 5, 10, 55, 70, 100])), 100))
        for _ in range(40)
    ]
    correct, confidence = (
        np.array([float(value) for value in column]) for column in zip(*trials, strict=True)
    )
    assert ece_of_formula(correct, confidence) == pytest.approx(formula_by_bins(trials), abs=1e-12)


def test_the_ece_of_the_formula_is_ours_without_a_confidence_of_0_and_0_with_no_other():
    correct, confidence = np.array([1.0, 0.0, 1.0]), np.array([0.9, 0.4, 0.35])
    assert ece_of_formula(correct, confidence) == pytest.approx(float(ece(correct, confidence)))
    assert ece_of_formula(np.ones(3), np.zeros(3)) == 0.0
    assert math.isnan(ece_of_formula(np.array([]), np.array([])))
