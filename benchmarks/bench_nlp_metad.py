"""Time of the log-probability study on as many trials as the paper has, with 10,000 resamples.

    python benchmarks/bench_nlp_metad.py

The script prints CPU time and wall time of each step, in one process; there is no peer that computes them. The 20 cells
are the paper's four models at four temperatures on TriviaQA, and at T = 1 on Natural Questions.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pandas as pd

from confidence_tasks.logs.task_trials import ModelTrials, TaskTrials
from confidence_tasks.replications.logprob_metacognition.hypotheses import (
    ROBUSTNESS_CHECKS,
    hypotheses,
    monotonicity,
)
from confidence_tasks.report.estimates.model_numbers import model_numbers
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.estimates.two_models import compare_models
from confidence_tasks.statistics import bootstrap
from confidence_tasks.statistics.discrimination import auroc2
from confidence_tasks.studies.logprob_metacognition import STUDY as NLP_METAD
from confidence_tasks.studies.logprob_metacognition.cell_tables import BINNINGS
from confidence_tasks.studies.logprob_metacognition.measures import MEASURES
from confidence_tasks.studies.logprob_metacognition.resampling import LogprobResampler, resample

N, RESAMPLES = 5_000, 10_000
SETTINGS = Settings(RESAMPLES, 0.95, 42)
DOMAINS = ("Arts & Literature", "Geography", "History & Politics", "Science & Technology", "Unclassified")
MODELS = (("a", 0.95, 1.0, 0.60), ("b", 1.4, 1.1, 0.43), ("c", 1.4, 1.0, 0.54), ("d", 1.9, 1.7, 0.43))
"""Name, distance and standard deviation of right answers' evidence, and accuracy: about those of the paper."""


def condition(
    rng: np.random.Generator, model: tuple[str, float, float, float], source: str, temperature: float
) -> pd.DataFrame:
    """Draw one model's trials under one condition."""
    name, distance, sd, accuracy = model
    correct = (rng.random(N) < accuracy * (0.5 if source == "nq_open" else 1.0)).astype(float)
    mean_logprob = np.where(correct == 1.0, distance + sd * rng.normal(size=N), rng.normal(size=N)) - 12.0
    return pd.DataFrame(
        {
            "model": name,
            "question_id": [f"{source}-{i}" for i in range(N)],
            "source": source,
            "correct": correct,
            "status": "ok",
            "temperature": temperature,
            "mean_logprob": mean_logprob,
            "gold_mean_logprob": mean_logprob + rng.normal(0.0, 0.2, N),
            "domain": np.resize(DOMAINS, N),
        }
    )


def paper(rng: np.random.Generator) -> pd.DataFrame:
    """Draw the trials of all cells."""
    cells = [("trivia_qa", temperature) for temperature in (0.3, 0.5, 0.7, 1.0)] + [("nq_open", 1.0)]
    return pd.concat([condition(rng, model, *cell) for model in MODELS for cell in cells], ignore_index=True)


@contextmanager
def timed(what: str) -> Iterator[None]:
    """Print a line with the time that something took."""
    cpu, clock = time.process_time(), time.perf_counter()
    yield
    print(f"| {what} | {time.process_time() - cpu:.1f} | {time.perf_counter() - clock:.1f} |", flush=True)


def measure_all(experiment: LogprobResampler) -> None:
    """Compute version 1's measures under every condition, with their intervals."""
    for key, cell in experiment.cells.items():
        for name in () if key.domain or key.binning else ("d_prime_v1", "meta_d_v1", "mratio_v1"):
            cell.measure(name).interval(SETTINGS)


def main_table(trials: pd.DataFrame) -> None:
    """Compute what a report tells of each model, one after the other, as one process does."""
    trials = trials.assign(
        condition=[f"T={temperature:g}" for temperature in trials["temperature"]],
        confidence=np.exp(trials["mean_logprob"]),
    )
    for _, part in trials.groupby("model"):
        columns = {str(name): column.to_numpy() for name, column in part.items()}
        model_numbers(NLP_METAD.name, "", SETTINGS, columns)


def compared(trials: pd.DataFrame, n: int) -> tuple[ModelTrials, ModelTrials, TaskTrials]:
    """Make what ``compare`` takes of the first n questions of two models at T = 1."""
    at_one = trials[(trials["source"] == "trivia_qa") & (trials["temperature"] == 1.0)].assign(
        condition="T=1"
    )
    at_one["confidence"] = np.exp(at_one["mean_logprob"])
    first, second = (
        ModelTrials(
            name,
            name,
            {
                key: values.to_numpy(np.float64 if values.dtype.kind == "f" else object)
                for key, values in at_one[at_one["model"] == name].head(n).items()
            },
            (),
            0,
        )
        for name in ("a", "b")
    )
    return first, second, TaskTrials(NLP_METAD, "nlp_metad", (first, second))


def main() -> None:
    """Print one line a step."""
    rng = np.random.default_rng(0)
    trials = paper(rng)
    part = trials[
        (trials["model"] == "a") & (trials["source"] == "trivia_qa") & (trials["temperature"] == 1.0)
    ]
    print(f"| work (R = {RESAMPLES:,}, N = {N:,} a cell) | CPU, s | clock, s |\n| --- | ---: | ---: |")
    with timed(f"20 cells, all {len(MEASURES)} measures of the main table"):
        main_table(trials)
    with timed("20 cells, version 1 between the edges of T = 1"):
        experiment = resample(trials, settings=SETTINGS, binnings={"": BINNINGS[""]})
        measure_all(experiment)
    with timed("the same, with domains and five more ways to bin at T = 1, cells made, not yet resampled"):
        experiment = resample(trials, settings=SETTINGS)
    measure_all(experiment)
    with timed("H1 to H4, two of them twice, and monotonicity"):
        _ = [*hypotheses(experiment), monotonicity(experiment)]
    with timed("R1 to R6"):
        _ = [check(experiment) for check in ROBUSTNESS_CHECKS]
    with timed("`compare` two models at T = 1: 1,000 questions, 1,000 resamples and exchanges"):
        compare_models(*compared(trials, 1_000), settings=Settings(1_000))
    with timed("one AUROC2, `bootstrap(auroc2, ...)`"):
        bootstrap(
            auroc2, part["correct"].to_numpy(), np.exp(part["mean_logprob"].to_numpy()), n_resamples=RESAMPLES
        )


if __name__ == "__main__":
    main()
