"""What logs do not hold of models, from a small file of the user: family, size, kind, quantised size and model card."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeAlias

from confidence_tasks.sources import SourceError
from confidence_tasks.sources.own_file import READERS, file_rows
from confidence_tasks.study.parameter import did_you_mean

_MAX_BYTES, _MAX_MODELS, _MAX_CHARACTERS = 2**20, 10_000, 300


@dataclass(frozen=True, slots=True)
class AboutModel:
    """Facts about a model, as they are printed; empty where the file has none.

    Attributes
    ----------
    family : str
        The publisher, such as Meta.
    size : str
        The number of parameters, such as 8B.
    kind : str
        How the model was trained or is sold, such as instruct, base, reasoning or chat.
    quantised : str
        The size of the quantised weights, such as 5.7 GB.
    card : str
        The address of the model card.
    """

    family: str = ""
    size: str = ""
    kind: str = ""
    quantised: str = ""
    card: str = ""


FIELDS = tuple(field.name for field in fields(AboutModel))

AboutModels: TypeAlias = tuple[tuple[str, AboutModel], ...]
"""Pairs of the name of a model, with or without its provider, and what the file says of it."""


def read_models(path: Path) -> AboutModels:
    """Return what a CSV or JSON lines file says of models: the field ``model``, and any of those of `AboutModel`.

    ValueError if the file cannot be read, names no model or one twice, or has another field.
    """
    if path.suffix.lower() not in READERS:
        raise SourceError(f"{path}: the file name must end in one of {', '.join(READERS)}")
    about: dict[str, AboutModel] = {}
    for where, row in file_rows(path, READERS, _MAX_BYTES, _MAX_MODELS, "models"):
        name, found = _read_row(row, where)
        if name in about:
            raise SourceError(f"{where}: {name} is there twice; keep one row for each model")
        about[name] = found
    if not about:
        raise SourceError(
            f"{path}: no model; write the columns model, {', '.join(FIELDS)} and a row for each"
        )
    return tuple(about.items())


def _read_row(row: Any, where: str) -> tuple[str, AboutModel]:
    """Return the model of a row, and what the row says of it."""
    if not isinstance(row, Mapping):
        raise SourceError(f"{where}: not an object with fields")
    known = ("model", *FIELDS)
    if unknown := [str(name) for name in row if name not in known]:
        hint = did_you_mean(unknown[0], known)
        raise SourceError(f"{where}: unknown {', '.join(unknown)}; the fields are {', '.join(known)}{hint}")
    texts = {name: _text(name, value, where) for name, value in row.items() if value is not None}
    if not texts.get("model"):
        raise SourceError(f"{where}: model missing; write its name as in the logs, such as openai/gpt-4o")
    return texts.pop("model"), AboutModel(**texts)


def _text(name: str, value: Any, where: str) -> str:
    """Return a value as a text; SourceError if it is no text or number, or too long."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise SourceError(f"{where}: {name} must be a text or a number")
    text = " ".join(str(value).split())
    if len(text) > _MAX_CHARACTERS:
        raise SourceError(f"{where}: {name} has more than {_MAX_CHARACTERS} characters")
    return text
