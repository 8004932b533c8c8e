"""``confidence-tasks rescore``: read the replies in logs anew."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
from inspect_ai.log import EvalLog, write_eval_log

from confidence_tasks.analysis.collection import LOG_SUFFIXES, files_under
from confidence_tasks.analysis.console import errors, json_option, print_json, print_table, progress
from confidence_tasks.analysis.export import json_number
from confidence_tasks.analysis.rescore import rescore as rescored
from confidence_tasks.analysis.trial_files import NotTrialsError
from confidence_tasks.scorers._stages import RoleError


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one log."""

    path: str
    changed_trials: int = 0
    changed_metrics: dict[str, tuple[float | None, float | None]] = field(default_factory=dict)
    written: str = ""
    error: str = ""


@click.command()
@click.argument("logs", nargs=-1, required=True, metavar="LOG...")
@click.option("--write", is_flag=True, help="Put the new scores and metrics into the logs.")
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write the rescored logs into this folder.",
)
@json_option
def rescore(logs: tuple[str, ...], write: bool, output: Path | None, as_json: bool) -> None:
    """Read the replies in logs anew and compute every metric again.

    No model is called; no key and no network are needed. Without --write or --output the logs are left alone, and what
    would change is told. LOG is an Inspect log or a folder of them.

    Exits with 1 when a log could not be rescored.
    """
    if write and output is not None:
        raise click.UsageError("--write and --output exclude each other")
    paths = [path for log in logs for path in files_under(log) if path.endswith(LOG_SUFFIXES)]
    outcomes = []
    with progress("rescoring") as advance:
        for done, path in enumerate(paths, start=1):
            target = path if write else str(output / Path(path).name) if output is not None else ""
            outcomes.append(_rescore(path, target))
            advance(done, len(paths))
    if as_json:
        print_json([_record(outcome) for outcome in outcomes])
    else:
        _print(outcomes)
    if not outcomes:
        errors.print("no logs were found")
    if not outcomes or any(outcome.error for outcome in outcomes):
        raise SystemExit(1)


def _rescore(path: str, target: str) -> Outcome:
    """Rescore a log, or say why not: one log must not cost the others."""
    try:
        done = rescored(path)
    except (NotTrialsError, RoleError) as error:
        return Outcome(path, error=str(error))
    except Exception as error:
        return Outcome(path, error=f"it cannot be read ({type(error).__name__}: {error})")
    if target:
        _write(done.log, Path(target))
    changed = {name: (done.before.get(name), done.after.get(name)) for name in done.changed_metrics}
    return Outcome(path, done.changed_trials, changed, target)


def _write(log: EvalLog, target: Path) -> None:
    """Write a log whole or not at all: it may be the only one of replies that were paid for."""
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f".unfinished-{target.name}")
    try:
        write_eval_log(log, str(unfinished))
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def _record(outcome: Outcome) -> dict[str, Any]:
    return {
        "log": outcome.path,
        "changed_trials": outcome.changed_trials,
        "changed_metrics": {
            name: {"before": _number(before), "after": _number(after)}
            for name, (before, after) in outcome.changed_metrics.items()
        },
        "written": outcome.written,
        "error": outcome.error,
    }


def _number(value: float | None) -> float | str | None:
    return None if value is None else json_number(value)


def _print(outcomes: list[Outcome]) -> None:
    for outcome in outcomes:
        if outcome.error:
            click.echo(f"failed   {outcome.path}: {outcome.error}")
            continue
        count = len(outcome.changed_metrics)
        said = (
            f"{outcome.changed_trials} trials and {count} metrics changed"
            if count or outcome.changed_trials
            else "same"
        )
        click.echo(f"ok       {outcome.path}: {said}")
        if count:
            rows = [
                {"metric": name, "before": f"{before}", "after": f"{after}"}
                for name, (before, after) in outcome.changed_metrics.items()
            ]
            print_table(rows, frozenset({"before", "after"}))
