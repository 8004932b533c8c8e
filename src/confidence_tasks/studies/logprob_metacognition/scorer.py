"""The scorer of log-probability metacognition on Inspect, which may ask a model for the domain of a question."""

from __future__ import annotations

from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from confidence_tasks.harness.inspect.model_calls import ask_role
from confidence_tasks.harness.inspect.staged import replies_of
from confidence_tasks.harness.inspect.viewer import trial_score
from confidence_tasks.reading.explanation import explanation
from confidence_tasks.studies.logprob_metacognition.replies import (
    ANSWER,
    CLASSIFIER_SYSTEM,
    classifier_prompt,
    domain_of,
    read_domain,
)
from confidence_tasks.studies.logprob_metacognition.trials import CLASSIFIER_ROLE, read_reply
from confidence_tasks.study.trial import Question, question_from_metadata


@scorer(metrics=[])
def nlp_metad_scorer(domains: str = "lexicon", cache: bool = True) -> Scorer:
    """Keep what `read_reply` reads as a trial, with the domain of the question."""
    from confidence_tasks.studies.logprob_metacognition import STUDY

    async def score(state: TaskState, target: Target) -> Score:
        question, replies = question_from_metadata(state.metadata), replies_of(state, STUDY)
        trial = read_reply(question, state.metadata["condition"], replies)
        trial["domain"] = await _domain(question, state, domains, cache)
        told = explanation(STUDY, trial, question, replies[ANSWER][0].tokens)
        return trial_score(STUDY, trial, state.metadata, answer=trial["answer"], explanation=told)

    return score


async def _domain(question: Question, state: TaskState, domains: str, cache: bool) -> str:
    if domains == "lexicon":
        return domain_of(question.text)
    prompt = classifier_prompt(question.text, question.gold or "")
    return read_domain(await ask_role(CLASSIFIER_ROLE, CLASSIFIER_SYSTEM, prompt, state, cache=cache))
