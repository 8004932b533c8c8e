"""Stated intervals in plain columns, without a harness: their coverage, width and Winkler score."""

from __future__ import annotations

from confidence_tasks.studies.intervals import trials
from confidence_tasks.study import Domain, Study

STUDY = Study(
    name="intervals",
    title="Stated intervals",
    module=__name__,
    designs={},
    questions=lambda parameters: (),
    stages=(),
    read=trials.read_reply,
    trial=trials.StatedIntervalTrial,
    measures=trials.MEASURES,
    headline_measures=("coverage_gap", "coverage", "width", "winkler", "conformal_winkler"),
    tested_measures=("coverage", "winkler"),
    domains={
        "lower": Domain(not_above="upper"),
        "truth": Domain(),
        "level": Domain(0.0, 1.0),
    },
    report=f"{__name__}.report:REPORT",
)
