"""The statuses of replies, and samples of them to read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from confidence_tasks.logs.texts import printable
from confidence_tasks.report.labels import STATUSES, group_label, number
from confidence_tasks.report.page import sample_link
from confidence_tasks.report.results import TaskResults

SAMPLES_SHOWN, MOST_SAMPLES = 4, 24
"""Maximum number of samples of each kind: of one model, and of all models together."""

ANSWER_SHOWN = 80
"""Maximum number of characters shown of an answer."""

_ANSWER_SCANNED = 1000
"""Maximum number of characters processed of an answer."""


def status_rows(results: TaskResults) -> Iterator[dict[str, Any]]:
    """Yield, for each model and condition, the percentage of replies of each status."""
    for model in results.models:
        for condition in results.conditions:
            statuses = model.columns["status"][model.columns["condition"] == condition]
            if len(statuses):
                yield {
                    "model": model.label,
                    "condition": group_label(condition),
                    "n": len(statuses),
                    "parts": [
                        (status, name, 100.0 * float(np.mean(statuses == status)))
                        for status, name in STATUSES.items()
                        if status in statuses
                    ],
                }


_SAMPLE_KINDS = (("confident error", 0.0, -1.0), ("unsure right answer", 1.0, 1.0))
"""Samples to read: their name, their outcome, and the sign of confidence by which they are sorted."""


def sample_rows(results: TaskResults, viewer: str) -> Iterator[dict[str, str]]:
    """Yield the wrong answers with most confidence and the right ones with least, a few of each model."""
    for model in results.models:
        columns = model.columns
        answers = columns.get("answer", columns["question_id"])
        for kind, outcome, sign in _SAMPLE_KINDS:
            rows = np.flatnonzero((columns["correct"] == outcome) & ~np.isnan(columns["confidence"]))
            ranked = rows[np.argsort(sign * columns["confidence"][rows], kind="stable")]
            for row in ranked[: samples_per_model(results)]:
                answer = printable(" ".join(str(answers[row])[:_ANSWER_SCANNED].split()))
                path = model.files[int(columns["file"][row])].path
                yield {
                    "model": model.label,
                    "kind": kind,
                    "condition": group_label(str(columns["condition"][row])),
                    "question": printable(str(columns["question_id"][row])[:ANSWER_SHOWN]),
                    "answer": answer[:ANSWER_SHOWN] + ("…" if len(answer) > ANSWER_SHOWN else ""),
                    "confidence": number(float(columns["confidence"][row])),
                    "link": sample_link(model, int(row), viewer),
                    "file": printable(path.rsplit("/", 1)[-1][-ANSWER_SHOWN:]),
                }


def samples_per_model(results: TaskResults) -> int:
    """Return the number of samples of each kind that are listed of a model: fewer where there are many models."""
    return max(1, min(SAMPLES_SHOWN, MOST_SAMPLES // len(results.models)))
