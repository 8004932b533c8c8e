"""The prompts of the confidence-scale study: the general template of the paper's appendix B.1, and two extensions.

Dai (2026), arXiv:2603.09309. The wording is the instrument: only the question, its choices and the bounds vary.
The section labels that the appendix prints in brackets name the parts and are not sent.

The appendix prints two wordings of the confidence instruction. The default, ``b1``, is that of the template: "After
providing your answer, rate your confidence ...". ``b2`` is that of the list of "exact" instructions in appendix B.2:
"Rate your confidence ...". How options look is printed nowhere: the template says ``Choices: {choices}`` on the line
after the question, which ``b2`` keeps to, with the first option on that line; ``b1`` sets them apart.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self, get_args

from confidence_tasks.harness.inspect.samples import listed, with_key
from confidence_tasks.sources import load
from confidence_tasks.study import Question, Replies, Stage

_LABEL = re.compile(r"\s*\[?\s*(\d{1,6})\s*[-,]\s*(\d{1,6})\s*\]?\s*", re.ASCII)

VIOLATION_MARGIN = 0.05
"""A report outside the bounds by more than this share of the width is a violation (section 3.3)."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Integer confidence between ``lower`` (no confidence at all) and ``upper`` (absolute certainty).

    Examples
    --------
    >>> scale = Scale.parse("14-86")
    >>> scale.label, scale.normalise(50)
    ('14-86', 0.5)
    """

    lower: int
    upper: int

    def __post_init__(self) -> None:
        if self.lower >= self.upper:
            raise ValueError(
                f"scale {self.lower}-{self.upper}: the lower bound must be below the upper bound"
            )

    @classmethod
    def parse(cls, label: str) -> Self:
        """Read ``0-20`` or ``[0, 20]``; ValueError says what a scale looks like."""
        match = _LABEL.fullmatch(label)
        if match is None:
            known = ", ".join(scale.label for scale in ALL_SCALES)
            raise ValueError(
                f"unknown scale {label!r}: write two non-negative integers as 'lower-upper'; "
                f"the study has {known}"
            )
        return cls(int(match[1]), int(match[2]))

    @classmethod
    def label_of(cls, text: str) -> str:
        """Return the label of a scale that a user names."""
        return cls.parse(text).label

    @property
    def label(self) -> str:
        """The condition label, such as ``0-20``."""
        return f"{self.lower}-{self.upper}"

    @property
    def width(self) -> int:
        """Distance between the bounds."""
        return self.upper - self.lower

    def violates(self, raw: float) -> bool:
        """Return whether ``raw`` lies outside the bounds by more than 5% of the width."""
        margin = VIOLATION_MARGIN * self.width
        return not self.lower - margin <= raw <= self.upper + margin

    def normalise(self, raw: float) -> float:
        """Map ``raw`` linearly to [0, 1] (equation 1); what lies beyond a bound is clipped to it."""
        return min(max((raw - self.lower) / self.width, 0.0), 1.0)


GRANULARITY = (Scale(0, 5), Scale(0, 10), Scale(0, 20), Scale(0, 50), Scale(0, 100))
BOUNDARY = (Scale(0, 100), Scale(20, 100), Scale(40, 100), Scale(60, 100))
NONSTANDARD = (Scale(0, 100), Scale(0, 73), Scale(14, 86), Scale(7, 79), Scale(3, 38), Scale(0, 97))

BASELINE = Scale(0, 100)
ALL_SCALES = tuple(dict.fromkeys(GRANULARITY + BOUNDARY + NONSTANDARD))


Elicitation = Literal["verbal", "cot", "top_k"]
"""``verbal`` is the paper's; ``cot`` asks for reasoning first; ``top_k`` asks for several guesses."""

ELICITATIONS: tuple[Elicitation, ...] = get_args(Elicitation)

Prompt = Literal["b1", "b2"]
"""Which of the paper's two wordings of the confidence instruction: the template's or that of appendix B.2."""

PROMPTS: tuple[Prompt, ...] = get_args(Prompt)

TOP_K = 3
"""Number of guesses asked for by ``top_k``."""

_TASK = {
    "answer": "Answer the following question.\n{question}",
    "number": "Solve the following math problem step by step.\n{question}",
}

_RATE = (
    "ate your confidence as an integer between {l} and {u}, "
    "where {l} means no confidence at all and {u} means absolute certainty."
)
_CONFIDENCE: dict[Prompt, str] = {"b1": f"After providing your answer, r{_RATE}", "b2": f"R{_RATE}"}
_CHOICES: dict[Prompt, str] = {"b1": "\n\nChoices:\n", "b2": "\nChoices: "}

_FORMAT = "Respond in the following format only:\n"

