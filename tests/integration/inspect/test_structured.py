"""Replies that are JSON objects by a response schema, on Inspect: what is sent, read, written and refused."""

import ast
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import inspect_ai.model
import pytest
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import match
from jsonschema import Draft202012Validator
from tests.integration.faults.loopback import ENVIRONMENT, Server, stub
from tests.integration.faults.speakers import Reply, completion

from confidence_tasks import _registry, with_confidence
from confidence_tasks.harness.inspect import schemas
from confidence_tasks.harness.logged_trials import scored_trial
from confidence_tasks.logs.collection import collect
from confidence_tasks.logs.task_trials import group_by_task

TASKS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "scales": ("scale_granularity", {"sources": "arithmetic", "n": 6, "scales": "0-20,0-100"}),
    "solution": ("scale_granularity", {"sources": "arithmetic_number", "n": 4, "scales": "0-20"}),
    "guesses": (
        "scale_granularity",
        {"sources": "arithmetic", "n": 4, "scales": "0-20", "elicitation": "top_k"},
    ),
    "reasoning": (
        "scale_granularity",
        {"sources": "arithmetic", "n": 4, "scales": "0-100", "elicitation": "cot"},
    ),
    "lifeeval": ("lifeeval", {"n": 12, "top_logprobs": 5}),
    "sciq": ("sciq", {"source": "arithmetic", "n": 6, "top_logprobs": 5}),
    "boolq": ("boolq", {"source": "arithmetic_boolean", "n": 6}),
    "riskeval": ("riskeval", {"source": "arithmetic", "n": 6, "penalties": "0,20"}),
    "risk of numbers": ("riskeval", {"source": "arithmetic_number", "n": 6, "penalties": "0,20"}),
    "signals": (
        "signals",
        {
            "n": 6,
            "samples": 2,
            "signals": "stated,stated_after,words,mean_logprob,p_true,semantic_entropy,top_k,distribution",
        },
    ),
    "signals of numbers": (
        "signals",
        {
            "source": "arithmetic_number",
            "n": 4,
            "samples": 2,
            "signals": "stated,mean_logprob,agreement,top_k",
        },
    ),
}


OF_THE_ARCHIVE: Mapping[str, tuple[str, dict[str, Any]]] = {
    "intervals": ("fermieval", {"n": 4, "levels": "0.9"}),
    "samples": (
        "fermieval_sampling",
        {"n": 2, "samples": 2, "levels": "0.9", "ask": "interval,direct,reasoned"},
    ),
}
"""Tasks whose questions are not made up, but in the mirror."""


def task(name: str, **more: Any) -> Task:
    function, arguments = {**TASKS, **OF_THE_ARCHIVE}[name]
    made: Task = getattr(_registry, function)(**{**arguments, **more})
    return made


def run(made: Task, model: Any, folder: Path, **options: Any) -> EvalLog:
    (log,) = eval(made, model=model, log_dir=str(folder), display="none", log_realtime=False, **options)
    return log


def trials(log: EvalLog) -> dict[str, dict[str, Any]]:
    assert log.status == "success", log.error
    return {
        str(sample.id): scored_trial(score.value, score.metadata)
        for sample in log.samples or []
        for score in (sample.scores or {}).values()
    }


NOT_COMPARED = ("structured", "rules", "input_tokens", "output_tokens", "problem", "confidence_stated")


@pytest.mark.parametrize("name", TASKS)
def test_a_subject_that_replies_in_json_has_the_trials_of_one_that_keeps_to_the_format(
    name: str, tmp_path: Path
) -> None:
    compare_text_and_objects(name, tmp_path)


@pytest.mark.usefixtures("mirror")
@pytest.mark.parametrize("name", OF_THE_ARCHIVE)
def test_so_it_is_with_questions_of_the_archive(name: str, tmp_path: Path) -> None:
    compare_text_and_objects(name, tmp_path)


def compare_text_and_objects(name: str, tmp_path: Path) -> None:
    """Every value of the trials is the same, but for those that say how the reply was written."""
    text = trials(run(task(name), get_model("simulated/rounder", memoize=False), tmp_path))
    sloppy = get_model("simulated/rounder", sloppiness=0.9, memoize=False)
    made = run(task(name, structured=True), sloppy, tmp_path)
    structured = trials(made)
    assert text.keys() == structured.keys()
    for sample, trial in structured.items():
        assert trial["structured"] is True
        assert trial["status"] == text[sample]["status"] == "ok"
        for key in trial.keys() - {*NOT_COMPARED}:
            assert trial[key] == pytest.approx(text[sample][key], nan_ok=True), (sample, key)


