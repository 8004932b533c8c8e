"""A study in Inspect's logs and log viewer: samples, scores, viewer columns and provenance."""

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

from confidence_tasks.harness.logged_trials import SHOWN_ONLY, STATUSES, is_sent, shortened
from confidence_tasks.sources.table import revisions
from confidence_tasks.study.definition import Study
from confidence_tasks.study.structured import STRUCTURED
from confidence_tasks.study.trial import EFFORT, Item, question_metadata

SHOWN = ("condition", "correct", "confidence", "status")
"""Columns of a trial that the viewer shows for every study."""

_SORTED: Mapping[str, Literal["asc", "desc"]] = {"correct": "asc", "confidence": "desc"}
"""Sort order of the sample list."""

_WIDTHS = {"condition": 11, "correct": 10, "confidence": 14, "status": 10}
"""Number of letters to which the label of a column is padded: a column is as wide as its label, up to 120 pixels."""

_SUMMARY_LENGTH = 1000
"""Number of letters to which a log's summary truncates a text."""

_HIDDEN = ("sampleId", "sampleStatus", "tokens", "duration")


def viewer(study: Study) -> ViewerConfig:
    """Return the configuration of a study's sample list, sorted with confident errors first."""
    scorer = study.scorer_name
    columns = [
        TaskSamplesColumn(id="input"),
        TaskSamplesColumn(id="answer"),
        TaskSamplesColumn(id="target"),
        *(TaskSamplesColumn.score(scorer, key) for key in (*SHOWN, *study.viewer.columns)),
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
                "status": dict(STATUSES.values()),
            },
            color_scales_enabled=True,
        )
    )


def trial_score(
    study: Study, trial: Mapping[str, Any], sample: Mapping[str, Any], *, answer: str, explanation: str
) -> Score:
    """Convert a trial to a score; :func:`~confidence_tasks.harness.logged_trials.scored_trial` converts it back.

    The viewer shows a column for every key of a score's value, even for hidden columns, and truncates values that are
    longer than the column's label. So the value has only the columns of the sample list, with numbers rounded to four
    digits and shortened conditions and statuses. The score's metadata has the exact form of these values and all other
    columns. ``sample`` is the sample's metadata, which has the effort and whether the reply is a JSON object.
    """
    # The viewer has room for one more column: the effort if there are several, or else the study's column.
    extra = [EFFORT] if EFFORT in sample else study.viewer.columns
    value = {key: shortened(trial[key] if key in trial else sample[key]) for key in (*SHOWN, *extra)}
    value["condition"] = study.viewer.short_condition(trial["condition"])
    metadata: dict[str, Any] = {STRUCTURED: True} if STRUCTURED in sample else {}
    for key, exact in trial.items():
        if key not in value:
            metadata.update(_split_text(key, exact))
        elif exact != value[key] and exact == exact:
            metadata[key] = exact
    return Score(value=value, answer=answer, explanation=explanation, metadata=metadata)


def _split_text(key: str, value: Any) -> dict[str, Any]:
    """Split a long text into parts that a log's summary does not truncate; the second has the key ``key 2``."""
    if not isinstance(value, str) or len(value) <= _SUMMARY_LENGTH or value != " ".join(value.split()):
        return {key: value}
    parts = wrap(value, _SUMMARY_LENGTH, break_long_words=False, break_on_hyphens=False)
    return {f"{key} {number}" if number > 1 else key: part for number, part in enumerate(parts, 1)}


def provenance(parameters: Mapping[str, Any], data: MemoryDataset | None = None) -> dict[str, Any]:
    """Return the origin of a log's numbers: parameters, versions, sources and prompts.

    Parameters
    ----------
    parameters : mapping
        All parameters of the task, by name, including ``seed``.
    data : MemoryDataset, optional
        The samples.

    Returns
    -------
    dict
        ``seed``; ``parameters``; ``versions`` by package. With ``data`` also ``sources``, the pinned revision of each
        source (empty for questions of this package or of a file), and ``prompts``, a digest of all messages.
    """
    origin = {"seed": parameters["seed"], "parameters": dict(parameters), "versions": versions()}
    if data is None:
        return origin
    names = dict.fromkeys(str((sample.metadata or {}).get("source", "")) for sample in data)
    return {**origin, "sources": revisions(names), "prompts": _digest(data)}


def versions() -> dict[str, str]:
    """Return the versions of the packages on which trials and metrics depend."""
    return {package: version(package) for package in ("confidence-tasks", "inspect-ai", "numpy", "scipy")}


def _digest(data: MemoryDataset) -> str:
    """Return the SHA-256 of the ids and messages; pictures are left out because they are pinned with their source."""
    digest = sha256()
    for sample in data:
        turns = [ChatMessageUser(content=sample.input)] if isinstance(sample.input, str) else sample.input
        sent = [turn for turn in turns if is_sent(turn.metadata)]
        for part in (str(sample.id), *(part for turn in sent for part in (turn.role, turn.text))):
            digest.update(part.encode(errors="surrogatepass") + b"\x1f")
    return digest.hexdigest()


# Samples --------------------------------------------------------------------------------------------------------------


def dataset(items: Iterable[Item], name: str) -> MemoryDataset:
    """Convert items to Inspect samples, for a task whose setup is :func:`without_shown_question`.

    The input begins with a message that contains only the question, so that the viewer's sample list shows the question
    instead of the instructions.
    """
    return MemoryDataset([_sample(item) for item in items], name=name)


@solver
def without_shown_question() -> Solver:
    """Return a solver that removes the message for the viewer from the conversation."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state.messages = [message for message in state.messages if is_sent(message.metadata)]
        return state

    return solve


def _sample(item: Item) -> Sample:
    shown = ChatMessageUser(content=item.question.text, metadata={SHOWN_ONLY: True})
    return Sample(
        id=item.id,
        input=[shown, *_messages(item)],
        target=item.question.gold or "",
        metadata={"condition": item.condition, **question_metadata(item.question), **item.metadata},
    )


def _messages(item: Item) -> list[ChatMessage]:
    turns: list[ChatMessage] = [ChatMessageSystem(content=item.system)] if item.system else []
    for prompt, reply in item.examples:
        turns += [ChatMessageUser(content=prompt), ChatMessageAssistant(content=reply)]
    if item.question.image is None:
        return [*turns, ChatMessageUser(content=item.prompt)]
    picture = ContentImage(image=item.question.image)
    return [*turns, ChatMessageUser(content=[ContentText(text=item.prompt), picture])]
