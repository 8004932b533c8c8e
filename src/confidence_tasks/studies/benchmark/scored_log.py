"""The log that ``inspect score`` is given, before any of it is scored."""

from __future__ import annotations

from zipfile import BadZipFile, ZipFile

import click
import fsspec


def refuse_log_without_samples() -> None:
    """Raise ValueError if ``inspect score`` is given a log without samples: it would end as if it had scored them."""
    command = click.get_current_context(silent=True)
    path = command.params.get("log_file") if command and command.info_name == "score" else None
    if not path or not str(path).endswith(".eval"):
        return
    try:
        with fsspec.open(str(path), "rb") as file, ZipFile(file) as log:
            has_samples = any(name.startswith("samples/") for name in log.namelist())
    except (OSError, BadZipFile):  # the command says what is wrong with the file
        return
    if not has_samples:
        raise ValueError(
            f"{path}: the log has no samples, so there is no answer to ask about; run the task again without"
            " --no-log-samples"
        )
