"""``confidence-tasks score`` and ``rescore``: score existing replies without a model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from confidence_tasks.logs.texts import without_controls
from confidence_tasks.own_replies.folder import Scored, score_folder
from confidence_tasks.report.commands.options import (
    FOLDER,
    json_option,
    list_option,
    name_value_pairs,
    parse_with,
)
from confidence_tasks.report.commands.printing import print_json, print_message, print_table
from confidence_tasks.report.commands.score_own import own_options, refuse_with_study, score_own
from confidence_tasks.report.labels import measure_label, number
from confidence_tasks.report.reply_forms import known_form, reply_forms


def _list_fields() -> dict[str, str]:
    """Return the fields that each study adds to a row."""
    return {
        name: ", ".join(f"{field} ({meaning})" for field, meaning in form.fields.items()) or "none of its own"
        for name, form in reply_forms().items()
    }


@click.command(
    epilog="""\b
With --study, a row has the fields
  question   the question, without its options
  reply      the model's reply, verbatim
  answer     the right answer, also called gold: a letter or the text of an option, a number, a text,
             yes or no (fermieval has exponent instead; lifeeval has none)
  choices    the options (JSON: a list; CSV: separated by |)
  aliases    other right answers, in the format of choices
  kind       choice, number, text or boolean; by default derived from choices and answer
  id, subject, level, source
             of the question
  model      the model that replied; each model gets a log
  finish_reason
             why the reply ended: length (cut off at the token limit) or content_filter; without it, a reply is complete
and the fields of its study, which --list shows; the last of these may also be called condition.

\b
Examples:
  confidence-tasks score replies.xlsx --gold target
  confidence-tasks score judged.csv --correct verdict --confidence p --conventions
  confidence-tasks score replies.jsonl --study scales
  confidence-tasks score replies.jsonl --study fermieval --field level=0.99
  confidence-tasks score answers.csv --study boolq --model-name openai/gpt-4o --log-dir logs
"""
)
@click.argument("replies", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--study",
    default=None,
    metavar="STUDY",
    callback=parse_with(known_form),
    help="Study whose prompts the model answered; without it, any table of answers is read.",
)
@list_option(_list_fields, "List the studies and their fields.")
@click.option(
    "--model-name", default="", help="Model of the rows without a field `model`.  [default: the file's name]"
)
@click.option(
    "--field",
    "fields",
    multiple=True,
    metavar="NAME=VALUE",
    callback=name_value_pairs("a name and a value, such as level=0.99"),
    help="Value of a field in the rows that lack it; may be repeated.",
)
@click.option(
    "--rename",
    multiple=True,
    metavar="OLD=NEW",
    callback=name_value_pairs("a column and its new name, such as response=reply"),
    help="Another name of a column; may be repeated.",
)
@click.option(
    "--log-dir",
    type=FOLDER,
    default="logs",
    envvar="INSPECT_LOG_DIR",
    help="Folder for the logs.  [default: $INSPECT_LOG_DIR, or logs]",
)
@own_options
@json_option
@click.pass_context
def score(
    context: click.Context,
    /,
    replies: Path,
    study: str | None,
    model_name: str,
    fields: dict[str, str],
    rename: dict[str, str],
    log_dir: Path,
    as_json: bool,
    **settings: Any,
) -> None:
    """Score replies that you already have, and write them as logs or trials.

    Without --study, REPLIES is any table with one answer per row: CSV with any separator, JSON lines, JSON, Parquet or
    Excel, also compressed. The columns are found by name and content, and printed. The trials are written to the
    folder of logs for `report`, `compare`, `metrics` and `summary`.

    With --study, the result is an Inspect log, which `inspect view` and `rescore` read as well. If any row is invalid,
    nothing is written. If REPLIES is a folder, every table in it is scored, and the others are named.
    """
    if study is not None:
        refuse_with_study(context)

    def score_one(path: Path, name: str) -> Scored:
        if study is not None:
            return _score_study(path, study, model=model_name, fields=fields, rename=rename, log_dir=log_dir)
        model = model_name or name
        return score_own(
            path, model, fields=fields, rename=rename, log_dir=log_dir, name=name, settings=settings
        )

    if not replies.is_dir():
        scored = score_one(replies, "")
        print_json(scored.record) if as_json else scored.show()
        return
    files, left_out = score_folder(replies, log_dir, score_one)
    if as_json:
        print_json({"files": {name: each.record for name, each in files.items()}, "left_out": left_out})
        return
    for name, each in files.items():
        click.echo(f"{without_controls(name)}\n")
        each.show()
        click.echo("")
    for name, reason in left_out.items():
        print_message(f"left out: {name}: {reason}", err=False, indent="  ")


def _score_study(path: Path, study: str, **arguments: Any) -> Scored:
    """Score a file of replies to a study."""
    from confidence_tasks.logs.log_scores import logged_metrics
    from confidence_tasks.report.score_replies import score_replies

    records: list[dict[str, Any]] = [
        {
            "log": log.location,
            "model": log.eval.model,
            "replies": log.results.total_samples if log.results else 0,
            "metrics": logged_metrics(log),
        }
        for log in score_replies(path, study, **arguments)
    ]

    def show() -> None:
        for record in records:
            _print_metrics(**record)

    return Scored(records, show)


def _print_metrics(log: str, model: str, replies: int, metrics: Mapping[str, float]) -> None:
    """Print the metrics of a log, with one column per condition."""
    conditions = list(dict.fromkeys(name.partition("/")[2] for name in metrics))
    names = dict.fromkeys(name.partition("/")[0] for name in metrics)
    click.echo(without_controls(f"{model}: {replies:,} replies"))
    rows = [
        {"measure": measure_label(name)}
        | {label: number(metrics.get(f"{name}/{label}", float("nan")), 3) for label in conditions}
        for name in names
    ]
    print_table(rows, frozenset(conditions))
    click.echo(f"The log is {without_controls(log)}")
