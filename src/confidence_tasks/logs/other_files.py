"""Trials from files other than Inspect logs: lm-eval's samples (``--log_samples``), and tables with a row per trial."""

from __future__ import annotations

import csv
import json
import re
import warnings
from collections import Counter, deque
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import fsspec
import pandas as pd
from msgspec import MsgspecError, Struct, field
from msgspec.json import Decoder

from confidence_tasks.catalogue import studies, study_named
from confidence_tasks.harness.address import ORIGIN
from confidence_tasks.harness.correctness import BY_DEFAULT, SUFFIX, Correctness
from confidence_tasks.harness.lm_eval.groups import REVISIONS, TRIAL
from confidence_tasks.harness.refusals import LOST, REFUSED, refusals_in
from confidence_tasks.harness.system_role import SYSTEM_MESSAGE
from confidence_tasks.logs.benchmark_samples import benchmark_samples, group_of_task
from confidence_tasks.logs.texts import printable
from confidence_tasks.logs.trial_files import (
    EXTRA_COLUMNS,
    ORIGINS,
    UNKNOWN_RUN,
    NotTrialsError,
    TrialFile,
    decoded,
    provenance_of,
    question_digest,
    setup_of,
    shared_by,
    trial_columns,
    without_garbage_collection,
    without_secrets,
)
from confidence_tasks.sources.bounds import BoundError, JsonBounds, bounded_rows, refuse_brackets
from confidence_tasks.study.definition import Study, short_repr
from confidence_tasks.study.trial import RULES, Trial

_NAME = re.compile(r"(?:^|/)samples_(?P<task>[^/]+)_(?P<time>\d{4}-\d\d-\d\dT[^/]*)\.jsonl$")
_TASK_METADATA = frozenset({"condition", "source", "study", "config_source", "version", REVISIONS, ORIGIN})
"""Keys of a task's metadata that are not parameters of the study: its condition, source and data."""

