"""A name in the metadata that a study does not take is refused or warned of; the model's arguments are there too."""

import inspect
import logging
import re
from collections.abc import Iterator
from contextlib import nullcontext

import pytest
from lm_eval.evaluator import simple_evaluate
from lm_eval.tasks import TaskManager
from tests.integration.lm_eval.harnesses import lm_eval_run, stubs

from confidence_tasks import _registry
from confidence_tasks.catalogue import studies
from confidence_tasks.harness.lm_eval import metadata as _metadata
from confidence_tasks.harness.lm_eval.groups import task_groups
from confidence_tasks.harness.lm_eval.metadata import metadata_rules
from confidence_tasks.harness.lm_eval.simulated import SimulatedLM
from confidence_tasks.harness.lm_eval.task import StudyTask
from confidence_tasks.study import Study

STUDIES = {study.name: study for study in studies() if study.designs}


@pytest.fixture(autouse=True)
def nothing_said() -> Iterator[None]:
    _metadata.warn_once.cache_clear()
    yield
    _metadata.warn_once.cache_clear()


def scale_task(**metadata: object) -> StudyTask:
    stub = {"study": STUDIES["scales"].address, "condition": "0-20", "source": "arithmetic", "n": 1}
    return StudyTask({"task": "scale_granularity_0_20_arithmetic", "metadata": {**stub, **metadata}})


