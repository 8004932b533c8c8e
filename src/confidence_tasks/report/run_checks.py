"""Checks of runs and their logs: what is lost, cut off, edited, repeated or asked in several ways."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from confidence_tasks.harness.system_role import SYSTEM_MESSAGE
from confidence_tasks.logs.run_settings import FALLBACK, UNKNOWN_RUN
from confidence_tasks.logs.sequences import of_stopped_run, sentence_on
from confidence_tasks.logs.trial_files import TrialFile
from confidence_tasks.report.notices import Notice, Severity, check, notice_if_any
from confidence_tasks.report.results import TaskResults

LARGE_LOSS = 0.1
"""Proportion of lost samples from which an unfinished run is a serious problem."""


def _why_lost(file: TrialFile) -> list[str]:
    """Return why calls of a run have no reply."""
    return [f"{count} because {reason}" for reason, count in file.why_lost.items()]


def incomplete(results: TaskResults) -> Iterator[Notice]:
    """Yield runs that did not succeed or lack samples; of a resumed run, only the most complete file counts."""
    places: dict[Severity, list[str]] = {"serious": [], "warning": []}
    for model in results.models:
        by_completeness = sorted(model.files, key=lambda file: -file.lost)
        for file in {file.run or file.path: file for file in by_completeness}.values():
            status = "" if file.status in ("", "success") else f" (status: {file.status})"
            planned = file.lost + len(file)
            severity: Severity = "serious" if file.lost >= LARGE_LOSS * planned else "warning"
            if file.lost or status:
                place = f"{model.label}: {file.lost} of {planned} in {file.name}{status}"
                places[severity].append("; ".join([place, *_why_lost(file)]))
    for severity, where in places.items():
        yield from notice_if_any(
            severity,
            "Unfinished runs",
            "Some samples failed or were not run. Unless they are missing at random, all estimates of these models are"
            " biased: resume the run, then make the report again.",
            where,
        )


@check(
    "serious",
    "Stopped early",
    "These runs skipped samples when the decision of a gate was known. The nominal coverage of their ordinary"
    " intervals does not hold, and neither do p-values; the confidence sequence of the gated measure is valid. They are"
    " not pooled with whole runs.",
)
def stopped_early(results: TaskResults) -> Iterator[str]:
    """Yield the runs that stopped early, with what their gate found."""
    for model in results.models:
        if model.stopped:
            found = map(sentence_on, of_stopped_run(results.task_trials, model))
            yield "; ".join([f"{model.label}: {model.stopped:,} samples skipped", *found])


@check(
    "serious",
    "Samples ended by a limit",
    "They have no trial. They are the samples that take longest, so all estimates are biased. Run again with a higher"
    " limit or none (`--message-limit`, `--token-limit`, `--time-limit`, `--working-limit`, `--cost-limit`).",
)
def ended_by_limits(results: TaskResults) -> Iterator[str]:
    """Yield how many samples of each run every limit ended."""
    for model in results.models:
        for file in model.files:
            total = file.lost + len(file)
            for limit, n_samples in file.lost_by.items():
                yield f"{model.label}: {n_samples} of {total} in {file.name} by the {limit} limit"


@check(
    "note",
    "Repeated runs",
    "Several files have trials of the same question under the same condition. Only the newest run counts. If"
    " `confidence-tasks rescore` read a run several times, only the newest reading counts.",
)
def repeated(results: TaskResults) -> Iterable[str]:
    """Return the models with trials that several files have."""
    return [f"{model.label}: {model.repeated} trials" for model in results.models if model.repeated]


@check(
    "warning",
    "Edited scores",
    "The scores of these samples were edited by hand after the run; the edited values count. `confidence-tasks rescore`"
    " reads the replies again, without the edits.",
)
def edited_scores(results: TaskResults) -> Iterator[str]:
    """Yield the files with edited scores whose trials count."""
    for model in results.models:
        for file in (model.files[i] for i in np.unique(model.columns["file"]).tolist()):
            if file.edited:
                yield f"{model.label}: {file.edited} of {len(file)} in {file.name}"


@check(
    "note",
    "Invalidated samples",
    "These samples were marked as invalid in the log. They do not count, and their trials in earlier copies of the log"
    " do not count either.",
)
def invalidated_samples(results: TaskResults) -> Iterator[str]:
    """Yield the files with invalidated samples."""
    for model in results.models:
        for file in model.files:
            if file.invalidated:
                yield f"{model.label}: {len(file.invalidated)} in {file.name}"


@check(
    "warning",
    "Replies of a fallback model",
    "The provider answered these samples by another model than the requested one. They are reported separately, under"
    " the name of that model in brackets.",
)
def other_models(results: TaskResults) -> Iterable[str]:
    """Return the variants that another model answered."""
    return [
        f"{model.label}: {len(model)} trials" for model in results.models if FALLBACK in model.files[0].setup
    ]


@check(
    "warning",
    "Refused parameters",
    "A server refused parameters of the calls, which were left out, lowered or renamed. Without a temperature of 0 the"
    " replies are sampled; without a seed a repeated run has other samples; fewer alternatives make token probabilities"
    " less exact.",
)
def refused_parameters(results: TaskResults) -> Iterator[str]:
    """Yield each parameter that the server of a model refused, with the server's sentence."""
    for model in results.models:
        for note in dict.fromkeys(note for file in model.files for note in file.refused):
            yield f"{model.label}: {note}"


