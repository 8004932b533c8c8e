"""What sets two runs of a model apart, and what never stands in a label: secrets."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from inspect_ai.log import EvalLog, read_eval_log, write_eval_log
from inspect_ai.model import GenerateConfig, ModelConfig
from tests.unit.report.runs import rows, write

from confidence_tasks.harness.lm_eval.metrics import TRIAL
from confidence_tasks.logs.run_settings import without_secrets
from confidence_tasks.logs.task_trials import group_by_task
from confidence_tasks.report import collect

SECRETS = {
    "token": "hf_abcdef",
    "api_key": "sk-abcdef",
    "hub-token": "abcdef",
    "aws_secret_access": "abcdef",
    "Password": "abcdef",
    "default_headers": {"Authorization": "Bearer abcdef"},
}
OTHER_SECRETS = {
    key: {"Authorization": "another abcdef"} if isinstance(secret, dict) else "another abcdef"
    for key, secret in SECRETS.items()
}
HARMLESS = {
    "max_tokens": "64",
    "prefix_token_id": "0",
    "add_bos_token": "True",
    "dtype": "float32",
    "num_key_value_heads": "8",
}


def _lm_eval_run(
    folder: Path,
    study: str,
    arguments: Mapping[str, Any],
    metadata: Mapping[str, Any],
    run: Mapping[str, Any] | None = None,
    **sample: Any,
) -> None:
    """Write a run's sample file and its results, ``run`` if it is given."""
    time = "2026-01-31T10-00-00.123456"
    folder.mkdir(parents=True)
    lines = [{"doc": {"id": row["question_id"]}, TRIAL: row, **sample} for row in rows(study)]
    task = {"scales": "scale_granularity"}.get(study, study)
    write(folder / f"samples_{task}_{time}.jsonl", lines)
    results = {
        "model_name": arguments.get("pretrained", "made up"),
        "config": {"model": "hf", "model_args": dict(arguments)},
        "configs": {task: {"metadata": dict(metadata)}},
    }
    (folder / f"results_{time}.json").write_text(json.dumps(run or results), encoding="utf-8")


def _labels(folder: Path) -> list[str]:
    (task_trials,) = group_by_task(collect(folder).files)
    return [model.label for model in task_trials.models]


@pytest.mark.parametrize("key", SECRETS)
@pytest.mark.parametrize("name", [{"pretrained": "lab/model"}, {"path": "lab/model"}])
def test_runs_of_lm_eval_that_differ_in_a_secret_are_one_model(
    key: str, name: Mapping[str, str], tmp_path: Path
) -> None:
    for run, secrets in (("a", SECRETS), ("b", OTHER_SECRETS)):
        _lm_eval_run(tmp_path / run, "scales", {**name, key: secrets[key]}, {})
    (label,) = _labels(tmp_path)
    assert "lab/model" in label
    assert "abcdef" not in label


def test_a_log_tells_no_secret(log: Path, tmp_path: Path) -> None:
    for i, secrets in enumerate((SECRETS, OTHER_SECRETS)):
        copy = read_eval_log(str(log))
        copy.eval.model_args = {"dtype": i, "extra": secrets, **secrets}
        copy.eval.run_id = copy.eval.eval_id = str(i)
        write_eval_log(copy, str(tmp_path / f"{i}.eval"))
    found = collect(tmp_path)
    assert len(found.files) == 2
    assert "abcdef" not in repr([file.setup for file in found.files])
    assert [label.endswith(f"(dtype={i})") for i, label in enumerate(_labels(tmp_path))] == [True, True]


def test_what_changes_replies_stays() -> None:
    assert without_secrets({**HARMLESS, **SECRETS}) == HARMLESS


def test_questions_that_are_all_judged_stand_apart_from_those_with_a_calibration_half(tmp_path: Path) -> None:
    for split in ("all", "test", "cross"):
        _lm_eval_run(tmp_path / split, "fermieval", {"pretrained": "lab/model"}, {"split": split})
    assert _labels(tmp_path) == ["lab/model", "lab/model (split=cross)"]


# What could change a reply ---------------------------------------------------------------------------------------


def _edited(log: Path, path: Path, edit: Callable[[EvalLog], None]) -> None:
    """Write a copy of a log as of another run, with something changed."""
    copy = read_eval_log(str(log))
    copy.eval.run_id = copy.eval.eval_id = path.stem
    edit(copy)
    write_eval_log(copy, str(path))


