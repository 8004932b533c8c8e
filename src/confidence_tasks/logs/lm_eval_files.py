"""Which files lm-eval wrote, and the files of results beside those of samples."""

from __future__ import annotations

import re
from typing import Any

import fsspec
from msgspec import MsgspecError, Struct
from msgspec.json import Decoder

from confidence_tasks.logs.decoding import decoded
from confidence_tasks.logs.trial_files import NotTrialsError, TrialFile

SAMPLE_NAME = re.compile(r"(?:^|/)samples_(?P<task>[^/]+)_(?P<time>\d{4}-\d\d-\d\dT[^/]*)\.jsonl$")


def is_sample_file(path: str) -> bool:
    """Return whether a path has the name that lm-eval gives to sample files.

    Examples
    --------
    >>> is_sample_file("out/gpt2/samples_riskeval_lambda10_2026-01-31T10-00-00.123456.jsonl")
    True
    """
    return SAMPLE_NAME.search(path) is not None


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
    if not path.endswith(".jsonl"):
        return False
    try:
        system, root = fsspec.core.url_to_fs(path)
        if not system.isfile(root):  # a named pipe would be waited for
            return False
        with system.open(root, "rb") as file:
            return bytes(file.read(64)).lstrip().startswith(b"[")
    except OSError:
        return False


def results_beside(path: str) -> list[str]:
    """Return the files that may be the results of a sample file's run; none for other files."""
    match = SAMPLE_NAME.search(path)
    if match is None:
        return files_beside(path, FIRST_RESULTS) if is_sample_list(path) else []
    usual = f"{path[: path.rfind('/') + 1]}results_{match['time']}.json"
    system, root = fsspec.core.url_to_fs(usual)
    return [usual] if system.exists(root) else files_beside(usual, f"_{match['time']}.json")


def files_beside(path: str, end: str) -> list[str]:
    """Return the files beside a file whose names end in ``end``; none where the folder cannot be listed."""
    system, root = fsspec.core.url_to_fs(path)
    try:
        names = [str(name).rpartition("/")[2] for name in system.ls(root.rpartition("/")[0], detail=False)]
    except (OSError, NotImplementedError):
        return []
    return [f"{path[: path.rfind('/') + 1]}{name}" for name in sorted(names) if name.endswith(end)]


def read_results_file(path: str) -> list[TrialFile]:
    """Return no trials for the results of a run, as its samples have them; NotTrialsError if there are no samples."""
    match = _RESULTS.search(path)
    samples = files_beside(path, f"_{match['time']}.jsonl" if match else ".jsonl")
    if not any(is_sample_file(sample) or is_sample_list(sample) for sample in samples):
        raise NotTrialsError(
            "these are results of lm-eval without the samples, which hold the trials: run lm_eval with"
            " --log_samples, or copy the files samples_*.jsonl of the run into this folder"
        )
    return []
