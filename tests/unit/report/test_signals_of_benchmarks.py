"""The page of a benchmark says what each signal is and how many calls it cost."""

from pathlib import Path
from typing import Any

import pytest
from tests.unit.report.test_benchmark_samples import lines, sample

from confidence_tasks.harness.correctness import Correctness
from confidence_tasks.logs.collection import collect
from confidence_tasks.logs.task_trials import group_by_task
from confidence_tasks.report.results import results_without_numbers
from confidence_tasks.studies.benchmark.report import price_of_signals


def write_samples(folder: Path, **changes: object) -> Path:
    samples = lines(*(sample(number, **changes) for number in range(4)))
    (folder / "samples_mine_2026-01-01T00-00-00.000001.jsonl").write_bytes(b"".join(samples))
    return folder


def prices(tmp_path: Path, signals: tuple[str, ...] = (), **changes: object) -> dict[str, int]:
    files = collect(write_samples(tmp_path, **changes), correct=Correctness(signals=signals)).files
    (results,) = results_without_numbers(group_by_task(files))
    table = price_of_signals(results).frame
    return dict(zip(table["signal"], table["calls"], strict=True))


def test_signals_of_the_log_cost_no_call(tmp_path: Path) -> None:
    assert prices(tmp_path) == {"option_probability": 0, "margin": 0}
    assert prices(tmp_path, ("option_negentropy",)) == {
        "option_probability": 0,
        "option_negentropy": 0,
        "margin": 0,
    }


def test_a_confidence_that_was_asked_for_costs_a_call(tmp_path: Path) -> None:
    asked = {"0-100": {"confidence": 0.8}, "p_true": {"confidence": 0.9}}
    generated = {"arguments": {}, "resps": [["Lima"]], "filtered_resps": ["Lima"], "confidence_asked": asked}
    assert prices(tmp_path, **generated) == {"0-100": 1, "p_true": 1}


@pytest.mark.parametrize(
    ("problem", "status"),
    [
        ("the reply was cut off at the token limit", "truncated"),
        ("the reply was stopped by the provider's content filter", "filtered"),
        ("the reply was without a visible reply after the reasoning", "reasoning_only"),
        ("the answer was cut off at the token limit", "truncated"),
        ("the task's own reply was lost", "missing_confidence"),
        (["no", "text"], "missing_confidence"),
    ],
)
def test_the_status_of_a_missing_confidence_says_why_it_is_missing(
    tmp_path: Path, problem: Any, status: str
) -> None:
    asked = {"0-100": {"confidence": None, "reply": "", "problem": problem}}
    generated = {"arguments": {}, "resps": [["Lima"]], "filtered_resps": ["Lima"], "confidence_asked": asked}
    (file,) = collect(write_samples(tmp_path, **generated)).files
    assert set(file.columns["status"]) == {status}
