"""Long replies of one shape, for every reader: the work is bounded, or grows with the length and no faster."""

import subprocess
import sys

import pytest
from tests.sizes import ALL

SHAPES = (
    *("9", "\r", "(", "[", "{", " ", "\n", "-", "|", "9,", "9 ", "a ", '"', "**", "<b>", '{"a":', "| a | b |\n"),
    *("I am 9% ", "not ", "but I ", "A: no\n", "Answer: ", "Confidence: ", "\\boxed{", "1e9", "`", "```\n", "(9"),
    *("9/", "no, ", "i don't ", "%", "~~"),
)  # fmt: skip

PROGRAM = """
import sys
from tests.unit.reading.fuzz_targets import PARTS, READERS
from confidence_tasks import read_confidence
from confidence_tasks.reading.abstention import is_abstention
from confidence_tasks.reading.confidence import PRESETS
from confidence_tasks.reading.stated import stated_confidence_of

whole = {**READERS, "stated": stated_confidence_of, "abstention": is_abstention}
whole |= {preset: lambda text, preset=preset: read_confidence(text, preset) for preset in (*PRESETS, "json:a")}
readers = whole if sys.argv[1] == "whole" else PARTS
for shape in eval(sys.argv[3]):
    text = shape * (int(sys.argv[2]) // len(shape))
    for name, read in readers.items():
        read(text)
print(len(readers))
"""

HANG = 300
"""Seconds after which a reader hangs: many times what the slowest machine needs."""


@pytest.mark.slow
@pytest.mark.parametrize(("readers", "length"), [("whole", 1_000_000 if ALL else 300_000), ("parts", 20_000)])
def test_no_reader_hangs_on_a_long_run_of_anything(readers: str, length: int) -> None:
    """A quadratic reader needs many minutes for so many characters; whole replies are cut to a length before."""
    command = [sys.executable, "-c", PROGRAM, readers, str(length), repr(SHAPES)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANG, check=True)
    assert int(done.stdout) >= 20
