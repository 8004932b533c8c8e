"""Work in processes and on a cluster: the same numbers to the bit, and one death costs one model."""

import json
import logging
import operator
import os
import signal
import sys

import pytest
from click.testing import CliRunner

from confidence_tasks.harness.workers import LostJob, Workers, WorkersError, cluster, local_workers
from confidence_tasks.report import collect, report_of
from confidence_tasks.report.commands.report import report as command
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.result_tables import contrasts_frame, estimates_frame

pytestmark = pytest.mark.slow

FEW = Settings(n_resamples=50)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Trials of three studies by two models."""
    # Every worker imports this module, and would import Inspect AI with the trials.
    from tests.unit.report.runs import SUBJECTS, rows, write

    folder = tmp_path_factory.mktemp("trials")
    for study in ("scales", "riskeval", "lifeeval"):
        for name in SUBJECTS:
            write(folder / f"{study}-{name.replace('/', '-')}.jsonl", rows(study, name))
    return folder


def numbers(report):
    """Every number of a report, told to the last bit."""
    frames = estimates_frame(report.results), contrasts_frame(report.results)
    return [frame.map(lambda value: value.hex() if isinstance(value, float) else value) for frame in frames]


def assert_same(one, other):
    for a, b in zip(numbers(one), numbers(other), strict=True):
        assert len(a)
        assert a.equals(b)
    assert one.html == other.html


@pytest.fixture(scope="module")
def alone(folder):
    """The report computed in one process."""
    return report_of(collect(folder), settings=FEW)


def test_the_number_of_workers_does_not_move_a_bit(folder, alone):
    workers = Workers("loky", 2)
    assert_same(alone, report_of(collect(folder, workers=workers), settings=FEW, workers=workers))


def test_equal_texts_of_files_read_elsewhere_are_one_object(folder):
    one, other = collect(sorted(folder.glob("scales-*")), workers=Workers("loky", 2)).files
    assert one.columns["question_id"].tolist() == other.columns["question_id"].tolist()
    assert all(map(operator.is_, one.columns["question_id"], other.columns["question_id"]))


def test_equal_columns_of_files_are_one_array_that_cannot_be_written_to(folder):
    one, other = collect(sorted(folder.glob("scales-*"))).files
    assert one.columns["question_id"] is other.columns["question_id"]
    with pytest.raises(ValueError, match="read-only"):
        one.columns["confidence"][0] = 0.0


def test_threads_of_linear_algebra_are_one_in_every_process(monkeypatch):
    from threadpoolctl import threadpool_info, threadpool_limits

    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")  # other tests have one
    with threadpool_limits(2):
        for workers in (Workers(), Workers("loky", 2)):
            for _, found in workers.run(blas_threads, [("a", ()), ("b", ())]):
                assert set(found) <= {1}
    assert threadpool_info()


def blas_threads():
    from threadpoolctl import threadpool_info

    return [each["num_threads"] for each in threadpool_info()]


def number_or_death(number, deadly):
    if number == deadly:
        os.kill(os.getpid(), signal.SIGKILL)
    return 10 * number


def test_a_worker_that_dies_costs_its_own_work_alone():
    told = []
    jobs = [(f"model {i}", (i, 3)) for i in range(7)]
    found = dict(Workers("loky", 2).run(number_or_death, jobs, lambda *which: told.append(which)))
    assert isinstance(found.pop(3), LostJob)
    assert found == {i: 10 * i for i in range(7) if i != 3}
    assert told[0] == (0, 7, "model 0")
    assert told[-1] == (7, 7, "")


def refuse(number):
    raise ValueError(f"{number} is refused")


@pytest.mark.parametrize("workers", [Workers(), Workers("loky", 2)], ids=lambda workers: workers.backend)
def test_an_error_of_the_work_is_no_death(workers):
    with pytest.raises(ValueError, match="0 is refused"):
        list(workers.run(refuse, [("a", (0,)), ("b", (0,))]))


def test_a_model_whose_process_dies_is_named_and_the_page_has_the_others(
    folder, alone, tmp_path, monkeypatch
):
    """The process that computes lab/bold's answers to riskeval is killed each time."""
    from confidence_tasks.report import results

    monkeypatch.setattr(results, "model_numbers", KillsBold())
    page = tmp_path / "page.html"
    arguments = [str(folder), "-o", str(page), "--resamples", "50", "--jobs", "2", "--json", "--no-cache"]
    done = CliRunner().invoke(command, arguments)
    assert done.exit_code == 1
    said = json.loads(done.stdout)
    (lost,) = said["skipped"]
    assert lost["path"].endswith("riskeval-lab-bold.jsonl")
    assert "lab/bold: the process that computed it died" in lost["reason"]
    assert "left out" in done.stderr
    assert lost["reason"] in page.read_text(encoding="utf-8")
    kept = {(entry["task"], entry["model"]) for entry in said["estimates"]}
    every = estimates_frame(alone.results)[["task", "model"]].drop_duplicates()
    assert kept == set(every.itertuples(index=False, name=None)) - {("riskeval", "lab/bold")}


