"""Scales and prompts of the confidence-scale study, and the replies of its simulated subject.

The prompts follow the general template of Dai (2026), arXiv:2603.09309, appendix B.1. Only the question, its options
and the bounds of the scale vary. The section labels that the appendix prints in brackets are not sent.

The appendix prints two wordings of the confidence instruction. The default, ``b1``, comes from the template: "After
providing your answer, rate your confidence ...". ``b2`` comes from the list of "exact" instructions in appendix B.2:
"Rate your confidence ...". ``s34`` is the wording of section 3.4: "Then, provide your confidence ...".
The paper does not show how it formats the options. The template only has ``Choices: {choices}`` on the line after the
question. ``b2`` puts the first option on that line, the others start a new paragraph.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

from confidence_tasks.reading.integer_scale import PERCENT, Scale
from confidence_tasks.reading.reply_format import ANSWER_AND_CONFIDENCE, Format
from confidence_tasks.simulation.reply import (
    REFUSAL,
    Reply,
    StageRequest,
    answer,
    apply_sloppiness,
    ranked_guesses,
)
from confidence_tasks.simulation.reports import report_confidence
from confidence_tasks.sources import load, require_known
from confidence_tasks.study import Question, Replies, Stage, Structured
from confidence_tasks.study.parameter import parse_list
from confidence_tasks.study.structured import answer_schema, answer_value, is_structured, on_one_line
from confidence_tasks.study.trial import Kind, require_keys

BASELINE = PERCENT


Elicitation = Literal["verbal", "cot", "top_k"]
"""``verbal`` is the paper's method; ``cot`` asks for reasoning first; ``top_k`` asks for several guesses."""

ELICITATIONS: tuple[Elicitation, ...] = get_args(Elicitation)


Prompt = Literal["b1", "b2", "s34"]
"""The paper's wordings of the confidence instruction: the template's, that of appendix B.2, and that of section 3.4."""

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


_CONFIDENCE: dict[Prompt, str] = {
    "b1": f"After providing your answer, r{_RATE}",
    "b2": f"R{_RATE}",
    "s34": (
        "Then, provide your confidence as an integer between {l} and {u}, where {l} means no confidence and {u} means "
        "absolute certainty."
    ),
}


_CHOICES: dict[Prompt, str] = {"b1": "\n\nChoices:\n", "b2": "\nChoices: ", "s34": "\n\nChoices:\n"}
_FORMAT = "Respond in the following format only:\n"
_OBJECT = "Respond with a JSON object with the following keys only:\n"
_GUESSES = f"Give your {TOP_K} best guesses, the best first, each with its own confidence.\n"


_GUESSES_FORMAT = Format(
    tuple(f"{label} {i}:" for i in range(1, TOP_K + 1) for label in ("Answer", "Confidence")),
    placeholder="<your guess>",
    answer_index=0,
)


def reply_format(kind: Kind, elicitation: Elicitation) -> Format:
    """Return the format that the prompt asks for; numerical questions ask for a solution with ``verbal``, too."""
    if elicitation == "top_k":
        return _GUESSES_FORMAT
    if kind == "number":
        return Format(("Final Answer:", "Confidence:"), "Solution:", "<numerical answer>")
    return Format(reasoning_label="Reasoning:") if elicitation == "cot" else ANSWER_AND_CONFIDENCE


