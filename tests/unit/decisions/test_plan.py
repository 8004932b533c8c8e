"""``plan``: calls, tokens and price of a run before it is paid, and the errors of the task itself."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from scipy.stats import norm
from tests.sizes import n_studies
from tests.small_runs import SMALL_RUNS

from confidence_tasks.catalogue import studies, study_named
from confidence_tasks.cli import main
from confidence_tasks.decisions import plan
from confidence_tasks.decisions.power import detectable_difference, power_curve, power_designs
from confidence_tasks.decisions.tokens import token_counter
from confidence_tasks.harness.inspect.task import study_task
from confidence_tasks.harness.usage_errors import UsageError
from confidence_tasks.simulation.subject import make_subject
from confidence_tasks.sources import Question
from confidence_tasks.studies.scales import STUDY as SCALES
from confidence_tasks.study import Simulation

SUMS_OF_OTHERS = """
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import match

@task
def sums():
    return Task([Sample(f"{i} + 1 =", target=str(i + 1)) for i in range(7)], scorer=match())
"""
"""A task that no study asks."""

SUMS = ("-T", "source=arithmetic_boolean", "-T", "n=20")


@pytest.fixture(autouse=True)
def _without_power(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out what a run can find, which takes a second for each measure."""
    monkeypatch.setattr(plan, "detectable", lambda planned: [])


def run(*arguments: object, exit_code: int = 0) -> str:
    done = CliRunner().invoke(main, ["plan", *map(str, arguments)], env={"COLUMNS": "400"})
    assert done.exit_code == exit_code, done.output
    return " ".join(done.output.split())


def planned(*arguments: object) -> dict[str, Any]:
    return json.loads(run(*arguments, "--json"))


def test_prompt_tokens_are_those_of_the_messages_that_are_sent() -> None:
    task = study_task(study_named("question_sets"), "boolq")(source="arithmetic_boolean", n=20)
    # The first message is the question alone, which the viewer shows.
    characters = sum(len(message.text) for sample in task.dataset for message in sample.input[1:])
    found = planned("boolq", *SUMS)
    assert (found["n_questions"], found["n_calls"]) == (20, 20)
    assert found["total"]["prompt_tokens"] == pytest.approx(characters / 4)
    assert planned("boolq", *SUMS, "--epochs", 3)["total"]["prompt_tokens"] == pytest.approx(
        3 * characters / 4
    )


def test_calls_are_questions_times_conditions_times_samples() -> None:
    arguments = (
        "signals",
        "-T",
        "n=5",
        "-T",
        "samples=4",
        "-T",
        "signals=stated,p_true,agreement,mean_logprob",
    )
    by_stage = {stage["stage"]: stage["n_calls"] for stage in planned(*arguments)["stages"]}
    # The answer is asked once for all four conditions.
    assert by_stage == {"answer": 5, "p_true": 5, "samples": 20}
    alone = planned(*arguments, "--model", "simulated/ideal")
    assert {stage["stage"]: stage["n_calls"] for stage in alone["stages"]}["answer"] == 20
    assert "5 questions × 4 conditions; 30 calls" in run(*arguments)


def test_other_roles_are_not_in_the_price() -> None:
    arguments = ("signals", "-T", "n=5", "-T", "signals=stated,panel", "-T", "panel=a,b")
    found = planned(*arguments, "--price", "1,1")
    assert [(stage["role"], stage["n_calls"]) for stage in found["stages"]] == [("", 5), ("a", 5), ("b", 5)]
    own = found["stages"][0]
    assert found["price"]["typical"] == pytest.approx((own["prompt_tokens"] + own["reply_tokens"]) / 1e6)
    assert "without a, b" in run(*arguments, "--price", "1,1")


def test_the_scorers_calls_are_announced() -> None:
    told = run(
        "riskeval", "-T", "source=arithmetic", "-T", "n=5", "-T", "penalties=1,10", "-T", "parser=model"
    )
    assert "The scorer calls parser up to 10 times each" in told


def test_a_price_is_that_of_the_tokens() -> None:
    found = planned("boolq", *SUMS, "--price", "2.5,10", "--max-tokens", 100)
    total = found["total"]
    assert total["most_reply_tokens"] == 2000
    expected = (2.5 * total["prompt_tokens"] + 10 * total["reply_tokens"]) / 1e6
    assert found["price"]["typical"] == pytest.approx(expected)
    assert found["price"]["at_most"] == pytest.approx((2.5 * total["prompt_tokens"] + 20_000) / 1e6)
    assert planned("boolq", *SUMS)["price"] is None


