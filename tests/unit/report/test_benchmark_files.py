"""Files of lm-eval's own tasks: names and shapes of its versions, and files without what the report needs."""

import json
import math
from pathlib import Path

import pytest
from tests.unit.report.runs import undrawn_report
from tests.unit.report.test_benchmark_samples import generated, sample

from confidence_tasks.logs.benchmark_samples import benchmark_samples
from confidence_tasks.logs.collection import collect
from confidence_tasks.logs.trial_files import NotTrialsError
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.requirements import Requirement, verdicts

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


VERSIONS = ("0.4.0", "0.4.2", "0.4.3", "0.4.4", "0.4.5", "0.4.7", "0.4.9", "0.4.13")


def texts(value):
    """Return a value with all inner numbers and bools as texts, as lm-eval writes replies since 0.4.3."""
    return [texts(each) for each in value] if isinstance(value, list) else str(value)


def written_by(version, number, replies, arguments, filter_name="none", **metrics):
    """Return a sample in the layout of a version, after its code that writes samples.

    Up to 0.4.2 nothing is changed. 0.4.3 makes texts of replies, names the arguments and adds digests; 0.4.4 makes a
    text of the target; 0.4.7 adds the filter and the names of the metrics.
    """
    minor = int(version.rpartition(".")[2])
    resps, filtered = replies
    line = {"doc_id": number, "doc": {"question": f"{number}?"}, "target": 0, "arguments": arguments}
    line |= {"resps": resps, "filtered_resps": filtered, **metrics}
    if minor >= 3:
        line |= {"resps": texts(resps), "filtered_resps": texts(filtered), "doc_hash": f"{number:064d}"}
        line |= {"prompt_hash": f"{number:064d}", "target_hash": "c" * 64}
        line["arguments"] = {
            f"gen_args_{i}": {f"arg_{j}": part for j, part in enumerate(parts)}
            for i, parts in enumerate(arguments)
        }
    if minor >= 4:
        line["target"] = "0"
    return line | ({"filter": filter_name, "metrics": list(metrics)} if minor >= 7 else {})


def files_of(version, folder: Path, samples) -> None:
    """Write samples and the results of a run as a version does."""
    if int(version.rpartition(".")[2]) < 3:
        write(folder, "pretrained=gpt2_peru.jsonl", json.dumps(samples, indent=2), "results.json")
    else:
        write(folder, f"samples_peru_{TIME}.jsonl", samples, model_name="gpt2")


@pytest.mark.parametrize("version", VERSIONS)
def test_a_question_with_options_is_the_same_trial_in_the_layout_of_each_version(
    version: str, tmp_path: Path
) -> None:
    scores = [(-0.5, -2.5), (-3.0, -1.0), (-0.75, -0.8)]
    samples = [
        written_by(
            version,
            number,
            ([[[a, False]], [[b, False]]], [[a, False], [b, False]]),
            [[f"{number}?", " Lima"], [f"{number}?", " Cusco"]],
            acc=float(a > b),
            acc_norm=float(a / 4 > b / 5),
        )
        for number, (a, b) in enumerate(scores)
    ]
    files_of(version, tmp_path, samples)
    collection = collect(str(tmp_path))
    (file,) = collection.files
    assert collection.skipped == ()
    of_signal = file.columns["condition"] == "option_probability"
    assert file.columns["confidence"][of_signal] == pytest.approx(
        [1 / (1 + math.exp(min(pair) - max(pair))) for pair in scores]
    )
    assert file.columns["correct"][of_signal].tolist() == [1.0, 0.0, 1.0]
    normalised = file.columns["condition"] == "option_probability_norm"
    assert file.columns["correct"][normalised].tolist() == [1.0, 0.0, 0.0]
    assert set(file.columns["answer"][of_signal]) == {"Lima", "Cusco"}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_generated_reply_with_two_filters_is_read_in_the_layout_of_each_version(
    version: str, tmp_path: Path
) -> None:
    samples = [
        written_by(
            version,
            number,
            ([[f"It is {number}.\nConfidence: {90 - number}%"]], [found]),
            [["?", {"until": ["\n\n"]}]],
            name,
            exact_match=right,
        )
        for name, found, right in (("strict-match", "[invalid]", 0.0), ("flexible-extract", "4", 1.0))
        for number in range(3)
    ]
    files_of(version, tmp_path, samples)
    (file,) = collect(str(tmp_path)).files
    rows = list(zip(file.columns["condition"].tolist(), file.columns["correct"].tolist(), strict=True))
    named = int(version.rpartition(".")[2]) >= 7
    filters = ("strict-match", "flexible-extract") if named else ("filter 1", "filter 2")
    assert rows == [
        (f"stated, {name}", right) for name, right in zip(filters, (0.0, 1.0), strict=True) for _ in range(3)
    ]
    assert file.columns["confidence"] == pytest.approx([0.9, 0.89, 0.88] * 2)


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


