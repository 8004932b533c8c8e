"""Where questions come from: pinned hub sources, generated items, archives and the user's own files.

The sources themselves are imported at the first load: every start of Inspect imports this package.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from confidence_tasks.sources.source import SourceError, mirror_folder, ordered
from confidence_tasks.study.trial import LETTERS, Kind, Question

__all__ = ["LETTERS", "Kind", "Question", "SourceError", "load", "load_asked"]


def load(
    name: str, *, n: int | None = None, seed: int = 0, mirror: str | Path | None = None, **options: Any
) -> list[Question]:
    """Load the questions of a source in a seeded order.

    Parameters
    ----------
    name : str
        Name of a source, or path of a ``.jsonl`` or ``.csv`` file of the user's own
        (:mod:`confidence_tasks.sources.own_file` has its schema).
    n : int, optional
        Number of questions, 1 or more; all of them by default, and all when the source has fewer.
    seed : int
        Seed of the order, and of the order of options where the source lists the right one first.
    mirror : path, optional
        Folder with copies of the hub's data sets at ``<owner>/<name>/<config>/<split>.jsonl`` or ``.parquet``, in the
        hub's columns and order; by default the environment variable CONFIDENCE_TASKS_MIRROR. With a mirror the
        network is never used. Without one, a hub source is downloaded once and cached.
    **options
        What else the source takes: ``split`` of fermi (calibration, test, all, archive, authors or authors_test), and
        ``key`` of a file, the field that holds the key.

    Returns
    -------
    list of Question
        In an order that depends only on the seed and the ids, whatever the machine and the versions of libraries. The
        first n are the sample of size n, so a smaller sample is always part of a larger one. MMLU samples have equal
        numbers of questions for every level and, within a level, for every subject, as far as there are enough.

    Raises
    ------
    SourceError
        If the source is unknown, cannot be reached, or is not what the table of sources promises.

    Examples
    --------
    >>> [question.id for question in load("arithmetic", n=2, seed=7)]
    ['arithmetic-s7-00000', 'arithmetic-s7-00001']
    """
    from confidence_tasks.sources.own_file import is_own_file, read_own_file
    from confidence_tasks.sources.table import find_source

    if n is not None and n < 1:
        raise SourceError(f"n must be at least 1, not {n}")
    if is_own_file(name):
        _refuse_unknown(name, options, allowed=("key",))
        return ordered(read_own_file(Path(name), **options), seed)[:n]
    source = find_source(name)
    _refuse_unknown(name, options, source.options)
    return source.load(n, seed, mirror_folder(mirror), **options)


def load_asked(parameters: Mapping[str, Any]) -> list[Question]:
    """Load the questions that a study's task asks: those of its ``source``, ``n``, ``seed`` and ``mirror``."""
    return load(parameters["source"], n=parameters["n"], seed=parameters["seed"], mirror=parameters["mirror"])


def _refuse_unknown(name: str, options: dict[str, Any], allowed: tuple[str, ...]) -> None:
    unknown = sorted(options.keys() - set(allowed))
    if unknown:
        raise SourceError(
            f"{name}: unknown option {', '.join(unknown)}; it takes {', '.join(allowed) or 'none'}"
        )
