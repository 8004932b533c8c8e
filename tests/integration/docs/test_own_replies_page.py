"""The page on own replies: its files are scored with its commands, and print what stands there."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.integration.docs.pages import ROOT, blocks, commands

from confidence_tasks.cli import main

PAGE = ROOT / "docs/own_replies.md"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    texts = {
        "replies.jsonl": blocks(PAGE, "json")[0],
        **dict(zip(("judged.csv", "intervals.csv"), blocks(PAGE, "csv"), strict=True)),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "scores.csv").write_text("entropy,correct\n" + "1.5,0\n0.2,1\n0.9,0\n0.4,1\n" * 5)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
def test_the_commands_of_the_page_run_and_print_what_stands_there(folder: Path) -> None:
    printed = []
    for words in commands(PAGE):
        result = CliRunner().invoke(main, words[1:])
        assert result.exit_code == 0, result.output
        printed.append(result.output)

    of_replies, of_intervals = blocks(PAGE, "console")
    assert printed[0].startswith(of_replies)
    assert printed[4].startswith(of_intervals)
    assert "3 right, 2 wrong, 1 abstained" in printed[2]
    convention = dict(
        line.split()[:2] for line in printed[2].splitlines() if "  [" in line and "bins" in line
    )
    assert (convention["guo"], convention["torchmetrics"]) == ("0.330", "0.330")
    assert "hle_all_bins     0.190" in printed[2]
    assert {path.name for path in (folder / "logs").iterdir()} >= {
        "replies_trials.jsonl",
        "judged_trials.jsonl",
    }
