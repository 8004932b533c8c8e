"""The scale study's design: what is asked, of which questions, in which order; and what is refused early."""

from pathlib import Path

import numpy as np
import pytest
from tests.items import scale_items
from tests.trials import scale_trial

from confidence_tasks import scale_boundary, scale_granularity, scale_nonstandard
from confidence_tasks.reading.integer_scale import ALL_SCALES, BOUNDARY, GRANULARITY, NONSTANDARD, Scale
from confidence_tasks.simulation.reports import report_confidence, simulated_reports
from confidence_tasks.simulation.subject import Subject
from confidence_tasks.sources import Question, SourceError, load
from confidence_tasks.studies.scales.replies import BASELINE, scale_prompt

# the design


def test_the_thirteen_scales_of_the_paper() -> None:
    labels = {scale.label for scale in ALL_SCALES}
    assert labels == {
        *("0-5", "0-10", "0-20", "0-50", "0-100"),
        *("20-100", "40-100", "60-100"),
        *("0-73", "14-86", "7-79", "3-38", "0-97"),
    }
    assert all(BASELINE in design for design in (GRANULARITY, BOUNDARY, NONSTANDARD))


def test_items_go_question_by_question_with_stable_ids() -> None:
    items = list(scale_items(GRANULARITY[:2], ["arithmetic"], n=2, seed=3))
    assert [item.id for item in items] == [
        "arithmetic-s3-00000/0-5",
        "arithmetic-s3-00000/0-10",
        "arithmetic-s3-00001/0-5",
        "arithmetic-s3-00001/0-10",
    ]


def test_only_the_confidence_instruction_varies_with_the_scale() -> None:
    first, second = scale_items([Scale(0, 5), Scale(14, 86)], ["arithmetic"], n=1)
    assert first.prompt.replace("between 0 and 5", "").replace("0 means", "").replace("5 means", "") == (
        second.prompt.replace("between 14 and 86", "").replace("14 means", "").replace("86 means", "")
    )


def test_paper_sizes_on_the_real_sources(mirror: Path) -> None:
    items = list(scale_items([BASELINE], ["mmlu", "gsm8k", "truthfulqa"]))
    sizes = {
        source: sum(item.question.source == source for item in items)
        for source in ("mmlu", "gsm8k", "truthfulqa")
    }
    assert sizes == {"mmlu": 1000, "gsm8k": 1319, "truthfulqa": 817}


def test_number_units_get_the_papers_gsm8k_form(mirror: Path) -> None:
    item = scale_items([Scale(0, 20)], ["gsm8k"], n=1)[0]
    assert item.prompt.startswith("Solve the following math problem step by step.\n")
    assert item.prompt.endswith(
        "Solution: <your step-by-step solution>\nFinal Answer: <numerical answer>\n"
        "Confidence: <integer between 0 and 20>"
    )


# worked examples


def test_worked_examples_are_not_asked_and_do_not_change_what_is() -> None:
    plain = list(scale_items([BASELINE], ["arithmetic"], n=5))
    shown = list(scale_items([BASELINE], ["arithmetic"], n=5, fewshot=3))
    assert [item.prompt for item in plain] == [item.prompt for item in shown]
    asked = {item.prompt for item in shown}
    assert all(len(item.examples) == 3 for item in shown)
    assert not asked & {prompt for item in shown for prompt, _ in item.examples}


# what the user may not say


@pytest.mark.parametrize("scales", ["[20,5]", "0-abc", "5-5", "", "-1-5", "0–5"])
def test_unknown_scale_is_refused_before_any_call(scales: str) -> None:
    with pytest.raises(ValueError, match="scale"):
        scale_granularity(scales=scales or ",", sources="arithmetic", n=2)


@pytest.mark.parametrize("scales", ["0-20,00-20", ["0-20", "[0, 20]"]])
def test_a_scale_named_twice_in_other_ways_is_asked_once(scales: str | list[str]) -> None:
    samples = scale_granularity(scales=scales, sources="arithmetic", n=2).dataset
    assert [sample.metadata["condition"] for sample in samples] == ["0-20", "0-20"]


@pytest.mark.parametrize("task", [scale_granularity, scale_boundary, scale_nonstandard])
def test_unknown_source_lists_what_there_is(task) -> None:
    with pytest.raises(SourceError, match=r"mmlu.*truthfulqa|arithmetic"):
        task(sources="mmul", n=2)


