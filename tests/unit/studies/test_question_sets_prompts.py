"""The prompts of LifeEval and the question sets: the authors' wording and its variable parts."""

import json
import re
from pathlib import Path

import pytest

from confidence_tasks.sources import Question
from confidence_tasks.studies.lifeeval.question_sets.reader import (
    read_boolean_reply,
    read_judgement,
    read_options_reply,
)
from confidence_tasks.studies.lifeeval.question_sets.replies import (
    HALUEVAL_PROMPTS,
    QUESTION_SETS,
    boolean_reply,
    judgement_reply,
    options_reply,
)
from confidence_tasks.studies.lifeeval.reader import read_lifeeval_reply
from confidence_tasks.studies.lifeeval.replies import SYSTEM, lifeeval_prompt, lifeeval_reply

QUESTIONS = {
    "boolq": Question("q", "s", "is there a word with q without u", "boolean", "yes"),
    "sciq": Question("q", "s", "Which gas?", "choice", "A", ("ozone", "neon", "argon", "radon")),
    "lsat_ar": Question(
        "q", "s", "P\n\nWho?", "choice", "A", tuple("vwxyz"), metadata={"passage": "P", "question": "Who?"}
    ),
    "sat_en": Question(
        "q", "s", "P\n\nWho?", "choice", "A", tuple("wxyz"), metadata={"passage": "P", "question": "Who?"}
    ),
    "halueval": Question(
        "q", "s", "Which film?", "boolean", "no", metadata={"answer": 'It is "The Host".', "knowledge": " K."}
    ),
}
BODIES = {
    "boolq": "Question: Is there a word with q without u?\nResponse:",
    "sciq": "Question: Which gas?\nOptions:\nA) ozone\nB) neon\nC) argon\nD) radon\n\nResponse:",
    "lsat_ar": "Context: P\nQuestion: Who?\nOptions:\nA) v\nB) w\nC) x\nD) y\nE) z\n\nResponse:",
    "sat_en": "Passage: P\nQuestion: Who?\nOptions:\nA) w\nB) x\nC) y\nD) z\n\nResponse:",
    "halueval": 'Context: K.\nQuestion: Which film?\nAnswer: It is "The Host".\nResponse:',
}
GIVEN_ANSWER = """\
You are a helpful assistant. Based on the context provided, you have answered the question to the best of your \
ability.\x20
Now, you must provide the probability that your answer is correct. Do not change your previous answer or any \
reasoning.\x20
Only provide the confidence you have in your old answer as a float from 0.0 to 1.0
Your role is to provide the probability that said answer is correct. Your response should be in a JSON format.
     For example:
Context: <Context>
Question: <Question>
Answer: <Your old answer>
Response:
{
    "Confidence": "<The probability that your answer is correct as a float from 0.0 to 1.0>"
}"""
"""HaluEval's directions as the authors' repository has them."""
HONEST = "give a probability that is an honest reflection of how likely"

PASSAGES = {"lsat_ar": "Context", "sat_en": "Passage"}
"""Label of the line that only the directions in the user's turn have."""

every = pytest.mark.parametrize("name", QUESTION_SETS)


_, *_SECTIONS = Path(__file__).with_name("authors_directions.txt").read_text(encoding="utf-8").split("==== ")
DIRECTIONS = {name: text.removesuffix("\n") for name, _, text in (each.partition("\n") for each in _SECTIONS)}
"""System messages of the authors' repository, each below its name."""


@pytest.mark.parametrize("name", DIRECTIONS)
def test_directions_are_those_of_the_authors_to_the_letter(name):
    sets = {**QUESTION_SETS, "own_answer": HALUEVAL_PROMPTS["own_answer"]}
    made = SYSTEM if name == "lifeeval" else sets[name].system(QUESTIONS.get(name, QUESTIONS["halueval"]))
    assert made == DIRECTIONS[name]


# LifeEval -------------------------------------------------------------------------------------------------------


def test_lifeeval_asks_in_the_authors_words():
    assert lifeeval_prompt("male", 0, 5) == (
        f"Directions:\n{SYSTEM}\nQuestion:\n"
        "Given that an American male has lived at least 0 years, estimate how old he will be when he dies. "
        "How certain are you that your answer is within 5 years of the true value?\nResponse:"
    )


def test_lifeeval_varies_person_radius_and_population_only():
    asked = lifeeval_prompt("female", 90, 1, population="a Japanese")
    assert (
        "Given that a Japanese female has lived at least 90 years estimate how old she will be when she dies"
        in asked
    )
    assert "within 1 year of the true value" in asked


