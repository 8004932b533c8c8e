"""Where copies lie: the user's mirror and the cache, with atomic writes and checked hashes."""

from __future__ import annotations

import hashlib
import os
import secrets
from pathlib import Path

from confidence_tasks.sources.source import SourceError

MIRROR_VARIABLE = "CONFIDENCE_TASKS_MIRROR"
CACHE_VARIABLE = "CONFIDENCE_TASKS_CACHE"


def without_network(name: str) -> str:
    """Say what helps where a source cannot be downloaded."""
    return (
        f"Check the connection and try again; or run `confidence-tasks sources fetch {name} --into FOLDER` on a "
        f"machine with internet, and set {MIRROR_VARIABLE} to that folder here"
    )


def cache_folder() -> Path:
    """Folder of what was fetched: CONFIDENCE_TASKS_CACHE, or the user's cache folder of the platform."""
    configured = os.environ.get(CACHE_VARIABLE)
    if configured:
        return Path(configured).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("confidence_tasks")


def mirror_folder(mirror: str | Path | None = None) -> Path | None:
    """Return ``mirror``, or CONFIDENCE_TASKS_MIRROR; None when neither is given, SourceError if it is no folder."""
    configured = mirror or os.environ.get(MIRROR_VARIABLE)
    if not configured:
        return None
    folder = Path(configured).expanduser()
    if not folder.is_dir():
        given = "mirror" if mirror else MIRROR_VARIABLE
        raise SourceError(f"{given}={configured}: no such folder")
    return folder


def sha256_of(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that no other process ever sees half of it, whatever happens meanwhile."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # Opened as any file is, and not by tempfile, which lets nobody else read it.
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with temporary.open("xb") as file:
            file.write(content)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
