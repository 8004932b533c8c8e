"""Trials of files in the cache: their keys by content, and their tables."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import datetime
from os.path import exists, isfile
from typing import Any

import fsspec
import pyarrow as pa

from confidence_tasks.harness.correctness import Correctness
from confidence_tasks.logs.archives import archive_directory
from confidence_tasks.logs.cache import key_of
from confidence_tasks.logs.cached_tables import as_table, table_columns, table_facts
from confidence_tasks.logs.lm_eval_files import results_beside
from confidence_tasks.logs.trial_files import TrialFile


def _modified(path: str) -> str:
    """Return the local time when a file was last changed, in ISO 8601; empty if its file system does not tell it."""
    try:
        system, root = fsspec.core.url_to_fs(path)
        time: datetime = system.modified(root)
    except Exception:  # whatever a file system raises
        return ""
    return time.astimezone().replace(tzinfo=None).isoformat()


def is_remote(path: str) -> bool:
    """Return whether a path is the address of a file on another machine."""
    return "://" in path


_VERSIONS = (
    "ETag",
    "etag",
    "LastModified",
    "last_modified",
    "mtime",
    "updated",
    "created",
    "md5Hash",
    "generation",
)
"""Names that file systems use for the version of a file."""


def file_key(path: str, correct: Correctness) -> str:
    """Return the key of a file in the cache; empty if its versions cannot be distinguished.

    The last two parts of the path are part of the key, as readers take names of models and tasks from them.
    """
    contents = [_content(part) for part in (path, *results_beside(path))]
    return key_of("trials", path.split("/")[-2:], contents, correct) if all(contents) else ""


def _content(path: str) -> str:
    """Return a digest of a local file, or the version of a remote file if its file system tells it, else empty."""
    try:
        if not is_remote(path):
            if not isfile(path):
                return "" if exists(path) else "absent"
            with open(path, "rb") as file:
                file.seek(archive_directory(file) if path.endswith(".eval") else 0)
                return hashlib.file_digest(file, "sha256").hexdigest()
        system, root = fsspec.core.url_to_fs(path)
        facts = system.info(root)
    except FileNotFoundError:
        return "absent"
    except Exception:  # whatever a file system raises: the reader says it
        return ""
    versions = {name: str(facts[name]) for name in _VERSIONS if facts.get(name)}
    return repr((path, facts.get("size"), versions)) if versions else ""


def table_of_file(file: TrialFile) -> pa.Table:
    """Return the trials of a file as a table whose metadata have the rest of the record."""
    facts = {name: value for name, value in asdict(replace(file, columns={})).items() if name != "columns"}
    return as_table(file.columns, file=json.dumps(facts))


def files_of_tables(tables: Mapping[str, pa.Table], path: str) -> list[TrialFile]:
    """Return the files of trials that :func:`table_of_file` made the tables of."""
    files = []
    for table in tables.values():
        facts: dict[str, Any] = json.loads(table_facts(table)["file"])
        facts |= {"path": path, "left_out": tuple(facts["left_out"]), "planned": tuple(facts["planned"])}
        facts["invalidated"] = tuple((name, epoch) for name, epoch in facts["invalidated"])
        facts["written"] = facts["written"] or _modified(path)
        files.append(TrialFile(columns=table_columns(table), **facts))
    return files
