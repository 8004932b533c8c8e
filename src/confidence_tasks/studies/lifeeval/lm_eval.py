"""LifeEval on lm-eval: the probability of the guess, of which the reply's own tokens are scored."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from lm_eval.api.instance import Instance

from confidence_tasks.harness.lm_eval.generation_scores import GenerationScore, score_request
from confidence_tasks.harness.lm_eval.staged import StudyOfStages
from confidence_tasks.reading.token_probabilities import number_span
from confidence_tasks.study.stage import Token


class LifeEvalTask(StudyOfStages):
    """Guesses whose tokens are scored where ``token_probabilities`` is true."""

    ADDED: ClassVar[Mapping[str, Any]] = {"token_probabilities": bool}

    def requests_about(self, generation: Instance, doc: Mapping[str, Any]) -> list[Instance]:
        """Ask for the log-probability of the guess."""
        asked = self.parameters.get("token_probabilities")
        return [score_request(generation, number_span)] if asked else []

    def tokens(self, doc: Mapping[str, Any], reply: str, score: GenerationScore) -> list[Token]:
        """Return a reply in three pieces, of which the guess has a log-probability."""
        begin, end = number_span(reply)
        pieces = ((reply[:begin], math.nan), (reply[begin:end], score.sum_logprob), (reply[end:], math.nan))
        return [Token(text, logprob, {}) for text, logprob in pieces]