_RATED = "Answer: <your answer>\nConfidence: <integer between {l} and {u}>"
_SOLVED = (
    "Solution: <your step-by-step solution>\n"
    "Final Answer: <numerical answer>\nConfidence: <integer between {l} and {u}>"
)
_REPLY = {
    ("answer", "verbal"): _RATED,
    ("answer", "cot"): f"Reasoning: <your step-by-step reasoning>\n{_RATED}",
    ("number", "verbal"): _SOLVED,
    ("number", "cot"): _SOLVED,
}
_GUESS = "Answer {i}: <your guess>\nConfidence {i}: <integer between {l} and {u}>"
_GUESSES = "Give your {k} best guesses, the best first, each with its own confidence.\n"


def scale_prompt(
    question: Question, scale: Scale, elicitation: Elicitation = "verbal", prompt: Prompt = "b1"
) -> str:
    """Return what is asked about ``question`` on ``scale``.

    Questions with a numerical answer get the paper's variant for GSM8K, which asks for the solution first; for
    them ``cot`` is therefore the same prompt as ``verbal``. ``prompt`` is which of the paper's wordings is used.

    Examples
    --------
    >>> question = Question("q-1", "demo", "Is the sky blue?", "choice", "A", ("Yes", "No"))
    >>> print(scale_prompt(question, Scale(0, 20)))
    Answer the following question.
    Is the sky blue?
    <BLANKLINE>
    Choices:
    A) Yes
    B) No
    <BLANKLINE>
    After providing your answer, rate your confidence as an integer between 0 and 20, where 0 means no confidence
    at all and 20 means absolute certainty.
    <BLANKLINE>
    Respond in the following format only:
    Answer: <your answer>
    Confidence: <integer between 0 and 20>
    """
    form = "number" if question.kind == "number" else "answer"
    options = "\n".join(f"{letter}) {text}" for letter, text in question.options.items())
    bounds = {"l": scale.lower, "u": scale.upper}
    asked = _TASK[form].format(question=question.text) + (_CHOICES[prompt] + options if options else "")
    if elicitation == "top_k":
        guesses = "\n".join(_GUESS.format(i=i, **bounds) for i in range(1, TOP_K + 1))
        reply = _GUESSES.format(k=TOP_K) + _FORMAT + guesses
    else:
        reply = _FORMAT + _REPLY[form, elicitation].format(**bounds)
    return "\n\n".join((asked, _CONFIDENCE[prompt].format(**bounds), reply))


def reply_in_format(
    question: Question,
    guesses: Sequence[tuple[str, int]],
    elicitation: Elicitation = "verbal",
    *,
    reasoning: str = "",
) -> str:
    r"""Return the reply that the prompt asks for, as worked examples and simulated subjects give it.

    Answers come with their confidences on the scale, the best first; only ``top_k`` shows more than the first.

    Examples
    --------
    >>> question = Question("q-1", "demo", "Is the sky blue?", "choice", "A", ("Yes", "No"))
    >>> reply_in_format(question, [("A", 17)])
    'Answer: A\nConfidence: 17'
    """
    if elicitation == "top_k":
        return "\n".join(
            f"Answer {i}: {answer}\nConfidence {i}: {confidence}"
            for i, (answer, confidence) in enumerate(guesses, 1)
        )
    answer, confidence = guesses[0]
    if question.kind == "number":
        return f"Solution: {reasoning}\nFinal Answer: {answer}\nConfidence: {confidence}"
    reply = f"Answer: {answer}\nConfidence: {confidence}"
    return f"Reasoning: {reasoning}\n{reply}" if elicitation == "cot" else reply


# Questions and calls ------------------------------------------------------------------------------------------

PAPER_SIZES = {"mmlu": 1000}
"""Questions asked of a source when ``n`` is not given; other sources are asked whole."""


def scale_questions(parameters: Mapping[str, Any]) -> list[Question]:
    """Return the questions of every source."""
    asked: dict[str, list[Question]] = {}
    for source in listed(parameters["sources"], "sources"):
        size = parameters["n"]
        if size is None and source in PAPER_SIZES:
            size = PAPER_SIZES[source] + parameters["fewshot"]
        questions = with_key(
            load(source, n=size, seed=parameters["seed"], mirror=parameters["mirror"]), source
        )
        if (name := questions[0].source) in asked:
            raise ValueError(
                f"{source} and another of the sources are both named {name}: rename one of the files"
            )
        asked[name] = [
            replace(question, metadata={**question.metadata, "elicitation": parameters["elicitation"]})
            for question in questions
        ]
    return [question for questions in asked.values() for question in questions]


def scale_stages(parameters: Mapping[str, Any]) -> list[Stage]:
    """Return the only call."""

    def ask(question: Question, condition: str, replies: Replies) -> str:
        return scale_prompt(question, Scale.parse(condition), parameters["elicitation"], parameters["prompt"])

    return [Stage("answer", ask)]
