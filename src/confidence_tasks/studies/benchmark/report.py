"""Checks of benchmarks: what the probabilities of options hide."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from confidence_tasks.harness.correctness import FURTHER_SIGNALS
from confidence_tasks.logs.benchmark_samples import UNMEASURED
from confidence_tasks.logs.task_trials import Columns
from confidence_tasks.report.checks import GENERAL
from confidence_tasks.report.extra_tables import extra_table
from confidence_tasks.report.labels import measure_label
from confidence_tasks.report.notices import check, subsets_of
from confidence_tasks.report.results import TaskResults
from confidence_tasks.report.study_report import StudyReport
from confidence_tasks.statistics.calibration import convention_errors
from confidence_tasks.statistics.calibration.conventions import ConventionError
from confidence_tasks.studies.benchmark.asking import JSON_SUFFIX, is_ask
from confidence_tasks.study.columns import rows_of
from confidence_tasks.study.measure import Measure
from confidence_tasks.study.metrics import select_measures
from confidence_tasks.study.units import units_of

SMALL_MASS = 0.5
"""Mean probability of all options below which most of the model's probability lies elsewhere."""

LETTERS = 2
"""Number of characters up to which an option is a label, such as a letter, that a model could have replied with."""


@check(
    "warning",
    "Most probability is not on the options",
    "The probability of an option is relative to the other options. This model would rather have replied with something"
    " else: more worked examples or a chat template may help it to keep to the labels.",
)
def small_option_mass(results: TaskResults) -> Iterator[str]:
    """Name tasks with labels as options whose probabilities sum to less than one half on average."""
    for model, signal, columns in subsets_of(results, "option_mass", "answer"):
        known = ~np.isnan(columns["option_mass"])
        if not known.any() or max(map(len, columns["answer"][known])) > LETTERS:
            continue
        mass = float(columns["option_mass"][known].mean())
        if mass < SMALL_MASS:
            yield f"{model}, {signal}: {mass:.3f} on average"


@check(
    "note",
    "Options of equal text",
    "The probability of an answer is divided between options of equal text, and only one of them counts as right.",
)
def options_of_equal_text(results: TaskResults) -> Iterator[str]:
    """Count the questions with two options of equal text."""
    for model, signal, columns in subsets_of(results, "equal_options"):
        n_equal = int(np.nansum(columns["equal_options"]))
        if n_equal:
            yield f"{model}, {signal}: {n_equal} of {len(columns['equal_options'])} questions"


@check(
    "note",
    "One of several scorers says what is right",
    "The task has several scorers. The first one counts, or the one that --scorer names.",
)
def one_of_several_scorers(results: TaskResults) -> Iterator[str]:
    """Name the scorer whose value counts, where there are several."""
    for model in results.models:
        scorers = dict.fromkeys(file.provenance.get("scorer", "") for file in model.files)
        yield from (f"{model.label}: {scorer}" for scorer in scorers if scorer)


@check(
    "note",
    "Replies that state no confidence",
    "The log has the accuracy of these answers alone. To ask how sure the model is of them: inspect score LOG --scorer"
    " confidence_tasks/stated_confidence --action append. For a new run: inspect eval confidence_tasks/with_confidence"
    ' -T task=..., or lm_eval --tasks with_confidence --metadata \'{"task": "..."}\'.',
    printed=True,
)
def without_confidence(results: TaskResults) -> Iterator[str]:
    """Name the models whose replies state no confidence."""
    for model in results.models:
        if any(condition.startswith(UNMEASURED) for condition in set(model.columns["condition"])):
            yield model.label


BY_TASK = ("accuracy", "overconfidence", "ece", "auroc")
"""Measures of the table of the tasks of a group."""


