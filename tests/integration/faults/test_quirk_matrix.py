"""A part of the table of tasks and quirks: no reply is read as another one."""

from pathlib import Path

import pytest
from benchmarks.server_quirks import outcome, run, trials_of
from tests.integration.faults.loopback import ENVIRONMENT, stub

QUIRKS = {"think": "same", "reasoning": "same", "think-cut": "missing", "filter": "missing", "html": "lost"}


@pytest.mark.parametrize("task", ["boolq", "riskeval"])
def test_no_quirk_changes_a_number(task: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    with stub() as server:
        plain = trials_of(run(task, "plain", server, tmp_path))
        found = {quirk: trials_of(run(task, quirk, server, tmp_path)) for quirk in QUIRKS}
    for quirk, expected in QUIRKS.items():
        assert {outcome(trial, found[quirk].get(key)) for key, trial in plain.items()} == {expected}, quirk
