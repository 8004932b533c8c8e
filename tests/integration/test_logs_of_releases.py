"""Logs of earlier releases: they are read as they were, and never pooled with those of a changed study."""

import shutil
from pathlib import Path

import pytest
from inspect_ai.log import read_eval_log

from confidence_tasks.logs.rescore import rescore
from confidence_tasks.logs.task_trials import group_by_task
from confidence_tasks.report import collect

from .golden_logs import EXAMPLES

FOLDER = Path(__file__).parent / "logs_of_releases"
NLP_METAD = FOLDER / "nlp_metad_0_2.eval"
"""A log of before the author's instrument was the default: its parameters do not name prompt, scoring or span."""


def test_a_log_without_the_authors_instrument_is_read_as_it_was() -> None:
    log = read_eval_log(str(NLP_METAD), header_only=True)
    assert log.eval.metadata is not None
    assert not {"prompt", "scoring", "span"} & log.eval.metadata["parameters"].keys()
    found = rescore(NLP_METAD)
    assert found.changed_trials == 0
    assert found.before == pytest.approx(
        {name: found.after[name] for name in found.before}, rel=1e-9, nan_ok=True
    )


def test_it_is_not_pooled_with_a_log_of_the_authors_instrument(tmp_path: Path) -> None:
    for path in (NLP_METAD, EXAMPLES / "nlp_metad.eval"):
        shutil.copy(path, tmp_path / f"{path.stem}.eval")
    (task,) = group_by_task(collect(tmp_path).files)
    assert [len(model.files) for model in task.models] == [1, 1]
    assert len({model.label for model in task.models}) == 2
