"""Files that may hold trials, and the reader of each kind."""

from __future__ import annotations

from collections.abc import Callable
from os.path import isfile
from pathlib import PurePosixPath
from typing import Any

import fsspec
import numpy as np
import pyarrow as pa
from msgspec import MsgspecError, Struct
from msgspec.json import Decoder

from confidence_tasks.harness.correctness import Correctness
from confidence_tasks.logs.decoding import decoded
from confidence_tasks.logs.lm_eval_files import (
    is_results_file,
    is_sample_file,
    is_sample_list,
    read_results_file,
)
from confidence_tasks.logs.lm_eval_samples import read_sample_file
from confidence_tasks.logs.trial_file_cache import table_of_file
from confidence_tasks.logs.trial_files import NotTrialsError, Skipped, TrialFile
from confidence_tasks.logs.trial_tables import SUFFIXES, read_trial_table


def why_nothing(path: str) -> str:
    """Return the reason why there is nothing to read under a path."""
    system, root = fsspec.core.url_to_fs(path)
    if system.exists(root):
        return "there is no log and no file of trials here"
    return "there is no such file or folder"


def why_unreadable(path: str, error: Exception) -> str:
    """Return what is wrong with a file, and what to do about a log that is truncated or damaged."""
    problem = f"it cannot be read ({type(error).__name__}: {' '.join(str(error).split())[:200]})"
    if isinstance(error, OSError) or not path.endswith(LOG_SUFFIXES):
        return problem
    return (
        f"{problem}; copy it again from where it was written, or go on with its run by `inspect eval-retry`"
    )


def files_under(path: str) -> list[str]:
    """Return the files under a path that may hold trials; a path that is a file is returned whatever its name."""
    system, root = fsspec.core.url_to_fs(path)
    if system.isfile(root):
        return [path]
    local = "file" in np.atleast_1d(system.protocol)
    names = sorted(system.find(root)) if system.exists(root) else []
    paths = (name if local else system.unstrip_protocol(name) for name in names)
    return [path for path in paths if _reader(path) and not _is_beside_logs(path)]


def logs_under(path: str) -> list[str]:
    """Return the logs of Inspect under a path."""
    return [log for log in files_under(path) if _reader(log) is _read_inspect_log]


def _is_beside_logs(path: str) -> bool:
    """Return whether a file is one that Inspect writes beside logs, such as their list, or a system beside any file."""
    name = PurePosixPath(path).name
    if name.startswith(_OF_THE_SYSTEM):
        return True
    if name not in _LISTINGS or ("://" not in path and not isfile(path)):
        return False
    try:
        with fsspec.open(path, "rb") as file:
            return decoded(file.read(), _LOG_KEYS).eval is None
    except (OSError, ValueError, MsgspecError, RecursionError):
        return False


class _LogKeys(Struct, gc=False):
    eval: Any = None


_LISTINGS = ("eval-set.json", "listing.json", "logs.json")

_OF_THE_SYSTEM = "._"
"""Beginning of the names of files that macOS writes beside those that it copies: they hold attributes, no contents."""

_LOG_KEYS = Decoder(_LogKeys)


def read_file(path: str, *correct: Any) -> dict[str, pa.Table] | Skipped:
    """Read a file, or return why it is skipped: a bad file must not stop the others.

    Trials are returned as tables, as from the cache: their reader stores equal texts of many files once.
    """
    reader = _reader(path)
    if "://" not in path and not isfile(path):
        return Skipped(path, "it is not a regular file")
    if reader is None:
        return Skipped(path, f"its name ends in none of {', '.join(LOG_SUFFIXES + SUFFIXES)}")
    try:
        return {str(i): table_of_file(file) for i, file in enumerate(reader(path, Correctness(*correct)))}
    except NotTrialsError as error:
        return Skipped(path, str(error))
    except Exception as error:
        return Skipped(path, why_unreadable(path, error))


LOG_SUFFIXES = (".eval", ".json")


def _reader(path: str) -> Callable[[str, Correctness], list[TrialFile]] | None:
    suffix = PurePosixPath(path).suffix
    if is_sample_file(path) or (suffix == ".jsonl" and is_sample_list(path)):
        return lambda name, correct: [read_sample_file(name, correct)]
    if is_results_file(path):
        return lambda name, correct: read_results_file(name)
    if suffix in LOG_SUFFIXES:
        return _read_inspect_log
    return _read_table if suffix in SUFFIXES else None


def _read_table(path: str, correct: Correctness) -> list[TrialFile]:
    return read_trial_table(path)


def _read_inspect_log(path: str, correct: Correctness) -> list[TrialFile]:
    """Read a log; what this needs is imported here, so that only readers of logs import it."""
    from confidence_tasks.logs.inspect_logs import read_inspect_log

    return read_inspect_log(path, correct)
