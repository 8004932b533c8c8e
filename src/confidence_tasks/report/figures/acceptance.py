"""Figure of the answers that thresholds of confidence accept, with those of which the accuracy is guaranteed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from confidence_tasks.report.acceptance import AcceptedAnswers, threshold_text
from confidence_tasks.report.figures import Line, Panel, panel, panels
from confidence_tasks.report.figures.general import MIN_ANSWERS, ModelStyles, figure_of
from confidence_tasks.report.labels import group_label

if TYPE_CHECKING:
    from confidence_tasks.report.results import TaskResults

_CAPTION = (
    "Accuracy of the answers at or above a confidence, against their share of all answers, from the highest confidence"
    " on. Markers are the thresholds at which an accuracy of 90% and of 95% is guaranteed: the line itself may be luck,"
    " so that a marker lies to the left of where the line meets the required accuracy. Conditions without any marker"
    " are not drawn. All sources are pooled."
)


@figure_of("acceptance", "Accuracy of accepted answers", _CAPTION)
def acceptance(results: TaskResults, styles: ModelStyles) -> Iterator[Panel]:
    """Draw accuracy against the share of accepted answers, under each condition with a guaranteed threshold."""
    for condition in results.conditions:
        answers = [each for each in results.accepted if each.condition == condition]
        if any(each.guaranteed for each in answers):
            yield _panel(condition, answers, styles)


def _panel(condition: str, answers: Sequence[AcceptedAnswers], styles: ModelStyles) -> Panel:
    """Return the panel of a condition: the curves of all models, and the guaranteed thresholds of those with one."""
    lines = [_line(each, styles) for each in answers]
    marked = [each for each in answers if each.guaranteed]
    look = {
        "lines": lines,
        "marks": [_marks(each, styles) for each in marked],
        "texts": [_texts(each) for each in marked],
        "lowest": np.floor(10.0 * min(float(line.y.min()) for line in lines)) / 10.0,
    }
    return panel(group_label(condition), panels.accepted, **look)


def _line(answers: AcceptedAnswers, styles: ModelStyles) -> Line:
    """Return the curve of a model, from the share on that is not too noisy."""
    curve, (colour, _) = answers.curve, styles[answers.model]
    shown = curve.n_accepted >= MIN_ANSWERS
    return Line(answers.model, colour, curve.share[shown], curve.accuracy[shown])


def _marks(answers: AcceptedAnswers, styles: ModelStyles) -> Line:
    """Return the guaranteed thresholds of a model as points."""
    colour, marker = styles[answers.model]
    x, y = np.array([(each.share, each.accuracy) for each in answers.guaranteed.values()]).T
    return Line(answers.model, colour, x, y, marker=marker)


def _texts(answers: AcceptedAnswers) -> Sequence[str]:
    """Return the tooltips of these points."""
    return [
        f"{answers.model}: at least {accuracy:.0%} right from {threshold_text(found)} on, {found.share:.0%} accepted"
        for accuracy, found in answers.guaranteed.items()
    ]
