"""Clusters in a power analysis: design effects of a pilot against sums over passages, and what the command says."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from tests.validity.clustered_power import effect_in, pilot

from confidence_tasks.cli import main
from confidence_tasks.decisions.pilot import ClusterEffect
from confidence_tasks.decisions.power import power_curve


def design_effect(values: np.ndarray) -> float:
    """Return the variance of a mean by passage over that by question, each with the correction of Inspect."""
    passages, each = values.shape
    centred = values - values.mean()
    by_passage = (centred.sum(axis=1) ** 2).sum() * passages / (passages - 1)
    by_question = (centred**2).sum() * passages * each / (passages * each - 1)
    return by_passage / by_question


def correctness(path) -> list[np.ndarray]:
    table = pd.read_csv(path)
    return [rows["correct"].to_numpy().reshape(30, 4) for _, rows in table.groupby("model")]


def test_the_design_effect_of_one_model_is_that_of_its_measure(tmp_path):
    path = pilot(tmp_path, 30, 4, models=1)
    effect = effect_in(path)
    (correct,) = correctness(path)
    assert effect.design_effect == pytest.approx(design_effect(correct), rel=1e-9)
    assert (effect.n_clusters, effect.n_questions, effect.size) == (30, 120, 4.0)


def test_the_design_effect_of_two_models_is_that_of_their_paired_difference(tmp_path):
    path = pilot(tmp_path, 30, 4)
    first, second = correctness(path)
    assert effect_in(path, "cluster").design_effect == pytest.approx(design_effect(first - second), rel=1e-9)


def test_the_size_of_clusters_is_that_of_the_cluster_of_a_question(tmp_path):
    path = pilot(tmp_path, 30, 4, models=1)
    table = pd.read_csv(path)
    table[~table["question_id"].isin(["0-1", "0-2", "0-3"])].to_csv(path, index=False)
    assert effect_in(path).size == pytest.approx((1 + 29 * 16) / (1 + 29 * 4))


def test_questions_in_clusters_count_as_fewer_independent_ones():
    clusters = ClusterEffect(40, 200, 5.0, 2.0)
    clustered = power_curve("scales", "accuracy", 0.1, n=[400], n_studies=100, clusters=clusters)
    independent = power_curve("scales", "accuracy", 0.1, n=[200], n_studies=100)
    assert clustered.power.tolist() == independent.power.tolist()
    assert clustered.n.tolist() == [400]
    with pytest.raises(ValueError, match="40 or more"):
        power_curve("scales", "accuracy", 0.1, n=[39], n_studies=10, clusters=clusters)


def test_more_questions_in_each_cluster_need_fewer_clusters_up_to_a_limit():
    clusters = ClusterEffect(40, 200, 5.0, 1.8)  # a correlation of .2
    needed = [clusters.clusters_needed(100.0, size) for size in (1, 2, 5, 10, 1_000_000)]
    assert needed == [100, 60, 36, 28, 21]  # 100 (1 + .2 (m - 1)) / m
    opposed = ClusterEffect(40, 80, 2.0, 0.2)  # pairs of which one is right and one is wrong
    assert opposed.clusters_needed(100.0, 2) == 10
    assert np.isnan(opposed.clusters_needed(100.0, 3))


def command(*arguments: str) -> tuple[int, str]:
    given = ["power", "scales", "--measure", "accuracy", "--effect", "0.1", "--studies", "100", *arguments]
    done = CliRunner().invoke(main, given)
    return done.exit_code, " ".join((done.stdout if "--json" in arguments else done.output).split())


@pytest.mark.slow
def test_the_command_says_what_more_passages_are_worth(tmp_path):
    path = str(pilot(tmp_path, 150, 5))
    _, shown = command("--pilot", path, "--n", "300,1600")
    assert "150 clusters of 750 questions, and the design effect is" in shown
    assert "Twice as many clusters halve the variance; twice as many questions in each leave" in shown
    assert "clusters needed" in shown
    _, output = command("--pilot", path, "--n", "300,1600", "--json")
    told = json.loads(output)
    effect = told["clusters"]["design_effect"]
    plan = next(each for each in told["plans"] if each["size"] == 5)
    assert plan["design_effect"] == pytest.approx(effect)
    assert plan["questions"] == pytest.approx(told["needed"], abs=5)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--cluster", "clustr"], "there is no column 'clustr' to cluster by; there are "),
        (["--cluster", "clustr"], "; did you mean 'cluster'?"),
        (["--cluster", "subject"], "no question has a subject"),
        (["--cluster", "none"], "no two questions of scales are in one cluster"),
        (["--condition", "0-20"], "no trials of scales under 0-20, but under 0-100"),
    ],
)
def test_a_pilot_without_the_clusters_is_refused(tmp_path, arguments, said):
    code, shown = command("--pilot", str(pilot(tmp_path, 30, 4)), *arguments)
    assert code == 2
    assert said in shown


def test_clusters_need_a_pilot(tmp_path):
    assert "--cluster needs --pilot" in command("--cluster", "passage")[1]
    path = pilot(tmp_path, 30, 4)
    done = CliRunner().invoke(main, ["power", "riskeval", "--effect", "0.02", "--pilot", str(path)])
    assert "the pilot has no trials of riskeval, but of scales" in done.output
