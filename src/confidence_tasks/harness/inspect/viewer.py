"""What a log of Inspect holds of a study and its viewer shows: samples, trials as scores, where numbers come from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from importlib.metadata import version
from textwrap import wrap
from typing import Any, Literal

from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    ContentImage,
    ContentText,
)
from inspect_ai.scorer import Score
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.viewer import (
    ScoreColorScale,
    TaskSamplesColumn,
    TaskSamplesSort,
    TaskSamplesView,
    ViewerConfig,
)

from confidence_tasks.sources.table import revisions
from confidence_tasks.study.definition import Study
from confidence_tasks.study.trial import EFFORT, Item, question_metadata

_STATUSES: Mapping[str, tuple[str, Literal["good", "bad", "warn", "info", "muted"]]] = {
    "ok": ("ok", "muted"),
    "repaired": ("repaired", "info"),
    "out_of_range": ("out of range", "warn"),
    "missing_confidence": ("no confidence", "warn"),
    "missing_answer": ("no answer", "bad"),
    "unreadable": ("unreadable", "bad"),
    "refused": ("refused", "warn"),
}
"""Label and colour of each status in the viewer's column."""

SHOWN = ("condition", "correct", "confidence", "status")
"""Columns of a trial that the viewer shows for every study."""

_SORTED: Mapping[str, Literal["asc", "desc"]] = {"correct": "asc", "confidence": "desc"}
"""The order of the sample list."""

_WIDTHS = {"condition": 11, "correct": 10, "confidence": 14, "status": 10}
"""Number of letters that fit into a column. A column is as wide as its label, and 120 pixels at most."""

_PIECE = 1000
"""Number of letters of a text that the summary in a log keeps."""

_HIDDEN = ("sampleId", "sampleStatus", "tokens", "duration")


def viewer(study: Study) -> ViewerConfig:
    """Return the sample list of a study, confident errors first."""
    scorer = study.scorer_name
    columns = [
        TaskSamplesColumn(id="input"),
        TaskSamplesColumn(id="answer"),
        TaskSamplesColumn(id="target"),
        *(TaskSamplesColumn.score(scorer, key) for key in (*SHOWN, *study.viewer_columns)),
        *(TaskSamplesColumn(id=column, visible=False) for column in _HIDDEN),
    ]
    return ViewerConfig(
        task_samples_view=TaskSamplesView(
            name="Trials",
            columns=columns,
            sort=[TaskSamplesSort.score(scorer, key, dir=direction) for key, direction in _SORTED.items()],
            multiline=False,
            score_labels={
                "confidence_raw": "stated",
                "integer_mass": "mass",
                **{key: f"{key:\u200b<{width}}" for key, width in _WIDTHS.items()},
            },
            score_color_scales={
                "correct": ScoreColorScale(palette="good-high", min=0, max=1),
                "confidence": ScoreColorScale(palette="neutral", min=0, max=1),
                "status": dict(_STATUSES.values()),
            },
            color_scales_enabled=True,
        )
    )


def trial_score(
    study: Study, trial: Mapping[str, Any], asked: Mapping[str, Any], *, answer: str, explanation: str
) -> Score:
    """Return a trial as a score, which :func:`scored_trial` gives back, with the effort of the sample's metadata.

    The viewer makes a column of every key of a score's value, also of those that its configuration hides, and cuts what
    is longer than its label. So the value has the columns that a reader of the sample list wants, numbers to four
    digits, conditions and statuses in short words; the metadata has the others, and what was shortened as it is.
    """
    # The viewer has room for one column more: that of the study, or the effort where there are several.
    own = [EFFORT] if EFFORT in asked else study.viewer_columns
    value = {key: _shortened(trial[key] if key in trial else asked[key]) for key in (*SHOWN, *own)}
    value["condition"] = study.short_condition(trial["condition"])
    kept: dict[str, Any] = {}
    for key, its in trial.items():
        if key not in value:
            kept.update(_pieces(key, its))
        elif its != value[key] and its == its:
            kept[key] = its
    return Score(
        value=value,
        answer=answer,
        explanation=explanation,
        metadata=kept,
    )


