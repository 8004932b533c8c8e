"""Options that several commands have, and parsers of their values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from confidence_tasks.report.commands.printing import print_message

Command = Callable[..., Any]


def list_option(listing: Callable[[], Mapping[str, str]], help: str) -> Callable[[Command], Command]:
    """Return a decorator that adds ``--list``, which prints the description of each study and exits."""

    def show(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
        if value and not context.resilient_parsing:
            for name, description in listing().items():
                print_message(f"{name:<10} {description}", indent=" " * 11, err=False)
            context.exit()

    return click.option("--list", is_flag=True, is_eager=True, expose_value=False, callback=show, help=help)


def _combine(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Return a decorator that adds several options; the help shows the last option first."""
    return lambda command: reduce(lambda decorated, option: option(decorated), options, command)


def parse_with(parse: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return a click callback that parses the value of an option; ValueError becomes a message about the option."""

    def parse_value(_context: click.Context, _parameter: click.Parameter, value: Any) -> Any:
        try:
            return None if value is None else parse(value)
        except ValueError as error:
            raise click.BadParameter(str(error)) from error

    return parse_value


FILE = click.Path(dir_okay=False, path_type=Path)

FOLDER = click.Path(file_okay=False, path_type=Path)

WITHIN_0_AND_1 = click.FloatRange(0, 1, min_open=True, max_open=True)

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")

seed_option = click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Random seed."
)

settings_options = _combine(
    seed_option,
    click.option(
        "--level", type=WITHIN_0_AND_1, default=0.95, show_default=True, help="Confidence level of intervals."
    ),
    click.option(
        "--resamples",
        "n_resamples",
        type=click.IntRange(1),
        default=2_000,
        show_default=True,
        help="Number of bootstrap resamples and of exchanges; tests with p < 0.1 have five times as many exchanges.",
    ),
)
"""Options for intervals and tests: the fields of ``Settings``."""

cluster_option = click.option(
    "--cluster",
    default="",
    metavar="NAME",
    help="Unit of intervals and tests instead of the question: passage, pair, family, a column of the trials such as"
    " subject, or none.  [default: the clusters of each source]",
)

correctness_options = _combine(
    click.option(
        "--signals",
        default="",
        metavar="NAME,...",
        callback=parse_with(
            lambda text: import_module("confidence_tasks.harness.correctness").further_signals(text)
        ),
        help="Further signals of tasks of others, at no call, where the log has log-probabilities: names such as"
        " negentropy,option_negentropy, or all.",
    ),
    click.option(
        "--scorer",
        default="",
        metavar="NAME",
        help="Scorer that says whether an answer is right, for Inspect logs of other tasks.  [default: the first]",
    ),
    click.option(
        "--correct",
        default="",
        metavar="METRIC",
        help="Metric that says whether an answer to a task of others is right, such as exact_match, or a bound such as"
        " 'f1>=0.5'. For Inspect, the bound is 'score>=0.5' or names a value of a score.",
    ),
)
"""Options for logs of tasks that no study asks."""

workers_options = _combine(
    click.option(
        "--scheduler",
        metavar="ADDRESS",
        help="Address of a Dask scheduler on whose cluster to compute, such as tcp://10.0.0.5:8786; needs the extra"
        " `cluster`.",
    ),
    click.option(
        "--jobs",
        type=click.IntRange(1),
        help="Number of processes.  [default: one per core, or one if there is little to compute]",
    ),
)
"""Options for parallel computation."""

cache_option = click.option(
    "--no-cache",
    is_flag=True,
    envvar="CONFIDENCE_TASKS_NO_CACHE",
    help="Neither read nor write the cache.  [also: CONFIDENCE_TASKS_NO_CACHE=1]",
)


def name_value_pairs(expected: str, parse: Callable[[str], Any] = str) -> Callable[..., dict[str, Any]]:
    """Return a click callback that parses values ``NAME=VALUE``; ``expected`` describes them in the error message."""

    def parse_pairs(texts: tuple[str, ...]) -> dict[str, Any]:
        values = {}
        for text in texts:
            name, _, value = text.partition("=")
            try:
                values[name] = parse(value)
            except (ValueError, SyntaxError):
                value = ""
            if not name or not value:
                raise ValueError(f"{text!r} is not {expected}")
        return values

    return parse_with(parse_pairs)


def study_name(names: Callable[[], Iterable[str]]) -> Callable[..., str]:
    """Return a click callback that accepts only the names that ``names()`` returns, and suggests one for a task.

    ``names`` imports the studies, so it is not called for ``--help``.
    """

    def check_name(value: str) -> str:
        from confidence_tasks.catalogue import known_study

        return known_study(value, list(names()))

    return parse_with(check_name)
