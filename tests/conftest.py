"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from tests.sizes import ALL, Positions, is_sampled

if TYPE_CHECKING:
    from tests.unit.report.paper_runs import PaperReport

    from confidence_tasks.report import Collection, Report

# A worker for each core: products of matrices over all cores in each of them would wait for one another's threads, at
# many times the cost. Commands that tests start inherit it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A busy machine may stall any example, so there is no deadline. Before a release, more of them are drawn.
settings.register_profile("quick", deadline=None, max_examples=30)
settings.register_profile("thorough", deadline=None, max_examples=60)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "thorough" if ALL else "quick"))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out combinations of parameters that only a release runs, but none that is asked for by its name."""
    if ALL or any("[" in argument for argument in config.args):
        return
    positions, left_out = Positions(), set()
    for item in items:
        if mark := item.get_closest_marker("sampled"):
            function = item.nodeid.partition("[")[0]
            values = [positions.of(function, name, item.callspec.params[name]) for name in mark.args]
            if not is_sampled(values, **mark.kwargs):
                left_out.add(item)
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


@pytest.fixture(autouse=True, scope="session")
def cache_of_the_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What fixtures of the session cache is not the user's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CONFIDENCE_TASKS_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Names for the caches of tests. A folder of its own for each test would cost more than most tests do."""
    folder = tmp_path_factory.mktemp("caches")
    return (folder / str(number) for number in count())


@pytest.fixture(autouse=True)
def own_cache(caches: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Replies and reports cached by a test are no other's, nor the user's."""
    folder = str(next(caches))
    monkeypatch.setenv("INSPECT_CACHE_DIR", folder)
    monkeypatch.setenv("CONFIDENCE_TASKS_CACHE", folder)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real questions and replies for local runs: the folder above the mirror, or ../shared/data."""
    from tests.local_data import local_data

    folder = local_data()
    if folder is None:
        pytest.skip("no local questions: set CONFIDENCE_TASKS_MIRROR")
    return folder


@pytest.fixture
def mirror(shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A local mirror of the hub's data sets, set for the test's own process."""
    folder = shared_data / "hub"
    monkeypatch.setenv("CONFIDENCE_TASKS_MIRROR", str(folder))
    return folder


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """SmolLM2-135M-Instruct for transformers, built once; CONFIDENCE_TASKS_SMOLLM2 names a built folder."""
    for module in ("torch", "transformers", "accelerate", "gguf"):
        pytest.importorskip(module, reason="needs the extra: pip install 'confidence-tasks[hf]'")
    from confidence_tasks.harness.local_model import smollm2_folder

    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("CONFIDENCE_TASKS_CACHE", raising=False)  # the user's cache, which outlives the tests
        return smollm2_folder()


@pytest.fixture(scope="session")
def studies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file of trials for each study and model."""
    from tests.unit.report.runs import write_studies

    return write_studies(tmp_path_factory.mktemp("studies"))


@pytest.fixture(scope="session")
def collection(studies: Path) -> Collection:
    from confidence_tasks.report import collect

    return collect(studies)


@pytest.fixture(scope="session")
def report(collection: Collection) -> Report:
    """The report on these files."""
    from confidence_tasks.report import report_of
    from confidence_tasks.report.estimates.settings import Settings

    return report_of(collection, settings=Settings(n_resamples=200))


@pytest.fixture(scope="session")
def paper_results(tmp_path_factory: pytest.TempPathFactory) -> PaperReport:
    """The papers' tables and figures of small trials of every task."""
    from tests.unit.report.paper_runs import filled_from, write_every_study

    return filled_from(write_every_study(tmp_path_factory.mktemp("papers")), 50)


@pytest.fixture(scope="session")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small log of the scale study."""
    from inspect_ai import eval as inspect_eval

    from confidence_tasks import scale_granularity

    (run,) = inspect_eval(
        scale_granularity(scales="0-10,0-100", sources="arithmetic", n=4),
        model="simulated/overconfident",
        log_dir=str(tmp_path_factory.mktemp("log")),
        display="none",
    )
    return Path(run.location.removeprefix("file://"))
