"""Replies of the confidence-scale study: its scales and prompts, and how a simulated subject replies to them.

The prompts are the general template of Dai (2026), arXiv:2603.09309, appendix B.1. The wording is the
instrument: only the question, its choices and the bounds vary. The section labels that the appendix prints in brackets
name the parts and are not sent.

The appendix prints two wordings of the confidence instruction. The default, ``b1``, is that of the template: "After
providing your answer, rate your confidence ...". ``b2`` is that of the list of "exact" instructions in appendix B.2:
"Rate your confidence ...". How options look is printed nowhere: the template says ``Choices: {choices}`` on the line
after the question, which ``b2`` keeps to, with the first option on that line; ``b1`` sets them apart.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

from confidence_tasks.simulation.reply import REFUSAL, Reply, StageRequest, answer, ranked_guesses, said
from confidence_tasks.simulation.subject import Subject, decisions, uniform
from confidence_tasks.sources import load
from confidence_tasks.study import Question, Replies, Stage
from confidence_tasks.study.parameter import listed
from confidence_tasks.study.reference import np
from confidence_tasks.study.trial import Kind, with_key

if TYPE_CHECKING:
    from confidence_tasks.report.power import Draws
    from confidence_tasks.statistics.core import BoolArray, FloatArray, IntArray

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
_GUESSES = f"Give your {TOP_K} best guesses, the best first, each with its own confidence.\n"


@dataclass(frozen=True, slots=True)
class Format:
    """A format that the prompt asks for, simulated subjects keep to, and other replies depart from.

    Attributes
    ----------
    labels : tuple of str
        How its last lines begin, an answer's and a confidence's by turns.
    free : str
        How the free text before them begins; empty where there is none.
    answer : str
        What the prompt says of an answer.
    counts : int
        Which of several answers counts: 0 for the first, -1 for the last.
    """

    labels: tuple[str, ...] = ("Answer:", "Confidence:")
    free: str = ""
    answer: str = "<your answer>"
    counts: int = -1

    def written(self, free: str, values: Sequence[str]) -> str:
        """Return a text in the format; where there are fewer values than labels, the last of these are left out."""
        before = [f"{self.free} {free}"] if self.free else []
        return "\n".join(
            [*before, *(f"{label} {value}" for label, value in zip(self.labels, values, strict=False))]
        )

    def asked_for(self, scale: Scale) -> str:
        """Return the format as the prompt shows it."""
        free = f"<your step-by-step {self.free.rstrip(':').lower()}>"
        values = (self.answer, f"<integer between {scale.lower} and {scale.upper}>")
        return self.written(free, values * (len(self.labels) // 2))


ANSWER_AND_CONFIDENCE = Format()
"""Two lines and nothing else."""

_GUESSED = Format(
    tuple(f"{label} {i}:" for i in range(1, TOP_K + 1) for label in ("Answer", "Confidence")),
    answer="<your guess>",
    counts=0,
)


def format_of(kind: Kind, elicitation: Elicitation) -> Format:
    """Return the format of replies to a kind of question; that of numbers has a solution, however one asks."""
    if elicitation == "top_k":
        return _GUESSED
    if kind == "number":
        return Format(("Final Answer:", "Confidence:"), "Solution:", "<numerical answer>")
    return Format(free="Reasoning:") if elicitation == "cot" else ANSWER_AND_CONFIDENCE


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
    reply = _FORMAT + format_of(question.kind, elicitation).asked_for(scale)
    several = _GUESSES if elicitation == "top_k" else ""
    return "\n\n".join((asked, _CONFIDENCE[prompt].format(**bounds), several + reply))


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
    values = [str(value) for guess in guesses for value in guess]
    return format_of(question.kind, elicitation).written(reasoning, values)


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
            question.with_metadata(elicitation=parameters["elicitation"]) for question in questions
        ]
    return [question for questions in asked.values() for question in questions]


def scale_stages(parameters: Mapping[str, Any]) -> list[Stage]:
    """Return the only call."""

    def ask(question: Question, condition: str, replies: Replies) -> str:
        return scale_prompt(question, Scale.parse(condition), parameters["elicitation"], parameters["prompt"])

    return [Stage("answer", ask)]


# The simulated subject -----------------------------------------------------------------------------------------


def out_of_format(answer: str, raw: int, scale: Scale) -> list[str]:
    """Return ways to stray from the format; the last two leave out what was asked for."""
    return [
        f"**Answer:** {answer}\n**Confidence:** {raw}",
        f"Answer: {answer}\nConfidence: {raw}/{scale.upper}",
        f"Confidence: {raw}\nAnswer: {answer}",
        f"Let me think about it.\n\nAnswer: {answer}\n\nConfidence: about {raw}",
        f"The answer is {answer}, and my confidence is {raw}.",
        f"Answer: {answer}\nConfid",
        REFUSAL,
    ]


def report(confidence: float, scale: Scale, subject: Subject, *key: object) -> int:
    """Put a confidence in [0, 1] as an integer on ``scale``, with the subject's habits.

    Examples
    --------
    >>> report(0.87, Scale(0, 20), Subject(), 0, "q-1")
    17
    >>> report(0.87, Scale(0, 100), Subject(rounding=1.0), 0, "q-1")
    85
    """
    ignores_bounds = uniform(*key, "bounds") < subject.ignores_bounds
    rounds = uniform(*key, "rounding") < subject.rounding
    return int(_stated(subject, confidence, Scale(0, 100) if ignores_bounds else scale, rounds))


def reports(confidence: FloatArray, scale: Scale, subject: Subject) -> list[tuple[IntArray, float]]:
    """Return each way to report confidences of shape (n,): the integers reported, (n,), and its probability."""
    return [
        (_stated(subject, confidence, of, rounds).astype(np.int64), of_scale * of_rounding)
        for of, of_scale in ((Scale(0, 100), subject.ignores_bounds), (scale, 1.0 - subject.ignores_bounds))
        for rounds, of_rounding in ((True, subject.rounding), (False, 1.0 - subject.rounding))
        if of_scale * of_rounding
    ]


def report_distribution(
    subject: Subject,
    condition: str,
    scale: Scale,
    of: Callable[[float, bool], float] = lambda confidence, correct: confidence,
) -> dict[tuple[bool, int], float]:
    """Return the probability of each outcome with each report on a scale; ``of`` a function of what is decided."""
    found: dict[tuple[bool, int], float] = {}
    decided = list(decisions(subject, condition))
    confidence = np.array([of(confidence, correct) for correct, confidence, _ in decided])
    ways = reports(confidence, scale, subject)
    for i, (correct, _, chance) in enumerate(decided):
        for raw, probability in ways:
            reported = correct, int(raw[i])
            found[reported] = found.get(reported, 0.0) + chance * probability
    return found


def respond(question: Question, request: StageRequest) -> Reply:
    """Answer ``question`` and state a confidence in the format asked for, or sloppily."""
    scale, subject, seed = Scale.parse(request.condition), request.subject, request.seed
    decision = subject.decide(question.id, scale.label, seed)
    text = answer(question, correct=decision.correct, seed=seed)
    key = (seed, question.id, scale.label)
    raw = report(decision.confidence, scale, subject, *key)
    guesses = ranked_guesses(question, text, raw, lower=scale.lower, size=TOP_K)
    elicitation = question.metadata.get("elicitation", "verbal")
    reply = reply_in_format(question, guesses, elicitation, reasoning="I worked it out step by step.")
    return Reply(said(reply, subject, *key, otherwise=out_of_format(text, raw, scale)), decision.confidence)


SHOWN_CONFIDENCE = (0.95, 0.3, 0.85, 0.1, 0.7, 0.55, 0.4, 1.0)
"""Confidences of the examples, in turn. Those below one half come with a wrong answer, so that the examples show what
a low confidence is for and favour no end of the scale."""

REASONING = "I considered what the question asks and chose accordingly."
"""Text that replaces the reasoning where a source gives no worked solution."""


def worked_example(question: Question, condition: str, number: int) -> str:
    """Return a reply in format to a question on a scale."""
    scale, confidence = Scale.parse(condition), SHOWN_CONFIDENCE[number % len(SHOWN_CONFIDENCE)]
    raw = round(scale.lower + confidence * scale.width)
    right = confidence >= 0.5 or question.kind == "text"  # a wrong text says what the answer is not
    best = answer(question, correct=right, seed="fewshot")
    guesses = ranked_guesses(question, best, raw, lower=scale.lower, size=TOP_K)
    reasoning = question.metadata.get("solution", REASONING)
    return reply_in_format(question, guesses, question.metadata["elicitation"], reasoning=reasoning)


def reported(subject: Subject, confidence: FloatArray, scale: Scale, draws: Draws) -> FloatArray:
    """Return the integers on ``scale`` that the subject states, with its habits."""
    from scipy.special import ndtr

    return _stated(subject, confidence, scale, ndtr(draws["rounding"]) < subject.rounding)


ENOUGH_ROUND_NUMBERS = 7
"""Number of round values within its bounds below which a scale, such as 0-20, draws no subject to them."""


def _stated(
    subject: Subject, confidence: FloatArray | float, scale: Scale, rounds: BoolArray | bool
) -> FloatArray:
    """Return the integers on ``scale`` for confidences, or multiples where the subject rounds and there are enough."""
    if subject.anchors:
        confidence = _nearest(np.sort(subject.anchors), confidence)
    raw = scale.lower + confidence * scale.width
    step = subject.round_to
    multiples = np.arange(-(-scale.lower // step) * step, scale.upper + 1, step, dtype=np.float64)
    if len(multiples) < ENOUGH_ROUND_NUMBERS:
        return np.rint(raw)
    return np.where(rounds, _nearest(multiples, raw), np.rint(raw))


def _nearest(grid: FloatArray, values: FloatArray | float) -> FloatArray:
    """Return for each value the entry of the ascending ``grid`` that is nearest; of two, the lower."""
    middles = (grid[1:] + grid[:-1]) / 2.0
    return np.asarray(grid[np.searchsorted(middles, values)])
