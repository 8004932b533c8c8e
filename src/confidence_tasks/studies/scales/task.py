"""The confidence-scale study as three tasks: granularity, boundary placement and non-standard ranges.

Dai (2026), arXiv:2603.09309.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from inspect_ai import Task, task
from inspect_ai.log import HeadlineMetric
from inspect_ai.model import GenerateConfig

from confidence_tasks.harness.fewshot import held_out
from confidence_tasks.harness.inspect.metrics import condition_summary, metrics_of
from confidence_tasks.harness.inspect.model_calls import cached_generate
from confidence_tasks.harness.inspect.parameters import validate_parameters
from confidence_tasks.harness.inspect.samples import Item, dataset, listed, one_of, with_key
from confidence_tasks.harness.inspect.viewer import provenance, viewer
from confidence_tasks.sources import load
from confidence_tasks.studies.scales import STUDY
from confidence_tasks.studies.scales.prompts import ELICITATIONS, PROMPTS, Elicitation, Prompt, scale_prompt
from confidence_tasks.studies.scales.scale import BOUNDARY, GRANULARITY, NONSTANDARD, Scale
from confidence_tasks.studies.scales.trials import scale_scorer
from confidence_tasks.studies.scales.worked_examples import worked_examples

VERSION = "1-A"

SOURCES = "mmlu,gsm8k,truthfulqa"
"""The paper's three data sets (section 3.4)."""

PAPER_SIZES = {"mmlu": 1000}
"""Questions asked of a source when ``n`` is not given; other sources are asked whole."""


def scale_items(
    scales: Sequence[Scale],
    sources: Sequence[str],
    *,
    n: int | None = None,
    seed: int = 0,
    elicitation: Elicitation = "verbal",
    prompt: Prompt = "b1",
    fewshot: int = 0,
    mirror: str | None = None,
) -> Iterator[Item]:
    """Yield every question on every scale, question by question.

    Parameters
    ----------
    scales : sequence of Scale
        The conditions.
    sources : sequence of str
        Names of question sources, or paths of question files.
    n : int, optional
        Questions per source; by default the paper's number, or all.
    seed : int
        Seed of the sample of questions and of the order of options.
    elicitation : {"verbal", "cot", "top_k"}
        How confidence is asked for.
    prompt : {"b1", "b2"}
        Which of the paper's two wordings.
    fewshot : int
        Worked examples before each question, from questions that are not asked.
    mirror : str, optional
        Folder with local copies of hub data sets.
    """
    names: set[str] = set()
    for source in sources:
        size = PAPER_SIZES.get(source) if n is None else n
        questions = load(source, n=None if size is None else size + fewshot, seed=seed, mirror=mirror)
        name = with_key(questions, source)[0].source
        if name in names:
            raise ValueError(
                f"{source} and another of the sources are both named {name}: rename one of the files"
            )
        names.add(name)
        asked, shown = held_out(questions, fewshot)
        examples = {scale: worked_examples(shown, scale, elicitation, prompt) for scale in scales}
        for question in asked:
            for scale in scales:
                yield Item(
                    question,
                    scale.label,
                    scale_prompt(question, scale, elicitation, prompt),
                    examples=examples[scale],
                    metadata={"elicitation": elicitation},
                )


def _scale_task(
    design: Sequence[Scale],
    scales: str | Sequence[str] | None,
    sources: str | Sequence[str],
    n: int | None,
    seed: int,
    elicitation: str,
    prompt: str,
    strict: bool,
    fewshot: int,
    mirror: str | None,
    cache: bool,
) -> Task:
    """Build the task of one design, or of some of its scales."""
    chosen = (
        list(dict.fromkeys(map(Scale.parse, listed(scales, "scales"))))
        if scales is not None
        else list(design)
    )
    items = scale_items(
        chosen,
        listed(sources, "sources"),
        n=n,
        seed=seed,
        elicitation=one_of(ELICITATIONS, elicitation, "elicitation"),
        prompt=one_of(PROMPTS, prompt, "prompt"),
        fewshot=fewshot,
        mirror=mirror,
    )
    conditions = [scale.label for scale in chosen]
    data = dataset(items, "confidence scales")
    return Task(
        dataset=data,
        solver=cached_generate(cache),
        scorer=scale_scorer(strict),
        metrics=metrics_of(STUDY, condition_summary, study=STUDY.reference, conditions=conditions),
        config=GenerateConfig(temperature=0.0),
        version=VERSION,
        metadata=provenance(seed, data),
        headline_metric=HeadlineMetric(metric=f"{STUDY.headline[0]}/{conditions[0]}"),
        viewer=viewer(STUDY),
    )


@task
@validate_parameters
def scale_granularity(
    scales: str | list[str] | None = None,
    sources: str | list[str] = SOURCES,
    n: int | None = None,
    seed: int = 0,
    elicitation: str = "verbal",
    prompt: str = "b1",
    strict: bool = False,
    fewshot: int = 0,
    mirror: str | None = None,
    cache: bool = True,
) -> Task:
    """Does the number of steps on the scale matter? [0,5], [0,10], [0,20], [0,50] and [0,100]."""
    return _scale_task(
        GRANULARITY, scales, sources, n, seed, elicitation, prompt, strict, fewshot, mirror, cache
    )


@task
@validate_parameters
def scale_boundary(
    scales: str | list[str] | None = None,
    sources: str | list[str] = SOURCES,
    n: int | None = None,
    seed: int = 0,
    elicitation: str = "verbal",
    prompt: str = "b1",
    strict: bool = False,
    fewshot: int = 0,
    mirror: str | None = None,
    cache: bool = True,
) -> Task:
    """Does the model use a scale whose lower bound is raised? [0,100], [20,100], [40,100] and [60,100]."""
    return _scale_task(
        BOUNDARY, scales, sources, n, seed, elicitation, prompt, strict, fewshot, mirror, cache
    )


@task
@validate_parameters
def scale_nonstandard(
    scales: str | list[str] | None = None,
    sources: str | list[str] = SOURCES,
    n: int | None = None,
    seed: int = 0,
    elicitation: str = "verbal",
    prompt: str = "b1",
    strict: bool = False,
    fewshot: int = 0,
    mirror: str | None = None,
    cache: bool = True,
) -> Task:
    """Does the model heed odd bounds? [0,73], [14,86], [7,79], [3,38] and [0,97] beside [0,100]."""
    return _scale_task(
        NONSTANDARD, scales, sources, n, seed, elicitation, prompt, strict, fewshot, mirror, cache
    )
