"""The trials read from a file, with their provenance and the settings of the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class TrialFile:
    """Trials of one study by one model, from one file.

    Attributes
    ----------
    path : str
        Path or address of the file.
    study, design : str
        Name of the study, and of its task.
    model : str
        Name of the model in the file.
    columns : mapping of str to ndarray
        The study's trial record, and ``sample_id``, ``epoch``, ``subject``, ``cluster``, ``question_digest`` and
        ``prompt_digest``, one value per trial. Texts are empty where they are unknown. ``input_tokens``,
        ``output_tokens`` and ``reasoning_tokens`` are NaN where the harness does not record them.
    created : str
        Start of the run, in ISO 8601; empty if unknown.
    lost : int
        Number of samples without a trial: those that failed, were not finished, or were never asked. Samples that were
        skipped because the run stopped early are not lost.
    lost_by : mapping of str to int
        Of the samples without a trial, the number that each limit of a sample ended, by the name of the limit.
    why_lost : mapping of str to int
        Number of samples without a trial by the reason why a call has no reply, where the file tells it.
    versions : mapping of str to str
        Versions of the packages and of the task that the run used.
    setup : mapping of str to str
        Settings that may change a reply. Names begin with their origin, such as ``task.seed`` and ``generation.seed``
        (see :data:`confidence_tasks.logs.run_settings.ORIGINS`).
    provenance : mapping of str to str
        Version of the task, and revision of the data by source, where the file has them. Unlike in ``setup``, a
        missing value is compatible with any other.
    status : str
        Status of the run in the harness; empty if unknown.
    rescored : str
        Time when the replies were read again, in ISO 8601; empty if they were not.
    changed : str
        Time of the latest rescoring, edit or invalidation, in ISO 8601; empty if there was none.
    written : str
        Time when the file was written, in ISO 8601 and local time; empty if unknown.
    edited : int
        Number of samples whose scores were edited by hand.
    invalidated : tuple of (str, int)
        Id and epoch of the samples that were invalidated. They count neither here nor in earlier copies of the run.
    is_log : bool
        Whether Inspect's viewer can open the file.
    run : str
        Identifier that a run shares with the runs that resume it; empty if unknown.
    left_out : tuple of str
        Sentences that say which trials of the file do not count, and why.
    from_cache : str
        How many replies were read from the cache of an earlier run, and of which date; empty if none were.
    refused : tuple of str
        Sentences that say which parameters a server refused, and what was sent instead.
    stopped : int
        Number of samples that were skipped because the run stopped early.
    planned : tuple of str
        Ids of the samples in the order in which they were to be asked, without those that were skipped; empty if the
        order is unknown.
    """

    path: str
    study: str
    design: str
    model: str
    columns: Mapping[str, NDArray[Any]]
    created: str = ""
    lost: int = 0
    lost_by: Mapping[str, int] = field(default_factory=dict)
    why_lost: Mapping[str, int] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    setup: Mapping[str, str] = field(default_factory=dict)
    provenance: Mapping[str, str] = field(default_factory=dict)
    status: str = ""
    rescored: str = ""
    changed: str = ""
    written: str = ""
    edited: int = 0
    invalidated: tuple[tuple[str, int], ...] = ()
    is_log: bool = False
    run: str = ""
    left_out: tuple[str, ...] = ()
    from_cache: str = ""
    refused: tuple[str, ...] = ()
    stopped: int = 0
    planned: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Name of the file, without its folder."""
        return self.path.rsplit("/", 1)[-1]

    def __len__(self) -> int:
        return len(self.columns["question_id"])

    @property
    def parameters(self) -> dict[str, str]:
        """The parameters of the task that may change a reply or a trial, by name."""
        prefix = "task."
        return {key.removeprefix(prefix): v for key, v in self.setup.items() if key.startswith(prefix)}


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that was skipped, wholly or in part, and the reason."""

    path: str
    reason: str


class NotTrialsError(ValueError):
    """A file holds no trials of a known study; the message says why."""
