"""The signal study runs on both harnesses: the same trials, shared calls, what is refused, what a second run costs."""

import json
import math
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from lm_eval.api.model import CachingLM
from tests.integration.inspect.test_stages import Mock, run, trials
from tests.integration.lm_eval.harnesses import Scripted, replying
from tests.integration.lm_eval.test_stages import inspect_trials, samples, task, without
from tests.unit.studies.test_signals import simulated_trials

from confidence_tasks.cli import main
from confidence_tasks.harness.inspect.task import study_task
from confidence_tasks.harness.lm_eval.simulated import SimulatedLM
from confidence_tasks.studies.signals import STUDY
from confidence_tasks.studies.signals.table import SIGNALS

pytestmark = pytest.mark.slow

EVERY = [name for name, signal in SIGNALS.items() if signal.on_lm_eval]


def tasks():
    return {name: made for signal in EVERY for name, made in task(STUDY, signal).items()}


def test_a_simulated_subject_has_the_same_trials_on_both_harnesses(tmp_path):
    found = samples(SimulatedLM("overconfident"), tasks())
    expected = inspect_trials(STUDY, "simulated/overconfident", tmp_path, signals=EVERY)
    assert without(found) == without(expected)
    assert all(trial["input_tokens"] > 0 for of_task in found.values() for trial in of_task.values())
    assert {trial["problem"] for of_task in found.values() for trial in of_task.values()} == {""}
    assert {trial["calls"] for trial in expected["signals_p_true_samples"].values()} == {12}


def reply(prompt):
    """Answer A and be sure; say what each later prompt asks for."""
    for asked, said in (
        ("one of these expressions", "Likely"),
        ("How likely is it that your answer is right?", "65%"),
        ("true or false", "True"),
        ("How likely is each option", "A: 40\nB: 20\nC: 20\nD: 20"),
        ("best guesses", "Answer 1: A\nConfidence 1: 40"),
    ):
        if asked in prompt:
            return said
    return "Answer: A\nConfidence: 80"


@pytest.mark.parametrize("chat", [False, True])
def test_the_same_replies_give_the_same_trials_and_each_call_is_made_once(tmp_path, chat):
    scripted = Scripted(reply)
    found = samples(scripted, tasks(), apply_chat_template=chat)
    spoken = [name for name in EVERY if not SIGNALS[name].logprobs]
    expected = inspect_trials(STUDY, replying(reply), tmp_path, signals=spoken)
    own = {name: found[name] for name in expected}
    assert without(own, "input_tokens", "output_tokens") == without(expected, "input_tokens", "output_tokens")
    values = {name: {trial["value"] for trial in of_task.values()} for name, of_task in own.items()}
    assert values["signals_words"] == {0.7}
    assert values["signals_stated_after"] == {0.65}
    assert values["signals_agreement"] == {1.0}
    assert values["signals_distribution"] == {0.4}
    # answer, 10 samples, two follow-ups, True twice, guesses, distribution: of 6 questions
    assert len(scripted.asked) == 6 * (1 + 10 + 2 + 2 + 1 + 1)


def by_seed(seed):
    return f"Answer: {'ABCD'[seed % 4]}\nConfidence: {seed % 100}"


class VLLM(Scripted):
    """Takes a seed with each request, as vLLM and endpoints do, and replies by it."""

    def __init__(self):
        super().__init__(None)

    def generate_until(self, requests, disable_tqdm=False):
        self.asked += [request.args[1] for request in requests]
        return [by_seed(request.args[1].get("seed", 0)) for request in requests]


def test_samples_have_the_same_seeds_on_both_harnesses(tmp_path):
    sampled = ["agreement", "semantic_entropy_discrete"]
    model = VLLM()
    made = {name: each for signal in sampled for name, each in task(STUDY, signal, question_seed=7).items()}
    found = samples(model, made)
    seeds = [settings["seed"] for settings in model.asked if settings["do_sample"]]
    assert len(set(seeds)) == len(seeds) == 6 * 10
    assert all(0 <= seed < 2**31 for seed in seeds)

    mock = Mock(lambda turns, config: by_seed(config.seed or 0))
    expected = inspect_trials(STUDY, mock.model(), tmp_path, signals=sampled, seed=7)
    assert without(found, "input_tokens", "output_tokens") == without(
        expected, "input_tokens", "output_tokens"
    )
    assert len({trial["value"] for trial in found["signals_agreement"].values()}) > 1