def test_a_limit_of_a_stage_is_the_most_that_is_paid() -> None:
    run_of = SMALL_RUNS["nlp_metad"]
    given = [part for name, value in run_of.arguments.items() for part in ("-T", f"{name}={value}")]
    total = planned("nlp_metad", *given)["total"]
    assert total["reply_tokens"] < total["most_reply_tokens"] < math.inf
    (stage,) = study_named("nlp_metad").stages_of(
        {p.name: p.default for p in study_named("nlp_metad").task_parameters()} | {"task": "nlp_metad"}
    )
    assert total["most_reply_tokens"] == total["n_calls"] * stage.max_tokens


def test_inspects_file_of_prices_is_read(tmp_path: Path) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text(
        "openai/gpt-x: {input: 3, output: 6, input_cache_write: 0, input_cache_read: 0}\nbad: {input: 1}"
    )
    options = ("boolq", *SUMS, "--model-cost-config", prices)
    found = planned(*options, "--model", "openai/gpt-x")["price"]
    assert (found["prompt"], found["reply"]) == (3, 6)
    assert "did you mean 'openai/gpt-x'?" in run(*options, "--model", "openai/gpt-y", exit_code=2)
    assert "needs the numbers input and output" in run(*options, "--model", "bad", exit_code=2)
    assert "add --model" in run(*options, exit_code=2)
    missing = ("boolq", *SUMS, "--model", "m", "--model-cost-config", tmp_path / "none.yaml")
    assert "none.yaml" in run(*missing, exit_code=2)


def test_a_study_without_a_simulated_subject_has_calls_and_no_reply_tokens() -> None:
    made = plan.PlannedTask.make("boolq", {"source": "arithmetic_boolean", "n": 20})
    assert made.study is not None
    alone = replace(made, study=replace(made.study, simulation=Simulation()))
    found, whole = (plan.plan_run(each, token_counter()) for each in (alone, made))
    assert (found.n_calls, found.total().reply_tokens) == (20, 0.0)
    assert found.total().prompt_tokens == whole.total().prompt_tokens
    assert "has no simulated subject" in found.notes[0]


@pytest.mark.parametrize("prices", ["2.5", "a,b", "-1,2", "nan,1", "1,2,3", "inf,1"])
def test_prices_that_are_none_are_refused(prices: str) -> None:
    assert "such as 2.5,10" in run("boolq", *SUMS, "--price", prices, exit_code=2)


@pytest.mark.parametrize(
    ("task", "given"),
    [
        ("boolq", {"sorces": "arithmetic_boolean"}),
        ("boolq", {"n": -3}),
        ("boolq", {"source": "nowhere"}),
        ("riskeval", {"source": "arithmetic", "penalties": "many"}),
        ("signals", {"signals": "statd"}),
        ("scale_granularity", {"sources": "arithmetic", "scales": "0-7x"}),
    ],
)
def test_a_mistake_has_the_words_of_the_task(task: str, given: dict[str, Any]) -> None:
    study = next(study for study in studies() if task in study.designs)
    with pytest.raises(UsageError) as refusal:
        study_task(study, task)(**given)
    arguments = [part for name, value in given.items() for part in ("-T", f"{name}={value}")]
    assert " ".join(str(refusal.value).split()) in run(task, *arguments, exit_code=2)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("scale_granularty", "did you mean 'scale_granularity'?"),
        ("other/boolq", "did you mean 'boolq'?"),
        ("inspect_evals/gpqa_diamond", "with_confidence -T task=PACKAGE/NAME"),
        ("boolq_confidence", "did you mean"),
    ],
)
def test_a_task_that_does_not_exist_is_refused(name: str, told: str) -> None:
    assert told in run(name, exit_code=2)


def test_a_task_of_others_has_a_call_for_each_question_about_the_answer(tmp_path: Path) -> None:
    file = tmp_path / "sums.py"
    file.write_text(SUMS_OF_OTHERS)
    found = planned("with_confidence", "-T", f"task={file}@sums", "-T", "ask=0-100,p_true")
    assert [(stage["stage"], stage["n_calls"]) for stage in found["stages"]] == [
        ("answer", 7),
        ("0-100", 7),
        ("p_true", 7),
    ]
    assert found["stages"][0]["prompt_tokens"] == pytest.approx(7 * len("0 + 1 =") / 4)
    within = planned("with_confidence", "-T", f"task={file}@sums", "-T", "when=within")
    assert [stage["n_calls"] for stage in within["stages"]] == [7]
    assert within["total"]["prompt_tokens"] > found["stages"][0]["prompt_tokens"]
    assert "with_confidence needs a task" in run("with_confidence", exit_code=2)


