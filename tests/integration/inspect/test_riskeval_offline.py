"""RiskEval with a simulated parser and judge: the routes through model roles run without a key, with known errors."""

import json
from pathlib import Path

import pytest
from inspect_ai.model import get_model

from confidence_tasks import riskeval
from confidence_tasks.report import collect, report_of
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.simulation.reply import ROLES, SimulatedRole, make_role, reply_in_role
from confidence_tasks.sources import Question
from confidence_tasks.studies.riskeval.judgements import read_verdict
from confidence_tasks.studies.riskeval.replies import JUDGE_SYSTEM, PARSER_SYSTEM, judge_prompt, parser_prompt

from .conftest import Run, metrics, trials

CITY = Question("q-1", "demo", "Which city?", "choice", "B", ("Paris", "London", "Rome"))
OPEN = Question("q-2", "demo", "Which city?", "text", "London", aliases=("Londres",))


def verdict(question: Question, answer: str, role: SimulatedRole = ROLES["judge"]) -> object:
    prompt = f"{JUDGE_SYSTEM}\n\n{judge_prompt(question, answer)}"
    return read_verdict(reply_in_role(role, prompt, seed="0"))


@pytest.mark.parametrize("judge", ["auto", "model"])
def test_the_routes_through_roles_run_without_a_key_and_agree_with_the_rules(run: Run, judge: str) -> None:
    task = {"source": "arithmetic", "n": 8, "penalties": "1,10"}
    roles = {"parser": "simulated_instrument/parser", "judge": "simulated_instrument/judge"}
    by_rules = trials(run(riskeval(**task), "simulated/sloppy"))
    by_models = trials(
        run(riskeval(**task, parser="model", judge=judge), "simulated/sloppy", model_roles=roles)
    )
    for first, second in zip(by_rules, by_models, strict=True):
        for name in ("decision", "answer", "correct", "utility"):
            assert repr(first[name]) == repr(second[name])
        assert (second["same_decision"], second["same_confidence"]) == (1.0, 1.0)


def test_free_texts_are_judged_offline(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "capitals.jsonl"
    rows = [{"question": f"Capital {i}?", "answer": f"City {i}", "kind": "text"} for i in range(20)]
    path.write_text("\n".join(map(json.dumps, rows)))
    log = run(
        riskeval(source=str(path), penalties="1"),
        get_model("simulated/ideal", d_prime=0.5),
        model_roles={"judge": "simulated_instrument/judge"},
    )
    assert 0.0 < metrics(log)["accuracy_answered/all"] < 1.0
    judged = 0
    for sample in log.samples or []:
        by_inspect = sample.model_usage.values()
        judged += len(by_inspect) == 2
        for kind in ("input_tokens", "output_tokens"):
            assert sample.metadata[kind] == sum(getattr(usage, kind) for usage in by_inspect)
    assert judged > 0


@pytest.mark.parametrize(
    ("question", "answer", "right"),
    [
        (CITY, "B. London", True),
        (CITY, "A. Paris", False),
        (CITY, "london", True),
        (CITY, "Madrid", False),
        (OPEN, "london.", True),
        (OPEN, "Londres", True),
        (OPEN, "Paris", False),
    ],
)
def test_a_simulated_judge_without_errors_finds_right_what_names_the_key(
    question: Question, answer: str, right: bool
) -> None:
    assert verdict(question, answer) is right


def test_a_judge_errs_at_its_rates() -> None:
    role = make_role("judge", false_right=0.3, false_wrong=0.1)
    questions = [Question(f"q-{i}", "demo", f"Question {i}?", "text", f"word {i}") for i in range(1_000)]
    found_right = sum(verdict(question, question.gold or "", role) is True for question in questions)
    found_wrong = sum(verdict(question, "nothing", role) is True for question in questions)
    assert found_right / 1_000 == pytest.approx(0.9, abs=0.03)
    assert found_wrong / 1_000 == pytest.approx(0.3, abs=0.045)


def test_a_parser_errs_at_its_rate() -> None:
    role, misread = ROLES["careless_parser"], 0
    for i in range(1_000):
        prompt = f"{PARSER_SYSTEM}\n\n{parser_prompt(CITY, f'Case {i}.' + chr(10) + 'Answer: B')}"
        misread += json.loads(reply_in_role(role, prompt, seed="0"))["final_answer"] == "ABSTAIN"
    assert misread / 1_000 == pytest.approx(role.misreading, abs=0.03)


def test_the_report_has_the_agreement_of_rules_and_parser(run: Run, tmp_path: Path) -> None:
    parser = get_model("simulated_instrument/parser", misreading=0.5)
    task = riskeval(source="arithmetic", n=40, penalties="1", parser="model")
    made = trials(run(task, model_roles={"parser": parser}))
    run(riskeval(source="arithmetic", n=3, penalties="1"), "simulated/cautious")
    report = report_of(collect(tmp_path), settings=Settings(n_resamples=100))
    frame = next(extra.frame for extra in report.extras if extra.name == "riskeval_rules_and_parser")
    (row,) = frame.to_dict("records")
    agreed = sum(trial["same_decision"] for trial in made)
    assert 8 < agreed < 32
    assert (row["same_decision"], row["replies"]) == (agreed / 40, 40)
    assert row["same_decision low"] < row["same_decision"] < row["same_decision high"]
    assert row["same_confidence"] == 1.0


def test_a_garbling_instrument_leaves_trials_unscored(run: Run) -> None:
    parser = get_model("simulated_instrument/parser", garbling=1.0)
    log = run(
        riskeval(source="arithmetic", n=2, penalties="1", parser="model"), model_roles={"parser": parser}
    )
    assert log.results is not None
    assert log.results.scores[0].unscored_samples == 2


@pytest.mark.parametrize(
    ("name", "rates", "message"),
    [
        ("referee", {}, "there is no simulated parser or judge 'referee'. There are parser, judge"),
        ("judge", {"bias": 0.1}, "has no bias. Its parameters are false_right"),
        ("judge", {"false_right": 2}, "false_right must be a number of at least 0 and of at most 1, got 2"),
    ],
)
def test_a_wrong_name_or_rate_is_refused(name: str, rates: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_role(name, **rates)


def test_a_simulated_judge_refuses_a_prompt_of_no_study() -> None:
    with pytest.raises(ValueError, match="not one of them: 'Hello'"):
        reply_in_role(ROLES["judge"], "Hello", seed="0")
