"""Short answers: the answer in a reply and its span."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from confidence_tasks.studies.logprob_metacognition.domains import DOMAINS, read_domain
from confidence_tasks.studies.logprob_metacognition.replies import (
    CONDITIONS,
    TEMPERATURES,
    answer_prompt,
    read_short_answer,
)

OK = (
    "Paris",
    " Paris",
    "Paris.",
    "The Dark Side of the Moon",
    "St. Louis",
    "J. R. R. Tolkien",
    "Washington, D.C",
    "7 July 1969",
    "Yahoo! Answers",
    "Zoë Müller",
    "北京",
    "1162 - 1227",
    "Michel (Albert) Roux",
    "Easter – Holy Week",
    "It's a Wonderful Life",
    "I think, therefore I am",
    "Reader, I married him",
    "E.T. The Extra-Terrestrial",
    "US. Virgin Islands",
)

REPAIRED = {
    "Answer: Paris": "Paris",
    "**Answer:** Paris": "Paris",
    "A: Paris": "Paris",
    "Answer:\nParis": "Paris",
    "\n\nParis\nIt is the capital.": "Paris",
    "**Paris**": "Paris",
    '"Paris"': "Paris",
    "“Paris”.": "Paris",
    "The answer is Paris.": "Paris",
    "I believe it is Paris": "Paris",
    "I believe the answer is Paris.": "Paris",
    "The answer to the question is Paris.": "Paris",
    "Jane Austen. She was born in 1775.": "Jane Austen",
    "**Jane Austen**. She was born in 1775.": "Jane Austen",
    "Paris (the capital of France)": "Paris",
    "Paris - the capital of France": "Paris",
    "1969. That was the first landing.": "1969",
    "TOKYO. It was once called Edo.": "TOKYO",
    "Rio. The city is in Brazil.": "Rio",
    "U2. They are Irish.": "U2",
    "Paris! It is the capital.": "Paris",
    "Paris, I believe.": "Paris",
    "Paris, I'm fairly sure": "Paris",
    "Paris I think.": "Paris",
    "Paris because it is the capital": "Paris",
    "<think>\nFrance. London?\n</think>\n\nParis": "Paris",
    "France. London?\n</think>\n\nParis.": "Paris",
    "<thinking>London?</thinking>\nParis.": "Paris",
}

NONE = {
    "": "missing_answer",
    " \n\t\n": "missing_answer",
    "Answer:": "missing_answer",
    "<think>\nFrance, so it must be Pa": "missing_answer",
    "I don't know.": "refused",
    "I'm sorry, but I cannot answer that.": "refused",
    "?!": "unreadable",
    "** **": "unreadable",
}


@pytest.mark.parametrize("reply", OK)
def test_a_plain_answer_is_not_changed(reply):
    reading = read_short_answer(reply)
    assert reading.text == reply.strip().removesuffix(".")
    assert reading.status == "ok"


@pytest.mark.parametrize(("reply", "answer"), REPAIRED.items())
def test_the_answer_is_read_from_a_longer_reply(reply, answer):
    reading = read_short_answer(reply)
    assert (reading.text, reply[reading.begin : reading.end]) == (answer, answer)


@pytest.mark.parametrize(("reply", "status"), NONE.items())
def test_reply_without_an_answer(reply, status):
    reading = read_short_answer(reply)
    assert (reading.text, reading.begin, reading.end, reading.status) == ("", 0, 0, status)


@pytest.mark.parametrize(
    ("reply", "number", "text"),
    [
        ("68", "68", "68"),
        (" 68.", "68", "68"),
        ("23 + 45 = 68", "68", "68"),
        ("The answer is 1,068.", "1068", "1,068"),
        ("Answer: -5", "-5", "-5"),
    ],
)
def test_a_number_and_its_span(reply, number, text):
    reading = read_short_answer(reply, "number")
    assert (reading.text, reply[reading.begin : reading.end]) == (number, text)


def test_a_reply_without_a_number_has_no_answer_to_a_sum():
    assert read_short_answer("a lot", "number").status == "unreadable"


@given(st.text(max_size=200))
def test_any_text_is_read(reply):
    reading = read_short_answer(reply)
    assert 0 <= reading.begin <= reading.end <= len(reply)
    assert bool(reading.text) == (reading.status in {"ok", "repaired"})
    assert reading.text == reply[reading.begin : reading.end]


def test_temperatures_and_their_labels():
    assert [CONDITIONS.number(CONDITIONS.label(value)) for value in TEMPERATURES] == list(TEMPERATURES)
    for text in ("warm", "-1", "2.5", "nan", ""):
        with pytest.raises(ValueError, match="from 0"):
            CONDITIONS.number(text)


def test_prompt_ends_where_a_base_model_continues():
    assert answer_prompt("Who?", "short").endswith("Question: Who?\nAnswer:")


@pytest.mark.parametrize("domain", DOMAINS)
def test_the_reply_of_the_classifier_is_read(domain):
    assert read_domain(f"**{domain.replace('&', 'and')}**") == domain
