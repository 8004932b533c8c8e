"""FermiEval: intervals for orders of magnitude at four nominal coverages.

Epstein, Winnicki, Sornwanee & Dwaraknath (2025).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from inspect_ai import Task, task
from inspect_ai.log import HeadlineMetric
from inspect_ai.model import GenerateConfig

from confidence_tasks.harness.inspect.model_calls import cached_generate
from confidence_tasks.harness.inspect.parameters import validate_parameters
from confidence_tasks.harness.inspect.samples import Item, dataset, listed, one_of
from confidence_tasks.harness.inspect.viewer import provenance, viewer
from confidence_tasks.sources import Question, load
from confidence_tasks.studies.fermieval.prompts import LEVELS, condition_of, interval_prompt, interval_system
from confidence_tasks.studies.fermieval.trials import HEADLINE, TEST, fermieval_metrics, fermieval_scorer

VERSION = "1-A"

SPLITS = ("all", TEST)
"""Which questions may be asked: those of both halves, or of the test half, so that nothing is fitted."""

CROSS = "cross"
"""Ask both halves and judge all of their questions, each adjusted by the others."""


def fermieval_questions(
    split: str = "all", *, n: int | None = None, seed: int = 0, mirror: str | None = None
) -> list[Question]:
    """Load the questions to be asked for intervals, each with its half in its metadata.

    Parameters
    ----------
    split : {"all", "test", "cross"}
        Both halves, the test half, or both as one test half.
    n : int, optional
        Number of questions, in turns from both halves; all by default.
    seed : int
        Seed of the halves and of the order.
    mirror : str, optional
        Folder with local copies of the question sources.
    """
    chosen = one_of((*SPLITS, CROSS), split, "split")
    if chosen != CROSS:
        return load("fermi", n=n, seed=seed, mirror=mirror, split=chosen)
    return [
        replace(question, metadata={**question.metadata, "split": TEST})
        for question in load("fermi", n=n, seed=seed, mirror=mirror, split="all")
    ]


def fermieval_items(questions: Sequence[Question], levels: Sequence[float] = LEVELS) -> Iterator[Item]:
    """Yield every question at every level, question by question.

    Parameters
    ----------
    questions : sequence of Question
        What to ask; the metadata of each says which half it is in.
    levels : sequence of float
        The conditions: nominal coverages.
    """
    for question in questions:
        for level in levels:
            yield Item(
                question,
                condition_of(level),
                interval_prompt(question.text, level),
                system=interval_system(level),
                metadata={"level": level, "split": question.metadata["split"]},
            )


def levels_of(value: str | float | list[float]) -> list[float]:
    """Return the nominal coverages that a user names; ValueError unless each lies in (0, 1).

    Examples
    --------
    >>> levels_of("0.9, 0.99"), levels_of(0.5)
    ([0.9, 0.99], [0.5])
    """
    levels = []
    for text in listed(value, "levels"):
        try:
            level = float(text)
        except ValueError:
            level = 0.0
        if not 0.0 < level < 1.0:
            raise ValueError(f"levels: {text!r} is not a coverage between 0 and 1, such as 0.95")
        if level != round(level, 4):
            raise ValueError(
                f"levels: the prompt would ask for {100 * level:.2f}%, not {text}: name four decimals at most"
            )
        levels.append(level)
    return list(dict.fromkeys(levels))


@task
@validate_parameters
def fermieval(
    levels: str | float | list[float] = "0.9,0.95,0.99,0.998",
    split: str = "all",
    n: int | None = None,
    seed: int = 0,
    temperature: float = 0.0,
    cache: bool = True,
    mirror: str | None = None,
) -> Task:
    """Ask for intervals of orders of magnitude at nominal coverages, and adjust them conformally.

    Parameters
    ----------
    levels : list of float
        Nominal coverages, one condition each.
    split : {"all", "test", "cross"}
        ``all`` asks 500 questions of a calibration half, by which intervals are adjusted, and 500 of a test half.
        Where no calibration half can be spared, ``test`` asks the test half only, and ``cross`` judges the questions of
        both halves; the interval of each question is then adjusted by all others (jackknife+).
    n : int, optional
        Number of questions, in turns from both halves; all by default.
    seed : int
        Seed of the halves and of the order.
    temperature : float
        Of generation; the paper leaves the provider's default, which differs between providers.
    cache : bool
        Keep replies, so that a run that was killed repeats no call.
    mirror : str, optional
        Folder with local copies of the question sources.
    """
    chosen = levels_of(levels)
    questions = fermieval_questions(split, n=n, seed=seed, mirror=mirror)
    headline = condition_of(chosen[0]) if len(chosen) == 1 else "all"
    data = dataset(fermieval_items(questions, chosen), "FermiEval")
    return Task(
        dataset=data,
        solver=cached_generate(cache),
        scorer=fermieval_scorer(),
        metrics=[fermieval_metrics(chosen, split == "all")],
        config=GenerateConfig(temperature=temperature),
        version=VERSION,
        metadata=provenance(seed, data),
        headline_metric=HeadlineMetric(metric=f"{HEADLINE}/{headline}"),
        viewer=viewer(
            "fermieval_scorer",
            shown=("lower", "upper", "truth", "winkler"),
            hidden=("level", "width", "split", "rules"),
        ),
    )
