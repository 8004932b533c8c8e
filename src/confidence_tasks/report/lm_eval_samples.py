"""Trials out of the sample files of lm-eval (``--log_samples``)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import fsspec
from msgspec import MsgspecError, Struct, field
from msgspec.json import Decoder

from confidence_tasks.catalogue import studies
from confidence_tasks.harness.lm_eval.groups import REVISIONS, TRIAL
from confidence_tasks.report.run_config import question_digest, setup_of
from confidence_tasks.report.trial_files import (
    BESIDE,
    NotTrialsError,
    TrialFile,
    decoded,
    provenance_of,
    trial_columns,
    without_garbage_collection,
)
from confidence_tasks.study.definition import Study

_NAME = re.compile(r"(?:^|/)samples_(?P<task>[^/]+)_(?P<time>\d{4}-\d\d-\d\dT[^/]*)\.jsonl$")
_OF_A_STUB = frozenset({"condition", "source", "study", "config_source", REVISIONS})
"""What the metadata of a task say about which cell of the design it is, and where it and its data come from."""

_OF_THE_RUN = (
    "random_seed",
    "numpy_seed",
    "torch_seed",
    "fewshot_seed",
    "model_sha",
    "peft_sha",
    "delta_sha",
)
"""What may change a reply, in the run's own configuration."""

_RESULTS = re.compile(r"(?:^|/)results_\d{4}-\d\d-\d\dT[^/]*\.json$")


def is_sample_file(path: str) -> bool:
    """Return whether a path has the name that lm-eval gives to sample files.

    Examples
    --------
    >>> is_sample_file("out/gpt2/samples_riskeval_lambda10_2026-01-31T10-00-00.123456.jsonl")
    True
    """
    return _NAME.search(path) is not None


def is_results_file(path: str) -> bool:
    """Return whether a path has the name that lm-eval gives to the results beside the samples.

    Examples
    --------
    >>> is_results_file("out/gpt2/results_2026-01-31T10-00-00.123456.json")
    True
    """
    return _RESULTS.search(path) is not None


def results_beside(path: str) -> list[str]:
    """Return the path of the results that a sample file is read with; none for any other file."""
    match = _NAME.search(path)
    return [f"{path[: path.rfind('/') + 1]}results_{match['time']}.json"] if match else []


@without_garbage_collection()
def read_sample_file(path: str) -> TrialFile:
    """Read the trials of one task of an lm-eval run, ``samples_<task>_<time>.jsonl``, local or remote.

    The run's ``results_<time>.json`` beside it says which model it was, how it was asked, and how many samples
    there were: those that the file lacks are lost.

    Raises
    ------
    NotTrialsError
        If no line holds a trial of a study of this package.
    """
    match = _NAME.search(path)
    if match is None:
        raise NotTrialsError("it is not named as lm-eval names its sample files")
    task, time = match["task"], match["time"]
    study = _study(task)
    keys = tuple(study.record)
    rows, n_lines = _rows(path, keys)
    if not rows:
        raise NotTrialsError(f"no line of task {task} holds a trial of a study")
    run = _run(path)
    n_asked = ((run.get("n-samples") or {}).get(task) or {}).get("effective") or 0
    columns, left_out = trial_columns(
        study, dict(zip((*keys, *BESIDE), zip(*rows, strict=True), strict=True))
    )
    return TrialFile(
        path=path,
        study=study.name,
        design=study.design_of(task),
        model=_model(run) or path.rsplit("/", 2)[-2],
        columns=columns,
        created=time,
        lost=max(int(n_asked), n_lines) - len(rows),
        versions={
            "lm_eval": str(run.get("lm_eval_version", "")),
            "task": str(run.get("versions", {}).get(task, "")),
        },
        setup=_setup(run, task, study),
        provenance=_provenance(run, task),
        left_out=left_out,
    )


class _Doc(Struct, gc=False):
    id: Any
    question: Any = None
    choices: Any = None


class _Sample(Struct, gc=False):
    doc: _Doc
    trial: Any = field(name=TRIAL)
    prompt_hash: Any = None


_SAMPLE = Decoder(_Sample)


def _rows(path: str, keys: Sequence[str]) -> tuple[list[tuple[Any, ...]], int]:
    """Return some columns of each trial and what stands beside it, and the number of lines."""
    rows, n_lines = [], 0
    with fsspec.open(path, "rb") as lines:
        for line in lines:
            n_lines += 1
            # A line that is no JSON, or no sample, is of a sample without a trial.
            with suppress(ValueError, MsgspecError, RecursionError):
                sample = decoded(line, _SAMPLE)
                doc, prompt = sample.doc, sample.prompt_hash
                if isinstance(sample.trial, dict):
                    question = question_digest(doc.question, doc.choices)
                    prompt = f"lm-eval {prompt[:16]}" if isinstance(prompt, str) else ""
                    rows.append((*map(sample.trial.get, keys), question, prompt, str(doc.id), 1))
    return rows, n_lines


def _study(task: str) -> Study:
    """Return the study with the longest name that a task's begins with: fermieval_sampling is not fermieval."""
    known = [study for study in studies() if study.design_of(task) in study.designs]
    if not known:
        raise NotTrialsError(f"no study asks task {task}")
    return max(known, key=lambda study: len(study.design_of(task)))


def _run(path: str) -> dict[str, Any]:
    """Return the results beside the samples; empty where there are none."""
    (beside,) = results_beside(path)
    try:
        with fsspec.open(beside, "rt", encoding="utf-8") as file:
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
    return _parsed(run.get("config", {}).get("model_args"))


def _parsed(arguments: Any) -> dict[str, str]:
    """Return arguments by name, whether they were written down as a mapping or as ``name=value,...``."""
    if isinstance(arguments, str):
        arguments = dict(part.partition("=")[::2] for part in arguments.split(",") if part)
    return {str(key): str(value) for key, value in (arguments or {}).items()}


def _setup(run: Mapping[str, Any], task: str, study: Study) -> dict[str, str]:
    """Parameters that may set two runs of a model apart."""
    asked = run.get("configs", {}).get(task, {}).get("metadata") or {}
    fewshot = run.get("n-shot", {}).get(task, 0)
    digests = {name: run.get(f"{name}_sha") for name in ("chat_template", "system_instruction")}
    config = run.get("config", {})
    return setup_of(
        {
            **{name: str(digest)[:8] for name, digest in digests.items() if digest},
            **{name: str(config[name])[:8] for name in _OF_THE_RUN if config.get(name) not in (None, "")},
            **({"backend": config["model"]} if config.get("model") else {}),
            **({"fewshot_as_multiturn": run.get("fewshot_as_multiturn")} if fewshot else {}),
            **_parsed(config.get("gen_kwargs")),
            **_arguments(run),
            **{key: value for key, value in study.how(asked).items() if key not in _OF_A_STUB},
            "fewshot": fewshot,
        }
    )


def _provenance(run: Mapping[str, Any], task: str) -> dict[str, str]:
    """Return the version of the task, the revision of each source, and how the task itself has replies generated.

    The last is by task: temperatures are conditions of some designs, each of which is a task of its own. What
    ``--gen_kwargs`` sets is a setting of the run.
    """
    config = run.get("configs", {}).get(task, {})
    version = run.get("versions", {}).get(task)
    generation = setup_of(config.get("generation_kwargs") or {})
    of_the_run = _parsed(run.get("config", {}).get("gen_kwargs"))
    return {
        **provenance_of(
            "" if version is None else str(version), (config.get("metadata") or {}).get(REVISIONS) or {}
        ),
        **{f"{key} of {task}": value for key, value in generation.items() if key not in of_the_run},
    }
