"""FermiEval by repeated samples on lm-eval: intervals, or exponents at once and after reasoning.

Epstein, Winnicki, Sornwanee & Dwaraknath (2025), theorem 1 and appendices F and G.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from lm_eval.api.instance import Instance

from confidence_tasks.harness.inspect.samples import Item, listed, one_of
from confidence_tasks.harness.lm_eval.groups import TaskGroup
from confidence_tasks.harness.lm_eval.sampled_generations import sample_request
from confidence_tasks.harness.lm_eval.task import StudyTask
from confidence_tasks.harness.questions import question_of
from confidence_tasks.studies.fermieval import SPLITS
from confidence_tasks.studies.fermieval.prompts import LEVELS
from confidence_tasks.studies.fermieval.task import exponent_questions, levels_of
from confidence_tasks.studies.fermieval_sampling.task import LOGGED, VERSION, sampling_items, temperatures_of
from confidence_tasks.studies.fermieval_sampling.trials import (
    ASKS,
    SHORTFALL_WEIGHT,
    Ask,
    SampleTrial,
    sample_trial,
    sampling_measures,
)
from confidence_tasks.study.measures import Measure

CONDITIONS: Mapping[str, str] = {"interval": "interval", "exponent": "direct,reasoned"}
"""Conditions, and the ways of asking of each: those whose samples are compared are in one task."""


class FermiSamplingTask(StudyTask):
    """Samples of intervals at every level, or of exponents.

    Its parameters are ``condition`` (what is asked), ``ask``, ``samples``, ``temperatures``, ``levels``, ``split``,
    ``n``, ``question_seed``, ``shortfall_weight`` and ``mirror``, as in Inspect's task. Each sample is a document;
    ``n`` limits the
    questions, ``--limit`` the samples. In the names of metrics, ``/`` stands where Inspect's have a comma, which
    lm-eval's own end at.
    """

    VERSION = VERSION
    PARAMETERS = (
        "condition",
        "ask",
        "samples",
        "temperatures",
        "levels",
        "split",
        "n",
        "question_seed",
        "shortfall_weight",
        "mirror",
    )
    FIXED: ClassVar[Mapping[str, str]] = {"source": "fermi"}

    @property
    def headline(self) -> Sequence[str]:
        """Names of the metrics by default."""
        return LOGGED

    def measures(self, parameters: Mapping[str, Any]) -> Sequence[Measure]:
        """Return the metrics by way of asking, temperature and level."""
        measures = sampling_measures(
            _asks(parameters),
            _temperatures(parameters),
            _levels(parameters),
            parameters.get("shortfall_weight", SHORTFALL_WEIGHT),
        )
        return [replace(measure, name=measure.name.replace(",", "/")) for measure in measures]

    def items(self, parameters: Mapping[str, Any], fewshot: int) -> Iterable[Item]:
        """Yield every question in every way, as often as it is sampled."""
        samples = parameters.get("samples", 20)
        questions = exponent_questions(
            one_of(SPLITS, parameters.get("split", "all"), "split"),
            n=parameters.get("n"),
            seed=parameters.get("question_seed", 0),
            mirror=parameters.get("mirror"),
        )
        asked = sampling_items(questions, _asks(parameters), _temperatures(parameters), _levels(parameters))
        for item in asked:
            for number in range(1, samples + 1):
                numbered = {"id": f"{item.id}/{number}", "sample": number}
                yield replace(item, metadata=item.metadata | numbered)

    def construct_requests(self, doc: dict[str, Any], ctx: str | list[str], **kwargs: Any) -> list[Instance]:
        """Ask for one sample."""
        (generation,) = super().construct_requests(doc, ctx, **kwargs)
        return [sample_request(generation, temperature=doc["temperature"], number=doc["sample"])]

    def trial(self, doc: Mapping[str, Any], reply: str, score: Any) -> SampleTrial:
        """Read the interval or the exponent."""
        return sample_trial(
            question_of(doc), doc["ask"], doc["temperature"], doc["split"], reply, doc["asked_level"]
        )


def _asks(parameters: Mapping[str, Any]) -> list[Ask]:
    condition = one_of(list(CONDITIONS), str(parameters["condition"]), "condition")
    asks = listed(parameters.get("ask", CONDITIONS[condition]), "ask")
    return [one_of(ASKS, name, "ask") for name in asks]


def _levels(parameters: Mapping[str, Any]) -> list[float]:
    return levels_of(parameters.get("levels", list(LEVELS)))


def _temperatures(parameters: Mapping[str, Any]) -> list[float]:
    return temperatures_of(parameters.get("temperatures", "1"))


GROUPS = (
    TaskGroup(
        "fermieval_sampling",
        FermiSamplingTask,
        VERSION,
        sources={condition: ["fermi"] for condition in CONDITIONS},
    ),
)
