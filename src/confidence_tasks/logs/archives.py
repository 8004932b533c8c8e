"""The directory of a log that is a zip archive."""

from __future__ import annotations

import struct
from os import SEEK_END
from typing import IO
from zipfile import ZipFile

from confidence_tasks.logs.trial_files import NotTrialsError

ARCHIVE_END = struct.Struct("<4s4H2LH")
"""End record of a zip archive without a comment: the signature first, the offset of the directory last but one."""


def archive_directory(file: IO[bytes]) -> int:
    """Return the offset of the directory of a zip archive; 0 if it cannot be found.

    The directory has a checksum of every member, and about a hundredth of the size of a log.
    """
    size = file.seek(0, SEEK_END)
    file.seek(max(0, size - ARCHIVE_END.size))
    end = file.read()
    if len(end) < ARCHIVE_END.size or not end.startswith(b"PK\5\6"):
        return 0
    offset: int = ARCHIVE_END.unpack(end)[-2]
    file.seek(min(offset, size))
    return offset if file.read(4) == b"PK\1\2" else 0


def bounded_member(archive: ZipFile, name: str, most: int) -> bytes:
    """Return a member of an archive; NotTrialsError if it takes more than ``most`` bytes, whole MiB, unpacked."""
    if archive.getinfo(name).file_size > most:
        raise NotTrialsError(f"its member {name} takes more than {most >> 20} MiB unpacked")
    return archive.read(name)
