"""A scorer for tasks of others on Inspect: asks how sure the model is of its answer, and leaves everything else alone.

It runs after the task's own scorers, in a conversation of its own. So the output, the messages and the store of the
sample stay as they are, and the task's own scores do not change.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from zipfile import BadZipFile, ZipFile

import anyio
import click
import fsspec
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
    get_model,
)
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import TaskState

from confidence_tasks.harness.conversation import call_of_others, visible_turn
from confidence_tasks.harness.correctness import Correctness, is_partial
from confidence_tasks.harness.inspect.foreign_scores import CORRECT, STATED, correctness
from confidence_tasks.harness.inspect.local_model import greedy_settings, is_local, replace_logprobs
from confidence_tasks.harness.inspect.lost import score_of_lost
from confidence_tasks.harness.inspect.model_calls import asked_model, call_cache
from confidence_tasks.harness.inspect.model_replies import (
    logprob_tokens,
    model_reply,
    reply_text,
    why_stopped,
)
from confidence_tasks.harness.inspect.schemas import SchemaGate, refuse_schemas, response_schema
from confidence_tasks.harness.inspect.simulated import question_of
from confidence_tasks.harness.stopped import PROBLEMS, why_unanswered
from confidence_tasks.harness.usage_errors import as_scorer_error
from confidence_tasks.reading.explanation import escape_markdown
from confidence_tasks.reading.stated import stated_confidence_of
from confidence_tasks.simulation.reply import stage_call
from confidence_tasks.studies.benchmark.asking import NONE, Ask, parse_asks
from confidence_tasks.studies.benchmark.trials import BenchmarkTrial, asked_trials
from confidence_tasks.study.measures import select_measures, summarise
from confidence_tasks.study.structured import STRUCTURED

SECONDS = 600
"""Time after which the question is given up: scoring has half of a sample's time limit."""

ALTERNATIVES = 20
"""Number of alternatives requested for a token, as True and False have many spellings."""


@metric(scores="unreduced")
def confidence_metrics() -> Metric:
    """Compute overconfidence, ECE, AUROC, accuracy and parse rate of each signal, keyed ``measure/signal``."""

    def compute(scores: list[SampleScore]) -> dict[str, float]:
        from confidence_tasks.studies.benchmark import STUDY

        trials = [
            trial
            for score in scores
            if isinstance(score.score.value, Mapping)
            for trial in _trials(score.score.value, str(score.sample_id))
        ]
        if any(is_partial(trial["correct"]) for trial in trials):  # the others would be a selection
            trials = [{**trial, "correct": math.nan} for trial in trials]
        signals = list(dict.fromkeys(trial["condition"] for trial in trials))
        return summarise(trials, select_measures(STUDY.measures, STUDY.headline_measures), signals)

    return compute


def _trials(value: Mapping[str, Any], sample: str) -> list[BenchmarkTrial]:
    correct = value.get(CORRECT)
    signals = {name: each for name, each in value.items() if name != CORRECT}
    return asked_trials(signals, float(correct) if isinstance(correct, int | float) else math.nan, sample)


@scorer(metrics=[confidence_metrics()])
def stated_confidence(
    ask: str | list[str] = "0-100",
    scorer: str = "",
    correct: str = "",
    structured: bool = False,
    cache: bool | None = None,
) -> Scorer:
    """Ask how sure the model is of the answer that it gave, and return a confidence for each question.

    Parameters
    ----------
    ask : str
        What is asked, separated by commas: scales such as ``0-100``, ``words``, ``p_true``; ``none`` reads what the
        reply itself states.
    scorer : str
        Name of the task's scorer that says whether an answer is right; by default the first.
    correct : str
        For partial credit a bound such as ``score>=0.5``; for a score of several values the name of one.
    structured : bool
        Whether the replies are JSON objects by a response schema; a provider that ignores schemas is refused.
    cache : bool or None
        Whether replies may come from Inspect's cache; by default those of models on other machines than the user's.

    Raises
    ------
    PrerequisiteError
        If ``ask`` names an unknown question, or ``correct`` is no bound; or if ``inspect score`` is given a log without
        samples. Inspect prints it.
    """
    with as_scorer_error():
        _refuse_log_without_samples()
        asks, chosen = parse_asks(ask, structured=structured), Correctness.parse(correct, scorer)
    follows = SchemaGate()

    async def score(state: TaskState, target: Target) -> Score:
        if unscored := score_of_lost(state.store):
            return unscored
        if structured:
            refuse_schemas(get_model())
        is_right, reason = correctness(state.scores or {}, chosen)
        value: dict[str, float] = {CORRECT: is_right}
        notes = {"correct": reason} if reason else {}
        if not asks:
            is_whole = state.output.choices and not why_stopped(state.output)
            value[STATED] = stated_confidence_of(reply_text(state.output) if is_whole else "")
        unanswered = _why_unanswered(state.output)
        for each in asks:
            asked = (math.nan, unanswered) if unanswered else await _ask(each, state, cache, follows)
            value[each.name], notes[each.name] = asked
        rows = [f"{escape_markdown(name)}: {escape_markdown(note)}" for name, note in notes.items() if note]
        return Score(
            value=dict(value),
            explanation="\n\n".join(rows) or None,
            metadata={
                "notes": notes,
                "ask": [each.name for each in asks] or [NONE],
                **({STRUCTURED: True} if structured else {}),
            },
        )

    return score


