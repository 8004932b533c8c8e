"""Parallel work, one job a file or a model: in this process, in other processes or on a cluster, all through joblib.

Seeds belong to the job, never to the process that does it, so results are equal to the bit for any number of workers.
Every process uses one thread of linear algebra: more are no faster here, and could change results.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Protocol, TypeAlias, TypeVar

from joblib import Parallel, cpu_count, delayed, parallel_config
from joblib.externals.loky import get_reusable_executor
from joblib.parallel import get_active_backend
from threadpoolctl import threadpool_limits

Result = TypeVar("Result")

Job: TypeAlias = tuple[str, tuple[Any, ...]]
"""Name of a piece of work, and the arguments of the function that does it."""


class Advance(Protocol):
    """Callback that shows progress."""

    def __call__(self, done: int, total: int, under_way: str = "", /) -> None:
        """Show that ``done`` of ``total`` jobs are done, and the name of the oldest job under way."""


class WorkersError(ValueError):
    """Workers are not available; the message says what to do about it."""


@dataclass(frozen=True, slots=True)
class LostJob:
    """Outcome of a job whose process died, with the reason as far as it is known."""

    reason: str


@dataclass(frozen=True, slots=True)
class Workers:
    """Processes, threads or a cluster that do the work.

    Attributes
    ----------
    backend : str or callable
        ``"sequential"`` for this process, ``"threading"`` for its threads, ``"loky"`` for other processes, or a
        function that returns a joblib backend.
    count : int
        Number of jobs at a time; -1 for as many as the backend has workers.
    optional : bool
        If True, a small amount of work is done in this process, as starting others would take longer.
    """

    backend: Any = "sequential"
    count: int = 1
    optional: bool = False

    def for_amount(self, is_large: bool) -> Workers:
        """Return these workers, or this process if they are optional and not worth starting."""
        return Workers() if self.optional and not is_large else self

    def run(
        self, function: Callable[..., Result], jobs: Sequence[Job], advance: Advance | None = None
    ) -> Iterator[tuple[int, Result | LostJob]]:
        """Call a function for each job; yield the number of the job and the outcome, in the order of completion.

        The function must be importable from a module. Arguments are plain tuples, lists and dictionaries: a cluster
        keeps copies of them, and gives the job to another worker if one dies. Jobs that were under way when a process
        died are repeated one at a time; a job whose process dies again is :class:`LostJob`.
        """
        started: dict[int, None] = {}
        done: set[int] = set()

        def report_progress() -> None:
            if advance:
                oldest = next((number for number in started if number not in done), None)
                advance(len(done), len(jobs), "" if oldest is None else jobs[oldest][0])

        def start(number: int) -> None:
            started[number] = None
            report_progress()

        def end(number: int, result: Result | LostJob) -> tuple[int, Result | LostJob]:
            done.add(number)
            report_progress()
            return number, result

        while waiting := [number for number in range(len(jobs)) if number not in started]:
            try:
                for number, result in self._run(function, jobs, waiting, start):
                    yield end(number, result)
            except _deaths(self.backend):
                for number in [number for number in started if number not in done]:
                    try:
                        ((_, result),) = self._run(function, jobs, [number], start)
                        yield end(number, result)
                    except _deaths(self.backend) as error:
                        name = type(error).__name__
                        reason = f"the process that computed it died, perhaps for want of memory ({name})"
                        yield end(number, LostJob(reason))

    def restart(self) -> None:
        """End the processes on this machine, if any, which frees their memory."""
        if self.backend == "loky":
            get_reusable_executor(reuse=True).shutdown()

    def _run(
        self,
        function: Callable[..., Result],
        jobs: Sequence[Job],
        numbers: Sequence[int],
        start: Callable[[int], None],
    ) -> Iterator[tuple[int, Result]]:
        if self.backend == "sequential":
            with threadpool_limits(1), _memory_until_done():
                for number in numbers:
                    start(number)
                    yield number, function(*jobs[number][1])
            return

        def calls() -> Iterator[Any]:
            for number in numbers:
                start(number)
                yield delayed(_one_thread)(function, number, jobs[number][1])

        backend = self.backend if isinstance(self.backend, str) else self.backend()
        # At least two, as joblib would do the work in this process with one.
        count = max(2, min(self.count, len(numbers))) if self.backend == "loky" else self.count
        with parallel_config(backend=backend, n_jobs=count):
            yield from Parallel(return_as="generator_unordered", batch_size=1, pre_dispatch="2*n_jobs")(
                calls()
            )


def _one_thread(
    function: Callable[..., Result], number: int, arguments: tuple[Any, ...]
) -> tuple[int, Result]:
    with threadpool_limits(1), _memory_until_done():
        return number, function(*arguments)


@contextmanager
def _memory_until_done() -> Iterator[None]:
    """Let this process keep freed memory until the job is done.

    Otherwise the system would map every array of some MiB anew, page by page.
    """
    with suppress(AttributeError, OSError, TypeError):  # the C library is not GNU's
        allocator = ctypes.CDLL(None)
        allocator.mallopt(-1, 1 << 29)  # M_TRIM_THRESHOLD
        allocator.mallopt(-3, 1 << 25)  # M_MMAP_THRESHOLD
    yield
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def _deaths(backend: Any) -> tuple[type[Exception], ...]:
    """Return the errors that a backend raises when a worker dies."""
    if isinstance(backend, str):
        return (BrokenExecutor,)
    from distributed import CancelledError, KilledWorker
    from distributed.comm.core import CommClosedError

    return (BrokenExecutor, KilledWorker, CancelledError, CommClosedError, TimeoutError)


def local_workers(jobs: int | None = None) -> Workers:
    """Return ``jobs`` workers on this machine; by default as many as there are cores, if the work is worth it."""
    count = jobs or cpu_count()
    return Workers("loky", count, optional=jobs is None) if count > 1 else Workers()


@contextmanager
def cluster(address: str) -> Iterator[Workers]:
    """Yield the workers of the Dask cluster whose scheduler has an address, such as ``tcp://10.0.0.5:8786``.

    Raises WorkersError if the extra ``cluster`` is not installed, if no scheduler answers, if it has no workers, or if
    a worker has another version of this package, NumPy or SciPy.
    """
    try:
        from distributed import Client
    except ModuleNotFoundError as error:
        raise WorkersError(
            f"a cluster needs {error.name}: pip install 'confidence-tasks[cluster]'; {_LOCAL_WAY}"
        ) from error
    try:
        client = Client(address, timeout=10, set_as_default=False)
    except (OSError, ValueError) as error:
        raise WorkersError(f"no scheduler answers at {address}; {_LOCAL_WAY}") from error
    with client:
        _check(client, address)
        yield Workers(partial(_dask_backend, client), -1)


_LOCAL_WAY = "without --scheduler the work is done on this machine"


def _check(client: Any, address: str) -> None:
    """Raise WorkersError for a cluster without workers, or with a worker whose versions differ."""
    if not client.scheduler_info(n_workers=-1)["workers"]:
        raise WorkersError(f"the scheduler at {address} has no workers; {_LOCAL_WAY}")
    for package in ("confidence-tasks", "numpy", "scipy"):
        ours = version(package)
        for worker, theirs in client.run(version, package, on_error="return").items():
            if theirs != ours:
                missing = isinstance(theirs, PackageNotFoundError)
                has = "lacks it" if missing else f"has {theirs}"
                raise WorkersError(
                    f"{package} is {ours} here, and worker {worker} of {address} {has}: install the same; {_LOCAL_WAY}"
                )


def _dask_backend(client: Any) -> Any:
    """Return joblib's Dask backend, made to submit to Dask's own executor: joblib's waits forever for a dead worker.

    A cluster may be without workers for two minutes, as while all of them restart.
    """
    with parallel_config("dask", client=client, wait_for_workers_timeout=120):
        backend, _ = get_active_backend()

    def submit(calls: Any, callback: Any = None) -> Any:
        future = client.get_executor(pure=False).submit(_calls, calls.items)
        future.add_done_callback(lambda done: callback(done.exception() or done.result()))
        return future

    backend.submit = submit
    return backend


def _calls(items: Sequence[tuple[Callable[..., Any], Sequence[Any], dict[str, Any]]]) -> list[Any]:
    return [function(*arguments, **options) for function, arguments, options in items]
