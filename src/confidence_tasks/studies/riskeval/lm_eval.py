"""RiskEval on lm-eval: one penalty a task, replies read by rules and answers compared with the key.

Wang, Zhou, Devic & Fu (2026), arXiv:2601.07767. lm-eval calls the model under test only, and sends text only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from confidence_tasks.harness.inspect.samples import Item, one_of
from confidence_tasks.harness.lm_eval.generation_scores import GenerationScore
from confidence_tasks.harness.lm_eval.groups import TaskGroup
from confidence_tasks.harness.lm_eval.task import StudyTask
from confidence_tasks.harness.questions import question_of
from confidence_tasks.studies.riskeval.measures import COUNTS, MEASURES
from confidence_tasks.studies.riskeval.prompts import (
    JUDGES,
    PARSERS,
    PENALTIES,
    STRATEGIES,
    condition_of,
    penalty_of,
)
from confidence_tasks.studies.riskeval.task import (
    DEFAULT_SOURCE,
    IMAGES,
    VERSION,
    riskeval_items,
    riskeval_questions,
    roles_needed,
)
from confidence_tasks.studies.riskeval.trials import RiskTrial, riskeval_trial
from confidence_tasks.study.question import Question


class RiskTask(StudyTask):
    """Questions under one penalty for a wrong answer.

    Its parameters are ``condition`` (the penalty), ``source``, ``n``, ``question_seed``, ``strategy``, ``parser``,
    ``judge``, ``images`` and ``mirror``, as in Inspect's task; what needs another model is refused, and so are
    pictures, unless ``images=skip`` leaves them out.
    """

    VERSION = VERSION
    PARAMETERS = (
        "condition",
        "source",
        "n",
        "question_seed",
        "strategy",
        "parser",
        "judge",
        "images",
        "mirror",
    )
    ELSEWHERE: ClassVar[Mapping[str, str]] = {
        "penalties": "name the tasks of the penalties, such as --tasks riskeval_lambda1,riskeval_lambda10"
    }
    MEASURES = (*MEASURES, *COUNTS)

    def items(self, parameters: Mapping[str, Any], fewshot: int) -> Iterable[Item]:
        """Yield the questions under the penalty."""
        penalty = penalty_of(str(parameters["condition"]))
        strategy = one_of(STRATEGIES, parameters.get("strategy", "base"), "strategy")
        return riskeval_items(_questions(parameters), [penalty], strategy=strategy)

    def trial(self, doc: Mapping[str, Any], reply: str, score: GenerationScore) -> RiskTrial:
        """Read the decision, the answer and the confidence by the rules, and compare the answer with the key."""
        return riskeval_trial(question_of(doc), doc["penalty"], reply)


def _questions(parameters: Mapping[str, Any]) -> Sequence[Question]:
    """Load the questions; ValueError where a picture or another model is needed, which Inspect's task can have."""
    source = str(parameters["source"])
    images = one_of(IMAGES, parameters["images"], "images") if "images" in parameters else None
    there = f"run `inspect eval confidence_tasks/riskeval -T source={source}` for them"
    questions, skipped = riskeval_questions(
        source,
        n=parameters.get("n"),
        seed=parameters.get("question_seed", 0),
        images="skip",
        mirror=parameters.get("mirror"),
    )
    roles = roles_needed(
        questions,
        one_of(PARSERS, parameters.get("parser", "rules"), "parser"),
        one_of(JUDGES, parameters.get("judge", "auto"), "judge"),
    )
    if roles:
        raise ValueError(
            f"answers to questions of {source} need a model as {' and '.join(roles)}, and lm-eval calls none but the "
            f"model under test: {there}, or set parser=rules and judge=rules to do without"
        )
    if skipped and images != "skip":
        raise ValueError(
            f"{skipped} questions of {source} have a picture, which lm-eval does not send: {there}, or set images=skip "
            "to leave them out"
        )
    return questions


_CONDITIONS = tuple(condition_of(penalty) for penalty in PENALTIES)

GROUPS = (
    TaskGroup(
        "riskeval",
        RiskTask,
        VERSION,
        sources=dict.fromkeys(_CONDITIONS, (DEFAULT_SOURCE,)),
        offline=dict.fromkeys(_CONDITIONS, "arithmetic"),
    ),
)
