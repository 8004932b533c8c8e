"""Numbers in Python are those of the report, by name, and come with the notices of its checks."""

import json
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from inspect_ai.log import read_eval_log, write_eval_log
from tests.unit.report.runs import rows, write

from confidence_tasks import compare, metrics, summary
from confidence_tasks.report import trials
from confidence_tasks.report.commands.report import report
from confidence_tasks.study.standard import STANDARD

EXAMPLES = Path(__file__).parents[3] / "examples"
KEYS = ["task", "model", "condition", "measure"]


@pytest.mark.parametrize("name", ["boolq", "lifeeval", "scale_granularity", "nlp_metad"])
def test_a_measure_of_a_log_has_one_value(name: str) -> None:
    path = EXAMPLES / f"{name}.eval"
    every = metrics(path, measures=None, n_resamples=50)
    both = summary(path, n_resamples=50).to_frame().merge(every, on=KEYS, suffixes=("", "_of_metrics"))
    assert len(both) >= 6
    for column in ("value", "low", "high"):
        np.testing.assert_array_equal(both[column], both[f"{column}_of_metrics"])
    assert "ece" in {*both["measure"]} or "accuracy" in {*both["measure"]}


def test_another_grouping_has_the_study_s_measures_too() -> None:
    path = EXAMPLES / "boolq.eval"
    (every,) = metrics(path, measures=["mratio"], n_resamples=50)["value"]
    (grouped,) = summary(data=path, by="model", measures=["mratio"], n_resamples=50).to_frame()["value"]
    assert grouped == every or np.isnan([grouped, every]).all()


def test_a_measure_that_the_study_lacks_is_the_standard_one(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", rows("riskeval"))
    assert {*summary(path, n_resamples=20).to_frame()["measure"]} == {each.name for each in STANDARD}


def test_the_number_of_trials_is_that_of_the_answers_with_a_confidence(tmp_path: Path) -> None:
    of_riskeval = rows("riskeval")
    for row in of_riskeval[::5]:
        row |= {
            "correct": np.nan,
            "confidence": np.nan,
            "decision": "abstain",
            "status": "refused",
            "answered": 0.0,
        }
    path = write(tmp_path / "t.jsonl", of_riskeval)
    found = summary(path, n_resamples=20, measures=["overconfidence", "ece", "brier"]).to_frame()
    assert (found.groupby("condition")["n"].nunique() == 1).all()


@pytest.fixture
def killed(log: Path, tmp_path: Path) -> Path:
    """A run that was killed after six of eight samples, none of them parsed."""
    whole = read_eval_log(str(log))
    whole.status = "started"
    whole.samples = (whole.samples or [])[:6]
    for sample in whole.samples:
        (score,) = (sample.scores or {}).values()
        score.value = {**score.value, "correct": np.nan, "confidence": np.nan, "status": "unreadable"}
        score.metadata = {**(score.metadata or {}), "answer": ""}
    path = tmp_path / "killed.eval"
    write_eval_log(whole, str(path))
    return path


TITLES = {"Unfinished runs", "Replies without a readable answer or confidence"}


@pytest.mark.parametrize("read", [metrics, summary, trials])
def test_a_killed_run_warns_in_python(read: object, killed: Path) -> None:
    options = {} if read is trials else {"n_resamples": 20}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = read(killed, **options)
    said = [str(each.message) for each in caught if each.category is UserWarning]
    assert all(any(f"scale_granularity: {title}" in text for text in said) for title in TITLES)
    assert all(each.filename == __file__ for each in caught if each.category is UserWarning)
    noticed = result.notices if read is summary else result.attrs["notices"]
    assert {each["title"] for each in noticed if each["severity"] == "serious"} >= TITLES
    assert any("2 of 8 in killed.eval (status: started)" in each["where"] for each in noticed)
    if read is not summary:
        json.dumps(result.attrs)  # Parquet files hold them as JSON


def test_a_killed_run_is_told_in_the_terminal(killed: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(report, [str(killed), "-o", str(tmp_path / "page.html"), "--resamples", "20"])
    said = " ".join(done.stderr.split())
    assert done.exit_code == 0
    assert all(f"serious {title}" in said for title in TITLES)


def test_a_comparison_of_killed_runs_warns_in_python(killed: Path) -> None:
    other = killed.with_name("other.eval")
    changed = read_eval_log(str(killed))
    changed.eval.model = "mockllm/other"
    write_eval_log(changed, str(other))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = compare(killed, other, n_resamples=20)
    said = [each for each in caught if each.category is UserWarning]
    assert all(any(title in str(each.message) for each in said) for title in TITLES)
    assert all(each.filename == __file__ for each in said)
    assert {each["title"] for each in found.notices if each["severity"] == "serious"} >= TITLES


def test_sound_runs_raise_no_warning_and_tables_have_no_notices() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        found = metrics(EXAMPLES / "boolq.eval", measures=["accuracy"], n_resamples=20)
    assert {each["severity"] for each in found.attrs["notices"]} <= {"warning", "note"}
    assert summary([1, 0, 1], [0.9, 0.5, 0.8]).notices == []
    assert isinstance(found, pd.DataFrame)


def test_replies_with_control_tokens_of_unknown_meaning_are_told_and_counted(
    log: Path, tmp_path: Path
) -> None:
    changed = read_eval_log(str(log))
    for sample in (changed.samples or [])[:3]:
        (score,) = (sample.scores or {}).values()
        score.metadata = {**(score.metadata or {}), "rules": "control_token+extra_text"}
    write_eval_log(changed, str(tmp_path / "tokens.eval"))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        noticed = summary(tmp_path / "tokens.eval", n_resamples=20).notices
        without = summary(log, n_resamples=20).notices
    (told,) = (each for each in noticed if each["title"] == "Unknown control tokens")
    assert sum(map(int, re.findall(r"(\d+) of \d+ replies", str(told["where"])))) == 3
    assert "Unknown control tokens" not in {each["title"] for each in without}
