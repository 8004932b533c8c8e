"""The public names of the package."""

import ast
import re
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from tests.small_runs import published_tasks

import confidence_tasks
from confidence_tasks import _registry

ROOT = Path(__file__).parents[2]
EXTRAS = {"accelerate", "gguf", "jax", "numpyro", "safetensors", "tokenizers", "torch", "transformers"}
"""Modules that the extras ``hf`` and ``bayes`` install and ``dev`` does not."""


@pytest.mark.parametrize("name", confidence_tasks.__all__)
def test_every_public_name_is_importable(name: str) -> None:
    assert callable(getattr(confidence_tasks, name))


def test_every_registered_name_exists() -> None:
    assert all(hasattr(_registry, name) for name in _registry.__all__)


def test_every_task_of_the_registry_is_a_public_name() -> None:
    registered = {name: getattr(_registry, name) for name in _registry.__all__}
    tasks = {name: task for name, task in registered.items() if name in published_tasks()}
    assert len(tasks) >= 13
    assert {name: getattr(confidence_tasks, name, None) for name in tasks} == tasks
    assert tasks.keys() <= set(confidence_tasks.__all__)


def test_the_type_checker_follows_no_module_of_an_optional_extra() -> None:
    overrides = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]["overrides"]
    skipped = {name for each in overrides if each.get("follow_imports") == "skip" for name in each["module"]}
    imported: set[str] = set()
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                imported.add((node.module or "").partition(".")[0])
            elif isinstance(node, ast.Import):
                imported.update(alias.name.partition(".")[0] for alias in node.names)
    assert {"gguf", "jax", "torch"} <= imported  # the walk sees imports inside functions
    assert {f"{name}.*" for name in imported & EXTRAS} <= skipped


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        confidence_tasks.nothing  # noqa: B018


NEWCOMER = """
import sys
import confidence_tasks as ct
assert "numpy" not in sys.modules
assert {"summary", "statistics", "__version__"} <= set(dir(ct)), dir(ct)
assert "import_module" not in dir(ct)
assert "report" in dir(ct)
assert callable(ct.report.report_of) and callable(ct.signals)
print(ct.__version__, ct.statistics.calibration.ece([1, 0], [0.9, 0.9]))
"""


def test_one_import_gives_statistics_and_version() -> None:
    done = subprocess.run([sys.executable, "-c", NEWCOMER], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [version("confidence-tasks"), "0.4"]


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("confidence_tasks.sumary", "summary"), ("confidence_tasks.statistics.auroc", "auroc2")],
)
def test_a_misspelt_name_gets_a_suggestion(wrong: str, right: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", f"import confidence_tasks.statistics; {wrong}"], capture_output=True, text=True
    )
    assert f"Did you mean: '{right}'?" in ran.stderr


def test_the_version_to_cite_is_that_of_the_package() -> None:
    expected = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited is not None
    assert cited[1] == expected
