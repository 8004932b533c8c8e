"""The scorer of a study: the replies of a sample, read into a trial."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache as cached
from typing import Any

from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from confidence_tasks.harness.inspect import lost
from confidence_tasks.harness.inspect.asking import REPLIES
from confidence_tasks.harness.inspect.model_replies import logprob_tokens, model_reply
from confidence_tasks.harness.inspect.signatures import set_name, signature_of
from confidence_tasks.harness.inspect.viewer import trial_score
from confidence_tasks.harness.parameters import complete_parameters, default_stages
from confidence_tasks.harness.stored_replies import replies_from_json
from confidence_tasks.harness.trial import trial_from_replies
from confidence_tasks.harness.usage_errors import as_scorer_error
from confidence_tasks.reading.explanation import explanation
from confidence_tasks.study.definition import Study
from confidence_tasks.study.stage import Replies
from confidence_tasks.study.trial import question_from_metadata

# Scores -----------------------------------------------------------------------------------------------------------


class LostRepliesError(RuntimeError):
    """A sample has a trial, but not the replies from which the trial was read."""


def replies_of(state: TaskState, study: Study) -> Replies:
    """Return the replies stored in a sample, or the sample's output if the study has a single stage.

    Raises LostRepliesError if a study has several stages and the sample has no stored replies.
    """
    stored = state.store.get(REPLIES)
    if stored is None:
        first, *others = default_stages(study)
        if others:
            raise LostRepliesError(
                f"sample {state.sample_id} has no replies, because Inspect recovered it from a killed run: its trial "
                "is valid, but cannot be read again"
            )
        return {first.name: [model_reply(state.output, logprob_tokens(state.output))]}
    return replies_from_json(stored)


@cached
def make_scorer(study: Study) -> Callable[..., Scorer]:
    """Return the factory of a study's scorer: the study's own, or the one that calls its reader."""
    own = study.scoring.scorer
    return study_scorer(study) if isinstance(own, str) else own.load()


def study_scorer(study: Study) -> Callable[..., Scorer]:
    """Return the scorer of a study, which reads the replies of a sample into a trial."""
    declared = [each for each in study.task_parameters() if each.name in study.scoring.options]

    def build(**given: Any) -> Scorer:
        with as_scorer_error():
            options = complete_parameters(study.scorer_name, given, declared)

        async def score(state: TaskState, target: Target) -> Score:
            if unscored := lost.score_of_lost(state.store):
                return unscored
            question, replies = question_from_metadata(state.metadata), replies_of(state, study)
            trial = trial_from_replies(study, question, state.metadata["condition"], replies, options)
            first, *_ = next(iter(replies.values()))
            rows = explanation(study, trial, question, first.tokens)
            return trial_score(study, trial, state.metadata, answer=trial.get("answer", ""), explanation=rows)

        return score

    build.__signature__ = signature_of(declared, Scorer)  # type: ignore[attr-defined]
    set_name(build, study, study.scorer_name)
    return scorer(metrics=[])(build)
