"""Any Inspect task with a question about the confidence in each answer, on the real harness."""

import math
import re
from contextlib import nullcontext
from pathlib import Path
from zipfile import ZipFile

import click
import inspect_ai.model
import numpy as np
import pytest
from inspect_ai import Task, eval, score
from inspect_ai.agent import react
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log
from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    ContentReasoning,
    Logprob,
    Logprobs,
    ModelOutput,
    ModelUsage,
    TopLogprob,
    get_model,
)
from inspect_ai.scorer import choice, exact, includes, match
from inspect_ai.solver import TaskState, basic_agent, multiple_choice, solver
from inspect_ai.tool import ToolCall
from tests.integration.commands import run as run_command

from confidence_tasks import with_confidence
from confidence_tasks.harness.compat import prerequisite_error
from confidence_tasks.harness.inspect.schemas import IGNORING
from confidence_tasks.logs.collection import collect
from confidence_tasks.studies.benchmark.ask_inspect import why_no_answer
from confidence_tasks.studies.benchmark.asking import parse_asks
from confidence_tasks.studies.benchmark.scorer import stated_confidence
from confidence_tasks.studies.benchmark.side_conversation import side_conversation
from confidence_tasks.study.stage import ModelReply, Token

SUMS = """
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import match

@task
def sums(n: int = 3):
    return Task([Sample(f"{i} + {i} =", target=str(2 * i)) for i in range(n)], scorer=match(location="any"))

@task
def other():
    return Task([Sample("1 + 1 =", target="2")], scorer=match())
"""


def reply(messages, tools, choice, config):
    """Answer a sum wrongly if it is 0 + 0; state 80; say True with a probability of 0.6."""
    asked = messages[-1].text
    if "True or False" in asked:
        text = "True"
    elif "How confident" in asked:
        text = "80"
    else:
        text = str(2 * int(asked[0])) if asked[0] != "0" else "7"
        text += "\nConfidence: 90" if "Confidence: <number>" in asked else ""
    output = ModelOutput.from_content("mockllm/model", text)
    output.usage = ModelUsage()  # Inspect would load a tokenizer to count tokens
    if config.logprobs:
        top = [TopLogprob(token="True", logprob=np.log(0.6)), TopLogprob(token="False", logprob=np.log(0.2))]
        content = [Logprob(token="True", logprob=np.log(0.6), top_logprobs=top)]
        output.choices[0].logprobs = Logprobs(content=content)
    return output


def model():
    return get_model("mockllm/model", custom_outputs=reply, memoize=False)


def sums(n=3):
    samples = [Sample(f"{i} + {i} =", target=str(2 * i), id=f"sum-{i}") for i in range(n)]
    return Task(samples, scorer=match(location="any"), name="sums")


def run(task, folder: Path, **options):
    (log,) = eval(task, model=model(), log_dir=str(folder), display="none", **options)
    assert log.status == "success", log.error
    return read_eval_log(log.location)


def test_the_tasks_own_scores_metrics_and_messages_are_those_of_a_plain_run(tmp_path: Path) -> None:
    plain, asked = run(sums(), tmp_path), run(with_confidence(sums(), ask="0-100,p_true"), tmp_path)
    assert asked.eval.task == "sums_confidence"
    assert [each.scores["match"] for each in asked.samples] == [
        each.scores["match"] for each in plain.samples
    ]
    (of_plain,), (of_task, _) = plain.results.scores, asked.results.scores
    assert of_task.metrics == of_plain.metrics
    for one, other in zip(plain.samples, asked.samples, strict=True):
        assert [(m.role, m.text) for m in one.messages] == [(m.role, m.text) for m in other.messages]
        assert (one.output.completion, one.store) == (other.output.completion, other.store)


def test_the_log_has_a_confidence_and_measures_for_each_question(tmp_path: Path) -> None:
    log = run(with_confidence(sums(), ask="0-100,p_true"), tmp_path)
    values = [each.scores["stated_confidence"].value for each in log.samples]
    assert [value["correct"] for value in values] == [0.0, 1.0, 1.0]
    assert [value["0-100"] for value in values] == [0.8] * 3
    assert [value["p_true"] for value in values] == pytest.approx([0.75] * 3)
    metrics = log.results.scores[1].metrics
    assert metrics["overconfidence/0-100"].value == pytest.approx(0.8 - 2 / 3)
    assert metrics["parse_rate/p_true"].value == 1.0


