"""FermiEval by repeated samples: intervals from the outer quantiles of what a model says when it is asked many times.

Epstein et al. (2025): theorem 1 for sampled intervals, appendix F for sampled exponents and the choice of temperature,
appendix G for the tunnel index.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, get_args

from confidence_tasks import statistics
from confidence_tasks.reading.explanation import plain
from confidence_tasks.studies.fermieval.replies import (
    CALIBRATION,
    EXPONENT_SYSTEM,
    TEST,
    condition_of,
    exponent_prompt,
    interval_prompt,
    interval_system,
    level_of,
    levels_of,
    read_fermi_exponent,
    read_fermi_interval,
)
from confidence_tasks.studies.fermieval.trials import CALIBRATED, FIGURES, LOGGED, of_intervals
from confidence_tasks.study import Question, Replies, Stage, TaskMetrics, Token, Trial
from confidence_tasks.study.measures import (
    PARSE_RATE,
    PARSE_RATE_STRICT,
    Columns,
    Measure,
    mean_of,
    named,
    not_resampled,
    rows_of,
    share,
    values_of,
)
from confidence_tasks.study.parameter import listed, one_of
from confidence_tasks.study.reference import np
from confidence_tasks.study.trial import READABLE

Ask = Literal["interval", "direct", "reasoned"]
"""What is sampled: intervals, bare exponents, or exponents after reasoning."""

ASKS: tuple[Ask, ...] = get_args(Ask)

SHORTFALL_WEIGHT = 100.0
"""Weight of the squared shortfall of coverage in the choice of temperature by default. The paper gives none."""


def cell_of(ask: str, temperature: float, level: float | None = None) -> str:
    """Return the label of a condition.

    Examples
    --------
    >>> cell_of("interval", 0.7, 0.95), cell_of("direct", 1.0)
    ('interval,T=0.7,p=0.95', 'direct,T=1')
    """
    cell = f"{ask},T={temperature:.15g}"
    return cell if level is None else f"{cell},{condition_of(level)}"


class SampleTrial(Trial):
    """One of the samples of a question; an exponent is an interval whose ends are the same.

    ``correct`` is 1 where the sample holds the truth; ``confidence`` is the nominal coverage, NaN for an exponent.

    Attributes
    ----------
    ask : str
        ``interval``, ``direct`` or ``reasoned``.
    temperature : float
        Of the sample.
    level : float
        Nominal coverage that was asked for; NaN for an exponent.
    lower, upper : float
        What was stated, in exponents of ten; NaN when there is none.
    truth : float
        The right exponent.
    split : str
        ``calibration`` or ``test``.
    answer : str
        What was stated, as written.
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
    r"""Read one sample, of which the condition says how and at what temperature it was asked for.

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
    truth, read = float(question.gold or math.nan), reading.status in READABLE
    return SampleTrial(
        question_id=question.id,
        source=question.source,
        condition=condition,
        correct=float(reading.lower <= truth <= reading.upper) if read else math.nan,
        confidence=level if read and level is not None else math.nan,
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
    """Return what the label of a condition says: how is asked, the temperature, and the level of an interval.

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
    """Say what was read."""
    return {"Sample": plain(trial["answer"]) or "none", "Truth": f"10^{trial['truth']:g}"}


# Calls -------------------------------------------------------------------------------------------------------


def sampling_stages(parameters: Mapping[str, Any]) -> list[Stage]:
    """Return the only call, at the temperature of its condition."""

    def prompt(question: Question, condition: str, replies: Replies) -> str:
        ask, _, level = read_cell(condition)
        return exponent_prompt(question.text, ask) if level is None else interval_prompt(question.text, level)

    def system(question: Question, condition: str) -> str:
        _, _, level = read_cell(condition)
        return EXPONENT_SYSTEM if level is None else interval_system(level)

    return [Stage("sample", prompt, system=system, temperature=lambda condition: read_cell(condition)[1])]


_COMPARED: Mapping[str, Sequence[str]] = {"exponent": ("direct", "reasoned")}
"""Ways of asking whose samples are compared, by a name for both."""


