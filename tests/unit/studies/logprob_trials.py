"""Trials of the log-probability study with known evidence: random draws, or the exact quantiles."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import ndtri

TRIVIA, NATURAL = "trivia_qa", "nq_open"
DOMAINS = ("Arts & Literature", "Geography", "History & Politics", "Science & Technology")


@dataclass(frozen=True)
class Evidence:
    """N(0, 1) for wrong and N(distance, sd^2) for right answers, whose proportion is ``accuracy``."""

    distance: float = 1.4
    sd: float = 1.0
    accuracy: float = 0.5

    def given(self, correct: np.ndarray, rng: np.random.Generator | None) -> np.ndarray:
        """Evidence of some answers; without random numbers, the quantiles in an uninformative order."""
        noise = np.empty(len(correct)) if rng is None else rng.normal(size=len(correct))
        for kind in (0.0, 1.0) if rng is None else ():
            rows = np.flatnonzero(correct == kind)
            quantiles = ndtri((np.arange(len(rows)) + 0.5) / len(rows))
            noise[rows] = np.random.default_rng(len(rows)).permutation(quantiles)
        return np.where(correct == 1.0, self.distance + self.sd * noise, noise)


def answers(accuracy: float, n: int, rng: np.random.Generator | None) -> np.ndarray:
    """Correctness of n answers: random with probability ``accuracy``, or exactly that proportion."""
    if rng is not None:
        return (rng.random(n) < accuracy).astype(float)
    right = round(n * accuracy)
    return np.random.default_rng(n).permutation(np.repeat([1.0, 0.0], [right, n - right]))


def trials(
    evidence: Evidence,
    n: int = 2_000,
    *,
    model: str = "a",
    source: str = TRIVIA,
    temperature: float = 1.0,
    domain: str = "",
    gold: Evidence | None = None,
    rng: np.random.Generator | None = None,
) -> pd.DataFrame:
    """One model's trials under one condition; without a domain, questions are spread over all domains."""
    correct = answers(evidence.accuracy, n, rng)
    mean_logprob = evidence.given(correct, rng) - 12.0
    return pd.DataFrame(
        {
            "model": model,
            "question_id": [f"{source}-{domain}-{i}" for i in range(n)],
            "source": source,
            "condition": f"T={temperature:g}",
            "correct": correct,
            "confidence": np.exp(mean_logprob),
            "status": "ok",
            "temperature": temperature,
            "mean_logprob": mean_logprob,
            "tokens": 3.0,
            "domain": domain or np.resize(DOMAINS, n),
            "answer": "an answer",
            "match": "exact",
            "gold_mean_logprob": np.nan if gold is None else gold.given(correct, rng) - 12.0,
        }
    )


def together(*parts: pd.DataFrame) -> pd.DataFrame:
    """All trials as one table."""
    return pd.concat(parts, ignore_index=True)
