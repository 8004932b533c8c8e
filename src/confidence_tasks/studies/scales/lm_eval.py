"""The confidence-scale study on lm-eval: one scale and one source a task.

Dai (2026), arXiv:2603.09309.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from confidence_tasks.harness.inspect.samples import Item, one_of
from confidence_tasks.harness.lm_eval.generation_scores import GenerationScore
from confidence_tasks.harness.lm_eval.groups import TaskGroup
from confidence_tasks.harness.lm_eval.task import StudyTask
from confidence_tasks.harness.questions import question_of
from confidence_tasks.studies.scales.prompts import ELICITATIONS, PROMPTS
from confidence_tasks.studies.scales.scale import BOUNDARY, GRANULARITY, NONSTANDARD, Scale
from confidence_tasks.studies.scales.task import SOURCES, VERSION, scale_items
from confidence_tasks.studies.scales.trials import MEASURES, ScaleTrial, scale_trial


class ScaleTask(StudyTask):
    """Confidence on one scale.

    Its parameters are ``condition`` (the scale), ``source``, ``n``, ``question_seed``, ``elicitation``,
    ``prompt``, ``strict`` and ``mirror``, as in Inspect's tasks.
    """

    VERSION = VERSION
    PARAMETERS = ("condition", "source", "n", "question_seed", "elicitation", "prompt", "strict", "mirror")
    ELSEWHERE: ClassVar[Mapping[str, str]] = {
        "scales": "name the tasks of the scales, such as --tasks scale_granularity_0_10,scale_granularity_0_100",
        "sources": "say source, or name the tasks of the sources, such as --tasks scale_granularity_0_10_mmlu",
    }
    MEASURES = MEASURES
    WORKED_EXAMPLES = True

    def items(self, parameters: Mapping[str, Any], fewshot: int) -> Iterable[Item]:
        """Yield the questions on the scale."""
        return scale_items(
            [Scale.parse(str(parameters["condition"]))],
            [str(parameters["source"])],
            n=parameters.get("n"),
            seed=parameters.get("question_seed", 0),
            elicitation=one_of(ELICITATIONS, parameters.get("elicitation", "verbal"), "elicitation"),
            prompt=one_of(PROMPTS, parameters.get("prompt", "b1"), "prompt"),
            fewshot=fewshot,
            mirror=parameters.get("mirror"),
        )

    def trial(self, doc: Mapping[str, Any], reply: str, score: GenerationScore) -> ScaleTrial:
        """Read the answer and the confidence."""
        return scale_trial(
            question_of(doc),
            Scale.parse(doc["condition"]),
            reply,
            doc["elicitation"],
            strict=bool((self.config.metadata or {}).get("strict")),
        )


def _group(name: str, design: Sequence[Scale]) -> TaskGroup:
    labels = [scale.label for scale in design]
    return TaskGroup(
        name,
        ScaleTask,
        VERSION,
        sources=dict.fromkeys(labels, SOURCES.split(",")),
        offline=dict.fromkeys(labels, "arithmetic"),
        measures=MEASURES,
    )


GROUPS = (
    _group("scale_granularity", GRANULARITY),
    _group("scale_boundary", BOUNDARY),
    _group("scale_nonstandard", NONSTANDARD),
)
