"""A study as both harnesses run it: its parameters, what it asks, and its trials."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import cache
from pkgutil import resolve_name
from typing import Any, TypeVar

from rich.markup import escape

from confidence_tasks.harness.compat import prerequisite_error
from confidence_tasks.simulation.reply import StageCall
from confidence_tasks.simulation.subject import make_subject, pick
from confidence_tasks.sources import SourceError
from confidence_tasks.study.definition import Study, TaskMetrics
from confidence_tasks.study.measures import columns
from confidence_tasks.study.parameter import (
    FEWSHOT,
    Parameter,
    check_value,
    did_you_mean,
    one_of,
    parse_list,
    unknown_parameter,
)
from confidence_tasks.study.stage import TOKENS, ModelReply, Replies, Stage, Token
from confidence_tasks.study.trial import EFFORT, Item, Question, question_from_metadata, question_metadata

Conversation = TypeVar("Conversation")

STUDY = "study"
"""Key of a sample's metadata that holds the address of its study."""

_LARGEST_SEED = 2**31 - 1
"""Providers take seeds of 31 bits."""


def load_study(reference: str) -> Study:
    """Return the study that :attr:`~confidence_tasks.study.Study.address` names."""
    study = resolve_name(reference)
    assert isinstance(study, Study)
    return study


def complete_parameters(task: str, given: Mapping[str, Any], declared: Sequence[Parameter]) -> dict[str, Any]:
    """Return the parameters of a run: those given, and the defaults of the others.

    ValueError if one is unknown, of another type, none of its choices or out of its bounds; the message names the fix.
    """
    known = {parameter.name: parameter for parameter in declared}
    for name, value in given.items():
        if name not in known:
            raise ValueError(unknown_parameter(task, name, known))
        check_value(name, value, known[name].type)
        known[name].check(value)
    return {name: parameter.default for name, parameter in known.items()} | dict(given)


def default_parameters(study: Study) -> dict[str, Any]:
    """Return the parameters of a run in which none is given."""
    return {**complete_parameters(study.name, {}, study.task_parameters()), "task": study.first_task}


@cache
def default_stages(study: Study) -> tuple[Stage, ...]:
    """Return the stages of a run in which no parameter is given."""
    return study.stages_of(default_parameters(study))


def first_call(metadata: Mapping[str, Any] | None) -> StageCall:
    """Return the call of the first stage that a sample or document is about, for a simulated subject.

    ValueError if it is no sample of a study.
    """
    if not metadata or STUDY not in metadata:
        raise ValueError("a simulated subject knows only the questions that tasks of confidence_tasks ask")
    study = load_study(metadata[STUDY])
    first = default_stages(study)[0]
    return StageCall(study, question_from_metadata(metadata), str(metadata["condition"]), first.name, {})


def roles_needed(study: Study, parameters: Mapping[str, Any], questions: Sequence[Question]) -> list[str]:
    """Return the model roles that must be bound: those of stages, and those that the study's own scorer asks."""
    own = study.scorer_roles(parameters, questions) if study.scorer_roles else ()
    return list(dict.fromkeys([*own, *(stage.role for stage in study.stages_of(parameters) if stage.role)]))


def chosen_conditions(study: Study, parameters: Mapping[str, Any]) -> list[str]:
    """Return the conditions that are asked under some parameters; ValueError for one that the study has not.

    None where each question has a condition of its own.
    """
    if study.select_conditions is not None:
        chosen = list(study.select_conditions(parameters))
    else:
        name = study.condition_parameter
        named = parameters.get(name)
        if named is None:
            return list(study.designs[parameters["task"]].conditions or study.conditions)
        chosen = parse_list(named, name)
    return list(dict.fromkeys(label_of(study, condition) for condition in chosen))


def label_of(study: Study, condition: str) -> str:
    """Return the label of a condition as a user names it; ValueError for one that the study has not."""
    if study.read_condition is not None:
        return study.read_condition(condition)
    return one_of(study.conditions, condition, "condition")


def is_single(stages: Sequence[Stage]) -> bool:
    """Return whether a trial is made of one call."""
    return len(stages) == 1 and stages[0].samples == 1


