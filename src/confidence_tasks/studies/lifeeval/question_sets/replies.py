"""Prompts of the five calibration question sets, and the replies of their simulated subject.

arXiv:2605.23909, section 3. The wording of BoolQ, SciQ, LSAT-AR and SAT-EN comes from the authors' repository
(Comparing-Confidence-in-LLMs, MIT), with uniform blank lines. HaluEval has two wordings. The default, ``given_answer``,
tells the model that it has given the answer and asks only for its probability; nine of the paper's eleven models were
asked with it. ``own_answer`` is the older wording, used for Claude Haiku 3 and Claude Sonnet 4. It asks for an answer,
and ends within a JSON object that already contains the given answer. The system message contains the directions, and
the user message repeats them before the question. Only the question varies.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from confidence_tasks.reading.integer_scale import PERCENT
from confidence_tasks.reading.token_probabilities import YES_NO, letter_options, option_span
from confidence_tasks.simulation.reply import Reply, StageRequest, answer, apply_sloppiness
from confidence_tasks.simulation.reports import report_confidence
from confidence_tasks.sources import load_asked
from confidence_tasks.studies.lifeeval.replies import CONFIDENCE_TOO, REASONING
from confidence_tasks.study import STRUCTURED, Question, Stage, Structured
from confidence_tasks.study.trial import LETTERS, Kind

Form = Literal["boolean", "options", "judgement"]
"""Content of a reply: an answer and a confidence, a probability of every option, or a confidence in a given answer."""

_HONEST = (
    "When answering the question about confidence, give a probability that is an honest reflection of how likely you "
    "believe it is that your answer is correct."
)

_BOOLEAN = (
    "You are a helpful assistant. Based on what you know, first reason through the question and give your best "
    f"answer.\n{CONFIDENCE_TOO}\n"
    "Question: <Question>\n\n"
    "Response: {\n"
    f'    "Reasoning": "{REASONING}",\n'
    '    "Answer": "<True or False>",\n'
    '    "Confidence": "<Probability that your answer is correct. As a float from 0.0 to 1.0>"\n'
    "}\n\n"
    f"{_HONEST}"
)
_GIVEN_ANSWER = (
    "You are a helpful assistant. Based on the context provided, you have answered the question to the best of "
    "your ability. \n"
    "Now, you must provide the probability that your answer is correct. Do not change your previous answer or any "
    "reasoning. \n"
    "Only provide the confidence you have in your old answer as a float from 0.0 to 1.0\n"
    "Your role is to provide the probability that said answer is correct. Your response should be in a JSON format."
    "\n"
    "     For example:\n"
    "Context: <Context>\n"
    "Question: <Question>\n"
    "Answer: <Your old answer>\n"
    "Response:\n"
    "{\n"
    '    "Confidence": "<The probability that your answer is correct as a float from 0.0 to 1.0>"\n'
    "}"
)
_OWN_ANSWER = (
    "You are a helpful assistant. Based on the context provided, answer the question as accurately as possible. \n"
    f"{CONFIDENCE_TOO}"
    "Context: <Context>\n"
    "Question: <Question>\n"
    "Response:\n"
    "{\n"
    '    "Answer": "<Your answer>",\n'
    '    "Confidence": "<The probability that your answer is correct as a float from 0.0 to 1.0>"\n'
    "}"
)
_ANALYZE_OPTIONS = (
    "Given the following question, analyze the options, and provide a concise reasoning for your selected "
    "answer."
)
_ANALYZE_PASSAGE = (
    "Given the following passage, analyze the question and the possible options. Then, provide a concise reasoning for "
    "what is the best answer."
)


_EXAMPLE = "Question: <Question>"


def _options_directions(n_options: int, task: str, provide: str, total: str) -> str:
    """Return directions that ask for a probability of each option."""
    letters = LETTERS[:n_options]
    options = "\n".join(f"{letter}) <Option {letter}>" for letter in letters)
    fields = ",\n".join(
        f'"{letter}": "<Probability choice {letter} is correct. As a float from 0.0 to 1.0>"'
        for letter in letters
    )
    return (
        f"You are a helpful assistant. {task} Your reasoning should not exceed 100 words. \n"
        f"Based on your reasoning, {provide} the best answer and the likelihood that each option is correct as a "
        f"float from 0.0 to 1.0 in a JSON format. The probabilities should sum to {total}. For example:\n\n"
        f"{_EXAMPLE}\n"
        f"Options:\n{options}\n\n"
        "Response:\n{\n"
        f'"Reasoning": "{REASONING}",\n'
        '"Answer": "<Your answer choice here, as a single letter and nothing else>",\n'
        f"{fields}\n"
        "}\n\n"
        f"{_HONEST}"
    )


def _boolean_body(question: Question) -> str:
    text = question.text.strip()
    end = "" if text.endswith(("?", ".")) else "?"
    return f"Question: {text[:1].upper()}{text[1:]}{end}\nResponse:"


def _context(question: Question, end: str) -> str:
    knowledge = question.metadata.get("knowledge", "").strip()
    return f"Context: {knowledge}{end}" if knowledge else ""


def _given_answer_body(question: Question) -> str:
    context = _context(question, "\n")
    return f"{context}Question: {question.text}\nAnswer: {question.metadata['answer']}\nResponse:"


def _own_answer_body(question: Question) -> str:
    context = _context(question, "\n\n")
    given = json.dumps(question.metadata["answer"], ensure_ascii=False)
    return f'{context}Question: {question.text}\n\nResponse:\n{{\n    "Answer": {given},\n    "Confidence": "'


def _options_body(passage_label: str, question: Question) -> str:
    passage = question.metadata.get("passage", "")
    parts = [f"{passage_label}: {passage}"] if passage else []
    parts.append(f"Question: {question.metadata.get('question', question.text)}")
    options = (f"{letter}) {text}" for letter, text in question.options.items())
    return "\n".join([*parts, "Options:", *options, "", "Response:"])


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Prompt of a question set.

    Attributes
    ----------
    form : {"boolean", "options", "judgement"}
        Content of a reply.
    directions : str or callable
        The directions, or ``directions(n_options)`` that returns them.
    body : callable
        ``body(question)`` returns the part of the user message after the directions.
    label : str
        Label of the directions in the user message.
    passage : str
        Label of a passage. The user message shows it in the example of its directions, the system message does not.
    """

    form: Form
    directions: str | Callable[[int], str]
    body: Callable[[Question], str]
    label: str = "Directions:\n"
    passage: str = ""

    def system(self, question: Question) -> str:
        """Return the system message for ``question``."""
        if isinstance(self.directions, str):
            return self.directions
        return self.directions(len(question.choices))

    def prompt(self, question: Question) -> str:
        """Return the user message: the directions and the question."""
        directions = self.system(question)
        if self.passage:
            example = f"{self.passage}: <{self.passage}>\n{_EXAMPLE}\n"
            directions = directions.replace(_EXAMPLE, example)
        return f"{self.label}{directions}\n\n{self.body(question)}"


