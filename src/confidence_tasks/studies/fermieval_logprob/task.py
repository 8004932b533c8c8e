"""FermiEval by token probabilities: an order of magnitude asked for as a bare integer, with the alternatives to it.

Epstein, Winnicki, Sornwanee & Dwaraknath (2025), section "Direct model elicitation via log probabilities".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from confidence_tasks.sources import Question
from confidence_tasks.sources.fermi import LARGEST_EXPONENT
from confidence_tasks.studies.fermieval.prompts import EXPONENT_SYSTEM, condition_of, exponent_prompt
from confidence_tasks.studies.fermieval.task import CALIBRATED, LOGGED, levels_of
from confidence_tasks.studies.fermieval_logprob.trials import logprob_measures, logprob_summary
from confidence_tasks.study import Replies, Stage, TaskMetrics

INTEGERS = tuple(map(str, range(-LARGEST_EXPONENT, LARGEST_EXPONENT + 1)))
"""What may be the key of one of the archive's questions: on lm-eval each has its exact probability."""

LONGEST_REPLY = 8
"""Tokens: enough for a sign and the digits of any exponent."""


def logprob_stages(parameters: Mapping[str, Any]) -> list[Stage]:
    """Return the only call."""
    return [
        Stage(
            "exponent",
            _ask,
            system=EXPONENT_SYSTEM,
            max_tokens=LONGEST_REPLY,
            logprobs="required",
            top_logprobs=parameters["top_logprobs"],
            candidates=INTEGERS,
        )
    ]


def _ask(question: Question, condition: str, replies: Replies) -> str:
    return exponent_prompt(question.text)


def logprob_metrics(parameters: Mapping[str, Any], conditions: Sequence[str]) -> TaskMetrics:
    """Return the measures of the sets of every level; without the calibration half no temperature is fitted."""
    levels, scaled = levels_of(parameters["levels"]), parameters["split"] in CALIBRATED
    return TaskMetrics(
        logprob_summary,
        {"levels": levels, "scaled": scaled},
        logprob_measures(levels, scaled=scaled),
        condition_of(levels[0]),
        overall=("all", condition_of(levels[0])),
        names=LOGGED,
    )