def _with_prompt(log: EvalLog) -> None:
    for sample in log.samples or []:
        assert isinstance(sample.input, list)
        sample.input[-1].content = f"{sample.input[-1].text}\nTake your time."


def _judged(log: EvalLog, **settings: Any) -> None:
    log.eval.model_roles = {"judge": ModelConfig(model="lab/judge", **settings)}


DIFFERENCES: Mapping[str, tuple[str, Callable[[EvalLog], Any], Callable[[EvalLog], Any]]] = {
    "model config": (
        "reasoning_effort",
        lambda log: setattr(log.eval.model_generate_config, "reasoning_effort", "low"),
        lambda log: setattr(log.eval.model_generate_config, "reasoning_effort", "high"),
    ),
    "task config": (
        "temperature",
        lambda log: None,
        lambda log: setattr(log.plan.config, "temperature", 1.0),
    ),
    "model argument": ("dtype", lambda log: None, lambda log: log.eval.model_args.update(dtype="int8")),
    "base URL": (
        "base_url",
        lambda log: setattr(log.eval, "model_base_url", "https://me:hunter2@a.example/v1?api_key=hunter2"),
        lambda log: setattr(log.eval, "model_base_url", "https://me:hunter2@b.example/v1?code=hunter2"),
    ),
    "a default": (
        "elicitation",
        lambda log: None,
        lambda log: log.eval.metadata["parameters"].update(elicitation="top_k"),
    ),
    "settings of a role": (
        "judge.generation.temperature",
        lambda log: _judged(log, config=GenerateConfig(temperature=0.0)),
        lambda log: _judged(log, config=GenerateConfig(temperature=1.0), args={"api_key": "hunter2"}),
    ),
    "task version": (
        "task version",
        lambda log: None,
        lambda log: setattr(log.eval, "task_version", "2-A"),
    ),
    "data revision": (
        "revision of arithmetic",
        lambda log: log.eval.metadata["sources"].update(arithmetic="a" * 40),
        lambda log: log.eval.metadata["sources"].update(arithmetic="b" * 40),
    ),
    "prompt": ("prompts", lambda log: None, _with_prompt),
    "seed of generation, beside the task's own": (
        "(seed=",
        lambda log: _seeded(log, 1),
        lambda log: _seeded(log, 2),
    ),
    "way of judging, beside the role's model": (
        "(judge=",
        lambda log: _judging(log, "rules"),
        lambda log: _judging(log, "model"),
    ),
    "argument of a role's model of the name of its setting": (
        "judge.model.seed=",
        lambda log: _judged(log, config=GenerateConfig(seed=1), args={"seed": 1}),
        lambda log: _judged(log, config=GenerateConfig(seed=1), args={"seed": 2}),
    ),
    "argument of the model of the name of a setting": (
        "(temperature=",
        lambda log: _tempered(log, 0),
        lambda log: _tempered(log, 1),
    ),
    "header": (
        "extra_headers",
        lambda log: _sent(log, {"X-Reasoning": "off"}),
        lambda log: _sent(log, {"X-Reasoning": "on", "Authorization": "hunter2"}),
    ),
    "a header of a role's model": (
        "judge.model.default_headers",
        lambda log: _judged(log, args={"default_headers": {"beta": "a"}}),
        lambda log: _judged(log, args={"default_headers": {"beta": "b"}}),
    ),
    "extra body": (
        "extra_body",
        lambda log: setattr(log.plan.config, "extra_body", {"api_key": "hunter2", "top_k": 1}),
        lambda log: setattr(log.plan.config, "extra_body", {"api_key": "hunter2", "top_k": 2}),
    ),
    "both at once": (
        "task.seed=",
        lambda log: _seeded(log, 1, 3),
        lambda log: _seeded(log, 2, 4),
    ),
}


def _seeded(log: EvalLog, seed: int, of_task: int = 0) -> None:
    log.plan.config.seed = seed
    log.eval.task_args = {**log.eval.task_args, "seed": of_task}


def _judging(log: EvalLog, judge: str) -> None:
    _judged(log)
    log.eval.task_args = {**log.eval.task_args, "judge": judge}


def _tempered(log: EvalLog, temperature: float) -> None:
    log.plan.config.temperature = temperature
    log.eval.model_args = {"temperature": 0.5}


def _sent(log: EvalLog, headers: dict[str, str]) -> None:
    log.eval.model_generate_config.extra_headers = headers


