"""The solver that asks the model the stages of a study."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any
from weakref import WeakSet

from inspect_ai.model import Model, ModelAPI
from inspect_ai.solver import Generate, Solver, TaskState, solver

from confidence_tasks.harness.inspect import lost, schemas
from confidence_tasks.harness.inspect.asker import Asker
from confidence_tasks.harness.inspect.call_settings import CallSettings
from confidence_tasks.harness.inspect.choices import ChoicesGate
from confidence_tasks.harness.inspect.efforts import refuse_effort
from confidence_tasks.harness.inspect.first_replies import FirstRepliesOfModels
from confidence_tasks.harness.inspect.local_model import (
    is_local,
)
from confidence_tasks.harness.inspect.local_prompts import LocalPrompts
from confidence_tasks.harness.inspect.model_calls import asked_model, is_simulated
from confidence_tasks.harness.inspect.probability_gate import ProbabilityGate
from confidence_tasks.harness.inspect.shared_calls import SharedCalls
from confidence_tasks.harness.parameters import is_single, load_study
from confidence_tasks.harness.stored_replies import replies_to_json
from confidence_tasks.study.stage import Stage, tokens_spent
from confidence_tasks.study.trial import EFFORT, question_from_metadata

REPLIES = "replies"
"""Key of a sample's store that holds the replies of all stages."""


def refuse_forced_reply(model: Model, stages: Sequence[Stage]) -> None:
    """Raise ValueError if a stage has a forced reply and the model cannot score given texts."""
    forced = [stage.name for stage in stages if stage.forced_reply]
    if forced and not (is_local(model) or is_simulated(model)):
        raise ValueError(
            f"{forced[0]} scores a given text, which {model} cannot do: use a model of the hf provider, lm-eval, "
            f"or leave {forced[0]} out"
        )


@solver
def ask_stages(study: str, parameters: dict[str, Any], n_conditions: int = 1) -> Solver:
    """Return a solver that runs the stages of a study and stores their replies in the sample.

    The replies of a study with a single call are not stored, because the sample's output has them. The token counts of
    all calls are added to the sample's metadata. ``study`` is the study's address
    (:attr:`~confidence_tasks.study.Study.address`), ``parameters`` are the parameters of the task, and
    ``n_conditions`` is the number of conditions under which each question is asked.
    """
    loaded = load_study(study)
    stages = loaded.stages_of(parameters)
    measured: WeakSet[ModelAPI] = WeakSet()
    gates = {
        stage.name: ProbabilityGate(f"stage {stage.name!r} of {loaded.name} needs", stage, measured)
        for stage in stages
        if stage.logprobs
    }
    shared, prompts = SharedCalls(n_conditions), LocalPrompts()
    form, choices, first_replies = schemas.SchemaGate(), ChoicesGate(), FirstRepliesOfModels()

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        question = question_from_metadata(state.metadata)
        effort = state.metadata.get(EFFORT)
        model = asked_model()
        refuse_forced_reply(model, stages)
        refuse_effort(model, effort)
        schemas.refuse_schemas(model, question)
        key = (model.api, question.id, state.epoch, effort)
        with shared.for_question(key) as calls, lost.until_last_reply(state.store):
            condition = str(state.metadata["condition"])
            settings = CallSettings(loaded, stages, parameters, question, condition, state.epoch, effort)
            asker = Asker(settings, gates, state, generate, calls, prompts, form, choices, first_replies)
            replies = await asker.ask_all()
        counts = {kind: count for kind, count in tokens_spent(replies).items() if not math.isnan(count)}
        state.metadata = {**state.metadata, **counts}
        if not is_single(stages):
            state.store.set(REPLIES, replies_to_json(replies))
        return state

    return solve