def asks_of(value: str | list[str]) -> list[Ask]:
    """Return the ways of asking that a user names; ValueError for one that is none.

    Examples
    --------
    >>> asks_of("interval"), asks_of("exponent")
    (['interval'], ['direct', 'reasoned'])
    """
    named = [name for each in listed(value, "ask") for name in _COMPARED.get(each, (each,))]
    return [one_of(ASKS, name, "ask") for name in dict.fromkeys(named)]


def sampling_conditions(parameters: Mapping[str, Any]) -> list[str]:
    """Return every way of asking at every temperature and, for intervals, at every level."""
    return [
        cell_of(ask, temperature, level)
        for ask in asks_of(parameters["ask"])
        for temperature in temperatures_of(parameters["temperatures"])
        for level in (levels_of(parameters["levels"]) if ask == "interval" else (None,))
    ]


def temperatures_of(value: str | float | list[float]) -> list[float]:
    """Return the temperatures that a user names; ValueError unless each lies above 0 and is at most 2.

    Examples
    --------
    >>> temperatures_of("0.2,1")
    [0.2, 1.0]
    """
    try:
        found = list(dict.fromkeys(map(float, listed(value, "temperatures"))))
    except ValueError:
        found = []
    if not found or not all(0.0 < temperature <= 2.0 for temperature in found):
        raise ValueError(f"temperatures={value!r}: name numbers above 0 and up to 2, such as 0.2,0.7,1")
    return found


# Intervals from samples -----------------------------------------------------------------------------------------


def sampled_intervals(trials: Columns, level: float, split: str = TEST) -> Columns:
    """Return one interval a question: the alpha/2 quantile of sampled lower ends, the 1 - alpha/2 one of upper ends.

    Of samples of one condition: the columns of the first that can be read, with the ends in ``lower`` and ``upper``,
    ``level``, and in ``samples`` how many can be read. A question without any is left out.
    """
    rows = np.flatnonzero((trials["split"] == split) & ~np.isnan(trials["lower"]))
    names, first, index, counts = np.unique(
        trials["question_id"][rows].astype(str), return_index=True, return_inverse=True, return_counts=True
    )
    ends = np.empty((2, len(names)))
    by_question = rows[np.argsort(index, kind="stable")]
    start = np.cumsum(counts) - counts
    for size in np.unique(counts):
        alike = counts == size
        members = by_question[start[alike][:, None] + np.arange(size)]
        ends[:, alike] = statistics.intervals.adjusted_interval(
            trials["lower"][members], trials["upper"][members], level
        )
    return {
        **rows_of(trials, rows[first]),
        "lower": ends[0],
        "upper": ends[1],
        "level": np.full(len(names), level),
        "samples": counts.astype(np.float64),
    }


def penalized_score(trials: Columns, level: float, shortfall_weight: float = SHORTFALL_WEIGHT) -> float:
    """Return J of the calibration half: Winkler score plus a penalty for too little coverage."""
    found = sampled_intervals(trials, level, CALIBRATION)
    ends = found["truth"], found["lower"], found["upper"]
    return float(
        statistics.intervals.penalized_winkler_score(*ends, level, shortfall_weight=shortfall_weight)
    )


def chosen_temperature(trials: Columns, level: float, shortfall_weight: float = SHORTFALL_WEIGHT) -> float:
    """Return the temperature of least J on the calibration half, the lowest of equals; NaN without such trials."""
    temperatures = np.unique(trials["temperature"])
    scores = np.array(
        [penalized_score(rows_in(trials, temperature=each), level, shortfall_weight) for each in temperatures]
    )
    return math.nan if np.isnan(scores).all() else float(temperatures[np.nanargmin(scores)])


def rows_in(trials: Columns, **cell: Any) -> Columns:
    """Return the trials that have some values in some columns."""
    every = np.ones(len(trials["question_id"]), dtype=bool)
    return rows_of(trials, np.logical_and.reduce([every, *(trials[key] == cell[key] for key in cell)]))


