"""Studies of stages run on Inspect: what is asked, what is shared, what is refused, what a second run costs."""

from dataclasses import replace
from typing import Any

import pytest
from inspect_ai import eval as inspect_eval
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    Logprob,
    Logprobs,
    ModelOutput,
    ModelUsage,
    get_model,
)
from tests.stages import agreement, sureness

from confidence_tasks._registry import boolq, riskeval, scale_granularity
from confidence_tasks.harness.inspect.staged import study_task
from confidence_tasks.harness.inspect.viewer import scored_trial
from confidence_tasks.report.inspect_logs import read_inspect_log
from confidence_tasks.report.run_config import prompt_digest
from confidence_tasks.study import Measure, Stage
from confidence_tasks.study.measures import proportion

SURENESS, AGREEMENT = sureness.STUDY, agreement.STUDY


class Mock:
    """A model that replies by its last message and remembers what it was asked."""

    def __init__(self, reply: Any, logprobs: bool = True) -> None:
        self.reply, self.logprobs, self.asked = reply, logprobs, []

    def __repr__(self) -> str:
        return "Mock()"  # a part of the key of cached replies

    def model(self) -> Any:
        return get_model("mockllm/model", custom_outputs=self._output, memoize=False)

    def _output(self, messages: Any, tools: Any, choice: Any, config: Any) -> ModelOutput:
        self.asked.append(([(m.role, m.text) for m in messages], config))
        text = self.reply([m.text for m in messages], config)
        tokens = Logprobs(content=[Logprob(token=text, logprob=-0.5)])
        given = tokens if self.logprobs and config.logprobs else None
        turn = ChatMessageAssistant(content=text, source="generate")
        return ModelOutput(
            model="mockllm/model",
            choices=[ChatCompletionChoice(message=turn, stop_reason="stop", logprobs=given)],
            usage=ModelUsage(input_tokens=7, output_tokens=3, total_tokens=10),
        )


def sure(turns: list[str], config: Any) -> str:
    return "40%" if turns[-1].startswith("How sure") else "Yes 90%"


def run(task: Any, model: Any, folder: Any, **options: Any) -> EvalLog:
    (log,) = inspect_eval(task, model=model, log_dir=str(folder), display="none", **options)
    return read_eval_log(log.location)


def trials(log: EvalLog, scorer: str) -> dict[str, Any]:
    assert log.status == "success", log.error
    return {
        str(sample.id): scored_trial(sample.scores[scorer].value, sample.scores[scorer].metadata)
        for sample in log.samples or []
        if sample.scores
    }


def test_a_question_about_the_answer_continues_its_conversation_and_the_answer_is_asked_once(tmp_path):
    mock = Mock(sure)
    log = run(study_task(SURENESS)(n=3, cache=False, metrics="all"), mock.model(), tmp_path)

    found = trials(log, "sureness_scorer")
    assert len(found) == 6
    assert {name.rpartition("/")[2]: trial["confidence"] for name, trial in found.items()} == {
        "stated": 0.9,
        "asked": 0.4,
    }
    # 3 answers that both conditions share, and 3 questions about them
    assert len(mock.asked) == 6
    asked = [turns for turns, _ in mock.asked if len(turns) > 1]
    assert [[role for role, _ in turns] for turns in asked] == [["user", "assistant", "user"]] * 3
    assert all(turns[1][1] == "Yes 90%" and "that Yes is right" in turns[2][1] for turns in asked)
    # tokens count for every condition that used the call
    assert {name.rpartition("/")[2]: trial["tokens"] for name, trial in found.items()} == {
        "stated": 3,
        "asked": 6,
    }
    asked_sample = next(s for s in log.samples or [] if str(s.id).endswith("asked"))
    assert [message.role for message in asked_sample.messages] == ["user", "assistant", "user", "assistant"]
    assert log.results
    metrics = log.results.scores[0].metrics
    assert metrics["parse_rate/stated"].value == metrics["parse_rate/asked"].value == 1.0


def test_each_epoch_asks_anew(tmp_path):
    mock = Mock(sure)
    run(study_task(SURENESS)(n=2, cache=False), mock.model(), tmp_path, epochs=2)
    assert len(mock.asked) == 8


def test_a_second_run_makes_no_call(tmp_path):
    first, second = Mock(sure), Mock(sure)
    before = trials(run(study_task(SURENESS)(n=3), first.model(), tmp_path), "sureness_scorer")
    after = trials(run(study_task(SURENESS)(n=3), second.model(), tmp_path), "sureness_scorer")
    assert len(first.asked) == 6
    assert second.asked == []
    assert after == before


def test_samples_have_seeds_of_their_own_and_the_answer_its_tokens(tmp_path):
    mock = Mock(lambda turns, config: ["yes", "no"][(config.seed or 0) % 2])
    log = run(study_task(AGREEMENT)(n=5, samples=6), mock.model(), tmp_path)

    found = trials(log, "agreement_scorer")
    sampled = [config for _, config in mock.asked if config.temperature == 1.0]
    assert len({config.seed for config in sampled}) == 5 * 6
    assert not any(config.logprobs for config in sampled)
    assert {trial["logprob"] for trial in found.values()} == {-0.5}
    assert {trial["n"] for trial in found.values()} == {2}


