"""No cell of a row ends a report, whatever it holds."""

import pytest
from hypothesis import example, given, settings
from tests.unit.report.test_bad_rows import ABSENT, FEW, FIXTURES, assert_named, corruptions

from confidence_tasks.report import report_of


@pytest.mark.slow
@given(corruptions())
@example(("nlp_metad", 0, "source", ""))
@example(("lifeeval", 0, "difficulty", ABSENT))
@example(("lifeeval", 0, "window", ABSENT))
@example(("lifeeval", 0, "window", "round"))
@example(("signals", 0, "condition", "lots"))
@settings(FIXTURES, max_examples=16)
def test_no_corrupt_cell_ends_the_report(tmp_path, corruption):
    found = assert_named(*corruption, tmp_path)
    made = report_of(found, settings=FEW)
    assert all(entry.path.rsplit("/", 1)[-1] in made.html for entry in found.skipped)