def scale_prompt(
    question: Question, scale: Scale, elicitation: Elicitation = "verbal", prompt: Prompt = "b1"
) -> str:
    """Return the prompt for ``question`` on ``scale``, in one of the paper's wordings.

    Questions with a numerical answer use the paper's variant for GSM8K, which asks for the solution first. For these
    questions, ``cot`` and ``verbal`` give the same prompt.

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
    return (
        _request(question, scale, elicitation, prompt)
        + _FORMAT
        + reply_format(question.kind, elicitation).template(scale)
    )


def _object_prompt(question: Question, scale: Scale, elicitation: Elicitation, prompt: Prompt) -> str:
    """Return the prompt for a reply that is a JSON object."""
    described = reply_format(question.kind, elicitation).as_object().template(scale)
    return _request(question, scale, elicitation, prompt) + _OBJECT + described


def _request(question: Question, scale: Scale, elicitation: Elicitation, prompt: Prompt) -> str:
    """Return the part of a prompt before the format of the reply."""
    task = _TASK["number" if question.kind == "number" else "answer"].format(question=question.text)
    options = "\n".join(f"{letter}) {text}" for letter, text in question.options.items())
    choices = _CHOICES[prompt] + options if options else ""
    confidence = _CONFIDENCE[prompt].format(l=scale.lower, u=scale.upper)
    guesses = _GUESSES if elicitation == "top_k" else ""
    return f"{task}{choices}\n\n{confidence}\n\n{guesses}"


def reply_in_format(
    question: Question,
    guesses: Sequence[tuple[str, int]],
    elicitation: Elicitation = "verbal",
    *,
    reasoning: str = "",
) -> str:
    r"""Return a reply in the format that the prompt asks for.

    ``guesses`` holds answers and their confidences on the scale, best first. Only ``top_k`` replies show more than one.

    Examples
    --------
    >>> question = Question("q-1", "demo", "Is the sky blue?", "choice", "A", ("Yes", "No"))
    >>> reply_in_format(question, [("A", 17)])
    'Answer: A\nConfidence: 17'
    """
    form = reply_format(question.kind, elicitation)
    if is_structured(question):
        return _object_reply(question, guesses, form.as_object(), reasoning)
    values = [str(value) for guess in guesses for value in guess]
    return form.fill(reasoning, values)


def _object_reply(
    question: Question, guesses: Sequence[tuple[str, int]], form: Format, reasoning: str
) -> str:
    """Return a reply that is a JSON object."""
    values = [
        value for answer, confidence in guesses for value in (answer_value(question, answer), confidence)
    ]
    values = (values + values[-2:] * len(form.labels))[: len(form.labels)]
    before = [reasoning] if form.reasoning_label else []
    return json.dumps(dict(zip(form.key_names(), [*before, *values], strict=True)))


def _object_schemas(question: Question, condition: str) -> dict[str, Mapping[str, Any]]:
    """Return the schema of each value of a JSON object."""
    form = _form_asked(question).as_object()
    text, values = {"type": "string"}, (answer_schema(question), {"type": "integer"})
    schemas = dict.fromkeys(form.key_names(), text)
    return {**schemas, **{label.rstrip(":"): values[i % 2] for i, label in enumerate(form.labels)}}


def _write_object(question: Question, values: Mapping[str, Any]) -> str:
    """Return the values of a JSON object in the format of a text."""
    form = _form_asked(question)
    texts = [on_one_line(values[key]) for key in form.as_object().key_names()]
    return form.fill(texts[0], texts[-len(form.labels) :])


def _form_asked(question: Question) -> Format:
    """Return the format that a question of the study is asked in."""
    return reply_format(question.kind, question.metadata["elicitation"])


# Questions and calls ------------------------------------------------------------------------------------------

PAPER_SIZES = {"mmlu": 1000}
"""Default number of questions of a source; all questions of the sources that are not listed."""


def scale_questions(parameters: Mapping[str, Any]) -> list[Question]:
    """Return the questions of every source; raise ValueError if two sources share a name.

    Every name is checked before the first source is loaded, which may be a download.
    """
    questions: list[Question] = []
    sources = parse_list(parameters["sources"], "sources")
    for source in sources:
        require_known(source)
    for source in sources:
        n = parameters["n"]
        if n is None and source in PAPER_SIZES:
            n = PAPER_SIZES[source] + parameters["fewshot"]
        loaded = load(source, n=n, seed=parameters["seed"], mirror=parameters["mirror"])
        require_keys(loaded, source)
        if (name := loaded[0].source) in {question.source for question in questions}:
            raise ValueError(
                f"{source} and another of the sources are both named {name}: rename one of the files"
            )
        questions += [question.with_metadata(elicitation=parameters["elicitation"]) for question in loaded]
    return questions


def scale_stages(parameters: Mapping[str, Any]) -> list[Stage]:
    """Return the study's only stage."""

    def ask(question: Question, condition: str, replies: Replies) -> str:
        return scale_prompt(question, Scale.parse(condition), parameters["elicitation"], parameters["prompt"])

    def ask_object(question: Question, condition: str, replies: Replies) -> str:
        return _object_prompt(
            question, Scale.parse(condition), parameters["elicitation"], parameters["prompt"]
        )

    return [Stage("answer", ask, structured=Structured(_object_schemas, ask_object, _write_object))]


# The simulated subject -----------------------------------------------------------------------------------------


def out_of_format(answer: str, raw: int, scale: Scale) -> list[str]:
    """Return replies that depart from the format; the last two have no confidence."""
    return [
        f"**Answer:** {answer}\n**Confidence:** {raw}",
        f"Answer: {answer}\nConfidence: {raw}/{scale.upper}",
        f"Confidence: {raw}\nAnswer: {answer}",
        f"Let me think about it.\n\nAnswer: {answer}\n\nConfidence: about {raw}",
        f"The answer is {answer}, and my confidence is {raw}.",
        f"Answer: {answer}\nConfid",
        REFUSAL,
    ]


def respond(question: Question, request: StageRequest) -> Reply:
    """Answer ``question`` and report a confidence, in the requested format unless the subject is sloppy."""
    scale, subject, seed = Scale.parse(request.condition), request.subject, request.seed
    decision = subject.decide(question.id, scale.label, seed)
    text = answer(question, correct=decision.correct, seed=seed)
    key = (seed, question.id, scale.label)
    raw = report_confidence(decision.confidence, scale, subject, *key)
    guesses = ranked_guesses(question, text, raw, lower=scale.lower, size=TOP_K)
    elicitation = question.metadata.get("elicitation", "verbal")
    reply = reply_in_format(question, guesses, elicitation, reasoning="I worked it out step by step.")
    reply = apply_sloppiness(reply, subject, *key, variants=out_of_format(text, raw, scale))
    return Reply(reply, decision.confidence)


SHOWN_CONFIDENCE = (0.95, 0.3, 0.85, 0.1, 0.7, 0.55, 0.4, 1.0)
"""Confidences of the worked examples, in turn. Examples below one half have a wrong answer, so that they show the use
of low confidences and favour neither end of the scale."""

REASONING = "I considered what the question asks and chose accordingly."
"""Reasoning of a worked example whose source has no worked solution."""


def worked_example(question: Question, condition: str, number: int) -> str:
    """Return a reply in the requested format, as a worked example."""
    scale, confidence = Scale.parse(condition), SHOWN_CONFIDENCE[number % len(SHOWN_CONFIDENCE)]
    raw = round(scale.lower + confidence * scale.width)
    # The wrong answer to a text question is "not" and the key, which would show the key.
    correct = confidence >= 0.5 or question.kind == "text"
    best = answer(question, correct=correct, seed="fewshot")
    guesses = ranked_guesses(question, best, raw, lower=scale.lower, size=TOP_K)
    reasoning = question.metadata.get("solution", REASONING)
    return reply_in_format(question, guesses, question.metadata["elicitation"], reasoning=reasoning)
