"""What sets two runs of a model apart, and what never stands in a label: secrets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.log import read_eval_log, write_eval_log
from tests.analysis.runs import rows, write

from confidence_tasks.analysis import collect
from confidence_tasks.analysis.sections import sections
from confidence_tasks.analysis.setups import setup_of
from confidence_tasks.lm_eval_tasks._aggregation import TRIAL

SECRETS = {
    "token": "hf_abcdef",
    "api_key": "sk-abcdef",
    "hub-token": "abcdef",
    "aws_secret_access": "abcdef",
    "Password": "abcdef",
    "default_headers": {"Authorization": "Bearer abcdef"},
}
HARMLESS = {"max_tokens": "64", "prefix_token_id": "0", "add_bos_token": "True", "dtype": "float32"}


def _lm_eval_run(folder: Path, study: str, arguments: Mapping[str, Any], metadata: Mapping[str, Any]) -> None:
    time = "2026-01-31T10-00-00.123456"
    folder.mkdir(parents=True)
    lines = [{"doc": {"id": row["question_id"]}, TRIAL: row} for row in rows(study)]
    task = {"scales": "scale_granularity"}.get(study, study)
    write(folder / f"samples_{task}_{time}.jsonl", lines)
    results = {
        "model_name": arguments.get("pretrained", "made up"),
        "config": {"model": "hf", "model_args": dict(arguments)},
        "configs": {task: {"metadata": dict(metadata)}},
    }
    (folder / f"results_{time}.json").write_text(json.dumps(results), encoding="utf-8")


def _labels(folder: Path) -> list[str]:
    (section,) = sections(collect(folder).files)
    return [model.label for model in section.models]


@pytest.mark.parametrize("key", SECRETS)
@pytest.mark.parametrize("name", [{"pretrained": "lab/model"}, {"path": "lab/model"}])
def test_runs_of_lm_eval_that_differ_in_a_secret_are_one_model(
    key: str, name: Mapping[str, str], tmp_path: Path
) -> None:
    for run, secret in (("a", SECRETS[key]), ("b", "another abcdef")):
        _lm_eval_run(tmp_path / run, "scales", {**name, key: secret}, {})
    (label,) = _labels(tmp_path)
    assert "lab/model" in label
    assert "abcdef" not in label


def test_a_log_tells_no_secret(log: Path, tmp_path: Path) -> None:
    for i, secrets in enumerate((SECRETS, dict.fromkeys(SECRETS, "another abcdef"))):
        copy = read_eval_log(str(log))
        copy.eval.model_args = {"dtype": i, "extra": secrets, **secrets}
        copy.eval.run_id = copy.eval.eval_id = str(i)
        write_eval_log(copy, str(tmp_path / f"{i}.eval"))
    found = collect(tmp_path)
    assert len(found.files) == 2
    assert "abcdef" not in repr([file.setup for file in found.files])
    assert [label.endswith(f"(dtype={i})") for i, label in enumerate(_labels(tmp_path))] == [True, True]


def test_what_changes_replies_stays() -> None:
    assert setup_of({**HARMLESS, **SECRETS}) == HARMLESS


def test_questions_that_are_all_judged_stand_apart_from_those_with_a_calibration_half(tmp_path: Path) -> None:
    for split in ("all", "test", "cross"):
        _lm_eval_run(tmp_path / split, "fermieval", {"pretrained": "lab/model"}, {"split": split})
    assert _labels(tmp_path) == ["lab/model", "lab/model (split=cross)"]
