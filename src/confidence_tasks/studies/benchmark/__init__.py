"""Confidence on any benchmark: signals in the logs of tasks that this package does not ask."""

from __future__ import annotations

from confidence_tasks.studies.benchmark import subject, trials
from confidence_tasks.study import (
    BINARY,
    STRUCTURED,
    Domain,
    Parameter,
    Pooling,
    Reference,
    Scoring,
    Simulation,
    Study,
    Viewer,
)

STUDY = Study(
    name="benchmark",
    title="Confidence on a benchmark",
    module=__name__,
    designs={},
    questions=lambda parameters: (),
    stages=(),
    conditions=trials.CONDITIONS,
    parameters=(
        Parameter("task", str, "", "The task that is run."),
        Parameter("ask", str | list[str], "0-100", "What is asked about each answer."),
        Parameter(
            "when", str, "after", "Whether the question follows the answer.", choices=("after", "within")
        ),
        Parameter("scorer", str, "", "The scorer that says whether an answer is right."),
        STRUCTURED,
        Parameter("correct", str, "", "The bound or value of a score that says whether an answer is right."),
    ),
    pooling=Pooling(
        subset_parameters=frozenset({"task", "ask", "when", "scorer", "correct", "structured"}),
        protocol_values=frozenset({("when", "within")}),
    ),
    read=trials.read_reply,
    scoring=Scoring(scorer=Reference("confidence_tasks.studies.benchmark.scorer", "stated_confidence")),
    trial=trials.BenchmarkTrial,
    measures=trials.MEASURES,
    headline_measures=("overconfidence", "ece", "auroc", "accuracy", "parse_rate"),
    viewer=Viewer(short_condition=trials.short_condition),
    tested_measures=("auroc", "accuracy"),
    domains={
        "correct": BINARY,
        "probability": Domain(0.0, 1.0),
        "value": Domain(-1e9, 1e9),
        "option_mass": Domain(0.0),
        "n_options": Domain(2.0, 1e6),
        "equal_options": BINARY,
    },
    simulation=Simulation(reply=subject.respond),
    report=f"{__name__}.report:REPORT",
)