def test_the_report_reads_plain_and_asked_logs_of_any_task(tmp_path: Path) -> None:
    run(sums(), tmp_path)
    run(with_confidence(sums(), ask="0-100"), tmp_path)
    plain, asked = sorted(collect(str(tmp_path)).files, key=lambda file: set(file.columns["condition"]))
    assert {plain.design, asked.design} == {"sums"}
    conditions = {frozenset(file.columns["condition"]) for file in (plain, asked)}
    assert conditions == {frozenset({"no confidence"}), frozenset({"0-100"})}
    assert sorted(asked.columns["question_id"]) == ["sum-0", "sum-1", "sum-2"]
    assert plain.setup == asked.setup


@pytest.mark.parametrize("name", ["evals_of_others/sums", "evals_of_others/boolq"])
def test_plain_and_asked_logs_of_a_package_s_task_are_of_one_task(name: str, tmp_path: Path) -> None:
    def packaged():
        return Task(sums().dataset, scorer=match(location="any"), name=name)

    run(packaged(), tmp_path)
    run(with_confidence(packaged(), ask="0-100"), tmp_path)
    names = {file.design for file in collect(str(tmp_path)).files}
    assert names == {{"sums": "sums", "boolq": "boolq (benchmark)"}[name.rpartition("/")[2]]}


def test_a_log_is_asked_afterwards_and_keeps_its_scores(tmp_path: Path) -> None:
    plain = run(sums(), tmp_path)
    asked = score(plain, stated_confidence(ask="0-100"), action="append", model=model(), display="none")
    assert [each.scores["match"] for each in asked.samples] == [
        each.scores["match"] for each in plain.samples
    ]
    assert [each.scores["stated_confidence"].value["0-100"] for each in asked.samples] == [0.8] * 3


@pytest.mark.parametrize(
    ("member", "refusal"), [("header.json", "the log has no samples"), ("samples/1_epoch_1.json", "")]
)
def test_a_log_without_samples_is_refused_before_it_is_scored(
    tmp_path: Path, member: str, refusal: str
) -> None:
    path = tmp_path / "mine.eval"
    with ZipFile(path, "w") as log:
        log.writestr(member, "{}")
    with click.Context(click.Command("score"), info_name="score") as command:
        command.params = {"log_file": str(path)}
        with pytest.raises(prerequisite_error(), match=refusal) if refusal else nullcontext():
            stated_confidence()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scorer", "option", "message"),
    [
        ("stated_confidence", "ask=0-1OO", "ask='0-1OO' is no scale such as 0-100"),
        ("stated_confidence", "correct=f1>x", "is no bound such as"),
        ("scale_scorer", "strikt=true", "has no parameter 'strikt'; did you mean 'strict'?"),
    ],
)
def test_a_wrong_option_of_a_scorer_is_named_and_not_taken_for_a_scorer_that_is_missing(
    tmp_path: Path, scorer: str, option: str, message: str
) -> None:
    log = run(sums(), tmp_path)
    command = ["score", log.location, "--scorer", f"confidence_tasks/{scorer}", "-S", option]
    done = run_command(tmp_path, "inspect", *command, "--action", "append", "--overwrite")
    assert message in " ".join(done.stdout.split())
    assert "couldn't be loaded" not in done.stdout


READS_A_FILE = """
from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset


@task
def rows():
    return Task(json_dataset("rows.jsonl"))
"""


def test_a_task_is_found_by_path_and_gets_its_own_parameters(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "mine.py").write_text(SUMS)
    monkeypatch.chdir(tmp_path)
    arguments = {"task": "mine.py@sums", "n": 2}
    log = run("confidence_tasks/with_confidence", tmp_path / "logs", task_args=arguments)
    assert len(log.samples) == 2
    assert log.eval.metadata["confidence_tasks"]["task"] == "sums"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"task": "confidence_tasks/bolq"}, "did you mean confidence_tasks/boolq"),
        ({"task": "mine.py@sum"}, "not found"),
        ({"task": "mine.py"}, "several tasks"),
        ({"task": "yours.py@sums"}, r"there is no file .*yours\.py$"),
        ({"task": "reads.py@rows"}, r"task='reads\.py@rows': there is no file .*rows\.jsonl$"),
        ({}, "needs a task"),
        ({"task": "mine.py@sums", "m": 2}, "no parameter 'm'.*It has n"),
        ({"task": "mine.py@other", "ask": "0-99x"}, "did you mean '0-97'"),
        ({"task": "mine.py@other", "when": "before"}, "neither of after, within"),
        ({"task": "mine.py@other", "when": "within", "ask": "p_true"}, "leave out ask"),
    ],
)
def test_a_mistake_is_named_before_any_call(tmp_path: Path, monkeypatch, arguments, message) -> None:
    (tmp_path / "mine.py").write_text(SUMS)
    (tmp_path / "reads.py").write_text(READS_A_FILE)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Exception, match=message):
        eval("confidence_tasks/with_confidence", model=model(), task_args=arguments, display="none")


