"""The main measures of a report in MLflow and Weights & Biases, as their own clients read them back."""

import json
import math
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from confidence_tasks.cli import main
from confidence_tasks.report import tracking

NAME = "scale_granularity/0-100/accuracy"


@pytest.fixture
def command(log, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return ["report", str(log), "--resamples", "200", "--track"]


@pytest.fixture
def accuracy(log):
    from confidence_tasks import summary

    frame = summary(log, by="condition", measures=["accuracy"], n_resamples=200).to_frame()
    return frame.set_index("condition").loc["0-100"]


def test_mlflow_has_a_run_with_the_measures_their_limits_and_the_page(
    command, accuracy, tmp_path, monkeypatch
):
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "runs").as_uri())
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    done = CliRunner().invoke(main, [*command, "mlflow"])
    assert done.exit_code == 0, done.output
    (run,) = mlflow.search_runs(experiment_names=[tracking.PROJECT], output_format="list")
    assert run.data.params == {"model": "simulated/overconfident"}
    assert run.data.metrics[NAME] == accuracy["value"]
    limits = run.data.metrics[f"{NAME}_low"], run.data.metrics[f"{NAME}_high"]
    assert limits == (accuracy["low"], accuracy["high"])
    assert [artifact.path for artifact in mlflow.MlflowClient().list_artifacts(run.info.run_id)] == [
        "report.html"
    ]


@pytest.mark.slow
def test_weights_and_biases_has_a_run_with_the_measures_and_the_page(command, accuracy, tmp_path):
    pytest.importorskip("wandb")
    start = "from confidence_tasks.cli import main; main()"
    environment = {**os.environ, "WANDB_MODE": "offline", "WANDB_DIR": str(tmp_path)}
    script = [sys.executable, "-c", start, *command, "wandb"]
    done = subprocess.run(script, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (run,) = tmp_path.glob("wandb/offline-run-*")
    assert (run / "files" / "report.html").is_file()
    (record,) = run.glob("run-*.wandb")  # in a binary format, with names and numbers as text
    content = record.read_bytes()
    assert NAME.encode() in content
    assert f"{NAME}_low".encode() in content
    assert json.dumps(accuracy["low"]).encode() in content


def test_a_tracker_that_is_not_installed_is_refused_before_any_work(command, monkeypatch):
    monkeypatch.setattr(tracking, "find_spec", lambda _name: None)
    done = CliRunner().invoke(main, [*command, "mlflow"])
    assert done.exit_code == 2
    assert "pip install 'confidence-tasks[mlflow]'" in done.output


@pytest.mark.slow
def test_names_and_numbers_are_those_that_mlflow_takes(report):
    for of_model in tracking.metrics_by_model(report.results).values():
        assert of_model
        assert not any(set(name) & set("=,'\"") for name in of_model)
        assert all(map(math.isfinite, of_model.values()))
