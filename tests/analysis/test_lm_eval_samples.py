"""lm-eval's sample files: which study a task belongs to, and how its model was asked."""

import json

import pytest
from tests.analysis.runs import rows, write

from confidence_tasks.analysis import collect
from confidence_tasks.analysis.lm_eval_samples import _study
from confidence_tasks.analysis.sections import sections
from confidence_tasks.analysis.trial_files import NotTrialsError
from confidence_tasks.lm_eval_tasks._aggregation import TRIAL
from confidence_tasks.lm_eval_tasks.stubs import STUDIES


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_every_task_belongs_to_its_own_study(study):
    for condition in study.sources:
        found = _study(study.task(condition), [{}])
        assert study.name in {found.name, *found.designs} or condition in found.designs


def test_a_task_of_no_study_is_refused():
    with pytest.raises(NotTrialsError, match="hellaswag"):
        _study("hellaswag", [{}])


@pytest.mark.parametrize("what", ["chat_template_sha", "system_instruction_sha"])
def test_runs_with_other_words_around_the_prompt_are_other_ways_of_asking(tmp_path, what):
    name = "scale_granularity_0_20_arithmetic"
    asked = [row for row in rows("scales") if row["condition"] == "0-20"]
    for day, digest in (("30", None), ("31", "0123456789abcdef")):
        time = f"2026-01-{day}T10-00-00.123456"
        write(
            tmp_path / f"samples_{name}_{time}.jsonl",
            [{"doc": {"id": row["question_id"]}, TRIAL: row} for row in asked],
        )
        run = {"model_name": "lab/model", "config": {"model": "hf", "model_args": "pretrained=lab/model"}}
        (tmp_path / f"results_{time}.json").write_text(json.dumps({**run, what: digest}), encoding="utf-8")
    models = sections(collect(tmp_path).files)[0].models
    assert [len(model) for model in models] == [len(asked)] * 2
    assert "01234567" in models[1].label
