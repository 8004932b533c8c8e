"""A key of the metadata that is nearly a parameter of the study is warned of; arguments of models are in there too."""

import inspect
import logging
import re
import sys
from collections.abc import Iterator
from dataclasses import fields

import pytest
from lm_eval.models.api_models import TemplateAPI

from confidence_tasks.lm_eval_tasks import _task
from confidence_tasks.lm_eval_tasks._task import StudyTask, near_misses
from confidence_tasks.lm_eval_tasks.fermieval import FermiTask
from confidence_tasks.lm_eval_tasks.fermieval_logprob import FermiLogprobTask
from confidence_tasks.lm_eval_tasks.fermieval_sampling import FermiSamplingTask
from confidence_tasks.lm_eval_tasks.lifeeval import LifeEvalTask
from confidence_tasks.lm_eval_tasks.nlp_metad import NlpTask
from confidence_tasks.lm_eval_tasks.question_sets import QuestionSetTask
from confidence_tasks.lm_eval_tasks.riskeval import RiskTask
from confidence_tasks.lm_eval_tasks.scales import ScaleTask
from confidence_tasks.simulation.subject import Subject

STUDIES = (
    FermiTask,
    FermiLogprobTask,
    FermiSamplingTask,
    LifeEvalTask,
    NlpTask,
    QuestionSetTask,
    RiskTask,
    ScaleTask,
)


@pytest.fixture(autouse=True)
def nothing_said() -> Iterator[None]:
    _task.warn_once.cache_clear()
    yield
    _task.warn_once.cache_clear()


def scale_task(**metadata: object) -> StudyTask:
    stub = {"condition": "0-20", "source": "arithmetic", "n": 1}
    return ScaleTask({"task": "scale_granularity_0_20_arithmetic", "metadata": {**stub, **metadata}})


def test_a_near_miss_is_warned_of_once_with_what_was_meant(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        scale_task(sorces="mmlu")
        scale_task(sorces="mmlu", condition="0-100")
    (said,) = [record.getMessage() for record in caplog.records if "sorces" in record.getMessage()]
    assert "scales has no parameter 'sorces'; did you mean 'source'? It has condition, source, n," in said


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"n": "abc"}, "n='abc' must be a whole number"),
        ({"n": 2.5}, "n=2.5 must be a whole number"),
        ({"question_seed": "abc"}, "question_seed='abc' must be a whole number"),
        ({"question_seed": -1}, "question_seed=-1 must be 0 or above"),
        ({"source": ["mmlu"]}, "source=['mmlu'] must be a text"),
    ],
)
def test_a_value_of_another_type_is_refused_with_what_it_must_be(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        scale_task(**wrong)


def test_what_is_known_or_the_model_s_is_not_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        scale_task(question_seed=3, pretrained="gpt2", dtype="float32", subject="ideal", seed=1)
    assert not [record for record in caplog.records if "no parameter" in record.getMessage()]


@pytest.mark.parametrize("study", STUDIES)
@pytest.mark.hf
def test_no_argument_of_a_model_is_taken_for_a_parameter(study: type[StudyTask]) -> None:
    pytest.importorskip("torch", reason="needs the extra: pip install 'confidence-tasks[hf]'")
    from lm_eval.models.huggingface import HFLM

    names = {name for model in (HFLM, TemplateAPI) for name in inspect.signature(model.__init__).parameters}
    names |= {field.name for field in fields(Subject)} | {"version"}
    assert near_misses(sorted(names), study.PARAMETERS) == []


@pytest.mark.parametrize("study", STUDIES)
def test_parameters_are_those_that_the_docstring_names_and_the_study_reads(study: type[StudyTask]) -> None:
    assert study.__doc__ is not None
    paragraph = next(part for part in study.__doc__.split("\n\n") if "Its parameters are" in part)
    listed = paragraph[paragraph.index("Its parameters are") :].split(" as in Inspect")[0]
    named = re.findall(r"``(\w+)``", listed)
    named += re.findall(r"and ``(token_probabilities)``", " ".join(paragraph.split()))
    assert set(study.PARAMETERS) == set(named)
    source = inspect.getsource(sys.modules[study.__module__])
    read = re.findall(r'(?:parameters|or \{\}\))(?:\.get\(|\[)"(\w+)"', source)
    assert set(read) <= set(study.PARAMETERS)
