"""Small studies of every kind, with a known relation between confidence and correctness, without a harness."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray

from confidence_tasks import metrics
from confidence_tasks.catalogue import studies
from confidence_tasks.study.definition import Study

SIZES = (5, 10, 20, 50)
Vector = NDArray[np.float64]
Trials = tuple[Vector, Vector]

SUBJECTS: Mapping[str, Callable[[Generator, int], Trials]] = {
    "unrelated": lambda rng, n: ((rng.random(n) < 0.75).astype(float), rng.integers(50, 100, n) / 100),
    "strong, unrelated": lambda rng, n: (
        (rng.random(n) < 0.95).astype(float),
        rng.integers(50, 100, n) / 100,
    ),
    "weak, unrelated": lambda rng, n: ((rng.random(n) < 0.35).astype(float), rng.integers(1, 100, n) / 100),
    "all right": lambda rng, n: (np.ones(n), rng.integers(50, 100, n) / 100),
    "all wrong": lambda rng, n: (np.zeros(n), rng.integers(50, 100, n) / 100),
    "constant": lambda rng, n: ((rng.random(n) < 0.75).astype(float), np.full(n, 0.95)),
}
"""Correctness and confidence of n answers, by what the subject does."""


def _interval(i: int, right: float, confidence: float) -> dict[str, Any]:
    """An interval of level 0.9 about 0, as wide as the confidence is low; the truth lies in it if ``right``."""
    end = 2.0 - confidence
    truth = 0.0 if right else end + 1.0
    return {
        "level": 0.9,
        "lower": -end,
        "upper": end,
        "truth": truth,
        "split": ("calibration", "test")[i % 2],
    }


COLUMNS: Mapping[str, Callable[[int, float, float], dict[str, Any]]] = {
    "scales": lambda i, right, confidence: {"confidence_raw": 100 * confidence, "lower": 0.0, "upper": 100.0},
    "riskeval": lambda i, right, confidence: {
        "penalty": 1.0,
        "decision": "answer",
        "answered": float(confidence >= 0.6),
        "available": 1.0,
        "outcome": right,
        "utility": (right - (1.0 - right)) * float(confidence >= 0.6),
        "regret": 0.0,
    },
    "lifeeval": lambda i, right, confidence: {
        "confidence_raw": confidence,
        "sex": "male",
        "age": float(i),
        "radius": 5.0,
        "mas": 0.5,
        "difficulty": (i % 7) / 10,
    },
    "question_sets": lambda i, right, confidence: {
        "stimulus": float(i % 2),
        "gold": ("no", "yes")[i % 2],
        "confidence_raw": confidence,
    },
    "nlp_metad": lambda i, right, confidence: {
        "temperature": 1.0,
        "mean_logprob": float(np.log(confidence)),
        "tokens": 2.0,
        "domain": "history",
    },
    "fermieval": _interval,
    "fermieval_logprob": lambda i, right, confidence: {
        "truth": 0.0,
        "integer_mass": confidence,
        "split": "test",
    },
    "fermieval_sampling": lambda i, right, confidence: {
        **_interval(i, right, confidence),
        "ask": "interval",
        "temperature": 1.0,
    },
    "intervals": lambda i, right, confidence: {
        name: value for name, value in _interval(i, right, confidence).items() if name != "split"
    },
    "benchmark": lambda i, right, confidence: {
        "answer": "x",
        "task": "made-up",
        "value": confidence,
        "probability": confidence,
        "option_mass": 1.0,
        "n_options": 4.0,
        "equal_options": 0.0,
        "verdict": "",
    },
    "signals": lambda i, right, confidence: {
        "value": confidence,
        "probability": confidence,
        "samples": 1.0,
        "meanings": 1.0,
        "calls": 1.0,
        "input_tokens": 10.0,
        "output_tokens": 2.0,
    },
}
"""What a trial has besides correctness and confidence, by study."""

CONDITIONS: Mapping[str, str] = {
    "scales": "0-100",
    "riskeval": "lambda=1",
    "question_sets": "boolq",
    "nlp_metad": "T=1",
    "fermieval": "p=0.9",
    "intervals": "p=0.9",
    "benchmark": "stated",
    "signals": "stated",
}


def headline_measures(
    study: Study, correct: Vector, confidence: Vector, folder: Path, n_resamples: int = 50
) -> pd.DataFrame:
    """Return the headline measures of a study of some answers, as ``metrics`` gives them."""
    path = folder / f"{study.name}.jsonl"
    rows = [
        {
            "study": study.name,
            "question_id": f"q{i:04d}",
            "source": "made-up",
            "condition": CONDITIONS.get(study.name, study.conditions[0] if study.conditions else ""),
            "correct": right,
            "confidence": stated,
            "status": "ok",
            **COLUMNS[study.name](i, right, stated),
        }
        for i, (right, stated) in enumerate(zip(correct.tolist(), confidence.tolist(), strict=True))
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return metrics(path, measures=study.headline_measures, n_resamples=n_resamples)


STUDIES = {study.name: study for study in studies() if study.name in COLUMNS}
