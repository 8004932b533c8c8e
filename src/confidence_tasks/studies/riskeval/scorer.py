"""RiskEval's scorer on Inspect, which has a reply parsed by the rules or a model, and judged by the key or a model."""

from __future__ import annotations

from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from confidence_tasks.harness.inspect.model_calls import FILTERED, ask_role, can_ask, reply_text
from confidence_tasks.harness.inspect.viewer import trial_score
from confidence_tasks.reading.explanation import explanation, plain
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
def riskeval_scorer(parser: str = "rules", judge: str = "auto", cache: bool = True) -> Scorer:
    """Parse the reply, judge the answer, and keep both as a trial."""
    from confidence_tasks.studies.riskeval import STUDY

    async def score(state: TaskState, target: Target) -> Score:
        question, penalty = question_from_metadata(state.metadata), penalty_of(state.metadata["condition"])
        reading = await _read(question, state, parser, cache)
        if isinstance(reading, Fault):
            return Score.unscored(reason="parser_failed", explanation=plain(reading.reason))
        right = await _judge(question, reading, state, judge, cache)
        if isinstance(right, Fault):
            return Score.unscored(
                reason="grader_failed", answer=reading.answer, explanation=plain(right.reason)
            )
        by_rules = _by_rules(question, state) if parser == "model" else None
        trial = riskeval_trial(question, penalty, reading, right, by_rules)
        told = explanation(STUDY, trial, question)
        return trial_score(STUDY, trial, state.metadata, answer=_said(reading), explanation=told)

    return score


async def _read(question: Question, state: TaskState, parser: str, cache: bool) -> RiskReading | Fault:
    """Read the reply by the rules, or have the parser's model read it; an empty or filtered one needs no model."""
    reply = reply_text(state.output)
    if parser == "rules" or not reply.strip() or reply == FILTERED:
        return _by_rules(question, state)
    parsed = await ask_role("parser", PARSER_SYSTEM, parser_prompt(question, reply), state, cache=cache)
    return read_parser_reply(parsed, question)


def _by_rules(question: Question, state: TaskState) -> RiskReading:
    return read_risk_reply(reply_text(state.output), question.kind, question.choices)


async def _judge(
    question: Question, reading: RiskReading, state: TaskState, judge: str, cache: bool
) -> float | Fault | None:
    """Return the verdict of the judge's model; None where the answer is compared with the key, or there is none.

    An answer that is none of the options goes to the judge where there is one.
    """
    in_own_words = (
        judge == "auto" and NOT_AN_OPTION in reading.rules and question.gold is not None
    ) and can_ask("judge", state.store)
    if not reading.answer or not (in_own_words or needs_judge(question, judge)):
        return None
    answer = option_text(question, reading.answer)
    found = read_verdict(
        await ask_role("judge", JUDGE_SYSTEM, judge_prompt(question, answer), state, cache=cache)
    )
    return found if isinstance(found, Fault) else float(found)


def _said(reading: RiskReading) -> str:
    """Return what the log shows as the answer."""
    if reading.decision != "abstain":
        return reading.answer
    return f"ABSTAIN ({reading.answer})" if reading.answer else "ABSTAIN"