@pytest.mark.slow
@pytest.mark.parametrize("what", DIFFERENCES)
def test_whatever_could_change_a_reply_keeps_logs_apart_and_is_named(
    what: str, log: Path, tmp_path: Path
) -> None:
    name, first, second = DIFFERENCES[what]
    _edited(log, tmp_path / "a.eval", first)
    _edited(log, tmp_path / "b.eval", second)
    labels = _labels(tmp_path)
    assert len(labels) == 2
    assert all(name in label for label in labels if "(" in label)
    assert any("(" in label for label in labels)
    assert "hunter2" not in repr([labels, [file.setup for file in collect(tmp_path).files]])


def test_metadata_of_the_names_that_efforts_and_tokens_have_cost_no_trial(log: Path, tmp_path: Path) -> None:
    def edit(copy: EvalLog) -> None:
        for sample in copy.samples or []:
            sample.metadata |= {"effort": 3, "input_tokens": "many", "output_tokens": [1]}

    _edited(log, tmp_path / "a.eval", edit)
    assert _labels(tmp_path) == ["simulated/overconfident"]
    (file,), (kept,) = collect(tmp_path).files, collect(log).files
    assert len(file) == len(kept)
    assert np.isnan([*file.columns["input_tokens"], *file.columns["output_tokens"]]).all()


def _without_half(log: EvalLog) -> None:
    log.samples = (log.samples or [])[::2]


def _of_an_old_version(log: EvalLog) -> None:
    assert log.eval.metadata
    log.eval.task_args = log.eval.metadata["parameters"] | log.eval.task_args  # defaults among them
    log.eval.metadata = {"seed": 0, "versions": {"confidence-tasks": "0.0.1"}}
    log.eval.packages["inspect_ai"] = "0.3.1"


SAME: Mapping[str, Callable[[EvalLog], Any]] = {
    "limit": lambda log: setattr(log.eval.config, "limit", 3),
    "epochs": lambda log: setattr(log.eval.config, "epochs", 2),
    "ids": lambda log: setattr(log.eval.config, "sample_id", ["a"]),
    "part of the samples": _without_half,
    "other questions": lambda log: log.eval.task_args.update(n=2),
    "versions": _of_an_old_version,
    "connections": lambda log: setattr(log.eval.model_generate_config, "max_connections", 3),
    "the same setting from another place": lambda log: setattr(
        log.eval.model_generate_config, "temperature", 0.0
    ),
    "a key": lambda log: setattr(
        log.eval.model_generate_config, "extra_headers", {"Authorization": "hunter2"}
    ),
}


def test_two_seeds_of_generation_are_two_rows(log: Path, tmp_path: Path) -> None:
    for seed, half in ((1, slice(0, None, 2)), (2, slice(1, None, 2))):

        def edit(copy: EvalLog, seed: int = seed, half: slice = half) -> None:
            _seeded(copy, seed)
            copy.samples = (copy.samples or [])[half]

        _edited(log, tmp_path / f"{seed}.eval", edit)
    (task_trials,) = group_by_task(collect(tmp_path).files)
    assert [(model.label, len(model)) for model in task_trials.models] == [
        ("simulated/overconfident (seed=1)", 4),
        ("simulated/overconfident (seed=2)", 4),
    ]


def test_a_label_is_short_whatever_differs(log: Path, tmp_path: Path) -> None:
    for i in range(2):
        said = f"{'You are careful. ' * 500}{i}"
        _edited(
            log, tmp_path / f"{i}.eval", lambda copy, t=said: setattr(copy.plan.config, "system_message", t)
        )
    labels = _labels(tmp_path)
    assert len({*labels}) == 2
    assert max(map(len, labels)) < 120
    assert all("(system_message=You are careful. You are" in label for label in labels)


def test_the_order_of_the_parts_of_a_setting_changes_no_reply(log: Path, tmp_path: Path) -> None:
    for i, body in enumerate(({"top_k": 1, "min_p": 0.1}, {"min_p": 0.1, "top_k": 1})):
        _edited(log, tmp_path / f"{i}.eval", lambda copy, b=body: setattr(copy.plan.config, "extra_body", b))
    assert _labels(tmp_path) == ["simulated/overconfident"]


def test_a_setting_of_lm_eval_hides_none_of_the_same_name(tmp_path: Path) -> None:
    model = {"pretrained": "lab/model", "temperature": 0.5}
    for i, gen_kwargs in enumerate(("temperature=0.7", "temperature=0.9")):
        run = {
            "model_name": "lab/model",
            "config": {"model": "hf", "model_args": model, "gen_kwargs": gen_kwargs},
            "configs": {"scale_granularity": {"metadata": {**model, "question_seed": 0}}},
        }
        _lm_eval_run(tmp_path / str(i), "scales", {}, {}, run)
    assert _labels(tmp_path) == ["lab/model (temperature=0.7)", "lab/model (temperature=0.9)"]


