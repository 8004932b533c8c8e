"""The confidence-scale study on lm-eval: one scale and one source a task.

Dai (2026), arXiv:2603.09309.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from confidence_tasks.elicitation.scale_prompts import ELICITATIONS
from confidence_tasks.elicitation.scales import Scale
from confidence_tasks.lm_eval_tasks._generation_scores import GenerationScore
from confidence_tasks.lm_eval_tasks._task import StudyTask
from confidence_tasks.scorers._questions import question_of
from confidence_tasks.scorers.scales import MEASURES, ScaleTrial, scale_trial
from confidence_tasks.tasks._samples import Item, one_of
from confidence_tasks.tasks.scales import VERSION, scale_items


class ScaleTask(StudyTask):
    """Confidence on one scale.

    Its parameters are ``condition`` (the scale), ``source``, ``n``, ``question_seed``, ``elicitation`` and
    ``mirror``, as in Inspect's tasks.
    """

    VERSION = VERSION
    PARAMETERS = ("condition", "source", "n", "question_seed", "elicitation", "mirror")
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
            fewshot=fewshot,
            mirror=parameters.get("mirror"),
        )

    def trial(self, doc: Mapping[str, Any], reply: str, score: GenerationScore) -> ScaleTrial:
        """Read the answer and the confidence."""
        return scale_trial(question_of(doc), Scale.parse(doc["condition"]), reply, doc["elicitation"])
