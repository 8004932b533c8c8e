"""Log-probability metacognition on lm-eval: one temperature a task.

Cacioli (2026), arXiv:2603.25112.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

from lm_eval.api.instance import Instance

from confidence_tasks.harness.lm_eval.generation_scores import GenerationScore, given_request, score_request
from confidence_tasks.harness.lm_eval.staged import StudyOfStages
from confidence_tasks.harness.questions import question_of
from confidence_tasks.reading.answer_tokens import AnswerTokens
from confidence_tasks.studies.logprob_metacognition.prompts import temperature_of
from confidence_tasks.studies.logprob_metacognition.reader import read_short_answer
from confidence_tasks.studies.logprob_metacognition.trials import LogprobTrial, logprob_trial
from confidence_tasks.study.question import Kind


class LogprobTask(StudyOfStages):
    """Short answers at one temperature, of which nothing but the answer's own tokens are scored."""

    generates = True

    def defaults(self) -> Mapping[str, Any]:
        """Return the limit of a reply, and a space between ``Answer:`` and the answer of a worked example."""
        return {**super().defaults(), "target_delimiter": " "}

    def requests_about(self, generation: Instance, doc: Mapping[str, Any]) -> list[Instance]:
        """Ask for the log-probability of the answer and, with ``force_gold``, for that of the right answer."""
        answer = score_request(generation, partial(_answer, doc["kind"]))
        if not self.parameters["force_gold"]:
            return [answer]
        lead = "" if str(generation.args[0])[-1:].isspace() else " "
        return [answer, given_request(generation, lead + doc["target"], partial(_after, len(lead)))]

    def trial(self, doc: Mapping[str, Any], reply: str, *scores: GenerationScore) -> LogprobTrial:
        """Read the answer, compare it with the aliases, and put its tokens' log-probabilities beside it."""
        answer, *gold = map(_mean, scores)
        return logprob_trial(
            question_of(doc),
            temperature_of(doc["condition"]),
            read_short_answer(reply, doc["kind"]),
            answer,
            gold_mean_logprob=gold[0].mean_logprob if gold else math.nan,
        )


def _answer(kind: Kind, reply: str) -> tuple[int, int]:
    found = read_short_answer(reply, kind)
    return found.begin, found.end


def _after(begin: int, text: str) -> tuple[int, int]:
    return begin, len(text)


def _mean(score: GenerationScore) -> AnswerTokens:
    return AnswerTokens(score.sum_logprob / max(score.n_tokens, 1), score.n_tokens)
