"""Trials in the sample files of lm-eval."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import fsspec
from msgspec import MsgspecError, Struct, field
from msgspec.json import Decoder

from confidence_tasks.catalogue import study_of_task
from confidence_tasks.harness.address import ORIGIN
from confidence_tasks.harness.correctness import BY_DEFAULT, Correctness
from confidence_tasks.harness.lm_eval.metrics import TRIAL
from confidence_tasks.harness.refusals import LOST, REFUSED, refusals_in
from confidence_tasks.logs.decoding import decoded, without_garbage_collection
from confidence_tasks.logs.digests import question_digest
from confidence_tasks.logs.lm_eval_benchmarks import read_benchmark_samples
from confidence_tasks.logs.lm_eval_files import SAMPLE_NAME
from confidence_tasks.logs.lm_eval_settings import (
    facts_of_file,
    number_of_samples,
    read_results,
    run_provenance,
)
from confidence_tasks.logs.texts import printable
from confidence_tasks.logs.trial_columns import EXTRA_COLUMNS, shared_by, trial_columns
from confidence_tasks.logs.trial_files import NotTrialsError, TrialFile
from confidence_tasks.sources.bounds import refuse_brackets
from confidence_tasks.study.trial import RULES


@without_garbage_collection()
def read_sample_file(path: str, correct: Correctness = BY_DEFAULT) -> TrialFile:
    """Read the trials of one task of an lm-eval run, ``samples_<task>_<time>.jsonl``, local or remote.

    Samples of a task that no study asks are trials of the study ``benchmark``; such a task may have the name of a
    study's, as lm-eval has tasks ``boolq`` and ``sciq`` of its own. The model, its settings and the number
    of samples come from the run's results in the same folder. Without these, the model is named after the folder, and
    the settings of generation are those in the samples; other settings are unknown, so that the run's time is one of
    its settings and no other run is pooled with it. ``correct`` is the metric that says what is right
    if no study asks the task.

    NotTrialsError if no line holds a trial, or the answers of the task are neither right nor wrong.
    """
    match, run = SAMPLE_NAME.search(path), read_results(path)
    task = match["task"] if match else _task_of_list(path, run)
    study = study_of_task(task)
    if study is None:
        return read_benchmark_samples(path, task, run, correct)
    keys = tuple(study.column_types)
    rows, n_lines, generation, why_lost = _rows(path, keys)
    refused = refusals_in(generation.pop(REFUSED, None))
    if not rows and not _has_document_of_study(path):
        return read_benchmark_samples(path, task, run, correct)
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
        lost=max(number_of_samples(run, task), n_lines) - len(rows),
        why_lost=dict(why_lost),
        from_cache=_from_cache(run, task),
        provenance=run_provenance(run, task),
        left_out=left_out,
        refused=refused,
        **facts_of_file(path, task, run, study, generation),
    )


def _task_of_list(path: str, run: Mapping[str, Any]) -> str:
    """Return the task of a list of samples, ``<model>_<task>.jsonl``: that of the run with the longest name."""
    stem = path.rpartition("/")[2].removesuffix(".jsonl")
    known = [task for task in run.get("configs", {}) if f"_{stem}".endswith(f"_{task}")]
    return max(known, key=len, default=stem)


class _Doc(Struct, gc=False):
    id: Any
    question: Any = None
    passage: Any = None
    subject: Any = None
    cluster: Any = None
    choices: Any = None


class _DocOfStudy(Struct, gc=False):
    id: Any
    condition: Any


class _SampleOfStudy(Struct, gc=False):
    doc: _DocOfStudy


_OF_STUDY = Decoder(_SampleOfStudy)


def _has_document_of_study(path: str) -> bool:
    """Return whether a file has a sample of a question that a study asked."""
    with fsspec.open(path, "rb") as lines:
        for line in lines:
            with suppress(ValueError, MsgspecError, RecursionError):
                refuse_brackets(line)
                decoded(line, _OF_STUDY)
                return True
    return False


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


def _generation(arguments: Any) -> dict[str, Any]:
    """Return the settings of generation in the arguments of a sample's first request; empty if there are none."""
    request = arguments.get("gen_args_0") if isinstance(arguments, dict) else None
    settings = request.get("arg_1") if isinstance(request, dict) else None
    return dict(settings) if isinstance(settings, dict) else {}
