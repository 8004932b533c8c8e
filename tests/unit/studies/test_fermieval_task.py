"""FermiEval's design: which questions are asked at which levels, and what is refused early."""

from collections import Counter

import pytest

from confidence_tasks.harness.inspect.samples import dataset
from confidence_tasks.sources import SourceError, load
from confidence_tasks.studies.fermieval.task import fermieval, fermieval_items, levels_of


def test_every_question_is_asked_at_every_level(mirror):
    items = list(fermieval_items(load("fermi", n=6, seed=1)))
    assert [item.condition for item in items[:4]] == ["p=0.9", "p=0.95", "p=0.99", "p=0.998"]
    assert len({item.question.id for item in items[:4]}) == 1
    assert len({item.id for item in items}) == 24
    assert Counter(item.metadata["split"] for item in items) == {"calibration": 12, "test": 12}


def test_a_sample_holds_all_that_scoring_needs(mirror):
    (item, *_), sample = (items := list(fermieval_items(load("fermi", n=1)))), dataset(items, "demo")[0]
    assert sample.metadata["level"] == 0.9
    assert sample.metadata["split"] == item.question.metadata["split"]
    assert sample.target == item.question.gold
    system, user = sample.input
    assert "a 90 percentage confidence interval" in system.text
    assert item.question.text in user.text


def test_the_test_half_can_be_asked_alone(mirror):
    task = fermieval(split="test", n=5, levels=0.9)
    assert {sample.metadata["split"] for sample in task.dataset} == {"test"}
    assert task.headline_metric.metric == "coverage_gap/p=0.9"


def test_both_halves_can_be_judged_where_none_is_spared(mirror):
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
def test_a_level_that_is_no_coverage_is_refused(levels):
    with pytest.raises(ValueError, match="levels"):
        fermieval(levels=levels)


def test_other_wrong_values_are_refused(mirror):
    with pytest.raises(ValueError, match="split='train' is not one of all, test"):
        fermieval(split="train")
    with pytest.raises(SourceError, match="at least 1"):
        fermieval(n=0)
