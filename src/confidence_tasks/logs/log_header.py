"""What is read of the header of an Inspect log.

A header that the installed version of Inspect wrote is decoded here. Inspect's own reader knows all versions, but its
import takes longer than to read a log of thousands of samples.
"""

from __future__ import annotations

from contextlib import suppress
from importlib.metadata import version
from typing import Any

from msgspec import MsgspecError, Struct, field
from msgspec.json import Decoder

from confidence_tasks.logs.decoding import decoded


class Dataset(Struct, gc=False):
    """The samples of a task."""

    samples: int | None = None
    sample_ids: list[str | int] | None = None


class RunConfig(Struct, gc=False):
    """Which samples a run asks, and how often."""

    limit: int | list[int] | None = None
    sample_id: Any = None
    epochs: int | None = None
    log_samples: bool | None = None


class ModelOfRole(Struct, gc=False):
    """A model that parses or judges replies."""

    model: str
    config: dict[str, Any] = field(default_factory=dict)
    base_url: str | None = None
    args: dict[str, Any] = field(default_factory=dict)


class RunSpec(Struct, gc=False):
    """Task, model and settings of a run."""

    created: str
    task: str
    model: str
    dataset: Dataset
    config: RunConfig
    task_id: str = ""
    task_version: int | str = 0
    task_args: dict[str, Any] = field(default_factory=dict)
    solver: str | None = None
    solver_args: dict[str, Any] | None = None
    model_generate_config: dict[str, Any] = field(default_factory=dict)
    model_base_url: str | None = None
    model_args: dict[str, Any] = field(default_factory=dict)
    model_roles: dict[str, ModelOfRole | list[ModelOfRole]] | None = None
    packages: dict[str, str] = field(default_factory=dict)
    metadata: dict[str, Any] | None = None


class Plan(Struct, gc=False):
    """Generation settings of the task."""

    config: dict[str, Any] = field(default_factory=dict)


class SkippedSample(Struct, gc=False):
    """A sample that was not asked because the run stopped early."""

    id: str | int
    epoch: int


class EarlyStopping(Struct, gc=False):
    """The samples that were not asked."""

    early_stops: list[SkippedSample] = field(default_factory=list)


class Results(Struct, gc=False):
    """What the results say of samples that were not asked."""

    early_stopping: EarlyStopping | None = None


class Stats(Struct, gc=False):
    """When a run ended."""

    completed_at: str = ""


class LogHeader(Struct, gc=False):
    """The fields that are read of a header; names are those of :class:`inspect_ai.log.EvalLog`.

    Generation settings hold what was set and nothing else.
    """

    eval: RunSpec
    version: int = 2
    status: str = "started"
    plan: Plan = field(default_factory=Plan)
    results: Results | None = None
    stats: Stats = field(default_factory=Stats)
    invalidated: bool = False
    log_updates: list[Any] | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


def current_header(text: bytes) -> LogHeader | None:
    """Decode a header that the installed version of Inspect wrote and that nobody edited; None for any other.

    Headers of other versions may have other fields, which Inspect's reader converts.
    """
    with suppress(ValueError, MsgspecError, RecursionError):
        header = decode_header(text)
        if header.eval.packages.get("inspect_ai") == version("inspect_ai") and not header.log_updates:
            return header
    return None


def decode_header(text: bytes) -> LogHeader:
    """Decode a header in the form of the installed version of Inspect."""
    return decoded(text, _HEADER)


_HEADER = Decoder(LogHeader)
