"""The shipped life table, tables of the user, and LifeEval's questions."""

import hashlib
from collections import Counter
from pathlib import Path

import pytest
from tests.unit.sources.life_expectancy import PUBLISHED_AT_BIRTH, life_expectancy

from confidence_tasks.sources import SourceError, generated, load
from confidence_tasks.sources.generated import SHIPPED_LAST_AGE, lifeeval_questions, load_life_table


def test_shipped_table_gives_the_published_life_expectancies() -> None:
    table = load_life_table()
    for sex, years in PUBLISHED_AT_BIRTH.items():
        assert life_expectancy(table.probabilities(sex)) == pytest.approx(years, abs=0.01)


def test_shipped_table_is_complete() -> None:
    table = load_life_table()
    assert len(table.male) == len(table.female) == SHIPPED_LAST_AGE + 1 == 120
    assert table.male[119] == table.female[119] == 1.0
    assert table.probabilities("female") is table.female


def test_shipped_probabilities_equal_the_published_ones(shared_data: Path) -> None:
    published = (shared_data / "ssa_2022_qx.csv").read_bytes()
    assert hashlib.sha256(generated._SHIPPED.read_bytes()).digest() == hashlib.sha256(published).digest()


def write(path: Path, rows: list[str], header: str = "age,male_qx,female_qx") -> Path:
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


GOOD = [f"{age},0.01,0.005" for age in range(100)] + ["100,1,1"]


def test_own_table_is_read_and_named_after_its_file(tmp_path: Path) -> None:
    table = load_life_table(write(tmp_path / "sweden_2023.csv", GOOD))
    assert (table.name, len(table.male), table.female[0]) == ("sweden_2023", 101, 0.005)


@pytest.mark.parametrize(
    ("rows", "header", "message"),
    [
        (GOOD, "age,female_qx,male_qx", "columns must be age, male_qx, female_qx"),
        ([], "", "columns must be"),
        (GOOD[:50], "age,male_qx,female_qx", "last age must be 100 to 150"),
        (GOOD + [f"{age},1,1" for age in range(101, 152)], "age,male_qx,female_qx", "last age must be"),
        (GOOD[:3] + GOOD[4:], "age,male_qx,female_qx", "line 5: age 3 expected, not 4"),
        (["0,0.1,1.5", *GOOD[1:]], "age,male_qx,female_qx", "line 2: a probability must be between 0 and 1"),
        (["0,nan,0.1", *GOOD[1:]], "age,male_qx,female_qx", "line 2: a probability must be"),
        (["0,0.1", *GOOD[1:]], "age,male_qx,female_qx", "line 2: three numbers expected"),
        (["0,zero,0.1", *GOOD[1:]], "age,male_qx,female_qx", "line 2: three numbers expected"),
    ],
)
def test_wrong_table_is_refused(tmp_path: Path, rows: list[str], header: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        load_life_table(write(tmp_path / "table.csv", rows, header))


def test_absent_or_binary_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="cannot be read"):
        load_life_table(tmp_path / "none.csv")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SourceError, match="cannot be read"):
        load_life_table(tmp_path / "binary.csv")


def test_lifeeval_has_808_questions() -> None:
    questions = lifeeval_questions()
    cells = {(q.metadata["sex"], q.metadata["age"], q.metadata["radius"]) for q in questions}
    assert len(questions) == len(cells) == len({q.id for q in questions}) == 2 * 101 * 4
    assert {q.gold for q in questions} == {None}
    assert "lifeeval-male-65-r10" in {q.id for q in questions}


def test_lifeeval_samples_are_balanced_over_radius_and_sex() -> None:
    sample = load("lifeeval", n=80, seed=1)
    assert set(Counter((q.metadata["radius"], q.metadata["sex"]) for q in sample).values()) == {10}
