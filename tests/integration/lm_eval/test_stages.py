"""Studies of stages run on lm-eval, with the trials that they have on Inspect."""

import json
import math

import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai.log import read_eval_log
from lm_eval.api.model import CachingLM
from lm_eval.evaluator import evaluate
from lm_eval.models.api_models import JsonChatStr
from tests.integration.lm_eval.harnesses import Scripted, replying
from tests.stages import agreement, sureness

from confidence_tasks.harness.inspect.task import study_task
from confidence_tasks.harness.lm_eval.groups import StudyTaskFactory
from confidence_tasks.harness.lm_eval.simulated import SimulatedLM
from confidence_tasks.harness.logged_trials import scored_trial

pytestmark = pytest.mark.slow

SURENESS, AGREEMENT = sureness.STUDY, agreement.STUDY
N = 6


def task(study, condition, **metadata):
    name = f"{study.name}_{condition}"
    return {
        name: StudyTaskFactory(
            {
                "task": name,
                "metadata": {
                    "study": study.address,
                    "condition": condition,
                    "n": N,
                    "version": "1-A",
                    **metadata,
                },
            }
        )
    }


def samples(model, tasks, **options):
    """The trials of each task by question."""
    results = evaluate(model, tasks, bootstrap_iters=0, **options)
    return {
        name: {sample["trial"]["question_id"]: sample["trial"] for sample in logged}
        for name, logged in results["samples"].items()
    }


def trial_in(sample, study):
    score = sample.scores[study.scorer_name]
    return scored_trial(score.value, score.metadata)


def inspect_trials(study, model, folder, **parameters):
    made = study_task(study)(n=N, cache=False, **parameters)
    (log,) = inspect_eval(made, model=model, log_dir=str(folder), display="none")
    assert log.status == "success", log.error
    found = {}
    for sample in read_eval_log(log.location).samples or []:
        trial = trial_in(sample, study)
        found.setdefault(f"{study.name}_{trial['condition']}", {})[trial["question_id"]] = trial
    return found


def sure(prompt):
    return "40%" if "How sure are you that" in prompt else f"{('yes', 'No')[prompt.count('5') % 2]} 90%"


def without(trials, *names):
    """Trials without some columns, and NaN as a text that equals itself."""
    return {
        task: {
            question: {key: str(value) for key, value in trial.items() if key not in names}
            for question, trial in of_task.items()
        }
        for task, of_task in trials.items()
    }


class ChatInterface(Scripted):
    """A model that is sent turns and no text, as lm-eval's ``local-chat-completions``."""

    def generate_until(self, requests, disable_tqdm=False):
        for request in requests:
            request.arguments = (request.args[0].prompt, *request.args[1:])
        return super().generate_until(requests)

    def apply_chat_template(self, chat_history, add_generation_prompt=True):
        return JsonChatStr(super().apply_chat_template(chat_history))


@pytest.mark.parametrize(("scripted", "chat"), [(Scripted, False), (Scripted, True), (ChatInterface, True)])
def test_the_same_replies_give_the_same_trials_as_inspect(tmp_path, scripted, chat):
    model = scripted(sure)
    tasks = {**task(SURENESS, "stated"), **task(SURENESS, "asked")}
    found = samples(model, tasks, apply_chat_template=chat)
    expected = inspect_trials(SURENESS, replying(sure), tmp_path)
    # tokens are counted where a harness counts them
    assert without(found, "tokens") == without(expected, "tokens")
    # the answers that both conditions share are asked for once
    assert len(model.asked) == 2 * N
    follow_up = model.asked[-1]
    if chat:
        turns = json.loads(follow_up)
        assert [turn["role"] for turn in turns] == ["user", "assistant", "user"]
        assert turns[1]["content"] in ("yes 90%", "No 90%")
    else:
        assert follow_up.index("Reply with yes or no") < follow_up.index("90%") < follow_up.index("How sure")


def test_a_simulated_subject_is_the_same_subject_with_its_log_probabilities(tmp_path):
    tasks = {**task(SURENESS, "stated"), **task(SURENESS, "asked"), **task(AGREEMENT, "agreement")}
    found = samples(SimulatedLM("overconfident"), tasks)
    expected = {
        **inspect_trials(SURENESS, "simulated/overconfident", tmp_path / "a"),
        **inspect_trials(AGREEMENT, "simulated/overconfident", tmp_path / "b"),
    }
    assert without(found, "tokens") == without(expected, "tokens")
    assert all(trial["logprob"] < 0 for trial in found["agreement_agreement"].values())
    assert len({trial["n"] for trial in found["agreement_agreement"].values()}) == 2


def test_studies_of_different_shapes_run_together_and_the_second_run_makes_no_call(tmp_path):
    tasks = [{**task(SURENESS, "asked"), **task(AGREEMENT, "agreement", logprobs="wanted")} for _ in range(2)]
    first, second = Scripted(sure), Scripted(sure)
    before, after = (
        samples(CachingLM(model, str(tmp_path / "cache.db")), made)
        for model, made in zip((first, second), tasks, strict=True)
    )
    assert len(first.asked) == 2 * N + N + 4 * N
    assert second.asked == []
    assert without(after) == without(before)


