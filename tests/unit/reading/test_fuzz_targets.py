"""Any text for every reader: no error, a sound result, and little memory."""

import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from confidence_tasks.reading.cleaning import HEAD, TAIL

from .fuzz_file_targets import EXAMPLES, FILE_READERS, FileReader, read_text
from .fuzz_targets import DISTRIBUTION, PARTS, READERS, SCORED, faults

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
def test_every_reader_reads_any_text(text: str) -> None:
    assert not [(name, fault) for name, read in EVERY.items() for fault in faults(read(text))]


@given(anything)
def test_any_other_text_is_no_distribution(text: str) -> None:
    (read,) = DISTRIBUTION.values()
    try:
        found = read(text)
    except ValueError:
        return
    assert all(isinstance(value, int) for value in found)


# Memory ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", READERS)
def test_a_reply_of_ten_megabytes_is_never_copied(name: str) -> None:
    text = "Answer: B, I think.\nConfidence: 17\n" * 300_000
    READERS[name]("Answer: B")
    tracemalloc.start()
    READERS[name](text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < len(text) / 2


ENDS = (
    ("", "\nAnswer: B\nConfidence: 0.9"),
    ('{"Reasoning": "', '", "Answer": "81", "Confidence": 0.9, "A": 0.9, "L": 1, "U": 2, "correct": true}'),
    ("<think>", "</think>\n12"),
    ("12\n", ""),
)
MIDDLES = tuple(
    middle.ljust(200)
    for middle in (
        "",
        "\n</think><|im_end|>\n",
        '"}\nAnswer: A\nConfidence: 0.3\n{"Answer": "3", "Confidence": 0.1, "L": 8, "U": 9}\n',
    )
)


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("ends", ENDS)
def test_the_middle_of_a_long_reply_is_not_read(name: str, ends: tuple[str, str]) -> None:
    first, last = ends[0] + "a " * HEAD, "b " * TAIL + ends[1]
    readings = {repr(READERS[name](first + middle + last)) for middle in MIDDLES}

    assert len(readings) == 1


@pytest.mark.parametrize("shape", [" ", "\r", "9"])
def test_a_million_spaces_line_ends_or_digits_state_no_confidence(shape: str) -> None:
    stated, others = PARTS["confidences text"](shape * 1_000_000)
    assert (stated.text, others) == ("", [])


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
