"""What is sent after a server's refusal: every form of refusal, and the parameters that are not optional."""

import pytest

from confidence_tasks.harness.refusals import SYSTEM, Refusals, RefusedParameterError

SENT = {
    "temperature": 0.0,
    "seed": 7,
    "logprobs": True,
    "top_logprobs": 20,
    "max_tokens": 64,
    "stop": [],
}


def openai(message, param=None):
    return {"error": {"message": message, "type": "invalid_request_error", "param": param}}


def pydantic(name, message, value):
    return {"detail": [{"loc": ["body", name], "msg": message, "input": value}]}


WITHOUT_LOGPROBS = {"logprobs": None, "top_logprobs": None}


@pytest.mark.parametrize(
    ("body", "changed"),
    [
        (
            openai("Unsupported value: 'temperature' does not support 0. Only 1 is supported."),
            {"temperature": None},
        ),
        (
            {"error": "`temperature` must be strictly positive", "error_type": "validation"},
            {"temperature": None},
        ),
        (pydantic("temperature", "Input should be greater than 0", 0.0), {"temperature": None}),
        ("sampling Temperature 0 is not allowed", {"temperature": None}),
        (openai("Unknown parameter: 'seed'. Known: temperature, max_tokens, stop."), {"seed": None}),
        (openai("Extra inputs are not permitted", "seed"), {"seed": None}),
        (openai("You are not allowed to request logprobs from this model"), WITHOUT_LOGPROBS),
        (openai("This model does not return log-probabilities."), WITHOUT_LOGPROBS),
        (openai("top_logprobs must be between 0 and 5"), {"top_logprobs": 5}),
        (
            openai("Requested sample logprobs of 20, which is greater than max allowed: 5"),
            {"top_logprobs": 5},
        ),
        (pydantic("top_logprobs", "Input should be less than or equal to 8", 20), {"top_logprobs": 8}),
        (openai("'top_logprobs' is not supported with this model (gpt-5.1)."), {"top_logprobs": None}),
        (
            openai("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."),
            {"max_tokens": None, "max_completion_tokens": 64},
        ),
        (openai("max_tokens must be at most 32"), {"max_tokens": 32}),
        (openai("'stop' must not be empty: array too short"), {"stop": None}),
    ],
)
def test_the_named_parameter_is_left_out_lowered_or_renamed(body, changed):
    refusals = Refusals("m")
    assert refusals.learn(SENT, body, {})
    adapted, notes = refusals.adapt(SENT)
    expected = {name: value for name, value in {**SENT, **changed}.items() if value is not None}
    assert adapted == expected
    (note,) = notes
    assert "because the server says “" in note
    assert refusals.adapt(adapted) == (adapted, [])


@pytest.mark.parametrize(
    "body",
    [
        openai("Invalid API key"),
        openai("The prompt 'How hot is it?' is not allowed"),
        openai("This model's maximum context length is 4096 tokens, you requested 5000 max_tokens"),
        "<html>Bad Request</html>",
        "",
    ],
)
def test_a_refusal_that_names_no_parameter_is_an_error(body):
    assert not Refusals("m").learn(SENT, body, {})


@pytest.mark.parametrize(
    ("sentence", "limit"),
    [
        ("top_logprobs must be between 0 and 12", 12),
        ("top_logprobs must be between 0 and 10", 10),
        ("top_logprobs: try again later", None),
        ("top_logprobs must be between 0 and 5", None),
    ],
)
def test_a_number_above_those_that_were_accepted_is_lowered_to_a_stated_limit(sentence, limit) -> None:
    """A later stage asks for more alternatives, or tokens, than the first one: the run ended with an error."""
    refusals = Refusals("m")
    refusals.accept({"logprobs": True, "top_logprobs": 10})
    sent = {"logprobs": True, "top_logprobs": 20}
    assert refusals.learn(sent, sentence, {}) == (limit is not None)
    assert refusals.adapt(sent)[0]["top_logprobs"] == (limit or 20)
    assert refusals.adapt({"top_logprobs": 10})[0] == {"top_logprobs": 10}


def test_what_was_accepted_once_is_not_refused_later():
    """A server's sentence may quote a question about the temperature."""
    refusals = Refusals("m")
    refusals.accept(SENT)
    assert not refusals.learn(SENT, openai("the prompt 'Which temperature ...' is not allowed"), {})
    assert refusals.adapt(SENT) == (SENT, [])


def test_another_temperature_is_sent_and_every_seed_is_left_out():
    refusals = Refusals("m")
    refusals.learn(SENT, openai("temperature must be above 0"), {})
    refusals.learn({"seed": 7}, openai("seed is unknown"), {})
    assert refusals.adapt({"temperature": 1.0, "seed": 8})[0] == {"temperature": 1.0}
    assert refusals.adapt({"temperature": 0.0, "seed": 9})[0] == {}


def test_a_lowered_limit_leaves_lower_values():
    refusals = Refusals("m")
    refusals.learn(SENT, openai("top_logprobs must be at most 5"), {})
    assert refusals.adapt({"logprobs": True, "top_logprobs": 3})[0] == {"logprobs": True, "top_logprobs": 3}
    assert refusals.adapt({"logprobs": True, "top_logprobs": 10})[0] == {"logprobs": True, "top_logprobs": 5}


def test_a_needed_parameter_is_named_with_server_and_fix():
    needed = {"temperature": "Choose another with -T temperatures=1"}
    with pytest.raises(RefusedParameterError) as raised:
        Refusals("stub/m").learn({"temperature": 0.7}, openai("temperature must be 1"), needed)
    assert str(raised.value) == (
        "stub/m refuses temperature=0.7: “temperature must be 1” Choose another with -T temperatures=1"
    )


