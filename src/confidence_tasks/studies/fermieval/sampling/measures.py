"""Intervals that the quantiles of samples span, and their measures.

Epstein, Winnicki, Sornwanee & Dwaraknath (2025), arXiv:2510.26995.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from confidence_tasks import statistics
from confidence_tasks.studies.fermieval.adjustments import of_intervals
from confidence_tasks.studies.fermieval.measures import FIGURES
from confidence_tasks.studies.fermieval.replies import CALIBRATION, TEST, condition_of, levels_of
from confidence_tasks.studies.fermieval.sampling.trials import (
    SHORTFALL_WEIGHT,
    asks_of,
    cell_of,
    temperature_label,
    temperatures_of,
)
from confidence_tasks.studies.fermieval.summary import CALIBRATED, LOGGED
from confidence_tasks.study import TaskMetrics
from confidence_tasks.study.columns import rows_of
from confidence_tasks.study.computations import mean_of, not_resampled
from confidence_tasks.study.inference import Columns
from confidence_tasks.study.measure import Measure
from confidence_tasks.study.measures import PARSE_RATE, PARSE_RATE_STRICT, proportion_measure
from confidence_tasks.study.metrics import select_measures, values_of


def sampled_intervals(trials: Columns, level: float, split: str = TEST) -> Columns:
    """Return one interval per question: the alpha/2 quantile of sampled lower ends, the 1 - alpha/2 one of upper ends.

    ``trials`` are samples of one condition. The result has the columns of the first readable sample of each question,
    with the ends in ``lower`` and ``upper``, and the ``level``. A question without a readable sample is left out.
    """
    rows = list(rows_by_question(trials, split=split).values())
    sizes = np.array([len(each) for each in rows])
    lower, upper = np.empty((2, len(rows)))
    for size in np.unique(sizes):
        samples = np.array([each for each in rows if len(each) == size])
        lower[sizes == size], upper[sizes == size] = statistics.intervals.adjusted_interval(
            trials["lower"][samples], trials["upper"][samples], level
        )
    return _one_per_question(trials, rows, lower=lower, upper=upper, level=np.full(len(rows), level))


def penalized_score(trials: Columns, level: float, shortfall_weight: float = SHORTFALL_WEIGHT) -> float:
    """Return J of the calibration half: the Winkler score plus a penalty for a shortfall of coverage."""
    intervals = sampled_intervals(trials, level, CALIBRATION)
    ends = intervals["truth"], intervals["lower"], intervals["upper"]
    return float(
        statistics.intervals.penalized_winkler_score(*ends, level, shortfall_weight=shortfall_weight)
    )


def chosen_temperature(trials: Columns, level: float, shortfall_weight: float = SHORTFALL_WEIGHT) -> float:
    """Return the temperature with the smallest J on the calibration half, the lowest if tied; NaN without that half.

    A single temperature needs no calibration half.
    """
    temperatures = np.unique(trials["temperature"])
    if len(temperatures) == 1:
        return float(temperatures[0])
    scores = np.array(
        [penalized_score(rows_in(trials, temperature=each), level, shortfall_weight) for each in temperatures]
    )
    return math.nan if np.isnan(scores).all() else float(temperatures[np.nanargmin(scores)])


def intervals_at(
    trials: Columns,
    ask: str,
    level: float,
    shortfall_weight: float,
    temperature: float | None = None,
    split: str = TEST,
) -> Columns:
    """Return the intervals of a half from samples of a kind at a temperature, by default the chosen one."""
    samples = _samples_at(trials, ask, level)
    if temperature is None:
        temperature = chosen_temperature(samples, level, shortfall_weight)
    return sampled_intervals(rows_in(samples, temperature=temperature), level, split)


def _samples_at(trials: Columns, ask: str, level: float) -> Columns:
    """Return the samples of a kind from which intervals of a level are made: exponents are used at every level."""
    return rows_in(trials, ask=ask, **({"level": level} if ask == "interval" else {}))


def rows_in(trials: Columns, **values: Any) -> Columns:
    """Return the trials that have the given value in each of the given columns."""
    return rows_of(
        trials, np.logical_and.reduce([trials[column] == value for column, value in values.items()])
    )


def rows_by_question(trials: Columns, **values: Any) -> dict[str, list[int]]:
    """Return the positions of the readable samples of each question, among those with the given values in columns."""
    samples = rows_in({**trials, "position": np.arange(len(trials["lower"]))}, **values)
    rows: dict[str, list[int]] = {}
    for name, row, lower in zip(samples["question_id"], samples["position"], samples["lower"], strict=True):
        if not math.isnan(lower):
            rows.setdefault(name, []).append(row)
    return rows


def _one_per_question(trials: Columns, rows: Sequence[Sequence[int]], **changes: Any) -> Columns:
    """Return the first trial of each question, with changes; all trials of a question have the same weight."""
    first = np.array([each[0] for each in rows], dtype=np.intp)
    return {**rows_of(trials, first), **changes}


def tunnel_indices(trials: Columns, temperature: float) -> Columns:
    """Return by how many bits reasoning lowers the entropy of sampled exponents, as ``value`` of each question.

    The questions are those of the test half. Samples after reasoning are pooled over chains, as in self-consistency,
    because one sample of a chain does not show the entropy that the chain leaves. The entropies of few samples are too
    low, for both kinds of sample alike.
    """
    direct, reasoned = (
        rows_by_question(trials, split=TEST, temperature=temperature, ask=ask)
        for ask in ("direct", "reasoned")
    )
    rows, indices = [], []
    for name in filter(reasoned.__contains__, direct):
        # Entropies are compared at the same number of samples.
        size = min(len(direct[name]), len(reasoned[name]))
        samples = [direct[name][:size], reasoned[name][:size]]
        _, (p_direct, p_reasoned) = statistics.intervals.empirical_distribution(trials["lower"][samples])
        rows.append(direct[name])
        indices.append(statistics.intervals.tunnel_index(p_direct, p_reasoned[None], pooled=True))
    return _one_per_question(trials, rows, value=np.array(indices, dtype=np.float64))


AGREEMENT: Mapping[str, str] = {
    "accuracy": "Accuracy of a single sample of the exponent",
    "majority_accuracy": "Accuracy of the most frequent exponent, the smaller if tied",
    "agreement": "Share of the samples that are the most frequent exponent",
}
"""Measures of self-consistency by name, each with its description."""


def agreement(name: str, trials: Columns, ask: str, temperature: float) -> Columns:
    """Return one of the measures of `AGREEMENT` as ``value`` of each question of the test half."""
    rows = list(rows_by_question(trials, split=TEST, ask=ask, temperature=temperature).values())
    values = []
    for samples in rows:
        right = trials["lower"][samples] == trials["truth"][samples]
        _, first, counts = np.unique(trials["lower"][samples], return_index=True, return_counts=True)
        accuracies = {"accuracy": right.mean(), "majority_accuracy": right[first[counts.argmax()]]}
        values.append(accuracies.get(name, counts.max() / len(samples)))
    return _one_per_question(trials, rows, value=np.array(values, dtype=np.float64))


def sampling_measures(
    asks: Sequence[str],
    temperatures: Sequence[float],
    levels: Sequence[float],
    shortfall_weight: float = SHORTFALL_WEIGHT,
) -> tuple[Measure, ...]:
    """Return the measures of samples, by kind of sample, temperature and level.

    For every kind, temperature and level, on the test half: ``coverage``, ``coverage_gap``, ``mean_width`` and
    ``winkler`` of the intervals from samples. With several temperatures, for every kind and level: the ``temperature``
    chosen on the calibration half, and the same measures at that temperature, named ``interval,chosen,p=0.9``. For
    exponents at every temperature: the measures of `AGREEMENT` and, if both kinds were sampled, the ``tunnel_index``.
    Over all samples: ``parse_rate``.
    """
    measures = [Measure("parse_rate/all", PARSE_RATE.compute, "Share of samples that can be read.", "higher")]
    for ask, level in product(asks, levels):
        measures += _interval_measures(asks, temperatures, ask, level, shortfall_weight)
    for temperature in temperatures:
        at = temperature_label(temperature)
        measures += [
            Measure(
                f"{name}/{cell_of(ask, temperature)}",
                of_intervals(partial(agreement, name, ask=ask, temperature=temperature), mean_of("value")),
                f"{description}, asked {ask} at {at}.",
                "higher",
            )
            for ask in asks
            if ask != "interval"
            for name, description in AGREEMENT.items()
        ]
        if {"direct", "reasoned"} <= set(asks):
            compute = of_intervals(partial(tunnel_indices, temperature=temperature), mean_of("value"))
            description = f"Entropy of the exponent, in bits, that reasoning removes at {at}."
            measures.append(Measure(f"tunnel_index/{at}", compute, description))
    return tuple(measures)


def figure_label(asks: Sequence[str], temperatures: Sequence[float], ask: str, at: str, level: str) -> str:
    """Return the part of a measure's name after the slash, without a kind of sample or temperature that never varies.

    Examples
    --------
    >>> figure_label(["interval"], [1.0], "interval", "T=1", "p=0.9")
    'p=0.9'
    >>> figure_label(["interval"], [0.7, 1.0], "interval", "chosen", "p=0.9")
    'chosen,p=0.9'
    """
    parts = (ask if len(asks) > 1 else "", at if len(temperatures) > 1 else "", level)
    return ",".join(filter(None, parts))


def _interval_measures(
    asks: Sequence[str], temperatures: Sequence[float], ask: str, level: float, shortfall_weight: float
) -> Iterator[Measure]:
    """Yield the measures of one kind of sample at one level: at each temperature, and at the one chosen of several."""
    several, condition = len(temperatures) > 1, condition_of(level)
    if several:
        yield Measure(
            f"temperature/{figure_label(asks, temperatures, ask, '', condition)}",
            not_resampled(
                lambda trials: chosen_temperature(_samples_at(trials, ask, level), level, shortfall_weight)
            ),
            f"Temperature with the smallest penalized Winkler score, asked {ask}, {condition}.",
        )
    for temperature in (*temperatures, *((None,) if several else ())):
        at = "chosen" if temperature is None else temperature_label(temperature)
        where = figure_label(asks, temperatures, ask, at, condition)
        make = partial(
            intervals_at, ask=ask, level=level, shortfall_weight=shortfall_weight, temperature=temperature
        )
        for name, compute, what, better in FIGURES:
            yield Measure(
                f"{name}/{where}", of_intervals(make, compute), f"{what}, asked {ask}, {where}.", better
            )


def sampling_summary(
    trials: Sequence[Mapping[str, Any]],
    levels: Sequence[float],
    asks: Sequence[str],
    temperatures: Sequence[float],
    shortfall_weight: float = SHORTFALL_WEIGHT,
    names: Sequence[str] | None = None,
) -> dict[str, float]:
    """Return the measures of `sampling_measures`, or those in ``names``; NaN without trials."""
    measures = sampling_measures(asks, temperatures, levels, shortfall_weight)
    return values_of(trials, select_measures(measures, names))


def sampling_metrics(parameters: Mapping[str, Any], conditions: Sequence[str]) -> TaskMetrics:
    """Return the measures by kind of sample, temperature and level."""
    arguments = {
        "asks": asks_of(parameters["ask"]),
        "temperatures": temperatures_of(parameters["temperatures"]),
        "levels": levels_of(parameters["levels"]),
        "shortfall_weight": parameters["shortfall_weight"],
    }
    ask, first, level = (arguments[name][0] for name in ("asks", "temperatures", "levels"))
    at = "chosen" if parameters["split"] in CALIBRATED else temperature_label(first)
    return TaskMetrics(
        sampling_summary,
        arguments,
        sampling_measures(**arguments),
        figure_label(arguments["asks"], arguments["temperatures"], ask, at, condition_of(level)),
        default_measures=LOGGED,
    )


REPORTED_MEASURES: tuple[Measure, ...] = (
    proportion_measure(
        "share_right",
        "correct",
        "Share of samples that contain the truth: intervals that contain it, or exponents that equal it.",
        "higher",
    ),
    PARSE_RATE,
    PARSE_RATE_STRICT,
)
"""Measures of single samples; the table of methods has the intervals from many samples."""
