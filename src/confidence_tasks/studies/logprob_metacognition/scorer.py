"""Inspect scorer of the log-probability study, which can ask a model for the domain of a question."""

from __future__ import annotations

from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from confidence_tasks.harness.inspect.lost import score_of_lost
from confidence_tasks.harness.inspect.roles import ask_role
from confidence_tasks.harness.inspect.scoring import replies_of
from confidence_tasks.harness.inspect.viewer import trial_score
from confidence_tasks.harness.trial import trial_from_replies
from confidence_tasks.reading.explanation import explanation
from confidence_tasks.studies.logprob_metacognition.domains import (
    CLASSIFIER_SYSTEM,
    classifier_prompt,
    problem_of_domain,
    read_domain,
)
from confidence_tasks.studies.logprob_metacognition.replies import ANSWER
from confidence_tasks.studies.logprob_metacognition.trials import CLASSIFIER_ROLE
from confidence_tasks.study.trial import question_from_metadata


@scorer(metrics=[])
def nlp_metad_scorer(
    domains: str = "lexicon",
    cache: bool | None = None,
    scoring: str | None = None,
    span: str | None = None,
    similarity: float | None = None,
) -> Scorer:
    """Score a reply as a trial, with the domain by the lexicon or by a model.

    ``scoring``, ``span`` and ``similarity`` are those of the run by default.
    """
    from confidence_tasks.studies.logprob_metacognition import STUDY

    given = {"scoring": scoring, "span": span, "similarity": similarity}
    changes = {name: value for name, value in given.items() if value is not None}

    async def score(state: TaskState, target: Target) -> Score:
        if lost := score_of_lost(state.store):
            return lost
        question = question_from_metadata(state.metadata).with_metadata(**changes)
        replies = replies_of(state, STUDY)
        trial = trial_from_replies(STUDY, question, state.metadata["condition"], replies, {})
        if domains == "model":
            asked = classifier_prompt(question.text, question.gold or "")
            reply = await ask_role(
                CLASSIFIER_ROLE, CLASSIFIER_SYSTEM, asked, state, cache=cache, problem=problem_of_domain
            )
            trial["domain"] = read_domain("" if reply.stop else reply.text)
        text = explanation(STUDY, trial, question, replies[ANSWER][0].tokens)
        return trial_score(STUDY, trial, state.metadata, answer=trial["answer"], explanation=text)

    return score
