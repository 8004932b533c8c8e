"""Replies that a model did not finish on lm-eval: what the server says, or the tokens of a model in this process."""

import math
import pickle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lm_eval.api.model import TemplateLM
from tests.integration.faults.loopback import Server
from tests.integration.faults.wire import Wire
from tests.integration.lm_eval.servers import chat, completions, run_on_server, samples_of

from confidence_tasks.harness.lm_eval.generated import Generated, stop_of
from confidence_tasks.harness.lm_eval.wire import generations
from confidence_tasks.harness.refusals import StopError

pytestmark = pytest.mark.slow

TASKS = ["boolq_confidence_arithmetic_boolean", "signals_stated_after"]
UNFINISHED = {
    "cut": "truncated",
    "think-cut": "truncated",
    "think-cut-bare": "truncated",
    "empty": "truncated",
    "filter": "filtered",
    "filter-half": "filtered",
    "reply-in-reasoning": "reasoning_only",
}
FINISHED = ["finish-length", "finish-odd", "finish-null", "parts", "reasoning", "think"]


def trials(model: Any, task: str, **options: Any) -> list[dict[str, Any]]:
    return [sample["trial"] for sample in samples_of(run_on_server(model, task, **options))]


@pytest.mark.parametrize("concurrent", [1, 3])
@pytest.mark.parametrize("task", TASKS)
def test_an_unfinished_reply_is_neither_answer_nor_abstention(
    task: str, concurrent: int, server: Server
) -> None:
    quirks = UNFINISHED if concurrent == 1 else {"cut": "truncated", "filter": "filtered"}
    for quirk, status in quirks.items():
        found = run_on_server(chat(server, quirk, num_concurrent=concurrent), task)
        read = [sample["trial"] for sample in samples_of(found)]
        assert [trial["status"] for trial in read] == [status] * 3, quirk
        assert all(math.isnan(trial["confidence"]) and not trial.get("answer") for trial in read)
        assert found["results"][task]["parse_rate,none"] == 0.0


@pytest.mark.parametrize("task", [TASKS[0], "riskeval_lambda10_arithmetic"])
def test_a_reply_that_holds_its_whole_format_is_read(task: str, server: Server) -> None:
    plain = trials(chat(server, "plain"), task)
    for quirk in FINISHED:
        read = trials(chat(server, quirk), task)
        assert [trial["confidence"] for trial in read] == [trial["confidence"] for trial in plain], quirk


def test_a_thought_is_no_part_of_the_conversation_that_goes_on(server: Server) -> None:
    plain, thinking = (trials(chat(server, quirk), TASKS[1]) for quirk in ("plain", "think"))
    assert [trial["confidence"] for trial in thinking] == [trial["confidence"] for trial in plain]


def test_a_completions_endpoint_says_why_it_stopped(server: Server) -> None:
    assert {each["status"] for each in trials(completions(server, "cut"), TASKS[0])} == {"truncated"}
    assert {each["status"] for each in trials(completions(server, "plain"), TASKS[0])} == {"ok"}


def test_parts_of_a_completion_are_its_text() -> None:
    parts = [{"type": "thinking", "thinking": "A?"}, {"type": "text", "text": "B"}]
    output = {"choices": [{"index": 0, "text": parts, "finish_reason": "stop"}]}

    assert generations(output, lambda found: [each["text"] for each in found["choices"]]) == ["B"]


def test_the_cache_keeps_why_a_reply_ended(server: Server, tmp_path: Path) -> None:
    runs = [
        trials(chat(server, "half-cut"), TASKS[0], n=8, use_cache=str(tmp_path / "cache")) for _ in range(2)
    ]
    assert {trial["status"] for trial in runs[0]} == {"ok", "truncated"}
    assert [trial["status"] for trial in runs[1]] == [trial["status"] for trial in runs[0]]
    assert len(server.answers) == 8
    reply = pickle.loads(pickle.dumps(Generated("Answer", "length")))
    assert (reply, stop_of(reply), stop_of("Answer")) == ("Answer", "length", "")


