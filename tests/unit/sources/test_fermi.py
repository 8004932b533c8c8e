"""The Fermi archive: parsed, corrected, filtered with exclusions counted, and split by seed."""

import csv
import io
import json
import shutil
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from confidence_tasks.sources import SourceError, fermi, load
from confidence_tasks.sources.fermi import FILES, Archive, read_archive
from confidence_tasks.sources.source import CACHE_VARIABLE, MIRROR_VARIABLE
from confidence_tasks.sources.table import find_source


@pytest.fixture(scope="module")
def archive(shared_data: Path) -> Archive:
    return read_archive(shared_data / "fermi")


@pytest.mark.parametrize(
    ("start", "exponent"),
    [
        ("How many pennies would it take to cover the state of Pennsylvania?", 13),
        ("Suppose we had enough soup cans (2 inch radius, 6 inches tall)", 6),
        ("If the weight of all humans on Earth is approximately one trillion pounds", 11),
        ("Suppose a tennis player serves a ball at 120 mph.", 3),
    ],
)
def test_examples_of_the_paper(archive: Archive, start: str, exponent: int) -> None:
    (question,) = (q for q in archive.questions if q.text.startswith(start))
    assert question.gold == str(exponent)


def test_every_item_is_used_or_counted_as_excluded(archive: Archive) -> None:
    assert len(archive.questions) + sum(archive.excluded.values()) == 4_008
    assert archive.excluded == {
        "unreadable_answer": 1,
        "out_of_range": 92,
        "discarded": 4,
        "bare_number": 2,
        "refers_to_another": 37,
        "duplicate": 121,
        "conflicting_duplicate": 33,
    }


def test_corrections_change_question_and_answer(archive: Archive) -> None:
    corrected = {q.text: q for q in archive.questions if q.metadata["corrected"]}
    assert corrected["What is 2^12?"].gold == "4"  # the superscript was lost: "What is 212?"
    pacific = "How many soup cans would be needed when the soup is emptied into the Pacific Ocean"
    assert next(q.gold for text, q in corrected.items() if text.startswith(pacific)) == "21"


def test_golds_are_integers_within_range(archive: Archive) -> None:
    assert all(-100 <= int(q.gold) <= 100 for q in archive.questions)
    assert all(q.kind == "number" for q in archive.questions)


def test_no_duplicates_discarded_items_or_bare_numbers(archive: Archive) -> None:
    texts = Counter(" ".join(q.text.casefold().split()) for q in archive.questions)
    assert max(texts.values()) == 1
    assert not any("discard" in text for text in texts)
    assert not any(text.replace(",", "").isdecimal() for text in texts)
    assert not any(
        "previous question" in text and "question:" not in text for text in texts if "mentions" not in text
    )


@pytest.mark.parametrize(
    ("text", "refers"),
    [
        ("How many protons would be in that set of atoms (from the previous question)?", True),
        ("Between the last three questions, how many teams received full points?", True),
        ("Of the quantity found in the question above, n% is used. What is n?", True),
        ("What is the sum of the answers to the first four Math section problems?", True),
        (
            "How many pounds is all the snow in problem 3? (Problem 3: If 6 inches of snow fall on Washington)",
            False,
        ),
        ("What fraction of the answer to question 3? (Q3: How many avocados would you need?)", False),
        ("If I double my intake from the previous day, every day, for 3 years?", False),
        (
            "In total, how many multiple-choice questions were bubbled in during all SAT exams last year?",
            False,
        ),
    ],
)
def test_references_to_other_questions(text: str, refers: bool) -> None:
    assert fermi._refers_to_another(text) is refers


def test_split_has_500_each_and_depends_on_the_seed_only(mirror: Path) -> None:
    calibration = load("fermi", split="calibration", seed=4)
    test = load("fermi", split="test", seed=4)
    assert len(calibration) == len(test) == 500
    assert not {q.id for q in calibration} & {q.id for q in test}
    assert load("fermi", split="test", seed=4, n=20) == test[:20]
    assert {q.id for q in load("fermi", split="test", seed=5)} != {q.id for q in test}


def test_halves_alternate(mirror: Path) -> None:
    both = load("fermi", n=40)
    assert Counter(q.metadata["split"] for q in both) == {"calibration": 20, "test": 20}
    assert [q for q in both if q.metadata["split"] == "test"] == load("fermi", split="test")[:20]


def test_whole_archive(mirror: Path, archive: Archive) -> None:
    assert {q.id for q in load("fermi", split="archive")} == {q.id for q in archive.questions}


def test_unknown_split_lists_the_splits(mirror: Path) -> None:
    with pytest.raises(SourceError, match="calibration, test, all, archive"):
        load("fermi", split="train")


def test_archive_in_the_mirror(shared_data: Path, tmp_path: Path) -> None:
    shutil.copytree(shared_data / "fermi", tmp_path / "fermi")
    assert load("fermi", n=5, mirror=tmp_path) == load("fermi", n=5, mirror=shared_data / "hub")
    assert find_source("fermi").state(tmp_path) == "mirror"


