"""Token counts of endpoints on lm-eval: those that the server sends with its reply."""

import json
import math
import pickle

import pytest

from confidence_tasks.harness.lm_eval.generated import Generated, Used, read_usage, used_by
from confidence_tasks.harness.lm_eval.wire import generations


def texts(output):
    return [choice["message"]["content"] for choice in output["choices"]]


def chat(*replies, usage):
    choices = [{"index": i, "message": {"content": text}} for i, text in enumerate(replies)]
    return generations({"choices": choices, "usage": usage}, texts)


def test_a_reply_has_the_counts_of_its_call():
    details = {"reasoning_tokens": 5}
    (reply,) = chat(
        "A",
        usage={"prompt_tokens": 7, "completion_tokens": 6, "completion_tokens_details": details},
    )
    assert used_by(reply) == (7, 6, 5)
    assert used_by(pickle.loads(pickle.dumps(reply))) == (7, 6, 5)  # as the cache keeps it


def test_several_replies_of_one_call_have_no_counts_of_their_own():
    for reply in chat("A", "B", usage={"prompt_tokens": 7, "completion_tokens": 6}):
        assert all(map(math.isnan, used_by(reply)))


@pytest.mark.parametrize(
    "usage",
    [
        None,
        [],
        "7",
        {"prompt_tokens": None, "completion_tokens_details": [1]},
        {"prompt_tokens": True, "completion_tokens": -1},
        {"prompt_tokens": 1.5, "completion_tokens": 10**400},
        {"prompt_tokens": {}, "completion_tokens": "6"},
    ],
    ids=json.dumps,
)
def test_what_is_no_count_is_missing(usage):
    assert all(map(math.isnan, read_usage(usage)))


def test_a_text_without_counts_and_one_of_an_earlier_cache_have_none():
    earlier = Generated("A")
    del earlier.used
    for reply in ("A", earlier):
        assert used_by(reply) == pytest.approx(Used(), nan_ok=True)
