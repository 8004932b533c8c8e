"""Columns as tables, as the cache keeps them; equal columns of many files share one array."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import pyarrow as pa


def as_table(columns: Mapping[str, Any], **facts: str) -> pa.Table:
    """Return columns of numbers and texts as a table, with ``facts`` as its metadata."""
    arrays = {name: pa.array(column) for name, column in columns.items()}
    return pa.table(arrays).replace_schema_metadata(facts)


def table_columns(table: pa.Table) -> dict[str, Any]:
    """Return the columns that :func:`as_table` made a table of, as read-only arrays.

    Equal columns, such as the questions in the logs of many models, share one array, and equal texts one object.
    """
    return {
        name: _shared(column.combine_chunks())
        for name, column in zip(table.column_names, table.columns, strict=True)
    }


_columns: WeakValueDictionary[bytes, np.ndarray[Any, Any]] = WeakValueDictionary()


def _shared(column: pa.Array) -> np.ndarray[Any, Any]:
    content = hashlib.sha256(f"{column.type} {len(column)} {column.offset}".encode())
    for buffer in column.buffers():
        content.update(buffer or b"")
    key = content.digest()
    array = _columns.get(key)
    if array is None:
        array = _texts(column) if pa.types.is_string(column.type) else np.array(column)
        array.flags.writeable = False
        _columns[key] = array
    return array


def _texts(column: pa.Array) -> np.ndarray[Any, Any]:
    encoded = column.dictionary_encode()
    distinct = np.empty(len(encoded.dictionary), dtype=object)
    distinct[:] = [sys.intern(text) for text in encoded.dictionary.to_pylist()]
    texts: np.ndarray[Any, Any] = distinct[encoded.indices.to_numpy()]
    return texts


def table_facts(table: pa.Table) -> dict[str, str]:
    """Return the metadata of a table."""
    return {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}
