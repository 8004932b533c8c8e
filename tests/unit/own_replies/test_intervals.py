"""Intervals in plain columns: found, scored, and written as trials that every command reads."""

import json
import random

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from confidence_tasks import metrics, summary
from confidence_tasks.cli import main
from confidence_tasks.own_replies.intervals import interval_columns
from confidence_tasks.sources import SourceError

ROWS = [{"low": i, "high": i + 2, "truth": i + 3 * (i % 2), "level": 0.9} for i in range(20)]


def written(tmp_path, rows, name="mine.csv", sep=","):
    pd.DataFrame(rows).to_csv(tmp_path / name, index=False, sep=sep)
    return tmp_path / name


def run(*arguments):
    return CliRunner().invoke(main, ["score", *map(str, arguments)])


def values(result):
    assert result.exit_code == 0, result.output
    return {row["measure"]: row["value"] for row in json.loads(result.output)["metrics"]}


@pytest.mark.parametrize("kind", [(), ("--kind", "interval")])
def test_coverage_width_and_winkler_score_with_and_without_a_kind(tmp_path, kind) -> None:
    found = values(run(written(tmp_path, ROWS), *kind, "--json", "--log-dir", tmp_path / "logs"))
    assert found["coverage"] == 0.5
    assert found["winkler"] == pytest.approx(2 + 0.5 * 20 * 1)


@pytest.mark.parametrize(
    ("names", "more"),
    [
        (("lower", "upper", "truth", "level"), ()),
        (("Lower bound", "Upper bound", "gold", "confidence"), ()),
        (("ci_low", "ci_high", "true_value", "note"), ("--field", "level=0.9")),
    ],
)
def test_usual_names_of_the_columns_and_a_level_for_all_rows(tmp_path, names, more) -> None:
    renamed = pd.DataFrame(ROWS).set_axis(names, axis=1)
    if more:
        renamed = renamed.drop(columns="note")
    found = values(run(written(tmp_path, renamed), *more, "--json", "--log-dir", tmp_path / "logs"))
    assert found["coverage"] == 0.5
    assert found["coverage_gap"] == pytest.approx(-0.4)


def test_a_spreadsheet_with_decimal_commas_and_percent_signs(tmp_path) -> None:
    rows = [
        {"low": f"{i},25", "high": f"{i + 1},5", "truth": f"{i + i % 2},4", "level": "90%"} for i in range(10)
    ]
    path = tmp_path / "mine.csv"
    text = pd.DataFrame(rows).to_csv(index=False, sep=";", lineterminator="\r\n")
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    found = values(run(path, "--json", "--log-dir", tmp_path / "logs"))
    assert (found["coverage"], found["width"]) == (1.0, 1.25)


def test_reports_read_the_trials_and_agree_with_score_and_with_the_rows(tmp_path) -> None:
    rng = random.Random(1)
    rows = []
    for i in range(60):
        truth = rng.gauss(0, 10)
        for model, half in (("a", 4.0), ("b", 9.0)):
            for level in (0.5, 0.9):
                centre = truth + rng.gauss(0, 4)
                ends = {"low": centre - half * level, "high": centre + half * level}
                rows.append({"id": f"q{i}", "model": model, "truth": truth, "level": level, **ends})
    path = written(tmp_path, rows)
    result = run(path, "--log-dir", tmp_path / "logs", "--task", "heights", "--json")
    scored = pd.DataFrame(json.loads(result.output)["metrics"])
    table = metrics(tmp_path / "logs" / "mine_trials.jsonl")

    assert set(table["study"]) == {"intervals"}
    assert set(table["task"]) == {"heights"}
    assert table["condition"].unique().tolist() == ["p=0.5", "p=0.9"]
    reported = table.assign(level=table["condition"].str.removeprefix("p="))
    both = scored.merge(reported, on=["model", "level", "measure"], suffixes=("", " reported"))
    assert len(both) == len(scored) == 24
    for name in ("value", "low", "high"):
        assert both[name].tolist() == pytest.approx(both[f"{name} reported"].tolist(), nan_ok=True)

    frame = pd.DataFrame(rows)
    for (model, level), part in frame.groupby(["model", "level"]):
        of_part = both[(both["model"] == model) & (both["level"] == f"{level:g}")].set_index("measure")[
            "value"
        ]
        inside = ((part["low"] <= part["truth"]) & (part["truth"] <= part["high"])).mean()
        assert of_part["coverage"] == pytest.approx(inside)
        assert of_part["coverage_gap"] == pytest.approx(inside - level)
        outside = np.maximum(part["low"] - part["truth"], part["truth"] - part["high"])
        shifts = [jackknife_shift(np.delete(outside.to_numpy(), i), level) for i in range(len(part))]
        width = np.maximum((part["high"] - part["low"]).to_numpy() + 2 * np.array(shifts), 0.0)
        assert of_part["conformal_width"] == pytest.approx(width.mean())


def jackknife_shift(others, level):
    """Return the score of the others whose rank reaches the level: an order statistic, by sorting."""
    return np.sort(others)[int(np.ceil(level * (len(others) + 1))) - 1]


def test_intervals_beside_verdicts_are_scored_as_asked(tmp_path) -> None:
    rows = [{**row, "confidence": 0.7, "correct": i % 2} for i, row in enumerate(ROWS)]
    settings = ("--json", "--log-dir", tmp_path / "logs")
    assert values(run(written(tmp_path, rows), *settings))["accuracy"] == 0.5
    assert values(run(written(tmp_path, rows), *settings, "--kind", "interval"))["coverage"] == 0.5
    assert "--kind interval" in run(written(tmp_path, rows), "--log-dir", tmp_path / "logs").output


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"low": 1}], "truth is not a column"),
        ([{"low": 1, "high": 2, "truth": 1}], "give it with --field level=0.9"),
        ([{"low": 3, "high": 2, "truth": 1, "level": 0.9}], "low is above high"),
        ([{"low": 1, "high": 2, "truth": 1, "level": 90}], "90% is 0.9"),
        ([{"low": 1, "high": "many", "truth": 1, "level": 0.9}], "not a number"),
        ([{"low": "1,234", "high": 2, "truth": 1, "level": 0.9}], "not a number"),
        ([{"low": 1, "high": np.inf, "truth": 1, "level": 0.9}], "infinite"),
    ],
)
def test_what_is_no_interval_is_refused_with_the_fix(tmp_path, rows, message) -> None:
    result = run(written(tmp_path, rows), "--kind", "interval", "--log-dir", tmp_path / "logs")
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())
    assert not (tmp_path / "logs").exists()


def test_two_columns_of_one_name_are_refused() -> None:
    with pytest.raises(SourceError, match="Low and low could be the column of low: rename or delete one"):
        interval_columns(["Low", "low", "high"])


def test_names_of_columns_of_a_table_in_python() -> None:
    table = pd.DataFrame(ROWS).rename(columns={"low": "lower", "high": "upper"})
    frame = summary(table, kind="interval", measures=["coverage"], n_resamples=50).to_frame()
    assert frame["value"].tolist() == [0.5]