class HFLM(Scripted):
    """Draws from torch's random numbers, as lm-eval's ``hf`` models do, and is killed after some samples."""

    backend, batch_size = "causal", 1

    def __init__(self, lasts=math.inf):
        super().__init__(None)
        self.lasts = lasts

    def generate_until(self, requests, disable_tqdm=False):
        import torch

        self.asked += requests
        if len(self.asked) > self.lasts:
            raise KeyboardInterrupt
        drawn = [request.args[1]["do_sample"] and int(torch.randint(100, ())) for request in requests]
        return [by_seed(int(seed)) for seed in drawn]


def test_a_killed_run_of_a_local_model_keeps_its_samples_and_draws_the_others_as_it_would_have(tmp_path):
    pytest.importorskip("torch", reason="needs the extra: pip install 'confidence-tasks[hf]'")
    whole = samples(HFLM(), task(STUDY, "agreement"))
    killed, again = (CachingLM(HFLM(lasts), str(tmp_path / "cache.db")) for lasts in (6 + 25, math.inf))
    with pytest.raises(KeyboardInterrupt):
        samples(killed, task(STUDY, "agreement"))
    assert without(samples(again, task(STUDY, "agreement"))) == without(whole)
    assert len(again.lm.asked) == 6 * 10 - 25
    assert len({trial["value"] for trial in whole["signals_agreement"].values()}) > 1


def mock(judge=False, **options):
    def said(turns, config):
        return "purple" if judge else reply(turns[-1])

    return Mock(said, **options)


def test_without_log_probabilities_a_named_signal_is_refused_and_the_default_goes_on(tmp_path):
    model = mock(logprobs=False)
    found = trials(run(study_task(STUDY)(n=2), model.model(), tmp_path), "signals_scorer")
    stated, token = found["arithmetic-s0-00000/stated"], found["arithmetic-s0-00000/mean_logprob"]
    assert (stated["value"], stated["problem"]) == (0.8, "")
    assert math.isnan(token["value"])
    assert "no log-probabilities" in token["problem"]
    assert token["answer"] == stated["answer"]
    assert len(model.asked) == 2

    model = mock(logprobs=False)
    refused = run(study_task(STUDY)(n=4, signals="stated,p_true"), model.model(), tmp_path)
    assert refused.status == "error"
    assert "stage 'answer' of signals needs token probabilities" in refused.error.message
    assert len(model.asked) == 1


def test_reasoning_and_a_panel_are_signals_on_inspect(tmp_path):
    """Two judges, of whom one talks nonsense."""
    from inspect_ai.model import get_model

    given = {
        "n": 3,
        "signals": "trace_length,trace_logprob,trace_entropy,trace_agreement,panel",
        "samples": 3,
    }
    roles = {"sure": get_model("simulated/ideal", memoize=False), "odd": mock(judge=True).model()}
    made = study_task(STUDY)(**given, panel="sure,odd", cache=False)
    log = run(made, get_model("simulated/ideal", memoize=False), tmp_path, model_roles=roles)
    found = list(trials(log, "signals_scorer").values())
    assert len(found) == 15
    assert {trial["problem"] for trial in found} == {""}
    assert {trial["calls"] for trial in found if trial["condition"] == "panel"} == {3}
    assert all(trial["value"] <= -7 for trial in found if trial["condition"] == "trace_length")


def test_a_panel_without_a_model_is_refused_before_the_first_call(tmp_path):
    model = mock()
    refused = run(study_task(STUDY)(n=2, signals="panel", panel="other"), model.model(), tmp_path)
    assert "add --model-role other=PROVIDER/MODEL" in refused.error.message
    assert model.asked == []


def test_a_second_run_makes_no_call(tmp_path):
    first, second = mock(), mock()
    given = {"n": 2, "signals": "stated,stated_after,agreement", "samples": 3}
    before = trials(run(study_task(STUDY)(**given), first.model(), tmp_path), "signals_scorer")
    after = trials(run(study_task(STUDY)(**given), second.model(), tmp_path), "signals_scorer")
    assert len(first.asked) == 2 * (1 + 1 + 3)
    assert second.asked == []
    assert before == after


