"""A study of version 0.1 loads, and its fields are read by their old names, with a warning that names the new place."""

from __future__ import annotations

import copy
from dataclasses import fields, replace
from importlib import import_module
from typing import Any

import pytest

from confidence_tasks.catalogue import studies
from confidence_tasks.studies.riskeval import STUDY as RISKEVAL
from confidence_tasks.studies.scales import STUDY as SCALES
from confidence_tasks.study import Design, Question, Stage, Study, Trial, measures, moved_measures
from confidence_tasks.study.measures import ACCURACY
from confidence_tasks.study.moved import MOVED, RECORDS
from confidence_tasks.study.records import ConditionRules

LATER = {"condition_rules.absent_without_values"}
"""Fields of records that version 0.1 did not have."""


def written_for_version_0_1(study: Study) -> dict[str, Any]:
    """Return the arguments of a study by their old names, read without the table that is tested."""
    rules, asking, scoring, viewer = study.condition_rules, study.asking, study.scoring, study.viewer
    simulation, pooling = study.simulation, study.pooling
    kept = {each.name: getattr(study, each.name) for each in fields(study) if each.name not in RECORDS}
    later = ConditionRules(absent_without_values=rules.absent_without_values)  # which version 0.1 lacked
    return kept | {
        "condition_rules": later,
        "source": asking.source,
        "offline_source": asking.offline_source,
        "repeats_parameter": asking.repeats_parameter,
        "metadata_keys": asking.metadata_keys,
        "worked_example": asking.worked_example,
        "condition_parameter": rules.parameter,
        "select_conditions": rules.select,
        "read_condition": rules.label_of,
        "condition_of": rules.of_question,
        "condition_columns": rules.columns,
        "scorer": scoring.scorer,
        "scorer_options": scoring.options,
        "scorer_roles": scoring.roles,
        "metrics": scoring.metrics,
        "explain": viewer.explain,
        "viewer_columns": viewer.columns,
        "short_condition": viewer.short_condition,
        "status_descriptions": viewer.status_descriptions,
        "subset_parameters": pooling.subset_parameters,
        "protocol_values": pooling.protocol_values,
        "simulate_reply": simulation.reply,
        "true_values": simulation.true_values,
        "simulated_roles": simulation.roles,
    }


@pytest.mark.parametrize("study", studies(), ids=lambda study: study.name)
def test_every_study_in_the_form_of_version_0_1_is_the_same_study(study: Study) -> None:
    old = written_for_version_0_1(study)
    with pytest.warns(DeprecationWarning, match=r"^Study\(source=\.\.\., .* write Study\(") as warned:
        loaded = Study(**old)
    assert [each.filename for each in warned] == [__file__]
    assert {each.name: getattr(loaded, each.name) for each in fields(study)} == {
        each.name: getattr(study, each.name) for each in fields(study)
    }
    for name in old.keys() - {each.name for each in fields(study)}:
        with pytest.warns(
            DeprecationWarning, match=rf"^study\.{name} is not .* write study\.\w+\.\w+$"
        ) as said:
            assert getattr(study, name) is old[name]
        assert said[0].filename == __file__


def test_the_table_has_every_field_of_every_record_once() -> None:
    assert MOVED.keys() <= written_for_version_0_1(SCALES).keys()
    of_records = [f"{name}.{each.name}" for name, record in RECORDS.items() for each in fields(record)]
    assert sorted([*MOVED.values(), *LATER]) == sorted(of_records)
    assert not MOVED.keys() & {each.name for each in fields(Study)}


def test_the_warning_says_what_to_write() -> None:
    with pytest.warns(DeprecationWarning, match="write Study") as warned:
        study = small(simulate_reply=len, viewer_columns=("correct",), true_values=dict)
    assert [str(each.message) for each in warned] == [
        "Study(simulate_reply=..., viewer_columns=..., true_values=...) is not supported from the next release: "
        "write Study(simulation=Simulation(reply=..., true_values=...), viewer=Viewer(columns=...))"
    ]
    assert study.simulation.reply is len
    assert study.viewer.columns == ("correct",)


def test_an_old_name_changes_one_field_of_a_record() -> None:
    with pytest.warns(DeprecationWarning, match="scorer_roles"):
        changed = replace(RISKEVAL, scorer_roles=None)  # type: ignore[call-arg]
    assert changed.scoring == replace(RISKEVAL.scoring, roles=None)
    assert changed.viewer is RISKEVAL.viewer


def test_a_name_that_no_study_had_is_an_error(recwarn: pytest.WarningsRecorder) -> None:
    with pytest.raises(AttributeError, match="'Study' object has no attribute 'short_conditon'"):
        SCALES.short_conditon  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(TypeError, match="short_conditon"):
        small(short_conditon=str)
    assert not hasattr(SCALES, "__deepcopy__")
    assert copy.copy(SCALES).name == "scales"
    assert not recwarn.list


def small(**others: Any) -> Study:
    """Return a small study with other arguments."""
    required: dict[str, Any] = {
        "name": "small",
        "title": "Small",
        "module": __name__,
        "designs": {"small": Design("Small", "Is it?")},
        "questions": lambda parameters: (Question("q-1", "demo", "Is it?", "boolean", "yes"),),
        "conditions": ("plain",),
        "stages": (Stage("answer", lambda question, condition, replies: question.text),),
        "trial": Trial,
        "read": lambda question, condition, replies: {},
        "measures": (ACCURACY,),
        "headline_measures": ("accuracy",),
    }
    return Study(**required, **others)


FORMERLY_IN_MEASURES = (
    *("ACCURACY", "ACCURACY_OF_ALL", "ANY", "Better", "Bounds", "CONFIDENCE", "Columns", "Compute", "GRADED"),
    *("Influence", "Informative", "InformativeOf", "MIN_QUESTIONS_OF_MEAN", "Measure", "PARSE_RATE"),
    *("PARSE_RATE_STRICT", "Posterior", "StatisticCall", "UNIT", "Value", "auroc", "calibration_error"),
    *("columns", "count_measure", "expand_influence", "incomparable_by", "influence_of", "inverted_test_of"),
    *("mean_measure", "mean_of", "not_resampled", "overconfidence", "proportion_measure", "proportion_of"),
    *("restrict_to", "right_and_wrong", "rows_of", "select_measures", "smallest_set", "statistic_of"),
    *("summarise", "undefined", "unfinished", "values_of", "where"),
)
"""Public names that the module of measures had when it was one file."""


@pytest.mark.parametrize("name", FORMERLY_IN_MEASURES)
def test_a_study_finds_every_former_name_in_the_module_of_measures(name: str) -> None:
    if name not in moved_measures.MOVED:
        assert hasattr(measures, name)
        return
    module = f"confidence_tasks.study.{moved_measures.MOVED[name]}"
    now = {"smallest_set": "smallest_of", "undefined": "nan_for"}.get(name, name)
    with pytest.warns(DeprecationWarning, match=f"write from {module} import {now}$") as said:
        found = getattr(measures, name)
    assert said[0].filename == __file__
    assert found is getattr(import_module(module), now)


def test_a_name_that_no_release_had_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        measures.nothing  # noqa: B018
