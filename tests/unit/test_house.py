"""What keeps the package small: limits that may be lowered and not raised, and no code that nothing reaches."""

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[2]
SOURCE = sorted((ROOT / "src").rglob("*.py"))

LINES_OF_A_FILE = 640
LINES_OF_A_FUNCTION = 90
"""Without its docstring."""
CALLED_BY_OTHERS = [
    *("__*__", "_repr_html_"),  # Python, Jupyter
    *("on_config", "on_files", "on_page_content", "on_page_markdown", "on_object"),  # MkDocs, griffe
    *("get_command", "format_commands", "lm_eval_path", "new_study"),  # click; commands are imported by name
    *("parse_groups", "parse_requirements"),  # so are functions that read options
    *("download", "fewshot_docs", "has_test_docs", "process_results", "test_docs"),  # lm-eval
    *(
        "install",
        "SimulatedLM",
        "StagedTask",
        "StudyOfStages",
        "RestructuredText",
        "*_scorer",
    ),  # entry points and files name them
    *("true_values", "to_frame"),  # users
    *("citation", "has_bar"),  # templates of the page
]
"""Names that a framework or a user calls, as patterns."""

REACHED_FROM = ("src", "docs", "tasks", "scorers", "benchmarks", "tests/validity")
"""Where a use counts. Code that only its own test calls is dead."""


def functions() -> Iterator[tuple[str, int]]:
    """Yield each function with its number of lines below the docstring."""
    for path in SOURCE:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno:
                body = node.body[1:] if ast.get_docstring(node) else node.body
                yield f"{path.name}: {node.name}", node.end_lineno - body[0].lineno + 1 if body else 0


def test_no_file_and_no_function_is_long() -> None:
    texts = {str(path): path.read_text(encoding="utf-8") for path in SOURCE}
    assert {path for path, text in texts.items() if len(text.splitlines()) > LINES_OF_A_FILE} == set()
    assert {name: n for name, n in functions() if n > LINES_OF_A_FUNCTION} == {}


@pytest.mark.parametrize("path", sorted((ROOT / "benchmarks").glob("*.py")), ids=lambda path: path.stem)
def test_what_a_benchmark_imports_is_there(path: Path) -> None:
    """No other test runs these scripts."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if (
            isinstance(node, ast.ImportFrom)
            and node.module
            and node.module.startswith(("tests.", "confidence_tasks."))
        ):
            found = import_module(node.module)
            names = {alias.name for alias in node.names}
            assert {name for name in names if not hasattr(found, name)} == set(), node.module


def test_no_function_and_no_class_is_unreachable() -> None:
    """Fields are left out: records are written by name and read from files, tables and templates."""
    vulture = pytest.importorskip("vulture")
    found = vulture.Vulture(ignore_names=CALLED_BY_OTHERS)
    found.scavenge([str(ROOT / folder) for folder in REACHED_FROM])
    kinds = ("function", "class", "method", "property", "unreachable_code")
    unused = [item for item in found.get_unused_code() if item.typ in kinds]
    assert [f"{item.filename}: {item.name}" for item in unused if "tests" not in item.filename.parts] == []


def test_no_module_imports_one_that_imports_it_be_it_in_a_function_or_for_types() -> None:
    graph = grimp.build_graph("confidence_tasks", cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert len(list(TopologicalSorter(imports).static_order())) > 100
