"""``confidence-tasks sources``: the list, fetching, verifying, and messages without tracebacks."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from confidence_tasks.cli import main
from confidence_tasks.sources.source import CACHE_VARIABLE, MIRROR_VARIABLE
from confidence_tasks.sources.table import SOURCES


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(MIRROR_VARIABLE, raising=False)
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["sources", *arguments])


def test_list_shows_every_source_with_licence_size_gating_and_copy() -> None:
    result = run()
    assert result.exit_code == 0
    lines = {line.split()[0]: line for line in result.output.splitlines()}
    assert set(SOURCES) <= set(lines)
    assert lines["mmlu"].split() == ["mmlu", "14,042", "MIT", "open", "absent"]
    assert "gated" in lines["hle"]
    assert lines["arithmetic"].endswith("generated")


def test_list_fits_eighty_columns() -> None:
    assert max(map(len, run().output.splitlines())) <= 80


def test_json_list_is_complete(shared_data: Path) -> None:
    records = {r["name"]: r for r in json.loads(run("--json", "--mirror", str(shared_data / "hub")).output)}
    assert list(records) == list(SOURCES)
    assert records["mmlu"] == {
        "name": "mmlu",
        "questions": 14_042,
        "licence": "MIT",
        "gated": False,
        "state": "mirror",
        "page": "https://huggingface.co/datasets/cais/mmlu",
    }
    assert records["gpqa_diamond"]["state"] == "absent"
    assert records["fermi"]["state"] == "mirror"
    assert records["arithmetic"]["questions"] is None


def test_fetch_says_where_copies_are(monkeypatch, tmp_path: Path) -> None:
    import datasets

    rows = [{"question": f"{i}?", "answer": f"#### {i}"} for i in range(1_319)]
    monkeypatch.setattr("datasets.load.load_dataset", lambda *_, **__: datasets.Dataset.from_list(rows))
    result = run("fetch", "lifeeval", "gsm8k", "--into", str(tmp_path / "stick"))
    assert result.exit_code == 0
    assert "lifeeval: nothing to download" in result.output
    path = tmp_path / "stick" / "openai" / "gsm8k" / "main" / "test.jsonl"
    assert f"gsm8k: {path}" in result.output.replace("\n", "")
    assert path.is_file()
    assert (
        run("verify", "gsm8k", "--mirror", str(tmp_path / "stick")).output
        == "ok      gsm8k: 1,319 questions\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("fetch", "lifeeval", "mmul"), "did you mean 'mmlu'?"),
        (("fetch",), "Missing argument"),
        (("verify", "nothing"), "unknown source 'nothing'"),
        (("--mirror", "/nonexistent/folder"), "no such folder"),
        (("list",), "No such command"),
    ],
)
def test_mistakes_are_messages(arguments: tuple[str, ...], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code != 0
    assert message in result.output
    assert isinstance(result.exception, SystemExit)


def test_verify_checks_every_copy_that_is_there(shared_data: Path) -> None:
    result = run("verify", "--mirror", str(shared_data / "hub"), "--json")
    assert result.exit_code == 0
    found = {r["name"]: r["questions"] for r in json.loads(result.stdout)}
    assert found["mmlu"] == 14_042
    assert "hle" not in found


def test_verify_of_a_wrong_copy_fails(tmp_path: Path) -> None:
    path = tmp_path / "google" / "boolq" / "default" / "validation.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text('{"question": "is it", "answer": true}\n')
    result = run("verify", "boolq", "lifeeval", "--mirror", str(tmp_path))
    assert result.exit_code == 1
    assert "failed  boolq: 1 rows" in result.output
    assert "ok      lifeeval: 808 questions" in result.output
    assert run("verify", "mmlu").exit_code == 1


def test_command_is_installed_and_starts_light() -> None:
    probe = (
        "import sys; from confidence_tasks.cli import main; "
        "main(['sources', '--json'], standalone_mode=False); "
        "print({'pandas', 'datasets', 'scipy.special', 'scipy.stats', 'inspect_ai'} & set(sys.modules) or 'light')"
    )
    found = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert found.stdout.splitlines()[-1] == "light"


@pytest.mark.parametrize("options", [["--mirror", "elsewhere"], ["--json"]])
def test_options_before_a_command_are_not_ignored(options: list[str]) -> None:
    result = run(*options, "verify")
    assert result.exit_code == 2
    assert "options of 'verify' go after its name" in result.output
