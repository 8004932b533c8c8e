"""Studies of stages run on Inspect: what is asked, what is shared, what is refused, what a second run costs."""

import json
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
    TopLogprob,
    get_model,
)
from tests.small_runs import KINDS, SMALL_RUNS, arguments
from tests.stages import agreement, sureness

from confidence_tasks import _registry
from confidence_tasks._registry import (
    boolq,
    fermieval_sampling,
    lifeeval,
    riskeval,
    scale_granularity,
    signals,
)
from confidence_tasks.harness.inspect.efforts import refuse_effort
from confidence_tasks.harness.inspect.task import study_task
from confidence_tasks.harness.logged_trials import scored_trial
from confidence_tasks.logs.digests import prompt_digest
from confidence_tasks.logs.inspect_logs import read_inspect_log
from confidence_tasks.study import Measure, Stage
from confidence_tasks.study.computations import proportion_of

pytestmark = pytest.mark.slow

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
        top = [TopLogprob(token=text, logprob=-0.5), TopLogprob(token="9", logprob=-2.0)]
        tokens = Logprobs(content=[Logprob(token=text, logprob=-0.5, top_logprobs=top)])
        given = tokens if self.logprobs and config.logprobs else None
        turn = ChatMessageAssistant(content=text, source="generate")
        return ModelOutput(
            model="mockllm/model",
            choices=[ChatCompletionChoice(message=turn, stop_reason="stop", logprobs=given)],
            usage=ModelUsage(
                input_tokens=4,
                input_tokens_cache_read=3,
                output_tokens=3,
                total_tokens=10,
                reasoning_tokens=2,
            ),
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
        ({"n": 0}, "n=0 must be 1 or more"),
        ({"level": 1.5}, "level=1.5 must lie in"),
        ({"efforts": "low,hihg"}, "'hihg' is neither one of none, .* nor a number .* did you mean 'high'"),
        ({"efforts": True}, "efforts=True must be a text or a whole number or a list"),
        ({"conditions": "stated,askd"}, "condition='askd' is not one of stated, asked; did you mean 'asked'"),
    ],
)
def test_a_wrong_parameter_is_named_before_the_first_call(given, said):
    with pytest.raises(ValueError, match=said):
        study_task(SURENESS)(**given)


def test_every_call_has_the_effort_that_its_trial_has(tmp_path):
    mock = Mock(
        lambda turns, config: "40%" if "How sure" in turns[-1] else f"Yes {EFFORTS[effort_of(config)]}%"
    )
    log = run(study_task(SURENESS)(n=3, efforts="low,2048", metrics="all"), mock.model(), tmp_path)

    found = trials(log, "sureness_scorer")
    assert len(found) == len({name.rpartition("/")[0] for name in found}) * 2 == 12
    assert {trial["effort"] for trial in found.values()} == {"low", "2048"}
    stated = {trial["effort"]: trial["confidence"] for name, trial in found.items() if "/stated/" in name}
    assert stated == {"low": 0.6, "2048": 0.9}
    # at each effort 3 answers that both conditions share, and 3 questions about them
    assert sorted(effort_of(config) for _, config in mock.asked) == ["2048"] * 6 + ["low"] * 6
    assert log.results
    accuracy = log.results.scores[0].metrics["accuracy/stated/low"].value
    assert log.results.scores[0].metrics["ece/stated/low"].value == pytest.approx(abs(0.6 - accuracy))
    assert log.results.scores[0].metrics["ece/stated/2048"].value == pytest.approx(abs(0.9 - accuracy))

    more = Mock(mock.reply)
    run(study_task(SURENESS)(n=3, efforts=["low", "high"]), more.model(), tmp_path)
    assert {effort_of(config) for _, config in more.asked} == {"high"}  # low is in the cache


EFFORTS = {"low": 60, "2048": 90, "high": 95}


def effort_of(config: Any) -> str:
    return config.reasoning_effort or str(config.reasoning_tokens)


def made_small(made: Any, **efforts: Any) -> Any:
    wanted = {riskeval: {"penalties": "1,10"}, scale_granularity: {"scales": "0-10,0-100"}}[made]
    source = "sources" if made is scale_granularity else "source"
    return made(n=3, **wanted, **{source: "arithmetic"}, **efforts)


