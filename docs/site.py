"""What the site has beside the pages of this folder: the reference, and the changes and the guide for contributors.

MkDocs calls it (``hooks`` in ``mkdocs.yml``), and so does mkdocstrings (``extensions``). The reference has a page for
each module of the package that says by ``__all__`` what of it is public.
"""

import ast
import re
from functools import cache
from pathlib import Path
from typing import Any

import griffe
from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
COPIED = {"changelog.md": "CHANGELOG.md", "contributing.md": "CONTRIBUTING.md"}
"""Pages that lie in the root of the repository, where its readers look for them."""

TASKS = """
## Tasks

The tasks, such as `confidence_tasks.riskeval`, are functions of their parameters, which return an Inspect `Task`. They
are explained on the [pages of the studies](../README.md#the-studies).
"""


@cache
def public_names() -> dict[str, list[str]]:
    """Return the public names of each module that users import from, as its ``__all__`` has them."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        module = ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if (
                isinstance(node, ast.Assign)
                and ast.unparse(node.targets[0]) == "__all__"
                and "._" not in module
            ):
                found[module] = ast.literal_eval(node.value)
    return found


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """List the pages of the reference in the navigation."""
    reference = next(item for item in config.nav or [] if "Reference" in item)
    reference["Reference"] = [
        {module.removeprefix("confidence_tasks."): f"reference/{module}.md"} for module in public_names()
    ]
    return config


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Lead links to the root of the repository to the copies."""
    for page, original in COPIED.items():
        markdown = markdown.replace(f"](../{original}", f"]({page}")
    return markdown


def on_page_content(html: str, **_: Any) -> str:
    """Let a name in a table go on in the next line behind an underscore or a comma, and nowhere else."""
    return re.sub(
        r"<td\b.*?</td>",
        lambda cell: re.sub(
            r"<code>.*?</code>", lambda code: re.sub("([_,])", r"\1<wbr>", code[0]), cell[0], flags=re.S
        ),
        html,
        flags=re.S,
    )


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not in this folder."""
    for module in public_names():
        page = f"# {module}\n\n::: {module}\n" + (TASKS if module == "confidence_tasks" else "")
        files.append(File.generated(config, f"reference/{module}.md", content=page))
    for page, original in COPIED.items():
        text = (ROOT / original).read_text(encoding="utf-8").replace("](docs/", "](")
        files.append(File.generated(config, page, content=text))
    return files


class RestructuredText(griffe.Extension):
    """Turn the roles and directives of docstrings into the Markdown that mkdocstrings reads."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of an object."""
        if obj.docstring:
            text = re.sub(r"^\.\. math::((?:.+\n)+)", _display, obj.docstring.value + "\n", flags=re.M)
            text = _LISTED.sub(_one_by_one, text)
            text = re.sub(r"^\.\. (\w+)::\n", r"!!! \1\n", text, flags=re.M)
            text = re.sub(r":math:`([^`]+)`", lambda found: convert(found[1]), text)
            obj.docstring.value = re.sub(r":\w+:`~?([\w.]+)`", _link, text).rstrip("\n")


_LISTED = re.compile(r"^(\*?\w+(?:, \*?\w+)+)( :.*)?\n((?:    .*\n)+)", re.MULTILINE)
"""Parameters that share a line, of which griffe would give all the type and the default of the first."""


def _one_by_one(shared: re.Match[str]) -> str:
    return "".join(f"{name}{shared[2] or ''}\n{shared[3]}" for name in shared[1].split(", "))


def _display(formula: re.Match[str]) -> str:
    return convert(" ".join(formula[1].split()), display="block") + "\n"


def _link(role: re.Match[str]) -> str:
    name = role[1].rpartition(".")[2]
    homes = [module for module, names in public_names().items() if name in names]
    return f"[`{name}`][{homes[-1]}.{name}]" if homes else f"`{name}`"
