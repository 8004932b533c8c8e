"""Checks of replies and the numbers from them: unread replies, few trials, ties, undefined resamples."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np

from confidence_tasks.harness.stopped import NOTICES
from confidence_tasks.logs.benchmark_samples import UNMEASURED
from confidence_tasks.reading.thoughts import UNKNOWN_MARK
from confidence_tasks.report.notices import Notice, Severity, check, notice_if_any, subsets_of
from confidence_tasks.report.results import TaskResults
from confidence_tasks.statistics import complete
from confidence_tasks.study.measures import PARSE_RATE
from confidence_tasks.study.trial import RULES
from confidence_tasks.study.units import units_of

FEW_OF_A_CLASS = 30
"""Number of right or wrong answers below which measures that compare the two are mostly noise."""

TIED_SHARE = 0.8
"""Proportion of equal confidences from which a condition's confidence hardly varies."""

UNDEFINED_SHARE = 0.05
"""Proportion of undefined resamples above which a measure gets a notice."""

STABLE_ACCURACY = 0.015
"""Difference of accuracy between conditions up to which the scale study calls accuracy stable (section 4.2)."""


def unread_replies(results: TaskResults) -> Iterator[Notice]:
    """Yield notices of the conditions under which many replies lack an answer or a confidence.

    Replies to a task of others that asks for no confidence are none of them.
    """
    # The study's own measure may leave out replies that no other measure uses.
    parse_rate = results.task_trials.study.measures_by_name.get(PARSE_RATE.name, PARSE_RATE)
    rates = {
        f"{model}, {condition}": float(parse_rate.compute(columns, None))
        for model, condition, columns in subsets_of(results)
        if not condition.startswith(UNMEASURED)
    }
    bands: tuple[tuple[Severity, float, float], ...] = (("serious", 0.0, 0.5), ("warning", 0.5, 0.9))
    for severity, low, high in bands:
        yield from notice_if_any(
            severity,
            "Replies without a readable answer or confidence",
            "Measures leave out replies without the values that they need. Such replies are rarely a random sample."
            " A reply of only ABSTAIN also has no confidence. Worked examples (`fewshot=8`) help small models to"
            " follow the format.",
            [f"{where}: {rate:.0%} with both" for where, rate in rates.items() if low <= rate < high],
        )


def unfinished_replies(results: TaskResults) -> Iterator[Notice]:
    """Yield a notice for each way in which replies are unfinished, with their number in every subset."""
    statuses = [
        (f"{model}, {label}", columns["status"]) for model, label, columns in subsets_of(results, "status")
    ]
    for status, (title, meaning) in NOTICES.items():
        counts = [(where, int(np.sum(column == status)), len(column)) for where, column in statuses]
        places = [f"{where}: {n} of {n_replies}" for where, n, n_replies in counts if n]
        yield from notice_if_any("serious", title, meaning, places)


@check(
    "warning",
    "Unknown control tokens",
    "Replies contain tokens such as `<|name|>` of unknown meaning. Perhaps the server's chat template"
    " does not fit the model, and a thought was read as the reply. Look at some of these replies in the log.",
)
def control_tokens(results: TaskResults) -> Iterator[str]:
    """Yield the subsets with replies that contain unknown control tokens."""
    for model, condition, columns in subsets_of(results, RULES):
        count = sum(UNKNOWN_MARK in rules.split("+") for rules in columns[RULES])
        if count:
            yield f"{model}, {condition}: {count} of {len(columns[RULES])} replies"


@check(
    "warning",
    "Few right or few wrong answers",
    "Measures that compare right answers with wrong ones (AUROC, meta-d′, M-ratio) need at least"
    f" {FEW_OF_A_CLASS} questions answered right and as many answered wrong from every source. Repeated trials of a"
    " question, and questions of one cluster, count once. Ask more questions or choose another difficulty;"
    " `confidence-tasks power` computes how many.",
)
def few_trials(results: TaskResults) -> Iterator[str]:
    """Yield the subsets with too few right or wrong answers to compare the two."""
    for model, condition, columns in subsets_of(results):
        rows = ~np.isnan(columns["confidence"]) & ~np.isnan(columns["correct"])
        correct, units = columns["correct"][rows], units_of(columns)[rows]
        right, wrong = (len({*units[correct == value]}) for value in (1.0, 0.0))
        if np.isin(correct, (0.0, 1.0)).all() and min(right, wrong) < FEW_OF_A_CLASS:
            yield f"{model}, {condition}: {right} right, {wrong} wrong"


@check(
    "warning",
    "Confidence hardly varies",
    "With so many ties, AUROC is near one half because few values differ, ECE depends on one bin, and a threshold puts"
    " nearly all trials on one side.",
)
def tied(results: TaskResults) -> Iterator[str]:
    """Yield the subsets whose confidence hardly varies."""
    for model, condition, columns in subsets_of(results, "correct", "confidence"):
        _, confidence = complete(columns["correct"], columns["confidence"])
        values, counts = np.unique(confidence, return_counts=True)
        if len(values) and counts.max() >= TIED_SHARE * len(confidence):
            proportion = counts.max() / len(confidence)
            yield f"{model}, {condition}: {proportion:.0%} at {values[counts.argmax()]:g}"


@check(
    "warning",
    "Undefined resamples",
    "The measure is undefined in many resamples (all right, all wrong, or d′ = 0). These resamples are left out,"
    " so the interval is too narrow.",
)
def undefined_resamples(results: TaskResults) -> Iterable[str]:
    """Return the measures that are undefined in many resamples."""
    return [
        f"{entry.model}, {entry.group}, {entry.measure}: {entry.interval.n_undefined} of {entry.interval.n_resamples}"
        for entry in results.estimates
        if not entry.source
        and not math.isnan(entry.interval.low)
        and entry.interval.n_undefined > UNDEFINED_SHARE * entry.interval.n_resamples
    ]


@check(
    "warning",
    "Accuracy differs between conditions",
    "The request for confidence changed the answers, so a difference in meta-d′ or ECE may reflect knowledge"
    " rather than metacognition.",
)
def unstable_accuracy(results: TaskResults) -> Iterable[str]:
    """Return the contrasts of accuracy that are large and significant."""
    return [
        f"{contrast.model}, {contrast.group}: {contrast.interval.estimate:+.3f}"
        f" [{contrast.interval.low:+.3f}, {contrast.interval.high:+.3f}]"
        for contrast in results.contrasts
        if contrast.measure == "accuracy"
        and abs(contrast.interval.estimate) >= STABLE_ACCURACY
        and contrast.significant
    ]
