"""Any text for every reader: no error, a sound result, and little memory."""

import tracemalloc
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

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


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("ends", ENDS)
def test_the_middle_of_a_long_reply_is_not_read(name: str, ends: tuple[str, str]) -> None:
    first, last = ends[0] + "a " * HEAD, "b " * TAIL + ends[1]
    readings = {repr(READERS[name](first + middle + last)) for middle in MIDDLES}

    assert len(readings) == 1


# Growth ------------------------------------------------------------------------------------------------

SHAPES = (
    *(
        " ",
        "\r",
        "\n",
        "\u00a0",
        "\u0301",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "<",
        ">",
        "</",
        "*",
        "_",
        "`",
        "|",
        "#",
        "-",
    ),
    *("'", '"', "\u201c", "\\", "\\boxed{", "<think>", '{"', ":", "=", "/", "%", "&#", ".", ","),
    *("9", "9,", "9.", "9 ", "9%", "9/", "1. ", "10^", "\u00bd", "\u0661", "e", "a"),
    *("Answer", "Answer: ", "Confidence", "Confidence: ", "ABSTAIN ", "A) ", "I ", "not ", "no. "),
)
"""Runs that provoke regular expressions: spaces, line ends, brackets, quotes, marks, digits and words of labels."""

OPENINGS = ("", "Confidence: 9")
LONG = dict.fromkeys(WHOLE, 100_000) | dict.fromkeys(PARTS, 10_000)
"""Number of characters for each reader. What reads parts of replies is not given longer ones by readers of replies."""

MOST_SECONDS = 60
"""Processor time after which a reader is stopped: the suite fails instead of standing still."""


@pytest.fixture
def stopped_if_endless() -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise TimeoutError(f"a reader has not come to an end after {MOST_SECONDS} seconds of processor time")

    signal = pytest.importorskip("signal")
    if not hasattr(signal, "setitimer"):
        pytest.skip("this system cannot stop a reader")
    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, MOST_SECONDS)
    yield
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
    signal.signal(signal.SIGVTALRM, before)


@pytest.mark.slow
@pytest.mark.usefixtures("stopped_if_endless")
@pytest.mark.parametrize("name", EVERY)
def test_a_long_run_of_anything_is_read(name: str) -> None:
    """A reader of quadratic time would take hours; ``benchmarks/bench_growth.py`` measures the growth."""
    for shape, opening in product(SHAPES, OPENINGS):
        found = EVERY[name](opening + shape * (LONG[name] // len(shape)))
        assert not list(faults(found)), shape


@pytest.mark.usefixtures("stopped_if_endless")
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
