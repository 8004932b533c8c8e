"""Logs of earlier releases name studies and functions where these were."""

import pytest

from confidence_tasks.harness.logged_addresses import resolve_address
from confidence_tasks.harness.parameters import load_study

BEFORE = (
    "fermieval.trials:fermieval_summary",
    "fermieval_logprob.measures:logprob_summary",
    "fermieval_logprob.trials:logprob_summary",
    "fermieval_sampling.measures:sampling_summary",
    "fermieval_sampling.trials:sampling_summary",
    "lifeeval.trials:lifeeval_summary",
    "logprob_metacognition.measures:nlp_summary",
    "logprob_metacognition.trials:nlp_summary",
    "question_sets.measures:question_set_summary",
    "question_sets.trials:question_set_summary",
    "riskeval.measures:riskeval_summary",
)


@pytest.mark.parametrize("address", BEFORE)
def test_a_function_is_found_by_an_earlier_address(address: str) -> None:
    found = resolve_address(f"confidence_tasks.studies.{address}")
    assert found.__name__ == address.partition(":")[2].replace("nlp_summary", "nlp_metad_summary")


@pytest.mark.parametrize("name", ["fermieval_logprob", "fermieval_sampling", "question_sets"])
def test_a_study_is_found_by_its_earlier_folder(name: str) -> None:
    assert load_study(f"confidence_tasks.studies.{name}:STUDY").name == name
