"""LifeEval's task: questions, their order, prompts, and errors before the first call."""

from collections import Counter

import pytest
from tests.items import items_of

from confidence_tasks import lifeeval
from confidence_tasks.harness.inspect.viewer import dataset
from confidence_tasks.sources import SourceError
from confidence_tasks.studies.lifeeval import RADII, STUDY
from confidence_tasks.study.trial import question_from_metadata

# the design


def test_808_questions_two_sexes_101_ages_four_radii():
    items = items_of(STUDY)
    assert len({item.id for item in items}) == 808
    assert Counter(item.condition for item in items) == {f"radius={radius}": 202 for radius in RADII}
    assert Counter(item.metadata["sex"] for item in items) == {"male": 404, "female": 404}
    assert {item.metadata["age"] for item in items} == set(range(101))


def test_a_small_sample_is_balanced_and_part_of_a_larger_one():
    small, large = (items_of(STUDY, n=n) for n in (16, 80))
    assert {item.id for item in small} <= {item.id for item in large}
    assert set(Counter(item.condition for item in small).values()) == {4}
    assert set(Counter(item.metadata["sex"] for item in small).values()) == {8}


def test_a_subset_of_radii():
    items = items_of(STUDY, radii=20, n=10)
    assert {item.condition for item in items} == {"radius=20"}
    assert all("within 20 years" in item.prompt for item in items)


def test_a_sample_has_the_metadata_that_scoring_requires():
    for item, sample in zip(items := items_of(STUDY, n=8), dataset(items, "lifeeval"), strict=True):
        held = question_from_metadata(sample.metadata)
        assert held.id == item.question.id
        about = {key: item.question.metadata[key] for key in ("sex", "age", "radius", "window", "table")}
        assert about.items() <= held.metadata.items()
        assert f"radius={about['radius']}" == item.condition == sample.metadata["condition"]
        assert f"{about['sex']} has lived at least {about['age']} years" in item.prompt


def test_directions_are_in_both_turns():
    sample = next(iter(dataset(items_of(STUDY, n=1), "lifeeval")))
    _, system, user = sample.input
    assert (system.role, user.role) == ("system", "user")
    assert system.text in user.text


# the task


def test_the_task_has_its_parameters_in_its_metadata():
    task = lifeeval(n=4)
    assert task.config.temperature == 0.0
    assert task.config.logprobs is None
    assert lifeeval(n=4, top_logprobs=5).config.top_logprobs == 5


@pytest.mark.parametrize("radii", ["1,20", [1, 20], ["1", "20"]])
def test_radii_are_a_list_or_text_with_commas(radii):
    conditions = {sample.metadata["condition"] for sample in lifeeval(radii=radii, n=40).dataset}
    assert conditions == {"radius=1", "radius=20"}


def test_a_single_radius_may_be_a_number():
    assert {sample.metadata["radius"] for sample in lifeeval(radii=5, n=4).dataset} == {5}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"radii": "3"}, "radii='3' is not one of 1, 5, 10, 20"),
        ({"radii": ""}, "radii is empty"),
        ({"window": "open"}, "window='open' is not one of half_open, inclusive"),
        ({"top_logprobs": 50}, "top_logprobs=50"),
        ({"top_logprobs": -1}, "top_logprobs=-1"),
    ],
)
def test_a_wrong_value_is_refused_before_any_call(parameters, message):
    with pytest.raises(ValueError, match=message):
        lifeeval(**parameters)


def test_a_table_that_cannot_be_read_is_refused_before_any_call(tmp_path):
    with pytest.raises(SourceError, match="no_table"):
        lifeeval(table="no_table.csv")
    broken = tmp_path / "broken.csv"
    broken.write_text("age,male_qx,female_qx\n0,0.1,1.2\n")
    with pytest.raises(SourceError, match="between 0 and 1"):
        lifeeval(table=str(broken))


@pytest.mark.parametrize("n", [0, -800])
def test_a_number_of_questions_below_1_is_refused(n):
    with pytest.raises(ValueError, match=f"n={n} must be 1 or more"):
        lifeeval(n=n)
