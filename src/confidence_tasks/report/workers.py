"""Work cut by file or by model: in this process, in processes beside it, or on a cluster, all through joblib.

Random numbers belong to what is computed, never to the process that computes it: results are the same to the bit
however many workers there are. Every process uses one thread of linear algebra, which is as fast and as reproducible.
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

Found = TypeVar("Found")

Job: TypeAlias = tuple[str, tuple[Any, ...]]
"""Name of a piece of work, and the arguments of the function that does it."""


class Advance(Protocol):
    """Told how much is done, of how much, and what is under way."""

    def __call__(self, done: int, total: int, under_way: str = "", /) -> None:
        """Take notice."""


class WorkersError(ValueError):
    """Workers cannot be had, and what to do about it."""


@dataclass(frozen=True, slots=True)
class Lost:
    """Result of work whose process died, with the reason as far as it is known."""

    reason: str


@dataclass(frozen=True, slots=True)
class Workers:
    """Processes, threads or a cluster that do the work.

    The ``backend`` is ``"sequential"`` in this process, ``"threading"`` in its threads, ``"loky"`` in processes, or
    what makes a joblib backend; ``count`` works at a time, -1 for as many as it has. With ``optional``, little work
    is done in this process, as starting others takes longer.
    """

    backend: Any = "sequential"
    count: int = 1
    optional: bool = False

    def if_worth(self, worth_it: bool) -> Workers:
        """Return the workers, or this process for little work."""
        return Workers() if self.optional and not worth_it else self

    def run(
        self, function: Callable[..., Found], jobs: Sequence[Job], advance: Advance | None = None
    ) -> Iterator[tuple[int, Found | Lost]]:
        """Do some work, and yield the number of each job and what the function returned, as it is done.

        The function is one of a module, which other processes import. Arguments are plain tuples, lists and
        dictionaries: a cluster keeps copies of these, and gives a job to another worker when one dies. Jobs
        that were under way when a process died are done again one at a time; that whose process dies again is
        :class:`Lost`.
        """
        started: dict[int, None] = {}
        done: set[int] = set()

        def tell() -> None:
            if advance:
                oldest = next((number for number in started if number not in done), None)
                advance(len(done), len(jobs), "" if oldest is None else jobs[oldest][0])

        def start(number: int) -> None:
            started[number] = None
            tell()

        def end(number: int, found: Found | Lost) -> tuple[int, Found | Lost]:
            done.add(number)
            tell()
            return number, found

        while waiting := [number for number in range(len(jobs)) if number not in started]:
            try:
                for number, found in self._run(function, jobs, waiting, start):
                    yield end(number, found)
            except _deaths(self.backend):
                for number in [number for number in started if number not in done]:
                    try:
                        ((_, found),) = self._run(function, jobs, [number], start)
                        yield end(number, found)
                    except _deaths(self.backend) as error:
                        name = type(error).__name__
                        reason = f"the process that computed it died, perhaps for want of memory ({name})"
                        yield end(number, Lost(reason))

    def restart(self) -> None:
        """End the processes on this machine, if any: what is done next starts without the memory they took."""
        if self.backend == "loky":
            get_reusable_executor(reuse=True).shutdown()

    def _run(
        self,
        function: Callable[..., Found],
        jobs: Sequence[Job],
        numbers: Sequence[int],
        start: Callable[[int], None],
    ) -> Iterator[tuple[int, Found]]:
        def calls() -> Iterator[Any]:
            for number in numbers:
                start(number)
                yield delayed(_one_thread)(function, number, jobs[number][1])

        backend = self.backend if isinstance(self.backend, str) else self.backend()
        # A process more than there is work for is never asked; with one, joblib would work in this process.
        count = max(2, min(self.count, len(numbers))) if self.backend == "loky" else self.count
        with parallel_config(backend=backend, n_jobs=count):
            yield from Parallel(return_as="generator_unordered", batch_size=1, pre_dispatch="2*n_jobs")(
                calls()
            )


def _one_thread(function: Callable[..., Found], number: int, arguments: tuple[Any, ...]) -> tuple[int, Found]:
    with threadpool_limits(1), _memory_until_done():
        return number, function(*arguments)


@contextmanager
def _memory_until_done() -> Iterator[None]:
    """Let this process keep what it frees until some work is done.

    Arrays of some MiB would else be mapped anew, page by page, each time.
    """
    with suppress(AttributeError, OSError, TypeError):  # another C library than that of GNU
        allocator = ctypes.CDLL(None)
        allocator.mallopt(-1, 1 << 29)  # M_TRIM_THRESHOLD
        allocator.mallopt(-3, 1 << 25)  # M_MMAP_THRESHOLD
    yield
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def _deaths(backend: Any) -> tuple[type[Exception], ...]:
    """Return the errors by which a backend says that a worker died."""
    if isinstance(backend, str):
        return (BrokenExecutor,)
    from distributed import CancelledError, KilledWorker
    from distributed.comm.core import CommClosedError

    return (BrokenExecutor, KilledWorker, CancelledError, CommClosedError, TimeoutError)


def local_workers(jobs: int | None = None) -> Workers:
    """Return workers on this machine: by default as many as there are cores, if the work is worth it."""
    count = jobs or cpu_count()
    return Workers("loky", count, optional=jobs is None) if count > 1 else Workers()


@contextmanager
def cluster(address: str) -> Iterator[Workers]:
    """Give the workers of the Dask cluster whose scheduler has an address, such as ``tcp://10.0.0.5:8786``.

    WorkersError if the extra ``cluster`` is not installed, no scheduler answers, it has no workers, or one of them has
    another version of this package or of what numbers depend on.
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
    """Refuse a cluster without workers, or with one whose numbers could differ."""
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
    """Return joblib's backend on Dask's own executor, as joblib waits for ever for what a dead worker should return.

    For two minutes a cluster may be without any worker, as when all are started anew.
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