def test_error_for_a_mirror_without_the_archive_says_how_to_add_it(tmp_path: Path) -> None:
    (tmp_path / "hub").mkdir()
    with pytest.raises(SourceError, match="sources fetch fermi --into"):
        load("fermi", mirror=tmp_path / "hub")


def test_changed_archive_is_refused(shared_data: Path, tmp_path: Path) -> None:
    (tmp_path / "fermi").mkdir()
    for name in FILES:
        script = (shared_data / "fermi" / name).read_text()
        (tmp_path / "fermi" / name).write_text(script + "\nalert(1)")
    with pytest.raises(SourceError, match="does not have the pinned SHA-256"):
        load("fermi", mirror=tmp_path)


@given(
    st.recursive(
        st.integers() | st.text() | st.booleans(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_literals_are_parsed(value: object) -> None:
    script = f"data = {json.dumps(value)}\nwindow.location = 'elsewhere'"
    assert fermi._literal(script, "data") == value


@pytest.mark.parametrize("script", ["", "data = alert(1)", "data = [1, alert(1)]", "data = " + "[" * 100_000])
def test_scripts_without_a_literal_are_refused(script: str) -> None:
    with pytest.raises(SourceError, match="'data'"):
        fermi._literal(script, "data")


@pytest.fixture
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(MIRROR_VARIABLE, raising=False)
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))


@pytest.mark.usefixtures("_alone")
def test_download_is_checked_and_cached(monkeypatch, shared_data: Path) -> None:
    asked = []

    def urlopen(url: str, timeout: float) -> io.BytesIO:
        asked.append(url)
        return io.BytesIO((shared_data / "fermi" / url.rpartition("/")[2]).read_bytes())

    monkeypatch.setattr("urllib.request.urlopen", urlopen)
    source = find_source("fermi")
    assert source.state(None) == "absent"
    first = load("fermi")
    assert load("fermi") == first
    assert source.state(None) == "cached"
    assert len(asked) == 2
    assert all(url.startswith("https://raw.githubusercontent.com/") and fermi.COMMIT in url for url in asked)
    assert source.verify(None) == len(load("fermi", split="archive"))


@pytest.mark.usefixtures("_alone")
def test_wrong_download_is_refused_and_not_saved(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr("urllib.request.urlopen", lambda url, timeout: io.BytesIO(b"data = []"))
    with pytest.raises(SourceError, match="pinned SHA-256"):
        load("fermi")
    assert not (tmp_path / "cache").exists()


@pytest.mark.usefixtures("_alone")
def test_no_network_names_the_mirror_variable_and_the_command(monkeypatch) -> None:
    def urlopen(url: str, timeout: float) -> io.BytesIO:
        raise OSError("no route")

    monkeypatch.setattr("urllib.request.urlopen", urlopen)
    with pytest.raises(SourceError, match=rf"no route.*sources fetch fermi.*{MIRROR_VARIABLE}"):
        load("fermi")
    with pytest.raises(SourceError, match="sources fetch fermi"):
        find_source("fermi").verify(None)


def test_error_without_a_network_gives_useful_advice(monkeypatch, tmp_path: Path) -> None:
    def unreachable(*_: object, **__: object) -> None:
        raise OSError("no route")

    monkeypatch.setattr("urllib.request.urlopen", unreachable)
    with pytest.raises(
        SourceError, match=r"no route.*connection.*fetch fermi --into FOLDER`.*_MIRROR"
    ) as refused:
        find_source("fermi").fetch(tmp_path)
    assert "fetch fermi`" not in str(refused.value)


def test_the_authors_split_has_their_questions_and_keys(mirror: Path, shared_data: Path) -> None:
    with (shared_data / "fermieval_split.csv").open() as file:
        listed = [row for row in csv.DictReader(file) if row["archive_position"]]
    halves = {"train": "calibration", "test": "test"}
    expected = {
        (f"fermi-{int(row['archive_position']):04d}", row["gold"], halves[row["split"]]) for row in listed
    }
    questions = load("fermi", split="authors")
    assert {(q.id, q.gold, q.metadata["split"]) for q in questions} == expected
    assert Counter(q.metadata["split"] for q in questions) == {"calibration": 491, "test": 491}
    assert [q.metadata["split"] for q in questions[:4]] == ["calibration", "test"] * 2
    assert load("fermi", split="authors_test") == [q for q in questions if q.metadata["split"] == "test"]
    assert load("fermi", split="authors", n=10) == questions[:10]
    assert load("fermi", split="authors", seed=1) != questions


def test_the_authors_keys_equal_those_of_the_corrected_archive(mirror: Path, archive: Archive) -> None:
    golds = {q.id: (q.gold, q.text) for q in archive.questions}
    authors = [q for q in load("fermi", split="authors") if q.id in golds]
    assert len(authors) == 949
    assert all((q.gold, q.text) == golds[q.id] for q in authors)


def test_a_warning_counts_questions_missing_from_the_archive(
    mirror: Path, caplog: pytest.LogCaptureFixture
) -> None:
    load("fermi", split="authors")
    assert "not asked: 9 of the calibration half, 9 of the test half" in caplog.text
