"""Inspect logs of tasks of others in the commands: which scorer and which value say what is right."""

import json
import math
from pathlib import Path

import pytest
from click.testing import CliRunner
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.model import Logprob, Logprobs, ModelFallback, ModelOutput, ModelUsage, TopLogprob, get_model
from inspect_ai.scorer import Score, Target, includes, mean, scorer
from inspect_ai.solver import TaskState, solver
from scipy.stats import entropy

import confidence_tasks as ct
from confidence_tasks.cli import main
from confidence_tasks.logs.collection import collect


@scorer(metrics=[mean()])
def share():
    """Give a share of the credit: 0.25, 0.5, 0.75, 1 in turn."""

    async def score(state: TaskState, target: Target) -> Score:
        return Score(value=(int(state.sample_id) % 4 + 1) / 4)

    return score


@scorer(metrics={"fast": [mean()], "right": [mean()]})
def both():
    async def score(state: TaskState, target: Target) -> Score:
        return Score(value={"fast": 1.0, "right": float(int(state.sample_id) % 2)})

    return score


def reply(messages, tools, choice, config):
    text = "80" if "How confident" in messages[-1].text else f"It is so.\nConfidence: {60 + len(messages)}"
    output = ModelOutput.from_content("mockllm/model", text)
    output.usage = ModelUsage()
    return output


def run(task: Task, folder: Path) -> str:
    model = get_model("mockllm/model", custom_outputs=reply, memoize=False)
    (log,) = eval(task, model=model, log_dir=str(folder), display="none")
    assert log.status == "success", log.error
    return log.location


def task(*scorers):
    samples = [Sample(f"Question {i}", target="yes", id=str(i)) for i in range(8)]
    return Task(samples, scorer=list(scorers), name="shares")


@pytest.fixture
def log(tmp_path: Path) -> str:
    return run(task(share(), both()), tmp_path / "logs")


def accuracy(path: str, *options: str) -> tuple[float | None, list[str]]:
    """Return the accuracy that the report has, and the reasons of skipped files."""
    command = ["report", path, "--json", "--no-cache", "--resamples", "50", "-o", f"{path}.html", *options]
    found = json.loads(CliRunner().invoke(main, command).stdout)
    values = [row["value"] for row in found["estimates"] if row["measure"] == "accuracy"]
    return (values[0] if values else None), [file["reason"] for file in found["skipped"]]


def test_report_takes_the_scorer_and_the_bound_that_are_named(log: str) -> None:
    assert accuracy(log, "--correct", "score>=0.5") == (0.75, [])
    assert accuracy(log, "--scorer", "both", "--correct", "right") == (0.5, [])
    assert accuracy(log, "--scorer", "both", "--correct", "fast") == (1.0, [])


def test_report_says_what_there_is_to_choose_from(log: str) -> None:
    for options, message in (
        ((), "--correct 'score>=0.5', or another bound, counts scores from there on as right"),
        (("--scorer", "bot"), "did you mean 'both'?: --scorer share or both"),
        (("--scorer", "both"), "--correct fast or right"),
    ):
        value, (reason,) = accuracy(log, *options)
        assert value is None
        assert message in reason


def test_a_text_that_is_no_bound_is_refused_before_any_file_is_read(log: str) -> None:
    for command in (["report", log], ["compare", log, log]):
        result = CliRunner().invoke(main, [*command, "--correct", "score>0.5"])
        assert result.exit_code == 2
        assert "no bound such as 'f1>=0.5'" in result.output


def test_compare_and_python_take_the_same_choice(log: str, tmp_path: Path) -> None:
    other = run(task(both()), tmp_path / "other")
    options = [
        "--correct",
        "right",
        "--scorer",
        "both",
        "--measure",
        "accuracy",
        "--resamples",
        "50",
        "--json",
    ]
    compared = json.loads(CliRunner().invoke(main, ["compare", log, other, *options]).stdout)
    (row,) = compared["comparisons"]
    assert (row["first_value"], row["difference"]) == (0.5, 0.0)
    choice = {"correct": "right", "scorer": "both"}
    table = ct.metrics(log, measures=["accuracy"], n_resamples=50, **choice)
    assert table["value"].tolist() == [0.5]
    assert ct.summary(data=log, measures=["accuracy"], n_resamples=50, **choice).to_frame()[
        "value"
    ].tolist() == [0.5]
    difference = ct.compare(log, other, measures=["accuracy"], n_resamples=50, **choice).to_frame()
    assert difference["difference"].tolist() == [0.0]


def test_the_choice_of_with_confidence_is_that_of_the_report(tmp_path: Path) -> None:
    asked = ct.with_confidence(task(share(), both()), scorer="share", correct="score>=0.75")
    path = run(asked, tmp_path / "asked")
    assert accuracy(path) == (0.5, [])
    (file,) = collect(path).files
    assert file.provenance["scorer"] == "share"
    assert set(file.columns["condition"]) == {"0-100", "stated"}
    assert set(file.columns["confidence"]) >= {0.8}


