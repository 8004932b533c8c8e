"""LifeEval: guess how old a person will be at death, and how probable it is that the guess is near enough.

arXiv:2605.23909. The 808 questions come with the package; nothing is downloaded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from inspect_ai import Task, task
from inspect_ai.log import HeadlineMetric

from confidence_tasks.harness.inspect.metrics import metrics_of
from confidence_tasks.harness.inspect.parameters import validate_parameters
from confidence_tasks.harness.inspect.samples import Item, dataset, listed, one_of
from confidence_tasks.harness.inspect.token_probabilities import asking, generation
from confidence_tasks.harness.inspect.viewer import provenance, viewer
from confidence_tasks.sources import load
from confidence_tasks.sources.life_table import load_life_table
from confidence_tasks.sources.loading import check_number
from confidence_tasks.studies.lifeeval import STUDY
from confidence_tasks.studies.lifeeval.prompts import POPULATION, SYSTEM, lifeeval_prompt
from confidence_tasks.studies.lifeeval.trials import (
    HEADLINE,
    WINDOWS,
    Window,
    lifeeval_scorer,
    lifeeval_summary,
)

VERSION = "1-A"

RADII = (1, 5, 10, 20)
"""The paper's four radii in years, the hardest first."""


def lifeeval_items(
    radii: Sequence[int] = RADII,
    *,
    n: int | None = None,
    seed: int = 0,
    window: Window = "half_open",
    table: str = "",
    population: str = POPULATION,
) -> Iterator[Item]:
    """Yield the questions, balanced over radius and sex from the first on.

    Parameters
    ----------
    radii : sequence of int
        The conditions.
    n : int, optional
        Number of questions; all 202 of each radius by default.
    seed : int
        Seed of the order.
    window : {"half_open", "inclusive"}
        Which ages at death count as within the radius.
    table : str
        Path of another life table; empty for the shipped one.
    population : str
        Whom the prompt speaks of, with the article.
    """
    check_number(n)
    if not population.strip():
        raise ValueError(
            "population is empty: name whom the table is of, with the article, such as 'an American'"
        )
    questions = [question for question in load("lifeeval", seed=seed) if question.metadata["radius"] in radii]
    for question in questions[:n]:
        sex, age, radius = (question.metadata[key] for key in ("sex", "age", "radius"))
        scoring = {**question.metadata, "window": window, "table": table}
        yield Item(
            replace(question, metadata=scoring),
            f"radius={radius}",
            lifeeval_prompt(sex, age, radius, population),
            system=SYSTEM,
            metadata=scoring,
        )


def _radii(value: str | int | list[int]) -> list[int]:
    """Return the radii asked for; ValueError lists what there is."""
    allowed = [str(radius) for radius in RADII]
    return [int(one_of(allowed, text, "radii")) for text in listed(value, "radii")]


@task
@validate_parameters
def lifeeval(
    radii: str | int | list[int] = "1,5,10,20",
    n: int | None = None,
    seed: int = 0,
    window: str = "half_open",
    table: str | None = None,
    population: str = POPULATION,
    top_logprobs: int = 0,
    cache: bool = True,
) -> Task:
    """Guess an age at death within 1, 5, 10 or 20 years, with the probability of success, judged by a life table.

    Parameters
    ----------
    radii : str, int or list of int
        Which of the radii 1, 5, 10, 20.
    n : int, optional
        Number of questions, balanced over radius and sex; all 808 by default.
    seed : int
        Seed of their order.
    window : {"half_open", "inclusive"}
        Ages at death that count as within r of k: k - r to k + r - 1 completed years, which the paper's figures
        use, or k - r to k + r as it prints the formula. Never compare the two.
    table : str, optional
        Another year or country: a CSV file with the columns age, male_qx and female_qx (probability of dying within a
        year of reaching each age from 0 to at least 100). The US life table of 2022 by default.
    population : str
        Whom the prompt speaks of, with the article, to go with the table: ``a Japanese``.
    top_logprobs : int
        Ask for token probabilities with so many alternatives; 0 does not ask.
    cache : bool
        Keep replies, so that a run that was killed repeats no call.
    """
    chosen = _radii(radii)
    load_life_table(table)
    items = lifeeval_items(
        chosen,
        n=n,
        seed=seed,
        window=one_of(WINDOWS, window, "window"),
        table=table or "",
        population=population,
    )
    data = dataset(items, "LifeEval")
    return Task(
        dataset=data,
        solver=asking(top_logprobs, cache),
        scorer=lifeeval_scorer(),
        metrics=metrics_of(
            STUDY, lifeeval_summary, overall=["all"], radii=chosen, token_probabilities=bool(top_logprobs)
        ),
        config=generation(top_logprobs),
        version=VERSION,
        metadata=provenance(seed, data),
        headline_metric=HeadlineMetric(metric=f"{HEADLINE}/all"),
        viewer=viewer(STUDY),
    )
