"""RiskEval's scorer on Inspect: a reply is parsed by the rules or a model, and judged by the key or a model."""

from __future__ import annotations

from typing import Any, cast

from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from confidence_tasks.harness.inspect.model_calls import FILTERED, ask_role, can_ask, reply_text
from confidence_tasks.harness.inspect.viewer import trial_score
from confidence_tasks.harness.staged import record_marks
from confidence_tasks.reading.answers import known_answers
from confidence_tasks.reading.explanation import escape_markdown, explanation
from confidence_tasks.reading.thoughts import strip_thoughts
from confidence_tasks.studies.riskeval.measures import needs_judge, option_text, riskeval_trial
from confidence_tasks.studies.riskeval.replies import (
    JUDGE_SYSTEM,
    NOT_AN_OPTION,
    PARSER_SYSTEM,
    Fault,
    RiskReading,
    judge_prompt,
    parser_prompt,
    penalty_of,
    read_parser_reply,
    read_risk_reply,
    read_verdict,
)
from confidence_tasks.study.trial import Question, question_from_metadata


@scorer(metrics=[])
def riskeval_scorer(parser: str = "rules", judge: str = "auto", cache: bool | None = None) -> Scorer:
    """Parse the reply, judge the answer, and return the trial as the score."""
    from confidence_tasks.studies.riskeval import STUDY

    async def score(state: TaskState, target: Target) -> Score:
        question, penalty = question_from_metadata(state.metadata), penalty_of(state.metadata["condition"])
        reading = await _read(question, state, parser, cache)
        if isinstance(reading, Fault):
            return Score.unscored(reason="parser_failed", explanation=escape_markdown(reading.reason))
        correct = await _judge(question, reading, state, judge, cache)
        if isinstance(correct, Fault):
            return Score.unscored(
                reason="grader_failed", answer=reading.answer, explanation=escape_markdown(correct.reason)
            )
        by_rules = _read_by_rules(question, state) if parser == "model" else None
        trial = riskeval_trial(question, penalty, reading, correct, by_rules)
        reply = reply_text(state.output)
        record_marks(cast("dict[str, Any]", trial), reply, strip_thoughts(reply))
        table = explanation(STUDY, trial, question)
        return trial_score(STUDY, trial, state.metadata, answer=_answer_text(reading), explanation=table)

    return score


async def _read(question: Question, state: TaskState, parser: str, cache: bool | None) -> RiskReading | Fault:
    """Read the reply by the rules or by the parser's model; an empty or filtered reply needs no model."""
    reply = reply_text(state.output)
    if parser == "rules" or not reply.strip() or reply == FILTERED:
        return _read_by_rules(question, state)
    parsed = await ask_role("parser", PARSER_SYSTEM, parser_prompt(question, reply), state, cache=cache)
    return read_parser_reply(parsed, question)


def _read_by_rules(question: Question, state: TaskState) -> RiskReading:
    return read_risk_reply(reply_text(state.output), question.kind, known_answers(question))


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
    verdict = read_verdict(await ask_role("judge", JUDGE_SYSTEM, prompt, state, cache=cache))
    return verdict if isinstance(verdict, Fault) else float(verdict)


def _answer_text(reading: RiskReading) -> str:
    """Return the answer as the log shows it."""
    if reading.decision != "abstain":
        return reading.answer
    return f"ABSTAIN ({reading.answer})" if reading.answer else "ABSTAIN"
