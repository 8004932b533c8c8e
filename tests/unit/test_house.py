"""What keeps the package readable: limits on files, functions and records, and no code that nothing reaches."""

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import fields
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path

import grimp
import pytest

from confidence_tasks.study import Measure, Study

ROOT = Path(__file__).parents[2]
SOURCE = sorted((ROOT / "src").rglob("*.py"))
PACKAGE = ROOT / "src" / "confidence_tasks"
STUDIES = ("studies", "replications")
"""Folders that a new study adds to."""
KERNEL = sorted(
    {folder.name for folder in PACKAGE.iterdir() if (folder / "__init__.py").is_file()} - {*STUDIES}
)
"""Folders whose size does not depend on the number of studies."""

LINES_OF_A_FILE = 640
LINES_OF_A_FUNCTION = 90
"""Without its docstring."""
LINES_OF_A_FOLDER = 8_800
"""Of code, without blank lines, comments and docstrings. There is no limit for the folders that a new study adds to."""
COMPLEXITY = 10
"""Cyclomatic complexity of a function as radon counts it: comprehensions and ``and`` and ``or`` are branches too."""
COMPLEX_FUNCTIONS: Mapping[str, int] = {
    "harness": 9,
    "new_study": 1,
    "reading": 12,
    "simulation": 1,
    "sources": 5,
    "studies": 13,
    "study": 4,
}
"""Number of functions above that complexity by folder: lower it when one goes. No other folder has any."""
MOST_IMPORTED_NAMES = 40
"""In one file."""
MEAN_IMPORTED_NAMES = 18.4
"""Over the files outside the folders that a new study adds to, as it would change the mean; the aim is 18."""
FIELDS = {Study: 24, Measure: 7}
"""Number of fields of the records that the author of a study fills in."""
CALLED_BY_OTHERS = [
    *("__*__", "_repr_html_"),  # Python, Jupyter
    *("on_config", "on_files", "on_page_content", "on_page_markdown", "on_object"),  # MkDocs, griffe
    *(
        "get_command",
        "format_commands",
        "lm_eval_path",
        "new_study",
        "recalibrate",
        "judged",
        "sequence",
    ),  # click; commands are imported by name
    *(
        "start_task",
        "schedule_sample",
        "complete_sample",
        "complete_task",
        "LostSamples",
        "on_sample_end",
    ),  # Inspect
    *("parse_groups", "parse_requirements"),  # so are functions that read options
    *("download", "fewshot_docs", "has_test_docs", "process_results", "test_docs"),  # lm-eval
    *(
        "install",
        "SimulatedLM",
        "StudyTask",
        "RestructuredText",
        "*_scorer",
    ),  # entry points and files name them
    *("true_values", "to_frame", "to_markdown"),  # users
    *("citation", "has_bar"),  # templates of the page
]
"""Names that a framework or a user calls, as patterns."""

REACHED_FROM = ("src", "docs", "tasks", "scorers")
"""Where a use counts. Code that only tests and benchmarks call is dead."""


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


def folder_of(path: Path) -> str:
    """Return the folder of the package that a file is in, or the file's own name."""
    return path.relative_to(PACKAGE).parts[0]


def lines_of_code(text: str) -> int:
    """Count the lines of a module that are neither blank, nor a comment, nor part of a docstring."""
    documented = {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and node.end_lineno
        if isinstance(node.value.value, str)
        for line in range(node.lineno, node.end_lineno + 1)
    }
    return sum(
        bool(line.strip()) and not line.lstrip().startswith("#") and number not in documented
        for number, line in enumerate(text.splitlines(), start=1)
    )


def test_docstrings_comments_and_blank_lines_are_no_code() -> None:
    text = '"""Module."""\n\nX = 1\n"""Doc\nof X."""\n# why\ndef f():\n    """Doc."""\n    return "a"\n'
    assert lines_of_code(text) == 3


def test_no_folder_is_large() -> None:
    lines = Counter[str]()
    for path in SOURCE:
        lines[folder_of(path)] += lines_of_code(path.read_text(encoding="utf-8"))
    assert {name: lines[name] for name in KERNEL if lines[name] > LINES_OF_A_FOLDER} == {}


def complex_functions(text: str) -> list[str]:
    """Name the functions of a module, methods among them, whose complexity by radon is too high."""
    radon = pytest.importorskip("radon.complexity")
    functions = [block for block in radon.cc_visit(text) if not hasattr(block, "methods")]
    return [f"{each.fullname}: {each.complexity}" for each in functions if each.complexity > COMPLEXITY]


def test_radon_counts_comprehensions_and_the_words_and_and_or() -> None:
    assert complex_functions("class A:\n def f(x):\n  return " + " and ".join(["x"] * 11)) == ["A.f: 11"]
    assert complex_functions("def f(x):\n return " + "".join(["[x for x in y if x] + "] * 5) + "[]") == [
        "f: 11"
    ]
    assert complex_functions("def f(x):\n return " + " or ".join(["x"] * 10)) == []


def test_no_folder_gets_more_functions_of_high_complexity() -> None:
    found: dict[str, list[str]] = {}
    for path in SOURCE:
        names = complex_functions(path.read_text(encoding="utf-8"))
        found.setdefault(folder_of(path), []).extend(f"{path.name}: {name}" for name in names)
    assert {
        folder: names for folder, names in found.items() if len(names) > COMPLEX_FUNCTIONS.get(folder, 0)
    } == {}


def imported_names(text: str) -> int:
    """Count the different names that a module imports, wherever in it."""
    imports = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import | ast.ImportFrom)]
    return len({alias.asname or alias.name for node in imports for alias in node.names})


def test_names_imported_in_functions_and_for_types_are_counted_and_once_only() -> None:
    assert imported_names("import a\nfrom b import c, d as e\ndef f():\n    from b import c, g\n") == 4


def test_no_file_imports_many_names() -> None:
    names = {path: imported_names(path.read_text(encoding="utf-8")) for path in SOURCE}
    assert {path: n for path, n in names.items() if n > MOST_IMPORTED_NAMES} == {}
    kernel = [n for path, n in names.items() if folder_of(path) not in STUDIES]
    assert sum(kernel) / len(kernel) <= MEAN_IMPORTED_NAMES


@pytest.mark.parametrize("record", FIELDS, ids=lambda record: record.__name__)
def test_records_of_a_study_do_not_grow(record: type) -> None:
    assert len(fields(record)) <= FIELDS[record]


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