def scored_trial(value: Mapping[str, Any], metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the trial that the value and the metadata of a score make up; in an older log the value has it all.

    A value that somebody edited after the run counts as it is.
    """
    kept = metadata or {}
    trial = {**kept, **value}
    for key, its in kept.items():
        if key in value:
            if key == "condition" or _shortened(its) == value[key]:
                trial[key] = its
        elif key[-1:].isdigit():
            begun, _, number = key.partition(" ")
            if number.isdigit() and begun in kept:
                trial[begun] += " " + trial.pop(key)
    return trial


def _shortened(value: Any) -> Any:
    """Return a number to four digits, or to the whole, and a status in words."""
    if isinstance(value, float):
        return float(f"{value:.4g}") if abs(value) < 1000 else round(value, 0)
    return _STATUSES[value][0] if value in _STATUSES else value


def _pieces(key: str, value: Any) -> dict[str, Any]:
    """Return a text of words in pieces that a log's summary keeps whole, the second as ``key 2``."""
    if not isinstance(value, str) or len(value) <= _PIECE or value != " ".join(value.split()):
        return {key: value}
    pieces = wrap(value, _PIECE, break_long_words=False, break_on_hyphens=False)
    return {f"{key} {number}" if number > 1 else key: piece for number, piece in enumerate(pieces, 1)}


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


def _digest(data: MemoryDataset) -> str:
    """SHA-256 of ids and messages; pictures are left out, for they are pinned with their source."""
    digest = sha256()
    for sample in data:
        turns = [ChatMessageUser(content=sample.input)] if isinstance(sample.input, str) else sample.input
        sent = [turn for turn in turns if is_sent(turn.metadata)]
        for part in (str(sample.id), *(part for turn in sent for part in (turn.role, turn.text))):
            digest.update(part.encode(errors="surrogatepass") + b"\x1f")
    return digest.hexdigest()


# Samples --------------------------------------------------------------------------------------------------------------


_SHOWN_ONLY = "shown_only"
"""The key of the metadata of a message that is not sent."""


def dataset(items: Iterable[Item], name: str) -> MemoryDataset:
    """Return items as Inspect samples, for a task whose setup is :func:`without_shown_question`.

    The input begins with the question alone, which the viewer's list shows rather than the instructions.
    """
    return MemoryDataset([_sample(item) for item in items], name=name)


def is_sent(metadata: Mapping[str, Any] | None) -> bool:
    """Return whether a message of a sample's input, of which these are the metadata, is sent to the model."""
    return not (metadata or {}).get(_SHOWN_ONLY)


@solver
def without_shown_question() -> Solver:
    """Take out of the conversation what is in a sample's input for the viewer only."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.messages = [message for message in state.messages if is_sent(message.metadata)]
        return state

    return solve


def _sample(item: Item) -> Sample:
    shown = ChatMessageUser(content=item.question.text, metadata={_SHOWN_ONLY: True})
    return Sample(
        id=item.id,
        input=[shown, *_messages(item)],
        target=item.question.gold or "",
        metadata={"condition": item.condition, **question_metadata(item.question), **item.metadata},
    )


def _messages(item: Item) -> list[ChatMessage]:
    turns: list[ChatMessage] = [ChatMessageSystem(content=item.system)] if item.system else []
    for asked, replied in item.examples:
        turns += [ChatMessageUser(content=asked), ChatMessageAssistant(content=replied)]
    if item.question.image is None:
        return [*turns, ChatMessageUser(content=item.prompt)]
    picture = ContentImage(image=item.question.image)
    return [*turns, ChatMessageUser(content=[ContentText(text=item.prompt), picture])]