def tunnel_indices(trials: Columns, **cell: Any) -> Columns:
    """Return by how much reasoning lowers the entropy of sampled exponents, in bits, as ``value`` of each question.

    Samples after reasoning are pooled, as in self-consistency: what each chain alone leaves open cannot be seen in one
    sample of it. Entropies of few samples are too low, both alike. The samples of the cell are at one temperature.
    """
    here = rows_in(trials, **cell)
    direct, reasoned = (samples_by_question(rows_in(here, ask=ask)) for ask in ("direct", "reasoned"))
    found = {}
    for name in filter(reasoned.__contains__, direct):
        samples = [direct[name], reasoned[name]]
        size = min(map(len, samples))  # entropies are compared at one number of samples
        _, (without, with_it) = statistics.intervals.empirical_distribution(
            np.array([some[:size] for some in samples])
        )
        found[name] = float(statistics.intervals.tunnel_index(without, with_it[None], pooled=True))
    return _of_questions(here, found)


AGREEMENT: Mapping[str, str] = {
    "accuracy": "Accuracy of a single sample of the exponent",
    "majority_accuracy": "Accuracy of the most frequent exponent, the smaller of equals",
    "agreement": "Share of the samples that are the most frequent exponent",
}
"""Measures of self-consistency."""


def agreement(name: str, trials: Columns, **cell: Any) -> Columns:
    """Return how well or how often samples of exponents agree, as ``value`` of each question of the test half.

    ``name`` is one of `AGREEMENT`, and the samples of the cell are of one condition.
    """
    here = rows_in(trials, split=TEST, **cell)
    truths = dict(zip(here["question_id"], here["truth"], strict=True))
    found = {}
    for question, samples in samples_by_question(here).items():
        values, shares = statistics.intervals.empirical_distribution(np.array([samples]))
        # The smallest set of any small mass is the mode.
        mode = statistics.intervals.smallest_set(values, shares, 1e-6)
        figures = {
            "accuracy": float(np.mean(np.asarray(samples) == truths[question])),
            "majority_accuracy": float(mode.lower[0] == truths[question]),
            "agreement": float(mode.mass[0]),
        }
        found[question] = figures[name]
    return _of_questions(here, found)


def _of_questions(trials: Columns, values: Mapping[str, float]) -> Columns:
    """Return a value of each question, with the columns of the first of its samples, which all have one weight."""
    first = {name: row for row, name in reversed(list(enumerate(trials["question_id"])))}
    rows = np.array([first[name] for name in values], dtype=np.intp)
    return {**rows_of(trials, rows), "value": np.array(list(values.values()), dtype=np.float64)}


mean_of_questions = partial(of_intervals, compute=mean_of("value"))
"""Make a measure of the mean of such values."""


def samples_by_question(trials: Columns) -> dict[str, list[float]]:
    """Return the exponents sampled for each question, in order."""
    found: dict[str, list[float]] = {}
    for name, value in zip(trials["question_id"], trials["lower"], strict=True):
        if not math.isnan(value):
            found.setdefault(name, []).append(float(value))
    return found


# The summary ----------------------------------------------------------------------------------------------------


def sampling_measures(
    asks: Sequence[str],
    temperatures: Sequence[float],
    levels: Sequence[float],
    shortfall_weight: float = SHORTFALL_WEIGHT,
) -> tuple[Measure, ...]:
    """Return the measures of intervals from samples, by way of asking, temperature and level.

    On the test half, by condition and level: ``coverage``, ``coverage_gap``, ``mean_width`` and ``winkler``; of several
    temperatures, by way of asking and level, the ``temperature`` chosen on the calibration half, and the same figures
    at that temperature under ``interval,chosen,p=0.9``. For exponents, by temperature: `AGREEMENT`, and where both ways
    were asked the ``tunnel_index``. ``parse_rate`` over all samples.
    """
    where = partial(figure_label, asks, temperatures)
    measures = [Measure("parse_rate/all", PARSE_RATE.compute, "Share of samples that can be read.", "higher")]
    for ask in asks:
        for level in levels:
            measures += _level_measures(ask, temperatures, level, shortfall_weight, where)
    for temperature in temperatures:
        at = f"T={temperature:g}"
        measures += [
            Measure(
                f"{name}/{cell_of(ask, temperature)}",
                mean_of_questions(partial(agreement, name, ask=ask, temperature=temperature)),
                f"{what}, asked {ask} at {at}.",
                "higher",
            )
            for ask in asks
            if ask != "interval"
            for name, what in AGREEMENT.items()
        ]
        if {"direct", "reasoned"} <= set(asks):
            measures.append(
                Measure(
                    f"tunnel_index/{at}",
                    mean_of_questions(partial(tunnel_indices, temperature=temperature)),
                    f"Entropy of the exponent, in bits, that reasoning takes away at {at}.",
                )
            )
    return tuple(measures)


