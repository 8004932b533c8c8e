"""FermiEval by token probabilities: an order of magnitude asked for as a bare integer, with the alternatives to it.

Epstein, Winnicki, Sornwanee & Dwaraknath (2025), section "Direct model elicitation via log probabilities".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from inspect_ai import Task, task
from inspect_ai.log import HeadlineMetric
from inspect_ai.model import GenerateConfig

from confidence_tasks.harness.inspect.metrics import metrics_of
from confidence_tasks.harness.inspect.parameters import validate_parameters
from confidence_tasks.harness.inspect.samples import Item, dataset
from confidence_tasks.harness.inspect.token_probabilities import (
    MOST_ALTERNATIVES,
    generate_with_probabilities,
)
from confidence_tasks.harness.inspect.viewer import provenance, viewer
from confidence_tasks.sources import Question
from confidence_tasks.studies.fermieval.prompts import EXPONENT_SYSTEM, condition_of, exponent_prompt
from confidence_tasks.studies.fermieval.task import CALIBRATED, exponent_questions, levels_of
from confidence_tasks.studies.fermieval_logprob import STUDY
from confidence_tasks.studies.fermieval_logprob.trials import (
    CONDITION,
    fermieval_logprob_scorer,
    logprob_summary,
)

VERSION = "1-A"

LOGGED = ("coverage_gap", "coverage", "mean_width", "winkler", "parse_rate")
"""Measures of intervals that a log has as metrics by default."""

LONGEST_REPLY = 8
"""Tokens: enough for a sign and the digits of any exponent."""


def exponent_items(questions: Sequence[Question]) -> Iterator[Item]:
    """Yield every question, asked for its exponent as a bare integer."""
    for question in questions:
        yield Item(
            question,
            CONDITION,
            exponent_prompt(question.text),
            system=EXPONENT_SYSTEM,
            metadata={"split": question.metadata["split"]},
        )


@task
@validate_parameters
def fermieval_logprob(
    levels: str | float | list[float] = "0.9,0.95,0.99,0.998",
    split: str = "all",
    n: int | None = None,
    seed: int = 0,
    top_logprobs: int = MOST_ALTERNATIVES,
    cache: bool = True,
    mirror: str | None = None,
) -> Task:
    """Build intervals from the probabilities of the integers that a model may answer with.

    Parameters
    ----------
    levels : list of float
        Nominal coverages; each question is asked once for all of them.
    split : {"all", "test", "authors", "authors_test"}
        Ask both halves, or the test half only, without temperature scaling; drawn by seed, or the paper's own.
    n : int, optional
        Number of questions, in turns from both halves; all by default.
    seed : int
        Seed of the halves and of the order.
    top_logprobs : int
        Alternatives to each token, 2 to 20.
    cache : bool
        Keep replies, so that a run that was killed repeats no call.
    mirror : str, optional
        Folder with local copies of the question sources.
    """
    chosen = levels_of(levels)
    if not 2 <= top_logprobs <= MOST_ALTERNATIVES:
        raise ValueError(f"top_logprobs={top_logprobs} must be 2 to {MOST_ALTERNATIVES}")
    questions = exponent_questions(split, n=n, seed=seed, mirror=mirror)
    data = dataset(exponent_items(questions), "FermiEval")
    return Task(
        dataset=data,
        solver=generate_with_probabilities("fermieval_logprob needs", cache),
        scorer=fermieval_logprob_scorer(),
        metrics=metrics_of(
            STUDY, logprob_summary, headline=LOGGED, levels=chosen, scaled=split in CALIBRATED
        ),
        config=GenerateConfig(
            temperature=0.0, logprobs=True, top_logprobs=top_logprobs, max_tokens=LONGEST_REPLY
        ),
        version=VERSION,
        metadata=provenance(seed, data),
        headline_metric=HeadlineMetric(metric=f"coverage_gap/{condition_of(chosen[0])}"),
        viewer=viewer(STUDY),
    )
