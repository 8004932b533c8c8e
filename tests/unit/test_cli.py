"""The command itself: terminals that cannot print every sign."""

import os
import subprocess
import sys

import pytest

from confidence_tasks.cli import PLAIN


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("M-ratio −0.30 ± 0.10", "M-ratio -0.30 +- 0.10"),
        ("meta-d′ ≥ 0 …", "meta-d' >= 0 ..."),
        ("modèle", "mod\\xe8le"),
    ],
)
def test_signs_that_an_encoding_lacks_are_written_plainly(text: str, printed: str) -> None:
    assert text.encode("ascii", errors=PLAIN).decode() == printed


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_a_terminal_of_few_signs_keeps_every_minus(encoding: str) -> None:
    command = [sys.executable, "-c", "from confidence_tasks.cli import main; main()"]
    run = subprocess.run(
        [*command, "compare", *["examples/riskeval.eval"] * 2],
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONIOENCODING": encoding},
    )
    # click itself writes UTF-8 where the encoding is said to be ASCII.
    assert " -0.002 " in run.stdout.decode("utf-8" if encoding == "ascii" else encoding)
