"""``confidence-tasks score`` and ``rescore``: score existing replies without a model."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import click
import fsspec

from confidence_tasks.logs.texts import without_controls
from confidence_tasks.report.commands import (
    FOLDER,
    json_option,
    list_option,
    name_value_pairs,
    open_workers,
    parse_with,
    print_json,
    print_message,
    print_table,
    progress,
    workers_options,
)
from confidence_tasks.report.commands.score_own import own_options, refuse_with_study, score_own
from confidence_tasks.report.labels import measure_label, number
from confidence_tasks.report.score_replies import known_form, reply_forms

if TYPE_CHECKING:
    from confidence_tasks.harness.workers import Job


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
@click.argument("replies", type=click.Path(exists=True, dir_okay=False, path_type=Path))
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
    log_dir: Path,
    as_json: bool,
    **settings: Any,
) -> None:
    """Score replies that you already have, and write them as logs or trials.

    Without --study, REPLIES is any table with one answer per row: CSV with any separator, JSON lines, JSON, Parquet or
    Excel, also compressed. The columns are found by name and content, and printed. The trials are written to the
    folder of logs for `report`, `compare`, `metrics` and `summary`.

    With --study, REPLIES is a JSON lines, CSV or Parquet file, and the result is an Inspect log, which `inspect view`
    and `rescore` read as well. If any row is invalid, nothing is written.
    """
    if study is None:
        if fields:
            raise click.UsageError(
                "--field gives values to the reader of a study: add --study, or leave it out"
            )
        score_own(replies, model_name, log_dir, as_json, settings)
        return
    refuse_with_study(context)
    from confidence_tasks.report.rescore import metrics_of
    from confidence_tasks.report.score_replies import score_replies

    records: list[dict[str, Any]] = [
        {
            "log": log.location,
            "model": log.eval.model,
            "replies": log.results.total_samples if log.results else 0,
            "metrics": metrics_of(log),
        }
        for log in score_replies(replies, study, model=model_name, fields=fields, log_dir=log_dir)
    ]
    if as_json:
        print_json(records)
        return
    for record in records:
        _print_metrics(**record)


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


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of rescoring one log."""

    log: str
    changed_trials: int = 0
    changed_metrics: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)
    written: str = ""
    error: str = ""


@click.command()
@click.argument("logs", nargs=-1, required=True, metavar="LOG...")
@click.option("--write", is_flag=True, help="Replace the scores and metrics in the logs.")
@click.option("-o", "--output", help="Write the rescored logs into this folder, with the same subfolders.")
@workers_options
@json_option
def rescore(
    logs: tuple[str, ...],
    write: bool,
    output: str | None,
    jobs: int | None,
    scheduler: str | None,
    as_json: bool,
) -> None:
    """Parse the replies in logs again and recompute all metrics.

    No model is called, and no key or network is needed. Without --write or --output, nothing is written; the command
    prints the changes. LOG is an Inspect log or a folder of logs, local or at any address that fsspec opens. Logs can
    be written to such addresses too, except http(s). A rescored log states the time and the version, and reports use
    the newest scores of a run.

    Exits with 1 if a log could not be rescored.
    """
    if write and output is not None:
        raise click.UsageError("--write and --output exclude each other")
    from confidence_tasks.logs.collection import logs_under, why_nothing

    found = {log: logs_under(log) for log in logs}
    for empty in (log for log in logs if not found[log]):
        print_message(f" {empty}: {why_nothing(empty)}", "skipped")
    paths = {_full_address(path): path for of_log in found.values() for path in of_log}
    targets = _targets(paths, output) if output is not None else {path: path for path in paths.values()}
    if not (write or output is not None):
        targets = dict.fromkeys(paths.values(), "")
    for target in targets.values():
        # Writing to a web address would post the log as a form.
        if target.startswith(("http://", "https://")):
            raise click.UsageError(f"{target} can be read but not written: name a folder with --output")
    outcomes = _rescore_each([(path, (path, target)) for path, target in targets.items()], jobs, scheduler)
    if as_json:
        print_json([asdict(outcome) for outcome in outcomes])
    else:
        _print_outcomes(outcomes)
    if not outcomes:
        print_message("no logs were found")
    if not outcomes or any(outcome.error for outcome in outcomes):
        raise SystemExit(1)


def _full_address(path: str) -> str:
    """Return the full address of a file, which is the same for all spellings of its path."""
    system, root = fsspec.core.url_to_fs(path)
    return str(system.unstrip_protocol(root))


