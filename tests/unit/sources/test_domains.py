"""Domains of knowledge: the lexicon is a table without contradictions, and real questions fall in every domain."""

from collections import Counter

import pytest

from confidence_tasks.sources import load
from confidence_tasks.studies.logprob_metacognition.domains import DOMAINS, LEXICON, UNCLASSIFIED, domain_of


@pytest.mark.parametrize(
    ("question", "domain"),
    [
        ("Which US president ordered the invasion?", "History & Politics"),
        ("Who wrote the novel Emma?", "Arts & Literature"),
        ("Which river flows through the capital of Austria?", "Geography"),
        ("What is the atomic number of oxygen?", "Science & Technology"),
        ("How many players are in a cricket team?", UNCLASSIFIED),
        ("", UNCLASSIFIED),
        ("Which king is a planet?", "History & Politics"),
        ("Which planet is a king?", "Science & Technology"),
        ("In which year was Jesus College founded?", "History & Politics"),
    ],
)
def test_domain_of_most_words(question, domain):
    assert domain_of(question) == domain


def test_every_entry_of_the_lexicon_has_one_domain():
    entries = [entry for words in LEXICON.values() for entry in words.split()]
    assert sorted(set(entries)) == sorted(entries)
    assert all(
        words.split() == sorted(words.split(), key=lambda word: word.replace("·", " "))
        for words in LEXICON.values()
    )


def test_real_questions_fall_in_every_domain(mirror):
    found = Counter(domain_of(question.text) for question in load("trivia_qa", n=500))
    assert set(found) == set(DOMAINS)
    assert found[UNCLASSIFIED] < 250
    assert min(found.values()) > 25


def test_about_as_many_questions_are_unclassified_as_in_the_paper(mirror):
    found = Counter(domain_of(question.text) for question in load("trivia_qa", n=3_000, seed=42))
    paper = 1_284 / 5_000
    assert found[UNCLASSIFIED] / 3_000 == pytest.approx(paper, abs=0.03)
