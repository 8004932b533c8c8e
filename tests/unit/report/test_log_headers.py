"""Headers of Inspect logs are decoded to what Inspect reads."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.model import GenerateConfig, Model, get_model
from inspect_ai.scorer import includes

from confidence_tasks.catalogue import study_named
from confidence_tasks.logs import log_contents
from confidence_tasks.logs.inspect_settings import run_setup
from confidence_tasks.logs.log_header import LogHeader, current_header, decode_header
from confidence_tasks.logs.log_json import HEADER


@pytest.fixture(scope="module")
def log_of_many_settings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log whose header has roles, generation settings, arguments, a limit, epochs and metrics without a value."""
    judges: list[str | Model] = [
        get_model("simulated/ideal", config=GenerateConfig(top_p=0.5)),
        "simulated/blind",
    ]
    (run,) = inspect_eval(
        Task(
            dataset=[
                Sample("1 + 1?", target="2"),
                Sample("2 + 2?", target="4"),
                Sample("3 + 3?", target="6"),
            ],
            scorer=includes(),
            config=GenerateConfig(temperature=0, stop_seqs=["\n"], frequency_penalty=0.5),
            metadata={"parameters": {"odd": [1, None, {"a": 2.5}]}},
            version="2-A",
        ),
        model=get_model("simulated/overconfident", base_url="http://localhost:1", seed=5),
        model_roles={"judge": judges, "parser": "simulated/ideal"},
        limit=2,
        epochs=2,
        seed=3,
        log_dir=str(tmp_path_factory.mktemp("many_settings")),
        display="none",
    )
    assert run.results, run.error
    run.results.scores[0].metrics["accuracy"].value = math.nan
    write_eval_log(run, run.location)
    return Path(run.location.removeprefix("file://"))


def header_text(path: Path) -> bytes:
    with ZipFile(path) as archive:
        return archive.read(HEADER)


def read_by_inspect(path: Path) -> LogHeader:
    return decode_header(
        read_eval_log(str(path), header_only=True).model_dump_json(exclude_none=True).encode()
    )


@pytest.mark.parametrize("which", ["log", "log_of_many_settings"])
def test_a_header_is_decoded_to_what_inspect_reads(which: str, request: pytest.FixtureRequest) -> None:
    path: Path = request.getfixturevalue(which)
    header, theirs = current_header(header_text(path)), read_eval_log(str(path), header_only=True)
    assert header == read_by_inspect(path)
    assert header
    assert header.eval.model_generate_config == theirs.eval.model_generate_config.model_dump(
        exclude_none=True
    )
    assert header.plan.config == theirs.plan.config.model_dump(exclude_none=True)
    same = (
        "created",
        "task",
        "task_id",
        "task_version",
        "task_args",
        "model",
        "model_base_url",
        "model_args",
    )
    for name in (*same, "solver", "solver_args", "packages", "metadata"):
        assert getattr(header.eval, name) == getattr(theirs.eval, name), name
    assert header.eval.dataset.sample_ids == theirs.eval.dataset.sample_ids
    assert (header.eval.config.limit, header.eval.config.epochs) == (
        theirs.eval.config.limit,
        theirs.eval.config.epochs,
    )
    assert header.metadata == theirs.metadata
    assert header.stats.completed_at == theirs.stats.completed_at


def test_the_models_of_roles_are_those_of_the_run(log_of_many_settings: Path) -> None:
    header = current_header(header_text(log_of_many_settings))
    assert header
    setup = run_setup(header, study_named("scales"), None)
    assert setup == {
        "generation.frequency_penalty": "0.5",
        "generation.seed": "3",
        "generation.stop_seqs": "['\\n']",
        "generation.temperature": "0.0",
        "model.base_url": "http://localhost:1",
        "model.seed": "5",
        "role.judge": "simulated/ideal, simulated/blind",
        "role.judge.1.generation.top_p": "0.5",
        "role.parser": "simulated/ideal",
        "task.odd": """['1', 'None', "{'a': '2.5'}"]""",
    }


def of_another_version(header: dict[str, Any]) -> None:
    header["eval"]["packages"]["inspect_ai"] = "0.3.1"


def edited(header: dict[str, Any]) -> None:
    header["log_updates"] = [
        {
            "edits": [{"type": "metadata", "metadata_set": {"new": 1}}],
            "provenance": {"timestamp": "2026-01-01T00:00:00+00:00", "author": "a"},
        }
    ]


def damaged(header: dict[str, Any]) -> None:
    header["eval"]["dataset"]["samples"] = "8"  # Inspect reads it as a number


@pytest.mark.parametrize("change", [of_another_version, edited, damaged], ids=lambda change: change.__name__)
def test_any_other_header_is_read_by_inspect(
    change: Callable[[dict[str, Any]], None], log: Path, tmp_path: Path
) -> None:
    fields = json.loads(header_text(log))
    change(fields)
    path = tmp_path / "changed.eval"
    with ZipFile(log) as whole, ZipFile(path, "w", ZIP_DEFLATED) as copy:
        for name in whole.namelist():
            copy.writestr(name, json.dumps(fields) if name == HEADER else whole.read(name))
    assert current_header(header_text(path)) is None
    with log_contents.opened(str(path)) as (header, summaries, _):
        assert len(list(summaries)) == header.eval.dataset.samples == 8
        assert header == read_by_inspect(path)
        assert header.metadata.get("new") == (1 if change is edited else None)