def _targets(paths: Mapping[str, str], folder: str) -> dict[str, str]:
    """Return the target path of each log: its path relative to the common folder of all logs, below ``folder``.

    ``paths`` has the logs by their full addresses. Raises UsageError if a log would overwrite itself or another log.
    """
    parts = {path: PurePosixPath(address.partition("://")[2]).parts for address, path in paths.items()}
    n_common = len(os.path.commonprefix([each[:-1] for each in parts.values()]))  # noqa: RUF071 - tuples, not texts
    targets = {path: "/".join((folder.rstrip("/"), *each[n_common:])) for path, each in parts.items()}
    sources = dict(paths)
    for path, target in targets.items():
        other = sources.setdefault(_full_address(target), path)
        if other != path or _full_address(target) == _full_address(path):
            raise click.UsageError(
                f"{path} would overwrite {other}: name another folder, or use --write to replace the scores in the"
                " logs themselves"
            )
    return targets


def _rescore_each(work: Sequence[Job], jobs: int | None, scheduler: str | None) -> list[Outcome]:
    """Rescore logs in parallel, and return their outcomes in the same order."""
    from confidence_tasks.harness.workers import Lost
    from confidence_tasks.logs.collection import is_much

    outcomes: dict[int, Outcome] = {}
    with open_workers(jobs, scheduler) as workers, progress("rescoring") as advance:
        chosen = workers.if_worth(is_much([path for path, _ in work]))
        for number, result in chosen.run(_rescore, work, advance):
            path, _ = work[number]
            outcomes[number] = Outcome(path, error=result.reason) if isinstance(result, Lost) else result
    return [outcomes[number] for number in range(len(work))]


def _rescore(path: str, target: str) -> Outcome:
    """Rescore a log; an error becomes the outcome, so that the other logs are still rescored."""
    from confidence_tasks.harness.inspect.model_calls import RoleError
    from confidence_tasks.harness.inspect.staged import LostRepliesError
    from confidence_tasks.logs.collection import why_unreadable
    from confidence_tasks.logs.trial_files import NotTrialsError
    from confidence_tasks.report.rescore import rescore as rescore_log

    with tempfile.TemporaryDirectory() as scratch:
        new_log = str(Path(scratch) / PurePosixPath(target).name) if target else ""
        try:
            result = rescore_log(path, new_log)
        except (NotTrialsError, RoleError, LostRepliesError) as error:
            return Outcome(path, error=str(error))
        except Exception as error:
            is_full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
            no_room = f"there is no room for the new log in {tempfile.gettempdir()} ({error})"
            return Outcome(path, error=no_room if is_full else why_unreadable(path, error))
        if target:
            try:
                _move_log(new_log, target)
            except Exception as error:
                return Outcome(path, error=f"{target} cannot be written ({type(error).__name__}: {error})")
    changed = {
        name: {"before": result.before[name], "after": result.after.get(name)}
        for name in result.changed_metrics
    }
    return Outcome(path, result.changed_trials, changed, target)


def _move_log(new_log: str, target: str) -> None:
    """Move a log to its target atomically: the log there may be the only one with these paid replies."""
    from inspect_ai.log import read_eval_log

    system, root = fsspec.core.url_to_fs(target)
    if system.exists(root):
        old, new = (read_eval_log(path, header_only=True).eval for path in (target, new_log))
        if old.eval_id != new.eval_id:
            raise FileExistsError(f"there is a log of another run, of {old.created}")
    folder, _, name = root.rpartition("/")
    unfinished = f"{folder}/.unfinished-{name}"
    if folder:
        system.makedirs(folder, exist_ok=True)
    try:
        system.put_file(new_log, unfinished)
        system.mv(unfinished, root)
    finally:
        if system.exists(unfinished):
            system.rm(unfinished)


def _print_outcomes(outcomes: list[Outcome]) -> None:
    for outcome in outcomes:
        if outcome.error:
            click.echo(without_controls(f"failed   {outcome.log}: {outcome.error}"))
            continue
        count = len(outcome.changed_metrics)
        changed = f"{outcome.changed_trials} trials and {count} metrics changed"
        what = changed if count or outcome.changed_trials else "same"
        click.echo(without_controls(f"ok       {outcome.log}: {what}"))
        if count:
            rows = [
                {"metric": name, **{when: f"{value}" for when, value in values.items()}}
                for name, values in outcome.changed_metrics.items()
            ]
            print_table(rows, frozenset({"before", "after"}))
