"""FermiEval: intervals for orders of magnitude at four nominal coverages.

Epstein, Winnicki, Sornwanee & Dwaraknath (2025).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from inspect_ai import Task, task
from inspect_ai.log import HeadlineMetric
from inspect_ai.model import GenerateConfig

from confidence_tasks.harness.inspect.metrics import metrics_of
from confidence_tasks.harness.inspect.model_calls import cached_generate
from confidence_tasks.harness.inspect.parameters import validate_parameters
from confidence_tasks.harness.inspect.samples import Item, dataset, listed, one_of
from confidence_tasks.harness.inspect.viewer import provenance, viewer
from confidence_tasks.sources import Question, load
from confidence_tasks.sources.fermi import AUTHORS
from confidence_tasks.sources.fermi import SPLITS as SOURCE_SPLITS
from confidence_tasks.sources.own_file import is_own_file
from confidence_tasks.studies.fermieval import STUDY
from confidence_tasks.studies.fermieval.prompts import (
    LARGEST_KEY,
    LEVELS,
    condition_of,
    interval_prompt,
    interval_system,
)
from confidence_tasks.studies.fermieval.trials import (
    HEADLINE,
    PAPER_MAX_EXPONENT,
    TEST,
    fermieval_scorer,
    fermieval_summary,
)

VERSION = "1-A"

SPLITS = ("all", TEST, *AUTHORS)
"""Which questions may be asked: those of both halves, or of the test half, so that nothing is fitted; drawn by seed, or
those of the paper's authors."""

CALIBRATED = ("all", "authors")
"""Splits with a calibration half."""

CROSS = "cross"
"""Ask both halves and judge all of their questions, each adjusted by the others."""


def fermieval_questions(
    split: str = "all",
    *,
    source: str = "fermi",
    n: int | None = None,
    seed: int = 0,
    mirror: str | None = None,
) -> list[Question]:
    """Load the questions to be asked for intervals, each with its half in its metadata.

    Parameters
    ----------
    split : {"all", "test", "authors", "authors_test", "cross"}
        Both halves, the test half, the same of the paper's authors, or both as one test half.
    source : str
        ``fermi``, or the path of a file of questions, each with its key in ``exponent``: a whole number. Its questions
        are in the halves in turns.
    n : int, optional
        Number of questions, in turns from both halves; all by default.
    seed : int
        Seed of the halves and of the order.
    mirror : str, optional
        Folder with local copies of the question sources.
    """
    chosen = one_of((*SPLITS, CROSS), split, "split")
    if source != "fermi":
        questions = _own_questions(source, chosen, seed)[:n]
    else:
        questions = load("fermi", n=n, seed=seed, mirror=mirror, split="all" if chosen == CROSS else chosen)
    return [_in_half(question, TEST) for question in questions] if chosen == CROSS else questions


def exponent_questions(
    split: str = "all", *, n: int | None = None, seed: int = 0, mirror: str | None = None
) -> list[Question]:
    """Load the questions to be asked for a single exponent, within the largest that the paper's figures keep.

    Parameters
    ----------
    split : {"all", "test", "authors", "authors_test"}
        Both halves or the test half, drawn by seed or those of the paper's authors.
    n, seed, mirror
        As of :func:`fermieval_questions`.
    """
    questions = load("fermi", seed=seed, mirror=mirror, split=one_of(SPLITS, split, "split"))
    return [question for question in questions if abs(int(question.gold or 0)) <= PAPER_MAX_EXPONENT][:n]


def _own_questions(path: str, split: str, seed: int) -> list[Question]:
    """Load a file of questions, in the order of the seed and in the halves in turns; ValueError names a wrong key."""
    if split in AUTHORS:
        raise ValueError(f"split={split!r} is of the archive's questions; leave out source, or the split")
    if not is_own_file(path):
        raise ValueError(
            f"source={path!r} is neither fermi nor the path of a .jsonl or .csv file of questions"
        )
    questions = load(path, seed=seed, key="exponent")
    for question in questions:
        if question.kind != "number" or not _is_exponent(question.gold or ""):
            raise ValueError(
                f"{question.id}: its exponent {question.gold!r} is not a whole number within ±{LARGEST_KEY:,}"
            )
    halves = [_in_half(question, SOURCE_SPLITS[turn % 2]) for turn, question in enumerate(questions)]
    return [question for question in halves if split in ("all", CROSS, question.metadata["split"])]


def _is_exponent(key: str) -> bool:
    return float(key).is_integer() and abs(float(key)) <= LARGEST_KEY


def _in_half(question: Question, half: str) -> Question:
    return replace(question, metadata={**question.metadata, "split": half})


def limit_of(max_exponent: float | None, split: str) -> float | None:
    """Return how far from 0 the truth and both ends may lie: as asked for, or for the authors' split as in the paper.

    Examples
    --------
    >>> limit_of(None, "all"), limit_of(None, "authors"), limit_of(50, "authors")
    (None, 100, 50)
    """
    if max_exponent is not None and not max_exponent > 0:
        raise ValueError(f"max_exponent={max_exponent!r} must be above 0, such as {PAPER_MAX_EXPONENT}")
    return PAPER_MAX_EXPONENT if max_exponent is None and split in AUTHORS else max_exponent


def fermieval_items(
    questions: Sequence[Question], levels: Sequence[float] = LEVELS, max_exponent: float | None = None
) -> Iterator[Item]:
    """Yield every question at every level, question by question.

    Parameters
    ----------
    questions : sequence of Question
        What to ask; the metadata of each says which half it is in.
    levels : sequence of float
        The conditions: nominal coverages.
    max_exponent : float, optional
        Largest distance from 0 of a truth and an end that count.
    """
    limit = {} if max_exponent is None else {"max_exponent": max_exponent}
    for question in questions:
        for level in levels:
            yield Item(
                question,
                condition_of(level),
                interval_prompt(question.text, level),
                system=interval_system(level),
                metadata={"level": level, "split": question.metadata["split"], **limit},
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
    source: str = "fermi",
    max_exponent: float | None = None,
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
    split : {"all", "test", "cross", "authors", "authors_test"}
        ``all`` asks 500 questions of a calibration half, by which intervals are adjusted, and 500 of a test half.
        Where no calibration half can be spared, ``test`` asks the test half only, and ``cross`` judges the questions of
        both halves; the interval of each question is then adjusted by all others (jackknife+). ``authors`` and
        ``authors_test`` ask the questions of the paper's own halves with its keys: 491 of the 500 of each half, as the
        others are not in the archive at the pinned commit.
    source : str
        ``fermi``, or the path of a file of questions with the fields ``question`` and ``exponent``, the key.
    max_exponent : float, optional
        Leave out what the paper's figures leave out, with 100: trials whose truth or an end lies further from 0. By
        default 100 for the authors' questions, and no limit for others. ``n_excluded`` counts them.
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
    limit = limit_of(max_exponent, split)
    questions = fermieval_questions(split, source=source, n=n, seed=seed, mirror=mirror)
    headline = condition_of(chosen[0]) if len(chosen) == 1 else "all"
    data = dataset(fermieval_items(questions, chosen, limit), "FermiEval")
    return Task(
        dataset=data,
        solver=cached_generate(cache),
        scorer=fermieval_scorer(),
        metrics=metrics_of(
            STUDY, fermieval_summary, overall=["all"], levels=chosen, conformal=split in CALIBRATED
        ),
        config=GenerateConfig(temperature=temperature),
        version=VERSION,
        metadata=provenance(seed, data),
        headline_metric=HeadlineMetric(metric=f"{HEADLINE}/{headline}"),
        viewer=viewer(STUDY),
    )
