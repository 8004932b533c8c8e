"""Files of lm-eval's own tasks: names and shapes of its versions, and files without what the report needs."""

import json
from pathlib import Path

import pytest
from tests.unit.report.test_benchmark_samples import generated, sample

from confidence_tasks.logs.benchmark_samples import benchmark_samples
from confidence_tasks.logs.collection import collect
from confidence_tasks.logs.trial_files import NotTrialsError

TIME = "2026-01-31T10-00-00.000000"


def write(folder: Path, name: str, samples, run_file: str = f"results_{TIME}.json", **run) -> None:
    task = run.pop("task", "peru")
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(
        samples if isinstance(samples, str) else "".join(f"{json.dumps(s)}\n" for s in samples)
    )
    run = {
        "results": {task: {}},
        "configs": {task: {}},
        "config": {"model": "hf", "model_args": "pretrained=gpt2"},
        **run,
    }
    (folder / run_file).write_text(json.dumps(run))


def old(number, acc):
    """Return a sample as lm-eval 0.4.0 writes it."""
    shape = sample(number, metrics={"acc": acc}, filtered_resps=[[-0.1, False], [-2.5, False]])
    kept = ("doc_id", "doc", "target", "resps", "filtered_resps", "acc")
    return {**{key: shape[key] for key in kept}, "arguments": [["?", " Lima"], ["?", " Cusco"]]}


def test_lists_of_the_first_versions_are_found_beside_their_results(tmp_path: Path) -> None:
    names = {"arc_easy": {}, "easy": {}}
    text = json.dumps([old(i, float(i % 2)) for i in range(4)], indent=2)
    write(tmp_path, "pretrained=gpt2_arc_easy.jsonl", text, "results.json", configs=names, results=names)
    collection = collect(str(tmp_path))
    (file,) = collection.files
    assert collection.skipped == ()
    assert (file.design, file.model) == ("arc_easy", "hf(pretrained=gpt2)")
    assert set(file.columns["condition"]) == {"option_probability", "margin"}
    assert file.columns["correct"].mean() == 0.5


def test_results_of_the_first_versions_without_samples_are_told(tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text(json.dumps({"results": {}, "configs": {}}))
    (skipped,) = collect(str(tmp_path)).skipped
    assert "run lm_eval with --log_samples" in skipped.reason


def test_filters_without_a_name_are_told_apart_by_their_order() -> None:
    samples = [
        {**generated(i, "it is 4", "4", {"exact_match": float(of_filter)}), "filter": None}
        for of_filter in (0, 1)
        for i in range(3)
    ]
    for each in samples:
        del each["filter"]
    read = benchmark_samples([json.dumps(each).encode() for each in samples])
    assert read.rows["condition"] == ["no confidence, filter 1"] * 3 + ["no confidence, filter 2"] * 3
    assert read.rows["correct"] == [0.0] * 3 + [1.0] * 3
    assert len(set(read.rows["question_id"])) == 3


def test_perplexities_are_refused_without_a_bound_that_makes_no_sense() -> None:
    rolling = sample(metrics={"word_perplexity": [-12.3, 7]}, filtered_resps=["-12.3"], resps=[["-12.3"]])
    with pytest.raises(NotTrialsError, match=r"no answer is right or wrong$"):
        benchmark_samples([json.dumps(rolling).encode()])


def test_a_file_of_several_metrics_is_told_with_the_choices(tmp_path: Path) -> None:
    write(tmp_path, f"samples_peru_{TIME}.jsonl", [generated(0, "4", "4", {"em": 1.0, "f1": 1.0})])
    collection = collect(str(tmp_path))
    assert collection.files == ()
    (skipped,) = collection.skipped
    assert "--correct em or f1" in skipped.reason
