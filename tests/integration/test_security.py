"""What the package never does: evaluate data, write half a file, leave its folders, download what is not pinned."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest
from click.testing import CliRunner
from tests.unit.report.runs import rows, write

import confidence_tasks
from confidence_tasks.report.commands.compare import compare
from confidence_tasks.report.commands.printing import print_json
from confidence_tasks.report.commands.report import report
from confidence_tasks.report.labels import plain_csv
from confidence_tasks.sources import SourceError
from confidence_tasks.sources.fermi import COMMIT, FILES
from confidence_tasks.sources.hub import HubSource
from confidence_tasks.sources.own_file import read_own_file
from confidence_tasks.sources.source import write_atomically
from confidence_tasks.sources.table import SOURCES

PACKAGE = Path(confidence_tasks.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))


def calls(path: Path) -> Iterator[tuple[str, int]]:
    """Every name that a module calls, with its line."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node.lineno


EVALUATING = re.compile(
    r"(eval|exec|compile|__import__|os\.system|os\.popen|(.*\.)?(pickle|marshal|shelve|dill)\.\w+|joblib\.load"
    r"|subprocess\..*|yaml\.(load|unsafe_load|full_load)|ast\.literal_eval|importlib\.util\.exec_module)"
)


OURS = {"recorded.py": {"eval"}, "local_model.py": {"subprocess.run"}}
"""Inspect's own `eval`, which runs a task, and pip with arguments of our own, to download a pinned wheel."""


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_nothing_is_evaluated_or_executed(path: Path) -> None:
    found = [(name, line) for name, line in calls(path) if EVALUATING.fullmatch(name)]
    assert not {name for name, _ in found} - OURS.get(path.name, set())
    assert not re.search(
        r"^\s*(?:import|from) (?:pickle(?! import PicklingError$)|marshal|shelve|dill|joblib import .*\bload)\b",
        path.read_text(),
        re.M,
    )


def test_every_download_is_pinned_and_the_archive_hashed() -> None:
    hub = [source for source in SOURCES.values() if isinstance(source, HubSource)]
    assert len(hub) >= 12
    assert all(re.fullmatch(r"[0-9a-f]{40}", source.revision) for source in hub)
    assert all(source.size for source in hub)
    assert re.fullmatch(r"[0-9a-f]{40}", COMMIT)
    assert all(re.fullmatch(r"[0-9a-f]{64}", digest) for digest in FILES.values())


