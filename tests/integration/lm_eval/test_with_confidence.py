"""Generative tasks of lm-eval with a question about the confidence in each reply."""

import json
import re
from pathlib import Path

import pytest
from lm_eval.evaluator import simple_evaluate
from lm_eval.tasks import TaskManager
from sklearn.metrics import roc_auc_score
from tests.integration.faults.loopback import Server
from tests.integration.lm_eval.harnesses import Scripted, stubs
from tests.integration.lm_eval.servers import chat

from confidence_tasks.harness.correctness import ASKED
from confidence_tasks.harness.lm_eval.generated import Generated
from confidence_tasks.harness.lm_eval.metadata import warn_once
from confidence_tasks.harness.lm_eval.simulated import SimulatedLM
from confidence_tasks.harness.refusals import StopError
from confidence_tasks.logs.collection import collect

pytestmark = pytest.mark.slow

SUMS = """
task: {name}
dataset_path: json
dataset_kwargs: {{data_files: {{test: {folder}/sums.jsonl, train: {folder}/sums.jsonl}}}}
output_type: generate_until
test_split: test
fewshot_split: train
doc_to_text: "Question: {{{{question}}}}\\nAnswer:"
doc_to_target: "{{{{answer}}}}"
num_fewshot: 0
repeats: {repeats}
generation_kwargs: {{until: ["Question:"], do_sample: false, max_gen_toks: 40}}
metric_list: [{{metric: exact_match, aggregation: mean, higher_is_better: true, regexes_to_ignore: ["(?s).*#### "]}}]
filter_list:
- name: strict
  filter: [{{function: regex, regex_pattern: "#### (\\\\d+)"}}, {{function: take_first}}]
- name: flexible
  filter: [{{function: regex, regex_pattern: "(\\\\d+)", group_select: -1}}, {{function: take_first}}]
"""

CHOICES = """
task: choices
dataset_path: json
dataset_kwargs: {{data_files: {{test: {folder}/sums.jsonl}}}}
output_type: multiple_choice
test_split: test
doc_to_text: "{{{{question}}}}"
doc_to_choice: ["1", "2"]
doc_to_target: 0
metric_list: [{{metric: acc, aggregation: mean, higher_is_better: true}}]
"""

