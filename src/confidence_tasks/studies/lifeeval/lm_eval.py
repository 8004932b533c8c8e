"""LifeEval on lm-eval: one radius a task.

arXiv:2605.23909.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from lm_eval.api.instance import Instance

from confidence_tasks.harness.inspect.samples import Item, one_of
from confidence_tasks.harness.lm_eval.generation_scores import GenerationScore, score_request
from confidence_tasks.harness.lm_eval.groups import TaskGroup
from confidence_tasks.harness.lm_eval.task import StudyTask
from confidence_tasks.reading.token_probabilities import number_span
from confidence_tasks.sources.life_table import load_life_table
from confidence_tasks.studies.lifeeval.prompts import POPULATION
from confidence_tasks.studies.lifeeval.task import RADII, VERSION, lifeeval_items
from confidence_tasks.studies.lifeeval.trials import (
    MEASURES,
    TOKEN_MEASURES,
    WINDOWS,
    LifeEvalTrial,
    case_of,
    lifeeval_trial,
)
from confidence_tasks.study.measures import Measure
from confidence_tasks.study.stage import Token


class LifeEvalTask(StudyTask):
    """Guesses of an age at death to within one radius.

    Its parameters are ``condition`` (the radius), ``n`` (the number of questions of that radius), ``question_seed``,
    ``window``, ``table`` and ``population``, as in Inspect's task, and ``token_probabilities``, true to score the
    guess's own tokens.
    """

    VERSION = VERSION
    PARAMETERS = ("condition", "n", "question_seed", "window", "table", "population", "token_probabilities")
    FIXED: ClassVar[Mapping[str, str]] = {"source": "lifeeval"}
    ELSEWHERE: ClassVar[Mapping[str, str]] = {
        "radii": "name the tasks of the radii, such as --tasks lifeeval_radius1,lifeeval_radius10",
        "top_logprobs": "say token_probabilities",
    }

    def measures(self, parameters: Mapping[str, Any]) -> Sequence[Measure]:
        """Return the metrics, with those of token probabilities where they are asked for."""
        return MEASURES + (TOKEN_MEASURES if parameters.get("token_probabilities") else ())

    def requests_about(self, generation: Instance, doc: Mapping[str, Any]) -> list[Instance]:
        """Ask for the log-probability of the guess."""
        asked = (self.config.metadata or {}).get("token_probabilities")
        return [score_request(generation, number_span)] if asked else []

    def items(self, parameters: Mapping[str, Any], fewshot: int) -> Iterable[Item]:
        """Yield the questions of the radius."""
        labels = {f"radius={radius}": radius for radius in RADII}
        chosen = one_of(list(labels), str(parameters["condition"]), "condition")
        table = parameters.get("table") or ""
        load_life_table(table or None)
        return lifeeval_items(
            [labels[chosen]],
            n=parameters.get("n"),
            seed=parameters.get("question_seed", 0),
            window=one_of(WINDOWS, parameters.get("window", "half_open"), "window"),
            table=table,
            population=parameters.get("population", POPULATION),
        )

    def trial(self, doc: Mapping[str, Any], reply: str, score: GenerationScore) -> LifeEvalTrial:
        """Read the guess and the confidence, and score the guess by the life table."""
        return lifeeval_trial(case_of(doc), reply, _tokens(reply, score.sum_logprob))


def _tokens(reply: str, logprob: float) -> list[Token]:
    """Return a reply in three pieces, of which the guess has a log-probability."""
    begin, end = number_span(reply)
    return [
        Token(reply[:begin], math.nan, {}),
        Token(reply[begin:end], logprob, {}),
        Token(reply[end:], math.nan, {}),
    ]


GROUPS = (
    TaskGroup(
        "lifeeval", LifeEvalTask, VERSION, sources={f"radius={radius}": ["lifeeval"] for radius in RADII}
    ),
)
