"""``confidence-tasks score``: replies that are already there, into an Inspect log."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from confidence_tasks.catalogue import reply_forms
from confidence_tasks.report.console import StudyChoice, json_option, list_option, print_json, print_table
from confidence_tasks.report.labels import json_number, measure_label, number

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog


def _listing() -> str:
    """Return the fields that a row of each study has."""
    return "\n".join(
        f"{name:<9}  {', '.join(f'{field} ({meaning})' for field, meaning in form.fields.items()) or 'none of its own'}"
        for name, form in reply_forms().items()
    )


def _fields(_context: click.Context, _parameter: click.Parameter, value: tuple[str, ...]) -> dict[str, str]:
    """Part names and values."""
    parted = [text.partition("=") for text in value]
    if wrong := [text for text, (name, _, given) in zip(value, parted, strict=True) if not name or not given]:
        raise click.BadParameter(f"{wrong[0]!r} is not a name and a value, such as level=0.99")
    return {name: given for name, _, given in parted}


@click.command(
    epilog="""\b
A row has the fields
  question   what was asked, without its options
  reply      what the model said, word for word
  answer     the key, also called gold: a letter or the text of an option, a number, a text, yes or no
             (fermieval has exponent instead; lifeeval has none)
  choices    the options (JSON: a list; CSV: with | between them)
  aliases    other right answers, written like choices
  kind       choice, number, text or boolean; without it, choices and answer decide
  id, subject, level, source
             of the question
  model      who replied; each model gets a log
and the fields of its study, which --list shows; the last of these may also be called condition.

\b
Examples:
  confidence-tasks score replies.jsonl --study scales
  confidence-tasks score replies.jsonl --study fermieval --field level=0.99 --field max_exponent=100
  confidence-tasks score answers.csv --study boolq --model-name openai/gpt-4o --log-dir logs
""",
)
@click.argument("replies", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--study", type=StudyChoice(reply_forms), required=True, help="The study whose prompts were answered."
)
@list_option(_listing, "List the studies, and the fields that a row has for each.")
@click.option(
    "--model-name",
    default="",
    help="Model that replied, for rows that name none.  [default: the file's name]",
)
@click.option(
    "--field",
    "fields",
    multiple=True,
    metavar="NAME=VALUE",
    callback=_fields,
    help="A field for rows that lack it; may be repeated.",
)
@click.option(
    "--log-dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where the logs are written.  [default: $INSPECT_LOG_DIR, or logs]",
)
@json_option
def score(
    replies: Path, study: str, model_name: str, fields: dict[str, str], log_dir: Path | None, as_json: bool
) -> None:
    """Score replies that you already have, without a model, into normal Inspect logs.

    REPLIES is a JSON lines, CSV or Parquet file with one reply per row. `inspect view`, `report`, `compare` and
    `rescore` work on the logs. If any row is invalid, nothing is written.
    """
    from confidence_tasks.report.score_replies import score_replies

    folder = log_dir or Path(os.environ.get("INSPECT_LOG_DIR", "logs"))
    logs = score_replies(replies, study, model=model_name, fields=fields, log_dir=folder)
    if as_json:
        print_json([_record(log) for log in logs])
        return
    for log in logs:
        _print(log)


def _record(log: EvalLog) -> dict[str, Any]:
    from confidence_tasks.report.rescore import metrics_of

    return {
        "log": log.location,
        "model": log.eval.model,
        "replies": log.results.total_samples if log.results else 0,
        "metrics": {name: json_number(value) for name, value in metrics_of(log).items()},
    }


def _print(log: EvalLog) -> None:
    """Print the metrics, a column a condition."""
    from confidence_tasks.report.rescore import metrics_of

    metrics = metrics_of(log)
    conditions = list(dict.fromkeys(name.partition("/")[2] for name in metrics))
    names = list(dict.fromkeys(name.partition("/")[0] for name in metrics))
    click.echo(f"{log.eval.model}: {log.results.total_samples if log.results else 0:,} replies")
    rows = [
        {"measure": measure_label(name)}
        | {label: number(metrics.get(f"{name}/{label}", float("nan")), 3) for label in conditions}
        for name in names
    ]
    print_table(rows, frozenset(conditions))
    click.echo(log.location)
