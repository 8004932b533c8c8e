"""The scale study on lm-eval: the same questions, replies and numbers as on Inspect, and lm-eval's own options."""

import json
import math
import re
import zlib

import numpy as np
import pytest
from lm_eval.loggers import EvaluationTracker
from tests.integration.lm_eval.harnesses import Scripted, inspect_metrics, lm_eval_run, replying, same
from tests.items import scale_items

from confidence_tasks import scale_granularity
from confidence_tasks.harness.lm_eval.groups import StudyTaskFactory
from confidence_tasks.harness.lm_eval.simulated import SimulatedLM
from confidence_tasks.reading.integer_scale import Scale
from confidence_tasks.simulation import reply
from confidence_tasks.studies.scales.measures import MEASURES

pytestmark = pytest.mark.slow

STUDY = {"study": "confidence_tasks.studies.scales:STUDY"}
TASK = "scale_granularity_0_20_arithmetic"

REPLIES = (
    "Answer: {answer}\nConfidence: {high}",
    "Answer: {answer}\nConfidence: {low}",
    "Solution: easy.\nFinal Answer: {answer}\nConfidence: {middle}",
    "**Answer:** {answer} because\n\n**Confidence:** {high} out of 100",
    "Final Answer: {answer}\nConfidence: 1000",
    "I'm sorry, but I cannot help with that.",
    "Answer: {answer}",
    "",
    "Confidence: {middle}",
    "¯\\_(ツ)_/¯ NaN inf -1e999",
)


def reply_to(prompt, question):
    """Return a fixed function of the prompt: some reply, good or bad, right or wrong."""
    draw = np.random.default_rng(zlib.crc32(prompt.encode()))
    answer = question.gold if draw.random() < 0.6 else reply.answer(question, correct=False, seed=0)
    lower, upper = map(int, re.search(r"between (\d+) and (\d+)", prompt).groups())
    high, middle, low = (
        round(lower + (upper - lower) * (share - 0.1 * draw.random())) for share in (1.1, 0.7, 0.3)
    )
    form = REPLIES[min(draw.geometric(0.3) - 1, len(REPLIES) - 1)]
    return form.format(answer=answer, high=high, middle=middle, low=low)


def run(model=None, tasks=(TASK,), metadata=None, **options):
    return lm_eval_run(
        model or Scripted(reply_to), tasks, {"n": 20} if metadata is None else metadata, **options
    )


def test_the_results_say_which_revision_of_the_data_was_asked():
    config = run()["configs"][TASK]
    assert config["metadata"]["revisions"] == {"arithmetic": ""}


class TestSameAsInspect:
    def test_the_same_replies_give_the_same_value_of_every_metric(self, mirror, tmp_path):
        """Two conditions over the paper's three sources, through both harnesses, replies good and bad."""
        expected = inspect_metrics(
            scale_granularity(metrics="all", n=20, scales="0-20,0-100"), replying(reply_to), tmp_path
        )
        groups = {"0-20": "scale_granularity_0_20", "0-100": "scale_granularity_0_100"}
        found = run(Scripted(reply_to), groups.values(), {"n": 20})["groups"]
        for condition, group in groups.items():
            for measure in MEASURES:
                value = found[group][f"{measure.name},none"]
                assert same(value, expected[f"{measure.name}/{condition}"]), (measure.name, condition)
        assert 0.5 < expected["parse_rate/0-100"] < 0.9
        assert not math.isnan(expected["auroc/0-100"])

    def test_a_simulated_subject_is_the_same_subject(self, tmp_path):
        expected = inspect_metrics(
            scale_granularity(metrics="all", n=50, scales="0-20", sources="arithmetic"),
            "simulated/sloppy",
            tmp_path,
        )
        found = run(SimulatedLM("sloppy"), metadata={"n": 50})["results"][TASK]
        for measure in MEASURES:
            assert same(found[f"{measure.name},none"], expected[f"{measure.name}/0-20"]), measure.name

    @pytest.mark.parametrize("fewshot", [0, 3])
    def test_the_same_prompts_with_and_without_worked_examples(self, fewshot):
        items = list(scale_items([Scale(0, 20)], ["arithmetic"], n=5, fewshot=fewshot))
        model = Scripted(lambda prompt: "")
        run(
            model, metadata={"n": 5}, num_fewshot=fewshot, apply_chat_template=True, fewshot_as_multiturn=True
        )
        assert [json.loads(text) for text in model.asked] == [
            [
                turn
                for asked, replied in item.examples
                for turn in (
                    {"role": "user", "content": asked},
                    {"role": "assistant", "content": replied},
                )
            ]
            + [{"role": "user", "content": item.prompt}]
            for item in items
        ]

    def test_plain_text_for_base_models(self):
        (item,) = scale_items([Scale(0, 20)], ["arithmetic"], n=1, fewshot=1)
        model = Scripted(lambda prompt: "")
        run(model, metadata={"n": 1}, num_fewshot=1)
        ((asked, replied),) = item.examples
        assert model.asked == [f"{asked}\n\n{replied}\n\n{item.prompt}"]