@pytest.mark.parametrize(
    ("output", "stops"),
    [
        ({"choices": [{"index": 1, "text": "b", "finish_reason": "stop"}, {"text": "a"}]}, ["", ""]),
        ({"choices": [{"text": "a", "finish_reason": "length"}]}, ["length"]),
        ({"choices": [{"text": "a", "finish_reason": {"type": "length"}}]}, [""]),
        ({"content": [{"text": "a"}], "stop_reason": "max_tokens"}, ["length"]),
        ({"content": [{"text": "a"}], "stop_reason": "end_turn"}, [""]),
    ],
)
def test_reasons_are_read_in_the_words_of_servers(output: dict[str, Any], stops: list[str]) -> None:
    def parse(found: dict[str, Any]) -> list[str]:
        parts = sorted(found.get("choices") or found["content"], key=lambda part: part.get("index", 0))
        return [part["text"] for part in parts]

    found = generations(output, parse)
    assert [reply.stop for reply in found] == stops
    assert found == ["a", "b"][: len(stops)]


@pytest.mark.parametrize(
    ("quirk", "task"),
    [
        ("empty", "scale_granularity_0_100_arithmetic"),
        ("empty-stop", "sciq_confidence_arithmetic"),
        ("reply-in-reasoning", TASKS[1]),
        ("think-cut", "riskeval_lambda10_arithmetic"),
    ],
)
@pytest.mark.parametrize("concurrent", [1, 3])
def test_a_model_that_finishes_no_reply_is_not_asked_for_all(
    concurrent: int, quirk: str, task: str, server: Server, tmp_path: Path
) -> None:
    model, cache = chat(server, quirk, num_concurrent=concurrent), str(tmp_path / "cache")
    with pytest.raises(StopError, match=r"none of the first 10 replies of .* has a text.*max_gen_toks=8192"):
        run_on_server(model, task, n=30, use_cache=cache)
    paid = len(server.requests)
    assert 10 <= paid < 10 + concurrent
    # Those that were paid for are kept, and the same model is asked again with another limit.
    with pytest.raises(StopError, match="none of the first 10"):
        run_on_server(model, task, n=30, use_cache=cache)
    assert paid < len(server.requests) < paid + 10 + concurrent


def test_a_single_reply_with_a_text_or_a_content_filter_is_enough(server: Server) -> None:
    server.behaviour = lambda attempt, asked, reply: Wire(
        body=reply if len(server.requests) == 9 else {**reply, "choices": [cut_off(reply["choices"][0])]}
    )
    assert [trial["status"] for trial in trials(chat(server, ""), TASKS[0], n=14)].count("truncated") == 13
    assert {trial["status"] for trial in trials(chat(server, "filter"), TASKS[0], n=14)} == {"filtered"}


def cut_off(choice: dict[str, Any]) -> dict[str, Any]:
    return {**choice, "message": {"role": "assistant", "content": ""}, "finish_reason": "length"}


class CountsTokens(TemplateLM):
    """A model of another library than transformers, which says nothing about the end of a reply."""

    tokenizer = SimpleNamespace(chat_template=None)
    tokenizer_name = "words"
    eot_token_id = 0

    def tok_encode(self, string: str, **_: Any) -> list[int]:
        return list(range(len(string.split())))

    def generate_until(self, requests: Any, disable_tqdm: bool = False) -> list[str]:
        replies = ['{"Answer": "True", "Confidence": 0.9', "Answer: True Confidence: 0.9 is it"]
        texts = [replies[i % 2] for i in range(len(requests))]
        for request, text in zip(requests, texts, strict=True):
            self.cache_hook.add_partial("generate_until", request.args, text)
        return texts

    def _loglikelihood_tokens(self, requests: Any, **_: Any) -> Any:
        raise NotImplementedError

    def loglikelihood_rolling(self, requests: Any, **_: Any) -> Any:
        raise NotImplementedError


def test_tokens_of_another_local_model_are_counted_against_the_limit() -> None:
    for limit, cut in ((4, 4), (5, 2), (7, 0)):
        read = trials(CountsTokens(), TASKS[0], n=4, gen_kwargs={"max_gen_toks": limit})
        assert [trial["status"] for trial in read].count("truncated") == cut


def test_a_network_in_this_process_that_says_nothing_stops_after_ten_replies() -> None:
    generated: list[str] = []

    class HFLM(CountsTokens):
        backend, batch_size = "causal", 4

        def generate_until(self, requests: Any, disable_tqdm: bool = False) -> list[str]:
            for request in requests:
                generated.append(request.args[0])
                self.cache_hook.add_partial("generate_until", request.args, "<think>\nLet me see")
            return ["<think>\nLet me see"] * len(requests)

    with pytest.raises(StopError, match=r"none of the first 10 replies of HFLM .*max_gen_toks=8192"):
        trials(HFLM(), TASKS[0], n=30)
    assert len(generated) == 10
