"""The five calibration question sets: BoolQ, SciQ, LSAT-AR, SAT-EN and HaluEval.

arXiv:2605.23909.
"""

from __future__ import annotations

from collections.abc import Iterator

from inspect_ai import Task, task
from inspect_ai.log import HeadlineMetric

from confidence_tasks.harness.inspect.metrics import metrics_of
from confidence_tasks.harness.inspect.parameters import validate_parameters
from confidence_tasks.harness.inspect.samples import Item, dataset, one_of
from confidence_tasks.harness.inspect.token_probabilities import asking, generation
from confidence_tasks.harness.inspect.viewer import provenance, viewer
from confidence_tasks.sources import Question, load
from confidence_tasks.studies.question_sets import STUDY
from confidence_tasks.studies.question_sets.prompts import HALUEVAL_PROMPTS, QUESTION_SETS, Form, QuestionSet
from confidence_tasks.studies.question_sets.trials import HEADLINE, question_set_scorer, question_set_summary

VERSION = "1-A"

_KINDS: dict[Form, str] = {"boolean": "boolean", "options": "choice", "judgement": "boolean"}


_SHOWN = ("answer", "knowledge", "passage", "question")
"""What a prompt shows of a question's metadata."""


def question_set_items(
    name: str,
    source: str,
    *,
    n: int | None = None,
    seed: int = 0,
    mirror: str | None = None,
    prompt: str | None = None,
) -> Iterator[Item]:
    """Yield the questions of ``source`` in the form of one question set.

    Parameters
    ----------
    name : str
        Name of the question set, whose form and wording are used.
    source : str
        Name of a question source, or path of a question file.
    n : int, optional
        Number of questions; all by default.
    seed : int
        Seed of the sample and of the order of options.
    mirror : str, optional
        Folder with local copies of hub data sets.
    prompt : {"given_answer", "own_answer"}, optional
        Wording of HaluEval, the first by default; the other sets have one wording.

    Raises
    ------
    ValueError
        If a question cannot be asked in this form, or the set has no such wording.
    """
    asked = _wording(name, prompt)
    for question in load(source, n=n, seed=seed, mirror=mirror):
        _check(name, asked.form, question)
        yield Item(
            question,
            question.source,
            asked.prompt(question),
            system=asked.system(question),
            metadata={"question_set": name, "given": question.metadata.get("answer", "")},
        )


def _wording(name: str, prompt: str | None) -> QuestionSet:
    if prompt is None:
        return QUESTION_SETS[name]
    if name != "halueval":
        raise ValueError(f"prompt={prompt!r}: {name} has one wording; leave prompt out")
    return HALUEVAL_PROMPTS[one_of(tuple(HALUEVAL_PROMPTS), prompt, "prompt")]


def _check(name: str, form: Form, question: Question) -> None:
    """Refuse a question that does not fit the form."""
    if question.kind != _KINDS[form]:
        raise ValueError(
            f"{name} asks questions of kind {_KINDS[form]!r}, "
            f"but {question.id} of {question.source!r} is of kind {question.kind!r}"
        )
    if form == "judgement" and not question.metadata.get("answer"):
        raise ValueError(
            f"{name} needs an answer to judge in the question's metadata; {question.id} has none"
        )
    for key in _SHOWN:
        if not isinstance(question.metadata.get(key, ""), str):
            raise ValueError(f"{name}: {key!r} in the metadata of {question.id} must be a text")


def _question_set_task(
    name: str,
    source: str,
    n: int | None,
    seed: int,
    mirror: str | None,
    cache: bool,
    top_logprobs: int = 0,
    prompt: str | None = None,
) -> Task:
    items = list(question_set_items(name, source, n=n, seed=seed, mirror=mirror, prompt=prompt))
    conditions = list(dict.fromkeys(item.condition for item in items))
    data = dataset(items, name)
    return Task(
        dataset=data,
        solver=asking(top_logprobs, cache),
        scorer=question_set_scorer(),
        metrics=metrics_of(
            STUDY,
            question_set_summary,
            task=name,
            conditions=conditions,
            token_probabilities=bool(top_logprobs),
        ),
        config=generation(top_logprobs),
        version=VERSION,
        metadata=provenance(seed, data),
        headline_metric=HeadlineMetric(metric=f"{HEADLINE}/{conditions[0]}"),
        viewer=viewer(STUDY),
    )


