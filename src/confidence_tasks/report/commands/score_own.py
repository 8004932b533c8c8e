"""``confidence-tasks score FILE`` without a study: answers in any table, as trials of the study ``benchmark``."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from confidence_tasks.own_replies.folder import Scored
from confidence_tasks.report.commands.printing import print_message
from confidence_tasks.sources.source import write_atomically

if TYPE_CHECKING:
    from confidence_tasks.own_replies.trials import Judge, Options, OwnReplies
    from confidence_tasks.sources.any_table import Rows

Command = Callable[..., Any]

COLUMN_ROLES = (
    "reply",
    "answer",
    "gold",
    "correct",
    "confidence",
    "question",
    "id",
    "choices",
    "aliases",
    "cluster",
)

_HELP: Mapping[str, str] = {
    "reply": "Column of the replies.",
    "answer": "Column of the model's answers, where they are apart from the replies.",
    "gold": "Column of the right answers.",
    "correct": "Column of your verdicts, which win over a comparison; or a bound such as 'f1>=0.5'.",
    "confidence": "Column of the confidences, or of scores (--kind).",
    "question": "Column of the questions.",
    "id": "Column of identifiers of the questions.",
    "choices": "Column of the options.",
    "aliases": "Column of other right answers.",
    "cluster": "Column of what several questions share, such as a passage: it is the unit of intervals.",
}


_TEXTS = (
    ("preset", "auto", "NAME", "How replies state a confidence: tian, xiong, hle, likert-5, json:KEY, ..."),
    ("scale", "", "LOW-HIGH", "Scale of the confidences, such as 0-100 or 1-5.  [default: by the numbers]"),
    ("pattern", "", "REGEX", "Regular expression whose first group is the confidence in a reply."),
    ("task", "", "NAME", "Name of the task, the same for models to compare.  [default: the file's name]"),
    ("judge", "", "MODEL", "Model that judges answers that do not equal the key, such as openai/gpt-4o."),
)
_CHOICES: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("direction", ("confidence", "uncertainty"), "Whether a high number means sure or unsure."),
    (
        "kind",
        ("confidence", "score", "uncertainty", "interval"),
        "Scores and uncertainties rank answers, in any range; intervals are in the columns low, high, truth, level.",
    ),
    ("grader", ("equality", "contains", "fuzzy"), "How answers without a verdict are compared with the key."),
)


def own_options(command: Command) -> Command:
    """Add the options of a file without a study."""
    settings = [
        click.option(f"--{role}", f"column_{role}", metavar="COLUMN", default=None, help=_HELP[role])
        for role in COLUMN_ROLES
    ]
    settings += [
        click.option(f"--{name}", default=default, metavar=metavar, help=text)
        for name, default, metavar, text in _TEXTS
    ]
    settings += [
        click.option(f"--{name}", type=click.Choice(names), default=names[0], show_default=True, help=text)
        for name, names, text in _CHOICES
    ]
    settings.append(
        click.option(
            "--conventions", is_flag=True, help="Print the calibration error of other programs, too."
        )
    )
    return reduce(lambda decorated, option: option(decorated), reversed(settings), command)


NAMES = frozenset(f"column_{role}" for role in COLUMN_ROLES) | {
    *("preset", "scale", "direction", "pattern", "kind", "grader", "judge", "task", "conventions"),
}
"""Parameters of these options."""


def refuse_with_study(context: click.Context) -> None:
    """Raise UsageError if one of the options was given beside ``--study``."""
    given = [
        name for name in NAMES if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    ]
    if given:
        option = min(given).removeprefix("column_")
        raise click.UsageError(f"--{option} is for files without --study: the reader of the study decides")


def score_own(
    path: Path,
    model: str,
    *,
    fields: Mapping[str, str],
    rename: Mapping[str, str],
    log_dir: Path,
    name: str,
    settings: Mapping[str, Any],
) -> Scored:
    """Score a file and write its trials to ``<name>_trials.jsonl``; the name is by default that of the file."""
    from confidence_tasks.own_replies.intervals import has_only_intervals
    from confidence_tasks.sources.any_table import read_any_table, with_new_names

    own: OwnReplies | None = None
    try:
        rows = with_new_names(read_any_table(path), rename)
        kind, names = settings["kind"], list(dict.fromkeys(name for row in rows for name in row))
        if kind == "interval" or (kind == "confidence" and has_only_intervals(names)):
            trials, table = _intervals(path, rows, model, fields, settings)
        else:
            _refuse_fields(fields)
            own, table = _answers(path, rows, model, settings)
            trials = [*own.trials, *own.further]
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    written = _write(trials, log_dir / f"{name or path.name.partition('.')[0]}_trials.jsonl")
    measures = json.loads(table.to_frame().to_json(orient="records"))
    decided = {"notes": own.notes, "outcomes": dict(own.outcomes)} if own else {}

    def show() -> None:
        if own:
            _print(own, table, settings["conventions"])
        else:
            click.echo(f"{len(trials)} intervals\n\n{table}\n")
        click.echo(f"The trials are in {written}")

    return Scored({"trials": str(written), **decided, "metrics": measures}, show)


def _write(trials: Sequence[Mapping[str, Any]], written: Path) -> Path:
    """Write the trials of a file into the folder of logs."""
    written.parent.mkdir(parents=True, exist_ok=True)
    lines = (f"{json.dumps(trial, ensure_ascii=False)}\n" for trial in trials)
    write_atomically(written, "".join(lines).encode())
    return written


def _answers(path: Path, rows: Rows, model: str, settings: Mapping[str, Any]) -> tuple[OwnReplies, Any]:
    """Return the answers of a file as trials, and their summary."""
    from confidence_tasks.own_replies.intervals import has_intervals
    from confidence_tasks.own_replies.trials import read_own_replies

    own = read_own_replies(path, _options(model, settings), _judge(settings["judge"]), rows)
    if has_intervals(list(dict.fromkeys(name for row in rows for name in row))):
        own.notes.append("the columns of intervals are not scored here: --kind interval scores them")
    return own, _summary(own, settings["kind"])


def _intervals(
    path: Path, rows: Rows, model: str, fields: Mapping[str, str], settings: Mapping[str, Any]
) -> tuple[list[dict[str, Any]], Any]:
    """Return the intervals of a file as trials, and their summary."""
    import pandas as pd

    from confidence_tasks.own_replies.intervals import own_interval_trials
    from confidence_tasks.report.summary import summary

    trials = own_interval_trials(
        path, rows, model=model, task=settings["task"], fields=fields, cluster=settings["column_cluster"]
    )
    frame = pd.DataFrame(trials)
    by = "model" if trials and frame["model"].nunique() > 1 else None
    return trials, summary(frame, kind="interval", by=by, cluster="cluster" if "cluster" in frame else None)


def _refuse_fields(fields: Mapping[str, str]) -> None:
    if fields:
        raise click.UsageError(
            "--field gives values to the reader of a study, or a level to intervals: add --study or --kind interval,"
            " or leave it out"
        )


def _options(model: str, settings: Mapping[str, Any]) -> Options:
    from confidence_tasks.harness.correctness import Correctness
    from confidence_tasks.own_replies.trials import Grader, Options

    columns = {
        role: settings[f"column_{role}"] for role in COLUMN_ROLES if settings[f"column_{role}"] is not None
    }
    least = math.nan
    if ">=" in columns.get("correct", ""):
        bound = Correctness.parse(columns["correct"])
        columns["correct"], least = bound.name, bound.least
    own = {name: settings[name] for name in ("preset", "scale", "direction", "pattern", "kind", "task")}
    grader: Grader = "judge" if settings["judge"] else settings["grader"]
    return Options(columns, **own, grader=grader, least=least, model=model)


def _judge(model: str) -> Judge | None:
    if not model:
        return None
    from confidence_tasks.harness.inspect.judging import judge_answers

    return partial(judge_answers, model)


def _summary(own: OwnReplies, kind: str) -> Any:
    import pandas as pd

    from confidence_tasks.report.summary import summary

    table = pd.DataFrame(own.trials)
    grouping: dict[str, Any] = {
        "by": "model" if table["model"].nunique() > 1 else None,
        "cluster": "cluster" if "cluster" in table else None,
    }
    ranked = [trial for trial in own.trials if trial["value"] is not None]
    has_probabilities = not ranked or any(trial["probability"] is not None for trial in ranked)
    if kind == "confidence" and has_probabilities:
        return summary(table.astype({"correct": float, "confidence": float}), **grouping)
    scores = table.astype({"correct": float, "value": float})
    return summary("correct", "value", data=scores, kind="score", **grouping)


def _print(own: OwnReplies, table: Any, conventions: bool) -> None:
    from confidence_tasks.own_replies.shapes import unread_sentences

    for note in own.notes:
        print_message(note, err=False, indent="  ")
    counts = (f"{own.outcomes[name]} {name}" for name in ("right", "wrong", "abstained", "unread"))
    print_message(f"{len(own.trials)} answers: {', '.join(counts)}", err=False)
    if own.unread:
        noun = "reply" if len(own.unread) == 1 else "replies"
        print_message(f"no confidence was read in {len(own.unread)} {noun}:", err=False)
        for sentence in unread_sentences(own.unread):
            print_message(sentence, "  ", err=False, indent="    ")
    click.echo(f"\n{table}\n")
    if conventions:
        _print_conventions(own)


def _print_conventions(own: OwnReplies) -> None:
    import pandas as pd

    from confidence_tasks.report.labels import between, number
    from confidence_tasks.statistics.calibration import convention_errors

    trials = pd.DataFrame(own.trials)[["correct", "probability", "question_id"]].dropna()
    rows = convention_errors(
        trials["correct"].astype(float), trials["probability"].astype(float), questions=trials["question_id"]
    )
    width = max(len(row.convention) for row in rows)
    for row in rows:
        interval = between(row.low, row.high, 3) if not row.reason else row.reason
        click.echo(f"{row.convention:<{width}}  {number(row.value, 3)}  {interval:<16}  {row.description}")
    click.echo("")