def test_a_judge_that_talks_nonsense_costs_only_the_signals_that_it_judges(tmp_path):
    file = tmp_path / "own.jsonl"
    file.write_text('{"id": "e", "question": "Who wrote Emma?", "answer": "Jane Austen"}\n')
    texts = iter(["Jane Austen", "Emily", "Jane"] * 9)
    model = Mock(lambda turns, config: f"Answer: {next(texts)}\nConfidence: 70")
    made = study_task(STUDY)(
        source=str(file), signals="stated,agreement", samples=2, entailment="judge", cache=False
    )
    log = run(made, model.model(), tmp_path, model_roles={"judge": mock(judge=True).model()})
    found = {name.rpartition("/")[2]: trial for name, trial in trials(log, "signals_scorer").items()}
    assert "neither yes nor no" in found["agreement"]["problem"]
    assert found["stated"]["value"] == 0.7


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"signals": "stated,ptrue"}, "'ptrue' is not one of .*; did you mean 'p_true'"),
        ({"samples": 0}, "samples=0"),
        ({"entailment": "juge"}, "did you mean 'judge'"),
        ({"entailment": "judge"}, "none of the signals takes samples"),
        ({"signal": "stated"}, "did you mean 'signals'"),
    ],
)
def test_a_wrong_parameter_is_named_before_the_first_call(given, said):
    with pytest.raises(ValueError, match=said):
        study_task(STUDY)(n=2, **given)


@pytest.mark.hf
def test_a_real_model_has_the_same_trials_on_both_harnesses(tmp_path, smollm2, monkeypatch):
    """SmolLM2-135M, greedy answers and samples."""
    from inspect_ai.model import get_model
    from lm_eval.models.huggingface import HFLM

    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)  # the model is in a folder
    made = {name: each for signal in EVERY for name, each in task(STUDY, signal, n=2, samples=2).items()}
    for each in made.values():
        each.set_config("generation_kwargs", {"max_gen_toks": 160}, update=True)
    model = HFLM(pretrained=str(smollm2), device="cpu", dtype="float32", batch_size=1)
    found = samples(model, made, apply_chat_template=True)
    del model
    local = get_model(
        "hf/smollm2", model_path=str(smollm2), tokenizer_path=str(smollm2), device="cpu", memoize=False
    )
    given = study_task(STUDY)(n=2, samples=2, signals=EVERY, cache=False)
    log = run(given, local, tmp_path, max_tokens=160, max_samples=1, max_connections=1)
    expected = {}
    for trial in trials(log, "signals_scorer").values():
        expected.setdefault(f"signals_{trial['condition']}", {})[trial["question_id"]] = trial
    numbers = ("value", "confidence", "probability", "input_tokens", "output_tokens")
    assert without(found, *numbers) == without(expected, *numbers)
    for name, of_task in found.items():
        for question, trial in of_task.items():
            assert trial["value"] == pytest.approx(expected[name][question]["value"], abs=1e-3, nan_ok=True)
    assert any(trial["samples"] > 0 for trial in found["signals_agreement"].values())


# The report


def test_the_report_links_disagreements_names_points_and_counts_what_is_missing(tmp_path):
    rows = simulated_trials(40)
    for row in rows:
        if row["condition"] == "p_true" and row["question_id"].endswith(("1", "2")):
            row |= {
                "value": math.nan,
                "confidence": math.nan,
                "probability": math.nan,
                "problem": "no <b>log",
            }
    file = tmp_path / "trials.jsonl"
    file.write_text("\n".join(json.dumps({"study": "signals", "model": "m", **row}) for row in rows))
    page = tmp_path / "page.html"
    done = CliRunner().invoke(
        main,
        ["report", str(file), "-o", str(page), "--resamples", "50", "--figures", str(tmp_path / "figures")],
    )
    assert done.exit_code == 0, done.output
    text = page.read_text()
    assert "Largest disagreements between signals" in text
    assert "All signals together" in text
    assert "What each signal needs, costs and is worth" in text
    assert "log-probabilities with alternatives" in text
    assert "The best signal, chosen on one half of the questions" in text
    assert "no &lt;b&gt;log" in text
    assert "<b>log" not in text
    drawn = (tmp_path / "figures" / "signals_worth_and_price.svg").read_text()
    assert set(SIGNALS) <= set(re.findall(r">([a-z_]+)</text>", drawn))


def test_the_report_of_a_log_links_to_its_samples(tmp_path):
    page = tmp_path / "page.html"
    example = Path(__file__).parents[2] / "examples" / "signals.eval"
    done = CliRunner().invoke(
        main, ["report", str(example), "-o", str(page), "--resamples", "50", "--viewer", "http://v"]
    )
    assert done.exit_code == 0, done.output
    table = page.read_text().partition("Largest disagreements between signals")[2].partition("</table>")[0]
    links = re.findall(r'<a href="([^"]+)">([^<]+)</a>', table)
    assert links
    for address, question in links:
        assert address.startswith(f"http://v/#/logs/signals.eval/samples/sample/{question}%2F")
