"""The settings of each call of a sample: temperature, limits, seeds, effort and what a stage cannot do without."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from inspect_ai.model import GenerateConfig, Model

from confidence_tasks.harness.conversation import sample_seed
from confidence_tasks.harness.inspect import refused, schemas
from confidence_tasks.harness.inspect.choices import Draw
from confidence_tasks.harness.inspect.local_model import (
    is_local,
)
from confidence_tasks.harness.inspect.model_calls import effort_settings, is_simulated
from confidence_tasks.harness.inspect.probability_gate import OTHER_PROVIDERS
from confidence_tasks.harness.parameters import is_single
from confidence_tasks.study.definition import Study
from confidence_tasks.study.stage import Stage
from confidence_tasks.study.trial import Question


def task_settings(stages: Sequence[Stage]) -> dict[str, Any]:
    """Return the generation settings of a task, which the user's replace."""
    settings = generation_settings(stages[0]) if is_single(stages) else {}
    return settings if stages[0].providers_temperature else {"temperature": 0.0, **settings}


def generation_settings(stage: Stage) -> dict[str, Any]:
    """Return the generation settings that a stage declares."""
    required = stage.logprobs == "required"
    settings = {
        "temperature": None if callable(stage.temperature) else stage.temperature,
        "max_tokens": stage.max_tokens,
        "logprobs": True if required else None,
        "top_logprobs": stage.top_logprobs if required and stage.top_logprobs else None,
    }
    return {name: value for name, value in settings.items() if value is not None}


def simulated_seed(study: Study, stage: Stage, epoch: int, number: int) -> int:
    """Return the seed of a call of a simulated subject; repeated trials are numbered from 1, as on lm-eval."""
    return number + stage.samples * (epoch - 1) + bool(study.asking.repeats_parameter)


@dataclasses.dataclass(frozen=True)
class CallSettings:
    """Finds the settings of the calls of one sample; ``stages`` are all stages of its trial."""

    study: Study
    stages: Sequence[Stage]
    parameters: Mapping[str, Any]
    question: Question
    condition: str
    epoch: int
    effort: str | None

    def needed(self, stage: Stage) -> dict[str, str]:
        """Return the parameters that a stage cannot do without, each with what the user can do."""
        needed = {}
        if stage.logprobs == "required":
            needed["logprobs"] = f"The study needs token probabilities: {OTHER_PROVIDERS}"
        if refused.needs_temperature(stage, self.condition):
            name = self.study.condition_rules.parameter if callable(stage.temperature) else "temperature"
            needed["temperature"] = f"Choose a temperature that it takes, such as with -T {name}=1"
        for name, value in self._user_settings().items():
            needed.setdefault(
                name, f"Leave out --{name.replace('_', '-')}={value:g}, or choose another value"
            )
        return needed

    def _user_settings(self) -> dict[str, float]:
        """Return the temperature and the limit of tokens that the user gave for the run."""
        return refused.user_settings(GenerateConfig(**task_settings(self.stages)))

    def settings(self, stage: Stage, model: Model, draw: Draw) -> dict[str, Any]:
        """Return the settings of a call of a stage for some of its samples."""
        declared, epoch, user = stage.temperature_in(self.condition), self.epoch, self._user_settings()
        # A greedy stage takes the temperature of the run, which is 0 unless the user sets it.
        greedy = declared == 0.0 and not callable(stage.temperature)
        temperature = user.get("temperature", 0.0) if greedy else declared
        settings = {} if stage.role else effort_settings(self.effort)
        settings |= schemas.schema_setting(stage, self.question, self.condition)
        if not is_single(self.stages):
            limit = None if "max_tokens" in user else stage.max_tokens
            settings |= {"temperature": None if greedy else temperature, "max_tokens": limit}
        elif callable(stage.temperature):
            settings |= {"temperature": temperature}
        if is_local(model):
            of_run = model.config.temperature if stage.role else user.get("temperature")
            decoded_at = of_run if temperature is None else temperature
            if decoded_at is not None or not stage.providers_temperature:
                settings |= _local_sampling(model, stage.name, decoded_at or 0.0)
        if draw.n_choices > 1:
            settings["num_choices"] = draw.n_choices
        if stage.samples > 1 or declared or stage.providers_temperature:
            settings["seed"] = (
                simulated_seed(self.study, stage, epoch, draw.number)
                if is_simulated(model)
                else sample_seed(
                    self.parameters["seed"], self.question.id, epoch, stage, self.condition, draw.number
                )
            )
        return {name: value for name, value in settings.items() if value is not None}


def _local_sampling(model: Model, stage: str, temperature: float) -> dict[str, Any]:
    """Return the settings with which Inspect's ``hf`` provider decodes at a temperature.

    The provider samples depending on a model argument, not on the temperature. With ``top_k=1``, sampling is greedy.
    """
    samples = bool(getattr(model.api, "do_sample", True))
    if temperature and not samples:
        raise ValueError(
            f"stage {stage!r} samples at a temperature of {temperature:g}: leave out -M do_sample=false, with which "
            "the hf provider decodes greedily"
        )
    return {"temperature": 1.0, "top_k": 1} if samples and not temperature else {}
