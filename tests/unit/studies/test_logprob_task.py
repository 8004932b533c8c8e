"""The log-probability study's design: what is asked at which temperatures, and what is refused early."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from tests.items import items_of

from confidence_tasks import nlp_metad
from confidence_tasks.harness.inspect.asking import refuse_forced_reply
from confidence_tasks.sources import SourceError
from confidence_tasks.studies.logprob_metacognition import STUDY
from confidence_tasks.studies.logprob_metacognition.replies import (
    FIRST_RELEASE,
    PAPER_SIZES,
    TEMPERATURES,
    nlp_metad_stages,
)

ARITHMETIC: dict[str, Any] = {"source": "arithmetic", "seed": 3}


def test_seven_temperatures_question_by_question_with_stable_ids() -> None:
    samples = nlp_metad(n=2, **ARITHMETIC).dataset
    assert [sample.id for sample in samples][:3] == [
        f"arithmetic_number-s3-00000/T={temperature}" for temperature in ("0.1", "0.3", "0.5")
    ]
    assert len(samples) == 2 * len(TEMPERATURES)
    assert TEMPERATURES == (0.1, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0)
    assert samples[0].input[0].text == samples[6].input[0].text


@pytest.mark.parametrize(
    ("temperatures", "conditions"),
    [
        ("1", ["T=1"]),
        (0.3, ["T=0.3"]),
        ([0.5, 1], ["T=0.5", "T=1"]),
        ("T=0,0.0,2", ["T=0", "T=2"]),
        ("-0", ["T=0"]),
        ("0.33333331,0.33333332", ["T=0.33333331", "T=0.33333332"]),
    ],
)
def test_temperatures_are_named_in_any_way(temperatures: Any, conditions: list[str]) -> None:
    samples = nlp_metad(n=1, temperatures=temperatures, **ARITHMETIC).dataset
    assert [sample.metadata["condition"] for sample in samples if sample.metadata] == conditions


@pytest.mark.parametrize(("temperatures", "headline"), [("0.3,1,2", "T=1"), ("0.3,0.5", "T=0.3")])
def test_headline_is_meta_information_at_temperature_1(temperatures: str, headline: str) -> None:
    task = nlp_metad(n=1, temperatures=temperatures, **ARITHMETIC)
    assert task.headline_metric is not None
    assert task.headline_metric.metric == f"meta_information/{headline}"


def test_worked_examples_are_not_asked() -> None:
    items = items_of(STUDY, source="arithmetic", temperatures="1", n=3, seed=3, fewshot=2)
    assert len(items) == 3
    assert all(len(item.examples) == 2 for item in items)
    assert not {item.prompt for item in items} & {asked for item in items for asked, _ in item.examples}
    assert all(replied.lstrip("-").isdigit() for asked, replied in items[0].examples)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"temperatures": "warm"}, "must be a number from 0"),
        ({"temperatures": "3"}, "must be a number from 0"),
        ({"temperatures": ""}, "temperatures is empty"),
        ({"k": 1}, "k=1 must be 2 or more"),
        ({"domains": "me"}, "lexicon, model"),
        ({"fewshot": -1}, "fewshot=-1"),
        ({"source": "arithmetic_boolean"}, "no short answer"),
    ],
)
def test_wrong_parameters_are_refused_with_what_is_allowed(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        nlp_metad(**{"n": 2, **ARITHMETIC, **parameters})


def test_unknown_source_is_refused() -> None:
    with pytest.raises(SourceError, match="trivia_qa"):
        nlp_metad(source="trivia")


def test_the_papers_sources_and_sizes(mirror: Path) -> None:
    assert PAPER_SIZES == {"trivia_qa": 5_000, "nq_open": 3_000}
    for source in PAPER_SIZES:
        items = items_of(STUDY, source=source, temperatures="1", n=20, split="validation")
        assert len(items) == 20
        assert {item.question.kind for item in items} == {"text"}
        assert items == items_of(
            STUDY, source=source, temperatures="1", n=20, split="validation", mirror=str(mirror)
        )


class HuggingFaceAPI:
    """As far as its name goes."""


class OtherAPI:
    """A provider that scores no given text."""


@pytest.mark.parametrize(
    ("api", "force_gold", "refused"),
    [(HuggingFaceAPI, True, False), (OtherAPI, False, False), (OtherAPI, True, True)],
)
def test_a_provider_that_cannot_score_the_right_answer_is_refused(
    api: type, force_gold: bool, refused: bool
) -> None:
    model: Any = type("Model", (), {"api": api()})()
    stages = nlp_metad_stages({**FIRST_RELEASE, "prompt": "short", "force_gold": force_gold})
    with pytest.raises(ValueError, match="scores a given text") if refused else nullcontext():
        refuse_forced_reply(model, stages)
