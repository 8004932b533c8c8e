"""What both harnesses share to run a study: parameters, conditions, questions, conversations and trials."""

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

from confidence_tasks.catalogue import study_named
from confidence_tasks.harness.compat import prerequisite_error
from confidence_tasks.harness.stopped import FinishedReplies, status_with
from confidence_tasks.reading.cleaning import marks_of_reply, strip_chat_tokens
from confidence_tasks.reading.thoughts import cleaned_replies, strip_thoughts
from confidence_tasks.simulation.reply import ANSWER_OF_OTHERS, StageCall
from confidence_tasks.simulation.subject import make_subject, pick
from confidence_tasks.sources import SourceError
from confidence_tasks.study.definition import Study
from confidence_tasks.study.measures import columns
from confidence_tasks.study.parameter import (
    FEWSHOT,
    Parameter,
    did_you_mean,
    one_of,
    parse_list,
    unknown_parameter,
)
from confidence_tasks.study.records import TaskMetrics
from confidence_tasks.study.stage import TOKENS, ModelReply, Replies, Stage, Token
from confidence_tasks.study.structured import STRUCTURED, is_structured
from confidence_tasks.study.trial import (
    EFFORT,
    RULES,
    Item,
    Question,
    question_from_metadata,
    question_metadata,
)

Conversation = TypeVar("Conversation")

STUDY = "study"
"""Key of a sample's metadata under which the study's ``module:attribute`` address is stored."""

_MAX_SEED = 2**31 - 1
"""Largest seed that providers accept."""


def load_study(reference: str) -> Study:
    """Return the study with a :attr:`~confidence_tasks.study.Study.address`."""
    study = resolve_name(reference)
    assert isinstance(study, Study)
    return study


def complete_parameters(task: str, given: Mapping[str, Any], declared: Sequence[Parameter]) -> dict[str, Any]:
    """Return all parameters of a run: the given values, and defaults for the others.

    Raises ValueError for an unknown parameter, a wrong type, or a value outside the choices or bounds.
    """
    known = {parameter.name: parameter for parameter in declared}
    for name, value in given.items():
        if name not in known:
            raise ValueError(unknown_parameter(task, name, known))
        known[name].check(value)
    return {name: parameter.default for name, parameter in known.items()} | dict(given)


def default_parameters(study: Study) -> dict[str, Any]:
    """Return the parameters of a run with all defaults."""
    return {**complete_parameters(study.name, {}, study.task_parameters()), "task": study.first_task}


@cache
def default_stages(study: Study) -> tuple[Stage, ...]:
    """Return the stages of a run with all defaults."""
    return study.stages_of(default_parameters(study))


def first_call(metadata: Mapping[str, Any] | None) -> StageCall:
    """Return the call of a study's first stage, from a sample's or document's metadata, for a simulated subject.

    Raises ValueError if the sample is not of a study.
    """
    if not metadata or STUDY not in metadata:
        raise ValueError(
            "a simulated subject can only answer the questions of confidence_tasks tasks, and samples of other tasks"
            " that have a target"
        )
    study = load_study(metadata[STUDY])
    first = default_stages(study)[0]
    return StageCall(study, question_from_metadata(metadata), str(metadata["condition"]), first.name, {})


def call_of_others(question: Question, stage: str = ANSWER_OF_OTHERS) -> StageCall:
    """Return the call of a question of another task, for a simulated subject: the answer, or a question about it."""
    return StageCall(study_named("benchmark"), question, stage, stage, {})


def roles_needed(study: Study, parameters: Mapping[str, Any], questions: Sequence[Question]) -> list[str]:
    """Return the model roles that must be bound: those of the study's scorer and of its stages."""
    scorer_roles = study.scoring.roles(parameters, questions) if study.scoring.roles else ()
    stage_roles = [stage.role for stage in study.stages_of(parameters) if stage.role]
    return list(dict.fromkeys([*scorer_roles, *stage_roles]))


