"""FermiEval by repeated samples: intervals from the outer quantiles of many replies to the same question.

Epstein et al. (2025): theorem 1 for sampled intervals, appendix F for sampled exponents and the choice of temperature,
appendix G for the tunnel index.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any, Literal, get_args

import numpy as np

from confidence_tasks import statistics
from confidence_tasks.reading.explanation import escape_markdown
from confidence_tasks.studies.fermieval.replies import (
    CALIBRATION,
    TEST,
    condition_of,
    level_of,
    levels_of,
    read_fermi_exponent,
    read_fermi_interval,
)
from confidence_tasks.studies.fermieval.trials import CALIBRATED, FIGURES, LOGGED, of_intervals
from confidence_tasks.study import Question, Replies, TaskMetrics, Token, Trial
from confidence_tasks.study.measures import (
    PARSE_RATE,
    PARSE_RATE_STRICT,
    Columns,
    Measure,
    mean_of,
    not_resampled,
    proportion_measure,
    rows_of,
    select_measures,
    values_of,
)
from confidence_tasks.study.parameter import one_of, parse_list
from confidence_tasks.study.trial import READABLE

Ask = Literal["interval", "direct", "reasoned"]
"""Kind of sample: an interval, a bare exponent, or an exponent after reasoning."""

ASKS: tuple[Ask, ...] = get_args(Ask)

SHORTFALL_WEIGHT = 100.0
"""Default weight of the squared shortfall of coverage in the choice of temperature. The paper gives no value."""


def cell_of(ask: str, temperature: float, level: float | None = None) -> str:
    """Return the label of a condition.

    Examples
    --------
    >>> cell_of("interval", 0.7, 0.95), cell_of("direct", 1.0)
    ('interval,T=0.7,p=0.95', 'direct,T=1')
    """
    cell = f"{ask},{temperature_label(temperature)}"
    return cell if level is None else f"{cell},{condition_of(level)}"


def temperature_label(temperature: float) -> str:
    """Return the label of a temperature, such as ``T=0.7``."""
    return f"T={temperature:.15g}"


class SampleTrial(Trial):
    """One sample of a question; an exponent is stored as an interval of width 0.

    ``correct`` is 1 if the sample contains the truth; ``confidence`` is the nominal coverage, NaN for an exponent.

    Attributes
    ----------
    ask : str
        ``interval``, ``direct`` or ``reasoned``.
    temperature : float
        Temperature at which the sample was drawn.
    level : float
        Requested nominal coverage; NaN for an exponent.
    lower, upper : float
        Ends as exponents of ten; NaN if there are none.
    truth : float
        The true exponent.
    split : str
        ``calibration`` or ``test``.
    answer : str
        The interval or exponent as written.
    """

    ask: str
    temperature: float
    level: float
    lower: float
    upper: float
    truth: float
    split: str
    answer: str


def read_sample(question: Question, condition: str, replies: Replies) -> SampleTrial:
    r"""Read one sample; the condition names its kind and temperature.

    Examples
    --------
    >>> from confidence_tasks.study import ModelReply
    >>> half = {"split": "test"}
    >>> question = Question("fermi-1", "fermi", "Pennies in a trillion?", "number", "13", metadata=half)
    >>> trial = read_sample(question, "reasoned,T=0.7", {"sample": [ModelReply("Some trillions.\n12")]})
    >>> trial["condition"], trial["lower"], trial["upper"], trial["correct"]
    ('reasoned,T=0.7', 12.0, 12.0, 0.0)
    """
    ask, temperature, level = read_cell(condition)
    reading = (read_fermi_interval if ask == "interval" else read_fermi_exponent)(replies["sample"][0].text)
    truth, readable = float(question.gold or math.nan), reading.status in READABLE
    return SampleTrial(
        question_id=question.id,
        source=question.source,
        condition=condition,
        correct=float(reading.lower <= truth <= reading.upper) if readable else math.nan,
        confidence=level if readable and level is not None else math.nan,
        status=reading.status,
        ask=ask,
        temperature=temperature,
        level=math.nan if level is None else level,
        lower=reading.lower,
        upper=reading.upper,
        truth=truth,
        split=question.metadata["split"],
        answer=reading.stated,
    )


def read_cell(label: str) -> tuple[Ask, float, float | None]:
    """Return the kind of sample, the temperature and, for an interval, the level that the label of a condition names.

    Examples
    --------
    >>> read_cell("interval,T=0.7,p=0.95"), read_cell("direct,T=1")
    (('interval', 0.7, 0.95), ('direct', 1.0, None))
    """
    ask, temperature, *level = label.split(",")
    return (
        one_of(ASKS, ask, "ask"),
        float(temperature.removeprefix("T=")),
        level_of(*level) if level else None,
    )


def explain(trial: SampleTrial, question: Question, tokens: Sequence[Token]) -> dict[str, str]:
    """Return the rows of the log viewer's table: the sample and the truth."""
    return {"Sample": escape_markdown(trial["answer"]) or "none", "Truth": f"10^{trial['truth']:g}"}


# Conditions --------------------------------------------------------------------------------------------------

_ASK_GROUPS: Mapping[str, Sequence[str]] = {"exponent": ("direct", "reasoned")}


def asks_of(value: str | list[str]) -> list[Ask]:
    """Return the kinds of sample in the parameter ``ask``; ValueError for an unknown one.

    Examples
    --------
    >>> asks_of("interval"), asks_of("exponent")
    (['interval'], ['direct', 'reasoned'])
    """
    names = [name for each in parse_list(value, "ask") for name in _ASK_GROUPS.get(each, (each,))]
    return [one_of(ASKS, name, "ask") for name in dict.fromkeys(names)]


def sampling_conditions(parameters: Mapping[str, Any]) -> list[str]:
    """Return the conditions: every kind of sample at every temperature and, for intervals, at every level."""
    return [
        cell_of(ask, temperature, level)
        for ask in asks_of(parameters["ask"])
        for temperature in temperatures_of(parameters["temperatures"])
        for level in (levels_of(parameters["levels"]) if ask == "interval" else (None,))
    ]


def temperatures_of(value: str | float | list[float]) -> list[float]:
    """Return the temperatures in the parameter ``temperatures``; ValueError unless each lies in (0, 2].

    Examples
    --------
    >>> temperatures_of("0.2,1")
    [0.2, 1.0]
    """
    try:
        temperatures = list(dict.fromkeys(map(float, parse_list(value, "temperatures"))))
    except ValueError:
        temperatures = []
    if not temperatures or not all(0.0 < temperature <= 2.0 for temperature in temperatures):
        raise ValueError(f"temperatures={value!r} must be numbers above 0 and up to 2, such as 0.2,0.7,1")
    return temperatures


# Intervals from samples -----------------------------------------------------------------------------------------


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


# Agreement and the tunnel index ---------------------------------------------------------------------------------


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


# The summary ----------------------------------------------------------------------------------------------------


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
