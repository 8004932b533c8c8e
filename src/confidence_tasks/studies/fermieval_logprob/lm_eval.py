"""FermiEval by token probabilities on lm-eval: the exact probability of every integer, in place of a reply.

Epstein, Winnicki, Sornwanee & Dwaraknath (2025), section "Direct model elicitation via log probabilities".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lm_eval.api.instance import Instance

from confidence_tasks.harness.lm_eval.integer_scores import integers_request
from confidence_tasks.harness.lm_eval.staged import StudyOfStages
from confidence_tasks.harness.questions import question_of
from confidence_tasks.studies.fermieval_logprob.trials import (
    DistributionTrial,
    distribution_trial,
)


class FermiLogprobTask(StudyOfStages):
    """The distribution over exponents.

    In Inspect a provider lists the alternatives to the tokens that a reply consists of; here every integer from -100 to
    100 has its probability, whether the reply would have begun with it or not.
    """

    def construct_requests(
        self,
        doc: dict[str, Any],
        ctx: Any,
        *,
        metadata: Any = None,
        apply_chat_template: bool = False,
        **kwargs: Any,
    ) -> list[Instance]:
        """Ask for the probabilities of integers where the answer begins: in plain text, after a blank line."""
        context = ctx if apply_chat_template else f"{ctx}{self.config.target_delimiter}"
        return [integers_request(doc, context, metadata=metadata)]

    def trial(self, doc: Mapping[str, Any], reply: Mapping[int, float], *scores: Any) -> DistributionTrial:
        """Take the probabilities of integers, which are in place of a reply."""
        problem = "" if reply else "the model gave no probabilities"
        return distribution_trial(question_of(doc), doc["split"], reply, problem)
