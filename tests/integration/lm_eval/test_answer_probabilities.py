"""Token probabilities of answers on lm-eval: LifeEval's guesses and the question sets' options."""

import pytest
from tests.integration.lm_eval.harnesses import Scripted, different, inspect_metrics, lm_eval_run

from confidence_tasks import boolq, lifeeval, sciq
from confidence_tasks.harness.lm_eval.simulated import SimulatedLM
from confidence_tasks.studies.lifeeval import measures as lifeeval_scorers
from confidence_tasks.studies.lifeeval.question_sets.measures import measures_of
from confidence_tasks.studies.lifeeval.question_sets.replies import options_reply

ASKED = {"n": 12, "top_logprobs": 20}


def test_lifeeval_has_the_metrics_of_inspect(tmp_path):
    expected = inspect_metrics(
        lifeeval(metrics="all", radii="5", n=12, top_logprobs=20), "simulated/ideal", tmp_path
    )
    found = lm_eval_run(SimulatedLM("ideal"), ["lifeeval_radius5"], ASKED)["results"]["lifeeval_radius5"]
    measures = lifeeval_scorers.MEASURES + lifeeval_scorers.TOKEN_MEASURES
    assert not different(found, expected, measures, "radius=5")
    assert 0.0 < found["token_confidence,none"] < 1.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "source", "form", "name"),
    [
        (boolq, "arithmetic_boolean", "boolean", "boolq_confidence_arithmetic_boolean"),
        (sciq, "arithmetic", "options", "sciq_confidence_arithmetic"),
    ],
)
def test_question_sets_have_the_metrics_of_inspect(task, source, form, name, tmp_path):
    expected = inspect_metrics(
        task(metrics="all", source=source, n=12, top_logprobs=20), "simulated/ideal", tmp_path
    )
    found = lm_eval_run(SimulatedLM("ideal"), [name], ASKED)["results"][name]
    measures = measures_of(form, token_probabilities=True)
    assert not different(found, expected, measures, source)
    assert 0.0 < found["token_confidence,none"] < 1.0


@pytest.mark.parametrize("name", ["sciq_confidence_arithmetic", "lifeeval_radius5"])
def test_a_model_that_cannot_is_refused_before_the_first_call(name):
    model = Scripted(lambda prompt: options_reply("A", [0.7, 0.1, 0.1, 0.1]))
    with pytest.raises(RuntimeError, match="needs token probabilities, and Scripted does not compute"):
        lm_eval_run(model, [name], ASKED)
    assert model.asked == []


def test_without_asking_nothing_is_scored():
    found = lm_eval_run(SimulatedLM("ideal"), ["lifeeval_radius5"], {"n": 2})["results"]["lifeeval_radius5"]
    assert "token_confidence,none" not in found


@pytest.mark.usefixtures("mirror")
def test_judgements_have_no_options():
    found = lm_eval_run(SimulatedLM("ideal"), ["halueval_confidence"], ASKED)["results"][
        "halueval_confidence"
    ]
    assert found["parse_rate,none"] == 1.0
    assert "token_confidence,none" not in found
