"""The JSON reader: strict replies, each lenient rule, and that no field is invented."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confidence_tasks.reading.fields import JsonFields, read_json_fields

KEYS = ("Answer", "Confidence")
WHOLE = {"Answer": "81", "Confidence": "0.7"}


# Strict replies -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        '{"Reasoning": "so", "Answer": 81, "Confidence": 0.7}',
        '\n{"Answer": "81",\n "Confidence": "0.7"}\n',
        '{"Answer": "81", "Confidence": 0.7, "Sources": [{"Answer": 4}]}',
    ],
)
def test_one_object_and_nothing_else_needs_no_rule(text):
    assert read_json_fields(text, KEYS) == JsonFields(WHOLE, ())


def test_numbers_keep_the_digits_that_were_written():
    text = '{"Answer": ' + "9" * 10_000 + ', "Confidence": 1e-999}'
    assert read_json_fields(text, KEYS).fields == {"Answer": "9" * 10_000, "Confidence": "1e-999"}


@pytest.mark.parametrize("value", ["null", "[81]", '{"years": 81}'])
def test_a_value_that_is_no_scalar_is_absent(value):
    assert read_json_fields(f'{{"Answer": {value}, "Confidence": 0.7}}', KEYS).fields == {"Confidence": "0.7"}


def test_booleans_are_true_and_false():
    assert read_json_fields('{"Answer": true, "Confidence": 0.7}', KEYS).fields["Answer"] == "true"


# Lenient rules --------------------------------------------------------------------------------------------------

LENIENT = {
    "fence": ('```json\n{"Answer": 81, "Confidence": 0.7}\n```', ("around",)),
    "prose before": ('Here it is:\n{"Answer": 81, "Confidence": 0.7}', ("around",)),
    "prose after": ('{"Answer": 81, "Confidence": 0.7}\nI hope this helps.', ("around",)),
    "newline in a string": ('{"Why": "a\nb", "Answer": 81, "Confidence": 0.7}', ("newlines",)),
    "other letter case": ('{"answer": 81, "CONFIDENCE": 0.7}', ("key_case",)),
    "wrapped": ('{"Response": {"Answer": 81, "Confidence": 0.7}}', ("nested",)),
    "twice": (
        '{"Answer": 81, "Confidence": 0.7}\nAgain: {"Answer": 81, "Confidence": 0.7}',
        ("around",),
    ),
    "key twice": ('{"Answer": 81, "Answer": 81, "Confidence": 0.7}', ()),
    "draft without confidence": ('{"Answer": 81, "Confidence": 0.7}\n{"Answer": 80}', ("around",)),
    "template after": (
        '{"Answer": 81, "Confidence": 0.7}\n{"Answer": "<age>", "Confidence": "<0-1>"}',
        ("around",),
    ),
    "broken template after": (
        '{"Answer": 81, "Confidence": 0.7}\n{"Answer": "<an "age">", "Confidence": "<0-1>"}',
        ("around",),
    ),
    "comments": ('{"Answer": 81, // years\n"Confidence": 0.7 /* sure */}', ("fields",)),
    "hash comment": ('{"Answer": "81", # years\n"Confidence": 0.7 # sure\n}', ("fields",)),
    "single quotes": ("{'Answer': '81', 'Confidence': 0.7}", ("fields",)),
    "quotes in a string": ('{"Why": "the "odd" one", "Answer": 81, "Confidence": 0.7}', ("fields",)),
    "bare text": ('{"Why": The odd one.\n"Answer": 81,\n"Confidence": 0.7\n}', ("fields",)),
    "trailing comma": ('{"Answer": 81, "Confidence": 0.7,}', ("fields",)),
    "braces of LaTeX": (r'\boxed{\{"Answer": 81, "Confidence": 0.7\}}', ("fields",)),
    "no closing brace": ('{"Answer": 81, "Confidence": "0.7"', ("fields",)),
    "lines with labels": ("**Answer:** 81\n**Confidence**: 0.7", ("fields",)),
    "typographic quotes": ("{“Answer”: “81”, “Confidence”: 0.7}", ("fields",)),
    "thought": ('<think>{"Answer": 1}</think>{"Answer": 81, "Confidence": 0.7}', ("thought",)),
    "end of turn": ('{"Answer": 81, "Confidence": 0.7}<|im_end|>\n<|im_start|>user', ("chat_tokens",)),
}


@pytest.mark.parametrize(("text", "rules"), LENIENT.values(), ids=LENIENT)
def test_lenient_rules_are_recorded(text, rules):
    assert read_json_fields(text, KEYS) == JsonFields(WHOLE, rules)


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ('{"Answer": 81, "Confidence": 0.7}\nExample: {"Answer": 80, "Confidence": 0.5}', {}),
        ('{"Answer": 81, "Confidence": 0.7,}\nExample: {"Answer": 80, "Confidence": 0.5,}', {}),
        (
            '{"Answer": 81, "Confidence": 0.7}\nQuestion: ...\n{"Answer": 81, "Confidence": 0.5}',
            {"Answer": "81"},
        ),
        ('{"Answer": 80, "Answer": 81, "Confidence": 0.7}', {"Confidence": "0.7"}),
    ],
)
def test_contradicted_keys_are_absent(text, fields):
    found = read_json_fields(text, KEYS)
    assert found.fields == fields
    assert "several" in found.rules


@pytest.mark.parametrize("end", [",}", "}"])
def test_the_last_of_several_objects_counts_on_request(end):
    first, second = (f'{{"Answer": {answer}, "Confidence": 0.5{end}' for answer in (80, 81))
    found = read_json_fields(f"{first}\n{second}", KEYS, last=True)
    assert found.fields == {"Answer": "81", "Confidence": "0.5"}
    assert found.rules[-1] == "last"
    assert "last" not in read_json_fields(f"{first}\n{first}", KEYS, last=True).rules


@pytest.mark.parametrize(
    "answer",
    ['He sang "Adams and Liberty", a song', '"Yes", he said', 'the "odd", or "even", one', 'No, "Rome".'],
)
def test_an_inner_quotation_mark_does_not_end_a_string(answer):
    assert read_json_fields(f'{{"Answer": "{answer}", "Confidence": 0.7}}', KEYS).fields["Answer"] == answer


def test_a_broken_object_with_all_keys_is_preferred_to_a_valid_one_with_few():
    text = '{"Answer": "..."}\n{"Why": "an "odd" one", "Answer": 81, "Confidence": 0.7}'
    assert read_json_fields(text, KEYS).fields == WHOLE


# Nothing is invented --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "",
        "81",
        "I cannot answer.",
        "{",
        "{}",
        "[]",
        '{"Reasoning": "Answer 81, Confidence 0.7',
        "The Answer: is 81",
    ],
)
def test_a_reply_that_states_no_field_has_none(text):
    assert read_json_fields(text, KEYS).fields == {}


@pytest.mark.parametrize(
    "broken_off", ['{"Answer": 81, "Confidence": 0.', '{"Answer": 81, "Confidence": 0.7']
)
def test_a_number_at_which_the_reply_breaks_off_is_absent(broken_off):
    assert read_json_fields(broken_off, KEYS).fields == {"Answer": "81"}


@pytest.mark.parametrize(
    ("text", "confidence"),
    [('{"Answer": 81, "Confidence": 0,85}', "0,85"), ('{"Answer": 81,\n"Confidence": 1,000}', "1,000")],
)
def test_a_comma_between_digits_does_not_cut_a_number_short(text, confidence):
    assert read_json_fields(text, KEYS).fields == {"Answer": "81", "Confidence": confidence}


def test_fields_of_two_objects_are_not_mixed():
    text = '{"Answer": 80, "Confidence": 0.5,}\n{"Answer": 81, "Conf'
    assert read_json_fields(text, KEYS).fields == {"Answer": "80", "Confidence": "0.5"}


# Any text ---------------------------------------------------------------------------------------

scalars = st.text(st.characters(exclude_categories=["Cs"]), max_size=20) | st.integers() | st.booleans()


@given(st.fixed_dictionaries(dict.fromkeys(KEYS, scalars)))
def test_output_of_json_is_read_strictly(value):
    expected = {
        key: str(item).lower() if isinstance(item, bool) else str(item) for key, item in value.items()
    }
    read = read_json_fields(json.dumps(value), KEYS)
    assert read.fields == expected


pieces = st.sampled_from(
    [
        '{"',
        '"Answer"',
        ": ",
        '"',
        ",",
        "}",
        "{",
        "[",
        "\\",
        "\n",
        "81",
        "```",
        "'",
        "//",
        "<think>",
        "é",
        "Answer:",
    ]
)


@settings(max_examples=300)
@given(st.lists(pieces, max_size=60).map("".join))
def test_any_text_gives_a_reading(text):
    read = read_json_fields(text, KEYS)
    assert read.fields.keys() <= set(KEYS)
