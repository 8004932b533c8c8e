"""Groups of lm-eval's tasks in the report: one row weighted as lm-eval does, and one a task."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from tests.unit.report.test_benchmark_samples import sample

from confidence_tasks.logs.collection import collect
from confidence_tasks.logs.task_trials import group_by_task
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.results import TaskResults, compute_results
from confidence_tasks.studies.benchmark.report import tasks_of_group

TIME = "2026-01-31T10-00-00.123456"
SIZES = {"physics": 12, "law": 36}


def group(folder: Path, *, weighted: bool) -> dict[str, list[dict]]:
    """Write a run of two tasks whose group has the mean of their questions, or of their tasks."""
    rng = np.random.default_rng(0)
    samples = {
        task: [
            sample(
                number,
                scores=rng.uniform(-3, 0, 2).tolist(),
                metrics={"acc": float(rng.random() < 0.6)},
                doc_hash=f"{task}-{number}".ljust(64, "0"),
            )
            for number in range(n)
        ]
        for task, n in SIZES.items()
    }
    accuracy = {task: float(np.mean([each["acc"] for each in written])) for task, written in samples.items()}
    mean = np.average(list(accuracy.values()), weights=list(SIZES.values()) if weighted else None)
    run = {
        "model_name": "made up",
        "config": {"model": "hf", "model_args": {"pretrained": "made up"}},
        "configs": {task: {} for task in SIZES},
        "group_subtasks": {"both": list(SIZES)},
        "results": {
            "both": {"acc,none": mean},
            **{task: {"acc,none": acc} for task, acc in accuracy.items()},
        },
        "n-samples": {task: {"effective": n} for task, n in SIZES.items()},
    }
    (folder / f"results_{TIME}.json").write_text(json.dumps(run))
    for task, written in samples.items():
        text = "".join(json.dumps(each) + "\n" for each in written)
        (folder / f"samples_{task}_{TIME}.jsonl").write_text(text)
    return samples


def results_in(folder: Path) -> TaskResults:
    (results,) = compute_results(group_by_task(collect(folder).files), Settings(99))
    return results


@pytest.mark.parametrize("weighted", [True, False])
def test_the_row_of_a_group_is_weighted_as_lm_eval_weights_it(tmp_path: Path, weighted: bool) -> None:
    samples = group(tmp_path, weighted=weighted)
    results = results_in(tmp_path)
    entry = results.estimate(results.models[0].label, "option_probability", "accuracy")
    accuracy = [np.mean([each["acc"] for each in written]) for written in samples.values()]
    expected = np.average(accuracy, weights=list(SIZES.values()) if weighted else None)
    assert entry.interval.estimate == pytest.approx(expected, abs=1e-12)


def test_each_task_of_a_group_that_pools_questions_has_a_row(tmp_path: Path) -> None:
    samples = group(tmp_path, weighted=True)
    frame = tasks_of_group(results_in(tmp_path)).frame
    frame = frame[frame["signal"] == "option_probability"].set_index("task")
    for task, written in samples.items():
        correct = [each["acc"] for each in written]
        scores = np.array([[float(reply[0]) for reply in each["filtered_resps"]] for each in written])
        probability = np.exp(scores.max(axis=1)) / np.exp(scores).sum(axis=1)
        row = frame.loc[task]
        assert row["questions"] == SIZES[task]
        assert row["Accuracy"] == pytest.approx(np.mean(correct), abs=1e-12)
        assert row["Overconfidence"] == pytest.approx(np.mean(probability) - np.mean(correct), abs=1e-12)
        assert row["AUROC"] == pytest.approx(roc_auc_score(correct, probability), abs=1e-12)


def test_tasks_that_are_sources_of_their_own_are_not_repeated(tmp_path: Path) -> None:
    group(tmp_path, weighted=False)
    assert tasks_of_group(results_in(tmp_path)).frame.empty
