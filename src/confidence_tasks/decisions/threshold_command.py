"""``confidence-tasks threshold``: which answers may be accepted."""

from __future__ import annotations

from collections.abc import Callable, Container
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from confidence_tasks.decisions.command_parts import condition_option, read_tasks
from confidence_tasks.logs.texts import printable
from confidence_tasks.report.commands.options import (
    WITHIN_0_AND_1,
    cache_option,
    cluster_option,
    json_option,
    seed_option,
)
from confidence_tasks.report.commands.printing import (
    print_json,
    print_message,
    print_stopped_early,
    print_table,
)
from confidence_tasks.report.commands.reading import as_click_error
from confidence_tasks.report.labels import number

if TYPE_CHECKING:
    from confidence_tasks.logs.judged_answers import JudgedAnswers
    from confidence_tasks.statistics.acceptance import Acceptance
    from confidence_tasks.statistics.core import Reason


@click.command(
    epilog="""\b
Examples:
  confidence-tasks threshold logs --accuracy 0.95
  confidence-tasks threshold run.eval --accuracy 0.9 --confidence 0.99 --condition 0-100
  confidence-tasks threshold logs --accept 0.8"""
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--accuracy", type=WITHIN_0_AND_1, help="Accuracy that accepted answers must have, such as 0.95."
)
@click.option(
    "--accept",
    "share",
    type=click.FloatRange(0, 1, min_open=True),
    help="Share of answers to accept, such as 0.8 if a person can review a fifth; instead of --accuracy.",
)
@click.option(
    "--confidence",
    "level",
    type=WITHIN_0_AND_1,
    default=0.95,
    show_default=True,
    help="Probability with which the guarantee holds.",
)
@condition_option
@cluster_option
@seed_option
@cache_option
@json_option
def threshold(
    paths: tuple[str, ...],
    accuracy: float | None,
    share: float | None,
    level: float,
    condition: str,
    cluster: str,
    seed: int,
    no_cache: bool,
    as_json: bool,
) -> None:
    """Find the confidence from which on answers may be accepted, with a guarantee of their accuracy.

    PATH is as in `report`. With --accuracy, the command prints the lowest confidence at and above which answers are
    right in at least this share of questions. With a probability of 95% (--confidence), this holds for all questions of
    the kind that was asked. With --accept, it prints the confidence that accepts this share of answers, and a lower
    bound of their accuracy.

    Questions are the unit: of several trials of a question under a condition, or of a cluster of questions, one is
    drawn at random. Trials without an answer that is right or wrong, or without a confidence, are left out and counted.

    Exits with 1 if no threshold reaches the accuracy for some model and condition.
    """
    from confidence_tasks.logs.judged_answers import judged_answers

    find = _search(accuracy, share)
    tasks = read_tasks(paths, no_cache=no_cache, cluster=cluster)
    print_stopped_early(tasks)
    with as_click_error():
        answers = judged_answers(tasks, condition)
        find = partial(find, level=level, seed=seed)
        found = [(each, find(each.correct, each.confidence, clusters=each.units)) for each in answers]
    if as_json:
        print_json([_record(*each) for each in found])
    else:
        _print_thresholds(found, accuracy, level)
    if any(not each.n_accepted for _, each in found):
        raise SystemExit(1)


def _search(accuracy: float | None, share: float | None) -> Callable[..., Acceptance]:
    """Return the function that finds the threshold of an accuracy or of a share; exactly one must be given."""
    from confidence_tasks.statistics.acceptance import acceptance_threshold, threshold_of_share

    if accuracy is not None and share is None:
        return partial(acceptance_threshold, accuracy=accuracy)
    if share is not None and accuracy is None:
        return partial(threshold_of_share, share=share)
    raise click.UsageError(
        "name either --accuracy, such as --accuracy 0.95, or --accept, such as --accept 0.8"
    )


def _record(answers: JudgedAnswers, found: Acceptance) -> dict[str, Any]:
    """Return a threshold for JSON."""
    from confidence_tasks.logs.task_trials import is_marked

    where = {name: getattr(answers, name) for name in ("task", "model", "condition", "n_left_out")}
    where["stopped_early"] = is_marked(answers.model)
    names = ("threshold", "share", "accuracy", "low", "n_accepted", "n", "level")
    return {**where, **{name: getattr(found, name) for name in names}, "reason": found.threshold.reason}


def _print_thresholds(
    found: list[tuple[JudgedAnswers, Acceptance]], accuracy: float | None, level: float
) -> None:
    """Print the thresholds of each model as a table, with what is guaranteed below the last."""
    bound = f"{level:.0%} bound"
    numbers = frozenset({"accepted", "accuracy", bound, "n", "left out"})
    for (task, model), of_model in groupby(found, key=lambda each: (each[0].task, each[0].model)):
        click.echo(f"{click.style(printable(task), bold=True)}, {model}")
        print_table([_row(*each, bound) for each in of_model], numbers)
    if any(each.n_accepted for _, each in found):
        _print_guarantee(accuracy, level)
    if accuracy is not None:
        _print_advice(accuracy, level, {each.threshold.reason for _, each in found})


def _print_advice(accuracy: float, level: float, reasons: Container[Reason | None]) -> None:
    """Print what to do where there is no threshold."""
    from confidence_tasks.statistics.acceptance import fewest_answers
    from confidence_tasks.statistics.core import Reason

    if Reason.TOO_FEW in reasons:
        fewest = fewest_answers(accuracy, level=level)
        print_message(
            f"An accuracy of {accuracy:g} needs at least {fewest:,} questions, all of them right.", err=False
        )
    if Reason.NOT_REACHED in reasons:
        print_message(
            f"Where no threshold reaches {accuracy:g}, the surest answers, a fifth of all or more, are not known to be"
            " right so often: ask more questions, or require less with --accuracy.",
            err=False,
        )


def _print_guarantee(accuracy: float | None, level: float) -> None:
    """Print what is guaranteed of answers above a threshold."""
    least = (
        f"the share in the column `{level:.0%} bound`"
        if accuracy is None
        else f"{accuracy:g} of all questions"
    )
    print_message(
        f"Answers whose confidence is at least the threshold are right, with {level:.0%} certainty, in at least"
        f" {least}. This holds for one threshold of one model at a time, and as long as model, prompt and kind of"
        " questions stay the same.",
        err=False,
    )


def _row(answers: JudgedAnswers, found: Acceptance, bound: str) -> dict[str, str]:
    """Return a threshold for a table."""
    from confidence_tasks.report.acceptance import threshold_text

    return {
        "condition": printable(answers.condition),
        "threshold": threshold_text(found),
        "accepted": f"{found.share:.0%}",
        "accuracy": number(found.accuracy, 3),
        bound: number(found.low, 3),
        "n": f"{found.n:,}",
        "left out": f"{answers.n_left_out:,}",
    }
