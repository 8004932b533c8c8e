"""Whole studies of two simulated subjects, reply by reply, tested by ``compare``: the slow way to power."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from tests.items import items_asking, reply_to, riskeval_items, scale_items
from tests.trials import fermieval_trial, scale_trial

from confidence_tasks.logs.task_trials import ModelTrials, TaskTrials
from confidence_tasks.reading.integer_scale import Scale
from confidence_tasks.report.estimates.contrast import Contrast
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.estimates.two_models import compare_models
from confidence_tasks.simulation.power_subjects import Pair
from confidence_tasks.simulation.subject import Subject
from confidence_tasks.sources import Question, load
from confidence_tasks.studies.fermieval import STUDY as FERMIEVAL
from confidence_tasks.studies.fermieval.replies import TEST
from confidence_tasks.studies.riskeval import STUDY as RISKEVAL
from confidence_tasks.studies.riskeval.replies import penalty_of
from confidence_tasks.studies.riskeval.trials import riskeval_trial
from confidence_tasks.studies.scales import STUDY as SCALES
from confidence_tasks.studies.scales.replies import BASELINE
from confidence_tasks.study.columns import columns
from confidence_tasks.study.definition import Study
from confidence_tasks.study.trial import Item

ALPHA = 0.05
EXCHANGES = 999


@dataclass(frozen=True)
class Setting:
    """Something to plan, and how many of some whole studies found it: see benchmarks/results_power.md.

    ``again`` is how many more studies a release goes through.
    """

    study: str
    measure: str
    effect: float
    n: int
    rejected: int
    studies: int
    again: int


SETTINGS = (
    Setting("scales", "mratio", -0.4, 600, 161, 500, again=60),
    Setting("scales", "ece", -0.1, 200, 151, 400, again=90),
    Setting("fermieval", "coverage", 0.1, 150, 182, 300, again=90),
    Setting("riskeval", "abstention_slope", 0.03, 50, 55, 60, again=30),
    Setting("scales", "auroc", 0.2, 100, 713, 1_200, again=150),
)


@dataclass(frozen=True)
class Harness:
    """How a study is asked and read, without a harness."""

    study: Study
    items: Callable[[int], Iterable[Item]]
    trial: Callable[[Item, str], Mapping[str, Any]]


def _quantities(n: int) -> list[Question]:
    """Questions about quantities of many sizes; no archive is needed."""
    return [
        Question(f"quantity-{i}", "made-up", f"How large is quantity {i}?", "number", str(i % 19 - 9))
        for i in range(n)
    ]


HARNESSES = {
    "scales": Harness(
        SCALES,
        lambda n: scale_items([BASELINE], ["arithmetic"], n=n),
        lambda item, reply: scale_trial(item.question, Scale.parse(item.condition), reply),
    ),
    "riskeval": Harness(
        RISKEVAL,
        lambda n: riskeval_items(load("arithmetic", n=n)),
        lambda item, reply: riskeval_trial(item.question, penalty_of(item.condition), reply),
    ),
    "fermieval": Harness(
        FERMIEVAL,
        lambda n: items_asking(
            FERMIEVAL,
            [replace(question, metadata={"split": TEST}) for question in _quantities(n)],
            levels=0.9,
        ),
        lambda item, reply: fermieval_trial(item.question, 0.9, TEST, reply),
    ),
}


@cache
def _asked(study: str, n: int) -> Sequence[Item]:
    return list(HARNESSES[study].items(n))


def whole_study(setting: Setting, pair: Pair, number: int) -> Contrast:
    """Let two subjects that nothing connects go through a study, and return what ``compare`` says."""
    harness = HARNESSES[setting.study]
    models = []
    for position, value in enumerate((pair.first, pair.second)):
        subject = Subject(**{pair.parameter: value})
        trials = []
        for item in _asked(setting.study, setting.n):
            seed = f"{2 * number + position}"
            reply = reply_to(harness.study, item.question, item.condition, subject, seed)
            trials.append(harness.trial(item, reply.text))
        models.append(ModelTrials(f"{position}", f"{position}", columns(trials), (), 0))
    task_trials = TaskTrials(harness.study, next(iter(harness.study.designs)), tuple(models))
    (found,) = compare_models(
        *models, task_trials, [setting.measure], Settings(EXCHANGES, seed=number, exchange_factor=1)
    )
    return found


def rejections(setting: Setting, pair: Pair, numbers: Iterable[int]) -> int:
    """Count the studies of these numbers whose test rejects."""
    return sum(whole_study(setting, pair, number).p_value <= ALPHA for number in numbers)