def test_a_judge_is_asked_by_its_role_and_refused_when_there_is_none(tmp_path):
    mock, judge = (
        Mock(lambda *_: "yes"),
        Mock(lambda turns, config: "yes" if "Same: yes" in turns[-1] else "no"),
    )
    task = study_task(AGREEMENT)
    log = run(
        task(n=2, samples=3, by="judge", cache=False),
        mock.model(),
        tmp_path,
        model_roles={"judge": judge.model()},
    )
    assert [t["confidence"] for t in trials(log, "agreement_scorer").values()] == [1.0, 1.0]
    assert len(judge.asked) == 2  # of three equal questions about a sample, one is asked
    assert judge.asked[0][0][0] == ("system", "You judge.")

    alone = Mock(lambda *_: "yes")
    refused = run(task(n=2, by="judge"), alone.model(), tmp_path)
    assert refused.status == "error"
    assert "--model-role judge=" in refused.error.message
    assert alone.asked == []


def test_log_probabilities_are_required_or_wanted(tmp_path):
    mock = Mock(lambda *_: "yes", logprobs=False)
    log = run(study_task(AGREEMENT)(n=4), mock.model(), tmp_path)
    assert all(trial["logprob"] != trial["logprob"] for trial in trials(log, "agreement_scorer").values())

    mock = Mock(lambda *_: "yes", logprobs=False)
    refused = run(study_task(AGREEMENT)(n=4, logprobs="required"), mock.model(), tmp_path)
    assert refused.status == "error"
    assert "stage 'answer' of agreement needs token probabilities" in refused.error.message
    assert len(mock.asked) == 1


@pytest.mark.parametrize("condition", ["stated", "asked"])
def test_what_a_simulated_subject_was_given_comes_out(tmp_path, condition):
    log = run(study_task(SURENESS)(n=300, conditions=condition, metrics="all"), "simulated/ideal", tmp_path)
    assert log.results
    metrics = {name: metric.value for name, metric in log.results.scores[0].metrics.items()}
    # Phi(d'/2) with d' = 1.5, and a calibrated subject
    assert abs(metrics[f"accuracy/{condition}"] - 0.773) < 4 * (0.773 * 0.227 / 300) ** 0.5
    assert metrics[f"ece/{condition}"] < 0.1
    assert metrics[f"parse_rate/{condition}"] == 1.0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"sourse": "gsm8k"}, "sureness has no parameter 'sourse'; did you mean 'source'"),
        ({"n": "ten"}, "n='ten' must be a whole number"),
        ({"n": 0}, "n=0 is not within"),
        ({"level": 1.5}, "level=1.5 is not within"),
        ({"conditions": "stated,askd"}, "condition='askd' is not one of stated, asked; did you mean 'asked'"),
    ],
)
def test_a_wrong_parameter_is_named_before_the_first_call(given, said):
    with pytest.raises(ValueError, match=said):
        study_task(SURENESS)(**given)


def test_a_parameter_has_the_choices_it_declares():
    with pytest.raises(ValueError, match="by='juge' is not one of match, judge; did you mean 'judge'"):
        study_task(AGREEMENT)(by="juge")


@pytest.mark.parametrize(
    ("read", "said"),
    [
        (
            lambda *given: {k: v for k, v in sureness.read(*given).items() if k != "status"},
            "a trial without status",
        ),
        (
            lambda *given: {**sureness.read(*given), "confidense": 1.0},
            "'confidense', .*; did you mean 'confidence'",
        ),
        (lambda *given: {**sureness.read(*given), "confidence": None}, "a missing number is NaN"),
    ],
)
def test_a_reader_that_returns_no_trial_is_named_before_the_first_call(read, said):
    with pytest.raises(ValueError, match=f"study sureness: read returns .*{said}"):
        study_task(replace(SURENESS, read=read))()


def test_the_first_stage_has_one_prompt():
    stages = (Stage("answer", lambda *_: None), SURENESS.stages[1])
    with pytest.raises(ValueError, match="stage 'answer' is the first one and has 0 prompts"):
        study_task(replace(SURENESS, stages=stages))()


def test_a_measure_that_reads_no_column_is_named_before_the_first_call():
    surprise = Measure("surprise", proportion(lambda trials: trials["confidense"]), "What is none.")
    wrong = replace(SURENESS, measures=(*SURENESS.measures, surprise))
    with pytest.raises(
        ValueError, match=r"measure surprise reads 'confidense', .*; did you mean 'confidence'"
    ):
        study_task(wrong)()


@pytest.mark.parametrize(
    ("made", "source"),
    [
        (riskeval, {"source": "arithmetic", "penalties": "10"}),
        (boolq, {"source": "arithmetic_boolean"}),
        (scale_granularity, {"sources": "arithmetic", "scales": "0-20", "fewshot": 2}),
    ],
)
def test_the_question_that_the_sample_list_shows_first_is_not_sent(made, source, tmp_path):
    """What is sent is what the item says, and what two runs are pooled by is a digest of that alone."""
    mock, task = Mock(lambda turns, config: "Answer: A\nConfidence: 10"), made(n=1, **source)
    log = run(task, mock.model(), tmp_path)

    (sample,) = log.samples
    shown, *sent = [(message.role, message.text) for message in sample.input]
    assert shown == ("user", sample.metadata["question"])
    assert [said for said, _ in mock.asked] == [sent]
    assert sent[-1][1].count(shown[1]) == 1
    assert read_inspect_log(log.location).columns["prompt_digest"].tolist() == [prompt_digest(sent)]
