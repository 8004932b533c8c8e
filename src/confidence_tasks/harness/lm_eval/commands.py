"""The command ``confidence-tasks lm-eval-path``."""

import click

from confidence_tasks.catalogue import studies
from confidence_tasks.harness.lm_eval.groups import stub_folder


@click.command("lm-eval-path")
def lm_eval_path() -> None:
    """Print the folder for ``lm_eval --include_path``, where its start-up hook is switched off.

    The folder lies in the user's cache; it is written when it is first asked for.
    """
    click.echo(stub_folder(studies()))