def test_a_run_says_at_once_and_once_that_partial_credit_is_not_counted(tmp_path: Path, caplog) -> None:
    run(ct.with_confidence(task(share())), tmp_path)
    (warning,) = [each for each in caplog.messages if "neither right nor wrong" in each]
    assert "--correct 'score>=0.5'" in warning


def test_metrics_of_the_task_are_those_of_its_own_scorers_only(tmp_path: Path) -> None:
    def of_task(wrap: bool):
        plain = Task(
            [Sample("Question", target="yes", id=str(i)) for i in range(4)],
            scorer=[share(), includes()],
            metrics=[mean()],
            name="shares",
        )
        return ct.with_confidence(plain) if wrap else plain

    plain, asked = (read_eval_log(run(of_task(wrap), tmp_path / str(wrap))) for wrap in (False, True))
    *own, ours = asked.results.scores
    assert [(each.name, each.metrics) for each in own] == [
        (each.name, each.metrics) for each in plain.results.scores
    ]
    assert (own[0].metrics["mean"].value, own[1].metrics["mean"].value) == (0.625, 0.0)
    assert "parse_rate/0-100" in ours.metrics


def test_the_samples_before_a_failure_count_and_the_others_are_lost(tmp_path: Path) -> None:
    @solver
    def fails_late():
        async def solve(state, generate):
            if state.sample_id == "3":
                raise RuntimeError("the sandbox is gone")
            return await generate(state)

        return solve

    samples = [Sample("Question", target="so", id=str(i)) for i in range(6)]
    task = Task(samples, solver=fails_late(), scorer=includes(), name="late")
    model = get_model("mockllm/model", custom_outputs=reply, memoize=False)
    options = {"log_dir": str(tmp_path), "display": "none", "max_samples": 1}
    (log,) = eval(ct.with_confidence(task), model=model, fail_on_error=True, **options)
    assert log.status == "error"
    (file,) = collect(log.location).files
    n_read = len(set(file.columns["question_id"]))
    assert (n_read, file.lost, file.status) == (3, 3, "error")


def test_the_page_names_the_scorer(tmp_path: Path) -> None:
    samples = [Sample("Question", target="yes", id=str(i)) for i in range(4)]
    path = run(Task(samples, scorer=[both(), share()], name="plain"), tmp_path / "logs")
    page = tmp_path / "page.html"
    command = ["report", path, "--correct", "right", "-o", str(page), "--resamples", "50", "--no-cache"]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 0, result.output
    assert "One of several scorers says what is right" in page.read_text()


def test_the_terminal_tells_how_to_get_a_confidence_where_there_is_none(tmp_path: Path) -> None:
    (log,) = eval(task(includes()), model=with_tokens(), log_dir=str(tmp_path), display="none")
    command = ["report", log.location, "-o", str(tmp_path / "page.html"), "--resamples", "50", "--no-cache"]
    result = CliRunner().invoke(main, command)
    assert "note Replies that state no confidence: shares: mockllm/model" in result.output
    assert "--scorer confidence_tasks/stated_confidence" in " ".join(result.output.split())


def with_tokens(*tokens: tuple[str, float]):
    """Return a model that says "Lima." and lists some tokens with their log-probabilities."""

    def answer(messages, tools, choice, config):
        output = ModelOutput.from_content("mockllm/model", "Lima.")
        output.choices[0].logprobs = Logprobs(content=[Logprob(token=t, logprob=p) for t, p in tokens])
        output.usage = ModelUsage()
        return output

    return get_model("mockllm/model", custom_outputs=answer, memoize=False)


@pytest.mark.filterwarnings("ignore:.*Replies without a readable answer:UserWarning")
@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        ([("Lima", -0.5), (".", -0.1)], {"mean_logprob": -0.3, "sum_logprob": -0.6, "min_logprob": -0.5}),
        (
            [("Is it Quito?", -7.0), ("</think>", -2.0), ("Lima", -0.5), (".", -0.1)],
            {"mean_logprob": -0.3, "sum_logprob": -0.6, "min_logprob": -0.5},
        ),
        ([("Quito", -0.5), ("!", -0.1)], {}),
        ([(letter, 0.0) for letter in "Lima."], {}),
    ],
    ids=["reply", "thought", "other tokens", "unmeasured"],
)
def test_log_probabilities_are_those_of_the_reply(tokens, expected, tmp_path: Path) -> None:
    cities = Task(
        [Sample(f"City {i}?", target="Lima", id=str(i)) for i in range(2)], scorer=includes(), name="cities"
    )
    eval(cities, model=with_tokens(*tokens), log_dir=str(tmp_path), display="none")
    frame = ct.report.trials(tmp_path)
    found = {
        each.condition: math.log(each.confidence)
        for each in frame.itertuples()
        if each.confidence == each.confidence
    }
    assert found == pytest.approx(expected)


def listed(token: str) -> Logprob:
    """Return a token of probability 0.6 with two alternatives of 0.3 and 0.1."""
    shares = {token: 0.6, "Quito": 0.3, "La": 0.1}
    top = [TopLogprob(token=text, logprob=math.log(share)) for text, share in shares.items()]
    return Logprob(token=token, logprob=math.log(0.6), top_logprobs=top)