def test_a_model_argument_is_named_once(tmp_path: Path) -> None:
    """lm-eval copies the model's arguments into the metadata of its tasks."""
    for dtype in ("int8", "int4"):
        model = {"pretrained": "lab/model", "dtype": dtype}
        _lm_eval_run(tmp_path / dtype, "scales", model, model)
    assert _labels(tmp_path) == ["lab/model (dtype=int4)", "lab/model (dtype=int8)"]


@pytest.mark.parametrize("what", SAME)
def test_what_changes_no_reply_sets_no_logs_apart(what: str, log: Path, tmp_path: Path) -> None:
    _edited(log, tmp_path / "a.eval", lambda copy: None)
    _edited(log, tmp_path / "b.eval", SAME[what])
    assert _labels(tmp_path) == ["simulated/overconfident"]


def test_parts_of_a_run_of_several_conditions_and_sources_are_one(log: Path, tmp_path: Path) -> None:
    for i, condition in enumerate(("0-10", "0-100")):

        def only(copy: EvalLog, condition: str = condition) -> None:
            copy.samples = [s for s in copy.samples or [] if s.metadata["condition"] == condition]
            copy.eval.metadata["sources"] = {condition: condition * 8}

        _edited(log, tmp_path / f"{i}.eval", only)
    (task_trials,) = group_by_task(collect(tmp_path).files)
    assert [(model.label, len(model)) for model in task_trials.models] == [("simulated/overconfident", 8)]


def test_a_log_that_goes_with_either_of_two_is_put_with_neither(log: Path, tmp_path: Path) -> None:
    def revised(revision: str) -> Callable[[EvalLog], None]:
        return lambda copy: copy.eval.metadata["sources"].update(arithmetic=revision)

    for order in itertools.permutations(("", "a" * 40, "b" * 40)):
        folder = tmp_path / "".join(revision[:1] or "0" for revision in order)
        folder.mkdir()
        for i, revision in enumerate(order):
            _edited(log, folder / f"{i}.eval", revised(revision))
        assert sorted(_labels(folder)) == [
            "simulated/overconfident",
            "simulated/overconfident (revision of arithmetic=aaaaaaaa)",
            "simulated/overconfident (revision of arithmetic=bbbbbbbb)",
        ]


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("temperature", {"config": {"model": "hf", "gen_kwargs": "temperature=0.7,do_sample=True"}}),
        ("backend", {"config": {"model": "vllm"}}),
        ("torch_seed", {"config": {"model": "hf", "torch_seed": 7}}),
        ("task version", {"versions": {"scale_granularity": "2-A"}}),
        ("fewshot", {"n-shot": {"scale_granularity": 4}}),
        (
            "revision of arithmetic",
            {"configs": {"scale_granularity": {"metadata": {"revisions": {"arithmetic": "b" * 40}}}}},
        ),
        (
            "max_gen_toks of scale_granularity=8",
            {"configs": {"scale_granularity": {"generation_kwargs": {"max_gen_toks": 8}}}},
        ),
    ],
)
def test_whatever_could_change_a_reply_keeps_runs_of_lm_eval_apart(
    name: str, change: Mapping[str, Any], tmp_path: Path
) -> None:
    of_the_task = {
        "metadata": {"revisions": {"arithmetic": "a" * 40}},
        "generation_kwargs": {"max_gen_toks": 9},
    }
    plain = {
        "model_name": "lab/model",
        "config": {"model": "hf", "model_args": {"pretrained": "lab/model"}, "torch_seed": 1},
        "configs": {"scale_granularity": of_the_task},
        "versions": {"scale_granularity": "1-A"},
    }
    for i, run in enumerate(
        (plain, plain, plain | {key: plain.get(key, {}) | its for key, its in change.items()})
    ):
        _lm_eval_run(tmp_path / str(i), "scales", {}, {}, run)
    labels = _labels(tmp_path)
    assert len(labels) == 2
    assert name in labels[-1]


def test_other_prompts_keep_runs_of_lm_eval_apart(tmp_path: Path) -> None:
    for i, prompt in enumerate(("a" * 64, "a" * 64, "b" * 64)):
        _lm_eval_run(tmp_path / str(i), "scales", {"pretrained": "lab/model"}, {}, prompt_hash=prompt)
    assert len(_labels(tmp_path)) == 2
