"""Studies of two models on passages: predicted power, and the share of simulated studies in which `compare` differs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtri

from confidence_tasks import compare
from confidence_tasks.decisions.pilot import ClusterEffect, pilot_clusters
from confidence_tasks.logs.task_trials import group_by_task
from confidence_tasks.report import collect

SPREAD = 0.65
"""Standard deviation of the difficulty of a passage, relative to that of a question within one."""

ACCURACIES = 0.7733726, 0.6733726
"""Accuracy of the two models: those of a simulated subject and of one with an effect of .1."""


def answers(rng: np.random.Generator, passages: int, each: int) -> list[NDArray[np.float64]]:
    """Return the correctness of both models, shape (passages, each); their difficulties are independent."""
    return [
        (
            ndtri(p) * np.sqrt(1.0 + SPREAD**2)
            + SPREAD * rng.normal(size=(passages, 1))
            + rng.normal(size=(passages, each))
            > 0.0
        ).astype(float)
        for p in ACCURACIES
    ]


def pilot(folder: Path, passages: int, each: int, models: int = 2) -> Path:
    """Write the trials of a pilot study as a table."""
    found = answers(np.random.default_rng(5), passages, each)[:models]
    rows = [
        {
            "study": "scales",
            "condition": "0-100",
            "status": "ok",
            "model": model,
            "source": "mine",
            "question_id": f"{passage}-{question}",
            "cluster": f"text {passage}",
            "correct": correct[passage, question],
            "confidence": 0.8,
        }
        for model, correct in zip("ab", found, strict=False)
        for passage in range(passages)
        for question in range(each)
    ]
    path = folder / "pilot.csv"
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


def effect_in(path: Path, cluster: str = "") -> ClusterEffect:
    """Return the effect of the clusters of a pilot on accuracy."""
    tasks = group_by_task(collect([str(path)]).files)
    return pilot_clusters(tasks, "scales", "accuracy", "0-100", cluster)


def share_found(passages: int, each: int, n_studies: int) -> float:
    """Return the share of simulated studies in which the accuracies differ at the 5% level."""
    passage = np.repeat(np.arange(passages), each)
    given = {
        "questions": np.arange(passages * each),
        "cluster": passage,
        "measures": ["accuracy"],
        "n_resamples": 199,
    }
    confidence = np.full(passages * each, 0.8)
    found = 0
    for study in range(n_studies):
        first, second = (
            each.ravel() for each in answers(np.random.default_rng([study, passages]), passages, each)
        )
        differences = compare((first, confidence), (second, confidence), **given).to_frame()
        found += bool(differences["p_value"].iloc[0] <= 0.05)
    return found / n_studies