def chosen_conditions(study: Study, parameters: Mapping[str, Any]) -> list[str]:
    """Return the labels of the conditions to ask; none if each question has its own condition.

    Raises ValueError for an unknown condition.
    """
    rules = study.condition_rules
    if rules.select is not None:
        chosen = list(rules.select(parameters))
    else:
        name = rules.parameter
        value = parameters.get(name)
        if value is None:
            return list(study.designs[parameters["task"]].conditions or study.conditions)
        chosen = parse_list(value, name)
    return list(dict.fromkeys(condition_label(study, condition) for condition in chosen))


def condition_label(study: Study, condition: str) -> str:
    """Return the label of a condition that a user named; ValueError if the study has no such condition."""
    if (label_of := study.condition_rules.label_of) is not None:
        return label_of(condition)
    return one_of(study.conditions, condition, "condition")


def is_single(stages: Sequence[Stage]) -> bool:
    """Return whether a trial consists of one call."""
    return len(stages) == 1 and stages[0].samples == 1


def sample_seed(seed: int, question: str, repeat: int, stage: Stage, condition: str, number: int) -> int:
    """Return the seed of a sampled call, which is the same on both harnesses.

    The seed depends on the run's seed, the question, the stage, the number of the repeated trial (from 1) and the
    number of the sample (from 0). It depends on the condition only if the stage's temperature does, because calls are
    otherwise shared between conditions.
    """
    key = (condition,) if callable(stage.temperature) else ()
    return pick(_MAX_SEED, seed, question, repeat, stage.name, number, *key)


def staged_items(study: Study, parameters: Mapping[str, Any], conditions: Sequence[str]) -> Iterator[Item]:
    """Yield every question under each condition, question by question, with the prompt of the first stage.

    The study's reader and measures are first tested on empty replies, so that an error in them appears before the first
    paid call. If worked examples are requested, they are the last questions of each source, which are then not asked.

    Raises ValueError if there are no questions, the first stage has several prompts, a trial lacks a column, or a
    measure reads a column that trials do not have.
    """
    fewshot, request = parameters[FEWSHOT.name], {**parameters, "conditions": conditions}
    if parameters.get("n") is not None:
        request["n"] += fewshot
    stages = study.stages_of(parameters)
    by_source: dict[str, list[Question]] = defaultdict(list)
    for question in study.questions(request):
        question = _with_form(question, parameters)
        by_source[question.source].append(question)
    if not by_source:
        raise ValueError(f"{study.name} has no questions under {dict(parameters)}")
    first, empty = stages[0], {stage.name: [ModelReply("")] * stage.samples for stage in stages}
    question = next(iter(by_source.values()))[0]
    own_conditions = _question_conditions(study, question, conditions)
    _check_measures(study, [read_trial(study, question, each, empty, parameters) for each in own_conditions])
    for questions in by_source.values():
        if fewshot >= len(questions):
            raise ValueError(f"fewshot={fewshot} must leave some of the {len(questions)} questions")
        n_asked = len(questions) - fewshot
        examples: dict[str, list[tuple[str, str]]] = defaultdict(list)
        # If each question has its own condition, all questions share the same examples.
        shared = study.condition_rules.of_question is not None
        for number, question in enumerate(questions[n_asked:]):
            for condition in _question_conditions(study, question, conditions):
                item = _make_item(study, first, question, condition)
                reply = _example_reply(study, first, item, number)
                examples["" if shared else condition].append((item.prompt, reply))
        for question in questions[:n_asked]:
            for condition in _question_conditions(study, question, conditions):
                item = _make_item(study, first, question, condition)
                yield replace(item, examples=tuple(examples["" if shared else condition]))


def _with_form(question: Question, parameters: Mapping[str, Any]) -> Question:
    """Return a question with whether its replies are JSON objects in its metadata."""
    if STRUCTURED in question.metadata:
        raise ValueError(f"metadata of question {question.id} has the reserved key {STRUCTURED}: rename it")
    return question.with_metadata(**{STRUCTURED: True}) if parameters.get(STRUCTURED) else question


def _question_conditions(study: Study, question: Question, conditions: Sequence[str]) -> Sequence[str]:
    """Return the conditions under which a question is asked."""
    of_question = study.condition_rules.of_question
    return conditions if of_question is None else [of_question(question)]


