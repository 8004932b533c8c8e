"""A scorer for tasks of others on Inspect: asks how sure the model is of its answer, and leaves everything else alone.

It runs after the task's own scorers, in a conversation of its own. So the output, the messages and the store of the
sample stay as they are, and the task's own scores do not change.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from typing import Any

from inspect_ai.model import get_model
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import TaskState

from confidence_tasks.harness.correctness import Correctness, is_partial
from confidence_tasks.harness.inspect.foreign_scores import CORRECT, STATED, correctness
from confidence_tasks.harness.inspect.lost import score_of_lost
from confidence_tasks.harness.inspect.model_replies import reply_text, why_stopped
from confidence_tasks.harness.inspect.schemas import SchemaGate, refuse_schemas
from confidence_tasks.harness.usage_errors import as_scorer_error
from confidence_tasks.reading.explanation import escape_markdown
from confidence_tasks.reading.stated import stated_confidence_of
from confidence_tasks.studies.benchmark.ask_inspect import ask_about, why_no_answer
from confidence_tasks.studies.benchmark.asking import NONE, parse_asks
from confidence_tasks.studies.benchmark.scored_log import refuse_log_without_samples
from confidence_tasks.studies.benchmark.trials import BenchmarkTrial, asked_trials
from confidence_tasks.study.metrics import select_measures, summarise
from confidence_tasks.study.structured import STRUCTURED

_log = logging.getLogger(__name__)


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
        refuse_log_without_samples()
        asks, chosen = parse_asks(ask, structured=structured), Correctness.parse(correct, scorer)
    follows = SchemaGate()
    told: set[str] = set()

    async def score(state: TaskState, target: Target) -> Score:
        if unscored := score_of_lost(state.store):
            return unscored
        if structured:
            refuse_schemas(get_model())
        is_right, reason = correctness(state.scores or {}, chosen)
        value: dict[str, float] = {CORRECT: is_right}
        notes = {"correct": reason} if reason else {}
        if reason and not told:  # before the whole run is paid for
            told.add(reason)
            _log.warning("An answer is not counted: %s", reason)
        if not asks:
            is_whole = state.output.choices and not why_stopped(state.output)
            value[STATED] = stated_confidence_of(reply_text(state.output) if is_whole else "")
        unanswered = why_no_answer(state.output)
        for each in asks:
            asked = (math.nan, unanswered) if unanswered else await ask_about(each, state, cache, follows)
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
