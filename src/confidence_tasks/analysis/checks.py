"""What to know before a number is believed: checks of the trials, in plain words."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from confidence_tasks.statistics import complete
from confidence_tasks.trial import READABLE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from confidence_tasks.analysis.findings import Findings
    from confidence_tasks.analysis.trial_files import TrialFile

Severity = Literal["serious", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("serious", "warning", "note")

FEW_OF_A_CLASS = 30
"""Right or wrong answers below which measures that compare the two are mostly noise."""

LOW_PARSE_RATE = 0.9
VERY_LOW_PARSE_RATE = 0.5

TIED_SHARE = 0.8
"""Share of one confidence above which a condition's confidence hardly varies."""

UNDEFINED_SHARE = 0.05
"""Share of resamples that may leave a measure undefined without a word."""

STABLE_ACCURACY = 0.015
"""Difference of accuracy between conditions that the scale study calls stable (section 4.2)."""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something to know about the numbers.

    Attributes
    ----------
    severity : {"serious", "warning", "note"}
        How far it calls the numbers into question.
    title : str
        What was found, in a few words.
    meaning : str
        What it does to the numbers, and what can be done.
    where : tuple of str
        Models, conditions and files that it applies to.
    """

    severity: Severity
    title: str
    meaning: str
    where: tuple[str, ...]


Check: TypeAlias = "Callable[[Findings], Iterator[Notice]]"


def notices(found: Findings, checks: Sequence[Check]) -> list[Notice]:
    """Run some checks; what they find, the serious first."""
    raised = [notice for check in checks for notice in check(found)]
    return sorted(raised, key=lambda notice: SEVERITIES.index(notice.severity))


def notice_if_any(severity: Severity, title: str, meaning: str, where: Sequence[str]) -> Iterator[Notice]:
    """Give a notice if it applies anywhere."""
    if where:
        yield Notice(severity, title, meaning, tuple(where))


def cells_of(found: Findings) -> Iterator[tuple[str, str, Mapping[str, NDArray[Any]]]]:
    """Model, condition and trials of every cell of the design."""
    for model in found.models:
        for condition in found.conditions:
            rows = model.columns["condition"] == condition
            if rows.any():
                yield model.label, condition, {name: column[rows] for name, column in model.columns.items()}


def incomplete(found: Findings) -> Iterator[Notice]:
    """Samples that have no trial: of a run that was resumed, those that its fullest file lacks."""
    lost = [
        f"{model.label}: {file.lost} of {file.lost + len(file)} in {file.path.rsplit('/', 1)[-1]}"
        for model in found.models
        for file in _fullest_of_each_run(model.files)
        if file.lost
    ]
    yield from notice_if_any(
        "warning",
        "Unfinished runs",
        "Some samples failed or were never asked. If they are not a random part, every number of these models is"
        " affected: resume the run, then report again.",
        lost,
    )


def _fullest_of_each_run(files: Iterable[TrialFile]) -> Iterable[TrialFile]:
    """Return the file of each run that has most of it: a run that is resumed goes on in a new file."""
    return {file.run or file.path: file for file in sorted(files, key=lambda file: -file.lost)}.values()


def repeated(found: Findings) -> Iterator[Notice]:
    """Trials that several files have."""
    where = [f"{model.label}: {model.repeated} trials" for model in found.models if model.repeated]
    yield from notice_if_any(
        "note",
        "Asked more than once",
        "The same question under the same condition is in several files. The newest is used, the others are left out.",
        where,
    )


def several_ways(found: Findings) -> Iterator[Notice]:
    """Models that were asked in several ways."""
    yield from notice_if_any(
        "note",
        "Asked in several ways",
        "Prompts, worked examples or settings differ between the runs of a model. It stands once for each way, with"
        " what sets them apart in brackets; trials of different ways are never taken together.",
        [", ".join(model.label for model in its) for its in found.asked_in_several_ways.values()],
    )


def same_trial_twice(found: Findings) -> Iterator[Notice]:
    """Files in which a question was asked several times under one condition, with nothing to tell the times apart."""
    yield from notice_if_any(
        "warning",
        "The same question several times in a file",
        "A file has several trials of a question under one condition and epoch; all of them count. If they were asked"
        " in different ways, say so in a column `setup`: each way is then reported by itself.",
        [f"{model.label}: {model.doubled} trials more" for model in found.models if model.doubled],
    )


def mixed_versions(found: Findings) -> Iterator[Notice]:
    """Files written by different versions."""
    files = [file for model in found.models for file in model.files]
    names = sorted({name for file in files for name in file.versions})
    seen = {
        name: sorted({file.versions[name] for file in files if file.versions.get(name)}) for name in names
    }
    where = [f"{name}: {', '.join(values)}" for name, values in seen.items() if len(values) > 1]
    ours = any(line.startswith(("task:", "confidence-tasks:")) for line in where)
    yield from notice_if_any(
        "warning" if ours else "note",
        "Mixed versions",
        "The files were written by different versions. Prompts and reading rules may differ between them:"
        " `confidence-tasks rescore` brings the readings to the same version.",
        where,
    )


def different_questions(found: Findings) -> Iterator[Notice]:
    """Models that were not asked the same."""
    asked = {model.label: set(model.columns["question_id"]) for model in found.models}
    every, common = set().union(*asked.values()), set.intersection(*asked.values())
    where = [f"{label}: {len(questions)} questions" for label, questions in asked.items()]
    yield from notice_if_any(
        "warning",
        "Models were asked different questions",
        f"Only {len(common)} of {len(every)} questions were put to every model, so that differences between models may"
        " be differences between questions. `confidence-tasks compare` pairs two models by question.",
        where if len(common) < len(every) else [],
    )


def unread_replies(found: Findings) -> Iterator[Notice]:
    """Replies that lack an answer or a confidence."""
    rates = [
        (model, condition, float(np.isin(columns["status"].astype(str), list(READABLE)).mean()))
        for model, condition, columns in cells_of(found)
    ]
    for severity, low, high in (
        ("serious", 0.0, VERY_LOW_PARSE_RATE),
        ("warning", VERY_LOW_PARSE_RATE, LOW_PARSE_RATE),
    ):
        yield from notice_if_any(
            severity,  # type: ignore[arg-type]
            "Replies without a readable answer or confidence",
            "Measures leave out the replies that lack what they need, and those left out are seldom a random part. A"
            " bare ABSTAIN is among these: it is a decision without a confidence. Worked examples (`fewshot=8`) help"
            " small models to keep to the format.",
            [
                f"{model}, {condition}: {rate:.0%} with both"
                for model, condition, rate in rates
                if low <= rate < high
            ],
        )


def few_trials(found: Findings) -> Iterator[Notice]:
    """Too few right or wrong answers to compare the two."""
    where = []
    for model, condition, columns in cells_of(found):
        correct, _ = complete(columns["correct"], columns["confidence"])
        right, wrong = (correct == 1.0).sum(), (correct == 0.0).sum()
        if right + wrong == len(correct) and min(right, wrong) < FEW_OF_A_CLASS:
            where.append(f"{model}, {condition}: {right} right, {wrong} wrong")
    yield from notice_if_any(
        "warning",
        "Few right or few wrong answers",
        "Measures that set right answers against wrong ones (AUROC, meta-d′, M-ratio) need at least"
        f" {FEW_OF_A_CLASS} of each. Ask more questions, or questions of another difficulty; `confidence-tasks power`"
        " says how many.",
        where,
    )


def tied(found: Findings) -> Iterator[Notice]:
    """Confidence that hardly varies."""
    where = []
    for model, condition, columns in cells_of(found):
        _, confidence = complete(columns["correct"], columns["confidence"])
        values, counts = np.unique(confidence, return_counts=True)
        if len(values) and counts.max() >= TIED_SHARE * len(confidence):
            where.append(
                f"{model}, {condition}: {counts.max() / len(confidence):.0%} at {values[counts.argmax()]:g}"
            )
    yield from notice_if_any(
        "warning",
        "Nearly one confidence for everything",
        "So many ties leave little to rank by: AUROC is near one half by lack of values, ECE hangs on one bin, and"
        " a threshold splits the trials one way or the other as a whole.",
        where,
    )


def undefined_resamples(found: Findings) -> Iterator[Notice]:
    """Measures that many resamples leave undefined."""
    where = [
        f"{entry.model}, {entry.group}, {entry.measure}: {entry.interval.n_undefined} of {entry.interval.n_resamples}"
        for entry in found.estimates
        if not entry.source
        and not math.isnan(entry.interval.low)
        and entry.interval.n_undefined > UNDEFINED_SHARE * entry.interval.n_resamples
    ]
    yield from notice_if_any(
        "warning",
        "Intervals from part of the resamples",
        "In many resamples the measure does not exist (all right, all wrong, or d′ = 0). They are left out, which makes"
        " the interval too narrow.",
        where,
    )


def unstable_accuracy(found: Findings) -> Iterator[Notice]:
    """Accuracy that depends on the condition."""
    where = [
        f"{contrast.model}, {contrast.group}: {contrast.interval.estimate:+.3f}"
        f" [{contrast.interval.low:+.3f}, {contrast.interval.high:+.3f}]"
        for contrast in found.contrasts
        if contrast.measure == "accuracy"
        and abs(contrast.interval.estimate) >= STABLE_ACCURACY
        and contrast.significant
    ]
    yield from notice_if_any(
        "warning",
        "Accuracy changes with the condition",
        "The way confidence was asked for changed the answers, so that a difference in meta-d′ or ECE may be one of"
        " knowledge rather than of knowing what is known.",
        where,
    )


def no_baseline(found: Findings) -> Iterator[Notice]:
    """Models without the condition that the others are compared with."""
    baseline = found.section.design.baseline
    missing = [
        model.label for model in found.models if baseline and baseline not in set(model.columns["condition"])
    ]
    yield from notice_if_any(
        "note",
        f"No baseline {baseline}",
        "Without it there are no contrasts for these models.",
        missing,
    )


def different_sources(found: Findings) -> Iterator[Notice]:
    """Conditions that were not asked of the same sources as the baseline."""
    baseline = found.section.design.baseline
    sources = {
        (model, condition): set(map(str, columns["source"])) for model, condition, columns in cells_of(found)
    }
    where = []
    for (model, condition), its in sources.items():
        of_baseline = sources.get((model, baseline), its)
        if its != of_baseline:
            shared = ", ".join(sorted(its & of_baseline))
            where.append(
                f"{model}, {condition}: {f'compared on {shared} only' if shared else 'not compared'}"
            )
    yield from notice_if_any(
        "warning",
        "Conditions were asked of different sources",
        f"Differences from {baseline} are on the sources that both conditions were asked of, and there are none where"
        " no source is shared. Other tables and figures take each condition’s own sources: what sets two conditions"
        " apart there may be the questions.",
        where,
    )


READING: tuple[Check, ...] = (
    incomplete,
    repeated,
    several_ways,
    same_trial_twice,
    mixed_versions,
    different_questions,
    unread_replies,
    undefined_resamples,
    no_baseline,
    different_sources,
)
"""The checks that any trials go through."""

GENERAL: tuple[Check, ...] = (*READING, few_trials, tied, unstable_accuracy)
"""These, and those of confidence in single answers."""
