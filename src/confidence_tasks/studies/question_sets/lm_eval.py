"""The calibration question sets on lm-eval: one set a task.

arXiv:2605.23909. Two of the sets, ``boolq`` and ``sciq``, are names of lm-eval's own tasks; so the tasks end in
``_confidence``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from lm_eval.api.instance import Instance

from confidence_tasks.harness.inspect.samples import Item, one_of
from confidence_tasks.harness.lm_eval.groups import TaskGroup
from confidence_tasks.harness.lm_eval.option_scores import options_request
from confidence_tasks.harness.lm_eval.task import StudyTask
from confidence_tasks.harness.questions import question_of
from confidence_tasks.reading.token_probabilities import YES_NO, letters
from confidence_tasks.studies.question_sets.prompts import QUESTION_SETS, Form
from confidence_tasks.studies.question_sets.task import VERSION, question_set_items
from confidence_tasks.studies.question_sets.trials import QuestionSetTrial, measures_of, question_set_trial
from confidence_tasks.study.measures import Measure
from confidence_tasks.study.stage import Token


class QuestionSetTask(StudyTask):
    """One question set.

    Its parameters are ``condition`` (the set, whose form and wording are used), ``source``, ``n``, ``question_seed``,
    ``mirror`` and ``prompt`` (of HaluEval), as in Inspect's tasks, and ``token_probabilities``, true to score every
    option where the reply gives its answer; a judgement of a given answer has none.
    """

    VERSION = VERSION
    PARAMETERS = ("condition", "source", "n", "question_seed", "mirror", "token_probabilities", "prompt")
    ELSEWHERE: ClassVar[Mapping[str, str]] = {"top_logprobs": "say token_probabilities"}

    def measures(self, parameters: Mapping[str, Any]) -> Sequence[Measure]:
        """Return the metrics of the set's form."""
        form = QUESTION_SETS[_set_of(parameters)].form
        return measures_of(form, token_probabilities=_scores_options(parameters, form))

    def requests_about(self, generation: Instance, doc: Mapping[str, Any]) -> list[Instance]:
        """Ask for the probabilities of the options."""
        form = QUESTION_SETS[doc["question_set"]].form
        if not _scores_options(self.config.metadata or {}, form):
            return []
        return [options_request(generation, YES_NO if form == "boolean" else letters(len(doc["choices"])))]

    def items(self, parameters: Mapping[str, Any], fewshot: int) -> Iterable[Item]:
        """Yield the questions in the form of the set."""
        return question_set_items(
            _set_of(parameters),
            str(parameters["source"]),
            n=parameters.get("n"),
            seed=parameters.get("question_seed", 0),
            mirror=parameters.get("mirror"),
            prompt=parameters.get("prompt"),
        )

    def trial(self, doc: Mapping[str, Any], reply: str, score: Any) -> QuestionSetTrial:
        """Read the answer and its probability, or the options' probabilities."""
        form = QUESTION_SETS[doc["question_set"]].form
        tokens: Sequence[Token] = score if isinstance(score, list) else ()
        return question_set_trial(form, question_of(doc), reply, tokens, given=doc["given"])


def _set_of(parameters: Mapping[str, Any]) -> str:
    return one_of(list(QUESTION_SETS), str(parameters["condition"]), "condition")


def _scores_options(parameters: Mapping[str, Any], form: Form) -> bool:
    return bool(parameters.get("token_probabilities")) and form != "judgement"


GROUPS = (
    TaskGroup(
        "question_sets",
        QuestionSetTask,
        VERSION,
        sources={name: [name] for name in QUESTION_SETS},
        offline={
            "boolq": "arithmetic_boolean",
            **dict.fromkeys(("sciq", "lsat_ar", "sat_en"), "arithmetic"),
        },
        naming="{condition}_confidence",
    ),
)
