"""Confidence scales: the model answers a question and states its confidence on one of 13 scales.

Dai (2026), arXiv:2603.09309.
"""

from collections.abc import Sequence
from dataclasses import asdict

from confidence_tasks.reading.integer_scale import ALL_SCALES, BOUNDARY, GRANULARITY, NONSTANDARD, Scale
from confidence_tasks.studies.scales import measures, replies, subject, trials
from confidence_tasks.studies.scales.replies import ELICITATIONS, PROMPTS
from confidence_tasks.study import (
    BINARY,
    STRUCTURED,
    Asking,
    ConditionRules,
    Design,
    Paper,
    Parameter,
    Scoring,
    Simulation,
    Study,
    Viewer,
)
from confidence_tasks.study.parameter import MIRROR

SOURCES = "mmlu,gsm8k,truthfulqa"
"""The paper's three data sets (section 3.4)."""


def _labels(scales: Sequence[Scale]) -> tuple[str, ...]:
    return tuple(scale.label for scale in scales)


STUDY = Study(
    name="scales",
    module=__name__,
    title="Confidence scales",
    paper=Paper("Dai", 2026, "2603.09309"),
    scoring=Scoring(scorer="scale_scorer", options=("strict",)),
    stages=replies.scale_stages,
    questions=replies.scale_questions,
    conditions=_labels(ALL_SCALES),
    condition_rules=ConditionRules(
        parameter="scales", label_of=Scale.label_of, columns=lambda label: asdict(Scale.parse(label))
    ),
    asking=Asking(
        offline_source="arithmetic", metadata_keys=("elicitation",), worked_example=replies.worked_example
    ),
    read=trials.read_reply,
    viewer=Viewer(explain=trials.explain, columns=("confidence_raw",)),
    parameters=(
        Parameter(
            "scales",
            str | list[str] | None,
            None,
            "Scales, such as 0-10,14-86; by default those of the task.",
        ),
        Parameter(
            "sources", str | list[str], SOURCES, "Names of question sources, or paths of question files."
        ),
        Parameter(
            "n",
            int | None,
            None,
            "Number of questions per source; by default the paper's: 1,000 of mmlu, all of the other sources.",
            low=1,
        ),
        Parameter("elicitation", str, "verbal", "How the prompt asks for the confidence.", ELICITATIONS),
        Parameter("prompt", str, "b1", "Which of the paper's wordings is used.", PROMPTS),
        Parameter("strict", bool, False, "Whether a reply that departs from the format is unreadable."),
        STRUCTURED,
        MIRROR,
    ),
    trial=trials.ScaleTrial,
    measures=measures.MEASURES,
    designs={
        "scale_granularity": Design(
            "Granularity",
            "Does the number of steps on the scale matter?",
            baseline="0-100",
            conditions=_labels(GRANULARITY),
        ),
        "scale_boundary": Design(
            "Boundary placement",
            "Does the model use the whole scale if the lower bound is raised?",
            baseline="0-100",
            conditions=_labels(BOUNDARY),
        ),
        "scale_nonstandard": Design(
            "Non-standard ranges",
            "Does the model keep to unusual bounds?",
            baseline="0-100",
            conditions=_labels(NONSTANDARD),
        ),
    },
    headline_measures=("mratio", "auroc", "ece", "accuracy", "parse_rate"),
    domains={"correct": BINARY},
    tested_measures=("mratio", "meta_d", "auroc", "meta_information", "ece", "brier", "accuracy"),
    simulation=Simulation(reply=replies.respond, true_values=subject.true_values),
    report=f"{__name__}.report:REPORT",
)