GROUP = """
group: maths
task: [sums, more_sums]
aggregate_metric_list: [{metric: exact_match, filter_list: [strict, flexible], weight_by_size: true}]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    docs = [{"question": f"{i} + {i} =", "answer": f"{i} + {i} = {2 * i}\n#### {2 * i}"} for i in range(40)]
    (tmp_path / "sums.jsonl").write_text("".join(f"{json.dumps(doc)}\n" for doc in docs))
    for name in ("sums", "more_sums"):
        text = SUMS.format(name=name, folder=tmp_path, repeats=1)
        (tmp_path / f"{name}.yaml").write_text(text)
    (tmp_path / "votes.yaml").write_text(SUMS.format(name="votes", folder=tmp_path, repeats=3))
    (tmp_path / "choices.yaml").write_text(CHOICES.format(folder=tmp_path))
    (tmp_path / "maths.yaml").write_text(GROUP)
    return tmp_path


def reply(prompt: str) -> str:
    """Answer even sums rightly, in the format or without it; state a confidence that is higher for even sums."""
    last = prompt.rpartition("Question: ")[2] if "Question: " in prompt else prompt
    number = int("".join(filter(str.isdigit, last.partition(" ")[0])) or 0)
    if "How confident" in prompt:
        return str(90 - number) if number % 2 == 0 else "I cannot say"
    if "True or False" in prompt:
        return "True"
    answer = 2 * number + number % 2
    return f"#### {answer}" if number % 4 else f"It is {answer}"


def evaluate(folder: Path, model=None, task="with_confidence", metadata=None, **options):
    manager = TaskManager(include_path=[str(folder), str(stubs())], include_defaults=False, metadata=metadata)
    model = model or Scripted(reply)
    return simple_evaluate(
        model, tasks=[task], task_manager=manager, bootstrap_iters=0, **{"limit": 12, **options}
    )


def asked(folder: Path, **metadata):
    return {"metadata": {"task": "sums", **metadata}}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"num_fewshot": 2},
        {"apply_chat_template": True},
        {"apply_chat_template": True, "num_fewshot": 2, "fewshot_as_multiturn": True},
        {"limit": None, "samples": {"sums": [3, 5, 8], "sums_confidence": [3, 5, 8]}},
    ],
    ids=["plain", "few-shot", "chat", "turns", "samples"],
)
def test_results_and_samples_of_the_task_are_those_of_a_plain_run(folder: Path, options) -> None:
    plain_model, model = Scripted(reply), Scripted(reply)
    metadata = {"task": "sums"}
    plain = evaluate(folder, plain_model, "sums", metadata, **options)
    run = evaluate(folder, model, "with_confidence", metadata, **options)
    own = run["results"]["sums_confidence"]
    expected = plain["results"]["sums"]
    assert {key: own[key] for key in expected if key not in ("alias", "name")} == {
        key: value for key, value in expected.items() if key not in ("alias", "name")
    }
    for one, other in zip(plain["samples"]["sums"], run["samples"]["sums_confidence"], strict=True):
        assert set(other) - set(one) == {ASKED}
        assert {**one, "metrics": [*one["metrics"], ASKED]} == {key: other[key] for key in one}
    ignored = {"task": 0}
    assert {**plain["configs"]["sums"], **ignored} == {**run["configs"]["sums_confidence"], **ignored}
    assert len(model.asked) == 2 * len(plain_model.asked)
    assert model.asked[: len(plain_model.asked)] == plain_model.asked


def test_the_question_follows_the_reply_and_repeats_the_conversation(folder: Path) -> None:
    model = Scripted(reply)
    evaluate(folder, model, metadata={"task": "sums"}, limit=1)
    assert model.asked[1].startswith("Question: 0 + 0 =\nAnswer:It is 0\n\nHow confident are you")
    model = Scripted(reply)
    evaluate(folder, model, metadata={"task": "sums"}, limit=1, apply_chat_template=True)
    turns = json.loads(model.asked[1])
    assert [turn["role"] for turn in turns] == ["user", "assistant", "user"]
    assert turns[1]["content"] == "It is 0"


class Unfinished(Scripted):
    """A model whose replies to some prompts are not finished."""

    def __init__(self, which: str, text: str, stop: str) -> None:
        super().__init__(reply)
        self.which, self.unfinished = which, Generated(text, stop)

    def generate_until(self, requests, disable_tqdm=False):
        said = super().generate_until(requests, disable_tqdm)
        return [
            self.unfinished if (self.which == "side") == ("How confident" in request.args[0]) else text
            for request, text in zip(requests, said, strict=True)
        ]


@pytest.mark.parametrize(
    ("text", "stop", "problem"),
    [
        ("90", "length", "the reply was cut off at the token limit"),
        ("90", "filter", "the reply was stopped by the provider's content filter"),
        ("", "thought", "the reply was without a visible reply after the reasoning"),
    ],
)
def test_a_confidence_that_was_not_finished_is_missing(
    folder: Path, text: str, stop: str, problem: str
) -> None:
    run = evaluate(folder, Unfinished("side", text, stop), metadata={"task": "sums"}, limit=2)
    for sample in run["samples"]["sums_confidence"]:
        assert sample[ASKED]["0-100"] == {"confidence": None, "reply": "", "problem": problem}
    assert run["results"]["sums_confidence"]["parse_rate/0-100,strict"] == 0.0


@pytest.mark.parametrize(
    ("text", "stop", "problem"),
    [
        ("", "filter", "the answer was stopped by the provider's content filter"),
        ("I cannot help", "filter", "the answer was stopped by the provider's content filter"),
        ("<think>Perhaps 2, or", "length", "the answer was cut off at the token limit"),
        ("", "thought", "the answer was without a visible reply after the reasoning"),
    ],
)
def test_a_model_is_asked_about_no_answer_that_it_did_not_give(
    folder: Path, text: str, stop: str, problem: str
) -> None:
    model = Unfinished("own", text, stop)
    run = evaluate(folder, model, metadata={"task": "sums"}, limit=2)
    for sample in run["samples"]["sums_confidence"]:
        assert sample[ASKED]["0-100"] == {"confidence": None, "reply": "", "problem": problem}
    assert len(model.asked) == 2


def test_a_model_is_asked_about_the_visible_part_of_its_answer(folder: Path) -> None:
    model = Unfinished("own", "<think>2 or 3?</think>\nIt is 0", "length")
    run = evaluate(folder, model, metadata={"task": "sums"}, limit=1, apply_chat_template=True)
    assert json.loads(model.asked[1])[1]["content"] == "It is 0"
    assert run["samples"]["sums_confidence"][0][ASKED]["0-100"]["confidence"] is not None


@pytest.mark.parametrize("concurrent", [1, 2])
@pytest.mark.parametrize(
    ("quirk", "fix"),
    [("html", "base_url is the whole address"), ("parts", "in parts"), ("quota", "check the quota")],
)
def test_a_server_without_replies_is_named(
    folder: Path, quirk: str, fix: str, concurrent: int, server: Server
) -> None:
    model = chat(server, quirk, num_concurrent=concurrent)
    with pytest.raises(StopError, match=f"{re.escape(server.address(quirk))}.* answered .*{fix}"):
        evaluate(folder, model, metadata={"task": "sums"}, limit=2, apply_chat_template=True)


def test_a_chat_endpoint_gives_p_true(folder: Path, server: Server) -> None:
    model = chat(server, "text=True+think+top-5")
    run = evaluate(
        folder, model, metadata={"task": "sums", "ask": "p_true"}, limit=2, apply_chat_template=True
    )
    asked = [sample[ASKED]["p_true"] for sample in run["samples"]["sums_confidence"]]
    assert all(0.5 < trial["confidence"] < 1.0 for trial in asked)


def test_the_results_have_measures_of_each_confidence_and_filter(folder: Path) -> None:
    run = evaluate(folder, metadata={"task": "sums", "ask": "0-100,words"})
    results = run["results"]["sums_confidence"]
    assert results["parse_rate/0-100,strict"] == 0.5
    assert results["parse_rate/words,strict"] == 0.0
    samples = [each for each in run["samples"]["sums_confidence"] if each["filter"] == "strict"]
    stated = [each for each in samples if each[ASKED]["0-100"]["confidence"] is not None]
    right = [each["exact_match"] for each in stated]
    sure = [each[ASKED]["0-100"]["confidence"] for each in stated]
    assert results["auroc/0-100,strict"] == pytest.approx(roc_auc_score(right, sure))
    assert results["overconfidence/0-100,strict"] == pytest.approx((sum(sure) - sum(right)) / len(sure))


def test_a_group_is_asked_task_by_task_and_keeps_its_means(folder: Path) -> None:
    plain = evaluate(folder, task="maths", metadata={"task": "maths"})
    run = evaluate(folder, metadata={"task": "maths"})
    means = {key: value for key, value in plain["results"]["maths"].items() if "," in key}
    assert {key: run["results"]["maths_confidence"][key] for key in means} == means
    assert set(run["results"]) >= {"sums_confidence", "more_sums_confidence"}


def test_a_task_is_named_by_the_path_of_its_file(folder: Path) -> None:
    run = evaluate(folder, metadata={"task": str(folder / "sums.yaml")}, limit=2)
    assert len(run["samples"]["sums_confidence"]) == 4


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({}, "with_confidence needs a task"),
        ({"task": "sum"}, "task='sum' is no task.*did you mean 'sums'"),
        ({"task": "choices"}, "choices generates no replies.*confidence-tasks report"),
        ({"task": "votes"}, "asks each question 3 times.*set repeats to 1"),
        ({"task": "sums", "ask": "0-1OO"}, "ask='0-1OO' is no scale"),
        ({"task": "sums", "correct": "f1>x"}, "no bound such as"),
        ({"task": "sums", "correct": "exact_mach"}, "no metric 'exact_mach'; did you mean 'exact_match'"),
        (
            {"task": "maths", "correct": "f1>=0.5"},
            "correct='f1>=0.5': sums has no metric 'f1'. It has exact_match",
        ),
        ({"task": "sums", "structured": True}, "no 'structured' on lm-eval.*-T structured=true"),
        ({"task": "sums", "when": "within"}, "no 'when' on lm-eval.*-T when=within"),
        ({"task": "sums", "scorer": "match"}, "metrics, not scorers: name one with correct"),
        ({"task": "sums", "asks": "0-20"}, "no 'asks' on lm-eval; did you mean 'ask'"),
    ],
)
def test_a_mistake_is_named_before_any_call(folder: Path, metadata, message) -> None:
    model = Scripted(reply)
    with pytest.raises(Exception, match=message):
        evaluate(folder, model, metadata=metadata)
    assert model.asked == []


@pytest.mark.parametrize(("correct", "n_warnings"), [("", 1), ("exact_match", 0)])
def test_a_run_of_several_metrics_says_before_any_call_that_one_is_to_be_named(
    folder: Path, correct: str, n_warnings: int, caplog
) -> None:
    warn_once.cache_clear()
    file = folder / "sums.yaml"
    several = "metric_list: [{metric: bleu, aggregation: bleu, higher_is_better: true}, "
    file.write_text(file.read_text().replace("metric_list: [", several))
    metadata = {"task": "sums", "correct": correct}
    include = [str(folder), str(stubs())]
    TaskManager(include_path=include, include_defaults=False, metadata=metadata).load("with_confidence")
    told = [each for each in caplog.messages if 'such as "correct": "bleu", in --metadata' in each]
    assert len(told) == n_warnings


def test_the_report_reads_what_was_asked_under_the_name_of_the_task(folder: Path) -> None:
    from lm_eval.loggers import EvaluationTracker

    run = evaluate(
        folder, SimulatedLM("overconfident"), metadata={"task": "sums", "ask": "0-100,p_true"}, limit=40
    )
    tracker = EvaluationTracker(output_path=str(folder / "out"))
    samples = run.pop("samples")
    tracker.general_config_tracker.model_name_sanitized = "simulated"
    tracker.save_results_aggregated(results=run, samples=samples)
    for task, of_task in samples.items():
        tracker.save_results_samples(task_name=task, samples=of_task)
    (file,) = collect(str(folder / "out")).files
    assert file.design == "sums"
    assert set(file.columns["condition"]) == {
        f"{ask}, {name}" for ask in ("0-100", "p_true") for name in ("strict", "flexible")
    }
    chosen = file.columns["condition"] == "0-100, strict"
    assert file.columns["correct"][chosen].mean() == run["results"]["sums_confidence"]["exact_match,strict"]
    right = file.columns["correct"][chosen]
    assert 0.4 < right.mean() < 1.0
    assert file.columns["confidence"][chosen].mean() > right.mean()