@pytest.mark.parametrize("made", [riskeval, scale_granularity])
def test_efforts_of_one_run_read_as_runs_of_one_effort_each(made, tmp_path):
    mock = Mock(lambda *_: "Answer: A\nConfidence: 10")
    both = run(made_small(made, efforts="low,high"), mock.model(), tmp_path / "both")
    alone = [
        run(made_small(made), mock.model(), tmp_path / effort, reasoning_effort=effort)
        for effort in ("high", "low")
    ]

    read = read_inspect_log(both.location)
    expected = [file for log in alone for file in read_inspect_log(log.location)]
    assert [file.setup["generation.reasoning_effort"] for file in read] == ["low", "high"]
    for file in expected:
        (same,) = [each for each in read if each.setup == file.setup]
        assert (same.lost, len(same)) == (file.lost, len(file)) == (0, 6)
        for name in ("question_id", "condition", "confidence", "question_digest", "prompt_digest"):
            ours, theirs = (list(map(str, each.columns[name])) for each in (same, file))
            assert sorted(ours) == sorted(theirs), name
    scores = [score for sample in both.samples for score in sample.scores.values()]
    assert {score.value["effort"] for score in scores} == {"low", "high"}
    assert {len(score.value) for score in scores} == {
        5
    }  # the viewer has room for one column that not every study has


@pytest.mark.usefixtures("mirror")
@pytest.mark.parametrize("small", [SMALL_RUNS[task] for task in KINDS], ids=KINDS)
def test_every_task_is_asked_at_every_effort_and_its_trials_have_the_tokens(small, tmp_path):
    mock = Mock(lambda *_: "Answer: A\nConfidence: 10")
    made = getattr(_registry, small.task)(**arguments(small, tmp_path), efforts="low,1024")
    log = run(made, mock.model(), tmp_path)

    assert log.status == "success", log.error
    assert {effort_of(config) for _, config in mock.asked} == {"low", "1024"}
    spent = [sample.metadata["reasoning_tokens"] for sample in log.samples]
    assert all(tokens >= 2 and tokens % 2 == 0 for tokens in spent)
    assert {
        file.setup.get("generation.reasoning_effort", file.setup.get("generation.reasoning_tokens"))
        for file in read_inspect_log(log.location)
    } == {"low", "1024"}


def test_a_trial_has_the_tokens_of_its_calls(tmp_path):
    mock = Mock(lambda turns, config: "Answer: A\nConfidence: 40")
    log = run(signals(n=2, signals="stated,stated_after"), mock.model(), tmp_path)

    (file,) = read_inspect_log(log.location)
    calls = {"stated": 1, "stated_after": 2}
    # a prompt that the provider had in its cache counts, too
    for kind, tokens in (("input_tokens", 7), ("output_tokens", 3), ("reasoning_tokens", 2)):
        spent = dict(zip(file.columns["condition"], file.columns[kind], strict=True))
        assert spent == {condition: tokens * n for condition, n in calls.items()}
        assert {s.metadata["condition"]: s.metadata[kind] for s in log.samples} == spent


def test_a_judge_does_not_think_harder(tmp_path):
    mock, judge = Mock(lambda *_: "yes"), Mock(lambda *_: "no")
    task = study_task(AGREEMENT)(n=1, samples=3, by="judge", efforts="low")
    run(task, mock.model(), tmp_path, model_roles={"judge": judge.model()})
    assert {config.reasoning_effort for _, config in mock.asked} == {"low"}
    assert {config.reasoning_effort for _, config in judge.asked} == {None}


@pytest.mark.parametrize(
    ("provider", "effort", "said"),
    [
        ("hf", "low", "Inspect's hf provider ignores the effort for lab/model"),
        ("openai", "1024", "Inspect's openai provider ignores a number of reasoning tokens .*name efforts"),
        ("openai", "low", ""),
        ("anthropic", "1024", ""),
    ],
)
def test_an_effort_that_the_provider_drops_is_refused(provider, effort, said):
    api = type("API", (), {"__module__": f"inspect_ai.model._providers.{provider}"})()
    model = type("Model", (), {"api": api, "__str__": lambda self: "lab/model"})()
    if not said:
        refuse_effort(model, effort)
        return
    with pytest.raises(ValueError, match=said):
        refuse_effort(model, effort)


