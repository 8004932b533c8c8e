"""Fixtures of the report's tests: files of trials, a small log, and the report on them."""

from pathlib import Path

import pytest
from inspect_ai import eval as inspect_eval
from tests.analysis.runs import write_studies

from confidence_tasks.report import Collection, Report, collect, report_of
from confidence_tasks.report.estimates import Settings
from confidence_tasks.studies.scales.task import scale_granularity

FEW = Settings(n_resamples=200)


@pytest.fixture(scope="session")
def studies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file of trials for each study and model."""
    return write_studies(tmp_path_factory.mktemp("studies"))


@pytest.fixture(scope="session")
def collection(studies: Path) -> Collection:
    return collect(studies)


@pytest.fixture(scope="session")
def report(collection: Collection) -> Report:
    return report_of(collection, settings=FEW)


@pytest.fixture(scope="session")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small log of the scale study."""
    (run,) = inspect_eval(
        scale_granularity(scales="0-10,0-100", sources="arithmetic", n=4),
        model="simulated/overconfident",
        log_dir=str(tmp_path_factory.mktemp("log")),
        display="none",
    )
    return Path(run.location.removeprefix("file://"))
