"""Log-probability metacognition through Inspect: known evidence comes out of the log; a real model's own logits."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval, score
from inspect_ai.log import resolve_sample_attachments
from inspect_ai.model import GenerateConfig, Logprob, Logprobs, ModelOutput, ModelUsage, get_model

from confidence_tasks import nlp_metad
from confidence_tasks.harness.logged_trials import scored_trial
from confidence_tasks.studies.logprob_metacognition.domains import read_domain
from confidence_tasks.studies.logprob_metacognition.measures import MEASURES
from confidence_tasks.studies.logprob_metacognition.scorer import nlp_metad_scorer

from .conftest import Run, metrics, trials

pytestmark = pytest.mark.slow

OF_THE_ANSWER: dict[str, Any] = {"scoring": "line", "span": "answer"}
"""The answer within a longer reply, as releases before the author's instrument read it."""

CAPITALS = {"France": "Paris", "Italy": "Rome", "San Marino": "City of San Marino"}


@pytest.fixture
def capitals(tmp_path: Path) -> str:
    """A file of three open questions."""
    path = tmp_path / "capitals.jsonl"
    rows = [
        {"question": f"Capital city of {land}?", "answer": city, "kind": "text"}
        for land, city in CAPITALS.items()
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    return str(path)


def reply(*tokens: tuple[str, float], text: str = "", probabilities: bool = True) -> ModelOutput:
    output = ModelOutput.from_content("mockllm", text or "".join(token for token, _ in tokens))
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    if probabilities:
        content = [Logprob(token=token, logprob=logprob) for token, logprob in tokens]
        output.choices[0].logprobs = Logprobs(content=content)
    return output


def test_known_evidence_is_recovered_at_every_temperature(run: Run) -> None:
    """Area .856 and d_a 1.5 of evidence whose means lie 1.5 standard deviations apart."""
    log = run(nlp_metad(source="arithmetic", temperatures="0.3,1", n=150))
    found, made = metrics(log), trials(log)
    assert len(made) == 300
    for condition in ("T=0.3", "T=1"):
        assert found[f"auroc2/{condition}"] == pytest.approx(0.856, abs=0.09)
        assert found[f"d_a/{condition}"] == pytest.approx(1.5, abs=0.5)
        assert found[f"accuracy/{condition}"] == pytest.approx(0.773, abs=0.11)
        assert found[f"meta_information/{condition}"] > 0.1
        assert found[f"parse_rate/{condition}"] == 1.0
    assert set(found) == {f"{measure.name}/{t}" for measure in MEASURES for t in ("T=0.3", "T=1")}
    # Version 1's M-ratio needs fifty answers of either class.
    assert {key for key, value in found.items() if math.isnan(value)} <= {"mratio_v1/T=0.3", "mratio_v1/T=1"}
    assert log.eval.headline_metric is not None
    assert log.eval.headline_metric.metric == "meta_information/T=1"
    assert log.eval.metadata is not None
    assert log.eval.metadata["parameters"]["k"] == 4


def test_faults_of_providers_leave_the_answers_tokens(run: Run, capitals: str) -> None:
    """Reasoning, labels, explanations, end tokens and padding: nothing but the answer counts."""
    label, stop, end = (("Answer", -40.0), (":", -40.0)), (".", -40.0), ("<|end|>", -40.0)
    thought, city = (("<think>Rome", -40.0), ("</think>", -40.0)), "City of San Marino"
    replies = {
        "France": reply(*label, (" Par", -1.0), ("is", -0.5), stop, end, text="Answer: Paris."),
        "Italy": reply(*thought, ("Rome", -0.25), end, text="Rome"),
        "San Marino": reply(("Ci", -1.0), ("ty of", -2.0), (" San Marino", -3.0), end, end, text=city),
    }
    asked: list[Any] = []

    def respond(messages: Any, tools: Any, choice: Any, config: Any) -> ModelOutput:
        asked.append((config.temperature, config.logprobs, config.seed))
        return next(output for land, output in replies.items() if f"of {land}?" in messages[-1].text)

    model = get_model("mockllm/model", custom_outputs=respond, memoize=False)
    log = run(nlp_metad(source=capitals, temperatures="0.7", cache=False, **OF_THE_ANSWER), model)
    assert {trial["answer"]: (trial["mean_logprob"], trial["tokens"]) for trial in trials(log)} == {
        "Paris": (-0.75, 2.0),
        "Rome": (-0.25, 1.0),
        "City of San Marino": (-2.0, 3.0),
    }
    assert metrics(log)["accuracy/T=0.7"] == 1.0
    assert {settings[:2] for settings in asked} == {(0.7, True)}
    assert len({seed for _, _, seed in asked}) == len(CAPITALS)


def test_a_filtered_reply_is_no_wrong_answer(run: Run, capitals: str) -> None:
    """The notice that a provider puts in the place of a reply says nothing of the question."""

    def respond(messages: Any, tools: Any, choice: Any, config: Any) -> ModelOutput:
        if "of Italy?" not in messages[-1].text:
            return reply(("Paris", -0.5))
        notice = reply(("The reply was filtered by a content policy", -0.1))
        notice.choices[0].stop_reason = "content_filter"
        return notice

    model = get_model("mockllm/model", custom_outputs=respond, memoize=False)
    made = {
        t["status"]: t
        for t in trials(
            run(nlp_metad(source=capitals, temperatures="0.7", cache=False, **OF_THE_ANSWER), model)
        )
    }
    assert set(made) == {"ok", "filtered"}
    assert math.isnan(made["filtered"]["correct"])
    assert math.isnan(made["filtered"]["mean_logprob"])


def test_model_without_log_probabilities_costs_one_call(tmp_path: Path) -> None:
    calls: list[int] = []

    def respond(*_: Any) -> ModelOutput:
        calls.append(1)
        return reply(text="Paris", probabilities=False)

    model = get_model("mockllm/model", custom_outputs=respond, memoize=False)
    (log,) = eval(
        nlp_metad(source="arithmetic", temperatures="0.7,1", n=9, cache=False),
        model=model,
        log_dir=str(tmp_path),
        display="none",
    )
    assert log.status == "error"
    assert log.error is not None
    assert (
        "stage 'answer' of nlp_metad needs token probabilities, and mockllm/model returned none"
        in log.error.message
    )
    assert len(calls) == 1


def test_right_answer_is_as_probable_as_itself_and_less_than_a_wrong_one_that_was_given(run: Run) -> None:
    made = trials(run(nlp_metad(source="arithmetic", temperatures="0.7", n=40, force_gold=True)))
    for trial in made:
        if trial["correct"]:
            assert trial["gold_mean_logprob"] == pytest.approx(trial["mean_logprob"], abs=1e-9)
    wrong = [trial["gold_mean_logprob"] - trial["mean_logprob"] for trial in made if not trial["correct"]]
    assert sum(wrong) / len(wrong) < -0.3


def test_domain_of_a_model_in_the_role(run: Run, capitals: str) -> None:
    classifier = get_model("mockllm/model", custom_outputs=lambda *_: reply(text="Geography"), memoize=False)
    task = nlp_metad(source=capitals, temperatures="1", domains="model", cache=False)
    log = run(task, model_roles={"domain_classifier": classifier})
    assert {trial["domain"] for trial in trials(log)} == {"Geography"}
    assert read_domain("Geography") == "Geography"


def test_domain_role_must_be_bound(tmp_path: Path, capitals: str) -> None:
    task = nlp_metad(source=capitals, temperatures="1", domains="model")
    (log,) = eval(task, model="simulated/ideal", log_dir=str(tmp_path), display="none")
    assert log.error is not None
    assert "--model-role domain_classifier=" in log.error.message


def test_log_can_be_scored_again_without_a_model(run: Run) -> None:
    log = run(nlp_metad(source="arithmetic", temperatures="1", n=20), get_model("simulated/sloppy"))
    again = score(log, nlp_metad_scorer(), action="overwrite", display="none")
    assert [json.dumps(trial) for trial in trials(again)] == [json.dumps(trial) for trial in trials(log)]


def test_what_the_viewer_shows(run: Run, capitals: str) -> None:
    log = run(nlp_metad(source=capitals, temperatures="1"))
    view = log.eval.viewer.task_samples_view if log.eval.viewer else None
    assert view is not None
    shown = [column.id for column in view.columns or [] if column.visible is not False]
    assert shown[-1].endswith("__match")
    assert not any(name in column for name in ("mean_logprob", "domain") for column in shown)
    assert log.samples is not None
    sample = resolve_sample_attachments(log.samples[0])
    explanation = (sample.scores or {})["nlp_metad_scorer"].explanation or ""
    assert "nats over" in explanation
    assert "Domain" in explanation


@pytest.mark.hf
class TestSmolLM2:
    """A real model on the CPU; Inspect's own numbers are those of the likeliest tokens, ours of what was said."""

    @staticmethod
    def own(model: Any, messages: Any, text: str) -> list[float]:
        """The log-probabilities of a text's tokens, from the network itself."""
        torch = pytest.importorskip("torch")
        tokenizer, network = model.api.tokenizer, model.api.model
        chat = [{"role": message.role, "content": message.text} for message in messages]
        prompt = tokenizer.apply_chat_template(chat, add_generation_prompt=True, tokenize=False)
        before, ids = tokenizer(prompt)["input_ids"], tokenizer(text)["input_ids"]
        values = []
        for place, token in enumerate(ids):
            with torch.no_grad():
                logits = network(torch.tensor([before + ids[:place]])).logits[0, -1]
            values.append(torch.log_softmax(logits.double(), dim=-1)[token].item())
        return values

    @pytest.mark.parametrize(("temperatures", "sampled"), [("0.7,1.5", True), ("0", False)])
    def test_log_probabilities_are_the_models_own(
        self, run: Run, smollm2: Path, temperatures: str, sampled: bool
    ) -> None:
        arguments = {"model_path": str(smollm2), "dtype": "float32", "do_sample": sampled, "device": "cpu"}
        model = get_model("hf/smollm2", config=GenerateConfig(seed=0), memoize=False, **arguments)
        task = nlp_metad(
            source="arithmetic", temperatures=temperatures, n=1, fewshot=2, force_gold=True, cache=False
        )
        log = run(task, model, max_tokens=8)
        assert log.samples is not None
        for sample in log.samples:
            text, gold = sample.output.completion, sample.target
            own = self.own(model, sample.messages[:-1], text)
            logprobs = sample.output.choices[0].logprobs
            assert logprobs is not None
            assert [item.logprob for item in logprobs.content] == pytest.approx(own, abs=1e-4)
            assert "".join(item.token for item in logprobs.content) == text
            score = (sample.scores or {})["nlp_metad_scorer"]
            trial = scored_trial(score.value, score.metadata)
            forced = self.own(model, sample.messages[:-1], str(gold))
            assert trial["gold_mean_logprob"] == pytest.approx(sum(forced) / len(forced), abs=1e-4)
            if text == trial["answer"]:
                assert trial["mean_logprob"] == pytest.approx(sum(own) / len(own), abs=1e-4)
