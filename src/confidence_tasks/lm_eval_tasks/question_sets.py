"""The calibration question sets on lm-eval: one set a task.

arXiv:2605.23909. Two of the sets, ``boolq`` and ``sciq``, are names of lm-eval's own tasks; so the tasks end in
``_confidence``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lm_eval.api.instance import Instance

from confidence_tasks.elicitation.question_set_prompts import QUESTION_SETS, Form
from confidence_tasks.elicitation.token_probabilities import YES_NO, Token, letters
from confidence_tasks.lm_eval_tasks._option_scores import options_request
from confidence_tasks.lm_eval_tasks._task import StudyTask
from confidence_tasks.scorers._measures import Measure
from confidence_tasks.scorers._questions import question_of
from confidence_tasks.scorers.question_sets import QuestionSetTrial, measures_of, question_set_trial
from confidence_tasks.tasks._samples import Item, one_of
from confidence_tasks.tasks.question_sets import VERSION, question_set_items


class QuestionSetTask(StudyTask):
    """One question set.

    Its parameters are ``condition`` (the set, whose form and wording are used), ``source``, ``n``, ``question_seed``
    and ``mirror``, as in Inspect's tasks, and ``token_probabilities``, true to score every option where the reply gives
    its answer; a judgement of a given answer has none.
    """

    VERSION = VERSION
    PARAMETERS = ("condition", "source", "n", "question_seed", "mirror", "token_probabilities")

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