def test_reasoning_comes_before_the_answer():
    keys = re.findall(r'^ *"(\w+)":', SYSTEM, re.MULTILINE)
    assert keys == ["Reasoning", "Answer", "Confidence"]
    assert HONEST in SYSTEM


# Question sets --------------------------------------------------------------------------------------------------


@every
def test_the_question_follows_the_directions(name):
    question = QUESTIONS[name]
    asked = QUESTION_SETS[name]
    after = " " if name == "halueval" else "\n"
    directions = asked.system(question)
    if label := PASSAGES.get(name):
        directions = directions.replace(
            "\n\nQuestion: <Question>\nOptions:",
            f"\n\n{label}: <{label}>\nQuestion: <Question>\n\nOptions:",
        )
    assert asked.prompt(question) == f"Directions:{after}{directions}\n\n{BODIES[name]}"


@pytest.mark.parametrize("name", ["sciq", "lsat_ar", "sat_en"])
def test_the_system_message_has_no_line_for_a_passage(name):
    system = QUESTION_SETS[name].system(QUESTIONS[name])
    assert "For example:\n\nQuestion: <Question>\nOptions:\nA) <Option A>" in system
    assert "<Context>" not in system
    assert "<Passage>" not in system


def test_halueval_tells_the_model_that_it_has_answered():
    assert QUESTION_SETS["halueval"].system(QUESTIONS["halueval"]) == GIVEN_ANSWER


def test_the_older_wording_of_halueval_asks_for_an_answer_and_gives_one():
    asked, question = HALUEVAL_PROMPTS["own_answer"], QUESTIONS["halueval"]
    assert "answer the question as accurately as possible" in asked.system(question)
    assert asked.prompt(question) == (
        f"Directions:\n{asked.system(question)}\n\nContext: K.\n\nQuestion: Which film?\n\nResponse:\n"
        '{\n    "Answer": "It is \\"The Host\\".",\n    "Confidence": "'
    )


@every
def test_the_worked_example_is_json_with_the_fields_that_are_read(name):
    system = QUESTION_SETS[name].system(QUESTIONS[name])
    example = json.loads(system[system.index("{") : system.rindex("}") + 1])
    letters = list(QUESTIONS[name].options)
    assert (
        list(example)
        == {
            "boolean": ["Reasoning", "Answer", "Confidence"],
            "options": ["Reasoning", "Answer", *letters],
            "judgement": ["Confidence"],
        }[QUESTION_SETS[name].form]
    )


@pytest.mark.parametrize("name", sorted(QUESTION_SETS.keys() - {"halueval"}))
def test_an_honest_probability_is_asked_for(name):
    assert HONEST in QUESTION_SETS[name].system(QUESTIONS[name])


@every
def test_no_prompt_contains_the_key(name):
    question = QUESTIONS[name]
    other = Question(**{field: getattr(question, field) for field in question.__slots__} | {"gold": "B"})
    assert QUESTION_SETS[name].prompt(question) == QUESTION_SETS[name].prompt(other)


def test_a_prompt_without_a_passage_has_no_label_for_it():
    prompt = QUESTION_SETS["sat_en"].prompt(QUESTIONS["sciq"])
    assert prompt.endswith(BODIES["sciq"])
    assert "Passage: \n" not in prompt


@pytest.mark.parametrize("text", ["is it so", "Is it so?", "It is so."])
def test_boolq_questions_become_sentences(text):
    body = QUESTION_SETS["boolq"].body(Question("q", "s", text, "boolean", "yes"))
    assert re.fullmatch(r"Question: I[\w ]+[?.]\nResponse:", body)


# Replies in format ----------------------------------------------------------------------------------------------


def test_replies_in_format_are_read_without_a_rule():
    readings = [
        read_lifeeval_reply(lifeeval_reply(84, 0.7, reasoning='a "quoted" word\n')),
        read_boolean_reply(boolean_reply("no", 0.95)),
        read_options_reply(options_reply("B", (0.25, 0.75)), ("left", "right")),
        read_judgement(judgement_reply(0.3), "Rome"),
    ]
    assert [reading.status for reading in readings] == ["ok"] * 4
    assert [reading.answer for reading in readings] == ["84", "no", "B", "Rome"]
    assert [reading.confidence_raw for reading in readings] == [0.7, 0.95, 0.75, 0.3]