def test_a_scorer_that_the_task_does_not_have_is_named_before_any_call() -> None:
    task = Task([Sample("1 + 1 =", target="2")], scorer=[match(), match(), includes()])
    with pytest.raises(
        ValueError, match="scorer='mach' is none of the task's: match, match1, includes; did you"
    ):
        with_confidence(task, scorer="mach")
    assert len(with_confidence(task, scorer="match1").scorer) == 4


def test_of_a_log_without_messages_the_question_and_the_answer_are_asked_about(tmp_path: Path) -> None:
    plain = run(sums(), tmp_path)
    for sample in plain.samples:
        sample.messages = []
    asked: list[list[tuple[str, str]]] = []

    def recorded(messages, *rest):
        asked.append([(message.role, message.text) for message in messages])
        return reply(messages, *rest)

    score(
        plain,
        stated_confidence(ask="0-100"),
        action="append",
        model=get_model("mockllm/model", custom_outputs=recorded, memoize=False),
        display="none",
    )
    assert [[*each[:2]] for each in sorted(asked)] == [
        [("user", "0 + 0 ="), ("assistant", "7")],
        [("user", "1 + 1 ="), ("assistant", "2")],
        [("user", "2 + 2 ="), ("assistant", "4")],
    ]
    assert all("How confident" in each[-1][1] and len(each) == 3 for each in asked)


@pytest.mark.parametrize("agent", [lambda: react(tools=[]), lambda: basic_agent(message_limit=9)])
def test_agents_of_simulated_subjects_end_and_are_asked(agent, tmp_path: Path) -> None:
    samples = [Sample(f"{i} + {i} =", target=str(2 * i), id=f"sum-{i}") for i in range(30)]
    task = with_confidence(Task(samples, solver=agent(), scorer=includes(), name="sums"), ask="0-100,p_true")
    (log,) = eval(task, model="simulated/overconfident", log_dir=str(tmp_path), display="none")
    assert log.status == "success", log.error
    assert not any(sample.limit for sample in log.samples)
    values = [sample.scores["stated_confidence"].value for sample in log.samples]
    assert 0 < sum(value["correct"] for value in values) < 30
    assert all(np.isfinite(value[name]) for value in values for name in ("0-100", "p_true"))


def test_a_task_without_a_scorer_is_refused() -> None:
    with pytest.raises(ValueError, match="no scorer"):
        with_confidence(Task([Sample("1 + 1 =")]))


def test_tools_become_text_a_dangling_call_too_and_the_final_answer_is_repeated() -> None:
    call = ToolCall(id="1", function="add", arguments={"a": 1})
    messages = [
        ChatMessageSystem(content="Be brief."),
        ChatMessageUser(content="1 + 1 ="),
        ChatMessageAssistant(content="", tool_calls=[call]),
        ChatMessageTool(content="2", tool_call_id="1", function="add"),
        ChatMessageAssistant(content="So 2.", tool_calls=[call]),
    ]
    output = ModelOutput.from_content("m", "So 2.")
    state = TaskState("m", "s", 1, "1 + 1 =", messages, output=output)
    turns, answer = side_conversation(state)
    assert [turn.role for turn in turns] == ["system", "user", "assistant", "user", "assistant"]
    assert not any(getattr(turn, "tool_calls", None) for turn in turns)
    assert "add" in turns[2].text
    assert turns[3].text == "[Result of the tool add]\n2"
    assert answer == "So 2."
    assert parse_asks("0-20")[0].prompt(answer).startswith("Your final answer: So 2.\n\nHow confident")


