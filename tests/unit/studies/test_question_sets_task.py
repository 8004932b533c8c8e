"""The question sets' tasks: questions, prompts, and errors before the first call."""

import json
from pathlib import Path

import pytest
from tests.items import items_of

from confidence_tasks import boolq, halueval, lsat_ar, sat_en, sciq
from confidence_tasks.sources import SourceError
from confidence_tasks.studies.lifeeval.question_sets import STUDY

TASKS = {"boolq": boolq, "sciq": sciq, "lsat_ar": lsat_ar, "sat_en": sat_en, "halueval": halueval}
OFFLINE = {
    "boolq": "arithmetic_boolean",
    "sciq": "arithmetic",
    "lsat_ar": "arithmetic",
    "sat_en": "arithmetic",
}

# the design


@pytest.mark.parametrize(
    ("name", "size", "options"),
    [("boolq", 3270, 0), ("sciq", 1000, 4), ("lsat_ar", 230, 5), ("sat_en", 206, 4)],
)
def test_sizes_on_the_real_sources(mirror: Path, name, size, options):
    items = items_of(STUDY, name, source=name)
    assert len({item.id for item in items}) == size
    assert {len(item.question.choices) for item in items} == {options}


def test_halueval_asks_right_and_hallucinated_answers_in_equal_numbers(mirror: Path):
    items = items_of(STUDY, "halueval", source="halueval")
    assert len(items) == 2000
    assert sum(item.question.gold == "yes" for item in items) == 1000
    assert all(f"\nAnswer: {item.metadata['given']}\nResponse:" in item.prompt for item in items)


def test_the_older_wording_of_halueval_ends_within_the_reply(mirror: Path):
    (item,) = items_of(STUDY, "halueval", source="halueval", n=1, prompt="own_answer")
    given = json.dumps(item.metadata["given"], ensure_ascii=False)
    assert item.prompt.endswith(f'"Answer": {given},\n    "Confidence": "')
    assert halueval(n=1, prompt="own_answer").dataset[0].input[-1].text == item.prompt


@pytest.mark.parametrize(
    ("name", "prompt", "message"),
    [
        ("halueval", "own", "prompt='own' is not one of given_answer, own_answer"),
        ("boolq", "own_answer", "boolq has no parameter 'prompt'"),
    ],
)
def test_a_wording_that_is_not_there_is_refused(name, prompt, message):
    with pytest.raises(ValueError, match=message):
        items_of(STUDY, name, source=name, prompt=prompt)


@pytest.mark.parametrize("name", ["lsat_ar", "sat_en"])
def test_passages_are_shown_once(mirror: Path, name):
    for item in items_of(STUDY, name, source=name, n=20):
        assert item.prompt.count(item.question.metadata["passage"]) == 1
        assert item.prompt.endswith("Response:")


@pytest.mark.parametrize("name", TASKS)
def test_directions_are_in_both_turns(mirror: Path, name):
    (item,) = items_of(STUDY, name, source=name, n=1)
    assert all(line in item.prompt for line in item.system.splitlines())  # which adds the line of the context
    assert len(item.prompt) > len(item.system) + 40


@pytest.mark.parametrize(("name", "source"), OFFLINE.items())
def test_every_set_runs_on_generated_questions(name, source):
    task = TASKS[name](n=4, source=source)
    assert [sample.metadata["condition"] for sample in task.dataset] == [source] * 4


def test_own_answers_to_judge(tmp_path):
    path = tmp_path / "given.jsonl"
    row = {"question": "Capital of France?", "answer": "no", "kind": "boolean"}
    path.write_text(json.dumps({**row, "metadata": {"answer": "Rome", "knowledge": ""}}) + "\n")
    (item,) = items_of(STUDY, "halueval", source=str(path))
    assert item.prompt.endswith("Question: Capital of France?\nAnswer: Rome\nResponse:")


# the task


def test_token_probabilities_are_asked_for_on_request_only():
    assert boolq(n=2, source="arithmetic_boolean").config.logprobs is None
    assert boolq(n=2, source="arithmetic_boolean", top_logprobs=5).config.logprobs is True


def test_own_answers_to_judge_need_no_passage_and_must_be_texts(tmp_path):
    path = tmp_path / "given.jsonl"
    row = {"question": "Capital of France?", "answer": "no", "kind": "boolean"}
    path.write_text(json.dumps({**row, "metadata": {"answer": "Rome"}}))
    (item,) = items_of(STUDY, "halueval", source=str(path))
    assert "Context:" not in item.prompt.split("\n\n")[-1]
    path.write_text(json.dumps({**row, "metadata": {"answer": 7}}))
    with pytest.raises(ValueError, match=r"'answer' in the metadata of .* must be a text"):
        items_of(STUDY, "halueval", source=str(path))


@pytest.mark.parametrize(
    ("name", "source", "message"),
    [
        ("boolq", "arithmetic", "boolq asks questions of kind 'boolean', but .* is of kind 'choice'"),
        ("sciq", "arithmetic_number", "sciq asks questions of kind 'choice', but .* is of kind 'number'"),
        ("halueval", "arithmetic_boolean", "needs an answer to judge"),
    ],
)
def test_questions_that_do_not_fit_are_refused(name, source, message):
    with pytest.raises(ValueError, match=message):
        TASKS[name](n=2, source=source)


def test_an_unknown_source_is_refused():
    with pytest.raises(SourceError, match="unknown source"):
        boolq(source="boolqq")


def test_no_questions_are_not_all_questions():
    with pytest.raises(ValueError, match="n=0 must be 1 or more"):
        items_of(STUDY, "sciq", source="arithmetic", n=0)
