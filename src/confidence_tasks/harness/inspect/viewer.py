"""How the log viewer shows the trials of a study, and what a log says of where its numbers come from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from importlib.metadata import version
from typing import Any, Literal

from inspect_ai.dataset import MemoryDataset
from inspect_ai.model import ChatMessageUser
from inspect_ai.scorer import Score
from inspect_ai.viewer import (
    ScoreColorScale,
    TaskSamplesColumn,
    TaskSamplesSort,
    TaskSamplesView,
    ViewerConfig,
)

from confidence_tasks.harness.inspect.samples import EFFORT, is_sent
from confidence_tasks.sources.table import SOURCES
from confidence_tasks.study.definition import Study

_STATUS_COLOURS: Mapping[str, Literal["good", "bad", "warn", "info", "muted"]] = {
    "ok": "muted",
    "repaired": "info",
    "out_of_range": "warn",
    "missing_confidence": "warn",
    "missing_answer": "bad",
    "unreadable": "bad",
    "refused": "warn",
}

SHOWN = ("condition", "correct", "confidence", "status")
"""Columns of a trial that the viewer shows of every study."""

_SORTED: Mapping[str, Literal["asc", "desc"]] = {"correct": "asc", "confidence": "desc"}
"""The order of the sample list. A column is as wide as its label, without the sign of the order."""

_HIDDEN = ("sampleId", "sampleStatus", "tokens", "duration")


def viewer(study: Study) -> ViewerConfig:
    """Return the sample list of a study, confident errors first."""
    scorer = study.scorer_name
    columns = [
        TaskSamplesColumn(id="input"),
        TaskSamplesColumn(id="answer"),
        TaskSamplesColumn(id="target"),
        *(TaskSamplesColumn.score(scorer, key) for key in (*SHOWN, *study.columns)),
        *(TaskSamplesColumn(id=column, visible=False) for column in _HIDDEN),
    ]
    return ViewerConfig(
        task_samples_view=TaskSamplesView(
            name="Trials",
            columns=columns,
            sort=[TaskSamplesSort.score(scorer, key, dir=direction) for key, direction in _SORTED.items()],
            multiline=False,
            score_labels={"confidence_raw": "stated", **{key: f"{key:\u200b<14}" for key in _SORTED}},
            score_color_scales={
                "correct": ScoreColorScale(palette="good-high", min=0, max=1),
                "confidence": ScoreColorScale(palette="neutral", min=0, max=1),
                "status": _STATUS_COLOURS,
            },
            color_scales_enabled=True,
        )
    )


def trial_score(
    study: Study, trial: Mapping[str, Any], asked: Mapping[str, Any], *, answer: str, explanation: str
) -> Score:
    """Return a trial as a score, which :func:`scored_trial` gives back, with the effort of the sample's metadata.

    The viewer makes a column of every key of a score's value, also of those that its configuration hides. So the value
    has the columns that a reader of the sample list wants, and the metadata the others.
    """
    shown = (*SHOWN, *study.columns)
    return Score(
        value={**{key: trial[key] for key in shown}, **({EFFORT: asked[EFFORT]} if EFFORT in asked else {})},
        answer=answer,
        explanation=explanation,
        metadata={key: value for key, value in trial.items() if key not in shown},
    )


def scored_trial(value: Mapping[str, Any], metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the trial that the value and the metadata of a score make up; in an older log the value has it all."""
    return {**(metadata or {}), **value}


def provenance(parameters: Mapping[str, Any], data: MemoryDataset | None = None) -> dict[str, Any]:
    """Return what a log's numbers depend on: parameters, versions, and what was asked, from which questions.

    Parameters
    ----------
    parameters : mapping
        All those of the task, by name, ``seed`` among them.
    data : MemoryDataset, optional
        What is asked.

    Returns
    -------
    dict
        ``seed``; ``parameters``; ``versions`` by package; with ``data`` also ``sources``, the pinned revision of each
        (empty for questions that come with this package or in a file), and ``prompts``, a digest of every message of
        every sample.
    """
    made = {"seed": parameters["seed"], "parameters": dict(parameters), "versions": versions()}
    if data is None:
        return made
    names = dict.fromkeys(str((sample.metadata or {}).get("source", "")) for sample in data)
    return {**made, "sources": revisions(names), "prompts": _digest(data)}


def versions() -> dict[str, str]:
    """Return the versions that readings and metrics depend on, by package."""
    return {package: version(package) for package in ("confidence-tasks", "inspect-ai", "numpy", "scipy")}


def revisions(sources: Iterable[str]) -> dict[str, str]:
    """Return the pinned revision of each source; empty for questions that come with this package or in a file."""
    return {name: SOURCES[name].commit if name in SOURCES else "" for name in sources}


def _digest(data: MemoryDataset) -> str:
    """SHA-256 of ids and messages; pictures are left out, for they are pinned with their source."""
    digest = sha256()
    for sample in data:
        turns = [ChatMessageUser(content=sample.input)] if isinstance(sample.input, str) else sample.input
        sent = [turn for turn in turns if is_sent(turn.metadata)]
        for part in (str(sample.id), *(part for turn in sent for part in (turn.role, turn.text))):
            digest.update(part.encode(errors="surrogatepass") + b"\x1f")
    return digest.hexdigest()
