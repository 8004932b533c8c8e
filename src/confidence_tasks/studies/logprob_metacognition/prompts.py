"""The prompts of the log-probability study: a question with a short answer, and which domain a question belongs to.

Cacioli (2026), arXiv:2603.25112, section 3.1. The paper does not print its prompt; the wording is this package's.
"""

from __future__ import annotations

from confidence_tasks.studies.logprob_metacognition.domains import DOMAINS

TEMPERATURES = (0.1, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0)
"""The paper's temperatures of sampling (section 3.1)."""

HOTTEST = 2.0
"""The highest temperature that the providers allow."""

DIRECTIONS = "Answer the question with a name, a number or a few words, without an explanation."

CLASSIFIER_SYSTEM = "You sort trivia questions into domains of knowledge."


def condition_of(temperature: float) -> str:
    """Return the label of a temperature.

    Examples
    --------
    >>> condition_of(0.7), condition_of(1.0), condition_of(0.33333333)
    ('T=0.7', 'T=1', 'T=0.33333333')
    """
    return f"T={temperature:.15g}"


def temperature_of(text: str) -> float:
    """Read a temperature, given as a number or as the label of its condition.

    Raises
    ------
    ValueError
        Unless it lies in 0 to 2.

    Examples
    --------
    >>> temperature_of("T=0.7"), temperature_of("1")
    (0.7, 1.0)
    """
    try:
        temperature = float(text.removeprefix("T="))
    except ValueError:
        temperature = -1.0
    if not 0.0 <= temperature <= HOTTEST:
        raise ValueError(f"temperature {text!r} must be a number from 0 (greedy decoding) to {HOTTEST:g}")
    return abs(temperature)


def temperature_label(text: str) -> str:
    """Return the label of a temperature that a user names."""
    return condition_of(temperature_of(text))


def answer_prompt(question: str) -> str:
    """Return the prompt that asks for a short answer.

    Examples
    --------
    >>> print(answer_prompt("Who wrote Emma?"))
    Answer the question with a name, a number or a few words, without an explanation.
    <BLANKLINE>
    Question: Who wrote Emma?
    Answer:
    """
    return f"{DIRECTIONS}\n\nQuestion: {question}\nAnswer:"


def classifier_prompt(question: str, answer: str) -> str:
    """Return the prompt that asks a model for the domain of a question."""
    listed = "\n".join(f"- {domain}" for domain in DOMAINS)
    return (
        f"Question: {question}\nAnswer: {answer}\n\n"
        f"Which of these domains does the question belong to?\n{listed}\n\n"
        "Reply with the name of one domain and nothing else."
    )


def read_domain(reply: str) -> str:
    """Return the one domain that a reply names; the last, ``Unclassified``, when it names none or several.

    Examples
    --------
    >>> read_domain("Geography."), read_domain("Geography or History & Politics")
    ('Geography', 'Unclassified')
    """
    said = reply[:1_000].casefold().replace(" and ", " & ")
    named = [domain for domain in DOMAINS if domain.casefold() in said]
    return named[0] if len(named) == 1 else DOMAINS[-1]
