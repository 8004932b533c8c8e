"""One bad row never takes a whole report: it is left out and named, and the rest is reported."""

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.integration.golden_logs import EXAMPLES
from tests.unit.report.runs import undrawn_report

from confidence_tasks.catalogue import studies
from confidence_tasks.report import Collection, collect
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.study.definition import Study

FEW = Settings(n_resamples=3)
BY_NAME = {
    study.name: study
    for study in studies()
    if any((EXAMPLES / f"{task}.eval").is_file() for task in study.designs)
}
"""Studies with an example log, which a new study has not."""


@cache
def sound(study: str) -> tuple[dict[str, Any], ...]:
    """Valid trials of a study, as rows of a file of trials."""
    file = next(file for file in examples().files if file.study == study)
    table = pd.DataFrame({"study": file.study, "task": file.design, "model": file.model, **file.columns})
    return tuple({str(key): value for key, value in row.items()} for row in table.to_dict("records"))


@cache
def examples() -> Collection:
    return collect(EXAMPLES)


def read(rows: list[dict[str, Any]], folder: Path) -> Collection:
    path = folder / "trials.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return collect(path)


def with_cell(study: str, row: int, column: str, value: Any) -> list[dict[str, Any]]:
    rows = [dict(each) for each in sound(study)]
    rows[row % len(rows)][column] = value
    return rows


# What has been found to end a report -------------------------------------------------------------------------------

ENDED = {
    "scales": [
        ("correct", 0.5, "correct is 0.5, which is none of 0, 1"),
        ("confidence_raw", math.inf, "confidence_raw is inf, which is not finite"),
    ],
    "nlp_metad": [
        ("correct", 0.5, "correct is 0.5, which is none of 0, 1"),
        ("domain", "", "domain is missing"),
    ],
    "lifeeval": [("difficulty", None, "difficulty is missing")],
    "question_sets": [
        ("correct", 0.5, "correct is 0.5, which is none of 0, 1"),
        ("answer_correct", 0.5, "answer_correct is 0.5, which is none of 0, 1"),
        ("judged_correct", 1e5, "judged_correct is 100000, which is none of 0, 1"),
    ],
    "fermieval": [("truth", "", "truth is missing")],
    "fermieval_sampling": [("truth", None, "truth is missing")],
    "fermieval_logprob": [
        ("truth", None, "truth is missing"),
        ("integer_mass", 1.3, "integer_mass is 1.3, not within [0, 1.01]"),
        ("distribution", "7:nan", "distribution is '7:nan': its probabilities are not"),
    ],
}


@pytest.mark.parametrize("study", ENDED)
def test_bad_cells_are_named_and_the_other_rows_are_reported(study, tmp_path):
    rows = [dict(row) for row in sound(study)]
    for row, (column, value, _) in enumerate(ENDED[study]):
        rows[row][column] = value
    results = read(rows, tmp_path)
    reasons = [entry.reason for entry in results.skipped]
    assert len(reasons) == len(ENDED[study])
    for row, (_, _, reason) in enumerate(ENDED[study], start=1):
        start = f"1 of {len(rows)} trials does not count (row {row}): {reason}"
        assert any(given.startswith(start) for given in reasons), start
    made = undrawn_report(results, settings=FEW)
    (task,) = made.results
    assert sum(map(len, task.models)) == len(rows) - len(reasons)
    assert "(row 1)" in made.html


@pytest.mark.parametrize("text", ["7:0.9 8:0.9", "many", "7:-1", "7", "7:0", "5000:1", "7:inf"])
def test_a_text_that_is_no_distribution_is_named(text, tmp_path):
    (entry,) = read(with_cell("fermieval_logprob", 2, "distribution", text), tmp_path).skipped
    assert f"(row 3): distribution is {text!r}: " in entry.reason


@pytest.mark.parametrize(
    ("study", "column"),
    [
        ("lifeeval", "difficulty"),
        ("lifeeval", "age"),
        ("nlp_metad", "domain"),
        ("fermieval", "truth"),
        ("fermieval_sampling", "truth"),
        ("fermieval_logprob", "truth"),
        ("scales", "status"),
    ],
)
def test_a_file_without_a_needed_column_is_named_and_the_others_are_reported(study, column, tmp_path):
    rows = [{key: value for key, value in row.items() if key != column} for row in sound(study)]
    (tmp_path / "sound").mkdir()
    read(list(sound("riskeval")), tmp_path / "sound")
    read(rows, tmp_path)
    found = collect(tmp_path)
    (entry,) = found.skipped
    assert entry.path.endswith("/trials.jsonl")
    assert column in entry.reason
    assert {file.study for file in found.files} == {"riskeval"}


