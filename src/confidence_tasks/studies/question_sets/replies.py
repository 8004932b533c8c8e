"""Replies to the five calibration question sets: what is asked, and how a simulated subject replies.

arXiv:2605.23909, section 3. The wording of BoolQ, SciQ, LSAT-AR and SAT-EN is that of the authors' repository
(Comparing-Confidence-in-LLMs, MIT), with blank lines made uniform. HaluEval has two wordings. ``given_answer``, the
default, tells the model that it has given the answer and asks for its probability alone, as nine of the paper's eleven
models were asked. ``own_answer`` is the older wording, by which Claude Haiku 3 and Claude Sonnet 4 were asked: it asks
for an answer, and the prompt ends within an object in which the given answer stands as a JSON string. The directions
are the system message and stand again before the question. Only the question varies.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from confidence_tasks.reading.token_probabilities import YES_NO, letter_options, option_span
from confidence_tasks.simulation.reply import Reply, StageRequest, answer, apply_sloppiness
from confidence_tasks.sources import load_asked
from confidence_tasks.studies.lifeeval.replies import CONFIDENCE_TOO, REASONING
from confidence_tasks.studies.scales.replies import PERCENT, report_confidence
from confidence_tasks.study import Question, Stage
from confidence_tasks.study.trial import LETTERS

Form = Literal["boolean", "options", "judgement"]
"""An answer and a confidence; a probability for every option; a confidence in an answer that is given."""

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


def _options_directions(choices: int, task: str, provide: str, total: str, shown: str) -> str:
    """Return directions that ask for a probability of each option."""
    options = "\n".join(f"{letter}) <Option {letter}>" for letter in LETTERS[:choices])
    fields = ",\n".join(
        f'"{letter}": "<Probability choice {letter} is correct. As a float from 0.0 to 1.0>"'
        for letter in LETTERS[:choices]
    )
    return (
        f"You are a helpful assistant. {task} Your reasoning should not exceed 100 words. \n"
        f"Based on your reasoning, {provide} the best answer and the likelihood that each option is correct as a "
        f"float from 0.0 to 1.0 in a JSON format. The probabilities should sum to {total}. For example:\n\n"
        f"{shown}\n"
        f"Options:\n{options}\n\n"
        "Response:\n{\n"
        f'"Reasoning": "{REASONING}",\n'
        '"Answer": "<Your answer choice here, as a single letter and nothing else>",\n'
        f"{fields}\n"
        "}\n\n"
        f"{_HONEST}"
    )


def _boolean_body(question: Question) -> str:
    sentence = question.text.strip()
    asked = sentence[:1].upper() + sentence[1:]
    return f"Question: {asked if asked.endswith(('?', '.')) else asked + '?'}\nResponse:"


def _context(question: Question, end: str) -> str:
    knowledge = question.metadata.get("knowledge", "").strip()
    return f"Context: {knowledge}{end}" if knowledge else ""


def _given_answer_body(question: Question) -> str:
    asked = f"Question: {question.text}\nAnswer: {question.metadata['answer']}\nResponse:"
    return _context(question, "\n") + asked


def _own_answer_body(question: Question) -> str:
    given = json.dumps(question.metadata["answer"], ensure_ascii=False)
    asked = f'Question: {question.text}\n\nResponse:\n{{\n    "Answer": {given},\n    "Confidence": "'
    return _context(question, "\n\n") + asked


def _options_body(passage_label: str, question: Question) -> str:
    passage = question.metadata.get("passage", "")
    parts = [f"{passage_label}: {passage}"] if passage else []
    parts.append(f"Question: {question.metadata.get('question', question.text)}")
    options = (f"{letter}) {text}" for letter, text in question.options.items())
    return "\n".join([*parts, "Options:", *options, "", "Response:"])


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Prompt of one of the question sets.

    Attributes
    ----------
    form : {"boolean", "options", "judgement"}
        What a reply consists of.
    directions : str or callable
        The directions, or the same from the number of options.
    body : callable
        From a question to what follows the directions.
    label : str
        What stands before the directions in the user message.
    """

    form: Form
    directions: str | Callable[[int], str]
    body: Callable[[Question], str]
    label: str = "Directions:\n"

    def system(self, question: Question) -> str:
        """Return the system message for ``question``."""
        given = self.directions
        return given if isinstance(given, str) else given(len(question.choices))

    def prompt(self, question: Question) -> str:
        """Return the user message: the directions again, then the question."""
        return f"{self.label}{self.system(question)}\n\n{self.body(question)}"


def _options(label: str, *words: str) -> QuestionSet:
    return QuestionSet(
        "options", lambda choices: _options_directions(choices, *words), partial(_options_body, label)
    )


QUESTION_SETS: Mapping[str, QuestionSet] = {
    "boolq": QuestionSet("boolean", _BOOLEAN, _boolean_body),
    "sciq": _options("Context", _ANALYZE_OPTIONS, "provide", "1", "Question: <Question>"),
    "lsat_ar": _options(
        "Context", _ANALYZE_OPTIONS, "Provide", "1", "Context: <Context>\nQuestion: <Question>\n"
    ),
    "sat_en": _options(
        "Passage", _ANALYZE_PASSAGE, "Provide", "1.0", "Passage: <Passage>\nQuestion: <Question>\n"
    ),
    "halueval": QuestionSet("judgement", _GIVEN_ANSWER, _given_answer_body, label="Directions: "),
}
"""The question sets by the name of their task."""

HALUEVAL_PROMPTS: Mapping[str, QuestionSet] = {
    "given_answer": QUESTION_SETS["halueval"],
    "own_answer": QuestionSet("judgement", _OWN_ANSWER, _own_answer_body),
}
"""The wordings of HaluEval, the default first."""


