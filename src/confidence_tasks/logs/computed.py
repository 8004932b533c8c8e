"""Computations whose results are kept in the cache."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pickle import PicklingError
from typing import Any, TypeVar

import joblib
from msgspec.msgpack import decode, encode

from confidence_tasks.harness.workers import Advance, Job, LostJob, Workers
from confidence_tasks.logs.cache import Cache, key_of
from confidence_tasks.logs.cached_tables import as_table
from confidence_tasks.logs.task_trials import Columns
from confidence_tasks.statistics import Estimate, Reason


def columns_digest(columns: Columns) -> str:
    """Return a digest of the values of some columns."""
    content = hashlib.sha256()
    for name, column in columns.items():
        content.update(f"{name}\0{column.dtype}\0{len(column)}\0".encode())
        # Texts hold no NUL: trial_files removes it.
        content.update("\0".join(column.tolist()).encode() if column.dtype == object else column.tobytes())
    return content.hexdigest()


T = TypeVar("T")


def computed(
    function: Callable[..., T],
    jobs: Sequence[Job],
    name: str,
    kind: Any,
    workers: Workers | None = None,
    cache: Cache | None = None,
    *,
    enough: float,
    advance: Advance | None = None,
) -> list[T | LostJob]:
    """Call a function for every job, or take the result from the cache; return the results in the order of the jobs.

    Parameters
    ----------
    function : callable
        Function of the arguments of a job, on which alone its result depends.
    jobs : sequence of (str, tuple)
        Name and arguments of each job.
    name : str
        Name of the function in keys of the cache.
    kind : type
        Type of the result, made of texts, numbers, lists and dataclasses.
    workers : Workers, optional
        Workers that compute what is not in the cache.
    cache : Cache, optional
        The cache.
    enough : float
        Number of jobs from which optional workers are worth starting.
    advance : callable, optional
        Callback that shows progress.
    """
    keys = [_key(name, arguments) if cache else None for _, arguments in jobs]
    results: dict[int, T | LostJob] = dict(_kept(cache, keys, name, kind))
    missing = [number for number in range(len(jobs)) if number not in results]
    chosen = (workers or Workers()).for_amount(len(missing) >= enough)
    for k, result in chosen.run(function, [jobs[number] for number in missing], advance):
        results[missing[k]] = result
        _keep(cache, keys[missing[k]], name, result)
    return [results[number] for number in range(len(jobs))]


def _kept(cache: Cache | None, keys: Sequence[str | None], name: str, kind: Any) -> Iterator[tuple[int, Any]]:
    """Yield the number of each job whose result is in the cache, and the result."""
    for number, key in enumerate(keys):
        tables = cache.get(key) if cache and key else None
        if tables:
            yield number, decode(tables[name][name][0].as_py(), type=kind, dec_hook=_estimate)


def _keep(cache: Cache | None, key: str | None, name: str, result: Any) -> None:
    """Put a result into the cache, if there is one and the result has a key."""
    if cache and key and not isinstance(result, LostJob):
        cache.put(key, {name: as_table({name: [encode(result, enc_hook=_plain)]})})


def _plain(value: Any) -> Any:
    """Return an estimate as a pair of value and reason, and a NumPy number as a Python number."""
    return (float(value), value.reason) if isinstance(value, Estimate) else value.item()


def _estimate(_kind: Any, pair: tuple[float, str | None]) -> Estimate:
    value, reason = pair
    return Estimate(value, Reason(reason) if reason else None)


def _key(name: str, arguments: Sequence[Any]) -> str | None:
    """Return the key of an entry; None if the arguments hold a function without a name, which cannot be hashed."""
    try:
        digests = [
            columns_digest(each) if isinstance(each, Mapping) else joblib.hash(each, hash_name="sha1")
            for each in arguments
        ]
    except (PicklingError, AttributeError):
        return None
    return key_of(name, *digests)