def test_a_thought_in_the_text_is_not_sent_back() -> None:
    said = "<|channel|>analysis<|message|>3?<|end|><|start|>assistant<|channel|>final<|message|>2<|return|>"
    messages = [ChatMessageUser(content="1 + 1 ="), ChatMessageAssistant(content=said)]
    state = TaskState("m", "s", 1, "1 + 1 =", messages, output=ModelOutput.from_content("m", said))
    turns, answer = side_conversation(state)
    assert [turn.text for turn in turns] == ["1 + 1 =", "2"]
    assert answer == ""


def test_within_adds_the_instruction_to_the_prompt_and_the_label_says_so(tmp_path: Path) -> None:
    log = run(with_confidence(sums(), when="within"), tmp_path)
    assert all("Confidence: <number>" in each.messages[0].text for each in log.samples)
    assert [each.scores["stated_confidence"].value["stated"] for each in log.samples] == [0.9] * 3
    (file,) = collect(str(tmp_path)).files
    assert file.setup["task.when"] == "within"
    assert set(file.columns["condition"]) == {"stated"}


def test_a_sample_that_a_limit_ended_is_lost_and_a_cut_off_reply_states_nothing(tmp_path: Path) -> None:
    def cut(messages, tools, choice, config):
        output = reply(messages, tools, choice, config)
        output.choices[0].stop_reason = "max_tokens" if "How confident" in messages[-1].text else "stop"
        return output

    @solver
    def talk():
        async def solve(state, generate):
            for _ in range(1 + 3 * state.input_text.startswith("1")):
                state = await generate(state)
            return state

        return solve

    samples = [Sample(f"{i} + {i} =", target=str(2 * i)) for i in range(3)]
    task = with_confidence(Task(samples, solver=talk(), scorer=match(location="any"), message_limit=4))
    (log,) = eval(
        task,
        model=get_model("mockllm/model", custom_outputs=cut, memoize=False),
        log_dir=str(tmp_path),
        display="none",
    )
    scores = {
        sample.input: sample.scores["stated_confidence"] for sample in read_eval_log(log.location).samples
    }
    assert not isinstance(scores["1 + 1 ="].value, dict)
    assert "message limit ended the sample" in scores["1 + 1 ="].explanation
    for question in ("0 + 0 =", "2 + 2 ="):
        assert np.isnan(scores[question].value["0-100"])
        assert "cut off at the token limit" in scores[question].explanation
    (file,) = collect(tmp_path).files
    assert file.lost == 1
    assert file.columns["status"].tolist() == ["truncated"] * 2
    assert set(file.columns["correct"]) == {0.0, 1.0}  # the scorer of the task has graded both answers


@pytest.mark.parametrize(
    ("limits", "is_ended"),
    [
        ({"token_limit": 200}, False),  # used up exactly by the task's own calls
        ({"token_limit": 150}, True),
        ({"message_limit": 4}, False),
        ({"message_limit": 2}, True),
    ],
)
def test_a_limit_that_does_not_end_the_task_does_not_end_the_question(
    limits: dict[str, int], is_ended: bool, tmp_path: Path
) -> None:
    def of_a_hundred(messages, tools, choice, config):
        output = reply(messages, tools, choice, config)
        output.usage = ModelUsage(input_tokens=50, output_tokens=50, total_tokens=100)
        return output

    @solver
    def twice():
        async def solve(state, generate):
            state = await generate(state)
            return await generate(state)

        return solve

    samples = [Sample(f"{i} + {i} =", target=str(2 * i)) for i in range(3)]
    (log,) = eval(
        with_confidence(Task(samples, solver=twice(), scorer=match(location="any"), **limits)),
        model=get_model("mockllm/model", custom_outputs=of_a_hundred, memoize=False),
        log_dir=str(tmp_path),
        display="none",
    )
    found = read_eval_log(log.location).samples
    assert [sample.limit is not None for sample in found] == [is_ended] * 3
    if not is_ended:
        assert [sample.scores["stated_confidence"].value["0-100"] for sample in found] == [0.8] * 3
        return
    for sample in found:
        assert (
            "limit ended the sample before its last reply" in sample.scores["stated_confidence"].explanation
        )
    again = score(log, stated_confidence(), action="append", display="none")
    for sample in again.samples:
        later = [each for name, each in sample.scores.items() if name.startswith("stated_confidence")][-1]
        assert "No trial: " in later.explanation


