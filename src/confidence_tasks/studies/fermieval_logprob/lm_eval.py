"""FermiEval by token probabilities on lm-eval: the exact probability of every integer, in place of a reply.

Epstein, Winnicki, Sornwanee & Dwaraknath (2025), section "Direct model elicitation via log probabilities".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from lm_eval.api.instance import Instance

from confidence_tasks.harness.inspect.samples import Item, one_of
from confidence_tasks.harness.lm_eval.groups import TaskGroup
from confidence_tasks.harness.lm_eval.integer_scores import integers_request
from confidence_tasks.harness.lm_eval.task import StudyTask
from confidence_tasks.harness.questions import question_of
from confidence_tasks.studies.fermieval.prompts import LEVELS
from confidence_tasks.studies.fermieval.task import CALIBRATED, SPLITS, exponent_questions, levels_of
from confidence_tasks.studies.fermieval_logprob.task import LOGGED, VERSION, exponent_items
from confidence_tasks.studies.fermieval_logprob.trials import (
    CONDITION,
    DistributionTrial,
    distribution_trial,
    logprob_measures,
)
from confidence_tasks.study.measures import Measure


class FermiLogprobTask(StudyTask):
    """The distribution over exponents, and its smallest sets at every level.

    Its parameters are ``levels``, ``split``, ``n``, ``question_seed`` and ``mirror``, as in Inspect's task. There a
    provider lists the alternatives to the tokens that a reply consists of; here every integer from -100 to 100 has its
    probability, whether the reply would have begun with it or not.
    """

    VERSION = VERSION
    PARAMETERS = ("levels", "split", "n", "question_seed", "mirror")
    FIXED: ClassVar[Mapping[str, str]] = {"condition": CONDITION, "source": "fermi"}
    ELSEWHERE: ClassVar[Mapping[str, str]] = {
        "top_logprobs": "leave it out, for every integer has its probability here"
    }

    @property
    def headline(self) -> Sequence[str]:
        """Names of the metrics by default."""
        return LOGGED

    def measures(self, parameters: Mapping[str, Any]) -> Sequence[Measure]:
        """Return the metrics at every level; without the calibration half no temperature is fitted."""
        return logprob_measures(levels_in(parameters), scaled=split_in(parameters) in CALIBRATED)

    def items(self, parameters: Mapping[str, Any], fewshot: int) -> Iterable[Item]:
        """Yield the questions, asked for their exponent as a bare integer."""
        questions = exponent_questions(
            split_in(parameters),
            n=parameters.get("n"),
            seed=parameters.get("question_seed", 0),
            mirror=parameters.get("mirror"),
        )
        return exponent_items(questions)

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

    def trial(self, doc: Mapping[str, Any], reply: Mapping[int, float], score: Any) -> DistributionTrial:
        """Take the probabilities of integers, which are in place of a reply."""
        problem = "" if reply else "the model gave no probabilities"
        return distribution_trial(question_of(doc), doc["split"], reply, problem)


def levels_in(parameters: Mapping[str, Any]) -> list[float]:
    """Return the nominal coverages that a task's parameters name, the paper's by default."""
    return levels_of(parameters.get("levels", list(LEVELS)))


def split_in(parameters: Mapping[str, Any]) -> str:
    """Return which halves of the questions a task's parameters name."""
    return one_of(SPLITS, parameters.get("split", "all"), "split")


GROUPS = (TaskGroup("fermieval_logprob", FermiLogprobTask, VERSION, sources={CONDITION: ["fermi"]}),)