def test_a_changed_copy_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONFIDENCE_TASKS_CACHE", str(tmp_path))
    source = SOURCES["mmlu"]
    assert isinstance(source, HubSource)
    path = source._path(None)
    write_atomically(path, b'{"question": "?"}\n')
    write_atomically(path.with_name(f"{path.name}.sha256"), b"0" * 64)
    with pytest.raises(SourceError, match="has changed since its download"):
        source.verify(None)


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "..", "/etc/passwd", "a/b", "a\\b", "x" * 101, "", "a\nb"]
)
def test_an_id_of_a_user_cannot_be_a_path(name: str, tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    path.write_text(json.dumps({"question": "?", "answer": "!", "id": name}))
    if name == "..":  # no path by itself: it stands behind the name of its source
        assert read_own_file(path)[0].id == "own-.."
    else:
        with pytest.raises(SourceError, match="'id' must be"):
            read_own_file(path)


def test_the_name_of_a_file_of_questions_cannot_be_a_path(tmp_path: Path) -> None:
    path = tmp_path / "..%2f..\\up and <b>.jsonl"
    path.write_text('{"question": "?", "answer": "!"}')
    (question,) = read_own_file(path)
    assert re.fullmatch(r"[\w.-]+", question.source)


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "report.html"
    write_atomically(path, b"old")

    def fails(*_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(Path, "replace", fails)
    with pytest.raises(OSError, match="no space"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.html"]


IN_PLACE = re.compile(r".*\.(write_text|write_bytes|to_csv|to_parquet)")
ALLOWED = {"local_model.py"}
"""Makes a new folder of its own."""


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_result_is_written_in_place(path: Path) -> None:
    found = [
        (name, node.lineno)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and IN_PLACE.fullmatch(name := ast.unparse(node.func))
        and not (name.endswith("to_csv") and not _names_a_file(node))
    ]
    assert path.name in ALLOWED or not found


def _names_a_file(call: ast.Call) -> bool:
    """Whether ``to_csv`` is told where to write, rather than to return the text."""
    return bool(call.args) or any(keyword.arg == "path_or_buf" for keyword in call.keywords)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", " =1", "\n=1", "\r=1", "\uff1d1+1"])
def test_a_name_is_no_formula_in_a_table_for_a_spreadsheet(name: str, tmp_path: Path) -> None:
    trials = write(tmp_path / "a.jsonl", rows("scales", name))
    options = ["-o", str(tmp_path / "page.html"), "--tables", str(tmp_path), "--resamples", "20"]
    done = CliRunner().invoke(report, [str(trials), *options])
    assert done.exit_code == 0, done.output
    written = pd.read_csv(tmp_path / "estimates.csv", keep_default_na=False)["model"]
    assert len(written)
    assert not written.str.lstrip().str.startswith(("=", "+", "-", "@", "\uff1d")).any()
    assert not written.str.startswith("\t").any()


def test_a_name_is_no_formula_as_the_head_of_a_column() -> None:
    """Tables of papers have a column for each model."""
    table = plain_csv(pd.DataFrame({"@SUM(A1)": [0.5], "gpt-4o": ["=1+1"]}))
    assert table.splitlines() == ["'@SUM(A1),gpt-4o", "0.5,'=1+1"]


CONTROLS = "\x1b[2J\x07\x0b\x9b2J\x7f\u202e\u2066\u200b\u00ad\ufeff\u2028"


def test_no_output_has_control_characters(tmp_path: Path) -> None:
    """A terminal would obey them, and a reader would see other names than the file has; XML forbids some."""
    trials = write(tmp_path / "a.jsonl", rows("scales", f"gpt{CONTROLS}4"))
    folders = ["--tables", str(tmp_path / "tables"), "--figures", str(tmp_path / "figures")]
    options = ["-o", str(tmp_path / "page.html"), "--resamples", "20"]
    done = CliRunner().invoke(report, [str(trials), *options, *folders])
    assert done.exit_code == 0, done.output
    written = [path for path in tmp_path.rglob("*") if path.suffix in {".html", ".csv", ".tex", ".svg"}]
    assert {path.suffix for path in written} == {".html", ".csv", ".tex", ".svg"}
    for text in (done.output, *(path.read_text(encoding="utf-8") for path in written)):
        assert not set(text) & (set(CONTROLS) - set("[2J"))
    for path in tmp_path.rglob("*.svg"):
        ElementTree.parse(path)
    bad = tmp_path / f"bad{CONTROLS}.eval"
    bad.write_bytes(b"nothing")
    assert not set(CliRunner().invoke(report, [str(bad), *options]).output) & (set(CONTROLS) - set("[2J"))


def test_json_for_a_terminal_has_no_control_characters_and_keeps_its_values(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [f"gpt{CONTROLS}{number}" for number in (1, 2)]
    files = [write(tmp_path / f"{name}.jsonl", rows("scales", name)) for name in names]
    bad = tmp_path / f"bad{CONTROLS}.eval"
    bad.write_bytes(b"nothing")
    folder = ["-o", str(tmp_path / "page.html")]
    for command, given in ((compare, files), (report, [*files, bad, *folder])):
        done = CliRunner().invoke(command, [*map(str, given), "--json", "--resamples", "20"])
        assert done.exit_code == 0, done.output
        assert not set(done.output) & (set(CONTROLS) - set("[2J"))
    print_json({CONTROLS: [CONTROLS, "\U000e0041"]})
    assert json.loads(capsys.readouterr().out) == {CONTROLS: [CONTROLS, "\U000e0041"]}


@pytest.mark.parametrize("address", ["javascript:alert(1)", "data:text/html,x", "viewer"])
def test_links_to_the_viewer_lead_to_a_page(address: str, tmp_path: Path) -> None:
    trials = write(tmp_path / "a.jsonl", rows("scales"))
    done = CliRunner().invoke(report, [str(trials), "--viewer", address])
    assert done.exit_code == 2
    assert "must begin with http:// or https://" in " ".join(done.output.split())