@pytest.mark.parametrize(
    ("text", "stop", "problem"),
    [
        ("", "content_filter", "stopped by the provider's content filter"),
        ("I cannot help", "content_filter", "stopped by the provider's content filter"),
        ("<think>Perhaps 2, or", "max_tokens", "cut off at the token limit"),
        ("2 + 2 = 4, because", "max_tokens", ""),
    ],
)
def test_a_model_is_asked_about_no_answer_that_it_did_not_give(
    text: str, stop: str, problem: str, tmp_path: Path
) -> None:
    asked = []

    def unfinished(messages, tools, choice, config):
        asked.append(messages[-1].text)
        if "How confident" in messages[-1].text:
            return reply(messages, tools, choice, config)
        output = ModelOutput.from_content("mockllm/model", text, stop_reason=stop)
        output.usage = ModelUsage()
        return output

    (log,) = eval(
        with_confidence(sums(1)),
        model=get_model("mockllm/model", custom_outputs=unfinished, memoize=False),
        log_dir=str(tmp_path),
        display="none",
    )
    (sample,) = read_eval_log(log.location).samples
    score = sample.scores["stated_confidence"]
    assert np.isnan(score.value["0-100"]) == bool(problem)
    assert problem in (score.explanation or "")
    assert len(asked) == (1 if problem else 2)


def test_an_agent_that_ends_with_a_call_of_a_tool_is_asked() -> None:
    call = ToolCall(id="1", function="submit", arguments={"answer": "4"})
    output = ModelOutput.for_tool_call("mockllm/model", call.function, call.arguments)
    output.choices[0].message.content = [ContentReasoning(reasoning="It is 4.")]
    assert not why_no_answer(output)


@pytest.mark.slow
def test_a_simulated_subject_answers_any_task_and_is_as_sure_as_its_profile_says(tmp_path: Path) -> None:
    options = Task(
        [Sample(f"Question {i}?", choices=["yes", "no"], target="AB"[i % 2], id=i) for i in range(60)],
        solver=multiple_choice(),
        scorer=choice(),
        name="letters",
    )
    numbers = Task(
        [Sample(f"{i} + {i} =", target=str(2 * i), id=i) for i in range(60)], scorer=exact(), name="n"
    )
    for task in (options, numbers):
        asked = with_confidence(task, ask="0-100,words,p_true")
        (log,) = eval(asked, model="simulated/overconfident", log_dir=str(tmp_path), display="none")
        assert log.status == "success", log.error
        metrics = log.results.scores[1].metrics
        assert 0.5 < metrics["accuracy/0-100"].value < 0.95
        assert metrics["overconfidence/0-100"].value > 0.03
        assert [metrics[f"parse_rate/{ask}"].value for ask in ("0-100", "words", "p_true")] == [1.0] * 3
        assert metrics["auroc/0-100"].value > 0.55


def test_structured_replies_are_asked_by_schema_and_read_as_json_alone(tmp_path: Path) -> None:
    seen = []

    def in_json(messages, tools, choice, config):
        seen.append(config.response_schema)
        output = reply(messages, tools, choice, config)
        if "JSON object" in messages[-1].text:
            output.completion = '{"confidence": 70}' if len(seen) % 4 else "Confidence: 70"
        return output

    model = get_model("mockllm/model", custom_outputs=in_json, memoize=False)
    task = with_confidence(sums(4), ask="0-100", structured=True)
    (log,) = eval(task, model=model, log_dir=str(tmp_path), display="none", max_samples=1, max_connections=1)
    assert log.status == "success", log.error
    values = [each.scores["stated_confidence"].value["0-100 JSON"] for each in log.samples]
    assert [value for value in values if value == value] == [0.7] * 2
    asked = [schema for schema in seen if schema]
    assert len(asked) == 4
    assert asked[0].strict
    assert asked[0].json_schema.properties["confidence"].type == "integer"


