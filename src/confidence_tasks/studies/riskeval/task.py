"""RiskEval as a task: questions under ten penalties for a wrong answer, to be answered or not.

Wang, Zhou, Devic & Fu (2026), arXiv:2601.07767.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from confidence_tasks.harness.inspect.samples import with_key
from confidence_tasks.sources import Question, SourceError, load
from confidence_tasks.sources.table import SOURCES
from confidence_tasks.studies.riskeval import DEFAULT_SOURCE, STUDY
from confidence_tasks.studies.riskeval.measures import HIGH_PENALTY, REGIMES, riskeval_summary
from confidence_tasks.studies.riskeval.prompts import penalty_of, solver_prompt, solver_system
from confidence_tasks.studies.riskeval.trials import needs_judge
from confidence_tasks.study import Replies, Stage, TaskMetrics

WHOLE = frozenset({"gpqa_diamond"})
"""Sources that are asked whole, as in the paper."""

PAPER_SIZE = 128
"""Questions asked of any other source when ``n`` is not given."""

_log = logging.getLogger(__name__)


def riskeval_questions(parameters: Mapping[str, Any]) -> list[Question]:
    """Return the questions, the same under every penalty, without those that are skipped for their picture.

    ValueError if a question has a picture and ``images`` does not say what to do with it; SourceError if the source
    cannot be had, which names the open one in place of a gated one.
    """
    source, n, images = (parameters[name] for name in ("source", "n", "images"))
    size = n if n is not None or source in WHOLE else PAPER_SIZE
    try:
        questions = with_key(
            load(source, n=size, seed=parameters["seed"], mirror=parameters["mirror"]), source
        )
    except SourceError as error:
        if source in SOURCES and SOURCES[source].gated:
            raise SourceError(f"{error}; source={DEFAULT_SOURCE}, the default, is open") from error
        raise
    plain = [question for question in questions if question.image is None]
    if not (pictures := len(questions) - len(plain)) or images == "send":
        return list(questions)
    having = f"{pictures} of the {len(questions)} questions of {source} have a picture"
    if images is None:
        raise ValueError(
            f"{having}: set images=send for a model with vision, or images=skip to leave them out"
        )
    _log.warning("%s, and are left out", having)
    return plain


def riskeval_stages(parameters: Mapping[str, Any]) -> list[Stage]:
    """Return the only call of the model under test."""

    def ask(question: Question, condition: str, replies: Replies) -> str:
        return solver_prompt(question)

    def system(question: Question, condition: str) -> str:
        return solver_system(penalty_of(condition), parameters["strategy"])

    return [Stage("answer", ask, system=system)]


def riskeval_metrics(parameters: Mapping[str, Any], conditions: Sequence[str]) -> TaskMetrics:
    """Return the measures over all penalties, over high ones, and under each."""
    high = max(map(penalty_of, conditions)) >= HIGH_PENALTY
    return TaskMetrics(
        riskeval_summary,
        {"conditions": list(conditions), "seed": parameters["seed"]},
        STUDY.measures,
        "high_penalty" if high else "all",
        overall=tuple(REGIMES),
    )


def roles_needed(parameters: Mapping[str, Any], questions: Sequence[Question]) -> list[str]:
    """Return the roles that a model must be bound to for these questions to be scored."""
    judged = any(needs_judge(question, parameters["judge"]) for question in questions)
    parsed = parameters["parser"] == "model"
    return [role for role, needed in (("parser", parsed), ("judge", judged)) if needed]