# Tokens


@pytest.mark.slow
def test_a_tokenizer_of_a_folder_counts_its_tokens(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    transformers = pytest.importorskip("transformers")
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({"[unk]": 0}, unk_token="[unk]"))
    words.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    transformers.PreTrainedTokenizerFast(tokenizer_object=words, unk_token="[unk]").save_pretrained(tmp_path)
    assert token_counter(str(tmp_path)).count("How sure are you?\n100") == 5
    task = study_task(study_named("question_sets"), "boolq")(source="arithmetic_boolean", n=20)
    expected = sum(len(message.text.split()) for sample in task.dataset for message in sample.input[1:])
    found = planned("boolq", *SUMS, "--tokenizer", tmp_path)
    assert (found["total"]["prompt_tokens"], found["counter"]) == (expected, str(tmp_path))


def test_a_download_is_said_before_it_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    def load_dataset(*_: Any, **__: Any) -> Any:
        click.echo("The hub is asked.", err=True)
        raise OSError("no network")

    monkeypatch.setattr("datasets.load.load_dataset", load_dataset)
    monkeypatch.delenv("CONFIDENCE_TASKS_MIRROR", raising=False)
    address = "https://huggingface.co/datasets/google/boolq"
    said = f"boolq: downloading its questions from {address} to the cache, once The hub is asked."
    assert said in run("boolq", exit_code=2)


def test_nothing_is_downloaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tiktoken")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    with pytest.raises(ValueError, match="not in tiktoken's cache"):
        token_counter("gpt-4o")


def test_a_tokenizer_that_is_not_here_is_refused() -> None:
    pytest.importorskip("transformers")
    with pytest.raises(ValueError, match="there is no tokenizer 'none/such'"):
        token_counter("none/such")


# What a run can find


def test_the_detectable_difference_of_two_proportions_is_that_of_the_textbook() -> None:
    n, first = (
        500,
        SCALES.simulation.true_values(make_subject("ideal"), "0-100", "scale_granularity")["accuracy"],
    )
    found = detectable_difference("scales", "accuracy", n)
    second = first - found
    # Fleiss, Levin & Paik (2003), section 4.3, with the variance under the alternative.
    variance = (first * (1 - first) + second * (1 - second)) / n
    assert found == pytest.approx((norm.ppf(0.975) + norm.ppf(0.8)) * math.sqrt(variance), rel=0.03)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("study", "measure"),
    [("scales", "auroc"), ("fermieval", "coverage"), ("nlp_metad", "auroc2"), ("scales", "brier")],
)
def test_the_detectable_difference_is_found_with_its_power(study: str, measure: str) -> None:
    better = power_designs()[study].measures[measure].better
    effect = detectable_difference(study, measure, 400) * (-1 if better == "lower" else 1)
    size = n_studies(400)
    (power,) = power_curve(study, measure, effect, n=[400], n_studies=size).power
    assert abs(power - 0.8) < 4 * math.sqrt(0.8 * 0.2 / size)


def test_a_measure_without_influences_has_no_detectable_difference() -> None:
    assert math.isnan(detectable_difference("scales", "ece", 400))
    assert math.isnan(detectable_difference("scales", "accuracy", 19))


@pytest.mark.slow
def test_a_plan_says_what_the_run_can_find(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    told = run("boolq", "-T", "source=arithmetic_boolean", "-T", "n=500")
    difference = detectable_difference("question_sets", "accuracy", 500)
    assert "With 500 readable questions, `compare` finds a difference of two models with 80% power" in told
    assert f"if it is about: Accuracy {difference:.3f}." in told
    assert "For ece: `confidence-tasks power question_sets --measure NAME --effect EFFECT --n 500`" in told
    assert "is not known" in run("lifeeval", "-T", "n=8")


def test_only_the_questions_that_are_scored_count() -> None:
    design = power_designs()["fermieval"]
    halves = [
        Question("q", "fermi", "?", "number", "1", metadata={"split": split})
        for split in ("calibration", "test")
    ]
    assert list(map(design.is_counted, halves)) == [False, True]
