"""``confidence-tasks judged``: measures of answers that a judge graded, corrected by labels of people."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from confidence_tasks.decisions.command_parts import condition_option, read_tasks
from confidence_tasks.report import labels as text
from confidence_tasks.report.commands.options import WITHIN_0_AND_1, cache_option, cluster_option, json_option
from confidence_tasks.report.commands.printing import (
    print_json,
    print_message,
    print_stopped_early,
    print_table,
)
from confidence_tasks.report.commands.reading import as_click_error

if TYPE_CHECKING:
    from confidence_tasks.logs.judged_answers import JudgedAnswers
    from confidence_tasks.statistics.core import FloatArray
    from confidence_tasks.statistics.inference.prediction_powered import PredictionPowered

MEASURES: Mapping[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "accuracy": lambda correct, confidence: correct,
    "overconfidence": lambda correct, confidence: confidence - correct,
    "brier": lambda correct, confidence: (confidence - correct) ** 2,
}
"""Value of each answer, given whether it is right and its confidence; the measure is the mean."""

BOUNDS: Mapping[str, tuple[float, float]] = {
    "accuracy": (0.0, 1.0),
    "overconfidence": (-1.0, 1.0),
    "brier": (0.0, 1.0),
}
"""Smallest and largest value of each measure."""


@click.command(
    epilog="""\b
Example:
  confidence-tasks judged logs --labels labels.csv"""
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--labels",
    "file",
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Table of labels of people: question_id or sample_id, correct, and model, condition, source or epoch where"
    " these tell answers apart.",
)
@click.option("--level", type=WITHIN_0_AND_1, default=0.95, show_default=True, help="Level of the intervals.")
@condition_option
@cluster_option
@cache_option
@json_option
def judged(
    paths: tuple[str, ...],
    file: Path,
    level: float,
    condition: str,
    cluster: str,
    no_cache: bool,
    as_json: bool,
) -> None:
    """Correct accuracy, overconfidence and Brier score for the errors of the judge that graded the answers.

    PATH is as in `report`. A judge makes errors, and intervals of judged answers do not contain these. People label a
    random sample of the answers; the difference of labels and grades in this sample corrects the mean of all grades
    (prediction-powered inference). The interval contains the sampling of questions and of labels.
    """
    from confidence_tasks.decisions.human_labels import with_labels
    from confidence_tasks.logs.judged_answers import judged_answers

    tasks = read_tasks(paths, no_cache=no_cache, cluster=cluster)
    print_stopped_early(tasks)
    with as_click_error():
        labelled, n_unused = with_labels(tasks, file)
        answers = [each for each in judged_answers(labelled, condition) if each.n_labels]
        found = [(each, _corrected(each, level)) for each in answers]
    if as_json:
        print_json({"answers": [_record(*each) for each in found], "n_unused_labels": n_unused})
        return
    for each in found:
        _print_answers(*each)
    if n_unused:
        print_message(f"{n_unused:,} labels fit no answer")


def _corrected(answers: JudgedAnswers, level: float) -> dict[str, PredictionPowered]:
    """Return each measure, corrected."""
    from confidence_tasks.statistics.inference.prediction_powered import prediction_powered_mean

    return {
        name: prediction_powered_mean(
            value(answers.labels, answers.confidence),
            value(answers.correct, answers.confidence),
            clusters=answers.units,
            level=level,
            bounds=BOUNDS[name],
        )
        for name, value in MEASURES.items()
    }


def _record(answers: JudgedAnswers, found: Mapping[str, PredictionPowered]) -> dict[str, Any]:
    """Return corrected measures for JSON."""
    from confidence_tasks.logs.task_trials import is_marked

    where = {name: getattr(answers, name) for name in ("task", "model", "condition", "n_labels")}
    where["stopped_early"] = is_marked(answers.model)
    names = ("estimate", "low", "high", "weight", "standard_error", "n_labels", "n_units")
    measures = {
        name: {"by_judge": _by_judge(answers, name), **{key: getattr(each, key) for key in names}}
        for name, each in found.items()
    }
    return {**where, "n": len(answers.correct), "measures": measures}


def _by_judge(answers: JudgedAnswers, name: str) -> float:
    return float(MEASURES[name](answers.correct, answers.confidence).mean())


def _print_answers(answers: JudgedAnswers, found: Mapping[str, PredictionPowered]) -> None:
    """Print the measures of one model and condition by the judge, and corrected."""
    from confidence_tasks.logs.texts import printable

    click.echo(click.style(printable(f"{answers.task}, {answers.model}, {answers.condition}"), bold=True))
    rows = [
        {
            "measure": text.measure_label(name),
            "by the judge": text.number(_by_judge(answers, name), 3),
            "corrected": text.number(each.estimate, 3),
            f"{each.level:.0%} interval": text.between(each.low, each.high, 3)
            or f"no interval: {each.low.reason}",
            "weight of the judge": text.number(each.weight, 2),
        }
        for name, each in found.items()
    ]
    print_table(rows, frozenset({"by the judge", "corrected", "weight of the judge"}))
    click.echo(f"{len(answers.correct):,} answers, {answers.n_labels:,} with a label")