class KillsBold:
    """Computes the numbers of a model, but dies of RiskEval's bold one; other processes import it by name."""

    def __call__(self, study, baseline, settings, columns):
        from confidence_tasks.report.estimates.model_numbers import model_numbers

        if study == "riskeval" and columns["confidence"].mean() > 0.82:
            os.kill(os.getpid(), signal.SIGKILL)
        return model_numbers(study, baseline, settings, columns)


def test_little_work_stays_in_this_process():
    assert local_workers(None).for_amount(False).backend == "sequential"
    assert local_workers(1).for_amount(True).backend == "sequential"
    assert local_workers(2).for_amount(False).backend == "loky"


# A cluster -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def scheduler(monkeypatch):
    """Address of a scheduler with two worker processes."""
    distributed = pytest.importorskip(
        "distributed", reason="needs the extra: pip install 'confidence-tasks[cluster]'"
    )
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [*sys.path])))
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**options, silence_logs=logging.CRITICAL) as local:
        yield local.scheduler_address


def test_a_cluster_that_loses_a_worker_gives_the_same_numbers(folder, alone, scheduler):
    killed = []

    def kill_one(done, total, under_way="", /):
        if done == 2 and not killed:
            import psutil

            workers = [
                each
                for each in psutil.Process().children(recursive=True)
                if "spawn_main" in " ".join(each.cmdline())
            ]
            killed.append(workers[0].pid)
            workers[0].kill()

    with cluster(scheduler) as workers:
        collection = collect(folder, workers=workers)
        assert_same(alone, report_of(collection, settings=FEW, workers=workers, advance=kill_one))
    assert killed


def test_a_scheduler_that_is_not_there_is_said_with_the_local_way(folder, tmp_path):
    pytest.importorskip("distributed", reason="needs the extra: pip install 'confidence-tasks[cluster]'")
    page = tmp_path / "page.html"
    arguments = [str(folder), "-o", str(page), "--scheduler", "tcp://127.0.0.1:9"]
    done = CliRunner().invoke(command, arguments)
    assert done.exit_code == 1
    assert "no scheduler answers at tcp://127.0.0.1:9; without --scheduler" in " ".join(done.output.split())
    assert not page.exists()


def test_a_worker_of_another_version_is_refused_with_both_versions(scheduler, tmp_path):
    from importlib.metadata import version

    from distributed import Client

    other = tmp_path / "confidence_tasks-0.0.7.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: confidence-tasks\nVersion: 0.0.7\n")
    with Client(scheduler, set_as_default=False) as client:
        client.run(exec, f"import sys; sys.path.insert(0, {str(tmp_path)!r})")
    ours = version("confidence-tasks")
    message = (
        f"confidence-tasks is {ours} here, and worker .* has 0.0.7: install the same; without --scheduler"
    )
    with pytest.raises(WorkersError, match=message), cluster(scheduler):
        pass


def test_jobs_and_scheduler_exclude_each_other(folder):
    done = CliRunner().invoke(command, [str(folder), "--jobs", "2", "--scheduler", "tcp://127.0.0.1:9"])
    assert done.exit_code == 2
    assert "exclude each other" in done.output
