"""The commands of the tutorial, and of a plan, print what stands below them; so do the numbers of the README."""

import json
from pathlib import Path

import pytest
from tests.integration.commands import run
from tests.integration.docs.pages import ROOT, all_blocks, words_of

pytestmark = pytest.mark.slow

NO_KEY = ("simulated/", "report logs", "compare logs")
"""Parts of commands that need neither a key nor a download."""


def printed_below(page: Path) -> list[tuple[str, str]]:
    """The blocks of commands of a page, each with the block of output before the next one; empty without output."""
    found: list[tuple[str, str]] = []
    last = ""
    for language, text in all_blocks(page):
        if language == "bash":
            found.append((text, ""))
        elif language in ("text", "console") and last == "bash":
            found[-1] = found[-1][0], text
        last = language
    return found


def runs_anywhere(words: list[str]) -> bool:
    return words[0] in ("inspect", "confidence-tasks") and any(part in " ".join(words) for part in NO_KEY)


def lines(text: str) -> list[str]:
    """The lines of an output, without the widths of columns and of the terminal."""
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


@pytest.fixture(scope="module")
def tutorial(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[tuple[str, str]]]:
    """The tutorial, typed up to its real model: the folder, and what each block must print and has printed."""
    folder = tmp_path_factory.mktemp("tutorial")
    compared = []
    for block, below in printed_below(ROOT / "docs/tutorial.md"):
        typed = [[word for word in words if word != "--open"] for words in words_of(block)]
        if not all(map(runs_anywhere, typed)):
            continue
        said = ""
        for words in typed:
            done = run(folder, *words, COLUMNS="100")
            assert done.returncode == 0, done.stderr
            said += done.stdout + done.stderr
        compared.append((below, said))
    return folder, compared


def test_the_tutorial_prints_what_stands_on_the_page(tutorial):
    _, compared = tutorial
    assert sum(bool(below) for below, _ in compared) == 3
    for below, said in compared:
        assert [line for line in lines(below) if line not in lines(said)] == []


def test_the_numbers_of_the_readme_are_those_of_its_first_run(tutorial):
    folder, _ = tutorial
    done = run(folder, "confidence-tasks", "report", "logs", "--json")
    rows = [row for row in json.loads(done.stdout)["estimates"] if row["model"] == "simulated/overconfident"]
    by_measure = {row["measure"]: row for row in rows}
    over = by_measure["overconfidence"]
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert f"right in {by_measure['accuracy']['value']:.0%} of them" in readme
    assert f"{by_measure['confidence']['value']:.0%} confident on average" in readme
    assert f"overconfidence {over['value']:.2f} [{over['low']:.2f}, {over['high']:.2f}]" in readme


def test_a_plan_prints_what_stands_on_the_page(tmp_path):
    blocks = printed_below(ROOT / "docs/decisions.md")
    ((block, below),) = (each for each in blocks if each[0].startswith("confidence-tasks plan"))
    _, words, _ = words_of(block)
    done = run(tmp_path, *words, COLUMNS="100")
    assert [line for line in lines(below) if line not in lines(done.stdout)] == []
