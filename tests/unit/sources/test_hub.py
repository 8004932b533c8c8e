"""Hub sources: mirror, cache and download, and the errors of each."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from confidence_tasks.sources import SourceError, hub, load
from confidence_tasks.sources.hub import HubSource, RowSelection
from confidence_tasks.sources.source import CACHE_VARIABLE, MIRROR_VARIABLE
from confidence_tasks.sources.table import find_source

ROWS = [{"question": f"What is {i} + 1?", "answer": f"Easy.\n#### {i + 1}"} for i in range(5)]

SOURCE = HubSource(
    name="toy",
    hub_id="owner/toy",
    config="main",
    revision="0" * 40,
    licence="MIT",
    size=5,
    shape=hub.GSM8K,
)


HALVES = replace(SOURCE, selection=RowSelection("halueval_rows.csv", n_rows=10_000, sha256=""))
"""As many rows as HaluEval has, of which its selection is asked."""


@pytest.fixture(autouse=True)
def _no_mirror(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(MIRROR_VARIABLE, raising=False)
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))


@pytest.fixture
def toy_mirror(tmp_path: Path) -> Callable[[list[Any]], Path]:
    def write(rows: list[Any]) -> Path:
        path = tmp_path / "mirror" / "owner" / "toy" / "main" / "test.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return tmp_path / "mirror"

    return write


def test_mirror_is_read(toy_mirror) -> None:
    questions = SOURCE.load(None, 0, toy_mirror(ROWS))
    assert sorted((q.id, q.gold) for q in questions) == [(f"toy-{i}", str(i + 1)) for i in range(5)]
    assert SOURCE.load(3, 0, toy_mirror(ROWS)) == questions[:3]


def test_selected_rows_of_a_whole_split_have_their_row_numbers(toy_mirror) -> None:
    rows = [{"question": f"What is {i} + 1?", "answer": f"Easy.\n#### {i + 1}"} for i in range(10_000)]
    questions = HALVES.load(None, 0, toy_mirror(rows))
    assert len(questions) == len(HALVES.selection.numbers) == 1_000
    assert all(q.id == f"toy-{int(q.gold) - 1}" for q in questions)
    assert HALVES.selection.numbers[:3] == [6252, 4684, 1731]


def test_parquet_gives_the_same_questions(toy_mirror) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    folder = toy_mirror(ROWS)
    lines = folder / "owner" / "toy" / "main" / "test.jsonl"
    expected = SOURCE.load(None, 0, folder)
    wide = [{**row, "picture": b"\x00"} for row in ROWS]
    parquet.write_table(pa.Table.from_pylist(wide), lines.with_suffix(".parquet"))
    lines.unlink()
    assert SOURCE.load(None, 0, folder) == expected


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "toy: the split 'test' is empty"),
        (ROWS[:4], "toy: 4 rows, but revision 00000000 of owner/toy has 5"),
        ([*ROWS, ROWS[0]], "toy: 6 rows"),
        (
            [*ROWS[:4], {"question": "Q?", "target": "1"}],
            r"toy: row 4: missing columns: answer \(the row has question, target\)",
        ),
        ([*ROWS[:4], {"question": "Q?", "answer": 7}], "toy: row 4: column 'answer' must be a text, not 7"),
        ([*ROWS[:4], ["Q?", "7"]], "line 5 is not a JSON object"),
    ],
)
def test_wrong_rows_are_refused(toy_mirror, rows: list[Any], message: str) -> None:
    with pytest.raises(SourceError, match=message):
        SOURCE.load(None, 0, toy_mirror(rows))


def test_broken_json_names_the_line(toy_mirror) -> None:
    folder = toy_mirror(ROWS)
    path = folder / "owner" / "toy" / "main" / "test.jsonl"
    path.write_text(path.read_text() + "{" * 100_000)
    with pytest.raises(SourceError, match="line 6 is not JSON"):
        SOURCE.load(None, 0, folder)


@pytest.mark.parametrize("name", ["test.jsonl", "test.parquet"])
def test_binary_files_are_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "owner" / "toy" / "main" / name
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\xff\xfe rubbish")
    with pytest.raises(SourceError, match="toy: cannot read"):
        SOURCE.load(None, 0, tmp_path)


def test_sample_in_mirror_is_allowed_if_the_table_allows_it(
    toy_mirror, caplog: pytest.LogCaptureFixture
) -> None:
    assert len(replace(SOURCE, sample_in_mirror=True).load(None, 0, toy_mirror(ROWS[:4]))) == 4
    assert "a sample, 4 of 5 rows" in caplog.text
    with pytest.raises(SourceError, match="6 rows"):
        replace(SOURCE, sample_in_mirror=True).load(None, 0, toy_mirror([*ROWS, ROWS[0]]))


def test_repeated_keys_are_refused(toy_mirror) -> None:
    source = replace(SOURCE, shape=replace(hub.NQ_OPEN, key="question"), size=2)
    rows = [{"question": "who", "answer": ["x"]}] * 2
    with pytest.raises(SourceError, match="two rows have the same 'question'"):
        source.load(None, 0, toy_mirror(rows))


def test_mirror_without_the_source_names_the_path_and_the_command(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"owner.toy.main.test\.jsonl.*sources fetch toy --into"):
        SOURCE.load(None, 0, tmp_path)
    assert SOURCE.state(tmp_path) == "absent"


def downloads(monkeypatch: pytest.MonkeyPatch, rows: list[dict[str, Any]]) -> list[Any]:
    """Answer downloads with rows; returns the arguments of each."""
    import datasets

    calls: list[Any] = []

    def load_dataset(*args: Any, **kwargs: Any) -> Any:
        calls.append((args, kwargs))
        return datasets.Dataset.from_list([{**row, "picture": "unused"} for row in rows])

    monkeypatch.setattr("datasets.load.load_dataset", load_dataset)
    return calls


def test_first_load_downloads_the_pinned_commit_and_later_ones_do_not(monkeypatch, tmp_path: Path) -> None:
    calls = downloads(monkeypatch, ROWS)
    assert SOURCE.state(None) == "absent"
    first = SOURCE.load(None, 0, None)
    assert SOURCE.state(None) == "cached"
    assert SOURCE.load(None, 0, None) == first
    assert calls == [(("owner/toy", "main"), {"split": "test", "revision": "0" * 40})]
    assert SOURCE.verify(None) == 5
    assert "picture" not in next((tmp_path / "cache").rglob("test.jsonl")).read_text()


def test_default_configuration_is_not_passed_to_the_hub(monkeypatch) -> None:
    calls = downloads(monkeypatch, ROWS)
    replace(SOURCE, config="default").fetch()
    assert calls[0][0] == ("owner/toy", None)


def test_fetched_mirror_works_without_internet(monkeypatch, tmp_path: Path) -> None:
    downloads(monkeypatch, ROWS)
    SOURCE.fetch(tmp_path / "stick")
    assert SOURCE.state(tmp_path / "stick") == "mirror"
    assert len(SOURCE.load(None, 0, tmp_path / "stick")) == 5
    assert SOURCE.verify(tmp_path / "stick") == 5


def test_wrong_download_is_refused_and_not_saved(monkeypatch, tmp_path: Path) -> None:
    downloads(monkeypatch, ROWS[:3])
    with pytest.raises(SourceError, match="3 rows"):
        SOURCE.load(None, 0, None)
    assert not list((tmp_path / "cache").rglob("*.*"))


def test_changed_copy_is_found_by_verify(monkeypatch) -> None:
    downloads(monkeypatch, ROWS)
    path = SOURCE.fetch()
    path.write_text(path.read_text().replace("What", "Whom"))
    with pytest.raises(SourceError, match="has changed since its download"):
        SOURCE.verify(None)


def test_verify_without_a_copy_says_how_to_get_one() -> None:
    with pytest.raises(SourceError, match="sources fetch toy"):
        SOURCE.verify(None)


@pytest.mark.parametrize("attempt", [lambda: SOURCE.load(None, 0, None), lambda: SOURCE.fetch()])
def test_error_without_a_network_gives_useful_advice(monkeypatch, attempt) -> None:
    monkeypatch.setattr(
        "datasets.load.load_dataset",
        lambda *args, **kwargs: (_ for _ in ()).throw(ConnectionError("no route")),
    )
    with pytest.raises(SourceError) as refused:
        attempt()
    message = str(refused.value)
    assert re.search(rf"no route.*connection.*fetch toy --into FOLDER.*{MIRROR_VARIABLE}.*\.jsonl", message)
    assert "sources fetch toy`" not in message


@pytest.mark.parametrize("name", ["gpqa_diamond", "hle"])
def test_gated_source_without_a_token_names_page_and_variable(monkeypatch, name: str) -> None:
    monkeypatch.setattr("huggingface_hub.get_token", lambda: None)
    with pytest.raises(SourceError, match=r"gated.*https://huggingface\.co/datasets/.*HF_TOKEN"):
        load(name)


def test_gated_source_with_a_token_but_no_access_names_the_page(monkeypatch) -> None:
    monkeypatch.setattr("huggingface_hub.get_token", lambda: "token")
    monkeypatch.setattr(
        "datasets.load.load_dataset", lambda *args, **kwargs: (_ for _ in ()).throw(OSError("403"))
    )
    with pytest.raises(
        SourceError, match=r"Access must be granted at https://huggingface\.co/datasets/cais/hle"
    ):
        load("hle")


def test_gated_sources_can_come_from_a_mirror(tmp_path: Path) -> None:
    row = {
        "Record ID": "r",
        "Question": "Made up?",
        "Correct Answer": "yes",
        "Incorrect Answer 1": "a",
        "Incorrect Answer 2": "b",
        "Incorrect Answer 3": "c",
    }
    path = tmp_path / "Idavidrein" / "gpqa" / "gpqa_diamond" / "train.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps({**row, "Record ID": f"r{i}"}) + "\n" for i in range(198)))
    questions = load("gpqa_diamond", mirror=tmp_path)
    assert len({question.id for question in questions}) == 198


def test_unknown_source_suggests_and_lists() -> None:
    with pytest.raises(
        SourceError, match=r"unknown source 'MMUL'; did you mean 'mmlu'\? Sources: mmlu, gsm8k"
    ):
        load("MMUL")
    with pytest.raises(SourceError, match=r"unknown source 'zzz'. Sources:"):
        find_source("zzz")


def test_error_for_an_unknown_option_lists_the_options() -> None:
    with pytest.raises(SourceError, match="mmlu: unknown option splt; it takes none"):
        load("mmlu", splt="x")
    with pytest.raises(SourceError, match="fermi: unknown option seeds; it takes split"):
        load("fermi", seeds=1)


@pytest.mark.parametrize("n", [0, -3])
def test_size_must_be_positive(n: int) -> None:
    with pytest.raises(SourceError, match="n must be at least 1"):
        load("arithmetic", n=n)


def test_mirror_that_does_not_exist_is_refused(monkeypatch, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"mirror=.*no such folder"):
        load("mmlu", mirror=tmp_path / "none")
    monkeypatch.setenv(MIRROR_VARIABLE, str(tmp_path / "none"))
    with pytest.raises(SourceError, match=f"{MIRROR_VARIABLE}=.*no such folder"):
        load("mmlu")


def test_every_revision_is_a_commit() -> None:
    from confidence_tasks.sources.table import SOURCES

    revisions = [source.revision for source in SOURCES.values() if isinstance(source, HubSource)]
    assert len(revisions) == 14
    assert all(len(revision) == 40 and set(revision) <= set("0123456789abcdef") for revision in revisions)


def test_importing_and_loading_import_no_heavy_packages() -> None:
    probe = (
        "import sys; from confidence_tasks.sources import load; load('arithmetic'); load('lifeeval'); "
        "print({'pandas', 'datasets', 'pyarrow', 'huggingface_hub', 'scipy.stats'} & set(sys.modules) or '[]')"
    )
    found = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