def _example_reply(study: Study, first: Stage, item: Item, number: int) -> str:
    """Return the reply of a worked example: the study's own, or that of an ideal subject."""
    if study.asking.worked_example is not None:
        return study.asking.worked_example(item.question, item.condition, number)
    # A simulated subject's wrong text reads "not Moscow", which a small model copies. So text answers are right.
    subject = make_subject("ideal", **({"d_prime": 4.0} if item.question.kind == "text" else {}))
    call = StageCall(study, item.question, item.condition, first.name, {})
    return call.reply(subject, item.prompt, seed="fewshot").text


def _check_measures(study: Study, trials: Sequence[Mapping[str, Any]]) -> None:
    """Raise ValueError if a measure reads a column that trials do not have."""
    for measure in study.measures + study.pooled_measures:
        try:
            with warnings.catch_warnings(action="ignore"):
                measure.compute(columns(trials), None)
        except KeyError as error:
            name = str(error.args[0])
            raise ValueError(
                f"study {study.name}: measure {measure.name} reads {name!r}, which is not a column of its trial"
                f"{did_you_mean(name, study.column_types)}"
            ) from error


def _make_item(study: Study, first: Stage, question: Question, condition: str) -> Item:
    prompts = first.prompts(question, condition, {})
    if len(prompts) != 1:
        raise ValueError(f"the first stage, {first.name!r}, must have 1 prompt and has {len(prompts)}")
    keys = question.metadata.keys() if study.asking.metadata_keys is None else study.asking.metadata_keys
    metadata = {
        STUDY: study.address,
        **{key: question.metadata[key] for key in keys if key in question.metadata},
    }
    if is_structured(question):
        metadata[STRUCTURED] = True
    reserved = {"condition", "id", "prompt", EFFORT, *TOKENS, *question_metadata(question)}
    if clashes := sorted(metadata.keys() & reserved):
        raise ValueError(
            f"metadata of question {question.id} has the reserved keys {', '.join(clashes)}: rename them"
        )
    return Item(
        question, condition, prompts[0], system=first.system_of(question, condition), metadata=metadata
    )


def conversations_of(
    stage: Stage,
    call: StageCall,
    first: tuple[str, Conversation],
    earlier: Mapping[str, Conversation],
    start: Callable[[str, str], Conversation],
    append: Callable[[Conversation, str], Conversation],
) -> Iterator[tuple[str, Conversation]]:
    """Yield each prompt of a stage with the conversation that ends in this prompt.

    The type of a conversation is the harness's. ``first`` is the first stage's prompt and conversation, which has the
    worked examples; a later stage with the same prompt uses the same conversation. ``start(system, prompt)`` returns a
    new conversation, and ``append(conversation, prompt)`` continues a conversation of an ``earlier`` stage.
    """
    if not call.replies or stage.forced_reply:
        yield first
        return
    for prompt in stage.prompts(call.question, call.condition, cleaned_replies(call.replies)):
        if not stage.follows:
            system = stage.system_of(call.question, call.condition)
            yield first if prompt == first[0] else (prompt, start(system, prompt))
        elif stage.follows in earlier:
            yield prompt, append(earlier[stage.follows], prompt)
        else:
            raise ValueError(
                f"stage {stage.name!r} follows {stage.follows!r}, which is skipped under {call.condition!r}"
            )


def visible_turn(text: str) -> str:
    r"""Return a reply as it stands in the conversation that goes on: without the thought, unless it is nothing else.

    Control tokens around the reply are left out, too: the server would take them for those of its own template.

    Examples
    --------
    >>> visible_turn("<think>B or C?</think>\n\nAnswer: B<|im_end|>")
    'Answer: B'
    """
    visible = strip_chat_tokens(strip_thoughts(text))
    return (visible.strip() or text) if visible.strip() != text.strip() else text


def as_continuation(prompt: str, text: str) -> str:
    """Return a text with a leading space, unless the prompt that it continues ends in white space."""
    return text if prompt[-1:].isspace() else f" {text}"


def replies_to_json(replies: Replies) -> dict[str, list[dict[str, Any]]]:
    """Return replies as objects that JSON can represent, as the model gave them: reasoning is among the tokens."""
    return {name: [_to_store(reply) for reply in stage_replies] for name, stage_replies in replies.items()}