def test_replies_that_were_asked_for_no_confidence_are_not_called_unreadable(tmp_path: Path) -> None:
    samples = [generated(i, "It is 4.", "4", {"exact_match": float(i % 2)}) for i in range(80)]
    write(tmp_path, f"samples_peru_{TIME}.jsonl", samples)
    report = undrawn_report(collect(str(tmp_path)), settings=Settings(n_resamples=50))
    titles = {notice.title for task in report.tasks for notice in task.notices}
    assert "Replies that state no confidence" in titles
    assert "Replies without a readable answer or confidence" not in titles


@pytest.mark.parametrize(
    ("task", "name"),
    [("boolq", "boolq (benchmark)"), ("sciq_easy", "sciq_easy"), ("signals", "signals (benchmark)")],
)
def test_a_task_of_others_with_the_name_of_a_study_s_is_read_and_fills_no_table_of_a_paper(
    task: str, name: str, tmp_path: Path
) -> None:
    samples = [sample(i, metrics={"acc": float(i % 2)}, doc={"id": i, "label": 1}) for i in range(8)]
    write(tmp_path, f"samples_{task}_{TIME}.jsonl", samples, task=task)
    (file,) = collect(str(tmp_path)).files
    assert (file.study, file.design, len(file)) == ("benchmark", name, 16)
    report = undrawn_report(collect(str(tmp_path)), settings=Settings(n_resamples=50))
    assert report.papers == ()


@pytest.mark.parametrize(
    ("text", "outcomes"),
    [
        ("ece<0.99", {"option_probability": "met"}),
        ("ece/margin<0.99", {"margin": "undecided"}),
        ("accuracy>0.2", {"option_probability": "met", "margin": "met"}),
    ],
)
def test_a_calibration_is_required_of_signals_that_are_probabilities(text, outcomes, tmp_path: Path) -> None:
    samples = [
        sample(i, metrics={"acc": float(i % 2)}, filtered_resps=[["-0.5", "False"], [f"{-1 - i}", "False"]])
        for i in range(40)
    ]
    write(tmp_path, f"samples_peru_{TIME}.jsonl", samples)
    report = undrawn_report(collect(str(tmp_path)), settings=Settings(n_resamples=50))
    found = verdicts([Requirement.parse(text)], report.results)
    assert {each["where"].rpartition(", ")[2]: each["outcome"] for each in found} == outcomes


def test_a_study_s_samples_without_a_trial_are_no_task_of_others(tmp_path: Path) -> None:
    doc = {"id": "qb-b1/qb", "condition": "qb"}
    without = [generated(i, "yes", "yes", {"accuracy": 1.0}) | {"doc": doc} for i in range(3)]
    write(tmp_path, f"samples_boolq_confidence_{TIME}.jsonl", without, task="boolq_confidence")
    (skipped,) = collect(str(tmp_path)).skipped
    assert "no line of task boolq_confidence holds a trial of a study" in skipped.reason


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


def test_a_file_of_which_no_line_can_be_read_says_so(tmp_path: Path) -> None:
    (tmp_path / "broken.jsonl").write_text('{"doc_id": 0, "doc"\n')
    without = [{key: value for key, value in sample(i).items() if key != "filtered_resps"} for i in range(3)]
    write(tmp_path, f"samples_peru_{TIME}.jsonl", without)
    reasons = " ".join(skipped.reason for skipped in collect(str(tmp_path)).skipped)
    assert "it holds no rows: its 1 lines cannot be read" in reasons
    assert "no line is a sample of lm-eval, with doc and filtered_resps" in reasons
