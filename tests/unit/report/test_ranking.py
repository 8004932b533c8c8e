"""Several models at once, in the command and in Python."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result
from tests.validity.many_models import MEASURES, Model, replies

from confidence_tasks import compare
from confidence_tasks.logs.clusters import with_units
from confidence_tasks.logs.task_trials import group_by_task
from confidence_tasks.report import collect
from confidence_tasks.report.commands.compare import compare as command
from confidence_tasks.report.estimates.ranking import rank_by_measures
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.estimates.two_models import compare_models
from confidence_tasks.report.ranked_tasks import cautions_of_many, joined_tasks, rank_tasks

N = 120
FEW = Settings(n_resamples=400)
SKILLS = {"weak": -1.0, "middling": 0.8, "twin": 0.8, "strong": 4.0}


def table(model: Model, name: str) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "study": "scales",
            "model": f"lab/{name}",
            "question_id": [f"q-{each}" for each in model["question_id"]],
            "source": "mine",
            "condition": "0-100",
            "correct": model["correct"],
            "confidence": model["confidence"],
            "status": "ok",
        }
    )


@pytest.fixture(scope="module")
def tables() -> dict[str, pd.DataFrame]:
    models = replies(np.array(list(SKILLS.values())), N, np.random.default_rng(5))
    return {name: table(model, name) for name, model in zip(SKILLS, models, strict=True)}


@pytest.fixture(scope="module")
def paths(tables: dict[str, pd.DataFrame], tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("models")
    for name, each in tables.items():
        each.to_csv(folder / f"{name}.csv", index=False)
    return [str(folder / f"{name}.csv") for name in tables]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command, [*arguments, "--no-cache", "--resamples", "400"])


def test_the_command_ranks_the_models_of_all_paths(paths: list[str]) -> None:
    result = run(*paths, "--measure", "accuracy", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    ranks = {each["model"]: (each["rank_first"], each["rank_last"]) for each in found["ranks"]}
    assert ranks["lab/strong"] == (1, 1)
    assert ranks["lab/weak"] == (4, 4)
    assert ranks["lab/middling"] == ranks["lab/twin"] == (2, 3)
    assert [each["model"] for each in found["ranks"] if each["leads"]] == ["lab/strong"]
    assert len(found["pairs"]) == 6


def test_the_terminal_names_the_models_next_to_the_best(paths: list[str]) -> None:
    shown = run(*paths, "--measure", "accuracy").stdout
    assert "lab/strong is better than every other model; pairs that differ: 5 of 6." in shown
    assert "2 to 3" in shown
    assert "120 questions" in shown
    three = run(*paths[:3], "--measure", "accuracy").stdout
    assert "Not told apart from the best, lab/" in three


def test_one_path_has_all_its_models_ranked(paths: list[str]) -> None:
    folder = str(Path(paths[0]).parent)
    one, many = (run(*chosen, "--measure", "brier", "--json") for chosen in ([folder], paths))
    assert json.loads(one.stdout)["ranks"] == json.loads(many.stdout)["ranks"]


@pytest.mark.parametrize(
    ("option", "name"),
    [
        (("--model-a", "lab/weak"), "--model-a"),
        (("--by", "source"), "--by"),
        (("--fail-if-worse", "0"), "--fail-if-worse"),
    ],
)
def test_options_for_two_models_are_refused(paths: list[str], option: tuple[str, str], name: str) -> None:
    result = run(*paths, *option)
    assert result.exit_code == 2
    assert f"{name} is for two models" in result.stderr


def test_questions_that_some_model_was_not_asked_are_left_out_and_counted(
    tables: dict[str, pd.DataFrame], tmp_path: Path
) -> None:
    for i, (name, each) in enumerate(tables.items()):
        each.iloc[10 * i :].to_csv(tmp_path / f"{name}.csv", index=False)
    found = run(str(tmp_path), "--measure", "accuracy")
    assert "90 of 120 questions and conditions were asked of every model" in found.stdout
    assert "lab/weak: asked 120, of which 30 are left out" in found.stdout
    assert "90 questions" in found.stdout


def test_models_without_a_common_question_are_refused(
    tables: dict[str, pd.DataFrame], tmp_path: Path
) -> None:
    for i, (name, each) in enumerate(tables.items()):
        each.iloc[i * 30 : (i + 1) * 30].to_csv(tmp_path / f"{name}.csv", index=False)
    found = run(str(tmp_path))
    assert found.exit_code == 1
    assert "the models have no question in common" in found.stderr
    with (
        pytest.raises(ValueError, match="no two models share a question"),
        pytest.warns(UserWarning, match="0 of 120"),
    ):
        compare(str(tmp_path))


def test_an_unknown_measure_is_refused_with_a_suggestion(paths: list[str]) -> None:
    assert "did you mean 'brier'?" in run(*paths, "--measure", "Brier").stderr


def test_a_model_without_a_value_has_no_rank_and_the_reason(
    tables: dict[str, pd.DataFrame], tmp_path: Path
) -> None:
    for name, each in tables.items():
        each.assign(correct=1.0 if name == "strong" else each["correct"]).to_csv(
            tmp_path / f"{name}.csv", index=False
        )
    (ranking,) = rank_tasks(group_by_task(collect(tmp_path).files), ["auroc"], FEW)
    *ranked, last = ranking.models
    assert last.model == "lab/strong"
    assert not last.first
    assert "only one class" in last.reason
    assert {each.last for each in ranked} == {3}
    assert len(ranking.pairs) == 3


def test_runs_of_one_model_in_several_paths_are_told_apart(paths: list[str], tmp_path: Path) -> None:
    again = tmp_path / "again.csv"
    again.write_bytes(Path(paths[0]).read_bytes())
    by_path = {path: group_by_task(collect(path).files) for path in (paths[0], str(again), paths[1])}
    (task,) = joined_tasks(by_path)
    assert [model.label for model in task.models] == [
        f"lab/weak [{paths[0]}]",
        f"lab/weak [{again}]",
        "lab/middling",
    ]
    (ranking,) = rank_tasks([task], ["accuracy"], FEW)
    equal = next(each for each in ranking.pairs if each.first[:8] == each.second[:8])
    assert equal.difference.estimate == 0.0
    assert equal.p_adjusted == 1.0


def test_two_models_have_the_interval_of_compare(paths: list[str]) -> None:
    """With one pair, the permutations are the exchanges of `compare`."""
    (task,) = group_by_task(collect(paths[:2]).files)
    settings = Settings(n_resamples=4_000)
    for name in ("accuracy", "auroc", "brier", "ece"):
        (ranking,) = rank_tasks([task], [name], settings)
        (pair,) = ranking.pairs
        by_name = {model.label: model for model in task.models}
        (two,) = compare_models(by_name[pair.first], by_name[pair.second], task, [name], settings)
        assert pair.difference.estimate == pytest.approx(two.interval.estimate)
        assert pair.difference.low == pytest.approx(two.interval.low, abs=0.012)
        assert pair.difference.high == pytest.approx(two.interval.high, abs=0.012)


def test_more_measures_widen_the_intervals(paths: list[str]) -> None:
    (task,) = group_by_task(collect(paths).files)
    (alone,) = rank_tasks([task], ["accuracy"], Settings(2_000))
    among = rank_tasks([task], ["accuracy", "brier", "auroc"], Settings(2_000))[0]
    for one, other in zip(alone.pairs, among.pairs, strict=True):
        assert other.difference.low < one.difference.low
        assert other.differs == (other.p_adjusted <= 0.05)


def test_clusters_are_the_units() -> None:
    """Questions of one passage with equal replies: the interval is that of as many questions as passages."""
    rng = np.random.default_rng(0)
    models = replies(np.array([0.0, 1.0, 1.5]), 40, rng)
    clustered = [
        {
            **{name: np.repeat(column, 5) for name, column in model.items()},
            "question_id": np.arange(200).astype(str).astype(object),
            "unit": np.repeat(model["question_id"], 5),
        }
        for model in models
    ]
    names = ["a", "b", "c"]
    for measure in ("accuracy", "brier"):
        (plain,) = rank_by_measures([MEASURES[measure]], FEW, 1, names, models)
        (grouped,) = rank_by_measures([MEASURES[measure]], FEW, 1, names, clustered)
        assert grouped.n_units == 40
        assert grouped.n_questions == 200
        for one, other in zip(plain.pairs, grouped.pairs, strict=True):
            assert other.difference.standard_error == pytest.approx(one.difference.standard_error, rel=1e-6)


def test_the_unit_of_the_command_is_the_cluster(tables: dict[str, pd.DataFrame], tmp_path: Path) -> None:
    for name, each in tables.items():
        domain = [f"d-{int(label[2:]) % 12}" for label in each["question_id"]]
        each.assign(answer=domain).to_csv(tmp_path / f"{name}.csv", index=False)
    (task,) = with_units(group_by_task(collect(tmp_path).files), "answer")
    (ranking,) = rank_tasks([task], ["accuracy"], FEW)
    assert ranking.n_units == 12
    assert (
        "120 questions, 12 clusters"
        in run(str(tmp_path), "--measure", "accuracy", "--cluster", "answer").stdout
    )


def test_epochs_do_not_count_as_questions() -> None:
    """The same replies in three epochs tell no more than once."""
    models = replies(np.array([0.0, 1.0, 1.5]), 60, np.random.default_rng(1))
    thrice = [{name: np.tile(column, 3) for name, column in model.items()} for model in models]
    (one,), (three,) = (
        rank_by_measures([MEASURES["auroc"]], FEW, 1, ["a", "b", "c"], each) for each in (models, thrice)
    )
    for pair, other in zip(one.pairs, three.pairs, strict=True):
        assert other.difference.standard_error == pytest.approx(pair.difference.standard_error, rel=0.02)


def test_arrays_tables_and_logs_give_the_same_numbers(
    tables: dict[str, pd.DataFrame], paths: list[str]
) -> None:
    options = {"measures": ["brier"], "n_resamples": 300}
    of_logs = compare(*paths, **options)
    of_tables = compare(*tables.values(), **options)
    arrays = [(each["correct"], each["confidence"]) for each in tables.values()]
    of_arrays = compare(*arrays, questions=tables["weak"]["question_id"], **options)
    names = ["value", "rank_first", "rank_last", "n"]
    for found in (of_tables, of_arrays):
        assert [list(tables)["ABCD".index(each)] for each in found.to_frame()["model"]] == [
            each.removeprefix("lab/") for each in of_logs.to_frame()["model"]
        ]
        pd.testing.assert_frame_equal(found.to_frame()[names], of_logs.to_frame()[names])
    assert "1 is not told apart" in repr(of_logs)
    assert "lab/strong" in of_logs.to_markdown()
    assert len(of_logs.pairs) == 6
    assert "study" in of_logs.pairs


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (({"questions": None}, 3), "give questions"),
        (({"by": "source"}, 3), "by is for two models"),
        (({"model_a": "x"}, 3), "model_a is for two models"),
        (({}, 1), "two models or more"),
    ],
)
def test_what_python_refuses(given: tuple[dict[str, str], int], message: str) -> None:
    options, n = given
    models = [([1, 0, 1], [0.9, 0.8, 0.7])] * n
    with pytest.raises(ValueError, match=message):
        compare(*models, **options)


def test_models_of_several_kinds_are_refused(tables: dict[str, pd.DataFrame], paths: list[str]) -> None:
    with pytest.raises(ValueError, match="one kind"):
        compare(tables["weak"], tables["twin"], paths[0])


def test_a_measure_without_a_better_direction_has_ranks_and_no_best(paths: list[str]) -> None:
    (task,) = group_by_task(collect(paths).files)
    study = task.study.measures_by_name
    name = next(name for name in ("overconfidence", "confidence") if name in study)
    (ranking,) = rank_tasks([task], [name], FEW)
    values = [each.interval.estimate for each in ranking.models]
    assert ranking.better == "neither"
    assert not ranking.leaders
    assert values == sorted(values, reverse=True)


def test_settings_of_the_runs_are_checked(paths: list[str]) -> None:
    (task,) = group_by_task(collect(paths).files)
    titles = [each.title for each in cautions_of_many(task)]
    assert not any("questions and conditions" in title for title in titles)


def test_a_rank_is_never_surer_than_the_values(paths: list[str]) -> None:
    (task,) = group_by_task(collect(paths).files)
    for ranking in rank_tasks([task], None, FEW):
        for place, each in enumerate([model for model in ranking.models if model.first], start=1):
            assert each.first <= place <= each.last
            assert not math.isnan(each.interval.estimate)


@pytest.mark.parametrize("measure", ["accuracy", "ece", "auroc", "brier"])
def test_models_that_reply_alike_share_the_first_rank(
    tables: dict[str, pd.DataFrame], tmp_path: Path, measure: str
) -> None:
    for name in ("a", "b", "c", "d"):
        tables["weak"].assign(model=f"lab/{name}").to_csv(tmp_path / f"{name}.csv", index=False)
    (task,) = group_by_task(collect(tmp_path).files)
    (ranking,) = rank_tasks([task], [measure], FEW)
    assert {(each.first, each.last) for each in ranking.models} == {(1, 4)}
    assert {float(each.difference.estimate) for each in ranking.pairs} == {0.0}
    assert {float(each.difference.low) for each in ranking.pairs} == {0.0}
    assert {float(each.difference.high) for each in ranking.pairs} == {0.0}
    assert {each.p_adjusted for each in ranking.pairs} == {1.0}
