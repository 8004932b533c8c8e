"""Folders and files of copies: where they are, and that nobody sees half of one."""

import hashlib
from pathlib import Path

import pytest

from confidence_tasks.sources.source import (
    CACHE_VARIABLE,
    MIRROR_VARIABLE,
    cache_folder,
    mirror_folder,
    sha256_of,
    write_atomically,
)


def test_cache_folder_can_be_chosen(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv(CACHE_VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder().name == "confidence_tasks"


def test_mirror_argument_goes_before_the_variable(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv(MIRROR_VARIABLE, str(tmp_path))
    (tmp_path / "other").mkdir()
    assert mirror_folder() == tmp_path
    assert mirror_folder(tmp_path / "other") == tmp_path / "other"
    monkeypatch.delenv(MIRROR_VARIABLE)
    assert mirror_folder() is None


def test_write_replaces_the_whole_file_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file"
    write_atomically(path, b"old")
    write_atomically(path, b"new content")
    assert path.read_bytes() == b"new content"
    assert sha256_of(path) == hashlib.sha256(b"new content").hexdigest()
    assert list(path.parent.iterdir()) == [path]


def test_failed_write_leaves_the_old_file_and_no_rubbish(monkeypatch, tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_atomically(path, b"old")

    def broken(self: Path, target: Path) -> Path:
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", broken)
    with pytest.raises(OSError, match="disk full"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_written_files_have_the_usual_permissions(tmp_path: Path) -> None:
    plain, whole = tmp_path / "plain", tmp_path / "whole"
    plain.write_bytes(b"")
    write_atomically(whole, b"")
    assert whole.stat().st_mode == plain.stat().st_mode
