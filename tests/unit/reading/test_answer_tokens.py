"""Tokens of the answer: split words and characters, reasoning before, stop tokens and padding after."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from confidence_tasks.reading.token_probabilities import (
    AnswerTokens,
    answer_tokens,
    decode_tokens,
    token_texts,
)
from confidence_tasks.study.stage import Token

OTHER = -50.0
"""The log-probability of tokens that must not count."""


def tokens(*parts):
    """Make tokens of texts; those of the answer are given in a list and have log-probability -1, -2, ..."""
    made, rank = [], 0
    for part in parts:
        if isinstance(part, list):
            for text in part:
                rank += 1
                made.append(Token(text, -float(rank), {}))
        else:
            made.append(Token(part, OTHER, {}))
    return made, rank


CASES = {
    "word in pieces": ((["Pa", "ris"],), "Paris", "Paris"),
    "leading space": (([" Pa", "ris"],), "Paris", "Paris"),
    "label": (("Answer", ":", [" Pa", "ris"]), "Answer: Paris", "Paris"),
    "explanation": (([" Paris"], ".", " It", " is"), "Paris. It is", "Paris"),
    "full stop within a token": (([" Par", "is.\n"], "\n"), "Paris.\n", "Paris"),
    "end token": (([" Paris"], "<|im_end|>"), "Paris", "Paris"),
    "empty end token": (([" Paris"], ""), "Paris", "Paris"),
    "padding": (([" Paris"], "</s>", "<pad>", "<pad>"), "Paris", "Paris"),
    "reasoning": (
        ("<think>", "Paris", " it is", "</think>", "\n\n", ["Paris"], "<|im_end|>"),
        "Paris",
        "Paris",
    ),
    "said twice": ((["Paris"], "\n", "Paris"), "Paris\nParis", "Paris"),
    "white space cut off": (("\n", [" Paris"], "\n"), " Paris", "Paris"),
    "vocabulary": (("Answer", ":", ["ĠSan", "ĠMarino"], "Ċ"), "Answer: San Marino\n", "San Marino"),
    "sentencepiece": ((["▁San", "▁Marino"], "</s>"), "San Marino", "San Marino"),
    "character cut in bytes": (([" Caf", "\ufffd", "\ufffd"], "."), "Café.", "Café"),
    "first character cut in bytes": (
        ("Answer:", " ", ["\ufffd", "\ufffd", "tang"], "."),
        "Answer: Étang.",
        "Étang",
    ),
    "other characters cut in bytes": (
        ("\ufffd", "\ufffd", ["Paris"], "\ufffd", "\ufffd"),
        "“Paris”",
        "Paris",
    ),
}


@pytest.mark.parametrize(("parts", "reply", "answer"), CASES.values(), ids=CASES)
def test_tokens_of_the_answer_count_and_no_others(parts, reply, answer):
    made, rank = tokens(*parts)
    begin = reply.index(answer)
    found = answer_tokens(made, reply, begin, begin + len(answer))
    assert found.tokens == rank
    assert found.mean_logprob == pytest.approx(-(rank + 1) / 2)


@pytest.mark.parametrize(
    ("made", "reply"),
    [([], "Paris"), ([Token("London", -1, {})], "Paris"), ([Token("Paris", -1, {})], "Paris, France")],
)
def test_no_tokens_if_they_do_not_contain_the_reply(made, reply):
    assert answer_tokens(made, reply, 0, 5) == AnswerTokens(math.nan, 0)


def test_no_tokens_without_a_reply():
    assert answer_tokens([Token("Paris", -1, {})], "Paris", 0, 0) == AnswerTokens(math.nan, 0)


@pytest.mark.parametrize("missing", [-9999.0, -math.inf, math.nan])
def test_mean_is_nan_if_a_token_has_no_log_probability(missing):
    found = answer_tokens([Token("Pa", -1, {}), Token("ris", missing, {})], "Paris", 0, 5)
    assert math.isnan(found.mean_logprob)
    assert found.tokens == 2


@given(st.text(min_size=1, max_size=30), st.data())
def test_overlapping_tokens_are_found_for_any_tokens_of_any_reply(reply, data):
    cuts = sorted(data.draw(st.sets(st.integers(1, max(len(reply) - 1, 1)))))
    edges = [0, *(cut for cut in cuts if cut < len(reply)), len(reply)]
    begin = data.draw(st.integers(0, len(reply) - 1))
    end = data.draw(st.integers(begin + 1, len(reply)))
    made = [Token(reply[a:b], -float(a + 1), {}) for a, b in itertools.pairwise(edges)]
    expected = [-float(a + 1) for a, b in itertools.pairwise(edges) if a < end and b > begin]
    found = answer_tokens(made, reply, begin, end)
    if reply.strip():
        assert found.tokens == len(expected)
        assert found.mean_logprob == pytest.approx(sum(expected) / len(expected))


@given(st.text(max_size=20), st.data())
def test_decoded_tokens_join_to_the_text(text, data):
    raw = text.encode("utf-8", "ignore")
    cuts = sorted(data.draw(st.sets(st.integers(0, len(raw)), max_size=5)))
    edges = [0, *cuts, len(raw)]
    pieces = decode_tokens([raw[a:b] for a, b in itertools.pairwise(edges)])
    assert "".join(pieces) == raw.decode()


class Tokenizer:
    """Decodes tokens that are pieces of UTF-8; may drop the first space, as SentencePiece does; counts its work."""

    def __init__(self, pieces, *, drops_space=False):
        self.pieces, self.drops_space, self.decoded = pieces, drops_space, 0

    def decode(self, ids, **kwargs):
        self.decoded += len(ids)
        text = b"".join(self.pieces[id] for id in ids).decode(errors="replace")
        return text.removeprefix(" ") if self.drops_space else text


@pytest.mark.parametrize("drops_space", [False, True])
@given(text=st.text("a \nxé€😀", max_size=40), data=st.data())
def test_each_token_text_adds_to_the_complete_characters_so_far(drops_space, text, data):
    raw = text.encode()
    cuts = sorted(data.draw(st.sets(st.integers(0, len(raw)), max_size=30)))
    edges = [0, *cuts, len(raw)]
    tokenizer = Tokenizer([raw[a:b] for a, b in itertools.pairwise(edges)], drops_space=drops_space)
    ids = list(range(len(edges) - 1))
    whole = text.removeprefix(" ") if drops_space else text
    ends = [len(raw[:edge].decode(errors="ignore")) - (len(text) - len(whole)) for edge in edges]

    found = token_texts(tokenizer, ids)

    assert found == [whole[max(a, 0) : max(b, 0)] for a, b in itertools.pairwise(ends)]


def test_decoding_takes_linear_time():
    work = []
    for count in (1_000, 2_000):
        tokenizer = Tokenizer([b" word"] * count)
        token_texts(tokenizer, list(range(count)))
        work.append(tokenizer.decoded)
    assert work[1] < 2.1 * work[0]


def test_token_texts_join_to_the_decoded_text():
    class Bytes:
        def decode(self, ids, **kwargs):
            return bytes(ids).decode(errors="replace")

    assert token_texts(Bytes(), list("aé€z".encode())) == ["a", "", "é", "", "", "€", "z"]


@pytest.mark.parametrize("logprob", [5.0, math.inf, math.nan, -9999.0, -math.inf])
def test_mean_is_nan_if_a_log_probability_is_impossible(logprob):
    found = answer_tokens([Token("Par", -0.5, {}), Token("is", logprob, {})], "Paris", 0, 5)
    assert math.isnan(found.mean_logprob)
    assert found.tokens == 2
