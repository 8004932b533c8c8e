"""Both harnesses with a model of fixed replies: what the tests of every study on lm-eval share."""

import json
import os
import tempfile
from functools import cache
from inspect import signature
from unittest.mock import patch

import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from lm_eval.api.model import LM
from lm_eval.evaluator import simple_evaluate
from lm_eval.tasks import TaskManager

from confidence_tasks.catalogue import studies
from confidence_tasks.harness.compat import active_sample
from confidence_tasks.harness.lm_eval.groups import stub_folder
from confidence_tasks.harness.lm_eval.simulated import SimulatedLM
from confidence_tasks.study.trial import question_from_metadata


@cache
def stubs():
    """Return a folder for ``--include_path`` with the tasks of every study."""
    with patch.dict(os.environ, CONFIDENCE_TASKS_CACHE=tempfile.mkdtemp(prefix="stubs-")):
        return stub_folder(studies())


def said(reply, prompt, metadata):
    """Call the function that a model replies by; one of two parameters also gets the question."""
    if len(signature(reply).parameters) == 1:
        return reply(prompt)
    return reply(prompt, question_from_metadata(metadata))


class Scripted(LM):
    """A model of fixed replies that remembers what it was asked."""

    tokenizer_name = "scripted"

    def __init__(self, reply):
        super().__init__()
        self.reply = reply
        self.asked = []

    def generate_until(self, requests, disable_tqdm=False):
        self.asked += [request.args[0] for request in requests]
        return [said(self.reply, request.args[0], request.doc) for request in requests]

    def apply_chat_template(self, chat_history, add_generation_prompt=True):
        return json.dumps(chat_history)

    def loglikelihood(self, requests, disable_tqdm=False):
        raise NotImplementedError

    loglikelihood_rolling = loglikelihood


def replying(reply):
    """The same model for Inspect: it replies to the messages joined by blank lines."""

    def output(messages, *_):
        text = said(reply, "\n\n".join(message.text for message in messages), active_sample().metadata)
        usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return ModelOutput.from_content("scripted", text).model_copy(update={"usage": usage})

    return get_model("mockllm/model", custom_outputs=output, memoize=False)


def both_models(reply):
    """Parametrize a test with a model for each harness that replies alike: a scripted pair and a simulated one."""
    return pytest.mark.parametrize(
        ("lm_eval_model", "inspect_model"),
        [
            (lambda: Scripted(reply), lambda: replying(reply)),
            (lambda: SimulatedLM("sloppy"), lambda: "simulated/sloppy"),
        ],
        ids=["scripted", "simulated"],
    )


def lm_eval_run(model, tasks, metadata, **options):
    # lm-eval changes the metadata that it is given.
    every = {"metrics": "all", **metadata}
    manager = TaskManager(include_path=stubs(), include_defaults=False, metadata=every)
    return simple_evaluate(model, tasks=list(tasks), task_manager=manager, **options)


def inspect_metrics(task, model, log_dir):
    (log,) = inspect_eval(task, model=model, log_dir=str(log_dir), display="none")
    assert log.status == "success", log.error
    return {name: metric.value for score in log.results.scores for name, metric in score.metrics.items()}


def same(value, expected):
    return value == pytest.approx(expected, rel=1e-12, abs=1e-12, nan_ok=True)


def different(found, expected, measures, condition):
    """Name the measures in which an lm-eval task and Inspect differ under one condition."""
    return [
        measure.name
        for measure in measures
        if not same(found[f"{measure.name},none"], expected[f"{measure.name}/{condition}"])
    ]
