"""Answers in every table of a folder, and the files that are left out with the reason."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from confidence_tasks.sources.source import SourceError


@dataclass(frozen=True, slots=True)
class Scored:
    """A scored file: its record for ``--json``, and the function that prints it."""

    record: Any
    show: Callable[[], object]


def score_folder(
    folder: Path, log_dir: Path, score_one: Callable[[Path, str], Scored]
) -> tuple[dict[str, Scored], dict[str, str]]:
    """Score the tables under a folder.

    Parameters
    ----------
    folder, log_dir : Path
        The folder, and the one that trials are written to, which is left out.
    score_one : callable
        ``score_one(path, name)`` scores a file. ``name`` stands for the name of the file where two files share one.

    Returns
    -------
    scored : dict of str to Scored
        The scored files by their paths in the folder.
    left_out : dict of str to str
        Other files, with the reason.

    Raises
    ------
    SourceError
        If no file can be scored.
    """
    from confidence_tasks.sources.any_table import tables_under  # imports pandas

    tables, others = tables_under(folder, log_dir)
    stems = Counter(path.name.partition(".")[0] for path in tables)
    scored: dict[str, Scored] = {}
    left_out = {str(path.relative_to(folder)): _no_table(path) for path in others}
    for path in tables:
        inside = str(path.relative_to(folder))
        is_shared = stems[path.name.partition(".")[0]] > 1
        try:
            scored[inside] = score_one(path, re.sub(r"[^\w-]+", "_", inside) if is_shared else "")
        except (ValueError, click.ClickException) as error:
            left_out[inside] = " ".join(str(getattr(error, "message", error)).split())
    if not scored:
        reasons = "".join(f"\n  {name}: {reason}" for name, reason in left_out.items())
        raise SourceError(f"{folder}: no file can be scored{reasons or ', as there is none'}")
    return scored, left_out


def _no_table(path: Path) -> str:
    return "a log of Inspect, which report reads" if path.suffix == ".eval" else "no table"
