"""Trials out of Inspect logs, through the summaries of their samples: the samples themselves are never read."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any
from zipfile import ZipFile

import fsspec
import numpy as np
from inspect_ai.log import EvalLog, EvalSpec, read_eval_log, read_eval_log_sample_summaries

from confidence_tasks.analysis.setups import setup_of
from confidence_tasks.analysis.studies import STUDIES, study_of_scores
from confidence_tasks.analysis.study import Study
from confidence_tasks.analysis.trial_files import NotTrialsError, TrialFile, trial_columns

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
    scored = [summary for summary in summaries if _has_trial(summary, study)]
    if not scored:
        raise NotTrialsError(f"none of its {len(summaries)} samples has a trial (status: {header.status})")
    spec = header.eval
    return TrialFile(
        path=path,
        study=study.name,
        design=study.design_of(spec.task.rsplit("/", 1)[-1]),
        model=spec.model,
        columns=trial_columns(
            study,
            [summary["scores"][study.scorer]["value"] for summary in scored],
            (summary["id"] for summary in scored),
            (summary["epoch"] for summary in scored),
        ),
        created=spec.created,
        lost=max(_planned(header), len(summaries)) - len(scored),
        versions=_versions(header),
        setup=_setup(header, study),
        is_log=True,
        run=spec.task_id,
    )


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
_ENDLESS_NUMBER = re.compile(rb"\d{%d}" % (MOST_DIGITS + 1))
# Possessive, and ended by the end of the file too: linear whatever the file holds.
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\Z)', re.DOTALL)


def _summaries(path: str) -> list[Mapping[str, Any]]:
    """Return ``id``, ``epoch`` and ``scores`` of each sample; of a sample run twice, the later one.

    A finished log has all summaries in one member. Taking the scores out of it as they are is twenty times faster than
    Inspect's own reader, which checks and shortens every text again; any other log goes through that reader.
    """
    found = _finished_summaries(path) if path.endswith(".eval") else None
    if found is None:
        found = [
            {
                "id": summary.id,
                "epoch": summary.epoch,
                "scores": {name: {"value": score.value} for name, score in (summary.scores or {}).items()},
            }
            for summary in read_eval_log_sample_summaries(path)
        ]
    return list({(str(summary["id"]), summary["epoch"]): summary for summary in found}.values())


def _finished_summaries(path: str) -> list[Mapping[str, Any]] | None:
    with fsspec.open(path, "rb") as file, ZipFile(file) as archive:
        if SUMMARIES not in archive.namelist():
            return None
        found: list[Mapping[str, Any]] = json.loads(archive.read(SUMMARIES))
        return found


def _study(header: EvalLog, summaries: Sequence[Mapping[str, Any]]) -> Study:
    scores = (summary.get("scores") or {} for summary in summaries)
    found = next((study for names in scores if (study := study_of_scores(names))), None)
    if found is None:
        scorers = ", ".join(scorer.name for scorer in header.eval.scorers or ()) or "none"
        raise NotTrialsError(
            f"task {header.eval.task} with scorer {scorers}: no sample was scored by one of"
            f" {', '.join(study.scorer for study in STUDIES)} (status: {header.status})"
        )
    return found


def _has_trial(summary: Mapping[str, Any], study: Study) -> bool:
    score = (summary.get("scores") or {}).get(study.scorer)
    return score is not None and isinstance(score["value"], Mapping)


def _planned(header: EvalLog) -> int:
    """Number of samples that the run was to have, as far as the log says."""
    spec = header.eval
    asked = spec.dataset.samples or 0
    if isinstance(spec.config.limit, int):
        asked = min(asked, spec.config.limit)
    elif spec.config.limit is not None or spec.config.sample_id is not None:
        return 0
    return asked * (spec.config.epochs or 1)


def _versions(header: EvalLog) -> dict[str, str]:
    """The versions that the run wrote down, and that of the task."""
    written = (header.eval.metadata or {}).get("versions", {})
    task = {"task": str(header.eval.task_version)}
    return {**header.eval.packages, **{str(name): str(version) for name, version in written.items()}, **task}


def _setup(header: EvalLog, study: Study) -> dict[str, str]:
    """Parameters that may set two runs of a model apart, as text."""
    generation = header.plan.config.model_dump(exclude_none=True)
    return setup_of(
        {
            **generation,
            **header.eval.model_args,
            **study.how(header.eval.task_args),
            **_solver(header.eval),
            **_roles(header.eval),
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
    """Return the models that read and judge the replies."""
    bound = spec.model_roles or {}
    return {
        role: ", ".join(config.model for config in (configs if isinstance(configs, list) else [configs]))
        for role, configs in bound.items()
    }
