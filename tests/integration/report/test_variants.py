"""Models that ran with several settings: each variant by itself, side by side, from logs and from files of trials."""

import json

import pandas as pd
import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai.solver import generate
from tests.unit.report.runs import rows, undrawn_report, write

from confidence_tasks import scale_granularity
from confidence_tasks.logs.inspect_logs import read_inspect_log
from confidence_tasks.report import collect, trials
from confidence_tasks.report.estimates.settings import Settings

FEW = Settings(n_resamples=50)
MODEL = "simulated/overconfident"


def asked(folder, elicitation="verbal", **options):
    """A run of the scale study in one way."""
    task = scale_granularity(scales="0-10,0-100", sources="arithmetic", n=12, elicitation=elicitation)
    (run,) = inspect_eval(task, model=MODEL, log_dir=str(folder), display="none", **options)
    return run.location.removeprefix("file://")


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ways")
    return {way: asked(folder / way, way) for way in ("verbal", "cot")}


@pytest.fixture(scope="module")
def made(paths):
    return undrawn_report(collect(paths.values()), settings=FEW)


@pytest.mark.slow
def test_each_way_is_reported_as_if_it_were_alone(made, paths):
    (results,) = made.results
    # Runs begun in the same second have no order in time.
    assert {model.label for model in results.models} == {f"{MODEL} (elicitation={way})" for way in paths}
    for way, path in paths.items():
        (alone,) = undrawn_report(collect(path), settings=FEW).results
        for entry in alone.estimates:
            if entry.measure in ("ece", "accuracy", "confidence_raw", "parse_rate"):
                together = results.estimate(f"{MODEL} (elicitation={way})", entry.group, entry.measure)
                assert repr(together.interval) == repr(entry.interval)  # NaN is not itself
                assert together.n == entry.n == 12


def test_ways_stand_side_by_side_with_a_word_on_it(made):
    (task,) = made.tasks
    assert "Several settings" in {notice.title for notice in task.notices}
    table = next(extra for extra in made.extras if extra.name == "scale_granularity_settings").frame
    assert sorted(table["model"]) == [f"{MODEL} (elicitation={way})" for way in ("cot", "verbal")]
    assert {key.label for key in made.figures[0].keys} == set(table["model"])


@pytest.mark.slow
def test_one_way_needs_no_word(collection):
    made = undrawn_report(collection, settings=FEW)
    titles = {notice.title for task in made.tasks for notice in task.notices}
    assert not titles & {"Several settings", "Repeated questions in a file"}


def test_another_solver_or_judge_is_another_way(paths, tmp_path):
    other = asked(tmp_path, solver=generate(), model_roles={"judge": "simulated/ideal"})
    assert read_inspect_log(other)[0].setup["role.judge"] == "simulated/ideal"
    (results,) = undrawn_report(collect([paths["verbal"], other]), settings=FEW).results
    assert len(results.models) == 2


def test_a_file_of_trials_says_how_they_were_asked(tmp_path):
    told = [{**row, "setup": json.dumps({"prompt": way})} for way in "ab" for row in rows("scales")]
    named = [{**row, "setup": way} for way in ("plain", "polite") for row in rows("scales")]
    for expected, its in (("prompt=a", told), ("setup=polite", named)):
        (results,) = undrawn_report(collect(write(tmp_path / "a.jsonl", its)), settings=FEW).results
        assert f"lab/steady ({expected})" in [model.label for model in results.models]
        assert {len(model) for model in results.models} == {len(rows("scales"))}


def test_a_question_asked_twice_without_saying_how_is_noticed(tmp_path):
    made = undrawn_report(collect(write(tmp_path / "a.jsonl", rows("scales") * 2)), settings=FEW)
    (task,) = made.tasks
    notice = next(each for each in task.notices if each.title == "Repeated questions in a file")
    assert notice.where == (f"lab/steady: {len(rows('scales'))} additional trials",)


def test_trials_of_logs_written_to_a_file_are_the_same_models_and_studies_again(paths, tmp_path):
    write(tmp_path / "risk.jsonl", rows("riskeval"))
    every = [*paths.values(), tmp_path / "risk.jsonl"]
    trials(every).to_csv(tmp_path / "all.csv", index=False)
    before, after = (
        {
            (each.task_trials.task, model.label, len(model))
            for each in results.results
            for model in each.models
        }
        for results in (undrawn_report(collect(what), settings=FEW) for what in (every, tmp_path / "all.csv"))
    )
    assert before == after
    assert isinstance(trials(tmp_path / "all.csv"), pd.DataFrame)