def thoughtful(messages, tools, choice, config):
    """Say "Lima." after a thought of two tokens, whose log-probabilities are listed."""
    output = ModelOutput.from_content("mockllm/model", "Lima.")
    thought = [Logprob(token=t, logprob=math.log(0.5)) for t in ("Is it Quito?", "</think>")]
    output.choices[0].logprobs = Logprobs(content=[*thought, listed("Lima"), listed(".")])
    output.usage = ModelUsage()
    return output


@pytest.mark.filterwarnings("ignore:.*Replies without a readable answer:UserWarning")
def test_further_signals_are_those_of_the_tokens_of_reply_and_thought(tmp_path: Path) -> None:
    cities = Task(
        [Sample(f"City {i}?", target="Lima", id=str(i)) for i in range(2)], scorer=includes(), name="cities"
    )
    model = get_model("mockllm/model", custom_outputs=thoughtful, memoize=False)
    eval(cities, model=model, log_dir=str(tmp_path), display="none")
    found = {each.condition: each.value for each in ct.report.trials(tmp_path, signals="all").itertuples()}
    by_default = set(ct.report.trials(tmp_path).condition)
    assert by_default == {"mean_logprob", "sum_logprob", "min_logprob"}
    assert {name: value for name, value in found.items() if name not in by_default} == pytest.approx(
        {
            "mean_entropy": -entropy([0.6, 0.3, 0.1]),
            "token_margin": 0.3,
            "negentropy": 1 - entropy([0.6, 0.3, 0.1], base=3),
            "self_certainty": entropy([1 / 3] * 3, [0.6, 0.3, 0.1]),
            "trace_length": -2.0,
            "trace_logprob": math.log(0.5),
        },
        abs=1e-9,
    )


# What is no answer of the model


def ending(messages, tools, choice, config):
    """Stop by the filter, at the token limit (within and behind a confidence), then at the end."""
    number = int(messages[-1].text.split()[1])
    text, stop = (
        ("Policy 7 applies. yes", "content_filter"),
        ("yes, as at first Confidence: 10 and then", "max_tokens"),
        ("yes.\nConfidence: 70%", "max_tokens"),
        ("yes.\nConfidence: 60%", "stop"),
    )[min(number, 3)]
    output = ModelOutput.from_content("mockllm/model", text, stop_reason=stop)
    output.usage = ModelUsage()
    logprob = Logprob(token=text, logprob=-0.5, top_logprobs=[TopLogprob(token=text, logprob=-0.5)])
    output.choices[0].logprobs = Logprobs(content=[logprob])
    return output


@pytest.mark.filterwarnings("ignore:shares")
def test_a_filtered_reply_is_no_answer_and_replies_that_were_cut_off_are_counted(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "reply", ending)
    found = ct.report.trials(run(task(includes()), tmp_path))
    stated = found[found["condition"] == "stated"].reset_index(drop=True)
    assert stated["status"].tolist() == ["filtered", "truncated", "truncated", *["ok"] * 5]
    assert stated["correct"].tolist() == pytest.approx([math.nan, *[1] * 7], nan_ok=True)
    assert stated["confidence"].tolist() == pytest.approx([math.nan, math.nan, 0.7, *[0.6] * 5], nan_ok=True)
    tokens = found[found["condition"] == "mean_logprob"]
    assert tokens["value"].tolist() == pytest.approx([math.nan, *[-0.5] * 7], nan_ok=True)
    titles = {notice["title"] for notice in found.attrs["notices"]}
    assert titles >= {
        "Replies stopped by the provider's content filter",
        "Replies cut off at the token limit",
    }


@pytest.mark.parametrize("suffix", ["eval", "json"])
def test_replies_of_a_fallback_model_are_apart_in_logs_of_any_task(suffix, tmp_path):
    log = read_eval_log(run(task(includes()), tmp_path / "whole"))
    for sample in log.samples[:3]:
        sample.model_fallbacks = [ModelFallback(model="mockllm/model", fallback_model="lab/small")]
    path = tmp_path / f"a.{suffix}"
    write_eval_log(log, str(path))
    found = ct.summary(str(path), by="model", measures=["accuracy"]).to_frame()
    assert found[["model", "n"]].to_numpy().tolist() == [
        ["mockllm/model", 5],
        ["mockllm/model (fallback=lab/small)", 3],
    ]
    assert sum(file.lost for file in collect(path).files) == 0


def test_subjects_and_clusters_that_a_task_of_others_names_are_read(tmp_path):
    samples = [
        Sample(f"Question {i}", target="yes", id=str(i), metadata={"subject": i % 4, "cluster": f"c{i % 2}"})
        for i in range(8)
    ]
    path = run(Task(samples, scorer=includes(), name="passages"), tmp_path)
    for cluster, n_clusters in {"": 2, "subject": 4, "none": math.nan}.items():
        found = ct.metrics(path, cluster=cluster, measures=["accuracy"], n_resamples=50)
        assert found["n_clusters"].tolist() == pytest.approx([n_clusters], nan_ok=True)