def conforming(asked: Mapping[str, Any]) -> Reply:
    """Reply with an object of the schema that was sent; with a text if none was."""
    form = asked.get("response_format")
    if form is None:
        return completion("True")
    assert form["type"] == "json_schema"
    assert form["json_schema"]["strict"] is True
    assert form["json_schema"]["description"]  # null is refused
    schema = form["json_schema"]["schema"]
    Draft202012Validator.check_schema(schema)
    values = {"string": "7", "integer": 1, "number": 0.5}
    reply = {name: each.get("enum", [values[each["type"]]])[0] for name, each in schema["properties"].items()}
    assert Draft202012Validator(schema).is_valid(reply)
    return completion(json.dumps(reply))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    for name, value in {**ENVIRONMENT, "INSPECT_CACHE_DIR": str(tmp_path / "cache")}.items():
        monkeypatch.setenv(name, value)
    with stub() as running:
        yield running


def served(server: Server) -> Any:
    return get_model("openai-api/loopback/m", base_url=server.address(""), memoize=False, max_retries=0)


@pytest.mark.usefixtures("mirror")
@pytest.mark.parametrize("name", OF_THE_ARCHIVE)
def test_a_server_is_sent_the_schema_of_intervals_and_of_exponents(
    name: str, server: Server, tmp_path: Path
) -> None:
    server.speak = conforming
    log = run(task(name, structured=True), served(server), tmp_path)
    found = trials(log)
    assert {trial["status"] for trial in found.values()} == {"ok"}
    sent = {tuple(each["response_format"]["json_schema"]["schema"]["properties"]) for each in server.requests}
    objects = {("L", "U"), ("exponent",), ("reasoning", "exponent")}
    assert sent == (objects if name == "samples" else {("L", "U")})
    by_kind = {trial.get("ask", "interval"): (trial["lower"], trial["upper"]) for trial in found.values()}
    assert set(by_kind.values()) == {(1.0, 1.0)}


@pytest.mark.usefixtures("mirror")
@pytest.mark.parametrize(
    ("made", "settings"),
    [("fermieval_logprob", {"n": 2}), ("nlp_metad", {"source": "arithmetic", "n": 2})],
)
def test_studies_of_token_probabilities_refuse_objects(made: str, settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"structured: replies to {made} are texts.* leave it out"):
        getattr(_registry, made)(**settings, structured=True)


@pytest.mark.parametrize("name", [name for name in TASKS if "top_logprobs" not in TASKS[name][1]])
def test_a_server_is_sent_a_strict_schema_and_its_replies_are_read(
    name: str, server: Server, tmp_path: Path
) -> None:
    server.speak = conforming
    options = ",distribution" if name == "signals" else ""
    signals = {"signals": f"stated,stated_after,words,top_k{options}"} if name.startswith("signals") else {}
    log = run(task(name, structured=True, **signals), served(server), tmp_path)
    # RiskEval asks for an answer in the model's own words, and 7 is none of the options.
    assert {trial["status"] for trial in trials(log).values()} <= (
        {"ok", "repaired"} if name == "riskeval" else {"ok"}
    )
    assert all("response_format" in each for each in server.requests)


def test_the_header_of_the_log_has_the_schema_if_all_calls_share_it(tmp_path: Path) -> None:
    log = run(task("boolq", structured=True), "simulated/ideal", tmp_path)
    schema = log.plan.config.response_schema
    assert schema is not None
    assert list(schema.json_schema.properties or {}) == ["Reasoning", "Answer", "Confidence"]
    assert run(task("boolq"), "simulated/ideal", tmp_path).plan.config.response_schema is None
    two_kinds = task("scales", sources="arithmetic,arithmetic_number", structured=True)
    assert run(two_kinds, "simulated/ideal", tmp_path).plan.config.response_schema is None


def test_runs_with_and_without_schemas_are_two_models_of_the_report(tmp_path: Path) -> None:
    for structured in (False, True):
        run(task("boolq", structured=structured), "simulated/ideal", tmp_path)
    (results,) = group_by_task(collect(tmp_path).files)
    assert sorted(model.label for model in results.models) == [
        "simulated/ideal",
        "simulated/ideal (structured=True)",
    ]


def sums() -> Task:
    samples = [Sample(f"{i} + {i} =", target=str(2 * i), id=f"sum-{i}") for i in range(4)]
    return Task(samples, scorer=match(location="any"), name="sums")