def test_another_name_is_warned_of_once(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        scale_task(sounds="mono")
        scale_task(sounds="mono", condition="0-100")
    (said,) = [record.getMessage() for record in caplog.records if "sounds" in record.getMessage()]
    assert said.startswith("metadata: scales has no parameter 'sounds'")
    assert said.endswith("It is ignored")


@pytest.mark.parametrize(
    ("study", "name", "meant"),
    [
        ("scales", "sorces", "source"),
        ("scales", "elicitatoin", "elicitation"),
        ("riskeval", "penalty", "penalties"),
    ],
)
def test_a_misspelt_name_is_refused_with_what_was_meant(study: str, name: str, meant: str) -> None:
    said = f"metadata: {study} has no parameter {name!r} on lm-eval; did you mean {meant!r}?"
    with pytest.raises(ValueError, match=re.escape(said)):
        StudyTask(
            {
                "task": "mine",
                "metadata": {"study": STUDIES[study].address, "condition": "0-20", "n": 1, name: 1},
            }
        )


def test_a_name_of_another_study_is_none_that_is_misspelt(caplog: pytest.LogCaptureFixture) -> None:

    others = {name for study in STUDIES.values() for name in metadata_rules(study).types}
    for name in others - metadata_rules(STUDIES["scales"]).types.keys():
        scale_task(**{name: None})
        _metadata.refuse_misspelt(STUDIES["scales"], name)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"n": "abc"}, "n='abc' must be a whole number"),
        ({"n": 2.5}, "n=2.5 must be a whole number"),
        ({"question_seed": "abc"}, "question_seed='abc' must be a whole number"),
        ({"question_seed": -1}, "question_seed=-1 must be 0 or more"),
        ({"source": ["mmlu"]}, "source=['mmlu'] must be a text"),
        ({"elicitation": 3}, "elicitation=3 must be a text"),
        ({"n": True}, "n=True must be a whole number"),
    ],
)
def test_a_value_of_another_type_is_refused_with_what_it_must_be(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        scale_task(**wrong)


@pytest.mark.parametrize("study", STUDIES.values(), ids=STUDIES)
def test_every_parameter_of_inspect_s_tasks_is_taken_or_refused_with_the_way(study: Study) -> None:
    names, rules = study.designs, metadata_rules(study)
    of_inspect = {
        name
        for task in names
        for name, its in inspect.signature(getattr(_registry, task)).parameters.items()
        if its.kind is not inspect.Parameter.VAR_KEYWORD
    }
    alternatives = rules.alternatives
    assert of_inspect <= rules.types.keys() | alternatives.keys() | rules.fixed.keys()
    assert not rules.types.keys() & alternatives.keys()
    known = {name for each in task_groups(studies()) for name, _ in each.configurations()}
    tasks = {
        name
        for way in alternatives.values()
        for name in re.findall(r"(?:--tasks |(?<=\w),)(\w+)", way)
        if "--tasks" in way
    }
    assert tasks <= known


@pytest.mark.parametrize(
    ("study", "metadata", "said"),
    [
        (
            STUDIES["scales"],
            {"scales": "0-10"},
            "scales has no parameter 'scales' on lm-eval: name tasks, such as --tasks "
            "scale_granularity_0_5,scale_granularity_0_10",
        ),
        (STUDIES["scales"], {"seed": 3}, "scales has no parameter 'seed' on lm-eval: use question_seed"),
        (
            STUDIES["riskeval"],
            {"efforts": "low,high"},
            "riskeval has no parameter 'efforts' on lm-eval: run once per effort, with --gen_kwargs",
        ),
        (
            STUDIES["riskeval"],
            {"penalties": "1"},
            "riskeval has no parameter 'penalties' on lm-eval: name tasks",
        ),
        (
            STUDIES["fermieval_sampling"],
            {"source": "mmlu"},
            "fermieval_sampling needs source='fermi', not 'mmlu'",
        ),
        (
            STUDIES["lifeeval"],
            {"token_probabilities": True},
            "lifeeval has no parameter 'token_probabilities' on lm-eval: use top_logprobs",
        ),
    ],
)
def test_a_parameter_of_inspect_s_task_is_refused_with_the_way(
    study: Study, metadata: dict[str, object], said: str
) -> None:
    with pytest.raises(ValueError, match=f"^metadata: {re.escape(said)}"):
        StudyTask(
            {"task": "mine", "metadata": {"study": study.address, "condition": "0-20", "n": 1, **metadata}}
        )


@pytest.mark.parametrize("study", [study for study in STUDIES.values() if metadata_rules(study).fixed])
def test_what_is_fixed_is_what_the_stubs_say(study: Study) -> None:
    said = [
        configuration["metadata"]
        for each in task_groups(studies())
        for _, configuration in each.configurations()
        if "class" in configuration and configuration["metadata"].get("study") == study.address
    ]
    assert said
    assert all(stub.items() >= metadata_rules(study).fixed.items() for stub in said)


def warnings_of(
    caplog: pytest.LogCaptureFixture, model_args: str | dict[str, object], **metadata: object
) -> list[str]:
    """What is said of parameters in a run on a simulated subject."""
    manager = TaskManager(
        include_path=stubs(),
        include_defaults=False,
        metadata={"subject": "ideal", "seed": 3, "bias": 0.5, "n": 2, **metadata},
    )
    with caplog.at_level(logging.WARNING):
        found = simple_evaluate(
            "simulated", model_args, ["scale_granularity_0_20_arithmetic"], task_manager=manager
        )
    assert found["n-samples"]["scale_granularity_0_20_arithmetic"]["effective"] == 2
    return [record.getMessage() for record in caplog.records if "no parameter" in record.getMessage()]


@pytest.mark.slow
@pytest.mark.parametrize(
    "model_args", ["subject=ideal,seed=3,bias=0.5", {"subject": "ideal", "seed": 3, "bias": 0.5}]
)
def test_in_a_run_the_arguments_of_the_model_are_told_from_names_that_nothing_takes(
    caplog: pytest.LogCaptureFixture, model_args: str | dict[str, object]
) -> None:
    assert warnings_of(caplog, model_args) == []
    (said,) = warnings_of(caplog, model_args, wording="b2")
    assert said.startswith(
        "metadata: scales has no parameter 'wording'. It has study, condition, question_seed,"
    )
    assert said.endswith(". It is ignored")


def test_null_stands_for_the_default() -> None:
    plain = scale_task()
    assert list(scale_task(question_seed=None, elicitation=None).test_docs()) == list(plain.test_docs())


def test_the_table_has_the_headline_unless_all_is_asked_for():
    from confidence_tasks.studies.scales import STUDY

    task = "scale_granularity_0_20_arithmetic"
    found, every = (
        lm_eval_run(SimulatedLM("ideal"), [task], {"n": 4, "metrics": which})["results"][task]
        for which in ("headline", "all")
    )
    assert {key.split(",")[0] for key in found if key.endswith(",none") and "_stderr_stderr" not in key} == {
        name + end for name in STUDY.headline_measures for end in ("", "_stderr")
    }
    assert {key.split(",")[0] for key in every if key.endswith(",none") and "_stderr_stderr" not in key} == {
        name + end for name in STUDY.measures_by_name for end in ("", "_stderr")
    }
    with pytest.raises(ValueError, match="metrics='every' is not one of headline, all"):
        lm_eval_run(SimulatedLM("ideal"), [task], {"n": 4, "metrics": "every"})


@pytest.mark.parametrize(
    ("tasks", "metadata", "refused"),
    [
        (["nlp_metad_T1"], {"structured": True}, True),
        (["nlp_metad_T1"], {"structured": False}, True),
        (["nlp_metad_T1"], {"penalties": "10"}, True),
        (["nlp_metad_T1"], {"elicitation": "verbal"}, True),
        (["nlp_metad_T1", "scale_granularity_0_20"], {"elicitation": "verbal"}, False),
        (["fermieval_logprob"], {"structured": True}, True),
        (["fermieval_logprob", "fermieval"], {"structured": True}, False),
        ([], {"structured": True}, False),
    ],
)
def test_a_parameter_of_another_study_is_refused_unless_the_run_asks_that_study(
    monkeypatch: pytest.MonkeyPatch, tasks: list[str], metadata: dict[str, object], refused: bool
) -> None:
    monkeypatch.setattr(_metadata, "run_tasks", lambda: tasks)
    study = STUDIES["fermieval_logprob" if "fermieval_logprob" in tasks else "nlp_metad"]
    with pytest.raises(ValueError, match="leave it out") if refused else nullcontext():
        _metadata.check_metadata(study, metadata)
