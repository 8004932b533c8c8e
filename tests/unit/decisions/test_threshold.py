"""``threshold``: what it finds in logs, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.unit.report.runs import rows, write

from confidence_tasks.cli import main
from confidence_tasks.report import trials
from confidence_tasks.statistics import acceptance_threshold


def run(*arguments: object, exit_code: int = 0) -> str:
    done = CliRunner().invoke(main, ["threshold", *map(str, arguments), "--no-cache"])
    assert done.exit_code == exit_code, done.output
    return done.output


def own(folder: Path, n: int = 200, **changes: Any) -> Path:
    """A file of trials that are right if the confidence is .9, and in half of the cases if it is .5."""
    trial = {"study": "scales", "source": "mine", "condition": "0-100", "status": "ok", "model": "m"}
    return write(
        folder / "mine.jsonl",
        [
            trial
            | {"question_id": f"q{i}", "correct": int(i % 4 != 3), "confidence": 0.5 + 0.4 * (i % 2 == 0)}
            | changes
            for i in range(n)
        ],
    )


def test_the_threshold_of_a_file_is_that_of_its_arrays(tmp_path: Path) -> None:
    path = write(tmp_path / "scales.jsonl", rows("scales"))
    found = json.loads(run(path, "--accuracy", 0.5, "--json"))
    table = trials(path)
    for each in found:
        of_condition = table[(table["condition"] == each["condition"])].dropna(
            subset=["correct", "confidence"]
        )
        expected = acceptance_threshold(of_condition["correct"], of_condition["confidence"], accuracy=0.5)
        assert each["threshold"] == expected.threshold
        assert (each["n"], each["n_left_out"]) == (len(of_condition), 40 - len(of_condition))
    assert len(found) == table["condition"].nunique() > 1


def test_answers_that_are_always_right_are_accepted(tmp_path: Path) -> None:
    (found,) = json.loads(run(own(tmp_path), "--accuracy", 0.95, "--json"))
    assert (found["threshold"], found["share"], found["accuracy"]) == (0.9, 0.5, 1.0)
    text = run(own(tmp_path), "--accuracy", 0.95)
    assert "0.9" in text
    assert "right, with 95% certainty, in at least 0.95 of all questions" in " ".join(text.split())


def test_epochs_are_no_questions(tmp_path: Path) -> None:
    repeated = [
        dict(row, epoch=epoch)
        for row in map(json.loads, own(tmp_path, 40).read_text().splitlines())
        for epoch in (1, 2)
    ]
    (found,) = json.loads(run(write(tmp_path / "mine.jsonl", repeated), "--accept", 0.5, "--json"))
    assert (found["n"], found["n_accepted"]) == (40, 20)


def test_a_budget_of_review_gets_a_bound(tmp_path: Path) -> None:
    (found,) = json.loads(run(own(tmp_path), "--accept", 0.4, "--json"))
    assert (found["threshold"], found["share"], found["low"]) == (0.9, 0.5, pytest.approx(0.05 ** (1 / 100)))
    assert "95% bound" in run(own(tmp_path), "--accept", 0.4)


def test_no_threshold_and_too_few_questions_are_said_and_exit_with_1(tmp_path: Path) -> None:
    wrong = own(tmp_path, correct=0)
    assert "no threshold reaches this accuracy" in " ".join(
        run(wrong, "--accuracy", 0.9, exit_code=1).split()
    )
    few = " ".join(run(own(tmp_path, 30), "--accuracy", 0.95, exit_code=1).split())
    assert "too few trials" in few
    assert "needs at least 59 questions" in few


def test_trials_without_a_confidence_are_counted(tmp_path: Path) -> None:
    path = own(tmp_path)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines[:7]:
        line |= {"confidence": None, "status": "missing_confidence"}
    (found,) = json.loads(run(write(path, lines), "--accept", 0.5, "--json"))
    assert (found["n"], found["n_left_out"]) == (193, 7)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "name either --accuracy"),
        (("--accuracy", 0.9, "--accept", 0.8), "name either --accuracy"),
        (("--accuracy", 95), "not in the range"),
        (("--accept", 0), "not in the range"),
        (("--accuracy", 0.9, "--condition", "0-10"), "did you mean '0-100'"),
        (("--accuracy", 0.9, "--cluster", "pasage"), "did you mean 'passage'"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, options: tuple[object, ...], message: str) -> None:
    assert message in " ".join(run(own(tmp_path), *options, exit_code=2).split())


def test_a_probability_of_a_right_guess_is_not_judged(tmp_path: Path) -> None:
    path = write(tmp_path / "life.jsonl", rows("lifeeval"))
    assert "no answer is right or wrong" in " ".join(run(path, "--accuracy", 0.9, exit_code=2).split())
    both = [path, own(tmp_path)]
    assert [each["task"] for each in json.loads(run(*both, "--accept", 0.5, "--json"))] == ["scales"]


def test_nothing_to_read_exits_with_1(tmp_path: Path) -> None:
    assert "no trials were found" in run(tmp_path, "--accuracy", 0.9, exit_code=1)


def test_without_a_threshold_nothing_is_guaranteed_and_the_text_says_what_to_do(tmp_path: Path) -> None:
    text = " ".join(run(own(tmp_path, correct=0), "--accuracy", 0.9, exit_code=1).split())
    assert "no threshold reaches this accuracy" in text
    assert "with 95% certainty" not in text
    assert "ask more questions, or require less with --accuracy" in text
    few = " ".join(run(own(tmp_path, n=20), "--accuracy", 0.9, exit_code=1).split())
    assert "needs at least 29 questions" in few
    assert "certainty" not in few
