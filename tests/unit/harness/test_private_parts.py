"""Only two modules use private parts of Inspect AI and lm-eval, and they write logs exactly as Inspect does."""

import ast
import json
import re
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

import pytest
import zstandard
from inspect_ai import score
from inspect_ai.log import (
    EvalLog,
    bundle_log_dir,
    condense_sample,
    read_eval_log,
    read_eval_log_sample_summaries,
    write_eval_log,
)
from inspect_ai.scorer import match

import confidence_tasks
from confidence_tasks.harness import compat, compat_models

PACKAGE = Path(confidence_tasks.__file__).parent
COMPAT = {Path(compat.__file__), Path(compat_models.__file__)}
MODULES = [path for path in sorted(PACKAGE.rglob("*.py")) if path not in COMPAT]
HARNESSES = {"inspect_ai", "lm_eval"}
UNDOCUMENTED = {"cache_hook", "currentframe", "dbdict", "f_locals", "hash_args", "hf_chat", "model_registry"}
"""Undocumented names of the harnesses that have no underscore."""


def private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def attributes_of(module: str) -> set[str]:
    """Return the private attributes that the classes of a harness's module set or define."""
    spec = find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    nodes = list(ast.walk(ast.parse(Path(spec.origin).read_text(encoding="utf-8"))))
    assigned = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    defined = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    return {name for name in assigned | defined if private(name)}


INHERITED = attributes_of("lm_eval.api.task") | attributes_of("lm_eval.api.model")


def imported(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield every imported name as ``package.module.name``, with the line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and not node.level:
            yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)