def test_what_a_model_kept_of_a_killed_run_is_not_asked_again(tmp_path):
    class Killed(Scripted):
        """Keeps each reply as lm-eval's own models do, and is killed within the second stage."""

        def generate_until(self, requests, disable_tqdm=False):
            said = []
            for request in requests:
                if len(self.asked) == N + 2:
                    raise KeyboardInterrupt
                said += super().generate_until([request])
                self.cache_hook.add_partial("generate_until", request.args, said[-1])
            return said

    killed, again = Killed(sure), Scripted(sure)
    with pytest.raises(KeyboardInterrupt):
        samples(CachingLM(killed, str(tmp_path / "cache.db")), task(SURENESS, "asked"))
    samples(CachingLM(again, str(tmp_path / "cache.db")), task(SURENESS, "asked"))
    assert len(again.asked) == N - 2


def test_a_cache_of_replies_does_not_mix_up_the_questions_of_a_simulated_subject(tmp_path, monkeypatch):
    from dataclasses import replace

    from confidence_tasks.sources import Question

    twins = [Question(f"twin-{i}", "demo", "Is it?", "boolean", ("yes", "no")[i % 2]) for i in range(10)]
    monkeypatch.setattr(sureness, "STUDY", replace(SURENESS, questions=lambda parameters: twins))
    model = CachingLM(SimulatedLM(d_prime=10.0), str(tmp_path / "cache.db"))
    for _ in range(2):
        found = samples(model, task(sureness.STUDY, "stated"))["sureness_stated"]
        assert [trial["correct"] for trial in found.values()] == [1.0] * 10


def test_limits_worked_examples_and_predictions_only():
    made = task(SURENESS, "asked", n=3)
    assert len(samples(Scripted(sure), made, limit=2)["sureness_asked"]) == 2

    made = task(SURENESS, "stated", n=2)
    for each in made.values():
        each.set_config(key="num_fewshot", value=2)
    model = Scripted(sure)
    samples(model, made)
    assert all(prompt.count("Reply with yes or no") == 3 for prompt in model.asked)
    assert len(model.asked) == 2


def test_a_model_without_token_probabilities_is_refused_where_they_are_required_before_the_first_call():
    model = Scripted(sure)
    with pytest.raises(
        RuntimeError, match="stage 'answer' of agreement needs token probabilities, and Scripted"
    ):
        samples(model, task(AGREEMENT, "agreement", logprobs="required"))
    assert model.asked == []
    wanted = samples(model, task(AGREEMENT, "agreement"))["agreement_agreement"]
    assert all(math.isnan(trial["logprob"]) for trial in wanted.values())


@pytest.mark.parametrize(
    ("study", "condition", "metadata", "said"),
    [
        (SURENESS, "askd", {}, "condition='askd' is not one of stated, asked; did you mean 'asked'"),
        (SURENESS, "asked", {"level": "high"}, "level='high' must be a number"),
        (SURENESS, "asked", {"level": 7.0}, "level=7.0 must lie in"),
        (SURENESS, "asked", {"seed": 1}, "'seed' on lm-eval: use question_seed"),
        (SURENESS, "asked", {"conditions": "asked"}, "'conditions' on lm-eval: name tasks"),
        (
            AGREEMENT,
            "agreement",
            {"by": "judge"},
            "questions of agreement need a model as judge, but lm-eval calls only",
        ),
        (
            AGREEMENT,
            "agreement",
            {"by": "juge"},
            "by='juge' is not one of match, judge; did you mean 'judge'",
        ),
    ],
)
def test_what_cannot_be_run_is_named_before_the_first_call(study, condition, metadata, said):
    model = Scripted(sure)
    with pytest.raises(ValueError, match=said):
        samples(model, task(study, condition, **metadata))
    assert model.asked == []


@pytest.mark.hf
def test_a_real_model_gives_the_same_answer_with_the_same_log_probability_on_both_harnesses(
    smollm2, tmp_path, monkeypatch
):
    from inspect_ai.model import get_model
    from lm_eval.models.huggingface import HFLM

    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)  # the model is in a folder
    model = get_model("hf/local", model_path=str(smollm2), device="cpu", memoize=False)
    made = study_task(AGREEMENT)(n=2, samples=2, cache=False)
    (log,) = inspect_eval(made, model=model, log_dir=str(tmp_path), display="none", max_tokens=16)
    assert log.status == "success", log.error
    expected = {
        sample.metadata["question_id"]: (
            trial_in(sample, AGREEMENT)["logprob"],
            sample.store["replies"]["answer"],
        )
        for sample in read_eval_log(log.location).samples or []
    }
    limited = {"until": [], "max_gen_toks": 16, "do_sample": False}
    metadata = {"study": AGREEMENT.address, "condition": "agreement", "n": 2, "samples": 2}
    made = {"task": StudyTaskFactory({"task": "task", "metadata": metadata, "generation_kwargs": limited})}
    lm = HFLM(pretrained=str(smollm2), device="cpu", dtype="float32")
    logged = evaluate(lm, made, bootstrap_iters=0, apply_chat_template=True)["samples"]["task"]
    for sample in logged:
        logprob, replies = expected[sample["trial"]["question_id"]]
        found = sample["resps"][0][0]["answer"]
        for name in ("text", "stop"):
            assert [reply[name] for reply in found] == [reply[name] for reply in replies]
        for reply, other in zip(found, replies, strict=True):
            logprobs, others = ([token["logprob"] for token in each["tokens"]] for each in (reply, other))
            assert logprobs == pytest.approx(others, abs=1e-3)
        assert sample["trial"]["logprob"] == pytest.approx(logprob, abs=1e-3, nan_ok=True)
