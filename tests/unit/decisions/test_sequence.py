"""``sequence``: after how many questions a finished run would have stopped, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from tests.unit.report.runs import write

from confidence_tasks.catalogue import studies
from confidence_tasks.cli import main
from confidence_tasks.sources.source import seeded_key
from confidence_tasks.statistics import gate_test
from confidence_tasks.study.columns import where
from confidence_tasks.study.computations import restrict_to
from confidence_tasks.study.gates import LEFT_OUT, LOST, Gate, GateProgress, value_bounds

Trial = Mapping[str, Any]


def run(*arguments: object, exit_code: int = 0) -> str:
    done = CliRunner().invoke(main, ["sequence", *map(str, arguments), "--no-cache"])
    assert done.exit_code == exit_code, done.output
    return " ".join(done.output.split())


def found(*arguments: object, exit_code: int = 0) -> list[dict[str, Any]]:
    return json.loads(run(*arguments, "--json", exit_code=exit_code))


def trials(n: int = 200, **changes: Any) -> list[dict[str, Any]]:
    """Trials with a confidence of .9 that are right in three of four cases."""
    return [
        {
            "study": "scales",
            "source": "mine",
            "condition": "0-100",
            "status": "ok",
            "model": "m",
            "question_id": f"q{i}",
            "correct": int(i % 4 != 3),
            "confidence": 0.9,
        }
        | changes
        for i in range(n)
    ]


def in_order(rows: Sequence[Trial], seed: int = 0) -> list[Trial]:
    return sorted(rows, key=lambda row: seeded_key(seed, row["condition"], row["source"], row["question_id"]))


def test_a_file_is_tested_as_its_values_in_a_random_order(tmp_path: Path) -> None:
    rows = trials()
    (each,) = found(write(tmp_path / "a.jsonl", rows), "--require", "overconfidence<0.5", "--seed", 3)
    values = [row["confidence"] - row["correct"] for row in in_order(rows, 3)]
    expected = gate_test(values, 0.5, bounds=(-1, 1))
    assert (each["outcome"], each["n_decided"]) == ("met", expected.n_decided)
    assert expected.decision == "below"
    assert not each["is_planned"]
    assert each["low"][-1] < 0.15 < each["high"][-1] < 0.5


@pytest.mark.parametrize(
    ("gate", "outcome"),
    [
        ("accuracy>0.5", "met"),
        ("accuracy<0.5", "not met"),
        ("accuracy>0.95", "not met"),
        ("accuracy>0.75", "open"),
        ("brier/0-100<0.5", "met"),
        ("parse_rate>0.5", "met"),
    ],
)
def test_a_gate_is_met_not_met_or_open(tmp_path: Path, gate: str, outcome: str) -> None:
    path = write(tmp_path / "a.jsonl", trials())
    assert [each["outcome"] for each in found(path, "--require", gate, exit_code=int(outcome != "met"))] == [
        outcome
    ]


def test_conditions_share_alpha_and_are_decided_one_by_one(tmp_path: Path) -> None:
    rows = trials() + trials(condition="0-20", correct=1)
    path = write(tmp_path / "a.jsonl", rows)
    both = found(path, "--require", "accuracy>0.5")
    assert {each["level"] for each in both} == {0.975}
    assert both[0]["n_decided"] < both[1]["n_decided"]  # 0-20 is always right
    (one,) = found(path, "--require", "accuracy/0-100>0.5")
    assert one["level"] == 0.95
    assert one["n_decided"] <= both[1]["n_decided"]


def test_epochs_and_clusters_are_no_questions(tmp_path: Path) -> None:
    epochs = [row | {"epoch": epoch, "correct": epoch % 2} for row in trials(40) for epoch in (1, 2)]
    (each,) = found(write(tmp_path / "e.jsonl", epochs), "--require", "accuracy>0.9", exit_code=1)
    assert (each["n"], each["estimate"][-1]) == (40, 0.5)
    clusters = [row | {"cluster": f"c{i // 4}"} for i, row in enumerate(trials(40))]
    (each,) = found(write(tmp_path / "c.jsonl", clusters), "--require", "accuracy>0.9", exit_code=1)
    assert (each["n"], len(each["low"])) == (40, 10)


def test_replies_without_a_value_are_left_out(tmp_path: Path) -> None:
    rows = trials() + [row | {"question_id": f"x{row['question_id']}", "correct": None} for row in trials(50)]
    (each,) = found(write(tmp_path / "a.jsonl", rows), "--require", "overconfidence<0.9")
    assert (each["n"], len(each["low"]), each["n_lost"]) == (250, 200, 0)


def test_an_earlier_file_is_compared_question_by_question(tmp_path: Path) -> None:
    earlier = write(tmp_path / "old.jsonl", trials(confidence=1.0))
    later = write(tmp_path / "new.jsonl", trials(confidence=0.7))
    (each,) = found(later, "--require", f"brier<{earlier}")
    better = np.mean([(0.7 - row["correct"]) ** 2 - (1.0 - row["correct"]) ** 2 for row in trials()])
    assert each["outcome"] == "met"
    assert each["estimate"][-1] == pytest.approx(better)
    (each,) = found(later, "--require", f"brier>{earlier}", exit_code=1)
    assert each["outcome"] == "not met"


def test_an_earlier_file_of_other_questions_is_refused(tmp_path: Path) -> None:
    later = write(tmp_path / "new.jsonl", trials())
    other = write(
        tmp_path / "old.jsonl", [row | {"question_id": f"z{row['question_id']}"} for row in trials()]
    )
    assert "other questions" in run(later, "--require", f"brier<{other}", exit_code=2)
    texts = [row | {"question_digest": f"digest {i}"} for i, row in enumerate(trials())]
    later = write(tmp_path / "now.jsonl", texts)
    other = write(tmp_path / "other.jsonl", [row | {"question_digest": "other"} for row in texts])
    assert "another question under the id q0" in run(later, "--require", f"brier<{other}", exit_code=2)
    two = write(tmp_path / "two.jsonl", trials() + trials(model="n"))
    assert "must hold the trials of one model" in run(later, "--require", f"brier<{two}", exit_code=2)


@pytest.mark.parametrize(
    ("gate", "message"),
    [
        ("ece<0.1", "ece is no mean over questions of values with known bounds"),
        ("ece<0.1", "use one of overconfidence, brier, accuracy"),
        ("mratio>0.5", "is no mean over questions"),
        ("acuracy>0.5", "did you mean 'accuracy'?"),
        ("accuracy>1", "bound must lie between the bounds 0 and 1"),
        ("overconfidence<2", "bound must lie between the bounds -1 and 1"),
        ("accuracy/0-10>0.5", "'0-10' is not asked"),
        ("accuracy", "is not a requirement such as"),
        ("brier<old.evil", "neither a number nor a file"),
    ],
)
def test_what_is_no_gate_is_refused_with_a_word_on_what_is(tmp_path: Path, gate: str, message: str) -> None:
    path = write(tmp_path / "a.jsonl", trials(20))
    assert message in run(path, "--require", gate, exit_code=2).replace("│ │ ", "")


def test_an_alpha_of_zero_is_refused(tmp_path: Path) -> None:
    run(write(tmp_path / "a.jsonl", trials(20)), "--require", "accuracy>0.5", "--alpha", 0, exit_code=2)


def test_the_table_and_the_figure(tmp_path: Path) -> None:
    path, figure = write(tmp_path / "a.jsonl", trials()), tmp_path / "s.svg"
    text = run(path, "--require", "accuracy>0.5", "--plot", figure)
    assert "decided after" in text
    assert "in a random order" in text
    assert "<svg" in figure.read_text()


# The gate itself ------------------------------------------------------------------------------------------------------


def progress(n: int = 100, bound: float = 0.5) -> GateProgress:
    return GateProgress(
        [(f"s{i}", f"s{i}") for i in range(n)], Gate("accuracy", "", False, bound).test(SCALES, "0-100", 0.05)
    )


SCALES = next(study for study in studies() if study.name == "scales")


def test_evidence_is_taken_in_the_planned_order_whatever_comes_first() -> None:
    values = {f"s{i}": float(i % 5 != 0) for i in range(100)}
    outcomes = set()
    for seed in range(20):
        game = progress()
        for name in np.random.default_rng(seed).permutation(list(values)):
            game.add(str(name), values[str(name)])
        outcomes.add((game.test.decision, game.n_decided, tuple(game.evidence)))
    assert len(outcomes) == 1
    assert next(iter(outcomes))[0] == "above"


def test_evidence_waits_for_the_questions_before_it() -> None:
    game = progress()
    for i in range(1, 100):
        game.add(f"s{i}", 1.0)
    assert (game.n_asked, game.evidence, game.n_decided) == (0, [], 0)
    game.add("s0", LOST)
    assert (game.n_asked, game.test.decision) == (100, "above")
    assert 0 < game.n_decided < 100


def test_a_sample_counts_once_and_its_first_value_stays() -> None:
    game = progress()
    for value in (LOST, 1.0, LEFT_OUT):
        game.add("s0", value)
    assert game.n_asked == 1
    assert np.isnan(game.evidence).all()


def test_every_measure_that_may_be_a_gate_is_a_mean_of_values_within_its_bounds() -> None:
    refused = {
        "ece",
        "auroc",
        "mratio",
        "meta_d",
        "accuracy_50",
        "brier_recalibrated",
        "conformal_coverage",
        "winkler",
    }
    allowed = {"accuracy", "overconfidence", "brier", "coverage", "utility", "parse_rate"}
    seen = set()
    for study in studies():
        for measure in study.measures:
            condition = (*next(iter(study.designs.values()), study).conditions, *study.conditions, "")[0]
            if value_bounds(measure, study, condition):
                assert measure.name not in refused, study.name
                seen.add(measure.name)
    assert allowed <= seen


def test_a_restricted_measure_of_the_surest_answers_is_no_gate() -> None:
    riskeval = next(study for study in studies() if study.name == "riskeval")
    surest = next(
        measure for study in studies() for measure in study.measures if measure.name == "accuracy_50"
    )
    of_answers = replace(surest, compute=restrict_to(where("answered", 1.0), surest.compute))
    assert value_bounds(of_answers, riskeval, "lambda=10") is None
    assert value_bounds(riskeval.measures_by_name["brier"], riskeval, "lambda=10") == (0.0, 1.0)


def test_a_utility_is_bounded_by_its_penalty() -> None:
    riskeval = next(study for study in studies() if study.name == "riskeval")
    measure = riskeval.measures_by_name["utility"]
    assert value_bounds(measure, riskeval, "lambda=10") == (-10.0, 1.0)
    assert value_bounds(riskeval.measures_by_name["normalized_utility"], riskeval, "lambda=1") == (-0.5, 0.5)