def boolean_reply(answer: str, confidence: float, *, reasoning: str = "") -> str:
    """Return the reply that BoolQ's format asks for; ``answer`` is ``yes`` or ``no``."""
    said = {"yes": "True", "no": "False"}[answer]
    return json.dumps({"Reasoning": reasoning, "Answer": said, "Confidence": confidence}, indent=4)


def options_reply(answer: str, probabilities: Sequence[float], *, reasoning: str = "") -> str:
    """Return the reply that a multiple-choice format asks for."""
    stated = dict(zip(LETTERS, probabilities, strict=False))
    return json.dumps({"Reasoning": reasoning, "Answer": answer, **stated}, indent=0)


def judgement_reply(confidence: float) -> str:
    """Return the reply that HaluEval's format asks for."""
    return json.dumps({"Confidence": confidence}, indent=4)


def continued_reply(confidence: float) -> str:
    """Return the reply to HaluEval's ``own_answer``: the rest of the object that the prompt began."""
    return f'{confidence}"\n}}'


# Questions and calls ------------------------------------------------------------------------------------------

_KINDS: dict[Form, str] = {"boolean": "boolean", "options": "choice", "judgement": "boolean"}

_SHOWN = ("answer", "knowledge", "passage", "question")
"""What a prompt shows of a question's metadata."""


def question_set_questions(parameters: Mapping[str, Any]) -> list[Question]:
    """Return questions that can be asked in the form of the set, with the answer that is to be judged, if one is."""
    name = parameters["task"]
    asked = load_asked(parameters)
    for question in asked:
        _check(name, QUESTION_SETS[name].form, question)
    return [
        question.with_metadata(question_set=name, given=question.metadata.get("answer", ""))
        for question in asked
    ]


def question_set_stages(parameters: Mapping[str, Any]) -> list[Stage]:
    """Return the only call, in the wording of the set."""
    named = parameters.get("prompt")
    asked = HALUEVAL_PROMPTS[named] if named else QUESTION_SETS[parameters["task"]]
    top = parameters.get("top_logprobs", 0)
    return [
        Stage(
            "answer",
            lambda question, condition, replies: asked.prompt(question),
            system=lambda question, condition: asked.system(question),
            logprobs="required" if top else "",
            top_logprobs=top,
            span=lambda question, reply: option_span(reply),
            options=answers_of,
        )
    ]


def _check(name: str, form: Form, question: Question) -> None:
    """Refuse a question that does not fit the form."""
    if question.kind != _KINDS[form]:
        raise ValueError(
            f"{name} asks questions of kind {_KINDS[form]!r}, "
            f"but {question.id} of {question.source!r} is of kind {question.kind!r}"
        )
    if form == "judgement" and not question.metadata.get("answer"):
        raise ValueError(
            f"{name} needs an answer to judge in the question's metadata; {question.id} has none"
        )
    for key in _SHOWN:
        if not isinstance(question.metadata.get(key, ""), str):
            raise ValueError(f"{name}: {key!r} in the metadata of {question.id} must be a text")


def answers_of(question: Question) -> Mapping[str, Sequence[str]]:
    """Return what may be answered to a question, with the words that stand for each."""
    return letter_options(len(question.choices)) if question.kind == "choice" else YES_NO


# The simulated subject -----------------------------------------------------------------------------------------

_REASONING = "I worked it out step by step."


def respond(question: Question, request: StageRequest) -> Reply:
    """Reply in the form of the question's set; HaluEval's prompt may break off where the probability stands."""
    form = QUESTION_SETS[question.metadata["question_set"]].form
    subject, key = request.subject, (request.seed, question.id)
    decision = subject.decide(question.id, question.source, request.seed)
    chosen = answer(question, correct=decision.correct, seed=request.seed)
    believed = belief_in_form(
        form, question, {decision.correct: chosen}, decision.confidence, decision.correct
    )
    stated = report_confidence(believed, PERCENT, subject, *key) / 100
    if request.prompt.endswith('"Confidence": "'):
        reply = continued_reply(stated)
    else:
        reply = reply_in_form(form, question, chosen, stated, _REASONING)
    behind: dict[str, float] = {}
    if form == "options":
        behind = dict(zip(question.options, _spread(question, chosen, believed), strict=True))
    elif form == "boolean":
        said_true = believed if chosen == "yes" else 1.0 - believed
        behind = {"True": said_true, "False": 1.0 - said_true}
    return Reply(apply_sloppiness(reply, subject, *key), believed, behind)


def belief_in_form(
    form: Form, question: Question, chosen: Mapping[bool, str], confidence: float, correct: bool
) -> float:
    """Return what is stated in a form: of options at least chance, in judging an answer the chance of ``yes``."""
    if form == "options":
        return max(confidence, 1.0 / len(question.options))
    return confidence if form == "boolean" or chosen[correct] == "yes" else 1.0 - confidence


def reply_in_form(form: Form, question: Question, chosen: str, stated: float, reasoning: str = "") -> str:
    """Return a reply in the form of a question set that names an answer and a confidence."""
    if form == "options":
        return options_reply(chosen, _spread(question, chosen, stated), reasoning=reasoning)
    return (
        boolean_reply(chosen, stated, reasoning=reasoning) if form == "boolean" else judgement_reply(stated)
    )


def _spread(question: Question, chosen: str, probability: float) -> list[float]:
    """Return a probability for every option; those not chosen share what is left."""
    rest = round((1.0 - probability) / (len(question.options) - 1), 3)
    return [probability if letter == chosen else rest for letter in question.options]
