"""Which tokens are the answer: split words, cut characters, reasoning before, stop tokens and padding after."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.growth import grows_linearly, repeated

from confidence_tasks.elicitation.answer_tokens import (
    NO_TOKENS,
    answer_tokens,
    pieces_of_bytes,
    token_texts,
)
from confidence_tasks.elicitation.token_probabilities import Token

OTHER = -50.0
"""The log-probability of tokens that must not count."""


def tokens(*parts):
    """Tokens of texts; those that are the answer's are in a list and have log-probability -1, -2, ..."""
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
    assert found.nlp == pytest.approx(-(rank + 1) / 2)


@pytest.mark.parametrize(
    ("made", "reply"),
    [([], "Paris"), ([Token("London", -1, {})], "Paris"), ([Token("Paris", -1, {})], "Paris, France")],
)
def test_reply_that_is_not_in_the_tokens_has_none(made, reply):
    assert answer_tokens(made, reply, 0, 5) == NO_TOKENS


def test_nothing_has_no_tokens():
    assert answer_tokens([Token("Paris", -1, {})], "Paris", 0, 0) == NO_TOKENS


@pytest.mark.parametrize("missing", [-9999.0, -math.inf, math.nan])
def test_token_without_a_log_probability_leaves_the_mean_open(missing):
    found = answer_tokens([Token("Pa", -1, {}), Token("ris", missing, {})], "Paris", 0, 5)
    assert math.isnan(found.nlp)
    assert found.tokens == 2


@given(st.text(min_size=1, max_size=30), st.data())
def test_any_cut_of_any_reply_finds_the_tokens_that_overlap(reply, data):
    cuts = sorted(data.draw(st.sets(st.integers(1, max(len(reply) - 1, 1)))))
    edges = [0, *(cut for cut in cuts if cut < len(reply)), len(reply)]
    begin = data.draw(st.integers(0, len(reply) - 1))
    end = data.draw(st.integers(begin + 1, len(reply)))
    made = [Token(reply[a:b], -float(a + 1), {}) for a, b in itertools.pairwise(edges)]
    expected = [-float(a + 1) for a, b in itertools.pairwise(edges) if a < end and b > begin]
    found = answer_tokens(made, reply, begin, end)
    if reply.strip():
        assert found.tokens == len(expected)
        assert found.nlp == pytest.approx(sum(expected) / len(expected))


@given(st.text(max_size=20), st.data())
def test_pieces_of_bytes_join_to_the_text(text, data):
    raw = text.encode("utf-8", "ignore")
    cuts = sorted(data.draw(st.sets(st.integers(0, len(raw)), max_size=5)))
    edges = [0, *cuts, len(raw)]
    pieces = pieces_of_bytes([raw[a:b] for a, b in itertools.pairwise(edges)])
    assert "".join(pieces) == raw.decode()


def test_token_texts_join_to_the_decoded_text():
    class Bytes:
        def decode(self, ids, **kwargs):
            return bytes(ids).decode(errors="replace")

    assert token_texts(Bytes(), list("aé€z".encode())) == ["a", "", "é", "", "", "€", "z"]


@pytest.mark.parametrize("unit", ["a", "ab", "é", "\ufffd"])
@pytest.mark.parametrize("end", ["", "b"])
def test_time_is_linear_in_the_length(unit, end):
    def read(reply: str) -> None:
        made = [Token(unit, -1.0, {})] * (3 * len(reply) // len(unit))
        answer_tokens(made, reply + end, 0, 100)

    assert grows_linearly(read, repeated(unit), 10_000)