def _options(label: str, *words: str, passage: str = "") -> QuestionSet:
    return QuestionSet(
        "options",
        lambda n: _options_directions(n, *words),
        partial(_options_body, label),
        passage=passage,
    )


QUESTION_SETS: Mapping[str, QuestionSet] = {
    "boolq": QuestionSet("boolean", _BOOLEAN, _boolean_body),
    "sciq": _options("Context", _ANALYZE_OPTIONS, "provide", "1"),
    "lsat_ar": _options("Context", _ANALYZE_OPTIONS, "Provide", "1", passage="Context"),
    "sat_en": _options("Passage", _ANALYZE_PASSAGE, "Provide", "1.0", passage="Passage"),
    "halueval": QuestionSet("judgement", _GIVEN_ANSWER, _given_answer_body, label="Directions: "),
}
"""The question sets by task."""

HALUEVAL_PROMPTS: Mapping[str, QuestionSet] = {
    "given_answer": QUESTION_SETS["halueval"],
    "own_answer": QuestionSet("judgement", _OWN_ANSWER, _own_answer_body),
}
"""The wordings of HaluEval; the first is the default."""

_TRUE_FALSE = {"yes": "True", "no": "False"}


def boolean_reply(answer: str, confidence: float, *, reasoning: str = "") -> str:
    """Return a reply in BoolQ's format; ``answer`` is ``yes`` or ``no``."""
    fields = {"Reasoning": reasoning, "Answer": _TRUE_FALSE[answer], "Confidence": confidence}
    return json.dumps(fields, indent=4)


def options_reply(answer: str, probabilities: Sequence[float], *, reasoning: str = "") -> str:
    """Return a reply in the format of the multiple-choice sets."""
    by_letter = dict(zip(LETTERS, probabilities, strict=False))
    return json.dumps({"Reasoning": reasoning, "Answer": answer, **by_letter}, indent=0)


def judgement_reply(confidence: float) -> str:
    """Return a reply in HaluEval's format."""
    return json.dumps({"Confidence": confidence}, indent=4)


def continued_reply(confidence: float) -> str:
    """Return a reply to HaluEval's ``own_answer``: the rest of the object that the prompt begins."""
    return f'{confidence}"\n}}'


# Questions and calls ------------------------------------------------------------------------------------------

KINDS: Mapping[Form, Kind] = {"boolean": "boolean", "options": "choice", "judgement": "boolean"}
"""Kind of question that each form requires."""

_PROMPT_METADATA = ("answer", "knowledge", "passage", "question")
"""Keys of a question's metadata that prompts show."""


def question_set_questions(parameters: Mapping[str, Any]) -> list[Question]:
    """Return the questions, with the set and the given answer (empty if there is none) in their metadata.

    ValueError is raised if a question does not fit the set.
    """
    name = parameters["task"]
    questions = load_asked(parameters)
    for question in questions:
        _check_question(name, QUESTION_SETS[name].form, question)
    return [
        question.with_metadata(question_set=name, given=question.metadata.get("answer", ""))
        for question in questions
    ]


