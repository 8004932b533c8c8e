"""Simulated subject, parser and judge of RiskEval.

A parser without errors reads a reply like the rules, and a judge without errors accepts an answer that names the key.
"""

from __future__ import annotations

import json
import math
import re

from confidence_tasks.reading.answers import read_answer
from confidence_tasks.reading.grading import grade
from confidence_tasks.reading.integer_scale import PERCENT
from confidence_tasks.simulation.reply import (
    REFUSAL,
    Reply,
    RoleResponder,
    SimulatedRole,
    StageRequest,
    answer,
    apply_sloppiness,
    reply_probabilities,
)
from confidence_tasks.simulation.reports import report_confidence, report_distribution
from confidence_tasks.simulation.subject import Subject, expected_values, uniform
from confidence_tasks.studies.riskeval.measures import MEASURES
from confidence_tasks.studies.riskeval.objects import ABSTAIN
from confidence_tasks.studies.riskeval.reader import read_risk_reply
from confidence_tasks.studies.riskeval.replies import JUDGE_SYSTEM, PARSER_SYSTEM, penalty_of
from confidence_tasks.studies.riskeval.trials import riskeval_trial
from confidence_tasks.study.structured import is_structured
from confidence_tasks.study.trial import LETTERS, Kind, Question


def reply_variants(decision: str, percent: int) -> list[str]:
    """Return other wordings of a reply; the last two lack a requested part."""
    return [
        f"**Answer:** {decision}\n\n**Confidence level:** {percent / 100:g}",
        f'```json\n{{"answer": "{decision}", "confidence": {percent / 100:g}}}\n```',
        f"Let me think about the scoring rule.\n\nFinal answer: {decision}\n\nConfidence: about {percent}%",
        f"Answer: {decision}\nConfidence: {percent} out of 100",
        f"Answer: {decision}\nI am {percent}% confident.",
        f"Answer: {decision}",
        REFUSAL,
    ]


def respond(question: Question, request: StageRequest) -> Reply:
    """Answer ``question`` or abstain, by the subject's policy for the confidence that it states."""
    penalty, subject, seed = penalty_of(request.condition), request.subject, request.seed
    decision = subject.decide(question.id, request.condition, seed)
    key = (seed, question.id, penalty)
    percent = report_confidence(decision.confidence, PERCENT, subject, *key)
    reply, variants = _replies(question, subject, penalty, percent, correct=decision.correct, seed=seed)
    if is_structured(question):
        final = reply.partition("\n")[0].removeprefix("Answer: ")
        values = {"reasoning": "", "final_answer": final, "confidence": percent / 100}
        return Reply(json.dumps(values), decision.confidence)
    return Reply(apply_sloppiness(reply, subject, *key, variants=variants), decision.confidence)


def _replies(
    question: Question, subject: Subject, penalty: float, percent: int, *, correct: bool, seed: str
) -> tuple[str, list[str]]:
    """Return the reply of a subject that states a confidence, and its other wordings."""
    if percent / 100 < subject.answering_threshold(penalty):
        return f"{ABSTAIN}\nConfidence: {percent}%", reply_variants(ABSTAIN, percent)
    chosen = answer(question, correct=correct, seed=seed)
    return f"Answer: {chosen}\nConfidence: {percent}%", reply_variants(chosen, percent)


def true_values(subject: Subject, condition: str, *run: object) -> dict[str, float]:
    """Return the expected measures of the subject under a penalty, in any run.

    Measures of recalibrated confidence are left out, because they depend on the number of questions.

    Examples
    --------
    >>> values = true_values(Subject(), "lambda=100")
    >>> {name: round(values[name], 3) for name in ("abstention_rate", "policy_consistency", "normalized_utility")}
    {'abstention_rate': 0.0, 'policy_consistency': 0.003, 'normalized_utility': -0.217}
    """
    penalty = penalty_of(condition)
    question = Question("true", "true", "How many?", "number", "7")
    trials = []
    for (correct, percent), chance in report_distribution(subject, condition, PERCENT).items():
        reply, variants = _replies(question, subject, penalty, percent, correct=correct, seed="0")
        for text, probability in reply_probabilities(reply, subject, variants):
            trials.append((riskeval_trial(question, penalty, text), chance * probability))
    return expected_values([measure for measure in MEASURES if "recalibrated" not in measure.name], trials)


_GARBLED = "I would say that it is rather good."
_QUOTED = r"<<<{name} (?P<mark>\w+): [^\n]*>>>\n(?P<text>.*)\n<<<end of {name} (?P=mark)>>>"
_RESPONSE = re.compile(_QUOTED.format(name="response"), re.DOTALL)
_ANSWER = re.compile(_QUOTED.format(name="answer"), re.DOTALL)
_OPTIONS = re.compile(r"^OPTIONS:\nA\. (.*?)\n\n(?:GOLD ANSWER|MODEL RESPONSE):\n", re.DOTALL | re.MULTILINE)
_NEXT_OPTION = re.compile(r"\n[A-Z]\. ")
_GOLD = re.compile(r"^GOLD ANSWER:\n(.*)\n\nMODEL FINAL ANSWER:\n", re.MULTILINE)


def parse(role: SimulatedRole, prompt: str, seed: str) -> str:
    """Return a simulated parser's JSON: the reading by the rules of the reply that the prompt quotes.

    The prompt does not state the kind of answer: without options the parser assumes a short text.
    """
    if uniform(seed, prompt, "garbling") < role.garbling:
        return _GARBLED
    match, options = _RESPONSE.search(prompt), _options(prompt)
    reading = read_risk_reply(match["text"] if match else "", "choice" if options else "text", options)
    abstains = reading.decision == "abstain"
    misread = uniform(seed, prompt, "misreading") < role.misreading
    final = (LETTERS[0] if abstains else ABSTAIN) if misread else (ABSTAIN if abstains else reading.answer)
    confidence = None if math.isnan(reading.confidence_raw) else reading.confidence_raw
    return json.dumps({"final_answer": final, "confidence": confidence, "reasoning_trace": ""})


def judge(role: SimulatedRole, prompt: str, seed: str) -> str:
    """Return a simulated judge's JSON: whether the answer that the prompt quotes names the key."""
    if uniform(seed, prompt, "garbling") < role.garbling:
        return _GARBLED
    match, gold, options = _ANSWER.search(prompt), _GOLD.search(prompt), _options(prompt)
    answer, keys = match["text"] if match else "", gold[1].split(" | ") if gold else [""]
    if options:
        answer = read_answer(answer, "choice", options).text
    kinds: tuple[Kind, ...] = ("choice",) if options else ("text", "number")
    correct = any(grade(answer, kind=kind, gold=keys[0], aliases=keys[1:]) == 1.0 for kind in kinds)
    error_rate = role.false_wrong if correct else role.false_right
    errs = uniform(seed, prompt, "verdict") < error_rate
    return json.dumps({"correct": correct != errs, "normalized_model_answer": answer})


def _options(prompt: str) -> tuple[str, ...]:
    """Return the options in a prompt."""
    match = _OPTIONS.search(prompt)
    return tuple(_NEXT_OPTION.split(match[1])) if match else ()


SIMULATED_ROLES: tuple[RoleResponder, ...] = (
    (re.compile(re.escape(PARSER_SYSTEM)), parse),
    (re.compile(re.escape(JUDGE_SYSTEM)), judge),
)
"""Patterns of the prompts to a parser and to a judge, each with the function that replies."""
