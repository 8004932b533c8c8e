"""How a simulated subject, parser and judge reply where a wrong answer costs a penalty and one may abstain.

Without an error a parser finds what the rules find, and a judge finds right what names the key.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence

import numpy as np

from confidence_tasks.reading.answers import read_answer
from confidence_tasks.reading.grading import grade
from confidence_tasks.report.power import Draws, EffectParameter, PowerDesign, decide
from confidence_tasks.report.task_trials import Columns
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
from confidence_tasks.simulation.subject import Subject, expected_values, uniform
from confidence_tasks.studies.riskeval.measures import MEASURES, OVER_PENALTIES, riskeval_trial
from confidence_tasks.studies.riskeval.replies import (
    ABSTAIN,
    JUDGE_SYSTEM,
    PARSER_SYSTEM,
    PENALTIES,
    penalty_of,
    read_risk_reply,
)
from confidence_tasks.studies.riskeval.replies import condition_of as condition_of_penalty
from confidence_tasks.studies.scales.replies import (
    PERCENT,
    report_confidence,
    report_distribution,
    simulated_reports,
)
from confidence_tasks.study.trial import LETTERS, Kind, Question


def in_other_words(decided: str, percent: int) -> list[str]:
    """Return ways to put a decision in other words; the last two leave out what was asked for."""
    return [
        f"**Answer:** {decided}\n\n**Confidence level:** {percent / 100:g}",
        f'```json\n{{"answer": "{decided}", "confidence": {percent / 100:g}}}\n```',
        f"Let me think about the scoring rule.\n\nFinal answer: {decided}\n\nConfidence: about {percent}%",
        f"Answer: {decided}\nConfidence: {percent} out of 100",
        f"Answer: {decided}\nI am {percent}% confident.",
        f"Answer: {decided}",
        REFUSAL,
    ]


def respond(question: Question, request: StageRequest) -> Reply:
    """Answer ``question``, or abstain, as the subject's policy has it for the confidence that it states."""
    penalty, subject, seed = penalty_of(request.condition), request.subject, request.seed
    decision = subject.decide(question.id, request.condition, seed)
    key = (seed, question.id, penalty)
    percent = report_confidence(decision.confidence, PERCENT, subject, *key)
    reply, decided = _decided(question, subject, penalty, percent, correct=decision.correct, seed=seed)
    otherwise = in_other_words(decided, percent)
    return Reply(apply_sloppiness(reply, subject, *key, variants=otherwise), decision.confidence)


def _decided(
    question: Question, subject: Subject, penalty: float, percent: int, *, correct: bool, seed: str
) -> tuple[str, str]:
    """Return the reply of a subject that states a confidence, and what it decides: an answer, or to abstain."""
    if percent / 100 < subject.answering_threshold(penalty):
        return f"{ABSTAIN}\nConfidence: {percent}%", ABSTAIN
    chosen = answer(question, correct=correct, seed=seed)
    return f"Answer: {chosen}\nConfidence: {percent}%", chosen


def true_values(subject: Subject, condition: str, *run: object) -> dict[str, float]:
    """Return what a subject's measures under a penalty are in the long run, whatever the run.

    What is recalibrated has no such value, as it depends on the number of questions.

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
        reply, decided = _decided(question, subject, penalty, percent, correct=correct, seed="0")
        for text, probability in reply_probabilities(reply, subject, in_other_words(decided, percent)):
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
    """Return a simulated parser's JSON: what the rules find in the reply that the prompt quotes.

    A parser is not told what kind of answer is asked for: without options it takes the reply for a short text.
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
    right = any(grade(answer, kind=kind, gold=keys[0], aliases=keys[1:]) == 1.0 for kind in kinds)
    rate = role.false_wrong if right else role.false_right
    errs = uniform(seed, prompt, "verdict") < rate
    return json.dumps({"correct": right != errs, "normalized_model_answer": answer})


def _options(prompt: str) -> tuple[str, ...]:
    """Return the options that a prompt lists."""
    listed = _OPTIONS.search(prompt)
    return tuple(_NEXT_OPTION.split(listed[1])) if listed else ()


SIMULATED_ROLES: tuple[RoleResponder, ...] = (
    (re.compile(re.escape(PARSER_SYSTEM)), parse),
    (re.compile(re.escape(JUDGE_SYSTEM)), judge),
)
"""Text by which prompts to a parser and to a judge are recognised, and how they are replied to."""


def _risk_replies(subject: Subject, draws: Sequence[Draws], condition: str) -> Columns:
    """Return whether the subject answers under each penalty, by the confidence that it states."""
    replies = {}
    for penalty, of_reply in zip(PENALTIES, draws, strict=True):
        label = condition_of_penalty(penalty)
        _, confidence = decide(subject, of_reply, label)
        stated = simulated_reports(subject, confidence, PERCENT, of_reply) / PERCENT.width
        replies[label] = (stated >= subject.answering_threshold(penalty)).astype(np.float64)
    return replies


def _risk_trials(replies: Columns, condition: str) -> Columns:
    answered = np.stack(list(replies.values()), axis=1)
    return {"answered": answered.ravel(), "penalty": np.tile(np.array(PENALTIES), len(answered))}


def _all_penalties(condition: str) -> str:
    if condition != "all":
        raise ValueError(f"condition {condition!r}: the slope is over all penalties; leave it out")
    return condition


POWER = PowerDesign(
    condition="all",
    read_condition=_all_penalties,
    n_replies=len(PENALTIES),
    replies=_risk_replies,
    trials=_risk_trials,
    effects={"abstention_slope": EffectParameter("risk_sensitivity", 0.0, 2.0)},
    every_measure=OVER_PENALTIES,
)
