"""Coverage of the intervals of the headline measures with epochs and passages; the studies are from NumPy alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from tests.validity.clustered_studies import Array, Generator, informed, passages

from confidence_tasks.catalogue import studies
from confidence_tasks.logs.task_trials import Columns
from confidence_tasks.report.estimates.averages import combined
from confidence_tasks.report.estimates.distributions import distributions
from confidence_tasks.report.estimates.intervals import interval_of_measure
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.groups import TrialSubset
from confidence_tasks.study.measure import Measure
from confidence_tasks.study.units import SAMPLING_UNIT

Draw = Callable[[np.random.Generator, int, int], Mapping[str, Array]]
"""``draw(rng, units, times)``: columns of trials, shape (units, times) each."""


def easy(rng: np.random.Generator, units: int, times: int) -> tuple[Array, Array]:
    """Return answers that are drawn in each epoch; most are right, so that M-ratio is identified."""
    ease = rng.normal(size=(units, 1))
    right = rng.random((units, times)) < expit(1.2 + 1.2 * ease)
    stated = expit(1.6 + 0.6 * ease + 0.5 * right + 0.7 * rng.normal(size=(units, times)))
    return right.astype(float), np.round(20.0 * stated) / 20.0


def answers(generator: Generator) -> Draw:
    """Return correctness and confidence as columns."""

    def draw(rng: np.random.Generator, units: int, times: int) -> Mapping[str, Array]:
        right, stated = generator(rng, units, times)
        return {"correct": right, "confidence": stated}

    return draw


def decisions(generator: Generator, penalty: float = 1.0) -> Draw:
    """Return decisions to answer or to abstain under a penalty, by confidence with some noise."""

    def draw(rng: np.random.Generator, units: int, times: int) -> Mapping[str, Array]:
        right, stated = generator(rng, units, times)
        threshold = penalty / (1.0 + penalty)
        answered = (stated + 0.15 * rng.normal(size=stated.shape) >= threshold).astype(float)
        best = np.maximum(stated - (1.0 - stated) * penalty, 0.0)
        chosen = answered * (stated - (1.0 - stated) * penalty)
        return {
            "correct": right,
            "confidence": stated,
            "answered": answered,
            "outcome": right,
            "available": np.ones_like(right),
            "penalty": np.full_like(right, penalty),
            "utility": answered * (right - (1.0 - right) * penalty),
            "regret": best - chosen,
        }

    return draw


def ranges(shared: float, own: float, again: float) -> Draw:
    """Return intervals of a power of ten: errors and widths vary between units, questions and epochs."""

    def draw(rng: np.random.Generator, units: int, times: int) -> Mapping[str, Array]:
        def normal(spread: float) -> Array:
            return spread * (
                rng.normal(size=(units, 1)) if spread == shared else rng.normal(size=(units, times))
            )

        center = np.round(normal(shared) + normal(own))
        half = 1.0 + np.round(2.0 * expit(normal(shared) + normal(again)))
        lower, upper = center - half, center + half
        missed = np.maximum(lower, 0.0) + np.maximum(-upper, 0.0)
        return {
            "lower": lower,
            "upper": upper,
            "truth": np.zeros_like(lower),
            "level": np.full_like(lower, 0.9),
            "correct": (missed == 0.0).astype(float),
            "width": upper - lower,
            "winkler": upper - lower + 2.0 / 0.1 * missed,
        }

    return draw


@dataclass(frozen=True, slots=True)
class Design:
    """Measures of a study, and how studies are drawn: with epochs, and with passages."""

    study: str
    measures: Sequence[str]
    epochs: Mapping[str, Draw]
    passages: Mapping[str, Draw]


DESIGNS = (
    Design(
        "scales",
        (
            *("accuracy", "confidence", "overconfidence", "brier", "auroc", "ece"),
            *("mratio", "meta_d", "meta_information"),
        ),
        {"same answers": answers(informed), "new answers": answers(easy)},
        {"passages": answers(passages)},
    ),
    Design(
        "riskeval",
        (
            *("abstention_rate", "accuracy_answered", "policy_consistency", "normalized_utility", "regret"),
            *("normalized_scaffold_gain", "auarc"),
        ),
        {"same answers": decisions(informed), "new answers": decisions(easy)},
        {"passages": decisions(passages)},
    ),
    Design(
        "fermieval",
        ("coverage", "mean_width", "winkler"),
        {"epochs": ranges(1.5, 0.7, 0.5)},
        {"passages": ranges(1.0, 1.2, 0.5)},
    ),
)


def columns_of(study: str, drawn: Mapping[str, Array], *, is_epoch: bool) -> Columns:
    """Return one row for each trial, with every column of the study."""
    (definition,) = (each for each in studies() if each.name == study)
    units, times = next(iter(drawn.values())).shape
    n = units * times
    unit = np.repeat(np.arange(units), times).astype(str).astype(object)
    columns: dict[str, NDArray[np.generic]] = {
        name: np.full(n, "", dtype=object) if kind is str else np.full(n, np.nan)
        for name, kind in definition.column_types.items()
    }
    columns |= {name: values.ravel() for name, values in drawn.items()}
    columns |= {"status": np.full(n, "ok", dtype=object), "source": np.full(n, "mine", dtype=object)}
    if "split" in columns:
        columns["split"] = np.full(n, "test", dtype=object)
    columns["question_id"] = unit if is_epoch else np.arange(n).astype(str).astype(object)
    return columns if is_epoch else {**columns, SAMPLING_UNIT: unit}


def measures_of(design: Design) -> list[Measure]:
    """Return the measures of a design."""
    (definition,) = (each for each in studies() if each.name == design.study)
    return [definition.measures_by_name[name] for name in design.measures]


def true_values(design: Design, draw: Draw, times: int, *, is_epoch: bool) -> dict[str, float]:
    """Return the measures of a population: its standard errors are at most a thirtieth of those of a study."""
    drawn = draw(np.random.default_rng(999), 1_000_000 // times, times)
    columns = columns_of(design.study, drawn, is_epoch=is_epoch)
    return {
        measure.name: float(np.asarray(measure.compute(columns, None))) for measure in measures_of(design)
    }


def coverage(
    design: Design,
    draw: Draw,
    units: int,
    times: int,
    n_studies: int,
    *,
    is_epoch: bool,
    n_resamples: int = 400,
) -> dict[str, tuple[float, float]]:
    """Return, by measure, the share of intervals that hold the truth, and of studies that have an interval."""
    measures = measures_of(design)
    truth = true_values(design, draw, times, is_epoch=is_epoch)
    held, given = Counter[str](), Counter[str]()
    for study in range(n_studies):
        drawn = draw(np.random.default_rng([study, units, times]), units, times)
        columns = columns_of(design.study, drawn, is_epoch=is_epoch)
        settings = Settings(n_resamples, seed=study)
        cell = TrialSubset("mine", np.arange(units * times))
        by_name = combined([cell], measures, distributions(columns, [cell], measures, settings))
        for measure in measures:
            interval = interval_of_measure(measure, by_name, settings)
            given[measure.name] += bool(interval.low == interval.low)
            held[measure.name] += bool(interval.low <= truth[measure.name] <= interval.high)
    return {name: (held[name] / max(given[name], 1), given[name] / n_studies) for name in design.measures}
