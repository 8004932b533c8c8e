"""The ``confidence-tasks`` command: a group that imports each command when it is called."""

from __future__ import annotations

import codecs
import gc
import io
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from confidence_tasks.sources import SourceError

COMMANDS: Mapping[str, str] = {
    "cache": "confidence_tasks.report.commands.cache:cache",
    "compare": "confidence_tasks.report.commands.compare:compare",
    "judged": "confidence_tasks.decisions.judged_command:judged",
    "lm-eval-path": "confidence_tasks.harness.lm_eval.groups:lm_eval_path",
    "local-model": "confidence_tasks.harness.local_model:local_model",
    "new-study": "confidence_tasks.new_study:new_study",
    "plan": "confidence_tasks.decisions.plan_command:plan",
    "power": "confidence_tasks.decisions.power_command:power",
    "recalibrate": "confidence_tasks.decisions.recalibrate_command:recalibrate",
    "report": "confidence_tasks.report.commands.report:report",
    "rescore": "confidence_tasks.report.commands.rescore:rescore",
    "score": "confidence_tasks.report.commands.score:score",
    "sequence": "confidence_tasks.decisions.sequence_command:sequence",
    "sources": "confidence_tasks.sources.table:sources",
    "threshold": "confidence_tasks.decisions.threshold_command:threshold",
}
"""Module and attribute of each command."""

SUMMARIES: Mapping[str, str] = {
    "cache": "Show or clear the cache of trials and estimates.",
    "compare": "Compare two models, or rank several, on the questions that all were asked.",
    "judged": "Correct measures for the errors of a judge, by labels of people.",
    "lm-eval-path": "Print the folder for lm_eval's --include_path.",
    "local-model": "Write SmolLM2-135M-Instruct to a folder, for runs without a model hub.",
    "new-study": "Write a working template for your own study.",
    "plan": "Show calls, tokens and price of a run before it is paid.",
    "power": "Predict by simulation how many questions a study needs.",
    "recalibrate": "Fit a map from stated confidence to the probability of being right.",
    "report": "Write a page of tables, figures and checks from logs.",
    "rescore": "Parse the replies in logs again and recompute all metrics.",
    "score": "Score replies that you already have, and write Inspect logs.",
    "sequence": "Show after how many questions a finished run would have stopped.",
    "sources": "List, download or verify the question sources.",
    "threshold": "Find the confidence from which on answers may be accepted.",
}
"""Help text of each command, available without importing the command."""


PLAIN = "confidence_tasks.plain"
"""Name of the error handler for characters that a terminal's encoding lacks; it keeps minus signs."""

_PLAIN_SIGNS = str.maketrans(
    {"−": "-", "′": "'", "–": "-", "—": "-", "×": "x", "±": "+-", "≥": ">=", "≤": "<=", "…": "..."}
)


def _plain(error: UnicodeError) -> tuple[str, int]:
    """Replace characters that an encoding lacks: signs by ASCII signs, other characters by escapes."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(_PLAIN_SIGNS)
    return text.encode("ascii", errors="backslashreplace").decode(), error.end


codecs.register_error(PLAIN, _plain)

GARBAGE = 100_000
"""Number of new objects after which Python looks for reference cycles.

Imports and logs make many objects and no cycles: Python's own number, 700, costs a small report a tenth of its time.
"""


class LazyGroup(click.Group):
    """A group that imports a command's module only when the command is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """Import a command."""
        if cmd_name not in COMMANDS:
            from confidence_tasks.study.parameter import did_you_mean

            ctx.fail(f"there is no command {cmd_name!r}{did_you_mean(cmd_name, COMMANDS)}")
        module, _, attribute = COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, SUMMARIES[name]) for name in self.list_commands(ctx)])

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command, and show a user's mistake as a message without a traceback."""
        gc.set_threshold(GARBAGE)
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
