"""FermiEval: intervals for orders of magnitude at four nominal coverages.

Epstein, Winnicki, Sornwanee & Dwaraknath (2025).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from confidence_tasks.harness.inspect.samples import listed
from confidence_tasks.sources import Question, load
from confidence_tasks.sources.fermi import AUTHORS
from confidence_tasks.sources.fermi import SPLITS as SOURCE_SPLITS
from confidence_tasks.sources.own_file import is_own_file
from confidence_tasks.studies.fermieval import CROSS
from confidence_tasks.studies.fermieval.prompts import (
    LARGEST_KEY,
    interval_prompt,
    interval_system,
    level_of,
)
from confidence_tasks.studies.fermieval.trials import (
    CONFORMAL_MEASURES,
    JACKKNIFE_MEASURES,
    MEASURES,
    PAPER_MAX_EXPONENT,
    TEST,
    fermieval_summary,
)
from confidence_tasks.study import Replies, Stage, TaskMetrics

CALIBRATED = ("all", "authors")
"""Splits with a calibration half."""

LOGGED = ("coverage", "coverage_gap", "mean_width", "winkler", "parse_rate")
"""Measures that logs have by default of intervals that are made of exponents."""


def fermieval_questions(parameters: Mapping[str, Any]) -> list[Question]:
    """Return the questions, each with its half and the largest exponent that counts.

    That is the one asked for, or for the authors' split the one of the paper. Questions of a file are in the halves in
    turns.
    """
    for level in levels_of(parameters["levels"]):
        interval_prompt("", level)  # refuses what it cannot show
    split, n, seed = (parameters[name] for name in ("split", "n", "seed"))
    if parameters["source"] != "fermi":
        questions = _own_questions(parameters["source"], split, seed)[:n]
    else:
        halves = "all" if split == CROSS else split
        questions = load("fermi", n=n, seed=seed, mirror=parameters["mirror"], split=halves)
    limit = parameters["max_exponent"] or (PAPER_MAX_EXPONENT if split in AUTHORS else None)
    limited = {"max_exponent": limit} if limit else {}
    return [
        _with(question, **({"split": TEST} if split == CROSS else {}), **limited) for question in questions
    ]


def exponent_questions(parameters: Mapping[str, Any]) -> list[Question]:
    """Return the questions to be asked for a single exponent, within the largest that the paper's figures keep.

    ValueError if the levels are no coverages.
    """
    levels_of(parameters["levels"])
    asked = {name: parameters[name] for name in ("seed", "mirror", "split")}
    questions = load("fermi", **asked)
    return [each for each in questions if abs(int(each.gold or 0)) <= PAPER_MAX_EXPONENT][: parameters["n"]]


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
    halves = [_with(question, split=SOURCE_SPLITS[turn % 2]) for turn, question in enumerate(questions)]
    return [question for question in halves if split in ("all", CROSS, question.metadata["split"])]


def _is_exponent(key: str) -> bool:
    return float(key).is_integer() and abs(float(key)) <= LARGEST_KEY


def _with(question: Question, **metadata: Any) -> Question:
    return replace(question, metadata={**question.metadata, **metadata})


def fermieval_stages(parameters: Mapping[str, Any]) -> list[Stage]:
    """Return the only call."""
    return [Stage("interval", _ask, system=_system, temperature=parameters["temperature"] or None)]


def _ask(question: Question, condition: str, replies: Replies) -> str:
    return interval_prompt(question.text, level_of(condition))


def _system(question: Question, condition: str) -> str:
    return interval_system(level_of(condition))


def fermieval_metrics(parameters: Mapping[str, Any], conditions: Sequence[str]) -> TaskMetrics:
    """Return the measures by level; without a calibration half, intervals are adjusted by each other."""
    calibrated = parameters["split"] in CALIBRATED
    return TaskMetrics(
        fermieval_summary,
        {"levels": [level_of(label) for label in conditions], "conformal": calibrated},
        MEASURES + (CONFORMAL_MEASURES if calibrated else JACKKNIFE_MEASURES),
        conditions[0] if len(conditions) == 1 else "all",
        overall=("all",),
    )


def levels_of(value: str | float | list[float]) -> list[float]:
    """Return the nominal coverages that a user names; ValueError unless each lies in (0, 1).

    Examples
    --------
    >>> levels_of("0.9, 0.99"), levels_of(0.5)
    ([0.9, 0.99], [0.5])
    """
    return list(dict.fromkeys(map(level_of, listed(value, "levels"))))
