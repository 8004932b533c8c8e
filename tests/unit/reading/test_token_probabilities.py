"""Token probabilities of the answer: the position of its token, and the tokens of each option."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from confidence_tasks.reading.token_probabilities import (
    YES_NO,
    first_token_probabilities,
    letter_options,
    missing_reason,
    number_probability,
    option_probabilities,
    token_problem,
    tokens_from_reply,
)
from confidence_tasks.study.stage import ModelReply, Token


def tokens(*texts, **alternatives):
    """Tokens of probability one, but for the one called ``at``, which has the alternatives given as ``mass``."""
    at, mass = alternatives["at"], {text: math.log(p) for text, p in alternatives["mass"].items()}
    return [
        Token(
            text, mass.get(text, math.log(0.01)) if text == at else 0.0, mass if text == at else {text: 0.0}
        )
        for text in texts
    ]


SPELLINGS = {
    "bare": ('{"Answer": "', "A", '", "A": 1}'),
    "space": ("Answer:", " A", "\n"),
    "quoted": ('{"Answer": ', '"A"', "}"),
    "quote before": ('{"Answer":', ' "A', '"}'),
    "colon before": ('{"Answer"', ':"A', '",'),
    "bracket after": ('"Answer": "', "A)", ' London"'),
    "byte-pair space": ('{"Answer":', "ĠA", ","),
    "sentencepiece space": ('{"Answer":', "▁A", ","),
}


@pytest.mark.parametrize("texts", SPELLINGS.values(), ids=SPELLINGS)
def test_the_answer_token_is_found_in_every_spelling(texts):
    mass = {texts[1]: 0.6, texts[1].replace("A", "B"): 0.2, "The": 0.1}
    assert option_probabilities(tokens(*texts, at=texts[1], mass=mass), letter_options(3)) == pytest.approx(
        {"A": 0.75, "B": 0.25, "C": 0.0}
    )


def test_spellings_of_one_option_are_added_up():
    mass = {"A": 0.3, " A": 0.2, '"A"': 0.1, "a": 0.05, " C": 0.15, "An": 0.1, '"': 0.1}
    probabilities = option_probabilities(tokens("Answer: ", "A", at="A", mass=mass), letter_options(4))
    assert probabilities == pytest.approx({"A": 0.65 / 0.8, "B": 0.0, "C": 0.15 / 0.8, "D": 0.0})


def test_a_sampled_token_counts_even_if_it_is_no_alternative():
    reply = [Token("Answer: ", 0.0, {}), Token("D", math.log(0.1), {"A": math.log(0.3)})]
    assert option_probabilities(reply, letter_options(4)) == pytest.approx(
        {"A": 0.75, "B": 0, "C": 0, "D": 0.25}
    )


def test_tokens_that_begin_a_word_count():
    mass = {" Tr": 0.4, " True": 0.1, " yes": 0.1, " Fal": 0.2, " No": 0.1, " Nope": 0.05, " Maybe": 0.05}
    probabilities = option_probabilities(tokens('"Answer":', " Tr", "ue", at=" Tr", mass=mass), YES_NO)
    assert probabilities == pytest.approx({"yes": 0.6 / 0.9, "no": 0.3 / 0.9})


def test_the_last_answer_counts_and_reasoning_does_not():
    texts = ('{"Reasoning": "Answer: B', ' may be", "', 'Answer": "', "A", '"}')
    probabilities = option_probabilities(tokens(*texts, at="A", mass={"A": 0.9, "B": 0.1}), letter_options(2))
    assert probabilities == pytest.approx({"A": 0.9, "B": 0.1})


@pytest.mark.parametrize(
    "reply",
    [
        [],
        [Token("I cannot say.", 0.0, {})],
        [Token('{"Answer": "', 0.0, {})],
        [Token("Answer: ", 0.0, {}), Token("Madrid", 0.0, {"Rome": -1.0})],
    ],
)
def test_without_an_option_there_are_no_probabilities(reply):
    assert option_probabilities(reply, letter_options(4)) == {}


def test_a_number_has_the_probability_of_all_its_tokens():
    reply = [
        Token(text, logprob, {})
        for text, logprob in [('"Answer": ', -1), ("1", -0.5), ("01", -0.25), (",\n", -2)]
    ]
    assert number_probability(reply) == pytest.approx(math.exp(-0.75))


@pytest.mark.parametrize("text", ["", "eighty", '{"Answer": "eighty"}'])
def test_no_probability_without_a_number(text):
    assert math.isnan(number_probability([Token(text, -0.5, {})]))


def test_probabilities_are_json_ready():
    json.dumps(option_probabilities(tokens("Answer: ", "A", at="A", mass={"A": 0.5}), letter_options(2)))


# No probabilities -------------------------------------------------------------------------------------------------

IMPOSSIBLE = [5.0, 0.5, math.inf, math.nan]


@pytest.mark.parametrize("logprob", IMPOSSIBLE)
def test_an_impossible_log_probability_gives_no_confidence(logprob):
    as_written = [Token("Answer: ", 0.0, {}), Token("8", logprob, {"8": -0.5})]
    assert math.isnan(number_probability(as_written))
    for reply in (
        [Token("Answer: ", 0.0, {}), Token("A", logprob, {"B": -1.0})],
        [Token("Answer: ", 0.0, {}), Token("A", -0.5, {"B": logprob})],
    ):
        assert option_probabilities(reply, letter_options(2)) == {}
        assert f"{logprob:g}, which is impossible" in missing_reason(reply)


def test_a_log_probability_slightly_above_0_is_0():
    assert number_probability([Token("Answer: ", 0.0, {}), Token("8", 1e-4, {})]) == 1.0


def test_a_number_with_an_unlisted_token_has_no_probability():
    """-9999 is how OpenAI says that a token is not among the likeliest."""
    assert math.isnan(number_probability([Token("Answer: ", 0.0, {}), Token("8", -9999.0, {})]))


def test_a_token_that_is_listed_in_two_spellings_of_a_space_counts_once():
    reply = [
        Token("Answer:", 0.0, {}),
        Token(" A", math.log(0.4), {"ĠA": math.log(0.4), "ĠB": math.log(0.4)}),
    ]
    assert option_probabilities(reply, letter_options(2)) == pytest.approx({"A": 0.5, "B": 0.5})


def test_known_probabilities_have_no_missing_reason():
    assert missing_reason([Token("A", -0.5, {"B": -math.inf})]) == ""
    assert "no token probabilities" in missing_reason([])


# Tokens of the reply --------------------------------------------------------------------------------------------------

TRACE = (
    Token("Is", -0.1, {}),
    Token(" it", -0.1, {}),
    Token(" False", -0.2, {}),
    Token("?\n</think>\n", -0.1, {}),
)
REPLY = (Token("True", -0.3, {"True": -0.3, "False": -1.4}), Token("<|im_end|>", -0.01, {}))


@pytest.mark.parametrize("text", ["True", "\nTrue "])
def test_tokens_of_reasoning_are_not_those_of_the_reply(text):
    assert tokens_from_reply(ModelReply(text, TRACE + REPLY)) == list(REPLY)
    assert token_problem(ModelReply(text, TRACE + REPLY), alternatives=True) == ""


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (ModelReply("True"), "returned no log-probabilities"),
        (ModelReply("True", problem="the server says no"), "the server says no"),
        (ModelReply("", TRACE), "empty or reasoning only"),
        (ModelReply("False", TRACE), "not those of the answer"),
        (ModelReply("True", (Token("zebra", -0.1, {}),)), "not those of the answer"),
        (
            ModelReply("a b c d e", tuple(Token(t, 0.0, {}) for t in ("a", " b", " c", " d", " e"))),
            "exactly 0",
        ),
        (ModelReply("True", (Token("True", -0.3, {"True": -0.3}),)), "no alternatives"),
    ],
)
def test_tokens_that_cannot_be_used_have_a_reason(reply, problem):
    assert problem in token_problem(reply, alternatives=True)


def test_an_answer_without_alternatives_has_no_distribution():
    alone = [Token("Answer: ", -0.1, {}), Token("True", -0.1, {})]
    assert option_probabilities(alone, YES_NO) == {}
    assert option_probabilities([alone[0], Token("True", -0.1, {"True": -0.1})], YES_NO) == {}


def test_of_alternatives_that_write_one_option_the_rest_is_that_of_the_others():
    listed = {"True": math.log(0.6), " True": math.log(0.1)}
    token = Token("True", math.log(0.6), listed)
    found = option_probabilities([Token("Answer: ", -0.1, {}), token], YES_NO)
    assert found == pytest.approx({"yes": 0.7, "no": 0.3})
    four = option_probabilities(
        [Token("Answer: ", -0.1, {}), Token("A", math.log(0.6), {"(A": math.log(0.1)})], letter_options(4)
    )
    assert four == pytest.approx({"A": 0.7, "B": 0.1, "C": 0.1, "D": 0.1})


def test_alternatives_of_a_total_probability_above_1_are_impossible():
    token = Token("True", -0.1, {"True": -0.1, "False": -0.1})
    assert "total probability of 1.81" in missing_reason([token])
    assert option_probabilities([Token("Answer: ", -0.1, {}), token], YES_NO) == {}


def first(listed: dict[str, float]) -> list[Token]:
    """Return the tokens of a reply whose first one has probabilities, the most probable token being sampled."""
    logprobs = {text: math.log(p) for text, p in listed.items()}
    said = max(listed, key=listed.__getitem__)
    return [Token("\n", -0.1, {}), Token(said, logprobs[said], logprobs), Token("!", -0.1, {})]


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        ({"A": 0.5, "B": 0.25}, {"A": 0.5 / (0.75 + 0.125 * 2), "B": 0.25, "C": 0.125, "D": 0.125}),
        (
            {"A": 0.4, " a": 0.2, "(A": 0.1, "B": 0.1, "C": 0.1, "D": 0.1},
            {"A": 0.7, "B": 0.1, "C": 0.1, "D": 0.1},
        ),
        ({"D": 0.3, "The": 0.7}, None),
        ({"The": 0.6, "A": 0.3}, {"A": 0.75, "B": 1 / 12, "C": 1 / 12, "D": 1 / 12}),
    ],
)
def test_a_reply_that_begins_with_a_bare_option_has_the_probability_of_each(listed, expected) -> None:
    found = first_token_probabilities(first(listed), letter_options(4))
    assert found == pytest.approx(expected or {"A": 0.0, "B": 0.0, "C": 0.0, "D": 1.0})


@pytest.mark.parametrize(
    "reply",
    [
        [],
        [Token("?", -0.1, {})],
        [Token("Maybe", -0.1, {"Perhaps": -3.0})],
        [Token("A", -0.1, {})],
        [Token("A", -9999.0, {"A": -9999.0})],
        [Token("A", 5.0, {"A": 5.0})],
        [Token("A", -0.1, {"A": -0.1, "B": -0.1})],
    ],
)
def test_a_reply_that_begins_otherwise_or_has_impossible_probabilities_has_none(reply) -> None:
    assert first_token_probabilities(reply, letter_options(2)) == {}


@given(st.lists(st.floats(0.001, 1.0), min_size=2, max_size=6), st.floats(0.1, 1.0))
def test_listed_options_share_one_in_proportion_to_their_probabilities(masses, total) -> None:
    options = letter_options(len(masses))
    listed = {letter: total * mass / sum(masses) for letter, mass in zip(options, masses, strict=True)}
    found = first_token_probabilities(first(listed), options)
    assert found == pytest.approx({letter: p / sum(listed.values()) for letter, p in listed.items()})
