"""``confidence-tasks rescore``: parse the replies in logs again, and recompute all metrics."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import click
import fsspec

from confidence_tasks.logs.texts import without_controls
from confidence_tasks.report.commands.options import json_option, workers_options
from confidence_tasks.report.commands.printing import print_json, print_message, print_table
from confidence_tasks.report.commands.reading import open_workers, progress

if TYPE_CHECKING:
    from confidence_tasks.harness.workers import Job


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
    found = _found(logs)
    if output is not None:
        targets = _targets(found, output)
    elif write:
        targets = dict(zip(found.values(), found.values(), strict=True))
    else:
        targets = dict.fromkeys(found.values(), "")
    _refuse_web_addresses(targets.values())
    outcomes = _rescore_each(targets, jobs, scheduler)
    if as_json:
        print_json([asdict(outcome) for outcome in outcomes])
    else:
        _print_outcomes(outcomes)
    if not outcomes:
        print_message("no logs were found")
        raise SystemExit(1)
    if any(outcome.error for outcome in outcomes):
        raise SystemExit(1)


def _found(logs: Sequence[str]) -> dict[str, str]:
    """Return the logs under some paths by their full addresses, and tell which paths have none."""
    from confidence_tasks.logs.file_readers import logs_under, why_nothing

    found = {}
    for log in dict.fromkeys(logs):
        paths = logs_under(log)
        found.update({_full_address(path): path for path in paths})
        if not paths:
            print_message(f" {log}: {why_nothing(log)}", "skipped")
    return found


def _refuse_web_addresses(targets: Iterable[str]) -> None:
    """Raise UsageError for a target on the web: writing there would post the log as a form."""
    for target in targets:
        if target.startswith(("http://", "https://")):
            raise click.UsageError(f"{target} can be read but not written: name a folder with --output")


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


def _rescore_each(targets: Mapping[str, str], jobs: int | None, scheduler: str | None) -> list[Outcome]:
    """Rescore logs in parallel into their targets, and return their outcomes in the same order."""
    from confidence_tasks.harness.workers import LostJob
    from confidence_tasks.logs.collection import are_large

    work: list[Job] = [(path, (path, target)) for path, target in targets.items()]
    outcomes: dict[int, Outcome] = {}
    with open_workers(jobs, scheduler) as workers, progress("rescoring") as advance:
        chosen = workers.for_amount(are_large([path for path, _ in work]))
        for number, result in chosen.run(_rescore, work, advance):
            path, _ = work[number]
            outcomes[number] = Outcome(path, error=result.reason) if isinstance(result, LostJob) else result
    return [outcomes[number] for number in range(len(work))]


def _rescore(path: str, target: str) -> Outcome:
    """Rescore a log; an error becomes the outcome, so that the other logs are still rescored."""
    from confidence_tasks.harness.inspect.roles import RoleError
    from confidence_tasks.harness.inspect.scoring import LostRepliesError
    from confidence_tasks.logs.file_readers import why_unreadable
    from confidence_tasks.logs.rescore import rescore as rescore_log
    from confidence_tasks.logs.trial_files import NotTrialsError

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
        what = changed if count or outcome.changed_trials else "nothing changed"
        click.echo(without_controls(f"ok       {outcome.log}: {what}"))
        if count:
            rows = [
                {"metric": name, **{when: f"{value}" for when, value in values.items()}}
                for name, values in outcome.changed_metrics.items()
            ]
            print_table(rows, frozenset({"before", "after"}))