def test_structured_replies_out_of_range_or_of_another_type_are_missing() -> None:
    (percent, words) = parse_asks("0-100,words", structured=True)
    for text, expected in (
        ('{"confidence": 0}', 0.0),
        ('{"confidence": 100}', 1.0),
        (' {"confidence": 7}\n', 0.07),
    ):
        assert percent.confidence(ModelReply(text)) == expected
    for text in (
        '{"confidence": 101}',
        '{"confidence": "90"}',
        '{"confidence": true}',
        "90",
        "[]",
        "{",
        '{"c": 1}',
    ):
        assert np.isnan(percent.confidence(ModelReply(text)))
    assert words.confidence(ModelReply('{"confidence": "Likely"}')) == 0.7
    assert np.isnan(words.confidence(ModelReply('{"confidence": ["Likely"]}')))
    with pytest.raises(ValueError, match="p_true reads the probability of a word"):
        parse_asks("p_true", structured=True)


def test_every_provider_that_does_not_send_a_schema_is_refused() -> None:
    """A module sends it itself, or inherits from the provider of OpenAI's protocol."""
    folder = Path(inspect_ai.model.__file__).parent / "_providers"
    sends = {"openai": "openai_responses", "openai_compatible": "openai"}
    classes = re.compile(r"^class (\w+)\((?:ModelAPI|OpenAICompatibleAPI|VLLMAPI)\)", re.MULTILINE)
    ignoring = set()
    for path in folder.glob("[a-z]*.py"):
        text = path.read_text()
        own = re.search(r"^class \w+\(ModelAPI\)", text, re.MULTILINE)
        if classes.search(text) and own and "response_schema" not in text and path.stem not in sends:
            ignoring.add(path.stem)
    assert {"azureai", "hf"} <= ignoring
    assert ignoring - {"mockllm", "together", "none"} <= IGNORING
    assert "response_schema" in (folder / "openai_responses.py").read_text()


def test_a_simulated_subject_replies_in_json(tmp_path: Path) -> None:
    task = with_confidence(sums(20), ask="0-20,words", structured=True)
    (log,) = eval(task, model="simulated/ideal", log_dir=str(tmp_path), display="none")
    metrics = log.results.scores[1].metrics
    assert metrics["parse_rate/0-20 JSON"].value == metrics["parse_rate/words JSON"].value == 1.0


@pytest.mark.parametrize(
    ("scale", "text", "expected"),
    [
        ("0-100", "I'm 99% confident that my answer is correct.", 0.99),
        ("0-20", "Confidence: 17", 0.85),
        ("0-20", "My confidence is 15.", 0.75),
        ("0-20", "17 out of 20", 0.85),
        ("0-20", "<think>5</think>\n\n**18**", 0.9),
        ("14-86", "50", 0.5),
        ("0-20", "99", np.nan),
        ("0-20", "between 10 and 15", np.nan),
        ("0-100", "I cannot say", np.nan),
    ],
)
def test_a_confidence_is_read_with_the_words_around_it(scale: str, text: str, expected: float) -> None:
    (ask,) = parse_asks(scale)
    assert ask.confidence(ModelReply(text)) == pytest.approx(expected, nan_ok=True)


def test_no_thought_is_the_confidence_in_an_answer() -> None:
    """Providers list the tokens of a thought first, also those of thoughts that they remove from the text."""
    drafts = [
        Token(text, math.log(0.9), {"True": math.log(0.9), "False": math.log(0.1)}) for text in ("True", "?")
    ]
    said = Token("False", math.log(0.8), {"False": math.log(0.8), "True": math.log(0.2)})
    words, p_true = parse_asks("words,p_true")
    assert p_true.confidence(ModelReply("False", (*drafts, said))) == pytest.approx(0.2)
    assert p_true.confidence(ModelReply("<think>True?</think>False", (*drafts, said))) == pytest.approx(0.2)
    said_plainly = words.confidence(ModelReply("unlikely"))
    assert words.confidence(ModelReply("<think>almost certain</think>unlikely")) == said_plainly < 0.5


def test_the_provider_that_takes_no_temperature_of_zero_is_asked_greedily(
    tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr("confidence_tasks.harness.inspect.local_model.is_local", lambda model: True)
    seen = []

    def answer(messages, tools, choice, config):
        seen.append((config.temperature, config.top_k))
        return reply(messages, tools, choice, config)

    asked = get_model("mockllm/model", custom_outputs=answer, memoize=False)
    (log,) = eval(with_confidence(sums(2)), model=asked, log_dir=str(tmp_path), display="none")
    assert log.status == "success", log.error
    assert sorted(map(str, seen)) == ["(1.0, 1)", "(1.0, 1)", "(None, None)", "(None, None)"]
