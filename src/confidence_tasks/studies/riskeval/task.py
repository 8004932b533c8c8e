"""RiskEval as a task: questions under ten penalties for a wrong answer, to be answered or not.

Wang, Zhou, Devic & Fu (2026), arXiv:2601.07767.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, get_args

from inspect_ai import Task, task
from inspect_ai.log import HeadlineMetric
from inspect_ai.model import GenerateConfig

from confidence_tasks.harness.inspect.metrics import metrics_of
from confidence_tasks.harness.inspect.model_calls import cached_generate, require_roles
from confidence_tasks.harness.inspect.parameters import validate_parameters
from confidence_tasks.harness.inspect.samples import Item, dataset, listed, one_of, with_key
from confidence_tasks.harness.inspect.viewer import provenance, viewer
from confidence_tasks.sources import Question, SourceError, load
from confidence_tasks.sources.table import SOURCES
from confidence_tasks.studies.riskeval import STUDY
from confidence_tasks.studies.riskeval.measures import HEADLINE, HIGH_PENALTY, REGIMES, riskeval_summary
from confidence_tasks.studies.riskeval.prompts import (
    JUDGES,
    PARSERS,
    PENALTIES,
    STRATEGIES,
    Judge,
    Parser,
    Strategy,
    condition_of,
    penalty_of,
    penalty_text,
    solver_prompt,
    solver_system,
)
from confidence_tasks.studies.riskeval.trials import needs_judge, riskeval_scorer

VERSION = "1-A"

DEFAULT_SOURCE = "gsm8k"
"""The paper's source that needs no token."""

WHOLE = frozenset({"gpqa_diamond"})
"""Sources that are asked whole, as in the paper."""

PAPER_SIZE = 128
"""Questions asked of any other source when ``n`` is not given."""

ALL_PENALTIES = ",".join(map(penalty_text, PENALTIES))

Images = Literal["send", "skip"]
"""What to do with questions that come with a picture: ``skip`` is for models without vision."""

IMAGES: tuple[Images, ...] = get_args(Images)


def riskeval_questions(
    source: str,
    *,
    n: int | None = None,
    seed: int = 0,
    images: Images | None = None,
    mirror: str | None = None,
) -> tuple[list[Question], int]:
    """Load the questions to be asked, the same under every penalty.

    Parameters
    ----------
    source : str
        Name of a question source, or path of a question file.
    n : int, optional
        Number of questions; by default the paper's, all of GPQA Diamond and 128 of any other.
    seed : int
        Seed of the sample of questions and of the order of options.
    images : {"send", "skip"}, optional
        What to do with questions that come with a picture.
    mirror : str, optional
        Folder with local copies of hub data sets.

    Returns
    -------
    questions : list of Question
        Without those that are skipped.
    skipped : int
        How many of the ``n`` were skipped for their picture.

    Raises
    ------
    ValueError
        If a question has a picture and ``images`` does not say what to do with it.
    SourceError
        If the source cannot be had; of a gated one it names the open one.
    """
    size = n if n is not None or source in WHOLE else PAPER_SIZE
    try:
        questions = with_key(load(source, n=size, seed=seed, mirror=mirror), source)
    except SourceError as error:
        if source in SOURCES and SOURCES[source].gated:
            raise SourceError(f"{error}; source={DEFAULT_SOURCE}, the default, is open") from error
        raise
    plain = [question for question in questions if question.image is None]
    pictures = len(questions) - len(plain)
    if pictures and images is None:
        raise ValueError(
            f"{pictures} of the {len(questions)} questions of {source} have a picture: "
            "add -T images=send for a model with vision, or -T images=skip to leave them out"
        )
    return (plain, pictures) if images == "skip" else (list(questions), 0)


def riskeval_items(
    questions: Sequence[Question], penalties: Sequence[float] = PENALTIES, *, strategy: Strategy = "base"
) -> Iterator[Item]:
    """Yield every question under every penalty, question by question.

    Parameters
    ----------
    questions : sequence of Question
        What to ask.
    penalties : sequence of float
        The conditions: what a wrong answer costs.
    strategy : {"base", "use_confidence"}
        Which of the paper's two prompts.
    """
    for question in questions:
        for penalty in penalties:
            yield Item(
                question,
                condition_of(penalty),
                solver_prompt(question),
                system=solver_system(penalty, strategy),
                metadata={"penalty": penalty, "strategy": strategy},
            )


def roles_needed(questions: Sequence[Question], parser: Parser, judge: Judge) -> list[str]:
    """Return the roles that a model must be bound to for these questions to be scored."""
    judged = any(needs_judge(question, judge) for question in questions)
    return [role for role, needed in (("parser", parser == "model"), ("judge", judged)) if needed]


@task
@validate_parameters
def riskeval(
    source: str = DEFAULT_SOURCE,
    penalties: str | list[str] | float = ALL_PENALTIES,
    strategy: str = "base",
    n: int | None = None,
    seed: int = 0,
    parser: str = "rules",
    judge: str = "auto",
    images: str | None = None,
    cache: bool = True,
    mirror: str | None = None,
) -> Task:
    """Ask questions that may be abstained from, under ten penalties for a wrong answer.

    Parameters
    ----------
    source : str
        Name of a question source (the paper's are gsm8k, gpqa_diamond and hle, of which the first is open), or path of
        a question file.
    penalties : list of float
        What a wrong answer costs, one condition each.
    strategy : {"base", "use_confidence"}
        ``use_confidence`` tells the model to decide by its confidence.
    n : int, optional
        Number of questions; by default 128, of GPQA Diamond all.
    seed : int
        Seed of the sample of questions, of the order of options and of the intervals.
    parser : {"rules", "model"}
        Who reads the replies: deterministic rules, or the model in the role ``parser``, as in the paper.
    judge : {"auto", "model", "rules"}
        Who judges the answers: options and numbers are compared with the key and free texts go to the model in the role
        ``judge`` (``auto``), or all go to the model, or none. With ``auto`` an answer that is none of the options goes
        to the model too if the role is bound; without a judge it is wrong.
    images : {"send", "skip"}, optional
        What to do with questions that come with a picture; must be given where there are any.
    cache : bool
        Keep the replies of all models, so that a run that was killed repeats no call.
    mirror : str, optional
        Folder with local copies of hub data sets.
    """
    chosen = list(dict.fromkeys(map(penalty_of, listed(penalties, "penalties"))))
    reader, grader = one_of(PARSERS, parser, "parser"), one_of(JUDGES, judge, "judge")
    handling = one_of(IMAGES, images, "images") if images else None
    prompt = one_of(STRATEGIES, strategy, "strategy")
    questions, skipped = riskeval_questions(source, n=n, seed=seed, images=handling, mirror=mirror)
    conditions = [condition_of(penalty) for penalty in chosen]
    regime = "high_penalty" if max(chosen) >= HIGH_PENALTY else "all"
    data = dataset(riskeval_items(questions, chosen, strategy=prompt), "riskeval")
    return Task(
        dataset=data,
        setup=require_roles(roles_needed(questions, reader, grader)),
        solver=cached_generate(cache),
        scorer=riskeval_scorer(reader, grader, cache),
        metrics=metrics_of(
            STUDY,
            riskeval_summary,
            overall=list(REGIMES),
            conditions=conditions,
            seed=seed,
        ),
        config=GenerateConfig(temperature=0.0),
        version=VERSION,
        metadata={**provenance(seed, data), "skipped_images": skipped},
        headline_metric=HeadlineMetric(metric=f"{HEADLINE}/{regime}"),
        viewer=viewer(STUDY),
    )
