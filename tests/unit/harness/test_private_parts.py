"""The private parts of Inspect AI and lm-eval are used in one module only."""

import ast
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

import confidence_tasks
from confidence_tasks.harness import compat

PACKAGE = Path(confidence_tasks.__file__).parent
COMPAT = Path(compat.__file__)
MODULES = [path for path in sorted(PACKAGE.rglob("*.py")) if path != COMPAT]
HARNESSES = {"inspect_ai", "lm_eval"}
UNDOCUMENTED = {"cache_hook", "currentframe", "dbdict", "f_locals", "hash_args", "hf_chat", "model_registry"}
"""Names without an underscore that neither harness documents."""


def private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def attributes_of(module: str) -> set[str]:
    """The private attributes that the classes of a harness's module set or define."""
    spec = find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    nodes = list(ast.walk(ast.parse(Path(spec.origin).read_text(encoding="utf-8"))))
    assigned = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    defined = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    return {name for name in assigned | defined if private(name)}


INHERITED = attributes_of("lm_eval.api.task") | attributes_of("lm_eval.api.model")


def imported(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Every imported name with its modules, as ``package.module.name``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and not node.level:
            yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)


def private_uses(source: str) -> Iterator[str]:
    """The private parts of a harness that a module uses, with the lines."""
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
def test_a_private_part_is_seen(source: str) -> None:
    assert list(private_uses(source))


def test_every_function_of_compat_says_what_it_needs_and_the_versions() -> None:
    functions = [
        node
        for node in ast.parse(COMPAT.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
    ]
    assert functions
    for function in functions:
        said = " ".join((ast.get_docstring(function) or "").split())
        assert re.search(r"Needs|a parameter ``config``", said), function.name
        assert re.search(r"Tested on (Inspect|lm-eval) 0\.\d+\.\d+", said), function.name
