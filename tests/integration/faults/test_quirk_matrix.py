"""A part of the table of studies and quirks: no reply is read as another one, on either harness."""

from pathlib import Path

import pytest
from benchmarks.server_quirks import HARNESSES, cell, outcome
from tests.integration.faults.loopback import ENVIRONMENT, stub

pytestmark = pytest.mark.slow

EXPECTED = {
    ("Inspect", "question_sets"): {"think": "same", "cut": "missing", "filter": "missing", "html": "stopped"},
    ("Inspect", "riskeval"): {"think-cut": "missing", "harmony-bare": "same", "parts": "stopped"},
    ("Inspect", "signals"): {"top-absent": "9 same, 3 missing", "plain": "same", "end-token": "same"},
    ("Inspect", "nlp_metad"): {
        "end-token": "same",
        "echo-prompt": "same",
        "harmony-bare": "missing",
        "refusal-in-words": "missing",
    },
    ("Inspect", "benchmark"): {"cut": "missing", "think": "same", "html": "stopped"},
    ("lm-eval", "question_sets"): {"think": "same", "cut": "missing", "filter": "missing", "html": "stopped"},
    ("lm-eval", "signals"): {"reasoning": "same", "think-cut": "missing"},
    ("lm-eval", "signals (tokens)"): {"echo-other-tokens": "missing", "shuffle": "same"},
    ("lm-eval", "nlp_metad"): {"think": "same", "parts": "same", "end-token": "same", "echo-prompt": "same"},
    ("lm-eval", "benchmark"): {"cut": "missing", "think": "same", "html": "stopped"},
}


@pytest.mark.parametrize(("harness", "study"), EXPECTED)
def test_no_quirk_changes_a_number(
    harness: str, study: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    run, _ = HARNESSES[harness]
    with stub() as server:
        plain = run(study, "plain", server, tmp_path)
        found = {quirk: run(study, quirk, server, tmp_path) for quirk in EXPECTED[harness, study]}
    assert plain.trials
    assert {quirk: cell(plain, each) for quirk, each in found.items()} == EXPECTED[harness, study]


@pytest.mark.parametrize(
    ("after", "noted", "word"),
    [
        ({"confidence": 0.5, "correct": 1.0}, False, "same"),
        ({"confidence": float("nan"), "correct": 1.0}, False, "missing"),
        ({"confidence": 0.4, "correct": 1.0}, False, "WRONG"),
        ({"confidence": 0.4, "correct": 1.0}, True, "noted"),
        (None, False, "lost"),
    ],
)
def test_words_of_the_table(after: dict[str, float] | None, noted: bool, word: str) -> None:
    assert outcome({"confidence": 0.5, "correct": 1.0}, after, noted=noted) == word
