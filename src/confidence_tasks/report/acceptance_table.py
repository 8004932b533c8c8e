"""The table of a report that says which answers may be accepted."""

from __future__ import annotations

import pandas as pd

from confidence_tasks.report.acceptance import ENOUGH, REQUIRED, AcceptedAnswers, threshold_text
from confidence_tasks.report.extra_tables import ExtraTable
from confidence_tasks.report.labels import group_label
from confidence_tasks.report.results import TaskResults

TITLE = "Which answers may be accepted"


def acceptance_table(results: TaskResults) -> ExtraTable:
    """Return the thresholds of all models and conditions as a table, without rows if none has enough questions."""
    required = " or ".join(f"{accuracy:.0%}" for accuracy in REQUIRED)
    note = (
        f"The threshold is the lowest confidence at and above which answers are right in at least {required} of all"
        f" questions of the kind, with {results.settings.level:.0%} certainty; accepted is the share of answers at or"
        " above it. This holds for one threshold of one model at a time, and as long as model, prompt and kind of"
        f" questions stay the same. Conditions with at least {ENOUGH} questions; all sources are pooled, and of"
        " several trials of a question one is drawn at random. confidence-tasks threshold takes any accuracy."
    )
    frame = pd.DataFrame([_row(each) for each in results.accepted])
    return ExtraTable(f"{results.task_trials.slug}_acceptance", TITLE, note, frame, decimals=2)


def _row(answers: AcceptedAnswers) -> dict[str, str | float]:
    row: dict[str, str | float] = {
        "model": answers.model,
        "condition": group_label(answers.condition),
        "questions": f"{answers.curve.n}",
        "accuracy of all": float(answers.curve.accuracy[-1]),
    }
    for accuracy, found in answers.found.items():
        row[f"threshold for {accuracy:g}"] = threshold_text(found)
        row[f"accepted for {accuracy:g}"] = float(found.share)
        row[f"accuracy for {accuracy:g}"] = float(found.accuracy)
    return row