@extra_table(
    "tasks",
    "Tasks of the group",
    "The estimates of the group pool the questions of these tasks, as lm-eval weights them by size. These are values"
    " without intervals: a difference between two tasks may be chance.",
)
def tasks_of_group(results: TaskResults) -> Iterator[dict[str, Any]]:
    """Yield the measures of each task of a group whose questions are pooled, by signal."""
    measures = select_measures(results.task_trials.study.measures, BY_TASK)
    for model, signal, columns in subsets_of(results, "task", *_READ):
        is_pooled = columns["task"] != columns["source"]
        for task in sorted(set(columns["task"][is_pooled].tolist())):
            rows = rows_of(columns, np.flatnonzero(columns["task"] == task))
            values = {measure_label(each.name): _value(each, rows) for each in measures}
            yield {"model": model, "signal": signal, "task": task, "questions": len(rows["task"]), **values}


@extra_table(
    "conventions",
    "Calibration error as other programs compute it",
    "The same answers have another calibration error in another program: programs differ in the number of bins, in the"
    " bin of a confidence on an edge, in whether a confidence of 0 is in any bin, and in how bins are averaged.",
)
def conventions(results: TaskResults) -> Iterator[dict[str, Any]]:
    """Yield the calibration error by every convention, for the answers in files of the user."""
    if not any(model.columns["verdict"].any() for model in results.models):
        return
    for model, signal, columns in subsets_of(results):
        known = ~np.isnan(columns["correct"]) & ~np.isnan(columns["probability"])
        if not columns["verdict"][known].any():
            continue
        rows = convention_errors(
            columns["correct"][known],
            columns["probability"][known],
            questions=units_of(columns)[known],
            level=results.settings.level,
        )
        yield from (_of_convention(row, model, signal) for row in rows)


def _of_convention(row: ConventionError, model: str, signal: str) -> dict[str, Any]:
    values = {
        "calibration error": row.value,
        "calibration error low": row.low,
        "calibration error high": row.high,
    }
    return {"model": model, "signal": signal, "convention": row.convention, **values} | {
        "calibration error missing": row.reason,
        "meaning": row.description,
    }


_IN_THE_LOG: Mapping[str, str] = {
    "option_probability": "probability of the most probable option among all options",
    "option_probability_norm": "the same, of log-likelihoods per character",
    "option_probability_bytes": "the same, of log-likelihoods per byte",
    "option_probability_mutual_info": "the same, of log-likelihoods less those after an empty prompt",
    "margin": "difference of the two highest log-likelihoods of options",
    "mean_logprob": "mean log-probability of the reply's tokens",
    "sum_logprob": "sum of the log-probabilities of the reply's tokens",
    "min_logprob": "minimum of the log-probabilities of the reply's tokens",
    "stated": "confidence that the reply states",
    UNMEASURED: "the replies state none",
    **FURTHER_SIGNALS,
}


@extra_table(
    "signals",
    "What each signal is, and the calls that it costs",
    "Calls of the model for each answer, beside the answer's own. Signals of the log cost none. Further signals of the"
    " log are read with --signals all.",
)
def price_of_signals(results: TaskResults) -> Iterator[dict[str, Any]]:
    """Yield each signal with what it is and its calls beside the answer's; none for columns of the user."""
    names = dict.fromkeys(condition.partition(",")[0] for condition in results.conditions)
    for name in names:
        if name in _IN_THE_LOG:
            yield {"signal": name, "what it is": _IN_THE_LOG[name], "calls": 0}
        elif is_ask(name.removesuffix(JSON_SUFFIX)):
            yield {"signal": name, "what it is": "confidence that the model was asked for", "calls": 1}


_READ = ("source", "correct", "confidence", "value", "probability", "status", "question_id")


def _value(measure: Measure, columns: Columns) -> float:
    with warnings.catch_warnings(action="ignore"):  # a task may have right answers only
        return float(np.asarray(measure.compute(columns, None)))


REPORT = StudyReport(
    tables=(tasks_of_group, price_of_signals, conventions),
    checks=(*GENERAL, small_option_mass, options_of_equal_text, one_of_several_scorers, without_confidence),
)
