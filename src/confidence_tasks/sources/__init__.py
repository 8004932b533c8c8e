"""Question sources: data sets of the hub at pinned commits, generated questions, archives and the user's own files.

The table of sources is imported at the first load, because Inspect imports this package whenever it starts.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from confidence_tasks.sources.source import SourceError, mirror_folder, shuffle_questions
from confidence_tasks.study.trial import LETTERS, Kind, Question

__all__ = ["LETTERS", "Kind", "Question", "SourceError", "load", "load_asked", "require_known"]


def load(
    name: str, *, n: int | None = None, seed: int = 0, mirror: str | Path | None = None, **options: Any
) -> list[Question]:
    """Load the questions of a source in a seeded order.

    Parameters
    ----------
    name : str
        Name of a source, or path of a ``.jsonl`` or ``.csv`` file (see :mod:`confidence_tasks.sources.own_file`).
    n : int, optional
        Maximum number of questions, at least 1; by default all.
    seed : int
        Seed of the order of questions, and of the order of options if the source lists the right option first.
    mirror : path, optional
        Folder with copies of hub data sets at ``<owner>/<name>/<config>/<split>.jsonl`` or ``.parquet``, with the
        columns and the order of the hub; by default the environment variable CONFIDENCE_TASKS_MIRROR. With a mirror the
        network is never used. Without one, a data set is downloaded once and cached.
    **options
        Further options of the source: ``split`` of fermi (calibration, test, all, archive, authors or authors_test),
        and ``key`` of a file, the field that holds the key.

    Returns
    -------
    list of Question
        The questions, in an order that depends on the seed and the ids only. A sample of size n is the first n
        questions, so that smaller samples are part of larger ones. MMLU samples are balanced over levels and, within a
        level, over subjects, as far as there are enough questions.

    Raises
    ------
    SourceError
        If the source is unknown, cannot be reached, or does not match its entry in the table of sources.

    Examples
    --------
    >>> [question.id for question in load("arithmetic", n=2, seed=7)]
    ['arithmetic-s7-00000', 'arithmetic-s7-00001']
    """
    from confidence_tasks.sources.clusters import with_cluster
    from confidence_tasks.sources.own_file import is_own_file, read_own_file
    from confidence_tasks.sources.table import find_source

    if n is not None and n < 1:
        raise SourceError(f"n must be at least 1, not {n}")
    if is_own_file(name):
        _refuse_unknown(name, options, allowed=("key",))
        return shuffle_questions(read_own_file(Path(name), **options), seed)[:n]
    source = find_source(name)
    _refuse_unknown(name, options, source.options)
    return [*map(with_cluster, source.load(n, seed, mirror_folder(mirror), **options))]


def require_known(name: str) -> None:
    """Raise SourceError if a name is neither that of a source nor the path of a file; nothing is loaded.

    Examples
    --------
    >>> require_known("gsm9k")
    Traceback (most recent call last):
    ...
    confidence_tasks.sources.source.SourceError: unknown source 'gsm9k'; did you mean 'gsm8k'? Sources: mmlu, ...
    """
    from confidence_tasks.sources.own_file import is_own_file
    from confidence_tasks.sources.table import find_source

    if not is_own_file(name):
        find_source(name)
    elif not Path(name).is_file():
        raise SourceError(f"{name}: no such file")


def load_asked(parameters: Mapping[str, Any]) -> list[Question]:
    """Load the questions of a task with the parameters ``source``, ``n``, ``seed`` and ``mirror``."""
    return load(parameters["source"], n=parameters["n"], seed=parameters["seed"], mirror=parameters["mirror"])


def _refuse_unknown(name: str, options: dict[str, Any], allowed: tuple[str, ...]) -> None:
    unknown = sorted(options.keys() - set(allowed))
    if unknown:
        raise SourceError(
            f"{name}: unknown option {', '.join(unknown)}; it takes {', '.join(allowed) or 'none'}"
        )
