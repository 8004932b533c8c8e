"""The calibration question sets on lm-eval: one set a task, with the probabilities of its options.

arXiv:2605.23909. Two of the sets, ``boolq`` and ``sciq``, are names of lm-eval's own tasks; so the tasks end in
``_confidence``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from lm_eval.api.instance import Instance

from confidence_tasks.harness.lm_eval.groups import STAGED_TASK, TaskGroup
from confidence_tasks.harness.lm_eval.option_scores import options_request
from confidence_tasks.harness.lm_eval.staged import StudyOfStages
from confidence_tasks.reading.token_probabilities import YES_NO, letters
from confidence_tasks.studies.question_sets import STUDY
from confidence_tasks.studies.question_sets.prompts import QUESTION_SETS
from confidence_tasks.study.stage import Token


class QuestionSetTask(StudyOfStages):
    """Questions of which every option is scored where the reply gives its answer, if ``token_probabilities`` is true.

    A judgement of a given answer has no options.
    """

    ADDED: ClassVar[Mapping[str, Any]] = {"token_probabilities": bool}

    def requests_about(self, generation: Instance, doc: Mapping[str, Any]) -> list[Instance]:
        """Ask for the probabilities of the options."""
        form = QUESTION_SETS[doc["question_set"]].form
        if form == "judgement" or not self.parameters.get("token_probabilities"):
            return []
        return [options_request(generation, YES_NO if form == "boolean" else letters(len(doc["choices"])))]

    def tokens(self, doc: Mapping[str, Any], reply: str, score: Any) -> Sequence[Token]:
        """Return the reply's tokens, where they were asked for."""
        return score if isinstance(score, list) else ()


GROUPS = (
    TaskGroup(
        "question_sets",
        STAGED_TASK,
        STUDY.version,
        sources={name: [name] for name in QUESTION_SETS},
        offline={
            "boolq": "arithmetic_boolean",
            **dict.fromkeys(("sciq", "lsat_ar", "sat_en"), "arithmetic"),
        },
        naming="{condition}_confidence",
        metadata={"study": STUDY.reference},
    ),
)
