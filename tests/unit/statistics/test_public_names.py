"""The public names of the statistics, and the cost of importing them."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from confidence_tasks import statistics

ROOT = Path(statistics.__file__).parent


def loaded(statement: str) -> set[str]:
    """Return the modules that a fresh process has after a statement."""
    code = f"{statement}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "statement",
    [
        "import confidence_tasks.statistics",
        "from confidence_tasks.statistics import auroc2, bootstrap, ece, fit_meta_d",
        "from confidence_tasks import statistics as s; [getattr(s, name) for name in s.FAMILIES]",
    ],
)
def test_an_import_loads_no_heavy_part_of_scipy(statement) -> None:
    heavy = {f"scipy.{name}" for name in ("fft", "linalg", "optimize", "sparse", "special", "stats")}
    modules = loaded(statement)
    assert "confidence_tasks.statistics" in modules
    assert not heavy & modules


def test_the_draws_of_a_posterior_have_their_former_name_with_a_warning() -> None:
    from confidence_tasks.statistics import sdt

    with pytest.warns(DeprecationWarning, match="sdt.Posterior is PosteriorDraws") as said:
        found = sdt.Posterior  # type: ignore[attr-defined]
    assert found is sdt.PosteriorDraws
    assert said[0].filename == __file__
    with pytest.raises(AttributeError, match="no attribute 'Posteriors'"):
        sdt.Posteriors  # type: ignore[attr-defined]  # noqa: B018


def test_the_package_alone_needs_no_numpy() -> None:
    assert "numpy" not in loaded("import confidence_tasks.statistics")


@pytest.mark.parametrize("name", statistics.__all__)
def test_every_name_of_the_package_is_there(name) -> None:
    assert name in dir(statistics)
    assert getattr(statistics, name).__module__.startswith("confidence_tasks.statistics.")


def test_the_type_checker_and_the_interpreter_find_a_name_in_the_same_place() -> None:
    tree = ast.parse((ROOT / "__init__.py").read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        alias.name: getattr(import_module(node.module), alias.name)
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
    assert seen == {name: getattr(statistics, name) for name in statistics.__all__}


def test_every_folder_and_module_of_public_functions_is_a_family() -> None:
    parts = {path.stem for path in ROOT.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert parts == {*statistics.FAMILIES, "__init__", "core"}


def test_a_name_of_a_family_is_named_with_its_place() -> None:
    with pytest.raises(AttributeError, match=r"it is confidence_tasks\.statistics\.calibration\.mce$"):
        statistics.mce  # noqa: B018
    with pytest.raises(AttributeError, match=r"no attribute 'nothing'$"):
        statistics.nothing  # noqa: B018
