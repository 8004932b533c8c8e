"""Trials out of files that are no logs of Inspect: lm-eval's (``--log_samples``), and plain ones with a trial a row."""

from __future__ import annotations

import csv
import json
import re
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import fsspec
import pandas as pd
from msgspec import MsgspecError, Struct, field
from msgspec.json import Decoder

from confidence_tasks.catalogue import studies
from confidence_tasks.harness.lm_eval.groups import REVISIONS, TRIAL
from confidence_tasks.report.trial_files import (
    EXTRA_COLUMNS,
    NotTrialsError,
    TrialFile,
    decoded,
    provenance_of,
    question_digest,
    setup_of,
    trial_columns,
    without_garbage_collection,
)
from confidence_tasks.study.definition import Study, short_repr
from confidence_tasks.study.trial import Trial

_NAME = re.compile(r"(?:^|/)samples_(?P<task>[^/]+)_(?P<time>\d{4}-\d\d-\d\dT[^/]*)\.jsonl$")
_OF_A_STUB = frozenset({"condition", "source", "study", "config_source", REVISIONS})
"""Metadata keys of a task that name its cell of the design, and its source and data."""

_OF_THE_RUN = (
    "random_seed",
    "numpy_seed",
    "torch_seed",
    "fewshot_seed",
    "model_sha",
    "peft_sha",
    "delta_sha",
)
"""Keys of a run's configuration that may change a reply."""


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
    return re.search(r"(?:^|/)results_\d{4}-\d\d-\d\dT[^/]*\.json$", path) is not None


def results_beside(path: str) -> list[str]:
    """Return the path of the results that a sample file is read with; none for any other file."""
    match = _NAME.search(path)
    return [f"{path[: path.rfind('/') + 1]}results_{match['time']}.json"] if match else []