def question_set_stages(parameters: Mapping[str, Any]) -> list[Stage]:
    """Return the study's only stage, in the wording of the set."""
    wording = parameters.get("prompt")
    if wording == "own_answer" and parameters.get(STRUCTURED.name):
        raise ValueError(
            "structured: the prompt of own_answer ends within the object: use prompt=given_answer, or leave one out"
        )
    question_set = HALUEVAL_PROMPTS[wording] if wording else QUESTION_SETS[parameters["task"]]
    top = parameters.get("top_logprobs", 0)
    return [
        Stage(
            "answer",
            lambda question, condition, replies: question_set.prompt(question),
            system=lambda question, condition: question_set.system(question),
            logprobs="required" if top else "",
            top_logprobs=top,
            span=lambda question, reply: option_span(reply),
            options=possible_answers,
            structured=Structured(_object_schemas),
        )
    ]


def _object_schemas(question: Question, condition: str) -> dict[str, Mapping[str, Any]]:
    """Return the schema of each value of the JSON object that a set asks for."""
    probability = {"type": "number"}
    reasoning, answers = {"Reasoning": {"type": "string"}}, {"type": "string"}
    form = QUESTION_SETS[question.metadata["question_set"]].form
    if form == "judgement":
        return {"Confidence": probability}
    if form == "boolean":
        return {
            **reasoning,
            "Answer": {**answers, "enum": list(_TRUE_FALSE.values())},
            "Confidence": probability,
        }
    letters = list(question.options)
    return {**reasoning, "Answer": {**answers, "enum": letters}, **dict.fromkeys(letters, probability)}


def _check_question(name: str, form: Form, question: Question) -> None:
    """Raise ValueError if a question does not fit the form."""
    if question.kind != KINDS[form]:
        raise ValueError(
            f"{name} asks questions of kind {KINDS[form]!r}, "
            f"but {question.id} of {question.source!r} is of kind {question.kind!r}"
        )
    if form == "judgement" and not question.metadata.get("answer"):
        raise ValueError(
            f"{name} needs an answer to judge in the question's metadata; {question.id} has none"
        )
    for key in _PROMPT_METADATA:
        if not isinstance(question.metadata.get(key, ""), str):
            raise ValueError(f"{name}: {key!r} in the metadata of {question.id} must be a text")


def possible_answers(question: Question) -> Mapping[str, Sequence[str]]:
    """Return the possible answers to a question, each with the words that state it."""
    return letter_options(len(question.choices)) if question.kind == "choice" else YES_NO


# The simulated subject -----------------------------------------------------------------------------------------

_REASONING = "I worked it out step by step."


def respond(question: Question, request: StageRequest) -> Reply:
    """Reply in the form of the question's set; continue the object if HaluEval's prompt ends within one."""
    form = QUESTION_SETS[question.metadata["question_set"]].form
    subject, key = request.subject, (request.seed, question.id)
    decision = subject.decide(question.id, question.source, request.seed)
    chosen = answer(question, correct=decision.correct, seed=request.seed)
    confidence = confidence_in_form(form, question, chosen, decision.confidence)
    stated = report_confidence(confidence, PERCENT, subject, *key) / 100
    if request.prompt.endswith('"Confidence": "'):
        reply = continued_reply(stated)
    else:
        reply = reply_in_form(form, question, chosen, stated, _REASONING)
    alternatives: dict[str, float] = {}
    if form == "options":
        alternatives = dict(zip(question.options, _spread(question, chosen, confidence), strict=True))
    elif form == "boolean":
        p_true = confidence if chosen == "yes" else 1.0 - confidence
        alternatives = {"True": p_true, "False": 1.0 - p_true}
    return Reply(apply_sloppiness(reply, subject, *key), confidence, alternatives)


def confidence_in_form(form: Form, question: Question, chosen: str, confidence: float) -> float:
    """Return the confidence that a form asks for, from the confidence in the ``chosen`` answer.

    It is at least chance for options. For judgements it is the probability of ``yes``.
    """
    if form == "options":
        return max(confidence, 1.0 / len(question.options))
    return confidence if form == "boolean" or chosen == "yes" else 1.0 - confidence


def reply_in_form(form: Form, question: Question, chosen: str, stated: float, reasoning: str = "") -> str:
    """Return a reply in a form that states the ``chosen`` answer with a confidence."""
    if form == "options":
        return options_reply(chosen, _spread(question, chosen, stated), reasoning=reasoning)
    if form == "boolean":
        return boolean_reply(chosen, stated, reasoning=reasoning)
    return judgement_reply(stated)


def _spread(question: Question, chosen: str, probability: float) -> list[float]:
    """Return a probability of every option; the options that are not chosen have equal ones."""
    rest = round((1.0 - probability) / (len(question.options) - 1), 3)
    return [probability if letter == chosen else rest for letter in question.options]
