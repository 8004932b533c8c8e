"""The command ``confidence-tasks lm-eval-path``."""

import click

from confidence_tasks.harness.lm_eval import lm_eval_tasks_path


@click.command("lm-eval-path")
def lm_eval_path() -> None:
    """Print the folder for ``lm_eval --include_path``, where its start-up hook is switched off."""
    click.echo(lm_eval_tasks_path())
