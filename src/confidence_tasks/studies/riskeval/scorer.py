"""RiskEval's scorer on Inspect: a reply is parsed by the rules or a model, and judged by the key or a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from confidence_tasks.harness.inspect.lost import score_of_lost
from confidence_tasks.harness.inspect.roles import ask_role, can_ask
from confidence_tasks.harness.inspect.scoring import replies_of
from confidence_tasks.harness.inspect.viewer import trial_score
from confidence_tasks.harness.parameters import default_stages
from confidence_tasks.harness.stopped import PROBLEMS, FinishedReplies, status_with
from confidence_tasks.harness.trial import record_marks
from confidence_tasks.reading.answers import known_answers
from confidence_tasks.reading.explanation import escape_markdown, explanation
from confidence_tasks.reading.thoughts import strip_thoughts
from confidence_tasks.studies.riskeval.judgements import Fault, read_parser_reply, read_verdict
from confidence_tasks.studies.riskeval.reader import NOT_AN_OPTION, RiskReading, read_risk_reply
from confidence_tasks.studies.riskeval.replies import (
    JUDGE_SYSTEM,
    PARSER_SYSTEM,
    judge_prompt,
    parser_prompt,
    penalty_of,
)
from confidence_tasks.studies.riskeval.trials import needs_judge, option_text, riskeval_trial
from confidence_tasks.study.trial import Question, question_from_metadata


@scorer(metrics=[])
def riskeval_scorer(parser: str = "rules", judge: str = "auto", cache: bool | None = None) -> Scorer:
    """Parse the reply, judge the answer, and return the trial as the score."""
    from confidence_tasks.studies.riskeval import STUDY

    async def score(state: TaskState, target: Target) -> Score:
        if lost := score_of_lost(state.store):
            return lost
        question, condition = question_from_metadata(state.metadata), str(state.metadata["condition"])
        finished = FinishedReplies(STUDY, default_stages(STUDY), question, condition).of(
            replies_of(state, STUDY)
        )
        reply = finished["answer"][0].text
        visible = strip_thoughts(reply)
        reading = await _read(question, visible, state, parser, cache)
        if isinstance(reading, Fault):
            return Score.unscored(reason="parser_failed", explanation=escape_markdown(reading.reason))
        correct = await _judge(question, reading, state, judge, cache)
        if isinstance(correct, Fault):
            return Score.unscored(
                reason="grader_failed", answer=reading.answer, explanation=escape_markdown(correct.reason)
            )
        by_rules = _read_by_rules(question, visible) if parser == "model" else None
        trial = riskeval_trial(question, penalty_of(condition), reading, correct, by_rules)
        record_marks(cast("dict[str, Any]", trial), reply, visible)
        trial["status"] = status_with(finished, trial["status"])
        table = explanation(STUDY, trial, question)
        return trial_score(STUDY, trial, state.metadata, answer=_answer_text(reading), explanation=table)

    return score


async def _read(
    question: Question, reply: str, state: TaskState, parser: str, cache: bool | None
) -> RiskReading | Fault:
    """Read a reply without thoughts by the rules or by the parser's model; an empty reply needs no model."""
    if parser == "rules" or not reply.strip():
        return _read_by_rules(question, reply)

    def read(parsed: str) -> RiskReading | Fault:
        return read_parser_reply(parsed, question)

    parsed = await _ask("parser", PARSER_SYSTEM, parser_prompt(question, reply), state, cache, read)
    return parsed if isinstance(parsed, Fault) else read(parsed)


def _read_by_rules(question: Question, reply: str) -> RiskReading:
    return read_risk_reply(reply, question.kind, known_answers(question))


async def _ask(
    role: str,
    system: str,
    prompt: str,
    state: TaskState,
    cache: bool | None,
    read: Callable[[str], object],
) -> str | Fault:
    """Return the reply of a role's model, which ``read`` can read or not; a fault if the model did not finish it."""

    def problem(text: str) -> str:
        found = read(text)
        return found.reason if isinstance(found, Fault) else ""

    reply = await ask_role(role, system, prompt, state, cache=cache, problem=problem)
    return Fault(f"the {role}'s reply was {PROBLEMS[reply.stop]}") if reply.stop else reply.text


async def _judge(
    question: Question, reading: RiskReading, state: TaskState, judge: str, cache: bool | None
) -> float | Fault | None:
    """Return the verdict of the judge's model; None if there is no answer or it is compared with the key.

    An answer that is none of the options is judged by the model if the role is bound.
    """
    in_own_words = judge == "auto" and NOT_AN_OPTION in reading.rules and question.gold is not None
    asks_model = needs_judge(question, judge) or (in_own_words and can_ask("judge", state.store))
    if not reading.answer or not asks_model:
        return None
    prompt = judge_prompt(question, option_text(question, reading.answer))
    reply = await _ask("judge", JUDGE_SYSTEM, prompt, state, cache, read_verdict)
    verdict = reply if isinstance(reply, Fault) else read_verdict(reply)
    return verdict if isinstance(verdict, Fault) else float(verdict)


def _answer_text(reading: RiskReading) -> str:
    """Return the answer as the log shows it."""
    if reading.decision != "abstain":
        return reading.answer
    return f"ABSTAIN ({reading.answer})" if reading.answer else "ABSTAIN"
