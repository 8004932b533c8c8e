"""What to know before a number is believed: checks of the trials, in plain words."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from confidence_tasks.report.estimates import Estimated
from confidence_tasks.report.labels import limits, number, why_missing
from confidence_tasks.report.results import TaskResults
from confidence_tasks.report.task_trials import BY_CONDITION, asked
from confidence_tasks.report.trial_files import QUESTION
from confidence_tasks.statistics import complete
from confidence_tasks.study.measures import PARSE_RATE, rows_of
from confidence_tasks.study.parameter import did_you_mean

Severity = Literal["serious", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("serious", "warning", "note")

FEW_OF_A_CLASS = 30
"""Questions answered right or wrong below which measures that compare the two are mostly noise."""

TIED_SHARE = 0.8
"""Share of one confidence above which a condition's confidence hardly varies."""

UNDEFINED_SHARE = 0.05
"""Share of undefined resamples above which a measure gets a notice."""

STABLE_ACCURACY = 0.015
"""Difference of accuracy between conditions that the scale study calls stable (section 4.2)."""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something to know about the numbers: what was found, what it does to them and what can be done, and where.

    ``severity`` says how far it calls the numbers into question.
    """

    severity: Severity
    title: str
    meaning: str
    where: tuple[str, ...]


Check: TypeAlias = Callable[[TaskResults], Iterator[Notice]]


def notices(results: TaskResults, checks: Sequence[Check]) -> list[Notice]:
    """Run some checks; what they find, the serious first."""
    return in_order_of_severity(notice for check in checks for notice in check(results))


def in_order_of_severity(raised: Iterable[Notice]) -> list[Notice]:
    """Put the serious notices first."""
    return sorted(raised, key=lambda notice: SEVERITIES.index(notice.severity))


def notice_if_any(severity: Severity, title: str, meaning: str, where: Iterable[str]) -> Iterator[Notice]:
    """Give a notice if it applies anywhere."""
    if places := tuple(where):
        yield Notice(severity, title, meaning, places)


def check(
    severity: Severity, title: str, meaning: str
) -> Callable[[Callable[[TaskResults], Iterable[str]]], Check]:
    """Make a check of a function that says where its notice applies."""

    def decorate(places: Callable[[TaskResults], Iterable[str]]) -> Check:
        @wraps(places)
        def its_notice(results: TaskResults) -> Iterator[Notice]:
            return notice_if_any(severity, title, meaning, places(results))

        return its_notice

    return decorate


def cells_of(results: TaskResults, *names: str) -> Iterator[tuple[str, str, Mapping[str, NDArray[Any]]]]:
    """Yield the model, the condition and the trials of every cell of the design; each source has its own cells.

    The trials have the columns of the given names, by default all.
    """
    for model in results.models:
        columns = {name: model.columns[name] for name in names or model.columns}
        for condition, cells in results.cells[model.label].items():
            for cell in cells:
                label = condition if len(cells) == 1 else f"{condition}, {cell.source}"
                yield model.label, label, rows_of(columns, cell.rows)


@check(
    "warning",
    "Unfinished runs",
    "Some samples failed or were never asked. If they are not a random part, every number of these models is"
    " affected: resume the run, then report again.",
)
def incomplete(results: TaskResults) -> Iterator[str]:
    """Runs that did not succeed, and samples without a trial: of a resumed run, those that its fullest file lacks."""
    for model in results.models:
        fullest = {file.run or file.path: file for file in sorted(model.files, key=lambda file: -file.lost)}
        for file in fullest.values():
            status = "" if file.status in ("", "success") else f" (status: {file.status})"
            if file.lost or status:
                name = file.path.rsplit("/", 1)[-1]
                yield f"{model.label}: {file.lost} of {file.lost + len(file)} in {name}{status}"


@check(
    "note",
    "Asked more than once",
    "The same question under the same condition is in several files. The newest run is used, and of a run the"
    " newest reading, as `confidence-tasks rescore` dates them; the others are left out.",
)
def repeated(results: TaskResults) -> Iterable[str]:
    """Trials that several files have."""
    return [f"{model.label}: {model.repeated} trials" for model in results.models if model.repeated]


@check(
    "note",
    "Asked in several ways",
    "Prompts, worked examples, settings, data or the version of the task differ between the runs of a model. It"
    " stands once for each way, with what sets them apart in brackets; trials of different ways are never taken"
    " together.",
)
def several_ways(results: TaskResults) -> Iterable[str]:
    """Models that were asked in several ways."""
    return [", ".join(model.label for model in its) for its in results.asked_in_several_ways.values()]


@check(
    "warning",
    "The same question several times in a file",
    "A file has several trials of a question under one condition and epoch; all of them count. If they were asked"
    " in different ways, say so in a column `setup`: each way is then reported by itself.",
)
def same_trial_twice(results: TaskResults) -> Iterable[str]:
    """Files in which a question was asked several times under one condition, with nothing to tell the times apart."""
    return [f"{model.label}: {model.doubled} trials more" for model in results.models if model.doubled]


def mixed_versions(results: TaskResults) -> Iterator[Notice]:
    """Find packages whose versions differ between the files of a report."""
    files = [model.files[i] for model in results.models for i in np.unique(model.columns["file"])]
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


def different_questions(results: TaskResults) -> Iterator[Notice]:
    """Models that were not asked the same."""
    asked = {model.label: set(model.columns["question_id"]) for model in results.models}
    every, common = set().union(*asked.values()), set.intersection(*asked.values())
    where = [f"{label}: {len(questions)} questions" for label, questions in asked.items()]
    yield from notice_if_any(
        "warning",
        "Models were asked different questions",
        f"Only {len(common)} of {len(every)} questions were put to every model, so that differences between models may"
        " be differences between questions. `confidence-tasks compare` pairs two models by question.",
        where if len(common) < len(every) else [],
    )


def id_conflicts(results: TaskResults) -> Iterator[Notice]:
    """Questions that share an id and nothing else, as those of two files of one name may."""
    yield from id_conflict_notice([model.columns for model in results.models])


def id_conflict_notice(trials: Iterable[Mapping[str, NDArray[Any]]]) -> Iterator[Notice]:
    """Name the questions of some trials, given by their columns, whose texts differ."""
    yield from notice_if_any(
        "serious",
        "Other questions under the same ids",
        "Models were asked different questions under one source and id: were they asked of two files of the same name?"
        " Differences between the models mean nothing here. `confidence-tasks compare` leaves these questions out.",
        sorted({name for _, _, name in conflicting_ids(trials)}),
    )


def conflicting_ids(trials: Iterable[Mapping[str, NDArray[Any]]]) -> set[tuple[str, str, str]]:
    """Return condition, source and id of what some trials, given by their columns, ask in another text than others.

    Trials without a digest of their question differ from no other.
    """
    texts = set[tuple[str, ...]]().union(
        *(asked(columns, QUESTION) for columns in trials if QUESTION in columns)
    )
    count = Counter((condition, source, name) for condition, source, name, text in texts if text)
    return {key for key, n_texts in count.items() if n_texts > 1}


def unread_replies(results: TaskResults) -> Iterator[Notice]:
    """Replies that lack an answer or a confidence."""
    # The study's own measure: a study may leave replies out that no number is of.
    read = results.task_trials.study.measures_by_name.get(PARSE_RATE.name, PARSE_RATE)
    rates = {
        f"{model}, {condition}": float(read.compute(columns, None))
        for model, condition, columns in cells_of(results)
    }
    bands: tuple[tuple[Severity, float, float], ...] = (("serious", 0.0, 0.5), ("warning", 0.5, 0.9))
    for severity, low, high in bands:
        yield from notice_if_any(
            severity,
            "Replies without a readable answer or confidence",
            "Measures leave out the replies that lack what they need, and those left out are seldom a random part. A"
            " bare ABSTAIN is among these: it is a decision without a confidence. Worked examples (`fewshot=8`) help"
            " small models to keep to the format.",
            [f"{where}: {rate:.0%} with both" for where, rate in rates.items() if low <= rate < high],
        )


@check(
    "warning",
    "Few right or few wrong answers",
    "Measures that set right answers against wrong ones (AUROC, meta-d′, M-ratio) need at least"
    f" {FEW_OF_A_CLASS} questions of each from every source, however often each is asked. Ask more questions, or"
    " questions of another difficulty; `confidence-tasks power` says how many.",
)
def few_trials(results: TaskResults) -> Iterator[str]:
    """Too few right or wrong answers to compare the two."""
    for model, condition, columns in cells_of(results, "confidence", "correct", "question_id"):
        told = ~np.isnan(columns["confidence"]) & ~np.isnan(columns["correct"])
        correct, asked = columns["correct"][told], columns["question_id"][told]
        right, wrong = (len({*asked[correct == value]}) for value in (1.0, 0.0))
        if np.isin(correct, (0.0, 1.0)).all() and min(right, wrong) < FEW_OF_A_CLASS:
            yield (f"{model}, {condition}: {right} right, {wrong} wrong")


@check(
    "warning",
    "Nearly one confidence for everything",
    "So many ties leave little to rank by: AUROC is near one half by lack of values, ECE hangs on one bin, and"
    " a threshold splits the trials one way or the other as a whole.",
)
def tied(results: TaskResults) -> Iterator[str]:
    """Confidence that hardly varies."""
    for model, condition, columns in cells_of(results, "correct", "confidence"):
        _, confidence = complete(columns["correct"], columns["confidence"])
        values, counts = np.unique(confidence, return_counts=True)
        if len(values) and counts.max() >= TIED_SHARE * len(confidence):
            yield (
                f"{model}, {condition}: {counts.max() / len(confidence):.0%} at {values[counts.argmax()]:g}"
            )


@check(
    "warning",
    "Intervals from part of the resamples",
    "In many resamples the measure does not exist (all right, all wrong, or d′ = 0). They are left out, which makes"
    " the interval too narrow.",
)
def undefined_resamples(results: TaskResults) -> Iterable[str]:
    """Measures that many resamples leave undefined."""
    return [
        f"{entry.model}, {entry.group}, {entry.measure}: {entry.interval.n_undefined} of {entry.interval.n_resamples}"
        for entry in results.estimates
        if not entry.source
        and not math.isnan(entry.interval.low)
        and entry.interval.n_undefined > UNDEFINED_SHARE * entry.interval.n_resamples
    ]


@check(
    "warning",
    "Accuracy changes with the condition",
    "The way confidence was asked for changed the answers, so that a difference in meta-d′ or ECE may be one of"
    " knowledge rather than of knowing what is known.",
)
def unstable_accuracy(results: TaskResults) -> Iterable[str]:
    """Accuracy that depends on the condition."""
    return [
        f"{contrast.model}, {contrast.group}: {contrast.interval.estimate:+.3f}"
        f" [{contrast.interval.low:+.3f}, {contrast.interval.high:+.3f}]"
        for contrast in results.contrasts
        if contrast.measure == "accuracy"
        and abs(contrast.interval.estimate) >= STABLE_ACCURACY
        and contrast.significant
    ]


def no_baseline(results: TaskResults) -> Iterator[Notice]:
    """Models without the condition that the others are compared with."""
    baseline = results.task_trials.design.baseline
    missing = [
        model.label
        for model in results.models
        if baseline and baseline not in set(model.columns["condition"])
    ]
    yield from notice_if_any(
        "note", f"No baseline {baseline}", "Without it there are no contrasts for these models.", missing
    )


def different_sources(results: TaskResults) -> Iterator[Notice]:
    """Conditions that were not asked of the same sources as the baseline or reference."""
    baseline = results.task_trials.design.baseline or results.reference
    sources = {
        (model.label, condition): set(map(str, model.columns["source"][rows]))
        for model in results.models
        for condition in results.conditions
        if (rows := model.columns["condition"] == condition).any()
    }
    where = []
    for (model, condition), its in sources.items():
        of_baseline = sources.get((model, baseline), its)
        if its != of_baseline:
            shared = ", ".join(sorted(its & of_baseline))
            where.append(
                f"{model}, {condition}: {f'compared on {shared} only' if shared else 'not compared'}"
            )
    where += [
        f"{model}, {group.label}: averaged without {', '.join(cell.source for cell in group.apart)}"
        for model, groups in results.groups.items()
        for group in groups
        if group.apart
    ]
    yield from notice_if_any(
        "warning",
        "Conditions were asked of different sources",
        f"Differences from {baseline} are on the sources that both conditions were asked of, and there are none where"
        " no source is shared. Tables and figures average over the sources that the conditions share; those that a"
        " condition has besides stand by themselves in the table of sources. Where two conditions share none, what sets"
        " them apart may be the questions.",
        where,
    )


READING: tuple[Check, ...] = (
    incomplete,
    repeated,
    several_ways,
    same_trial_twice,
    mixed_versions,
    different_questions,
    id_conflicts,
    unread_replies,
    undefined_resamples,
    no_baseline,
    different_sources,
)
"""Checks for trials of every kind."""

GENERAL: tuple[Check, ...] = (*READING, few_trials, tied, unstable_accuracy)
"""Checks for trials with a confidence in a single answer, and those of ``READING``."""


# What a user requires -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Requirement:
    """A bound that a measure's whole interval must meet under a condition, or under each if that is empty."""

    measure: str
    condition: str
    below: bool
    bound: float

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a requirement; ValueError if it is none.

        Examples
        --------
        >>> Requirement.parse("ece<0.1")
        Requirement(measure='ece', condition='', below=True, bound=0.1)
        >>> Requirement.parse("auroc/0-20 > .7").condition
        '0-20'
        """
        number = r"[-+]?(?:\d+\.?\d*|\.\d+)"
        read = re.fullmatch(rf"(\w+)(?:/(.+?))?\s*([<>])=?\s*({number})", text.strip())
        if read is None:
            raise ValueError(f"{text!r} is no requirement, such as 'ece<0.1' or 'auroc/0-20>0.7'")
        measure, condition, sign, bound = read.groups()
        return cls(measure, condition or "", sign == "<", float(bound))

    def __str__(self) -> str:
        where = f"/{self.condition}" if self.condition else ""
        return f"{self.measure}{where} {'<' if self.below else '>'} {self.bound:g}"

    def outcome(self, entry: Estimated) -> str:
        """Say whether a measure is ``met``, ``not met`` or ``undecided``, as its interval lies on either side."""
        low, high = entry.interval.low, entry.interval.high
        if math.isnan(low) or low < self.bound < high:
            return "undecided"
        return "met" if (high <= self.bound) == self.below else "not met"


def parse_requirements(texts: Iterable[str]) -> list[Requirement]:
    """Read requirements as a command line gives them."""
    return [*map(Requirement.parse, texts)]


def verdicts(requirements: Sequence[Requirement], every: Sequence[TaskResults]) -> Iterator[dict[str, str]]:
    """Hold the measures of each task, model and condition against requirements; say what became of each, in words.

    ValueError if no task has a measure or a condition that is named: a gate that nothing passes through is left open.
    """
    for requirement in requirements:
        known = [name for results in every for name in results.task_trials.study.measures_by_name]
        if requirement.measure not in known:
            raise ValueError(
                f"{requirement}: there is no measure {requirement.measure!r}{did_you_mean(requirement.measure, known)}"
            )
        entries = [
            (results, entry)
            for results in every
            for entry in results.estimates
            if entry.measure == requirement.measure
            and entry.by == BY_CONDITION
            and not entry.source
            and requirement.condition in ("", entry.group)
        ]
        if not entries:
            labels = dict.fromkeys(label for results in every for label in results.conditions)
            raise ValueError(f"{requirement}: nothing was measured; the conditions are {', '.join(labels)}")
        for results, entry in entries:
            told = limits(entry.interval, 3) or why_missing(entry.interval)
            yield {
                "requirement": str(requirement),
                "outcome": requirement.outcome(entry),
                "where": f"{results.task_trials.task}, {entry.model}, {entry.group}",
                "found": f"{number(entry.interval.estimate, 3)} {told}",
            }