def figure_label(asks: Sequence[str], temperatures: Sequence[float], ask: str, at: str, level: str) -> str:
    """Return what names of figures say after the slash: no way of asking and no temperature where there is but one.

    Examples
    --------
    >>> figure_label(["interval"], [1.0], "interval", "T=1", "p=0.9")
    'p=0.9'
    >>> figure_label(["interval"], [0.7, 1.0], "interval", "chosen", "p=0.9")
    'chosen,p=0.9'
    """
    told = (ask if len(asks) > 1 else "", at if len(temperatures) > 1 else "", level)
    return ",".join(filter(None, told))


def _level_measures(
    ask: str,
    temperatures: Sequence[float],
    level: float,
    shortfall_weight: float,
    where: Callable[[str, str, str], str],
) -> list[Measure]:
    """Return the measures of one way of asking at one level: at each temperature, and at the one chosen of several."""
    cell: dict[str, Any] = {"ask": ask} | ({"level": level} if ask == "interval" else {})
    label = condition_of(level)

    def chosen(trials: Columns) -> float:
        return chosen_temperature(rows_in(trials, **cell), level, shortfall_weight)

    def made(temperature: float, trials: Columns) -> Columns:
        return sampled_intervals(rows_in(trials, **cell, temperature=temperature), level)

    ways: dict[str, Callable[[Columns], Columns]] = {
        where(ask, f"T={temperature:.15g}", label): partial(made, temperature) for temperature in temperatures
    }
    choice = []
    if len(temperatures) > 1:
        ways[where(ask, "chosen", label)] = lambda trials: made(chosen(trials), trials)
        what = f"Temperature of least penalized Winkler score on the calibration half, asked {ask}, {label}."
        choice = [Measure(f"temperature/{where(ask, '', label)}", not_resampled(chosen), what)]
    return [
        *choice,
        *(
            Measure(f"{name}/{of}", of_intervals(make, compute), f"{what}, asked {ask}, {of}.", better)
            for of, make in ways.items()
            for name, compute, what, better in FIGURES
        ),
    ]


def sampling_summary(
    trials: Sequence[Mapping[str, Any]],
    levels: Sequence[float],
    asks: Sequence[str] = (),
    temperatures: Sequence[float] = (),
    shortfall_weight: float = SHORTFALL_WEIGHT,
    names: Sequence[str] | None = None,
) -> dict[str, float]:
    """Return those of `sampling_measures` that are named, by default all, NaN without trials.

    By default of the ways of asking and the temperatures that there are trials of.
    """
    asked = asks or [ask for ask in ASKS if any(trial["ask"] == ask for trial in trials)]
    warm = temperatures or sorted({float(trial["temperature"]) for trial in trials})
    return values_of(trials, named(sampling_measures(asked, warm, levels, shortfall_weight), names))


def sampling_metrics(parameters: Mapping[str, Any], conditions: Sequence[str]) -> TaskMetrics:
    """Return the measures by way of asking, temperature and level."""
    arguments = {
        "asks": asks_of(parameters["ask"]),
        "temperatures": temperatures_of(parameters["temperatures"]),
        "levels": levels_of(parameters["levels"]),
        "shortfall_weight": parameters["shortfall_weight"],
    }
    ask, first, level = (arguments[name][0] for name in ("asks", "temperatures", "levels"))
    at = "chosen" if parameters["split"] in CALIBRATED else f"T={first:.15g}"
    return TaskMetrics(
        sampling_summary,
        arguments,
        sampling_measures(**arguments),
        figure_label(arguments["asks"], arguments["temperatures"], ask, at, condition_of(level)),
        default_measures=LOGGED,
    )


REPORTED_MEASURES: tuple[Measure, ...] = (
    share(
        "share_right",
        "correct",
        "Share of samples that hold the truth: intervals that contain it, or exponents that are right.",
        "higher",
    ),
    PARSE_RATE,
    PARSE_RATE_STRICT,
)
"""Measures of single samples; intervals from many are in the table of methods."""
