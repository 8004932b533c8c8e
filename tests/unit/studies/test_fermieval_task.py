"""FermiEval's questions and conditions, and parameters that raise."""

import json
from collections import Counter

import pytest
from tests.items import items_of

from confidence_tasks import fermieval
from confidence_tasks.harness.inspect.viewer import dataset
from confidence_tasks.harness.parameters import default_parameters
from confidence_tasks.sources import load
from confidence_tasks.studies.fermieval import STUDY
from confidence_tasks.studies.fermieval.logprob import STUDY as LOGPROB
from confidence_tasks.studies.fermieval.replies import exponent_questions, levels_of


def test_every_question_is_asked_at_every_level(mirror):
    items = items_of(STUDY, n=6, seed=1)
    assert [item.condition for item in items[:4]] == ["p=0.9", "p=0.95", "p=0.99", "p=0.998"]
    assert len({item.question.id for item in items[:4]}) == 1
    assert len({item.id for item in items}) == 24
    assert Counter(item.metadata["split"] for item in items) == {"calibration": 12, "test": 12}


def test_sample_metadata_are_complete_for_scoring(mirror):
    (item, *_), sample = (items := items_of(STUDY, n=1)), dataset(items, "demo")[0]
    assert sample.metadata["condition"] == "p=0.9"
    assert sample.metadata["split"] == item.question.metadata["split"]
    assert sample.target == item.question.gold
    shown, system, user = sample.input
    assert shown.text == item.question.text
    assert "a 90 percentage confidence interval" in system.text
    assert item.question.text in user.text


def test_the_test_half_can_be_asked_alone(mirror):
    task = fermieval(split="test", n=5, levels=0.9)
    assert {sample.metadata["split"] for sample in task.dataset} == {"test"}
    assert task.headline_metric.metric == "coverage_gap/p=0.9"


def test_with_split_cross_both_halves_are_test_questions(mirror):
    halves, crossed = (
        [sample.metadata for sample in fermieval(split=split, n=6, levels=0.9).dataset]
        for split in ("all", "cross")
    )
    assert {about["split"] for about in crossed} == {"test"}
    assert [about["question_id"] for about in crossed] == [about["question_id"] for about in halves]


def test_the_whole_design_is_a_thousand_questions_at_four_levels(mirror):
    assert len(fermieval().dataset) == 4_000


@pytest.mark.parametrize("levels", ["0.9,0.99", "0.9,0.99,0.90", [0.9, 0.99], ["0.9", "0.99"]])
def test_levels_are_a_list_or_text_with_commas(levels):
    assert levels_of(levels) == [0.9, 0.99]


@pytest.mark.parametrize("levels", ["90", 95, 1, "0.9,1", "high", "0", "nan", ""])
def test_levels_outside_0_and_1_raise(levels):
    with pytest.raises(ValueError, match="levels"):
        fermieval(levels=levels)


def test_other_wrong_values_raise(mirror):
    with pytest.raises(ValueError, match="split='train' is not one of all, test, authors, authors_test"):
        fermieval(split="train")
    with pytest.raises(ValueError, match="n=0 must be 1 or more"):
        fermieval(n=0)
    with pytest.raises(ValueError, match="max_exponent=-3 must"):
        fermieval(max_exponent=-3)


def test_the_authors_questions_have_the_limit_of_the_figures(mirror):
    task = fermieval(split="authors", levels=0.99)
    halves = Counter(sample.metadata["split"] for sample in task.dataset)
    assert halves == {"calibration": 491, "test": 491}
    assert {sample.metadata["max_exponent"] for sample in task.dataset} == {100}
    assert max(int(sample.target) for sample in task.dataset) == 14_889
    assert "max_exponent" not in fermieval(n=2).dataset[0].metadata
    assert fermieval(n=2, max_exponent=50).dataset[0].metadata["max_exponent"] == 50
    assert {sample.metadata["split"] for sample in fermieval(split="authors_test", n=9).dataset} == {"test"}


def test_questions_for_single_exponents_are_within_the_papers_limit(mirror):
    default = default_parameters(LOGPROB)
    questions = exponent_questions({**default, "split": "authors"})
    assert Counter(q.metadata["split"] for q in questions) == {"calibration": 478, "test": 486}
    assert max(abs(int(q.gold)) for q in questions) <= 100
    assert exponent_questions({**default, "n": 7}) == load("fermi", n=7)


def own(tmp_path, *rows):
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return str(path)


def test_questions_of_a_file_alternate_between_the_halves(tmp_path):
    path = own(tmp_path, *({"question": f"How many {i}?", "exponent": i} for i in range(6)))
    task = fermieval(source=path, levels=0.9)
    assert [sample.metadata["split"] for sample in task.dataset] == ["calibration", "test"] * 3
    assert {int(sample.target) for sample in task.dataset} == set(range(6))
    assert {
        sample.metadata["split"] for sample in fermieval(source=path, levels=0.9, split="cross").dataset
    } == {"test"}
    assert len(fermieval(source=path, levels=0.9, split="test").dataset) == 3


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"answer": 5}, "no 'exponent', the key"),
        ({"exponent": 2.5}, "exponent '2.5' is not a whole number"),
        ({"exponent": 1_000_000}, "exponent '1000000' is not a whole number within"),
        ({"exponent": "many"}, "exponent 'many' is not a whole number"),
    ],
)
def test_questions_of_a_file_need_an_exponent(tmp_path, row, message):
    with pytest.raises(ValueError, match=message):
        fermieval(source=own(tmp_path, {"question": "How many?", **row}))


def test_the_authors_split_raises_for_questions_of_a_file(tmp_path):
    path = own(tmp_path, {"question": "How many?", "exponent": 5})
    with pytest.raises(ValueError, match="split='authors' applies to the archive's questions only"):
        fermieval(source=path, split="authors")
