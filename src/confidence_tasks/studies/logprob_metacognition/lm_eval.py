"""Log-probability metacognition on lm-eval: one temperature a task.

Cacioli (2026), arXiv:2603.25112.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from lm_eval.api.instance import Instance

from confidence_tasks.harness.inspect.samples import Item
from confidence_tasks.harness.lm_eval.aggregation import sample_metrics
from confidence_tasks.harness.lm_eval.generation_scores import GenerationScore, Span, given_request, unscored
from confidence_tasks.harness.lm_eval.groups import TaskGroup
from confidence_tasks.harness.lm_eval.task import StudyTask
from confidence_tasks.harness.questions import question_of
from confidence_tasks.reading.answer_tokens import AnswerTokens
from confidence_tasks.studies.logprob_metacognition.prompts import TEMPERATURES, condition_of, temperature_of
from confidence_tasks.studies.logprob_metacognition.reader import read_short_answer
from confidence_tasks.studies.logprob_metacognition.task import LONGEST_REPLY, VERSION, logprob_items
from confidence_tasks.studies.logprob_metacognition.trials import (
    MEASURES,
    LogprobTrial,
    logprob_measures,
    logprob_trial,
)
from confidence_tasks.study.measures import Measure
from confidence_tasks.study.question import Kind


class LogprobTask(StudyTask):
    """Short answers at one temperature, with the log-probabilities of their tokens.

    Its parameters are ``condition`` (the temperature), ``source``, ``n``, ``question_seed``, ``k``, ``force_gold`` and
    ``mirror``, as in Inspect's task.
    """

    VERSION = VERSION
    PARAMETERS = ("condition", "source", "n", "question_seed", "k", "force_gold", "mirror")
    ELSEWHERE: ClassVar[Mapping[str, str]] = {
        "temperatures": "name the tasks of the temperatures, such as --tasks nlp_metad_T0_7,nlp_metad_T1",
        "domains": "leave it out, for the lexicon sorts the questions; a model sorts them in Inspect's task",
    }
    MEASURES = MEASURES
    WORKED_EXAMPLES = True
    SCORES_GENERATION = True

    def defaults(self, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return how to generate at the temperature, and a space between ``Answer:`` and the answer."""
        temperature = temperature_of(str(parameters["condition"]))
        return {
            "target_delimiter": " ",
            "generation_kwargs": {
                "until": [],
                "max_gen_toks": LONGEST_REPLY,
                "do_sample": temperature > 0.0,
                "temperature": temperature,
            },
        }

    def measures(self, parameters: Mapping[str, Any]) -> Sequence[Measure]:
        """Return the metrics; some depend on the number of ratings."""
        return logprob_measures(parameters["k"]) if "k" in parameters else MEASURES

    def items(self, parameters: Mapping[str, Any], fewshot: int) -> Iterable[Item]:
        """Yield the questions at the temperature."""
        return logprob_items(
            str(parameters["source"]),
            [temperature_of(str(parameters["condition"]))],
            n=parameters.get("n"),
            seed=parameters.get("question_seed", 42),
            fewshot=fewshot,
            mirror=parameters.get("mirror"),
        )

    def scored_span(self, doc: Mapping[str, Any]) -> Span:
        """Return a function that says where the answer stands in a reply."""
        return partial(_answer, doc["kind"])

    def construct_requests(self, doc: dict[str, Any], ctx: str | list[str], **kwargs: Any) -> list[Instance]:
        """Ask for the answer and its log-probability and, with ``force_gold``, for that of the right answer."""
        requests = super().construct_requests(doc, ctx, **kwargs)
        if not (self.config.metadata or {}).get("force_gold"):
            return requests
        lead = "" if str(ctx)[-1:].isspace() else " "
        gold = given_request(requests[0], lead + doc["target"], partial(_after, len(lead)))
        return [*requests, gold]

    def trial(
        self,
        doc: Mapping[str, Any],
        reply: str,
        score: GenerationScore,
        gold: GenerationScore = unscored("not asked for"),  # noqa: B008 - it is a constant
    ) -> LogprobTrial:
        """Read the answer, compare it with the aliases, and put its tokens' log-probabilities beside it."""
        return logprob_trial(
            question_of(doc),
            doc["temperature"],
            read_short_answer(reply, doc["kind"]),
            _mean(score),
            gold_mean_logprob=_mean(gold).mean_logprob,
        )

    def process_results(self, doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, Any]:
        """Return the trial for every metric that is configured, whatever the reply."""
        reply, *scores = results
        return sample_metrics(self.trial(doc, reply or "", *scores), list(self.aggregation()))


def _answer(kind: Kind, reply: str) -> tuple[int, int]:
    found = read_short_answer(reply, kind)
    return found.begin, found.end


def _after(begin: int, text: str) -> tuple[int, int]:
    return begin, len(text)


def _mean(score: GenerationScore) -> AnswerTokens:
    return AnswerTokens(score.sum_logprob / max(score.n_tokens, 1), score.n_tokens)


_CONDITIONS = tuple(condition_of(temperature) for temperature in TEMPERATURES)

GROUPS = (
    TaskGroup(
        "nlp_metad",
        LogprobTask,
        VERSION,
        sources=dict.fromkeys(_CONDITIONS, ("trivia_qa",)),
        offline=dict.fromkeys(_CONDITIONS, "arithmetic"),
    ),
)