_RUN_KEYS = (
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
    """Return whether a file is lm-eval's results of a run.

    Its name is ``results_<time>.json``; or ``NAME_<time>.json`` for ``--output_path NAME.json``, or ``results.json`` up
    to lm-eval 0.4.2: then its content decides.
    """
    match, name = _RESULTS.search(path), path.rpartition("/")[2]
    if name.startswith("results_") or (match is None and name != FIRST_RESULTS):
        return match is not None
    try:
        with fsspec.open(path, "rb") as file:
            decoded(file.read(), _RESULTS_KEYS)
    except (OSError, ValueError, MsgspecError, RecursionError):
        return False
    return True


FIRST_RESULTS = "results.json"
"""Name of the results up to lm-eval 0.4.2; the samples beside them are lists, ``<model>_<task>.jsonl``."""


class _ResultsKeys(Struct, gc=False):
    results: Any
    configs: Any


_RESULTS = re.compile(r"(?:^|[/_])(?P<time>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d[^/]*)\.json$")
_RESULTS_KEYS = Decoder(_ResultsKeys)


def is_sample_list(path: str) -> bool:
    """Return whether a file is a list of samples, as lm-eval wrote it up to 0.4.2."""
    try:
        with fsspec.open(path, "rb") as file:
            return path.endswith(".jsonl") and file.read(64).lstrip().startswith(b"[")
    except OSError:
        return False


def results_beside(path: str) -> list[str]:
    """Return the files that may be the results of a sample file's run; none for other files."""
    match = _NAME.search(path)
    if match is None:
        return _beside(path, FIRST_RESULTS) if is_sample_list(path) else []
    usual = f"{path[: path.rfind('/') + 1]}results_{match['time']}.json"
    system, root = fsspec.core.url_to_fs(usual)
    return [usual] if system.exists(root) else _beside(usual, f"_{match['time']}.json")


def _beside(path: str, end: str) -> list[str]:
    """Return the files in the folder of a file whose names have an end; none where folders cannot be listed."""
    system, root = fsspec.core.url_to_fs(path)
    try:
        names = [str(name).rpartition("/")[2] for name in system.ls(root.rpartition("/")[0], detail=False)]
    except (OSError, NotImplementedError):
        return []
    return [f"{path[: path.rfind('/') + 1]}{name}" for name in sorted(names) if name.endswith(end)]


def read_results_file(path: str) -> list[TrialFile]:
    """Return no trials for the results of a run, as its samples have them; NotTrialsError if there are no samples."""
    match = _RESULTS.search(path)
    samples = _beside(path, f"_{match['time']}.jsonl" if match else ".jsonl")
    if not any(is_sample_file(sample) or is_sample_list(sample) for sample in samples):
        raise NotTrialsError(
            "these are results of lm-eval without the samples, which hold the trials: run lm_eval with"
            " --log_samples, or copy the files samples_*.jsonl of the run into this folder"
        )
    return []


@without_garbage_collection()
def read_sample_file(path: str, correct: Correctness = BY_DEFAULT) -> TrialFile:
    """Read the trials of one task of an lm-eval run, ``samples_<task>_<time>.jsonl``, local or remote.

    Samples of a task that no study asks are trials of the study ``benchmark``. The model, its settings and the number
    of samples come from the run's results in the same folder. Without these, the model is named after the folder, and
    the settings of generation are those in the samples; other settings are unknown, so that the run's time is one of
    its settings and no other run is pooled with it. ``correct`` is the metric that says what is right
    if no study asks the task.

    NotTrialsError if no line holds a trial, or the answers of the task are neither right nor wrong.
    """
    match, run = _NAME.search(path), _results(path)
    task = match["task"] if match else _task_of_list(path, run)
    study = _study(task)
    if study is None:
        return _read_benchmark(path, task, run, correct)
    keys = tuple(study.column_types)
    rows, n_lines, generation, why_lost = _rows(path, keys)
    refused = refusals_in(generation.pop(REFUSED, None))
    if not rows:
        raise NotTrialsError(f"no line of task {task} holds a trial of a study")
    columns, left_out = trial_columns(
        study, dict(zip((*keys, *EXTRA_COLUMNS), zip(*rows, strict=True), strict=True))
    )
    return TrialFile(
        path=path,
        study=study.name,
        design=study.design_of(task),
        columns=columns,
        lost=max(_n_samples(run, task), n_lines) - len(rows),
        why_lost=dict(why_lost),
        from_cache=_from_cache(run, task),
        provenance=_provenance(run, task),
        left_out=left_out,
        refused=refused,
        **_facts(path, task, run, study, generation),
    )


def _task_of_list(path: str, run: Mapping[str, Any]) -> str:
    """Return the task of a list of samples, ``<model>_<task>.jsonl``: that of the run with the longest name."""
    stem = path.rpartition("/")[2].removesuffix(".jsonl")
    known = [task for task in run.get("configs", {}) if f"_{stem}".endswith(f"_{task}")]
    return max(known, key=len, default=stem)


def _read_benchmark(path: str, task: str, run: Mapping[str, Any], correct: Correctness) -> TrialFile:
    """Read the samples of a task that no study asks; a group of tasks is one task of the report."""
    study = study_named(BENCHMARK)
    delimiter = (
        "" if run.get("chat_template") else run.get("configs", {}).get(task, {}).get("target_delimiter", " ")
    )
    with fsspec.open(path, "rb") as file:
        samples = benchmark_samples(file.readlines(), str(delimiter), correct)
    group, is_weighted = group_of_task(run, task)
    name = task.removesuffix(SUFFIX) if samples.is_asked else task
    group = group.removesuffix(SUFFIX) if samples.is_asked else group
    n_trials = len(samples.rows["epoch"])
    rows = {
        **samples.rows,
        "task": [name] * n_trials,
        "source": [group if group and is_weighted else name] * n_trials,
    }
    columns, left_out = trial_columns(study, rows)
    return TrialFile(
        path=path,
        study=study.name,
        design=group or name,
        columns=columns,
        lost=max(_n_samples(run, task), samples.n_documents) - samples.n_read,
        # Tasks of a group may have different versions.
        provenance={
            **{f"{name} of {task}": value for name, value in _provenance(run, task).items()},
            **({f"metric of {task}": correct.text} if correct.text else {}),
        },
        left_out=(*samples.left_out, *left_out),
        **_facts(path, task, run, study, {}),
    )


BENCHMARK = "benchmark"
"""Name of the study whose trials are of tasks that no study asks."""


def _facts(
    path: str, task: str, run: Mapping[str, Any], study: Study, generation: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the fields of a file of trials that come from the results of its run."""
    match = _NAME.search(path)
    time = match["time"] if match else ""
    return {
        "model": _model(run) or path.rsplit("/", 2)[-2],
        "created": time,
        "versions": {
            "lm_eval": str(run.get("lm_eval_version", "")),
            "task": str(run.get("versions", {}).get(task, "")),
        },
        "setup": _setup(run, task, study)
        if run
        else {**setup_of("generation", generation), UNKNOWN_RUN: time},
    }


def _n_samples(run: Mapping[str, Any], task: str) -> int:
    """Return the number of documents that a run asked; 0 if it is unknown."""
    return int(((run.get("n-samples") or {}).get(task) or {}).get("effective") or 0)


class _Doc(Struct, gc=False):
    id: Any
    question: Any = None
    passage: Any = None
    subject: Any = None
    cluster: Any = None
    choices: Any = None


class _Sample(Struct, gc=False):
    doc: _Doc
    trial: Any = field(name=TRIAL, default=None)
    prompt_hash: Any = None
    arguments: Any = None


_SAMPLE = Decoder(_Sample)


def _rows(path: str, keys: Sequence[str]) -> tuple[list[tuple[Any, ...]], int, dict[str, Any], Counter[str]]:
    """Return the record and the extra columns of each trial, the number of lines, and the settings of generation.

    The last value has the number of calls without a reply by the reason.
    """
    rows, n_lines = [], 0
    generation: dict[str, Any] = {}
    why_lost: Counter[str] = Counter()
    with fsspec.open(path, "rb") as lines:
        for line in lines:
            n_lines += 1
            # An invalid line counts as a sample without a trial.
            with suppress(ValueError, MsgspecError, RecursionError):
                refuse_brackets(line)
                sample = decoded(line, _SAMPLE)
                doc, prompt = sample.doc, sample.prompt_hash
                if isinstance(sample.trial, dict):
                    question = question_digest(doc.question, doc.choices)
                    prompt = f"lm-eval {prompt[:16]}" if isinstance(prompt, str) else ""
                    shared = shared_by(sample.trial, doc)
                    facts = (question, prompt, *shared, sample.trial.get(RULES), str(doc.id), 1)
                    rows.append((*map(sample.trial.get, keys), *facts))
                    generation = generation or _generation(sample.arguments)
                elif reason := _generation(sample.arguments).get(LOST):
                    why_lost[printable(str(reason)[:_LONGEST_REASON])] += 1
    return rows, n_lines, generation, why_lost


_LONGEST_REASON = 400
"""Maximum number of characters of the reason why a call has no reply."""


def _from_cache(run: Mapping[str, Any], task: str) -> str:
    """Return from when the replies of a run are that it read from the cache of an earlier run; empty if none are."""
    origin = (run.get("configs", {}).get(task, {}).get("metadata") or {}).get(ORIGIN)
    return (
        printable(str(origin.get("from_cache") or ""))[:_LONGEST_REASON] if isinstance(origin, dict) else ""
    )


def _origin(run: Mapping[str, Any], task: str) -> dict[str, str]:
    """Return the server of a run, the model that it served, and where the system message went, as settings."""
    origin = (run.get("configs", {}).get(task, {}).get("metadata") or {}).get(ORIGIN)
    known = ("base_url", "served", SYSTEM_MESSAGE)
    found = {name: origin[name] for name in known if name in origin} if isinstance(origin, dict) else {}
    return setup_of("model", found)


def _generation(arguments: Any) -> dict[str, Any]:
    """Return the settings of generation in the arguments of a sample's first request; empty if there are none."""
    request = arguments.get("gen_args_0") if isinstance(arguments, dict) else None
    settings = request.get("arg_1") if isinstance(request, dict) else None
    return dict(settings) if isinstance(settings, dict) else {}


def _study(task: str) -> Study | None:
    """Return the study of a task: that with the longest name, as fermieval_sampling also starts with fermieval."""
    known = [study for study in studies() if study.design_of(task) in study.designs]
    return max(known, key=lambda study: len(study.design_of(task)), default=None)


def _results(path: str) -> dict[str, Any]:
    """Return the results of a sample file's run; empty if there are none."""
    for results_path in filter(is_results_file, results_beside(path)):
        with fsspec.open(results_path, "rb") as file:
            text = file.read()
        try:
            JsonBounds().add(text)
            run: dict[str, Any] = json.loads(text)
        except (BoundError, RecursionError) as error:
            raise NotTrialsError(f"the results beside it, {results_path}, cannot be read: {error}") from error
        return run
    return {}


def _model(run: Mapping[str, Any]) -> str:
    """Return the name of the model; from its arguments, if none of them is the ``model_name`` of lm-eval."""
    arguments = _arguments(run.get("config", {}).get("model_args"))
    name = str(run.get("model_name", ""))
    if name in map(str, arguments.values()) or not run:
        return name
    settings = ",".join(f"{key}={value}" for key, value in without_secrets(arguments).items())
    return f"{run['config']['model']}({settings})"


def _arguments(arguments: Any) -> dict[str, Any]:
    """Return arguments by name, from a mapping or from text ``name=value,...``."""
    if isinstance(arguments, str):
        arguments = dict(part.partition("=")[::2] for part in arguments.split(",") if part)
    return {str(key): value for key, value in (arguments or {}).items()}


def _setup(run: Mapping[str, Any], task: str, study: Study) -> dict[str, str]:
    """Return the parameters by which two runs of a model may differ."""
    config = run.get("config", {})
    model = _arguments(config.get("model_args"))
    return {
        **setup_of("task", _task_parameters(run, task, study, model)),
        **setup_of("generation", _arguments(config.get("gen_kwargs"))),
        **setup_of("model", model),
        **setup_of("harness", _harness_settings(run, task)),
        **_origin(run, task),
    }


def _task_parameters(
    run: Mapping[str, Any], task: str, study: Study, model: Container[str]
) -> dict[str, Any]:
    """Return the parameters of a task; lm-eval adds the arguments of the ``model`` to its metadata."""
    metadata = run.get("configs", {}).get(task, {}).get("metadata") or {}
    declared = {each.name for design in study.designs for each in study.task_parameters(design)}
    return {
        key: value
        for key, value in study.protocol_parameters(metadata).items()
        if key not in _TASK_METADATA and (key not in model or key in declared)
    }


def _harness_settings(run: Mapping[str, Any], task: str) -> dict[str, Any]:
    """Return the settings of lm-eval that may change a reply."""
    config = run.get("config", {})
    settings: dict[str, Any] = {}
    for name in ("chat_template", "system_instruction"):
        if run.get(f"{name}_sha"):
            settings[name] = str(run[f"{name}_sha"])[:8]
    for name in _RUN_KEYS:
        if config.get(name) not in (None, ""):
            settings[name] = str(config[name])[:8]
    if config.get("model"):
        settings["backend"] = config["model"]
    fewshot = run.get("n-shot", {}).get(task, 0)
    if fewshot:
        settings["fewshot_as_multiturn"] = run.get("fewshot_as_multiturn")
    return {**settings, "fewshot": fewshot}


def _provenance(run: Mapping[str, Any], task: str) -> dict[str, str]:
    """Return the version of the task, the revision of each source, and the task's own generation parameters.

    The names of generation parameters include the task, as the tasks of a design may be temperatures. Parameters that
    ``--gen_kwargs`` sets belong to the setup of the run instead.
    """
    config = run.get("configs", {}).get(task, {})
    version = run.get("versions", {}).get(task)
    generation = without_secrets(config.get("generation_kwargs") or {})
    run_arguments = _arguments(run.get("config", {}).get("gen_kwargs"))
    revisions = (config.get("metadata") or {}).get(REVISIONS) or {}
    return {
        **provenance_of("" if version is None else str(version), revisions),
        **{f"{key} of {task}": value for key, value in generation.items() if key not in run_arguments},
    }


def read_trial_table(path: str) -> list[TrialFile]:
    """Read a table with one row per trial; return its trials by study, model, task and setup.

    The file ends in ``.csv``, ``.jsonl`` or ``.parquet``. It has the columns of
    :class:`~confidence_tasks.study.trial.Trial`, and those of the study that the measures need. The study is that in a
    column ``study``, or the one that the columns fit. ``model``, ``task``, ``sample_id``, ``epoch`` and ``setup`` are
    optional; ``setup`` is how the model was asked, as a JSON object or in words.

    NotTrialsError if the columns are not those of a study.
    """
    rows, unread = _READERS[path[path.rfind(".") :]](path)
    if rows.empty:
        raise NotTrialsError("it holds no rows")
    study = None if "study" in rows else _study_of_rows(rows)
    rows = rows.assign(
        **{name: rows[name].map(str).where(rows[name].notna(), "") if name in rows else "" for name in _KEYS}
    )
    files: list[TrialFile] = []
    refused: list[str] = []
    for key, part in rows.groupby(list(_KEYS), sort=False):
        try:
            file = _file_of_part(path, key, part, study or _study_of_rows(part))
        except NotTrialsError as error:
            refused.append(f"row {part.index[0] + 1}: {error}")
            continue
        files.append(file if files else replace(file, lost=unread))
    if not files:
        raise NotTrialsError("; ".join(dict.fromkeys(refused)))
    return [replace(files[0], left_out=(*files[0].left_out, *refused)), *files[1:]]


def _file_of_part(path: str, key: Sequence[Any], part: pd.DataFrame, study: Study) -> TrialFile:
    """Return the trials of one study, model, task and setup of a table."""
    _, model, task, setup = map(str, key)
    places = [f"row {number + 1}" for number in part.index]
    values: dict[str, list[Any]] = {str(name): part[name].tolist() for name in part}
    values.setdefault("epoch", [1] * len(part))
    keys = zip(values["question_id"], values["condition"], strict=True)
    values.setdefault("sample_id", [f"{question}/{condition}" for question, condition in keys])
    design = study.design_of(task) if task else study.name
    columns, left_out = trial_columns(study, values, places.__getitem__)
    return TrialFile(
        path=path,
        study=study.name,
        design=design,
        model=model or path.rsplit("/", 1)[-1],
        setup=_setup_of_text(setup),
        columns=columns,
        left_out=left_out,
    )


_KEYS = ("study", "model", "task", "setup")
"""Columns by which the trials of a table are split."""


def _setup_of_text(text: str) -> dict[str, str]:
    """Return the settings in a JSON object by name, and any other text under ``setup``.

    A name without an origin is that of a parameter of the task.
    """
    with suppress(ValueError, RecursionError):
        settings = json.loads(text)
        if isinstance(settings, dict):
            return {
                key if key.partition(".")[0] in ORIGINS else f"task.{key}": str(value)
                for key, value in settings.items()
            }
    return {"setup": text} if text else {}


def _study_of_rows(rows: pd.DataFrame) -> Study:
    """Return the study in the column ``study``, or the one with most of its columns in the table."""
    names = set(map(str, rows.columns))
    _refuse_without_core(names)
    if "study" in names:
        name = str(rows["study"].iloc[0])
        known = {study.name: study for study in studies()}
        if name not in known:
            raise NotTrialsError(f"study {short_repr(name)} is not one of {', '.join(known)}")
        return known[name]
    counts = {study: len((set(study.column_types) - set(_CORE)) & names) for study in studies()}
    fitting = [study for study, count in counts.items() if count == max(counts.values())]
    if len(fitting) > 1:
        raise NotTrialsError(
            f"add a column `study`: the columns fit {', '.join(study.name for study in fitting)}"
        )
    return fitting[0]


def _refuse_without_core(names: Collection[str]) -> None:
    """Raise NotTrialsError for a table that lacks a column that all studies have."""
    missing = [key for key in _CORE if key not in names]
    if not missing:
        return
    hint = ""
    if "reply" in names:
        hint = "; score files of replies with `confidence-tasks score` first"
    elif "correct" in names and "confidence" in names:
        hint = "; in Python, `summary` needs only the columns correct and confidence"
    raise NotTrialsError(f"it has no columns {', '.join(missing)}{hint}")


def _csv(path: str) -> tuple[pd.DataFrame, int]:
    """Read a CSV file; refuse duplicate columns and rows with too many cells, which pandas would shift or drop."""
    strictly = warnings.catch_warnings(action="error", category=pd.errors.ParserWarning)
    with fsspec.open(path, "rt", encoding="utf-8-sig", newline="") as file, _bounds_of_trials():
        lines = bounded_rows(file)
        names = Counter(next(csv.reader(lines), []))
        _refuse_wide(len(names))
        deque(lines, maxlen=0)
    if duplicates := [short_repr(name) for name, count in names.items() if count > 1]:
        raise NotTrialsError(f"it has two columns {', '.join(duplicates)}: delete or rename one")
    with fsspec.open(path, "rt", encoding="utf-8-sig") as file, strictly:
        return pd.read_csv(
            file, dtype=_TEXTS, index_col=False, keep_default_na=False, na_values=["", "nan", "NaN"]
        ), 0


@contextmanager
def _bounds_of_trials() -> Iterator[None]:
    """Turn a row or a nesting beyond the bounds into the reason why a table is skipped."""
    try:
        yield
    except BoundError as error:
        raise NotTrialsError(str(error)) from error


def _parquet(path: str) -> tuple[pd.DataFrame, int]:
    from pyarrow import parquet

    with fsspec.open(path, "rb") as file:
        shape = parquet.read_metadata(file)
        _refuse_wide(shape.num_columns)
        if shape.num_rows > MOST_ROWS:
            raise NotTrialsError(f"it has more than {MOST_ROWS:,} rows")
        file.seek(0)
        return pd.read_parquet(file), 0


def _refuse_wide(n_columns: int) -> None:
    """Raise NotTrialsError for a table with so many columns that its cells would exhaust the memory."""
    if n_columns > MOST_COLUMNS:
        raise NotTrialsError(f"it has more than {MOST_COLUMNS:,} columns")


MOST_ROWS = 20_000_000
"""Number of rows above which a Parquet file is refused: equal values take no room in it."""

MOST_COLUMNS = 1_000
"""Number of columns above which a table is refused: a short row has a cell for each, too."""


def _jsonl(path: str) -> tuple[pd.DataFrame, int]:
    """Read a file of JSON lines; return also the number of lines that are not JSON objects."""
    rows: list[Mapping[str, Any]] = []
    numbers: list[int] = []
    names: set[str] = set()
    unread = 0
    bounds = JsonBounds()
    with fsspec.open(path, "rt", encoding="utf-8-sig") as lines, _bounds_of_trials():
        for number, line in enumerate(bounded_rows(lines)):
            if not line.strip():
                continue
            bounds.add(line)
            try:
                row = dict(json.loads(line))
            except (ValueError, TypeError, RecursionError):
                unread += 1
                continue
            rows.append(row)
            numbers.append(number)
            names |= row.keys()
            _refuse_wide(len(names))
    return pd.DataFrame(rows, index=numbers), unread


_CORE = tuple(Trial.__annotations__)
_TEXTS = {key: str for study in studies() for key, kind in study.column_types.items() if kind is str}
_READERS: Mapping[str, Callable[[str], tuple[pd.DataFrame, int]]] = {
    ".csv": _csv,
    ".jsonl": _jsonl,
    ".parquet": _parquet,
}
SUFFIXES = tuple(_READERS)
