"""Conditions that a chat template does not let through to the model, on both harnesses; a small random network."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import get_model
from tests.integration.lm_eval.harnesses import stubs
from tests.stages.sureness import STUDY as SURENESS

from confidence_tasks import riskeval
from confidence_tasks.harness.inspect.task import study_task
from confidence_tasks.harness.system_role import RenderedPrompts
from confidence_tasks.report import collect, report_of
from confidence_tasks.report.estimates.settings import Settings

pytestmark = [pytest.mark.slow, pytest.mark.hf]

TURN = "{{'<|im_start|>'+m['role']+'\\n'+m['content']+'<|im_end|>\\n'}}"
END = "{% if add_generation_prompt %}{{'<|im_start|>assistant\\n'}}{% endif %}"
REFUSES = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system role') }}{% endif %}"
TEMPLATES: Mapping[str, str] = {
    "refuses": REFUSES + "{% for m in messages %}" + TURN + "{% endfor %}" + END,
    "drops": "{% for m in messages if m['role'] != 'system' %}" + TURN + "{% endfor %}" + END,
    "keeps": "{% for m in messages %}" + TURN + "{% endfor %}" + END,
    "constant": "{{'<|im_start|>user\\nHello<|im_end|>\\n'}}" + END,
}


@pytest.fixture(scope="module")
def networks(smollm2: Path, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """A small random network for each template."""
    from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM, set_seed

    set_seed(0)
    config = LlamaConfig(
        vocab_size=len(AutoTokenizer.from_pretrained(smollm2)),
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=4096,
    )
    folders = {}
    for name, template in TEMPLATES.items():
        folder = tmp_path_factory.mktemp(name)
        LlamaForCausalLM(config).save_pretrained(folder)
        for path in smollm2.iterdir():
            if "token" in path.name or path.name in ("vocab.json", "merges.txt"):
                shutil.copy(path, folder)
        settings = json.loads((folder / "tokenizer_config.json").read_text())
        settings.pop("chat_template", None)
        (folder / "tokenizer_config.json").write_text(json.dumps(settings))
        (folder / "chat_template.jinja").write_text(template)
        folders[name] = str(folder)
    return folders


def lm_eval_run(network: str, tasks: list[str], **metadata: Any) -> dict[str, Any]:
    from lm_eval.evaluator import simple_evaluate
    from lm_eval.models.huggingface import HFLM
    from lm_eval.tasks import TaskManager

    found = simple_evaluate(
        model=HFLM(pretrained=network, dtype="float32", device="cpu", batch_size=4),
        tasks=tasks,
        task_manager=TaskManager(include_path=str(stubs()), metadata=metadata),
        apply_chat_template=True,
        gen_kwargs={"max_gen_toks": 2},
        log_samples=True,
    )
    assert found is not None
    return found


RISK = ["riskeval_lambda0_arithmetic", "riskeval_lambda10_arithmetic"]


@pytest.mark.parametrize("template", ["refuses", "drops", "keeps"])
def test_lm_eval_sends_the_penalty_whatever_the_template(template: str, networks: Mapping[str, str]) -> None:
    found = lm_eval_run(networks[template], RISK, n=2)

    prompts = [[sample["arguments"][0][0] for sample in found["samples"][task]] for task in RISK]
    assert all("-10 for an incorrect answer" in prompt for prompt in prompts[1])
    assert all("incorrect answer" in prompt and "-10" not in prompt for prompt in prompts[0])
    assert all(("<|im_start|>system" in prompt) == (template == "keeps") for prompt in prompts[1])
    origins = [found["configs"][task]["metadata"].get("origin") for task in RISK]
    moved = None if template == "keeps" else {"system_message": "before the first user turn"}
    assert origins == [moved, moved]


@pytest.mark.parametrize(
    "names", [RISK, ["scale_granularity_0_10_arithmetic", "scale_granularity_0_100_arithmetic"]]
)
def test_lm_eval_refuses_conditions_with_one_prompt(names: list[str], networks: Mapping[str, str]) -> None:
    with pytest.raises(ValueError, match="could not tell these conditions apart"):
        lm_eval_run(networks["constant"], names, n=2)


def inspect_run(network: str, task: Any, folder: Path) -> EvalLog:
    model = get_model("hf/network", model_path=network, device="cpu", do_sample=False, memoize=False)
    (log,) = eval(task, model=model, log_dir=str(folder), display="none", max_tokens=2)
    return read_eval_log(log.location, resolve_attachments=True)


@pytest.mark.parametrize("template", ["refuses", "drops", "keeps"])
def test_inspect_sends_the_penalty_whatever_the_template(
    template: str, networks: Mapping[str, str], tmp_path: Path
) -> None:
    log = inspect_run(networks[template], riskeval(source="arithmetic", n=2, penalties="0,10"), tmp_path)

    assert log.status == "success", log.error
    for sample in log.samples or []:
        (call,) = [event for event in sample.events if event.event == "model"]
        assert (call.input[0].role == "system") == (template == "keeps")
        assert ("-10 for" in call.input[0].text) == (sample.metadata["condition"] == "lambda=10")
    (task,) = report_of(collect(tmp_path), settings=Settings(n_resamples=9)).tasks
    assert ("No system role" in [notice.title for notice in task.notices]) == (template != "keeps")
    (file,) = collect(tmp_path).files
    assert ("model.system_message" in file.setup) == (template != "keeps")


@pytest.mark.parametrize(
    "task", [lambda: riskeval(source="arithmetic", n=2, penalties="0,10"), lambda: study_task(SURENESS)(n=2)]
)
def test_inspect_refuses_conditions_with_one_prompt(
    task: Any, networks: Mapping[str, str], tmp_path: Path
) -> None:
    log = inspect_run(networks["constant"], task(), tmp_path)
    assert log.status == "error"
    assert log.error is not None
    assert "could not tell these conditions apart" in log.error.message


def test_equal_prompts_may_be_rendered_equally() -> None:
    prompts = RenderedPrompts()
    prompts.add("question", "text", "asked", "T=0.5")
    prompts.add("question", "text", "asked", "T=1")
    prompts.add("another question", "text", "asked otherwise", "T=1")
    with pytest.raises(ValueError, match=r"T=0\.5 and T=2"):
        prompts.add("question", "text", "asked otherwise", "T=2")


def test_lm_eval_asks_the_questions_of_this_run_whatever_its_cache(tmp_path: Path) -> None:
    from tests.integration.commands import run

    command = (
        *(
            "lm_eval",
            "--model",
            "simulated",
            "--tasks",
            "boolq_confidence_arithmetic_boolean",
            "--log_samples",
        ),
        *("--cache_requests", "true"),
    )
    for number, metadata in enumerate(({"n": 3, "question_seed": 1}, {"n": 3, "question_seed": 9}, {"n": 4})):
        out = tmp_path / str(number)
        done = run(
            tmp_path,
            *command,
            *("--metadata", json.dumps(metadata), "--output_path", str(out)),
            LM_HARNESS_CACHE_PATH=str(tmp_path / "requests"),
        )
        assert done.returncode == 0, done.stderr
        assert "--cache_requests is ignored" in done.stderr
        (samples,) = out.rglob("samples_*.jsonl")
        lines = list(map(json.loads, samples.read_text().splitlines()))
        assert len(lines) == metadata["n"]
        assert all(line["doc"]["question"] in line["arguments"]["gen_args_0"]["arg_0"] for line in lines)