def sample_seed(seed: int, question: str, repeat: int, stage: Stage, condition: str, number: int) -> int:
    """Return the seed of a sampled call, the same on both harnesses.

    It depends on the run's seed, the question, the number of the trial among repeated ones, from 1, and that of the
    sample, from 0. The condition counts where the stage has a temperature for each, and calls of its own by it.
    """
    own = (condition,) if callable(stage.temperature) else ()
    return pick(_LARGEST_SEED, seed, question, repeat, stage.name, number, *own)


def staged_items(study: Study, parameters: Mapping[str, Any], conditions: Sequence[str]) -> Iterator[Item]:
    """Yield every question under its conditions, question by question, with the prompt of the first stage.

    The study's reader and measures are tried on empty replies first, so that a mistake in one does not show after the
    calls. The last questions of each source are not asked if worked examples are wanted: these are made of them.

    ValueError if there are no questions, the first stage has not one prompt, a trial lacks a column, or a measure reads
    another one.
    """
    fewshot, wanted = parameters[FEWSHOT.name], {**parameters, "conditions": conditions}
    if parameters.get("n") is not None:
        wanted["n"] += fewshot
    stages = study.stages_of(parameters)
    by_source: dict[str, list[Question]] = defaultdict(list)
    for question in study.questions(wanted):
        by_source[question.source].append(question)
    if not by_source:
        raise ValueError(f"{study.name} has no questions under {dict(parameters)}")
    first, nothing = stages[0], {stage.name: [ModelReply("")] * stage.samples for stage in stages}
    question = next(iter(by_source.values()))[0]
    tried = conditions_of(study, question, conditions)
    _try_measures(study, [trial_of(study, question, condition, nothing, parameters) for condition in tried])
    for questions in by_source.values():
        if fewshot >= len(questions):
            raise ValueError(f"fewshot={fewshot} must leave some of the {len(questions)} questions")
        asked, shown = questions[: len(questions) - fewshot], questions[len(questions) - fewshot :]
        examples: dict[str, list[tuple[str, str]]] = defaultdict(list)
        # Questions with conditions of their own follow the same examples, whatever condition these have.
        shared = study.condition_of is not None
        for number, question in enumerate(shown):
            for condition in conditions_of(study, question, conditions):
                item = _item(study, first, question, condition)
                said = _example(study, first, item, number)
                examples["" if shared else condition].append((item.prompt, said))
        for question in asked:
            for condition in conditions_of(study, question, conditions):
                item = _item(study, first, question, condition)
                yield replace(item, examples=tuple(examples["" if shared else condition]))


def conditions_of(study: Study, question: Question, conditions: Sequence[str]) -> Sequence[str]:
    """Return the conditions under which a question is asked."""
    return conditions if study.condition_of is None else [study.condition_of(question)]


def _example(study: Study, first: Stage, item: Item, number: int) -> str:
    """Return the reply of a worked example: the study's own, or an ideal subject's."""
    if study.worked_example is not None:
        return study.worked_example(item.question, item.condition, number)
    # A wrong text of a simulated subject says what the answer is not, which a small model copies: show right ones.
    subject = make_subject("ideal", **({"d_prime": 4.0} if item.question.kind == "text" else {}))
    call = StageCall(study, item.question, item.condition, first.name, {})
    return call.reply(subject, item.prompt, seed="fewshot").text


def _try_measures(study: Study, trials: Sequence[Mapping[str, Any]]) -> None:
    """Check that every measure reads columns that trials have."""
    for measure in study.measures + study.pooled_measures:
        try:
            with warnings.catch_warnings(action="ignore"):
                measure.compute(columns(trials), None)
        except KeyError as error:
            name = str(error.args[0])
            raise ValueError(
                f"study {study.name}: measure {measure.name} reads {name!r}, which is no column of its trial"
                f"{did_you_mean(name, study.column_types)}"
            ) from error


def _item(study: Study, first: Stage, question: Question, condition: str) -> Item:
    prompts = first.prompts(question, condition, {})
    if len(prompts) != 1:
        raise ValueError(f"stage {first.name!r} is the first one and has {len(prompts)} prompts, not 1")
    kept = question.metadata.keys() if study.metadata_keys is None else study.metadata_keys
    about = {
        STUDY: study.address,
        **{key: question.metadata[key] for key in kept if key in question.metadata},
    }
    if taken := sorted(
        about.keys() & {"condition", "id", "prompt", EFFORT, *TOKENS, *question_metadata(question)}
    ):
        raise ValueError(
            f"metadata of question {question.id} has {', '.join(taken)}, which is taken: rename it"
        )
    return Item(question, condition, prompts[0], system=first.system_of(question, condition), metadata=about)