def private_uses(source: str) -> Iterator[str]:
    """Yield the private parts of a harness that a module uses, with the lines."""
    tree = ast.parse(source)
    names = list(imported(tree))
    for name, line in names:
        package, *parts = name.split(".")
        if package in HARNESSES and any(private(part) or part in UNDOCUMENTED for part in parts):
            yield f"line {line}: {name}"
    texts = (
        node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    for text in texts:
        if re.fullmatch(r"(inspect_ai|lm_eval)(\.\w+)*\._\w+(\.\w+)*", text.value):
            yield f"line {text.lineno}: {text.value}"
    if not any(name.split(".")[0] in HARNESSES for name, _ in names):
        return
    defined = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            own = isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}
            foreign = node.attr in INHERITED if own else private(node.attr) and node.attr not in defined
            if foreign or node.attr in UNDOCUMENTED:
                yield f"line {node.lineno}: {ast.unparse(node)}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_compat_uses_private_parts(path: Path) -> None:
    assert not list(private_uses(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    "source",
    [
        "from inspect_ai._util.error import PrerequisiteError",
        "from inspect_ai.log import _samples",
        "import lm_eval.tasks._index",
        "from lm_eval.api.model import hash_args",
        "import_module('inspect_ai._util.error')",
        "from lm_eval.api.model import LM\nmodel._loglikelihood_tokens([])",
        "from lm_eval.api.task import ConfigurableTask\nclass Mine:\n    def f(self): self._aggregation_list = {}",
        "from lm_eval.api.model import LM\nmodel.cache_hook.add_partial()",
        "from inspect_ai.model import Model\nmodel.api.hf_chat([], [])",
    ],
)
def test_a_private_part_is_detected(source: str) -> None:
    assert list(private_uses(source))


def test_every_function_of_compat_documents_private_parts_and_versions() -> None:
    functions = [
        node
        for path in COMPAT
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    ]
    assert functions
    for function in functions:
        docstring = " ".join((ast.get_docstring(function) or "").split())
        assert "Needs" in docstring, function.name
        assert re.search(r"Tested on (Inspect|lm-eval) 0\.\d+\.\d+", docstring), function.name


# Logs ---------------------------------------------------------------------------------------------------------------


def members(path: Path) -> dict[str, object]:
    """Return the members of a log, without the journal's summaries, which may be split differently."""
    with ZipFile(path) as archive:
        names = {name for name in archive.namelist() if not name.startswith("_journal/summaries/")}
        return {name: json.loads(archive.read(name)) for name in names}


@pytest.fixture
def long_log(log: Path) -> EvalLog:
    """Return a log of 250 samples, two full buffers and a part of a third, with one sample twice."""
    read = read_eval_log(str(log))
    (sample, *_) = read.samples
    read.samples = [sample.model_copy(update={"id": f"{sample.id}-{i % 249}"}) for i in range(250)]
    read.samples[3].metadata["note"] = "long " * 1_000
    return read


def write(log: EvalLog, path: Path) -> EvalLog:
    """Write a log sample by sample."""

    async def write_each() -> EvalLog:
        writer = compat.LogWriter(log.eval, str(path))
        await writer.start()
        for sample in log.samples:
            await writer.add(condense_sample(sample))
        return await writer.finish(log)

    return compat.run_quietly(write_each())


@pytest.mark.slow
def test_a_log_is_equal_to_inspect_s(long_log: EvalLog, tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    ours, theirs = tmp_path / "logs" / "ours.eval", tmp_path / "theirs.eval"
    with warnings.catch_warnings(action="error"):
        written = write(long_log, ours)
    write_eval_log(long_log, str(theirs))
    assert members(ours) == members(theirs)
    read, expected = read_eval_log(str(ours)), read_eval_log(str(theirs))
    assert read.model_dump(exclude={"location"}) == expected.model_dump(exclude={"location"})
    assert len(written.samples) == 249
    assert read_eval_log_sample_summaries(str(ours)) == read_eval_log_sample_summaries(str(theirs))
    rescored = score(read, match(), action="append", display="none", model="none/none")
    assert len(rescored.results.scores) == len(read.results.scores) + 1
    bundle_log_dir(str(tmp_path / "logs"), output_dir=str(tmp_path / "bundle"))
    assert (tmp_path / "bundle" / "logs" / "ours.eval").read_bytes() == ours.read_bytes()


@pytest.mark.parametrize(
    "missing", ["file.FileRecorder._log_file_key", "eval.ZipLogFile.write_buffered_samples"]
)
def test_a_changed_recorder_is_replaced_by_inspect_s_own_function(
    long_log: EvalLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    monkeypatch.delattr(f"inspect_ai.log._recorders.{missing}")
    written = []

    async def write_whole(log: EvalLog, path: str) -> None:
        written.append((len(log.samples), path))

    monkeypatch.setattr("inspect_ai.log.write_eval_log_async", write_whole)
    with pytest.warns(UserWarning, match=missing.rpartition(".")[2]) as warned:
        write(long_log, tmp_path / "ours.eval")
    assert written == [(250, str(tmp_path / "ours.eval"))]
    assert [warning.category for warning in warned].count(UserWarning) == 1


def test_the_buffer_is_written_every_hundred_samples(
    long_log: EvalLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from inspect_ai.log._recorders.eval import ZipLogFile

    buffered = []
    write_buffer = ZipLogFile.write_buffered_samples

    async def count(file: ZipLogFile) -> None:
        buffered.append((len(file._samples), len(file._summaries)))
        await write_buffer(file)

    monkeypatch.setattr(ZipLogFile, "write_buffered_samples", count)
    write(long_log, tmp_path / "ours.eval")
    assert buffered == [(100, 0), (100, 0), (50, 0), (0, 249)]


def test_compression_starts_no_threads(
    long_log: EvalLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []
    compressor = zstandard.ZstdCompressor

    def compress(*, level: int, threads: int) -> zstandard.ZstdCompressor:
        started.append(threads)
        return compressor(level=level, threads=threads)

    monkeypatch.setattr(zstandard, "ZstdCompressor", compress)
    write(long_log, tmp_path / "ours.eval")
    assert set(started) == {0}


def test_the_display_is_restored() -> None:
    from inspect_ai._display.core import active

    async def during() -> str:
        return type(active.display()).__name__

    before = active._active_display
    assert compat.run_quietly(during()) == "LogDisplay"
    assert active._active_display is before