def test_the_user_s_limit_may_be_renamed_but_not_lowered():
    needed = {"max_tokens": "Lower --max-tokens"}
    refusals = Refusals("m")
    assert refusals.learn({"max_tokens": 9}, openai("no max_tokens: use max_completion_tokens"), needed)
    with pytest.raises(RefusedParameterError):
        Refusals("m").learn({"max_tokens": 9}, openai("max_tokens must be at most 8"), needed)


@pytest.mark.parametrize(
    ("body", "sent_later"),
    [
        (openai("Unsupported parameter: 'n'."), None),
        (openai("Extra inputs are not permitted", "n"), None),
        (pydantic("n", "Extra inputs are not permitted", 10), None),
        (openai("'n' : number must be at most 1"), 1),
        (openai("Number of choices must be between 1 and 4"), 4),
        ("candidateCount must be 8 or less", 8),
    ],
)
def test_a_refused_number_of_choices_is_left_out_or_lowered(body: object, sent_later: int | None) -> None:
    refusals, sent = Refusals("m"), {"temperature": 1.0, "n": 10}
    assert refusals.learn(sent, body, {})
    assert refusals.adapt(sent)[0].get("n") == sent_later
    assert refusals.adapt(sent)[0]["temperature"] == 1.0


def test_words_with_an_n_are_no_number_of_choices() -> None:
    sent = {"n": 10, "seed": 7}
    for body in (openai("Don't send an input in German"), r'{"error": "not\n allowed"}'):
        assert not Refusals("m").learn(sent, body, {})


def test_fewer_choices_than_asked_for_are_noted_and_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    refusals = Refusals("m")
    (note,) = refusals.note_choices({"n": 10}, 4)
    assert "gives 4 of the choices" in note
    assert refusals.note_choices({"n": 6}, 3) == [note]
    assert len(caplog.records) == 1
    for sent, given in (({"n": 4}, 4), ({}, 1), ({"n": 4}, 0)):
        assert refusals.note_choices(sent, given) == []


@pytest.mark.parametrize(
    "body",
    [
        openai("System role not supported"),
        openai("Conversation roles must alternate user/assistant/user/assistant/..."),
        openai("'messages[0].role' does not support 'system' with this model.", "messages[0].role"),
        openai("Developer instruction is not enabled for models/gemma-3-27b-it"),
    ],
)
def test_a_refused_system_message_stands_before_the_first_user_turn(body: object) -> None:
    refusals, sent = Refusals("m"), {**SENT, SYSTEM: True}
    assert refusals.learn(sent, body, {})
    adapted, (note,) = refusals.adapt(sent)
    assert adapted == SENT
    assert note.startswith("the system message stands before the first user turn, because the server says “")


def test_a_refused_response_schema_is_named_with_its_fix() -> None:
    sent = {"temperature": 0.0, "response_format": {"type": "json_schema"}}
    with pytest.raises(
        RefusedParameterError, match=r"m refuses response_format: “.*” Leave out the .*structured"
    ):
        Refusals("m").learn(sent, openai("This model does not support structured output"), {})


def test_a_sentence_without_a_name_may_mean_what_was_never_accepted() -> None:
    refusals, sent = Refusals("m"), {"temperature": 1.0, "seed": 7, "logprobs": True, "top_logprobs": 20}
    refusals.accept({"temperature": 1.0})
    body = openai("You may request at most 5 alternatives per token.")
    assert not refusals.learn(sent, body, {})
    guesses = refusals.guesses(sent, body)
    assert [guess.applied(sent) for guess in guesses] == [
        {"temperature": 1.0, "logprobs": True, "top_logprobs": 20},
        {**sent, "top_logprobs": 5},
        {"temperature": 1.0, "seed": 7},
    ]
    refusals.keep(guesses[1], {})
    adapted, notes = refusals.adapt(sent)
    assert adapted == {**sent, "top_logprobs": 5}
    assert notes == [f"top_logprobs=20 is lowered to 5, because the server says “{body['error']['message']}”"]
    with pytest.raises(RefusedParameterError, match="m refuses logprobs=True"):
        refusals.keep(guesses[2], {"logprobs": "Use another server"})


@pytest.mark.parametrize("message", ["seed must be an integer", "This exceeds the context window"])
def test_a_sentence_with_a_name_or_about_a_long_prompt_is_no_riddle(message: str) -> None:
    assert Refusals("m").guesses(SENT, openai(message)) == []


def test_a_hostile_sentence_is_bounded():
    refusals = Refusals("m")
    refusals.learn(SENT, openai("seed\x1b[31m\r\n" + "x" * 10**6), {})
    (note,) = refusals.adapt(SENT)[1]
    assert len(note) < 500
    assert note.isprintable()


def test_fewer_alternatives_than_asked_for_are_noted_with_the_first_number() -> None:
    refusals = Refusals("m")
    (note,) = refusals.note_alternatives({"top_logprobs": 20}, 5)
    assert "lists 5 alternatives" in note
    assert refusals.note_alternatives({"top_logprobs": 20}, 3) == [note]
    for sent, listed in (
        ({"top_logprobs": 5}, 5),
        ({"top_logprobs": 20}, 0),
        ({}, 5),
        ({"top_logprobs": 5}, 6),
    ):
        assert refusals.note_alternatives(sent, listed) == []