def test_a_reply_that_was_cut_within_a_character_is_read(tmp_path):
    """JSON can hold half of a surrogate pair, which pandas' own text cannot: all rows of the file were left out."""
    results = read([*with_cell("scales", 0, "answer", "a smile \ud83d"), *sound("riskeval")], tmp_path)
    assert not results.skipped
    assert "a smile ?" in results.files[0].columns["answer"]


def test_a_column_that_is_there_twice_is_named(tmp_path):
    path = tmp_path / "trials.csv"
    path.write_text(
        "study,question_id,source,condition,correct,confidence,status,correct\nscales,q,s,0-20,1,.8,ok,0\n"
    )
    (entry,) = collect(path).skipped
    assert "two columns 'correct'" in entry.reason


def test_many_bad_rows_are_counted_and_the_first_named(tmp_path):
    rows = [
        {**row, "correct": 0.5 if 2 <= i < 10 else row["correct"]} for i, row in enumerate(sound("scales"))
    ]
    (entry,) = read(rows, tmp_path).skipped
    assert entry.reason.startswith(
        "8 of 12 trials do not count (row 3, row 4, row 5, row 6, row 7, 3 more): correct is 0.5"
    )


def test_a_hostile_value_is_shortened_and_escaped(tmp_path):
    rows = with_cell("scales", 0, "status", "<script>alert(1)</script>\x1b[31m" + "x" * 10_000)
    found = read(rows, tmp_path)
    (entry,) = found.skipped
    assert "\x1b" not in entry.reason
    assert len(entry.reason) < 400
    page = undrawn_report(found, settings=FEW).html
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


def test_rows_of_an_unknown_study_do_not_take_the_others(tmp_path):
    found = read(with_cell("scales", 4, "study", "alchemy"), tmp_path)
    (file,) = found.files
    assert len(file) == len(sound("scales")) - 1
    (entry,) = found.skipped
    assert "row 5" in entry.reason
    assert "'alchemy' is not one of" in entry.reason


def test_a_mass_that_rounding_takes_above_1_is_no_fault(tmp_path):
    assert not read(with_cell("fermieval_logprob", 0, "integer_mass", 1.00013), tmp_path).skipped


# Whatever is wrong --------------------------------------------------------------------------------------------------

WRONG = st.one_of(
    st.sampled_from(
        ["lots", "", "\x00", None, math.nan, math.inf, -math.inf, True, -1.0, 0.5, 2.0, 1e300, [1], {"a": 1}]
    ),
    st.floats(),
    st.text(max_size=8).map(lambda text: text.encode(errors="replace").decode()),
)
ABSENT = "the column is absent"


def is_wrong(study: Study, column: str, value: Any) -> bool:
    """Whether a value is plainly none: no number in a column of numbers, an infinite one, or a list in one of texts."""
    if study.column_types.get(column) is float:
        try:
            return value not in (None, "") and math.isinf(float(value))
        except (TypeError, ValueError):
            return True
    return column in study.column_types and isinstance(value, list | dict)


def assert_named(study: str, row: int, column: str, value: Any, folder: Path) -> Collection:
    """Read a file with one corrupt cell: the row is named and left out, or the value is one that may be."""
    if value == ABSENT:
        rows = [{key: each for key, each in sound_row.items() if key != column} for sound_row in sound(study)]
    else:
        rows = with_cell(study, row, column, value)
    found = read(rows, folder)
    kept = sum(len(file) for file in found.files)
    if kept < len(rows):
        named = " ".join(entry.reason for entry in found.skipped)
        assert column in named
        assert value == ABSENT or f"row {row % len(rows) + 1}" in named
        assert value == ABSENT or kept == len(rows) - 1
    else:
        assert not found.skipped
        assert value == ABSENT or not is_wrong(BY_NAME[study], column, value)
    return found


@st.composite
def corruptions(draw):
    study = draw(st.sampled_from(sorted(BY_NAME)))
    column = draw(st.sampled_from([*BY_NAME[study].column_types, "sample_id", "epoch"]))
    return study, draw(st.integers(0, 11)), column, draw(WRONG | st.just(ABSENT))


FIXTURES = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@pytest.mark.slow
@given(corruptions())
@settings(FIXTURES, max_examples=150)
def test_any_corrupt_cell_is_named_or_allowed(tmp_path, corruption):
    assert_named(*corruption, tmp_path)


def test_a_trial_without_an_epoch_is_of_the_first(tmp_path):
    (file,) = read(with_cell("scales", 4, "epoch", None), tmp_path).files
    assert set(file.columns["epoch"]) == {1}
    assert len(file) == len(sound("scales"))