def conversations_of(
    stage: Stage,
    call: StageCall,
    first: tuple[str, Conversation],
    earlier: Mapping[str, Conversation],
    begun: Callable[[str, str], Conversation],
    continued: Callable[[Conversation, str], Conversation],
) -> Iterator[tuple[str, Conversation]]:
    """Yield the prompts of a stage, each with the conversation that it ends, of the harness's own kind.

    A prompt that repeats the ``first`` one follows the same worked examples. ``begun(system, prompt)`` begins a
    conversation, and ``continued(conversation, prompt)`` continues one of the ``earlier`` stages.
    """
    if not call.replies or stage.forced_reply:
        yield first
        return
    for prompt in stage.prompts(call.question, call.condition, call.replies):
        if not stage.follows:
            system = stage.system_of(call.question, call.condition)
            yield first if prompt == first[0] else (prompt, begun(system, prompt))
        elif stage.follows in earlier:
            yield prompt, continued(earlier[stage.follows], prompt)
        else:
            raise ValueError(
                f"stage {stage.name!r} follows {stage.follows!r}, which is skipped under {call.condition!r}"
            )


def forced(prompt: str, text: str) -> str:
    """Return a text as it continues a prompt: after a space, unless the prompt ends in white space."""
    return text if prompt[-1:].isspace() else f" {text}"


def kept_replies(replies: Replies) -> dict[str, list[dict[str, Any]]]:
    """Return replies as JSON holds them."""
    return {name: [asdict(reply) for reply in said] for name, said in replies.items()}


def restored_replies(kept: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, list[ModelReply]]:
    """Return what :func:`kept_replies` was given.

    Examples
    --------
    >>> replies = {"answer": [ModelReply("Paris", input_tokens=7.0, output_tokens=1.0)]}
    >>> restored_replies(kept_replies(replies)) == replies
    True
    """
    return {
        name: [
            ModelReply(**{**its, "tokens": tuple(Token(**token) for token in its["tokens"])}) for its in said
        ]
        for name, said in kept.items()
    }


def trial_of(
    study: Study, question: Question, condition: str, replies: Replies, options: Mapping[str, Any]
) -> dict[str, Any]:
    """Read replies into a trial, with the study's options as they are among those given.

    ValueError if the trial has not the columns that the study declares, or one of another type.
    """
    if study.scorer_options:
        question = question.with_metadata(**{name: options[name] for name in study.scorer_options})
    trial = dict(study.read(question, condition, replies))
    if lacking := [name for name in study.column_types if name not in trial]:
        raise ValueError(f"study {study.name}: read returns a trial without {', '.join(lacking)}")
    for name, value in trial.items():
        kind = study.column_types.get(name)
        if kind is None:
            raise ValueError(
                f"study {study.name}: read returns {name!r}, which is no column of its trial"
                f"{did_you_mean(name, study.column_types)}"
            )
        if not isinstance(value, str if kind is str else int | float):
            raise ValueError(
                f"study {study.name}: read returns {name}={value!r}, which is no {kind.__name__}"
                + ("; a missing number is NaN" if kind is float else "; a missing text is ''")
            )
    return trial


def task_metrics(study: Study, parameters: Mapping[str, Any], conditions: Sequence[str]) -> TaskMetrics:
    """Return what the log of a task has as metrics: by default every measure in every condition."""
    if study.metrics is not None:
        return study.metrics(parameters, conditions)
    arguments = {"study": study.address, "conditions": list(conditions)}
    return TaskMetrics(None, arguments, study.measures, conditions[0])


class UsageError(SourceError, prerequisite_error()):  # type: ignore[misc]
    """Something that cannot be run as it was asked for, said by Inspect in its ``message``, with its mark-up."""

    def __init__(self, said: str) -> None:
        super().__init__(said)
        self.message = escape(said)


@contextmanager
def as_usage_error() -> Iterator[None]:
    """Turn a ValueError into a `UsageError`.

    Examples
    --------
    >>> with as_usage_error():
    ...     raise ValueError("penalty 'ten' must be a number")
    Traceback (most recent call last):
    ...
    confidence_tasks.harness.staged.UsageError: penalty 'ten' must be a number
    """
    try:
        yield
    except ValueError as error:
        raise UsageError(str(error)) from error
