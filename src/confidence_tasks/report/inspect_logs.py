"""Trials out of Inspect logs, through the summaries of their samples.

Whole samples are read only from a log that says that some are invalid.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any
from zipfile import ZipFile

import fsspec
import numpy as np
from inspect_ai.log import EvalLog, EvalSpec, read_eval_log, read_eval_log_sample_summaries
from inspect_ai.model import ModelConfig
from pydantic_core import to_jsonable_python

from confidence_tasks.catalogue import studies, study_of_scores
from confidence_tasks.harness.inspect.viewer import scored_trial
from confidence_tasks.report.run_config import PROMPT, QUESTION, prompt_digest, question_digest, setup_of
from confidence_tasks.report.trial_files import NotTrialsError, TrialFile, provenance_of, trial_columns
from confidence_tasks.study.definition import Study

SUMMARIES = "summaries.json"
"""The member of a finished log that holds the summaries of all samples."""


def read_inspect_log(path: str) -> TrialFile:
    """Read the trials of a log, finished or not.

    Parameters
    ----------
    path : str
        A log in either of Inspect's formats, local or remote.

    Raises
    ------
    NotTrialsError
        If no sample was scored by a study of this package.
    """
    refuse_unbounded(path)
    header = read_eval_log(path, header_only=True)
    summaries = _summaries(path)
    study = _study(header, summaries)
    invalid = _invalidated(path) if header.invalidated else frozenset()
    scored = [
        summary
        for summary in summaries
        if _has_trial(summary, study) and (str(summary["id"]), summary["epoch"]) not in invalid
    ]
    left_out = (
        (f"{len(invalid)} of {len(summaries)} samples were invalidated and do not count",) if invalid else ()
    )
    if not scored:
        reasons = "; ".join((f"status: {header.status}", *left_out))
        raise NotTrialsError(f"none of its {len(summaries)} samples has a trial ({reasons})")
    spec = header.eval
    columns, wrong = trial_columns(
        study,
        [_trial(summary, study) | _digests(summary) for summary in scored],
        (summary["id"] for summary in scored),
        (summary["epoch"] for summary in scored),
    )
    return TrialFile(
        path=path,
        study=study.name,
        design=study.design_of(spec.task.rsplit("/", 1)[-1]),
        model=spec.model,
        columns=columns,
        created=spec.created,
        lost=max(_planned(header), len(summaries)) - len(scored) - len(invalid),
        versions=_versions(header),
        setup=_setup(header, study),
        provenance=_provenance(header),
        status=header.status,
        rescored=str(rescoring(header).get("at", "")),
        is_log=True,
        run=spec.task_id,
        left_out=(*left_out, *wrong),
    )


def _invalidated(path: str) -> frozenset[tuple[str, int]]:
    """Return the id and epoch of each sample that was invalidated: summaries do not say, so samples are read."""
    samples = read_eval_log(path).samples or []
    return frozenset((str(sample.id), sample.epoch) for sample in samples if sample.invalidation)


def refuse_unbounded(path: str) -> None:
    """Raise NotTrialsError for a JSON log with a number, or nesting, beyond what Python itself reads.

    The parser that Inspect reads such logs with (ijson on yajl) takes all memory there is on one: it builds numbers of
    any length, and at each level of nesting a name as long as all levels above.
    """
    if not path.endswith(".json"):
        return
    with fsspec.open(path, "rb") as file:
        bare = _STRING.sub(b"", file.read())
    if _ENDLESS_NUMBER.search(bare):
        raise NotTrialsError(f"it holds a number of more than {MOST_DIGITS} digits")
    if _depth(bare) > MOST_LEVELS:
        raise NotTrialsError(f"it is nested more than {MOST_LEVELS} levels deep")


def _depth(bare: bytes) -> int:
    """Return the deepest level of JSON without its strings."""
    characters = np.frombuffer(bare, dtype=np.uint8)
    steps = np.isin(characters, (ord("["), ord("{"))).astype(np.int8)
    steps -= np.isin(characters, (ord("]"), ord("}")))
    return int(np.cumsum(steps, dtype=np.int64).max(initial=0))


MOST_DIGITS = 4_300
MOST_LEVELS = 1_000
MOST_BYTES = 1 << 30
"""Size of the unpacked summaries of a log, which a bomb of a few megabytes exceeds. 100,000 samples take 0.4 GB."""

BYTES_A_CONTAINER = 32
"""Bytes of text for each list and object, at the least: a Python object takes 20 times its brackets. Logs have 100."""

_ENDLESS_NUMBER = re.compile(rb"\d{%d}" % (MOST_DIGITS + 1))
# Possessive, and ended by the end of the file too: linear whatever the file holds.
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\Z)', re.DOTALL)


def _summaries(path: str) -> list[Mapping[str, Any]]:
    """Return id, epoch, input, metadata and scores of each sample; of a sample run twice, the later one.

    A finished log has all summaries in one member. Taking the scores out of it as they are is twenty times faster than
    Inspect's own reader, which checks and shortens every text again; any other log goes through that reader.
    """
    found = _finished_summaries(path) if path.endswith(".eval") else None
    if found is None:
        found = [
            {
                "id": summary.id,
                "epoch": summary.epoch,
                "input": to_jsonable_python(summary.input),
                "metadata": summary.metadata,
                "scores": {
                    name: {"value": score.value, "metadata": score.metadata}
                    for name, score in (summary.scores or {}).items()
                },
            }
            for summary in read_eval_log_sample_summaries(path)
        ]
    return list({(str(summary["id"]), summary["epoch"]): summary for summary in found}.values())


def _finished_summaries(path: str) -> list[Mapping[str, Any]] | None:
    with fsspec.open(path, "rb") as file, ZipFile(file) as archive:
        if SUMMARIES not in archive.namelist():
            return None
        with archive.open(SUMMARIES) as member:
            packed = member.read(MOST_BYTES + 1)
    if len(packed) > MOST_BYTES:
        raise NotTrialsError(f"the summaries of its samples take more than {MOST_BYTES >> 20} MiB unpacked")
    if _containers(packed) > len(packed) / BYTES_A_CONTAINER and _containers(_STRING.sub(b"", packed)) > (
        len(packed) / BYTES_A_CONTAINER
    ):
        raise NotTrialsError("the summaries of its samples hold little but brackets")
    found: list[Mapping[str, Any]] = json.loads(packed)
    return found


def _containers(text: bytes) -> int:
    """Return the number of lists and objects that a JSON text opens, those within strings among them."""
    return text.count(b"[") + text.count(b"{")


def _study(header: EvalLog, summaries: Sequence[Mapping[str, Any]]) -> Study:
    scores = (summary.get("scores") or {} for summary in summaries)
    found = next((study for names in scores if (study := study_of_scores(names))), None)
    if found is None:
        scorers = ", ".join(scorer.name for scorer in header.eval.scorers or ()) or "none"
        raise NotTrialsError(
            f"task {header.eval.task} with scorer {scorers}: no sample was scored by one of"
            f" {', '.join(study.scorer_name for study in studies())} (status: {header.status})"
        )
    return found


def _has_trial(summary: Mapping[str, Any], study: Study) -> bool:
    score = (summary.get("scores") or {}).get(study.scorer_name)
    return score is not None and isinstance(score["value"], Mapping)


def _trial(summary: Mapping[str, Any], study: Study) -> dict[str, Any]:
    score = summary["scores"][study.scorer_name]
    return scored_trial(score["value"], score.get("metadata"))


def _planned(header: EvalLog) -> int:
    """Return the number of samples that the run was to have, as far as the log says."""
    spec = header.eval
    asked = spec.dataset.samples or 0
    if isinstance(spec.config.limit, int):
        asked = min(asked, spec.config.limit)
    elif spec.config.limit is not None or spec.config.sample_id is not None:
        return 0
    return asked * (spec.config.epochs or 1)


def _digests(summary: Mapping[str, Any]) -> dict[str, str]:
    """Return what tells apart the question of a sample, and the messages that it was asked in."""
    asked, metadata = summary.get("input") or [], summary.get("metadata") or {}
    messages = (
        [("user", asked)] if isinstance(asked, str) else [(each["role"], each["content"]) for each in asked]
    )
    return {
        QUESTION: question_digest(metadata.get("question"), metadata.get("choices")),
        PROMPT: prompt_digest(messages) if messages else "",
    }


def _versions(header: EvalLog) -> dict[str, str]:
    """Return the versions that the run wrote down, and that of the task; those that read the replies last count."""
    written = (header.eval.metadata or {}).get("versions", {})
    task = {"task": str(header.eval.task_version)}
    every = {**header.eval.packages, **written, **rescoring(header).get("versions", {}), **task}
    return {str(name): str(version) for name, version in every.items()}


def rescoring(header: EvalLog) -> Mapping[str, Any]:
    """Return when the replies of a log were read anew and by which versions; empty if they were not."""
    found = (header.metadata or {}).get(RESCORED)
    return found if isinstance(found, Mapping) else {}


RESCORED = "rescored"
"""What ``rescore`` calls its entry in the metadata of a log."""


def _provenance(header: EvalLog) -> dict[str, str]:
    """Return the version of the task, and the revision of each source that has one."""
    sources = (header.eval.metadata or {}).get("sources") or {}
    return provenance_of(str(header.eval.task_version), sources)


def _setup(header: EvalLog, study: Study) -> dict[str, str]:
    """Parameters that may set two runs of a model apart, as text."""
    spec = header.eval
    return setup_of(
        {
            # The settings of the task come over those of the model, as in the run.
            **spec.model_generate_config.model_dump(exclude_none=True),
            **header.plan.config.model_dump(exclude_none=True),
            **({"base_url": spec.model_base_url} if spec.model_base_url else {}),
            **spec.model_args,
            **study.how(spec.task_args),
            **_solver(spec),
            **_roles(spec),
        }
    )


def _solver(spec: EvalSpec) -> dict[str, Any]:
    """Return the solver that a user put in the place of the task's own."""
    if spec.solver is None:
        return {}
    return {
        "solver": spec.solver,
        **{f"solver.{key}": value for key, value in (spec.solver_args or {}).items()},
    }


def _roles(spec: EvalSpec) -> dict[str, Any]:
    """Return the models that read and judge the replies, with their settings."""
    bound = spec.model_roles or {}
    return {
        role: ", ".join(map(_bound, configs if isinstance(configs, list) else [configs]))
        for role, configs in bound.items()
    }


def _bound(config: ModelConfig) -> str:
    """Return a model in a role, with its settings in brackets if it has any."""
    address = {"base_url": config.base_url} if config.base_url else {}
    settings = setup_of({**config.config.model_dump(exclude_none=True), **address, **config.args})
    told = ", ".join(f"{key}={value}" for key, value in settings.items())
    return f"{config.model} ({told})" if told else config.model
