"""The page of a benchmark says what each signal is and how many calls it cost."""

from pathlib import Path

from tests.unit.report.test_benchmark_samples import lines, sample

from confidence_tasks.harness.correctness import Correctness
from confidence_tasks.logs.collection import collect
from confidence_tasks.logs.task_trials import group_by_task
from confidence_tasks.report.results import results_without_numbers
from confidence_tasks.studies.benchmark.report import price_of_signals


def prices(tmp_path: Path, signals: tuple[str, ...] = (), **changes: object) -> dict[str, int]:
    samples = lines(*(sample(number, **changes) for number in range(4)))
    (tmp_path / "samples_mine_2026-01-01T00-00-00.000001.jsonl").write_bytes(b"".join(samples))
    files = collect(tmp_path, correct=Correctness(signals=signals)).files
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
