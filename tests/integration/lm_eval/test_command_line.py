"""The commands as a user types them."""

import json
import os
import subprocess
import sys

import pytest
from tests.integration.commands import run

pytestmark = pytest.mark.slow


def test_a_study_runs_by_its_name_without_a_flag(tmp_path):
    """Through the start-up hook of this environment: its tasks and its simulated model."""
    command = (
        f"{sys.executable} -m lm_eval run --tasks scale_granularity_0_20_arithmetic --limit 30 "
        "--model simulated --model_args subject=overconfident,seed=3 --output_path results --log_samples "
        "--apply_chat_template --use_cache cache --batch_size 7"
    )
    environment = os.environ | {"HF_HUB_OFFLINE": "1"}
    done = subprocess.run(command.split(), cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    (results,) = tmp_path.rglob("results_*.json")
    (samples,) = tmp_path.rglob("samples_*.jsonl")
    found = json.loads(results.read_text())["results"]["scale_granularity_0_20_arithmetic"]
    trials = [json.loads(line)["trial"] for line in samples.read_text().splitlines()]
    assert len(trials) == 30
    assert found["accuracy,none"] == pytest.approx(sum(trial["correct"] for trial in trials) / 30)
    assert "scale_granularity_0_20_arithmetic" in done.stdout
    assert list(tmp_path.glob("cache*"))


def test_an_unknown_penalty_is_refused_with_what_is_allowed(tmp_path):
    words = "run --tasks riskeval_lambda10_arithmetic --model simulated --limit 2"
    done = run(tmp_path, "lm_eval", *words.split(), "--metadata", '{"condition":"-3"}')
    assert done.returncode != 0
    assert "must be a number, 0 or above; the study has 0, 0.1" in done.stderr