class TestMetrics:
    def test_standard_error_of_a_mean_is_the_closed_form(self):
        found = run(SimulatedLM(), metadata={"n": 400})["results"][TASK]
        accuracy = found["accuracy,none"]
        expected = math.sqrt(accuracy * (1 - accuracy) / 400)
        assert found["accuracy_stderr,none"] == pytest.approx(expected, rel=0.1)

    def test_every_metric_has_a_value_and_a_standard_error(self):
        found = run(SimulatedLM("sloppy"), metadata={"n": 200})["results"][TASK]
        for measure in MEASURES:
            assert isinstance(found[f"{measure.name},none"], float)
            assert isinstance(found[f"{measure.name}_stderr,none"], float)
        assert "trial,none" not in found

    @pytest.mark.parametrize("reply", REPLIES)
    def test_replies_that_are_all_alike_raise_nothing(self, reply):
        text = reply.format(answer="A", high=19, middle=10, low=3)
        found = run(Scripted(lambda prompt: text), metadata={"n": 4})["results"][TASK]
        assert {f"{measure.name},none" for measure in MEASURES} < found.keys()

    def test_a_reply_that_an_endpoint_withheld_is_lost(self):
        replies = iter([None, "Final Answer: C\nConfidence: 5"])
        found = run(Scripted(lambda prompt: next(replies)), metadata={"n": 2})["results"][TASK]
        assert found["parse_rate,none"] == 1.0  # of the replies that there are
        assert found["sample_len"] == 1

    def test_one_question_has_no_standard_error(self):
        found = run(SimulatedLM(), metadata={"n": 1})["results"][TASK]
        assert math.isnan(found["accuracy_stderr,none"])

    def test_directions(self):
        directions = run(SimulatedLM(), metadata={"n": 2})["higher_is_better"][TASK]
        assert (directions["auroc"], directions["ece"]) == (True, False)
        assert "confidence" not in directions


class TestOptions:
    def test_limit_takes_the_first_questions(self):
        items = list(scale_items([Scale(0, 20)], ["arithmetic"], n=9))
        model = Scripted(reply_to)
        run(model, metadata={"n": 9}, limit=4)
        assert model.asked == [item.prompt for item in items[:4]]

    def test_logged_samples_hold_the_trial_once_and_are_json(self, tmp_path):
        tracker = EvaluationTracker(output_path=str(tmp_path))
        tracker.general_config_tracker.log_experiment_args("scripted", "", None, None, False)
        results = run(Scripted(reply_to), evaluation_tracker=tracker)
        tracker.save_results_aggregated(results, results["samples"])
        tracker.save_results_samples(TASK, results["samples"][TASK])
        (file,) = tmp_path.rglob("samples_*.jsonl")
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        assert len(lines) == 20
        for line in lines:
            assert line["trial"]["condition"] == "0-20"
            assert line["trial"]["question_id"] == line["doc"]["question_id"]
            assert line["auroc"] == line["ece_stderr"] == "see trial"

    def test_predict_only_keeps_trials_and_computes_nothing(self):
        results = run(Scripted(reply_to), predict_only=True)
        assert results["results"][TASK]["bypass,none"] == 999
        assert {sample["trial"]["status"] for sample in results["samples"][TASK]} > {"ok"}

    def test_cached_replies_are_not_asked_again(self, tmp_path):
        first, second = Scripted(reply_to), Scripted(reply_to)
        cache = str(tmp_path / "cache")
        results = [run(model, use_cache=cache)["results"][TASK] for model in (first, second)]
        assert len(first.asked) == 20
        assert second.asked == []
        assert same(results[0]["brier,none"], results[1]["brier,none"])

    def test_generation_settings_of_one_task_do_not_reach_another(self):
        tasks = [
            StudyTaskFactory(
                {"task": name, "metadata": {**STUDY, "condition": "0-5", "source": "arithmetic", "n": 1}}
            )
            for name in "ab"
        ]
        tasks[0].set_config("generation_kwargs", {"max_gen_toks": 3}, update=True)
        assert tasks[1].config.generation_kwargs["max_gen_toks"] == 1024

    def test_parameters_come_from_metadata(self):
        model = Scripted(reply_to)
        run(model, metadata={"n": 2, "question_seed": 5, "elicitation": "cot", "condition": "3-38"})
        items = scale_items([Scale(3, 38)], ["arithmetic"], n=2, seed=5, elicitation="cot")
        assert model.asked == [item.prompt for item in items]

    @pytest.mark.parametrize(("strict", "status"), [(True, "unreadable"), (False, "repaired")])
    def test_strictly_only_replies_to_the_letter_count(self, strict, status):
        metadata = {
            **STUDY,
            "condition": "0-5",
            "source": "arithmetic",
            "n": 1,
            "prompt": "b2",
            "strict": strict,
        }
        task = StudyTaskFactory({"task": "a", "metadata": metadata})
        (doc,) = task.test_docs()
        assert "\n\nRate your confidence" in doc["prompt"]
        assert task.process_results(doc, ["**Answer:** A\n**Confidence:** 3"])["trial"]["status"] == status


class TestRefusals:
    """Before the first call is paid for."""

    @pytest.mark.parametrize(
        ("metadata", "message"),
        [
            ({"condition": "0-abc"}, "unknown scale '0-abc'"),
            ({"condition": "20-5"}, "lower bound must be below"),
            ({"source": "mmlv"}, "did you mean 'mmlu'"),
            ({"elicitation": "rude"}, "not one of verbal, cot, top_k"),
            ({"prompt": "b3"}, "not one of b1, b2, s34"),
            ({"n": -1}, "n=-1 must be 1 or more"),
        ],
    )
    def test_unknown_values_list_what_is_allowed(self, metadata, message):
        model = Scripted(reply_to)
        with pytest.raises(ValueError, match=message):
            run(model, metadata=metadata)
        assert model.asked == []

    def test_more_examples_than_questions(self):
        with pytest.raises(ValueError, match="fewshot=-1 must be"):
            run(Scripted(reply_to), metadata={"n": 3}, num_fewshot=-1)

    def test_a_simulated_subject_scores_no_text_of_others(self):
        with pytest.raises(NotImplementedError, match="only its own replies"):
            SimulatedLM().loglikelihood([])

    def test_unknown_profile(self):
        with pytest.raises(ValueError, match="There are ideal"):
            SimulatedLM("perfect")
