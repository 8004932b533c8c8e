"""The ``confidence-tasks`` command, whose commands are imported when they are called; the skeleton of a new study."""

from __future__ import annotations

import codecs
import io
import keyword
import re
import sys
from collections.abc import Mapping
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from string import Template
from typing import Any

import click

from confidence_tasks import studies
from confidence_tasks.sources.source import SourceError, write_atomically

COMMANDS: Mapping[str, str] = {
    "cache": "confidence_tasks.report.commands.report:cache",
    "compare": "confidence_tasks.report.commands.compare:compare",
    "lm-eval-path": "confidence_tasks.harness.lm_eval.groups:lm_eval_path",
    "local-model": "confidence_tasks.harness.local_model:local_model",
    "new-study": "confidence_tasks.cli:new_study",
    "power": "confidence_tasks.report.commands.compare:power",
    "report": "confidence_tasks.report.commands.report:report",
    "rescore": "confidence_tasks.report.commands.score:rescore",
    "score": "confidence_tasks.report.commands.score:score",
    "sources": "confidence_tasks.sources.table:sources",
}
"""Module and attribute of each command."""

SUMMARIES: Mapping[str, str] = {
    "cache": "Show the cache of trials and numbers, or clear it.",
    "compare": "Compare A with B on the questions that both were asked.",
    "lm-eval-path": "Print the folder for lm_eval's --include_path.",
    "local-model": "Write SmolLM2-135M-Instruct to a folder, for runs without a hub.",
    "new-study": "Write the running skeleton of a study of your own.",
    "power": "Predict how many questions a study needs, by simulation.",
    "report": "Write a page of tables, figures and checks from logs.",
    "rescore": "Read the replies in logs anew and compute every metric again.",
    "score": "Score replies that you already have, into normal Inspect logs.",
    "sources": "List the sources of questions, download them ahead, or verify the copies.",
}
"""What each command does, said without importing it."""


PLAIN = "confidence_tasks.plain"
"""Name of the error handler that replaces signs that a terminal's encoding lacks: a minus must not be lost."""

_PLAIN_SIGNS = str.maketrans(
    {"−": "-", "′": "'", "–": "-", "—": "-", "×": "x", "±": "+-", "≥": ">=", "≤": "<=", "…": "..."}
)


def _plain(error: UnicodeError) -> tuple[str, int]:
    """Replace what an encoding lacks: signs by plain ones, names of models and other text by escapes."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end].translate(_PLAIN_SIGNS)
    return lacking.encode("ascii", errors="backslashreplace").decode(), error.end


codecs.register_error(PLAIN, _plain)


class LazyGroup(click.Group):
    """A group that imports a command's module only when the command is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """Import a command."""
        if cmd_name not in COMMANDS:
            from confidence_tasks.study.parameter import meant

            ctx.fail(f"there is no command {cmd_name!r}{meant(cmd_name, COMMANDS)}")
        module, _, attribute = COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, SUMMARIES[name]) for name in self.list_commands(ctx)])

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; what the user must put right is shown as a message, without a traceback."""
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors=PLAIN)
        try:
            return super().invoke(ctx)
        except SourceError as error:
            raise click.ClickException(str(error)) from error


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="confidence-tasks")
def main() -> None:
    """Measure how well language models know what they know."""


# The skeleton of a study, in this repository or as a package of its own --------------------------------------------

_IN_REPOSITORY: Mapping[str, str] = {
    "src/confidence_tasks/studies/$name/__init__.py": "study.txt",
    "src/confidence_tasks/studies/$name/replies.py": "replies.txt",
    "tests/integration/test_$name.py": "test.txt",
}
"""Files of a study in this repository, and their templates."""

_PACKAGE: Mapping[str, str] = {
    "$distribution/pyproject.toml": "pyproject.txt",
    "$distribution/src/$name/__init__.py": "study.txt",
    "$distribution/src/$name/replies.py": "replies.txt",
    "$distribution/tests/test_$name.py": "test.txt",
}
"""Files of a study in a package of its own, and their templates."""


def write_study(name: str, folder: Path, *, package: bool = False) -> list[Path]:
    """Write the skeleton of a study, which runs as it is, and return its files.

    The name is that of the study and of its task, in lower-case letters, digits and underscores. The folder is the
    checkout of this repository or, for a ``package`` of its own, that in which it is made.

    ValueError if the name cannot be one, is taken, or a file is there already. Nothing is written then.
    """
    from confidence_tasks.catalogue import studies as installed_studies

    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise ValueError(f"{name!r} is no name of a study: use lower-case letters, digits and underscores")
    if name in {study.name for study in installed_studies()}:
        raise ValueError(f"there is a study called {name}")
    if package and find_spec(name) is not None:
        raise ValueError(f"there is a module called {name}: the package needs another name")
    words = name.split("_")
    values = {
        "name": name,
        "title": " ".join(words).capitalize(),
        "class_name": "".join(word.capitalize() for word in words),
        "module": name if package else f"{studies.__name__}.{name}",
        "distribution": name.replace("_", "-"),
    }
    templates = files("confidence_tasks") / "new_study"
    made = {
        folder / Template(path).substitute(values): Template(
            (templates / template).read_text(encoding="utf-8")
        ).substitute(values)
        for path, template in (_PACKAGE if package else _IN_REPOSITORY).items()
    }
    if there := [str(path) for path in made if path.exists()]:
        raise ValueError(f"{', '.join(there)} exists already")
    for path, text in made.items():
        write_atomically(path, text.encode())
    return list(made)


def checkout() -> Path | None:
    """Return the checkout of this repository that the package is imported from; None for an installed copy."""
    root = Path(next(iter(studies.__path__))).parents[2]
    return root if (root / "tests").is_dir() and (root / "pyproject.toml").is_file() else None


@click.command("new-study")
@click.argument("name")
@click.option("--package", is_flag=True, help="Write an installable package into the working directory.")
def new_study(name: str, package: bool) -> None:
    """Write the running skeleton of a study called NAME: two files and a test.

    The study is added to the checkout of this repository that is installed (pip install --editable); with --package, it
    gets a folder of its own.
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
