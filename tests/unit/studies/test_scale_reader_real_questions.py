"""Scale replies that claim each option of real questions in turn, and each number of real solutions."""

import json
import random
from pathlib import Path

import pytest

from confidence_tasks.reading.integer_scale import Scale
from confidence_tasks.studies.scales.trials import read_scale_reply
from confidence_tasks.study.trial import LETTERS

ON_20 = Scale(0, 20)

CHOICE_REPLIES = {
    "letter and text": "Answer: {letter}) {text}\nConfidence: 17",
    "letter in brackets and text": "Answer: ({letter}) {text}\nConfidence: 17",
    "text": "Answer: {text}\nConfidence: 17",
    "bold text": "**Answer:** {text}\n**Confidence:** 17/20",
    "bold letter and text": "**Answer:** {letter}. {text}\n**Confidence:** 17",
    "sentence": "The correct answer is {letter}) {text}.\nMy confidence is 17.",
    "no label": "{letter}) {text}\n\nConfidence: 17",
    "thought": "<think>Not {letter}?</think>\n{text}\nConfidence: 17",
}
PLAIN = ("letter and text", "letter in brackets and text", "text")

NUMBER_REPLIES = {
    "plain": "Solution: {solution}\nFinal Answer: {number}\nConfidence: 17",
    "dollars": "Solution: {solution}\nFinal Answer: ${number}\nConfidence: 17",
    "bold": "**Solution:** {solution}\n\n**Final Answer:** {number}\n\n**Confidence:** 17",
    "unit": "Solution: {solution}\nFinal Answer: {number} dollars\nConfidence: 17",
    "box": "{solution}\n\nThe final answer is $\\boxed{{{number}}}$.\n\nConfidence: 17/20",
    "hashes": "{solution}\n#### {number}\nConfidence: 17",
    "sentence": "{solution}\nFinal Answer: The total comes to {number}.\nConfidence: 17",
}


def rows(path: Path) -> list[dict]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def option_lists(shared_data: Path) -> list[list[str]]:
    """Options of MMLU and TruthfulQA that can be told apart and are not themselves letters."""
    mmlu = [row["choices"] for row in rows(shared_data / "hub/cais/mmlu/all/test.jsonl")]
    truthful = rows(shared_data / "hub/truthfulqa/truthful_qa/multiple_choice/validation.jsonl")
    lists = random.Random(0).sample(mmlu, 120) + random.Random(0).sample(
        [row["mc1_targets"]["choices"] for row in truthful], 40
    )
    return [
        options
        for options in lists
        if len({option.casefold().strip(" .") for option in options}) == len(options)
        and all(len(option) > 1 and "\n" not in option and len(option) < 900 for option in options)
    ]


@pytest.mark.parametrize("form", CHOICE_REPLIES)
def test_every_option_of_real_questions_is_read_as_itself(form: str, option_lists: list[list[str]]) -> None:
    assert len(option_lists) > 120
    for options in option_lists:
        for letter, text in zip(LETTERS, options, strict=False):
            reply = CHOICE_REPLIES[form].format(letter=letter, text=text)
            reading = read_scale_reply(reply, ON_20, kind="choice", choices=options)

            assert (reading.answer, reading.confidence_raw) == (letter, 17), (options, text, reading)
            assert reading.status == ("ok" if form in PLAIN else "repaired")


@pytest.mark.parametrize("form", NUMBER_REPLIES)
def test_every_number_of_real_solutions_is_read_as_itself(form: str, shared_data: Path) -> None:
    for row in rows(shared_data / "hub/openai/gsm8k/main/test.jsonl")[:400]:
        solution, _, number = row["answer"].rpartition("\n#### ")
        reply = NUMBER_REPLIES[form].format(solution=solution, number=number)
        reading = read_scale_reply(reply, ON_20, kind="number")

        assert (reading.answer, reading.confidence_raw) == (number.replace(",", ""), 17), reply
        assert reading.status == ("ok" if form in ("plain", "dollars") else "repaired")