def _refuse_log_without_samples() -> None:
    """Raise ValueError if ``inspect score`` is given a log without samples: it would end as if it had scored them."""
    command = click.get_current_context(silent=True)
    path = command.params.get("log_file") if command and command.info_name == "score" else None
    if not path or not str(path).endswith(".eval"):
        return
    try:
        with fsspec.open(str(path), "rb") as file, ZipFile(file) as log:
            has_samples = any(name.startswith("samples/") for name in log.namelist())
    except (OSError, BadZipFile):  # the command says what is wrong with the file
        return
    if not has_samples:
        raise ValueError(
            f"{path}: the log has no samples, so there is no answer to ask about; run the task again without"
            " --no-log-samples"
        )


def _why_unanswered(output: ModelOutput) -> str:
    """Return why there is no answer to ask about; an agent may end with a call of a tool instead of a text."""
    if output.choices and output.message.tool_calls:
        return ""
    return why_unanswered(output.completion, why_stopped(output))


async def _ask(ask: Ask, state: TaskState, cache: bool | None, follows: SchemaGate) -> tuple[float, str]:
    """Return the confidence in a reply to a question about the answer, and the reply or why there is none."""
    model = asked_model()
    messages, answer = side_conversation(state)
    # Inspect's hf provider takes no temperature of 0, and its log-probabilities are not those of the reply.
    local = is_local(model)
    settings: dict[str, Any] = greedy_settings(model)
    if ask.needs_logprobs and not local:
        settings |= {"logprobs": True, "top_logprobs": ALTERNATIVES}
    if ask.schema:
        settings["response_schema"] = response_schema(ask.schema, "confidence")

    async def call() -> ModelOutput:
        asked: list[ChatMessage] = [*messages, ChatMessageUser(content=ask.prompt(answer))]
        policy = call_cache(model, cache, per_epoch=True)
        output = await model.generate(asked, config=GenerateConfig(**settings), cache=policy)
        if ask.needs_logprobs and local:
            return await replace_logprobs(model, asked, output, ALTERNATIVES)
        return output

    output: ModelOutput | None = None
    with _told_to_subject(ask, state), anyio.move_on_after(SECONDS):
        output = await (follows(model, call) if ask.schema else call())
    if output is None:
        return math.nan, f"no reply after {SECONDS} seconds"
    return _read(ask, output, str(model))


def _read(ask: Ask, output: ModelOutput, model: str) -> tuple[float, str]:
    """Return the confidence in a reply and its text, or why there is none."""
    if not output.choices:
        return math.nan, output.error or "the reply is empty"
    if stop := why_stopped(output):
        return math.nan, f"the reply was {PROBLEMS[stop]}"
    reply = model_reply(output, logprob_tokens(output))
    if ask.needs_logprobs and not reply.tokens:
        return math.nan, f"{model} returned no log-probabilities"
    return ask.confidence(reply), reply.text


@contextmanager
def _told_to_subject(ask: Ask, state: TaskState) -> Iterator[None]:
    """Tell a simulated subject the question and its key."""
    question = question_of(state.sample_id, state.input, state.target, has_options=len(state.choices) > 0)
    token = stage_call.set(call_of_others(question, ask.name))
    try:
        yield
    finally:
        stage_call.reset(token)


def side_conversation(state: TaskState) -> tuple[list[ChatMessage], str]:
    """Return the conversation of a sample as plain text, and the final answer if the question has to repeat it.

    Calls and results of tools become text, because providers refuse them where no tools are offered, and a call without
    its result, as a limit leaves it, is refused everywhere. Reasoning is left out. A conversation of a single answer
    needs no repetition. Of a log without messages, it is the input and the output of the sample.
    """
    messages = state.messages or _question_and_answer(state)
    turns = [_as_turn(message, text) for message in messages if (text := _plain_text(message))]
    said = [turn for turn in turns if isinstance(turn, ChatMessageAssistant)]
    is_plain = len(said) == 1 and turns[-1] is said[0] and not any(map(_uses_tools, messages))
    return turns, "" if is_plain or not state.output.choices else visible_turn(state.output.completion)


def _question_and_answer(state: TaskState) -> list[ChatMessage]:
    asked = [ChatMessageUser(content=state.input)] if isinstance(state.input, str) else state.input
    return [*asked, *([state.output.message] if state.output.choices else ())]


def _as_turn(message: ChatMessage, text: str) -> ChatMessage:
    """Return a text as a message of the same role; results of tools are messages of the user."""
    if isinstance(message, ChatMessageSystem):
        return ChatMessageSystem(content=text)
    if isinstance(message, ChatMessageAssistant):
        return ChatMessageAssistant(content=text)
    return ChatMessageUser(content=text)


def _uses_tools(message: ChatMessage) -> bool:
    return isinstance(message, ChatMessageTool) or bool(getattr(message, "tool_calls", None))


def _plain_text(message: ChatMessage) -> str:
    """Return the text of a message without a thought; a call or a result of a tool is described in words."""
    parts: Sequence[str] = [message.text]
    if isinstance(message, ChatMessageAssistant):
        calls = [
            f"[I call the tool {call.function} with {call.arguments}]" for call in message.tool_calls or ()
        ]
        parts = [visible_turn(message.text), *calls]
    if isinstance(message, ChatMessageTool):
        parts = [f"[Result of the tool {message.function or ''}]", message.text]
    return "\n".join(part for part in parts if part.strip())