@without_garbage_collection()
def read_sample_file(path: str) -> TrialFile:
    """Read the trials of one task of an lm-eval run, ``samples_<task>_<time>.jsonl``, local or remote.

    The run's ``results_<time>.json`` beside it says which model it was, how it was asked, and how many samples
    there were: those that the file lacks are lost.

    NotTrialsError if no line holds a trial of a study of this package.
    """
    match = _NAME.search(path)
    if match is None:
        raise NotTrialsError("it is not named as lm-eval names its sample files")
    task, time = match["task"], match["time"]
    study = _study(task)
    keys = tuple(study.column_types)
    rows, n_lines = _rows(path, keys)
    if not rows:
        raise NotTrialsError(f"no line of task {task} holds a trial of a study")
    run = _run(path)
    n_asked = ((run.get("n-samples") or {}).get(task) or {}).get("effective") or 0
    columns, left_out = trial_columns(
        study, dict(zip((*keys, *EXTRA_COLUMNS), zip(*rows, strict=True), strict=True))
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
    arguments = _parsed(run.get("config", {}).get("model_args"))
    named = str(run.get("model_name", ""))
    if named in arguments.values() or not run:
        return named
    given = ",".join(f"{key}={value}" for key, value in setup_of(arguments).items())
    return f"{run['config']['model']}({given})"


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
            **_parsed(config.get("model_args")),
            **{
                key: value for key, value in study.protocol_parameters(asked).items() if key not in _OF_A_STUB
            },
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


def read_trial_table(path: str) -> list[TrialFile]:
    """Read a plain file of trials, one row a trial: a file a study, model, task and way of asking.

    The file ends in ``.csv``, ``.jsonl`` or ``.parquet``, and has the columns of
    :class:`~confidence_tasks.study.trial.Trial` and as many of the study's own as its measures need. The study is
    told by these, or by a column ``study``. ``model``, ``task``, ``sample_id`` and ``epoch`` are read where they
    are there, and ``setup``: how the model was asked, as a JSON object or in words.

    NotTrialsError if its columns are not those of a study.
    """
    rows, unread = _READERS[path[path.rfind(".") :]](path)
    if rows.empty:
        raise NotTrialsError("it holds no rows")
    study = None if "study" in rows else _study_of_rows(rows)
    given = rows.assign(
        **{name: rows[name].map(str).where(rows[name].notna(), "") if name in rows else "" for name in _APART}
    )
    files: list[TrialFile] = []
    refused: list[str] = []
    for key, part in given.groupby(list(_APART), sort=False):
        _, model, task, setup = map(str, key)
        at = part.index.tolist()
        values: dict[str, list[Any]] = {str(name): part[name].tolist() for name in part}
        try:
            its = study or _study_of_rows(part)
            design = its.design_of(task) if task else its.name
            values.setdefault("epoch", [1] * len(at))
            asked = zip(values["question_id"], values["condition"], strict=True)
            values.setdefault("sample_id", [f"{question}/{condition}" for question, condition in asked])
            columns, left_out = trial_columns(its, values, [f"row {number + 1}" for number in at].__getitem__)
        except NotTrialsError as error:
            refused.append(f"row {at[0] + 1}: {error}")
            continue
        files.append(
            TrialFile(
                path=path,
                study=its.name,
                design=design,
                model=model or path.rsplit("/", 1)[-1],
                setup=_setup_of_text(setup),
                columns=columns,
                lost=0 if files else unread,
                left_out=left_out,
            )
        )
    if not files:
        raise NotTrialsError("; ".join(dict.fromkeys(refused)))
    return [replace(files[0], left_out=(*files[0].left_out, *refused)), *files[1:]]


_APART = ("study", "model", "task", "setup")
"""Columns whose values are never pooled."""


def _setup_of_text(text: str) -> dict[str, str]:
    """Return how a model was asked, by name; in words that are no JSON object, as ``setup``."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = text
    if isinstance(found, dict):
        return {str(key): str(value) for key, value in found.items()}
    return {"setup": text} if text else {}


def _study_of_rows(rows: pd.DataFrame) -> Study:
    """Return the study that ``study`` names, or the one with most columns of its own."""
    names = set(map(str, rows.columns))
    if missing := [key for key in _CORE if key not in names]:
        hint = ""
        if "reply" in names:
            hint = "; replies are read with `confidence-tasks score` first"
        elif {"correct", "confidence"} <= names:
            hint = "; in Python, `summary` of its table needs no more than correct and confidence"
        raise NotTrialsError(f"it has no columns {', '.join(missing)}{hint}")
    if "study" in names:
        named = str(rows["study"].iloc[0])
        known = {study.name: study for study in studies()}
        if named not in known:
            raise NotTrialsError(f"study {short_repr(named)} is not one of {', '.join(known)}")
        return known[named]
    own = {study: len((set(study.column_types) - set(_CORE)) & names) for study in studies()}
    best = max(own.values())
    fitting = [study for study, count in own.items() if count == best]
    if len(fitting) > 1:
        raise NotTrialsError(f"add a column `study`: {', '.join(study.name for study in fitting)} all fit")
    return fitting[0]


def _csv(path: str) -> tuple[pd.DataFrame, int]:
    """Read strictly: pandas would push the cells of a row with more cells than columns one column to the left."""
    refused = warnings.catch_warnings(action="error", category=pd.errors.ParserWarning)
    with fsspec.open(path, "rt", encoding="utf-8-sig", newline="") as file:
        names = Counter(next(csv.reader(file), []))
    if twice := [short_repr(name) for name, count in names.items() if count > 1]:
        raise NotTrialsError(f"it has two columns {', '.join(twice)}: delete or rename one")
    with fsspec.open(path, "rt", encoding="utf-8-sig") as file, refused:
        return pd.read_csv(
            file, dtype=_TEXTS, index_col=False, keep_default_na=False, na_values=["", "nan", "NaN"]
        ), 0


def _parquet(path: str) -> tuple[pd.DataFrame, int]:
    with fsspec.open(path, "rb") as file:
        return pd.read_parquet(file), 0


def _jsonl(path: str) -> tuple[pd.DataFrame, int]:
    """Read line by line: one line that is no JSON must not cost the others."""
    rows: list[Mapping[str, Any]] = []
    numbers: list[int] = []
    unread = 0
    with fsspec.open(path, "rt", encoding="utf-8-sig") as lines:
        for number, line in enumerate(lines):
            if not line.strip():
                continue
            try:
                rows.append(dict(json.loads(line)))
                numbers.append(number)
            except (ValueError, TypeError, RecursionError):
                unread += 1
    return pd.DataFrame(rows, index=numbers), unread


_CORE = tuple(Trial.__annotations__)
_TEXTS = {key: str for study in studies() for key, kind in study.column_types.items() if kind is str}
_READERS: Mapping[str, Callable[[str], tuple[pd.DataFrame, int]]] = {
    ".csv": _csv,
    ".jsonl": _jsonl,
    ".parquet": _parquet,
}
SUFFIXES = tuple(_READERS)