@task
@validate_parameters
def boolq(
    n: int | None = None,
    seed: int = 0,
    source: str = "boolq",
    mirror: str | None = None,
    top_logprobs: int = 0,
    cache: bool = True,
) -> Task:
    """True or false, with the probability of being right.

    Parameters
    ----------
    n : int, optional
        Number of questions; all 3,270 by default.
    seed : int
        Seed of their order.
    source : str
        Another source of yes/no questions, such as ``arithmetic_boolean``, or the path of a question file.
    mirror : str, optional
        Folder with local copies of hub data sets.
    top_logprobs : int
        Ask for token probabilities with so many alternatives; 0 does not ask.
    cache : bool
        Keep replies, so that a run that was killed repeats no call.
    """
    return _question_set_task("boolq", source, n, seed, mirror, cache, top_logprobs)


@task
@validate_parameters
def sciq(
    n: int | None = None,
    seed: int = 0,
    source: str = "sciq",
    mirror: str | None = None,
    top_logprobs: int = 0,
    cache: bool = True,
) -> Task:
    """Science questions with four options, a probability for each.

    Parameters
    ----------
    n : int, optional
        Number of questions; all 1,000 by default.
    seed : int
        Seed of their order and that of their options.
    source : str
        Another source of multiple-choice questions, such as ``arithmetic``, or the path of a question file.
    mirror, top_logprobs, cache
        As for ``boolq``.
    """
    return _question_set_task("sciq", source, n, seed, mirror, cache, top_logprobs)


@task
@validate_parameters
def lsat_ar(
    n: int | None = None,
    seed: int = 0,
    source: str = "lsat_ar",
    mirror: str | None = None,
    top_logprobs: int = 0,
    cache: bool = True,
) -> Task:
    """Analytical reasoning of the LSAT with five options, a probability for each; parameters as for ``sciq``."""
    return _question_set_task("lsat_ar", source, n, seed, mirror, cache, top_logprobs)


@task
@validate_parameters
def sat_en(
    n: int | None = None,
    seed: int = 0,
    source: str = "sat_en",
    mirror: str | None = None,
    top_logprobs: int = 0,
    cache: bool = True,
) -> Task:
    """SAT questions on a passage with four options, a probability for each; parameters as for ``sciq``."""
    return _question_set_task("sat_en", source, n, seed, mirror, cache, top_logprobs)


@task
@validate_parameters
def halueval(
    n: int | None = None,
    seed: int = 0,
    source: str = "halueval",
    prompt: str = "given_answer",
    mirror: str | None = None,
    cache: bool = True,
) -> Task:
    """How probable is it that a given answer, put into the model's own mouth, is right? Half are hallucinated.

    Parameters
    ----------
    n : int, optional
        Number of answers to judge, right and hallucinated in equal numbers; by default the paper's 2,000.
    seed : int
        Seed of the sample.
    source : str
        Another source with answers to judge, or the path of a question file with ``metadata.answer``.
    prompt : {"given_answer", "own_answer"}
        The first tells the model that it has given the answer and asks for the probability alone, as most models of the
        paper were asked. The second is the authors' older wording: it asks for an answer, and the given one already
        stands in the reply that the model continues.
    mirror : str, optional
        Folder with local copies of hub data sets.
    cache : bool
        Keep replies, so that a run that was killed repeats no call.
    """
    return _question_set_task("halueval", source, n, seed, mirror, cache, prompt=prompt)