def test_a_server_that_ignores_schemas_stops_the_run_at_its_first_reply(
    server: Server, tmp_path: Path
) -> None:
    server.speak = lambda asked: completion("Answer: yes\nConfidence: 90")
    log = run(task("boolq", structured=True), served(server), tmp_path, fail_on_error=False)
    assert len(server.answers) == 1
    assert all("does not follow response schemas" in str(each.error) for each in log.samples or [])


def test_a_server_that_ignores_schemas_stops_the_questions_about_answers(
    server: Server, tmp_path: Path
) -> None:
    server.speak = lambda asked: completion("4")
    log = run(with_confidence(sums(), structured=True), served(server), tmp_path, fail_on_error=False)
    assert sum("response_format" in each for each in server.requests) == 1
    assert log.status == "error" or all(each.error for each in log.samples or [])


@pytest.mark.parametrize("provider", sorted(schemas.IGNORING | schemas.DEGRADING))
def test_a_provider_that_ignores_schemas_is_refused_before_the_first_call(
    provider: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    calls = []

    def reply(messages: Any, *_: Any) -> ModelOutput:
        calls.append(messages)
        return ModelOutput(model="m", usage=ModelUsage())

    monkeypatch.setattr(schemas, "built_in_provider", lambda model: provider)
    for made in (task("boolq", structured=True), with_confidence(sums(), structured=True)):
        model = get_model("mockllm/model", custom_outputs=reply, memoize=False)
        log = run(made, model, tmp_path)
        assert log.status == "error"
        assert "leave out structured" in str(log.error)
    assert calls == []


SENT = re.compile(
    r"config\.response_schema|openai_completion_params\(|completion_params_completions|openai_responses"
)
"""What a provider's module says that puts the schema into the request, or calls what does."""


def test_the_table_of_providers_is_that_of_the_installed_sources() -> None:
    classes: dict[str, tuple[str, ast.ClassDef, str]] = {}
    for path in (Path(inspect_ai.model.__file__).parent / "_providers").glob("[a-z]*.py"):
        text = path.read_text()
        for node in ast.parse(text).body:
            if isinstance(node, ast.ClassDef) and node.name.endswith("API"):
                classes[node.name] = path.stem, node, text

    def sends(name: str) -> bool:
        _, node, text = classes[name]
        own = ast.get_source_segment(text, node) or ""
        overrides = "async def generate(" in own and "super().generate(" not in own
        bases = [ast.unparse(base) for base in node.bases]
        inherits = not overrides and any(base in classes and sends(base) for base in bases)
        return bool(SENT.search(text)) or inherits

    ignoring = {name for name in classes if not sends(name)}
    assert {"HuggingFaceAPI", "TogetherRESTAPI", "OpenAICompatibleCompletionsAPI"} <= ignoring
    assert {classes[name][0] for name in ignoring - schemas.IGNORING_CLASSES} == schemas.IGNORING
    degrading = {module for module, _, text in classes.values() if '"type": "json_object"' in text}
    assert degrading == schemas.DEGRADING
    assert {classes[name][0] for name in classes} > schemas.FOLLOWING


def test_an_open_object_cannot_have_a_schema() -> None:
    with pytest.raises(Exception, match="ends within the object: use prompt=given_answer"):
        _registry.halueval(source="halueval", prompt="own_answer", structured=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ask": "0-100,p_true"}, "p_true reads the probability of a word"),
        ({"ask": "none"}, "asks nothing"),
        ({"when": "within"}, "no JSON objects"),
    ],
)
def test_questions_that_cannot_be_structured_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        with_confidence(sums(), structured=True, **options)


def test_a_thought_before_the_object_is_no_part_of_it(tmp_path: Path) -> None:
    text = '<think>Is it?</think>{"Reasoning": "", "Answer": "True", "Confidence": 0.5}'
    output = ModelOutput.from_content("m", text)
    output.usage = ModelUsage()
    model = get_model("mockllm/model", custom_outputs=[output] * 6, memoize=False)
    found = trials(run(task("boolq", structured=True), model, tmp_path))
    assert {trial["confidence"] for trial in found.values()} == {0.5}


def test_judges_of_a_panel_reply_in_words(server: Server, tmp_path: Path) -> None:
    server.speak = lambda asked: conforming(asked) if "response_format" in asked else completion("65")
    made = task("signals", structured=True, signals="stated,panel")
    log = run(made, served(server), tmp_path, model_roles={"panel": served(server)})
    found = [trial for trial in trials(log).values() if trial["condition"] == "panel"]
    assert {trial["value"] for trial in found} == {0.65}
    assert sum("response_format" in each for each in server.requests) == 6