def test_unknown_elicitation_lists_what_there_is() -> None:
    with pytest.raises(ValueError, match="verbal, cot, top_k"):
        scale_granularity(sources="arithmetic", n=2, elicitation="loud")


def test_no_questions_at_all_are_refused() -> None:
    with pytest.raises(ValueError, match="n=0 must be 1 or more"):
        scale_granularity(sources="arithmetic", n=0)


def test_more_examples_than_questions_is_refused() -> None:
    with pytest.raises(ValueError, match="fewshot"):
        scale_granularity(sources="arithmetic", n=2, fewshot=-1)


# the paper's wordings, and replies to the letter

COLOUR = Question("q-1", "demo", "Is the sky blue?", "choice", "A", ("Yes", "No"))


def test_the_wording_of_appendix_b2() -> None:
    assert scale_prompt(COLOUR, Scale(0, 20), prompt="b2") == (
        "Answer the following question.\nIs the sky blue?\nChoices: A) Yes\nB) No\n\n"
        "Rate your confidence as an integer between 0 and 20, where 0 means no confidence at all and 20 means "
        "absolute certainty.\n\n"
        "Respond in the following format only:\nAnswer: <your answer>\nConfidence: <integer between 0 and 20>"
    )


def test_the_wording_of_section_3_4() -> None:
    assert scale_prompt(COLOUR, Scale(0, 20), prompt="s34") == (
        "Answer the following question.\nIs the sky blue?\n\nChoices:\nA) Yes\nB) No\n\n"
        "Then, provide your confidence as an integer between 0 and 20, where 0 means no confidence and 20 means "
        "absolute certainty.\n\n"
        "Respond in the following format only:\nAnswer: <your answer>\nConfidence: <integer between 0 and 20>"
    )


def test_the_wording_is_chosen_for_questions_and_examples() -> None:
    items = scale_items([BASELINE], ["arithmetic"], n=2, prompt="b2", fewshot=1)
    for item in items:
        for prompt in (item.prompt, item.examples[0][0]):
            assert "\n\nRate your confidence" in prompt
    ((_, asked),) = (
        sample.input for sample in scale_boundary(scales="0-100", sources="arithmetic", n=1).dataset
    )
    assert "After providing your answer, rate your confidence" in asked.text
    with pytest.raises(ValueError, match="b1, b2"):
        scale_granularity(sources="arithmetic", n=2, prompt="b3")


@pytest.mark.parametrize(
    ("reply", "status", "counts"),
    [
        ("Answer: A\nConfidence: 17", "ok", True),
        ("Answer: A\nConfidence: 50", "out_of_range", False),
        ("**Answer:** A\n**Confidence:** 17", "unreadable", False),
        ("Answer: A\nConfidence: 20.5", "unreadable", False),
        ("Answer: A\nConfidence: 85%", "unreadable", False),
        ("Answer: A\nConfid", "unreadable", False),
        ("I'm sorry, but I cannot help with that.", "refused", False),
    ],
)
def test_strictly_only_replies_to_the_letter_count(reply: str, status: str, counts: bool) -> None:
    trial = scale_trial(COLOUR, Scale(0, 20), reply, strict=True)
    assert trial["status"] == status
    assert (trial["confidence"] == 0.85) == counts
    assert (trial["correct"] == 1.0) == (status in ("ok", "out_of_range"))
    assert (trial["confidence_raw"] == 50.0) == (status == "out_of_range")


def test_elementary_questions_of_mmlu_are_one_subject(mirror: Path) -> None:
    subjects = {question.subject for question in load("mmlu", n=1_000) if question.level == "elementary"}
    assert subjects == {"elementary_mathematics"}


@pytest.mark.parametrize("anchors", [(), (0.3, 0.7), (0.9, 0.5, 0.95)])
@pytest.mark.parametrize("rounding", [0.0, 1.0])
def test_a_subject_states_in_a_run_what_it_states_in_a_plan(anchors, rounding) -> None:
    """Also halfway between two anchors, where it takes the lower."""
    subject = Subject(anchors=anchors, rounding=rounding)
    confidence = np.linspace(0.0, 1.0, 41)
    draws = {"rounding": np.zeros(41)}

    for scale in ALL_SCALES:
        planned = simulated_reports(subject, confidence, scale, draws)
        assert [report_confidence(float(each), scale, subject, 0) for each in confidence] == planned.tolist()