@check(
    "note",
    "Replies of earlier runs",
    "These replies were read from Inspect's cache and not asked for again. They are right if the same model still"
    " answers under this name; `-T cache=false` asks again.",
)
def from_cache(results: TaskResults) -> Iterator[str]:
    """Yield the runs with replies from the cache of an earlier run."""
    for model in results.models:
        for file in model.files:
            if file.from_cache:
                yield f"{model.label}: {file.from_cache} in {file.name}"


@check(
    "warning",
    "No system role",
    "The chat template of these models drops a system message. It was put before the first user turn, so these models"
    " got the same text as others in another place.",
)
def moved_system_messages(results: TaskResults) -> Iterable[str]:
    """Return the models that got the system message in a user turn."""
    moved = f"model.{SYSTEM_MESSAGE}"
    return [model.label for model in results.models if any(moved in file.setup for file in model.files)]


@check(
    "note",
    "Several settings",
    "Prompts, worked examples, settings, data or the version of the task differ between the runs of a model. Each"
    " variant is reported separately, with the differences in brackets; trials of different variants are never pooled.",
)
def several_settings(results: TaskResults) -> Iterable[str]:
    """Return the models that ran with several settings."""
    return [", ".join(model.label for model in models) for models in results.variants_by_model.values()]


@check(
    "warning",
    "Runs without their results file",
    "The samples of these runs of lm-eval lie without the file `results_<time>.json`, which tells the model and its"
    " settings. The model is named after the folder, and runs are not pooled. Copy the file beside the samples.",
)
def without_results(results: TaskResults) -> Iterable[str]:
    """Return the models whose name and settings are unknown."""
    return [model.label for model in results.models if any(UNKNOWN_RUN in file.setup for file in model.files)]


@check(
    "warning",
    "Repeated questions in a file",
    "A file has several trials of a question under one condition and epoch; all of them count. If their"
    " settings differ, add a column `setup` with the settings: each value is then reported separately.",
)
def same_trial_twice(results: TaskResults) -> Iterable[str]:
    """Return the models with several trials of a question under one condition and epoch of a file."""
    return [f"{model.label}: {model.doubled} additional trials" for model in results.models if model.doubled]


def mixed_versions(results: TaskResults) -> Iterator[Notice]:
    """Yield a notice if versions of packages differ between the files of a report."""
    mixed = {name: values for name, values in _versions(results).items() if len(values) > 1}
    yield from notice_if_any(
        "warning" if {"task", "confidence-tasks"} & mixed.keys() else "note",
        "Mixed versions",
        "The files were written by different versions of these packages, whose prompts and reading rules may differ."
        " `confidence-tasks rescore` reads all replies with the installed version.",
        [f"{name}: {', '.join(values)}" for name, values in mixed.items()],
    )


def _versions(results: TaskResults) -> dict[str, list[str]]:
    """Return the versions of each package in the files whose trials count."""
    files = [model.files[i] for model in results.models for i in np.unique(model.columns["file"])]
    names = sorted({name for file in files for name in file.versions})
    return {name: sorted({file.versions.get(name, "") for file in files} - {""}) for name in names}
