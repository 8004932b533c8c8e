"""Trials out of the sample files of lm-eval (``--log_samples``)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import fsspec

from confidence_tasks.analysis.setups import setup_of
from confidence_tasks.analysis.studies import STUDIES
from confidence_tasks.analysis.study import Study
from confidence_tasks.analysis.trial_files import NotTrialsError, TrialFile, trial_columns
from confidence_tasks.lm_eval_tasks._aggregation import TRIAL

_NAME = re.compile(r"(?:^|/)samples_(?P<task>[^/]+)_(?P<time>\d{4}-\d\d-\d\dT[^/]*)\.jsonl$")
_OF_A_STUB = frozenset({"condition", "source", "config_source"})
"""What the metadata of a task say about which cell of the design it is, and where it is written down."""

_RESULTS = re.compile(r"(?:^|/)results_\d{4}-\d\d-\d\dT[^/]*\.json$")


def is_sample_file(path: str) -> bool:
    """Whether a path has the name that lm-eval gives to sample files.

    Examples
    --------
    >>> is_sample_file("out/gpt2/samples_riskeval_lambda10_2026-01-31T10-00-00.123456.jsonl")
    True
    """
    return _NAME.search(path) is not None


def is_results_file(path: str) -> bool:
    """Whether a path has the name that lm-eval gives to the results beside the samples.

    Examples
    --------
    >>> is_results_file("out/gpt2/results_2026-01-31T10-00-00.123456.json")
    True
    """
    return _RESULTS.search(path) is not None


def read_sample_file(path: str) -> TrialFile:
    """Read the trials of one task of an lm-eval run.

    Parameters
    ----------
    path : str
        ``samples_<task>_<time>.jsonl``, local or remote. The run's ``results_<time>.json`` beside it says which
        model it was and how it was asked.

    Raises
    ------
    NotTrialsError
        If no line holds a trial of a study of this package.
    """
    match = _NAME.search(path)
    if match is None:
        raise NotTrialsError("it is not named as lm-eval names its sample files")
    task, time = match["task"], match["time"]
    samples, unread = _samples(path)
    scored = [(ident, trial) for ident, trial in samples if isinstance(trial, Mapping)]
    study = _study(task, [trial for _, trial in scored])
    run = _run(path, time)
    return TrialFile(
        path=path,
        study=study.name,
        design=study.design_of(task),
        model=_model(run) or path.rsplit("/", 2)[-2],
        columns=trial_columns(
            study, [trial for _, trial in scored], (ident for ident, _ in scored), (1 for _ in scored)
        ),
        created=time,
        lost=len(samples) + unread - len(scored),
        versions={
            "lm_eval": str(run.get("lm_eval_version", "")),
            "task": str(run.get("versions", {}).get(task, "")),
        },
        setup=_setup(run, task, study),
    )


def _samples(path: str) -> tuple[list[tuple[str, Any]], int]:
    """Return id and trial of each line, and the number of lines that are not JSON."""
    found: list[tuple[str, Any]] = []
    unread = 0
    with fsspec.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            try:
                sample = json.loads(line)
                found.append((str(sample["doc"]["id"]), sample.get(TRIAL)))
            except (ValueError, KeyError, TypeError, RecursionError):
                unread += 1
    return found, unread


def _study(task: str, trials: list[Mapping[str, Any]]) -> Study:
    """Return the study with the longest name that a task's begins with: fermieval_sampling is not fermieval."""
    known = [study for study in STUDIES if study.design_of(task) in study.designs]
    if not known or not trials:
        raise NotTrialsError(f"no line of task {task} holds a trial of a study")
    return max(known, key=lambda study: len(study.design_of(task)))


def _run(path: str, time: str) -> dict[str, Any]:
    """The results beside the samples; empty where there are none."""
    folder = path[: path.rfind("/") + 1]
    try:
        with fsspec.open(f"{folder}results_{time}.json", "rt", encoding="utf-8") as file:
            run: dict[str, Any] = json.load(file)
    except FileNotFoundError:
        return {}
    return run


def _model(run: Mapping[str, Any]) -> str:
    """Name the model: lm-eval makes up a name where no argument is called ``model`` or ``pretrained``."""
    arguments = _arguments(run)
    named = str(run.get("model_name", ""))
    if named in arguments.values() or not run:
        return named
    given = ",".join(f"{key}={value}" for key, value in setup_of(arguments).items())
    return f"{run['config']['model']}({given})"


def _arguments(run: Mapping[str, Any]) -> dict[str, str]:
    arguments = run.get("config", {}).get("model_args") or {}
    if isinstance(arguments, str):
        arguments = dict(part.partition("=")[::2] for part in arguments.split(","))
    return {str(key): str(value) for key, value in arguments.items()}


def _setup(run: Mapping[str, Any], task: str, study: Study) -> dict[str, str]:
    """Parameters that may set two runs of a model apart."""
    asked = run.get("configs", {}).get(task, {}).get("metadata") or {}
    fewshot = run.get("n-shot", {}).get(task, 0)
    digests = {name: run.get(f"{name}_sha") for name in ("chat_template", "system_instruction")}
    return setup_of(
        {
            **{name: str(digest)[:8] for name, digest in digests.items() if digest},
            **({"fewshot_as_multiturn": run.get("fewshot_as_multiturn")} if fewshot else {}),
            **(run.get("config", {}).get("gen_kwargs") or {}),
            **_arguments(run),
            **{key: value for key, value in study.how(asked).items() if key not in _OF_A_STUB},
            "fewshot": fewshot,
        }
    )
