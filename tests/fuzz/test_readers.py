"""Any text for every reader: no error, a sound result, in time that grows with the length and little memory."""

import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.growth import TIMES_LONGER, grows_linearly, repeated

from confidence_tasks.elicitation.cleaning import HEAD, TAIL

from .file_readers import EXAMPLES, FILE_READERS, FileReader, read_text
from .readers import DISTRIBUTION, PARTS, READERS, SCORED, faults

WHOLE = {**READERS, **{f"trial {name}": scored for name, scored in SCORED.items()}}
EVERY = {**WHOLE, **PARTS}

FRAGMENTS = [
    "Answer", "Confidence", "correct", "final_answer", "confidence", "ABSTAIN", ":", "=", "\n", " ", "B", "London",
    "17", "/20", "%", "-", "**", "\\boxed{", "\\frac{", "}", "{", "[", "]", '"', '\\"', "'", ",", ".", "|", "<think>",
    "</think>", "```json", "```", "<b>", "&#49;", "<|im_end|>", "null", "true", "NaN", "1e999", "9" * 400, "½", "^",
    "١", "10^", '"L": ', '"U": ', '"Answer": ', '"Confidence": ', "I cannot answer", "not", "ninety", "\x00", "\ud800",
    "\u202e", "\ufdfa", "\ue000",
]  # fmt: skip
anything = st.one_of(
    st.text(st.characters(), max_size=200),
    st.lists(st.sampled_from(FRAGMENTS), max_size=30).map("".join),
    st.lists(st.sampled_from(FRAGMENTS), max_size=30).map(" ".join),
)


@given(anything)
@settings(max_examples=100)
def test_any_text_is_read_by_every_reader(text: str) -> None:
    assert not [(name, fault) for name, read in EVERY.items() for fault in faults(read(text))]


@given(anything)
def test_what_the_package_did_not_write_is_no_distribution(text: str) -> None:
    (read,) = DISTRIBUTION.values()
    try:
        found = read(text)
    except ValueError:
        return
    assert all(isinstance(value, int) for value in found)


# Time and memory ------------------------------------------------------------------------------------------------

UNITS = [
    "a", " ", "\n", "9", "[", '{"Answer":', '{"Answer": "', '"Answer": "B", ', "Answer: B\n", "Confidence: 1\n", "1,",
    "<think>", "**", "|a|b|\n", "\\boxed{", "½", "ABSTAIN ", "not ", "10^", "&amp;", "I cannot ",
]  # fmt: skip
SHORT = 4_000
"""Characters; eight times as many are still read in full."""


@pytest.mark.slow
@pytest.mark.parametrize("name", WHOLE)
def test_time_grows_no_faster_than_length(name: str) -> None:
    assert TIMES_LONGER * SHORT < HEAD + TAIL
    assert [unit for unit in UNITS if not grows_linearly(WHOLE[name], repeated(unit), SHORT)] == []


@pytest.mark.parametrize("name", READERS)
def test_a_reply_of_a_megabyte_takes_little_memory(name: str) -> None:
    text = "Answer: B, I think.\nConfidence: 17\n" * 30_000
    READERS[name]("Answer: B")
    tracemalloc.start()
    READERS[name](text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < 16 * len(text)


# Files ----------------------------------------------------------------------------------------------------------

every_file = pytest.mark.parametrize("reader", FILE_READERS.values(), ids=list(FILE_READERS))
CONTENTS = {
    "nothing": b"",
    "a byte order mark": b"\xef\xbb\xbf",
    "no UTF-8": b"\xff\xfe\x00\xd8",
    "null": b"null\n[]\n{}\n0\n",
    "zero bytes": b"\x00" * 1000,
    "deep": b"[" * 100_000,
    "huge integer": b'{"question": ' + b"9" * 10_000 + b"}",
    "an open quotation": b'question,reply\n"' + b"a" * 200_000,
    "surrogates": b'{"question": "\\ud800", "reply": "\\udfff", "answer": "\\ud800"}',
}


@every_file
@pytest.mark.parametrize("content", CONTENTS.values(), ids=list(CONTENTS))
def test_any_file_is_read_or_refused(reader: FileReader, content: bytes, tmp_path: Path) -> None:
    read_text(reader, content, tmp_path)


@every_file
def test_a_good_file_is_read(reader: FileReader, tmp_path: Path) -> None:
    if reader.name in EXAMPLES and not reader.name.startswith("replies"):
        assert read_text(reader, EXAMPLES[reader.name].encode(), tmp_path)


@every_file
def test_a_damaged_file_is_read_or_refused(reader: FileReader, tmp_path: Path) -> None:
    whole = EXAMPLES.get(reader.name, '{"status": "success"}').encode()
    for position in range(0, min(len(whole), 300), 17):
        for damage in (b"", b"\xff", b'"', b"\n", b"-1e999"):
            read_text(reader, whole[:position] + damage + whole[position + 1 :], tmp_path)