def test_a_refused_effort_is_refused_before_the_first_call(tmp_path):
    model = get_model(
        "openai-api/local/model", base_url="http://127.0.0.1:9/v1", api_key="none", max_retries=0
    )
    log = run(study_task(SURENESS)(n=2, efforts="512"), model, tmp_path)
    assert log.status == "error"
    assert "ignores a number of reasoning tokens" in log.error.message


def test_a_simulated_subject_replies_the_same_at_every_effort(tmp_path):
    log = run(made_small(scale_granularity, efforts="low,high"), "simulated/ideal", tmp_path)
    found = [
        dict(zip(file.columns["prompt_digest"], file.columns["confidence"], strict=True))
        for file in read_inspect_log(log.location)
    ]
    assert found[0] == found[1]
    assert len(found[0]) == 6


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
        (lambda *given: {**sureness.read(*given), "confidence": None}, "use NaN for a missing number"),
    ],
)
def test_a_reader_that_returns_no_trial_is_named_before_the_first_call(read, said):
    with pytest.raises(ValueError, match=f"study sureness: read returns .*{said}"):
        study_task(replace(SURENESS, read=read))()


def test_the_first_stage_has_one_prompt():
    stages = (Stage("answer", lambda *_: None), SURENESS.stages[1])
    with pytest.raises(ValueError, match="the first stage, 'answer', must have 1 prompt and has 0"):
        study_task(replace(SURENESS, stages=stages))()


def test_a_measure_that_reads_no_column_is_named_before_the_first_call():
    surprise = Measure("surprise", proportion_of(lambda trials: trials["confidense"]), "What is none.")
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
    assert read_inspect_log(log.location)[0].columns["prompt_digest"].tolist() == [prompt_digest(sent)]


@pytest.mark.usefixtures("mirror")
@pytest.mark.parametrize("made", [riskeval, signals, lifeeval, fermieval_sampling])
def test_worked_examples_stand_before_every_question_and_are_not_asked(made, tmp_path):
    mock = Mock(lambda turns, config: turns[-2])  # the reply of the last example
    log = run(made(n=2, fewshot=2), mock.model(), tmp_path)

    assert log.status == "success", log.error
    shown = {tuple(turns[-5:-1]) for turns, _ in mock.asked}
    asked = {turns[-1] for turns, _ in mock.asked}
    assert all(
        [role for role, _ in turns[-5:]] == ["user", "assistant"] * 2 + ["user"] for turns, _ in mock.asked
    )
    assert not {turn for turns in shown for turn in turns} & asked


def test_samples_of_an_answer_follow_its_worked_examples(tmp_path):
    mock = Mock(lambda turns, config: "Answer: A\nConfidence: 60")
    run(signals(n=1, fewshot=2, signals="agreement", samples=2), mock.model(), tmp_path)

    answer, *samples = [turns for turns, _ in mock.asked]
    assert len(answer) == 5
    assert samples == [answer] * 2


def test_a_worked_example_of_a_text_is_right(tmp_path):
    """A wrong text of a simulated subject says what the answer is not, which a small model copies."""
    questions = tmp_path / "capitals.jsonl"
    named = {"France": "Paris", "Peru": "Lima", "Kenya": "Nairobi", "Japan": "Tokyo", "Cuba": "Havana"}
    questions.write_text(
        "".join(
            json.dumps({"question": f"What is the capital of {land}?", "answer": city, "kind": "text"}) + "\n"
            for land, city in named.items()
        ),
        encoding="utf-8",
    )
    mock = Mock(lambda turns, config: "Answer: Rome\nConfidence: 60")
    for made, where in ((signals, "source"), (scale_granularity, "sources")):
        run(made(fewshot=4, **{where: str(questions)}), mock.model(), tmp_path)
    said = " ".join(text for turns, _ in mock.asked for role, text in turns if role == "assistant")
    assert "not " not in said
    assert sum(city in said for city in named.values()) == 4
