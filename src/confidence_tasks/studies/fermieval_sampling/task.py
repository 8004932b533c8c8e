"""FermiEval by repeated samples: the same question many times, at one or several temperatures.

Epstein, Winnicki, Sornwanee & Dwaraknath (2025), theorem 1 and appendices F and G.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from inspect_ai import Epochs, Task, task
from inspect_ai.log import HeadlineMetric
from inspect_ai.model import get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver

from confidence_tasks.harness.inspect.metrics import metrics_of
from confidence_tasks.harness.inspect.model_calls import ask_once
from confidence_tasks.harness.inspect.parameters import validate_parameters
from confidence_tasks.harness.inspect.samples import Item, dataset, listed, one_of
from confidence_tasks.harness.inspect.viewer import provenance, viewer
from confidence_tasks.harness.reply_seed import reply_seed
from confidence_tasks.sources import Question
from confidence_tasks.studies.fermieval.prompts import (
    EXPONENT_SYSTEM,
    condition_of,
    exponent_prompt,
    interval_prompt,
    interval_system,
)
from confidence_tasks.studies.fermieval.task import CALIBRATED, exponent_questions, levels_of
from confidence_tasks.studies.fermieval_sampling import STUDY
from confidence_tasks.studies.fermieval_sampling.trials import (
    ASKS,
    SHORTFALL_WEIGHT,
    Ask,
    cell_of,
    fermieval_sampling_scorer,
    sampling_summary,
)

VERSION = "1-A"

LOGGED = ("coverage_gap", "coverage", "mean_width", "winkler", "parse_rate")
"""Measures of intervals that a log has as metrics by default."""


def sampling_items(
    questions: Sequence[Question],
    asks: Sequence[Ask],
    temperatures: Sequence[float],
    levels: Sequence[float],
) -> Iterator[Item]:
    """Yield every question in every way, at every temperature and, for intervals, at every level.

    Parameters
    ----------
    questions : sequence of Question
        What to ask.
    asks : sequence of {"interval", "direct", "reasoned"}
        Ways to ask.
    temperatures : sequence of float
        At which to sample.
    levels : sequence of float
        Nominal coverages of intervals. Exponents are asked for once for all of them.
    """
    for question in questions:
        for ask in asks:
            for temperature in temperatures:
                for level in levels if ask == "interval" else (None,):
                    yield Item(
                        question,
                        cell_of(ask, temperature, level),
                        exponent_prompt(question.text, ask)
                        if level is None
                        else interval_prompt(question.text, level),
                        system=EXPONENT_SYSTEM if level is None else interval_system(level),
                        metadata={
                            "ask": ask,
                            "temperature": temperature,
                            "asked_level": level,
                            "split": question.metadata["split"],
                        },
                    )


@solver
def sample_once(seed: int = 0, cache: bool = True) -> Solver:
    """Generate at the temperature of the condition, with a seed of its own; no sample is paid for twice."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        temperature = float(state.metadata["temperature"])
        own = reply_seed(get_model(), state, seed, simulated=state.epoch)
        return await ask_once(state, generate, cache, temperature=temperature, seed=own)

    return solve


def temperatures_of(value: str | float | list[float]) -> list[float]:
    """Return the temperatures that a user names; ValueError unless each lies above 0 and is at most 2.

    Examples
    --------
    >>> temperatures_of("0.2,1")
    [0.2, 1.0]
    """
    try:
        found = list(dict.fromkeys(map(float, listed(value, "temperatures"))))
    except ValueError:
        found = []
    if not found or not all(0.0 < temperature <= 2.0 for temperature in found):
        raise ValueError(f"temperatures={value!r}: name numbers above 0 and up to 2, such as 0.2,0.7,1")
    return found


@task
@validate_parameters
def fermieval_sampling(
    ask: str | list[str] = "interval",
    samples: int = 20,
    temperatures: str | float | list[float] = "1",
    levels: str | float | list[float] = "0.9,0.95,0.99,0.998",
    split: str = "all",
    n: int | None = None,
    seed: int = 0,
    shortfall_weight: float = SHORTFALL_WEIGHT,
    cache: bool = True,
    mirror: str | None = None,
) -> Task:
    """Ask every question many times, and take the outer quantiles of what is said.

    Parameters
    ----------
    ask : list of {"interval", "direct", "reasoned"}
        What is sampled: intervals, bare exponents, exponents after reasoning. ``direct,reasoned`` gives the tunnel
        index.
    samples : int
        How often each question is asked under each condition; a level of 0.9 needs 20 to tell its quantiles.
    temperatures : list of float
        At which temperatures, above 0; the best is chosen on the calibration half.
    levels : list of float
        Nominal coverages.
    split : {"all", "test", "authors", "authors_test"}
        Ask both halves, or the test half only, without choice of temperature; drawn by seed, or the paper's own.
    n : int, optional
        Number of questions, in turns from both halves; all by default.
    seed : int
        Seed of the halves and of the order.
    shortfall_weight : float
        Weight of the squared shortfall of coverage where the temperature is chosen, 0 or above: lambda of the paper's
        appendix F, which gives no value.
    cache : bool
        Keep every sample, so that a run that was killed repeats no call.
    mirror : str, optional
        Folder with local copies of the question sources.
    """
    if not shortfall_weight >= 0.0:
        raise ValueError(f"shortfall_weight={shortfall_weight!r} must be 0 or above")
    asks = [one_of(ASKS, name, "ask") for name in listed(ask, "ask")]
    warm, chosen = temperatures_of(temperatures), levels_of(levels)
    questions = exponent_questions(split, n=n, seed=seed, mirror=mirror)
    where = cell_of(asks[0], warm[0]) if split not in CALIBRATED else f"{asks[0]},chosen"
    data = dataset(sampling_items(questions, asks, warm, chosen), "FermiEval")
    return Task(
        dataset=data,
        solver=sample_once(seed, cache),
        scorer=fermieval_sampling_scorer(),
        metrics=metrics_of(
            STUDY,
            sampling_summary,
            headline=LOGGED,
            levels=chosen,
            asks=asks,
            temperatures=warm,
            shortfall_weight=shortfall_weight,
        ),
        epochs=Epochs(samples, []),
        version=VERSION,
        metadata=provenance(seed, data),
        headline_metric=HeadlineMetric(metric=f"coverage_gap/{where},{condition_of(chosen[0])}"),
        viewer=viewer(STUDY),
    )
