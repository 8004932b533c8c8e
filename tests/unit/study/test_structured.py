"""Replies that are JSON objects: their schemas, and what is no such object."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from confidence_tasks.study import Question, Structured
from confidence_tasks.study.structured import answer_schema, is_structured, object_schema, read_object

PROPERTIES = {
    "answer": {"type": "string", "enum": ["A", "B"]},
    "confidence": {"type": "integer"},
    "share": {"type": "number"},
}

VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.sampled_from("AB"), st.just([1])
)
OBJECTS = st.dictionaries(st.sampled_from([*PROPERTIES, "other"]), VALUES)


@given(OBJECTS)
def test_an_object_is_read_as_a_validator_of_schemas_would_but_for_further_keys_and_infinite_numbers(
    values: dict,
) -> None:
    validator = Draft202012Validator({**object_schema(PROPERTIES), "additionalProperties": True})
    share = values.get("share")
    is_finite = not isinstance(share, float) or share - share == 0
    # JSON Schema takes 1.0 for an integer.
    is_whole = not isinstance(values.get("confidence"), float)
    is_valid = validator.is_valid(values) and is_finite and is_whole
    assert (read_object(json.dumps(values), PROPERTIES) is not None) == is_valid


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    assert read_object(text, PROPERTIES) is None or json.loads(text)


@pytest.mark.parametrize(
    "text", ["", "A", "[]", "null", "{", "[" * 100_000, '{"answer": "A"}', '```json\n{"answer": "A"}\n```']
)
def test_what_is_no_object_of_the_schema_is_not_read(text: str) -> None:
    assert read_object(text, PROPERTIES) is None


def test_a_schema_has_all_keys_and_no_others_as_strict_servers_want() -> None:
    schema = object_schema(PROPERTIES)
    Draft202012Validator.check_schema(schema)
    assert schema["required"] == list(schema["properties"])
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize(
    ("kind", "schema"),
    [
        ("choice", {"type": "string", "enum": ["A", "B", "C"]}),
        ("boolean", {"type": "string", "enum": ["yes", "no"]}),
        ("number", {"type": "number"}),
        ("text", {"type": "string"}),
    ],
)
def test_the_schema_of_an_answer_is_that_of_its_kind(kind: str, schema: dict) -> None:
    assert answer_schema(Question("q", "s", "?", kind, "A", ("x", "y", "z"))) == schema


def test_a_reply_is_written_as_a_text_or_read_as_it_is() -> None:
    question = Question("q", "s", "?", "text", "A", metadata={"structured": True})
    as_it_is = Structured(lambda question, condition: {"answer": {"type": "string"}})
    written = Structured(as_it_is.properties, write=lambda question, values: f"Answer: {values['answer']}")
    reply = '{"answer": "Lima"}'
    assert is_structured(question)
    assert as_it_is.read(question, "", reply) == reply
    assert written.read(question, "", reply) == "Answer: Lima"
    assert written.read(question, "", "Answer: Lima") == ""
