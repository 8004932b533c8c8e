"""``confidence-tasks compare A B C ...``: several models at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from confidence_tasks.report import labels
from confidence_tasks.report.commands.printing import print_json, print_message, print_notices, print_table
from confidence_tasks.report.commands.reading import as_click_error, open_cache, open_workers, read_trials

if TYPE_CHECKING:
    from confidence_tasks.logs.collection import Collection
    from confidence_tasks.logs.task_trials import TaskTrials
    from confidence_tasks.report.estimates.ranking import ModelPair, RankedModel, Ranking
    from confidence_tasks.report.estimates.settings import Settings
    from confidence_tasks.report.notices import Notice

PAIRS_SHOWN = 10
"""Number of pairs up to which the terminal shows all of them: those of five models."""


def compare_many(
    paths: Sequence[str],
    measures: Sequence[str],
    settings: Settings,
    correctness: Mapping[str, Any],
    *,
    no_cache: bool,
    as_json: bool,
) -> None:
    """Compare all models of some paths at once, and print their ranks; exit with 1 if they share no question."""
    from confidence_tasks.logs.clusters import with_units
    from confidence_tasks.logs.task_trials import group_by_task
    from confidence_tasks.report.ranked_tasks import cautions_of_many, joined_tasks, rank_tasks

    cache, collections = open_cache(no_cache), {}
    with open_workers(None, None) as workers:
        for path in dict.fromkeys(paths):
            collections[path] = read_trials([path], workers, cache, **correctness)
        with as_click_error():
            by_path = {path: group_by_task(each.files) for path, each in collections.items()}
            tasks = with_units(joined_tasks(by_path), settings.cluster)
            rankings = rank_tasks(tasks, measures or None, settings, workers, cache)
    notices = {task.task: cautions_of_many(task) for task in tasks if len(task.models) > 1}
    if as_json:
        print_json(_records(rankings, notices, list(collections.values())))
    else:
        for task, raised in notices.items():
            _print_task(task, [each for each in rankings if each.task == task], raised)
    _print_what_is_missing(tasks, rankings)


def _print_what_is_missing(tasks: Sequence[TaskTrials], rankings: Sequence[Ranking]) -> None:
    """Print the tasks with one model; exit with 1 if nothing was compared."""
    for task in tasks:
        if len(task.models) < 2:
            print_message(f" {task.task}: only {task.models[0].label} has trials of this task", "skipped")
    if rankings:
        return
    if any(len(task.models) > 1 for task in tasks):
        print_message("the models have no question in common under the same condition of the same task")
    else:
        print_message("nothing is compared: add the log of another model to the paths")
    raise SystemExit(1)


def _records(
    rankings: Sequence[Ranking], notices: Mapping[str, Sequence[Notice]], collections: Sequence[Collection]
) -> dict[str, Any]:
    """Return what JSON has: the models, all pairs, the notices, and the files that were skipped."""
    from confidence_tasks.report.ranks import pair_frame, rank_frame

    return {
        "ranks": rank_frame(rankings).to_dict("records"),
        "pairs": pair_frame(rankings).to_dict("records"),
        "notices": [{"task": task, **asdict(each)} for task, raised in notices.items() for each in raised],
        "skipped": [asdict(file) for each in collections for file in each.skipped],
    }


def _print_task(task: str, rankings: Sequence[Ranking], notices: Sequence[Notice]) -> None:
    """Print the notices and the rankings of a task."""
    click.echo(click.style(task, bold=True))
    print_notices(notices)
    for ranking in rankings:
        _print_ranking(ranking)
    if rankings:
        print_message(
            "interval: of the model alone; rank, and simultaneous intervals of pairs: those of all tables of this task"
            f" hold at once with {rankings[0].level:.0%} confidence",
            err=False,
        )


def _print_ranking(ranking: Ranking) -> None:
    """Print the models of a ranking, who is not told apart from the best, and the pairs if they are few."""
    from confidence_tasks.report.ranks import not_told_apart

    condition, measure = ranking.condition, labels.measure_label(ranking.measure)
    clusters = f", {ranking.n_units:,} clusters" if ranking.n_units < ranking.n_questions else ""
    click.echo(f"\n{measure}, {condition}: {ranking.n_questions:,} questions{clusters}")
    print_table([_model_row(each) for each in ranking.models], frozenset({"value", "rank"}))
    if sentence := not_told_apart(ranking):
        print_message(sentence, err=False)
    if 0 < len(ranking.pairs) <= PAIRS_SHOWN:
        print_table([_pair_row(each) for each in ranking.pairs], frozenset({"difference", "p"}))


def _model_row(each: RankedModel) -> dict[str, str]:
    from confidence_tasks.report.estimates.ranking import rank_text

    return {
        "model": each.model,
        "value": labels.number(each.interval.estimate, 3),
        "interval": labels.limits(each.interval, 3) or labels.why_missing(each.interval),
        "rank": rank_text(each.first, each.last) or "–",
    }


def _pair_row(pair: ModelPair) -> dict[str, str]:
    interval = labels.limits(pair.difference, 3) or labels.why_missing(pair.difference)
    return {
        "pair": f"{pair.first} − {pair.second}",
        "difference": labels.signed(pair.difference.estimate, 3),
        "simultaneous interval": interval,
        "p": labels.p_value(pair.p_adjusted) + (" *" if pair.differs else "  "),
    }
