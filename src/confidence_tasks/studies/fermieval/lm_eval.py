"""FermiEval on lm-eval: one nominal coverage a task, both halves of the questions in each.

Epstein, Winnicki, Sornwanee & Dwaraknath (2025).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from confidence_tasks.harness.inspect.samples import Item
from confidence_tasks.harness.lm_eval.generation_scores import GenerationScore
from confidence_tasks.harness.lm_eval.groups import TaskGroup
from confidence_tasks.harness.lm_eval.task import StudyTask
from confidence_tasks.harness.questions import question_of
from confidence_tasks.studies.fermieval.prompts import LEVELS, condition_of
from confidence_tasks.studies.fermieval.task import (
    CALIBRATED,
    VERSION,
    fermieval_items,
    fermieval_questions,
    levels_of,
    limit_of,
)
from confidence_tasks.studies.fermieval.trials import (
    CONFORMAL_MEASURES,
    JACKKNIFE_MEASURES,
    MEASURES,
    IntervalTrial,
    fermieval_trial,
)
from confidence_tasks.study.measures import Measure


class FermiTask(StudyTask):
    """Intervals at one nominal coverage, as stated and conformally adjusted.

    Its parameters are ``condition`` (the nominal coverage), ``split``, ``source``, ``max_exponent``, ``n``,
    ``question_seed`` and ``mirror``, as in Inspect's task.
    """

    VERSION = VERSION
    PARAMETERS = ("condition", "split", "source", "max_exponent", "n", "question_seed", "mirror")
    ELSEWHERE: ClassVar[Mapping[str, str]] = {
        "levels": "name the tasks of the levels, such as --tasks fermieval_p0_9,fermieval_p0_99",
        "temperature": "add --gen_kwargs temperature=1,do_sample=True",
    }

    def measures(self, parameters: Mapping[str, Any]) -> Sequence[Measure]:
        """Return the metrics; without a calibration half, intervals are adjusted by each other."""
        calibrated = parameters.get("split", "all") in CALIBRATED
        return MEASURES + (CONFORMAL_MEASURES if calibrated else JACKKNIFE_MEASURES)

    def items(self, parameters: Mapping[str, Any], fewshot: int) -> Iterable[Item]:
        """Yield the questions at the nominal coverage."""
        levels = levels_of(str(parameters["condition"]).removeprefix("p="))
        split = parameters.get("split", "all")
        questions = fermieval_questions(
            split,
            source=str(parameters.get("source", "fermi")),
            n=parameters.get("n"),
            seed=parameters.get("question_seed", 0),
            mirror=parameters.get("mirror"),
        )
        return fermieval_items(questions, levels, limit_of(parameters.get("max_exponent"), split))

    def trial(self, doc: Mapping[str, Any], reply: str, score: GenerationScore) -> IntervalTrial:
        """Read the interval and compare it with the truth."""
        return fermieval_trial(question_of(doc), doc["level"], doc["split"], reply, doc.get("max_exponent"))


GROUPS = (
    TaskGroup("fermieval", FermiTask, VERSION, sources={condition_of(level): ["fermi"] for level in LEVELS}),
)
