"""The template of a new study, in this repository or as a separate package."""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from string import Template

import click

from confidence_tasks import studies
from confidence_tasks.catalogue import studies as installed_studies
from confidence_tasks.sources.source import write_atomically

_IN_REPOSITORY: Mapping[str, str] = {
    "src/confidence_tasks/studies/$name/__init__.py": "study.txt",
    "src/confidence_tasks/studies/$name/replies.py": "replies.txt",
    "src/confidence_tasks/studies/$name/report.py": "report.txt",
    "tests/integration/test_$name.py": "test.txt",
}
"""Files of a study in this repository, with their templates."""

_PACKAGE: Mapping[str, str] = {
    "$distribution/pyproject.toml": "pyproject.txt",
    "$distribution/src/$name/__init__.py": "study.txt",
    "$distribution/src/$name/replies.py": "replies.txt",
    "$distribution/src/$name/report.py": "report.txt",
    "$distribution/tests/test_$name.py": "test.txt",
}
"""Files of a study in a separate package, with their templates."""


def write_study(name: str, folder: Path, *, package: bool = False) -> list[Path]:
    """Write the template of a study, which runs without changes, and return the paths of its files.

    The name is that of the study and of its task; it has lower-case letters, digits and underscores. The folder is the
    checkout of this repository or, with ``package``, the parent folder of the new package.

    Raises ValueError, and writes nothing, if the name is invalid or taken, or if a file exists.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise ValueError(
            f"{name!r} is not a valid study name: use lower-case letters, digits and underscores"
        )
    if name in {study.name for study in installed_studies()}:
        raise ValueError(f"a study named {name} exists already: choose another name")
    if package and find_spec(name) is not None:
        raise ValueError(f"a module named {name} exists already: choose another name")
    words = name.split("_")
    values = {
        "name": name,
        "title": " ".join(words).capitalize(),
        "class_name": "".join(word.capitalize() for word in words),
        "module": name if package else f"{studies.__name__}.{name}",
        "distribution": name.replace("_", "-"),
    }
    templates = files(__package__) / "templates"
    texts = {
        folder / Template(path).substitute(values): Template(
            (templates / template).read_text(encoding="utf-8")
        ).substitute(values)
        for path, template in (_PACKAGE if package else _IN_REPOSITORY).items()
    }
    if existing := [str(path) for path in texts if path.exists()]:
        raise ValueError(f"{', '.join(existing)} exists already")
    for path, text in texts.items():
        write_atomically(path, text.encode())
    return list(texts)


def checkout() -> Path | None:
    """Return the checkout of this repository from which the package is imported; None for an installed copy."""
    root = Path(next(iter(studies.__path__))).parents[2]
    return root if (root / "tests").is_dir() and (root / "pyproject.toml").is_file() else None


@click.command("new-study")
@click.argument("name")
@click.option("--package", is_flag=True, help="Write an installable package into the working directory.")
def new_study(name: str, package: bool) -> None:
    """Write a working template for a study called NAME: three source files and a test.

    The files are written into the checkout from which confidence-tasks is installed (pip install --editable), or with
    --package into a new package.
    """
    folder = Path() if package else checkout()
    if folder is None:
        raise click.ClickException(
            "confidence-tasks is not installed from a checkout of its repository: add --package"
        )
    try:
        written = write_study(name, folder, package=package)
    except ValueError as error:
        raise click.ClickException(str(error)) from error
    for path in written:
        click.echo(path)
    task = f"{name}/{name}" if package else f"confidence_tasks/{name}"
    if package:
        click.echo(f"pip install --editable {name.replace('_', '-')}")
    click.echo(f"inspect eval {task} --model simulated/ideal -T n=100")
    click.echo(f"lm_eval --tasks {name} --model simulated --limit 100")
