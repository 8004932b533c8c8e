"""``recalibrate``: maps of logs, and what they improve."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from tests.unit.report.runs import write

from confidence_tasks.cli import main
from confidence_tasks.statistics import brier, ece, log_loss
from confidence_tasks.statistics.calibration import Recalibration, cross_fitted_confidence, fit_recalibration

STATED = (0.5, 0.7, 0.9, 1.0)


def run(*arguments: object, exit_code: int = 0) -> str:
    done = CliRunner().invoke(main, ["recalibrate", *map(str, arguments), "--no-cache", "--resamples", "50"])
    assert done.exit_code == exit_code, done.output
    return done.output


def log(folder: Path, name: str = "m", n: int = 240, excess: float = 0.2, **changes: Any) -> Path:
    """Answers of a model whose confidence is too high by ``excess``."""
    rng = np.random.default_rng(n)
    trials = []
    for i in range(n):
        stated = STATED[i % 4]
        trials.append(
            {
                "study": "scales",
                "question_id": f"q{i}",
                "source": "mine",
                "condition": "0-100",
                "status": "ok",
            }
            | {"model": name, "correct": int(rng.random() < stated - excess), "confidence": stated}
            | changes
        )
    return write(folder / f"{name}.jsonl", trials)


def arrays(path: Path) -> tuple[list[int], list[float], list[str]]:
    trials = [json.loads(line) for line in path.read_text().splitlines()]
    return (
        [each["correct"] for each in trials],
        [each["confidence"] for each in trials],
        [each["question_id"] for each in trials],
    )


@pytest.mark.slow
@pytest.mark.parametrize("method", ["isotonic", "beta", "logistic", "histogram"])
def test_before_and_after_are_those_of_the_arrays(tmp_path: Path, method: str) -> None:
    path = log(tmp_path)
    (found,) = json.loads(run(path, "--method", method, "--json"))
    correct, stated, names = arrays(path)
    after = cross_fitted_confidence(correct, stated, method=method, clusters=names, folds=20)  # type: ignore[arg-type]
    for name, statistic in (
        ("ece", ece),
        ("brier", brier),
        ("log_loss", lambda y, c: log_loss(y, c, clip=0.005)),
    ):
        measure = found["measures"][name]
        assert measure["before"] == pytest.approx(statistic(correct, stated))
        assert measure["after"] == pytest.approx(statistic(correct, after))
        assert measure["difference"] == pytest.approx(measure["after"] - measure["before"])
        assert measure["low"] < measure["difference"] < measure["high"] < 0.05


def test_a_map_is_written_drawn_and_applied_to_another_log(tmp_path: Path) -> None:
    path, map_file, figure = log(tmp_path), tmp_path / "map.json", tmp_path / "map.svg"
    text = run(path, "-o", map_file, "--figure", figure)
    assert "after - before" in text.replace("−", "-")
    meaning = Recalibration.load(map_file)
    correct, stated, names = arrays(path)
    assert meaning == fit_recalibration(correct, stated, clusters=names, made_from="scales, m, 0-100")
    assert "probability of being right" in figure.read_text()
    other = log(tmp_path, "n", n=160)
    (found,) = json.loads(run(other, "--apply", map_file, "--json"))
    correct, stated, _ = arrays(other)
    assert found["measures"]["brier"]["after"] == pytest.approx(brier(correct, meaning(stated)))


def test_confidence_outside_of_the_map_is_left_out_and_counted(tmp_path: Path) -> None:
    map_file = tmp_path / "map.json"
    run(log(tmp_path), "-o", map_file)
    lines = [json.loads(line) for line in log(tmp_path, "n").read_text().splitlines()]
    for line in lines[:5]:
        line["confidence"] = 0.1
    other = write(tmp_path / "n.jsonl", lines)
    assert "5 answers outside the map left out" in run(other, "--apply", map_file)


def test_several_models_have_no_file_unless_one_is_chosen(tmp_path: Path) -> None:
    paths = [log(tmp_path), log(tmp_path, "n")]
    assert len(json.loads(run(*paths, "--json"))) == 2
    refused = " ".join(run(*paths, "-o", tmp_path / "map.json", exit_code=2).split())
    assert "there are 2" in refused
    assert "choose by --model and --condition" in refused
    run(*paths, "-o", tmp_path / "map.json", "--model", "n")
    assert Recalibration.load(tmp_path / "map.json").made_from == "scales, n, 0-100"


def test_mistakes_are_named(tmp_path: Path) -> None:
    few = log(tmp_path, "few", n=40)
    assert "too few for a map" in " ".join(run(few, exit_code=2).split())
    run(few, "--force")
    path, odd = log(tmp_path), tmp_path / "odd.json"
    odd.write_text("{}")
    assert "is no recalibration map" in " ".join(run(path, "--apply", odd, exit_code=2).split())
    assert "did you mean 'm'" in run(path, "--model", "mm", exit_code=2)
    assert "did you mean '0-100'" in run(path, "--condition", "0-10", exit_code=2)
    assert "no trials were found" in run(tmp_path / "none", exit_code=1)
    assert "is not one of" in run(path, "--method", "spline", exit_code=2)
