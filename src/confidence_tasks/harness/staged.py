"""A study of stages, as both harnesses run it: its parameters, what it asks, and its trials."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pkgutil import resolve_name
from typing import Any

from confidence_tasks.harness.inspect.parameters import check_value, unknown_parameter
from confidence_tasks.harness.inspect.samples import Item, listed
from confidence_tasks.harness.questions import question_metadata
from confidence_tasks.study.definition import Study
from confidence_tasks.study.measures import columns
from confidence_tasks.study.parameter import Parameter, meant
from confidence_tasks.study.question import Question
from confidence_tasks.study.stage import ModelReply, Replies, Stage, Token

STUDY = "study"
"""The key of a sample's metadata that says where its study is."""


def load_study(reference: str) -> Study:
    """Return the study that :attr:`~confidence_tasks.study.Study.reference` names."""
    study = resolve_name(reference)
    assert isinstance(study, Study)
    return study


def complete_parameters(
    study: Study, given: Mapping[str, Any], declared: Sequence[Parameter]
) -> dict[str, Any]:
    """Return the parameters of a run: those given, and the defaults of the others.

    Raises
    ------
    ValueError
        If one is unknown, of another type, none of its choices or out of its bounds; the message names the fix.
    """
    known = {parameter.name: parameter for parameter in declared}
    for name, value in given.items():
        if name not in known:
            raise ValueError(unknown_parameter(study.name, name, known))
        check_value(name, value, known[name].type)
        known[name].check(value)
    return {name: parameter.default for name, parameter in known.items()} | dict(given)


def chosen_conditions(study: Study, parameters: Mapping[str, Any]) -> list[str]:
    """Return the conditions that are asked under some parameters; ValueError for one that the study has not."""
    if study.chosen is not None:
        chosen = list(study.chosen(parameters))
    else:
        chosen = listed(parameters.get("conditions", study.conditions), "conditions")
    for condition in chosen:
        if condition not in study.conditions:
            raise ValueError(
                f"condition {condition!r} is not one of {', '.join(study.conditions)}"
                f"{meant(condition, study.conditions)}"
            )
    return chosen


def staged_items(study: Study, parameters: Mapping[str, Any], conditions: Sequence[str]) -> Iterator[Item]:
    """Yield every question under every condition, question by question, with the prompt of the first stage.

    The study's reader and measures are tried on empty replies first, so that a mistake in one does not show after the
    calls.

    Raises
    ------
    ValueError
        If there are no questions, the first stage has not one prompt, a trial lacks a column, or a measure reads
        another one.
    """
    assert study.questions is not None
    stages, questions = study.stages_of(parameters), list(study.questions(parameters))
    if not questions:
        raise ValueError(f"{study.name} has no questions under {dict(parameters)}")
    nothing = {stage.name: [ModelReply("")] * stage.samples for stage in stages}
    _try_measures(study, [trial_of(study, questions[0], condition, nothing) for condition in conditions])
    for question in questions:
        for condition in conditions:
            yield _item(study, stages[0], question, condition)


def _try_measures(study: Study, trials: Sequence[Mapping[str, Any]]) -> None:
    """Check that every measure reads columns that trials have."""
    for measure in study.measures + study.pooled:
        try:
            with warnings.catch_warnings(action="ignore"):
                measure.compute(columns(trials), None)
        except KeyError as error:
            name = str(error.args[0])
            raise ValueError(
                f"study {study.name}: measure {measure.name} reads {name!r}, which is no column of its trial"
                f"{meant(name, study.record)}"
            ) from error


def _item(study: Study, first: Stage, question: Question, condition: str) -> Item:
    prompts = first.prompts(question, condition, {})
    if len(prompts) != 1:
        raise ValueError(f"stage {first.name!r} is the first one and has {len(prompts)} prompts, not 1")
    about = {STUDY: study.reference, **question.metadata}
    if taken := sorted(about.keys() & {"condition", "id", "prompt", *question_metadata(question)}):
        raise ValueError(
            f"metadata of question {question.id} has {', '.join(taken)}, which is taken: rename it"
        )
    return Item(question, condition, prompts[0], system=first.system, metadata=about)


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
    return {name: [_restored(reply) for reply in said] for name, said in kept.items()}


def _restored(kept: Mapping[str, Any]) -> ModelReply:
    return ModelReply(**{**kept, "tokens": tuple(Token(**token) for token in kept["tokens"])})


def trial_of(study: Study, question: Question, condition: str, replies: Replies) -> dict[str, Any]:
    """Read replies into a trial.

    Raises
    ------
    ValueError
        If the trial has not the columns that the study declares, or one of another type.
    """
    assert study.read is not None
    trial = dict(study.read(question, condition, replies))
    if lacking := [name for name in study.record if name not in trial]:
        raise ValueError(f"study {study.name}: read returns a trial without {', '.join(lacking)}")
    for name, value in trial.items():
        kind = study.record.get(name)
        if kind is None:
            raise ValueError(
                f"study {study.name}: read returns {name!r}, which is no column of its trial{meant(name, study.record)}"
            )
        if not isinstance(value, str if kind is str else int | float):
            raise ValueError(
                f"study {study.name}: read returns {name}={value!r}, which is no {kind.__name__}"
                + ("; a missing number is NaN" if kind is float else "; a missing text is ''")
            )
    return trial