def _to_store(reply: ModelReply) -> dict[str, Any]:
    return {name: value for name, value in asdict(reply).items() if name != "reasoning"}


def replies_from_json(stored: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, list[ModelReply]]:
    """Return the replies that :func:`replies_to_json` converted.

    Examples
    --------
    >>> replies = {"answer": [ModelReply("Paris", input_tokens=7.0, output_tokens=1.0)]}
    >>> replies_from_json(replies_to_json(replies)) == replies
    True
    """
    return {
        name: [_stored_reply(fields) for fields in stage_replies] for name, stage_replies in stored.items()
    }


_FILTERED = "I cannot answer this question."
"""Text that logs without ``stop`` hold instead of a reply that a content filter stopped."""


def _stored_reply(fields: Mapping[str, Any]) -> ModelReply:
    stored = {**fields, "tokens": tuple(Token(**token) for token in fields["tokens"])}
    if "stop" not in fields and fields["text"] == _FILTERED:
        stored |= {"text": "", "stop": "filter"}
    return ModelReply(**stored)


def read_trial(
    study: Study, question: Question, condition: str, replies: Replies, options: Mapping[str, Any]
) -> dict[str, Any]:
    """Read replies into a trial, using the study's own options among the given ones; unfinished ones are not read.

    The study gets texts and tokens that begin after the model's thoughts. The trial records it in its ``rules``.

    Raises ValueError if a column that the study declares is missing, undeclared or of another type.
    """
    if study.scoring.options:
        question = question.with_metadata(**{name: options[name] for name in study.scoring.options})
    finished = FinishedReplies(study, default_stages(study), question, condition).of(replies)
    cleaned = cleaned_replies(finished)
    trial: dict[str, Any] = {**study.read(question, condition, cleaned)}
    if missing := [name for name in study.column_types if name not in trial]:
        raise ValueError(f"study {study.name}: read returns a trial without {', '.join(missing)}")
    for name, value in trial.items():
        kind = study.column_types.get(name)
        if kind is None:
            raise ValueError(
                f"study {study.name}: read returns {name!r}, which is not a column of its trial"
                f"{did_you_mean(name, study.column_types)}"
            )
        if not isinstance(value, str if kind is str else int | float):
            raise ValueError(
                f"study {study.name}: read returns {name}={value!r}, which is not of type {kind.__name__}"
                + ("; use NaN for a missing number" if kind is float else "; use '' for a missing text")
            )
    for of_stage, of_stage_cleaned in zip(list(finished.values())[:1], cleaned.values(), strict=False):
        record_marks(trial, of_stage[0].text, of_stage_cleaned[0].text)
    return {**trial, "status": status_with(finished, trial["status"])}


def record_marks(trial: dict[str, Any], text: str, visible: str) -> None:
    """Add to the rules of a trial that a thought was removed from its reply, or that control tokens are left in it.

    The trial of a study without rules gets this column only then, and keeps its status.
    """
    has_rules = RULES in trial
    rules = list(filter(None, str(trial.get(RULES, "")).split("+")))
    new = [name for name in marks_of_reply(text, visible) if name not in rules]
    if new:
        trial[RULES] = "+".join((*new, *rules))
    if new and has_rules and trial["status"] == "ok":
        trial["status"] = "repaired"


def task_metrics(study: Study, parameters: Mapping[str, Any], conditions: Sequence[str]) -> TaskMetrics:
    """Return the metrics of a task's log: by default every measure in every condition."""
    if study.scoring.metrics is not None:
        return study.scoring.metrics(parameters, conditions)
    arguments = {"study": study.address, "conditions": list(conditions)}
    return TaskMetrics(None, arguments, study.measures, conditions[0])


class UsageError(SourceError, prerequisite_error()):  # type: ignore[misc]
    """A user's mistake; Inspect prints the ``message``, which is escaped for Rich's markup."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = escape(message)


@contextmanager
def as_scorer_error() -> Iterator[None]:
    """Turn a ValueError of the options of a scorer into an error that `inspect score` prints.

    It takes a ValueError for a scorer that does not exist, and says that it could not be loaded.
    """
    try:
        yield
    except ValueError as error:
        raise prerequisite_error()(escape(str(error))) from error


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
