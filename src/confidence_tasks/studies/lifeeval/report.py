"""Figures, tables and checks of LifeEval, and the tables of its paper, which also covers the question sets.

arXiv:2605.23909, section 7.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np
import pandas as pd

from confidence_tasks.drawing import Colour
from confidence_tasks.logs.task_trials import Columns, ModelTrials
from confidence_tasks.report import checks
from confidence_tasks.report.figures import LegendEntry, Line, Panel, general, panel, panels
from confidence_tasks.report.figures.general import ModelStyles, figure_by_model
from confidence_tasks.report.groups import Group, split_by_source
from confidence_tasks.report.notices import check
from confidence_tasks.report.results import TaskResults
from confidence_tasks.report.study_report import StudyReport
from confidence_tasks.statistics import complete
from confidence_tasks.studies.lifeeval.best_guesses import best_guesses, maximum_scores
from confidence_tasks.studies.lifeeval.forms import REPLY_FORMS
from confidence_tasks.studies.lifeeval.measures import GROUPINGS, group_labels
from confidence_tasks.studies.lifeeval.people import overconfidence_and_people
from confidence_tasks.studies.lifeeval.replies import CONDITIONS

MEMORISED = 0.01
"""Mean distance between confidence and true probability below which a model seems to have memorised the table."""

_AGE_LINES = (
    ("mas", "best possible", Colour.MUTED),
    ("score", "score", Colour.RIGHT),
    ("confidence", "confidence", Colour.WRONG),
)


@figure_by_model(
    "by_age",
    "Score and confidence by age",
    "Mean over the sexes by minimum age: the score, which is the probability that the guess is within the radius, the"
    " stated confidence, and the best possible score of a guess.",
    keys=tuple(LegendEntry(label, colour) for _, label, colour in _AGE_LINES),
    grid=True,
)
def by_age(results: TaskResults, styles: ModelStyles, model: ModelTrials) -> Iterator[Panel]:
    """Draw score and confidence against the minimum age, by radius."""
    names = ["radius", "age", "sex", "correct", "confidence", "mas"]
    trials = pd.DataFrame({name: model.columns[name] for name in names}).rename(columns={"correct": "score"})
    by_sex = trials.groupby(["radius", "age", "sex"]).mean()
    for radius, means in by_sex.groupby(["radius", "age"]).mean().groupby("radius"):
        age = means.index.get_level_values("age").to_numpy(dtype=np.float64)
        lines = [Line(label, colour, age, means[name].to_numpy()) for name, label, colour in _AGE_LINES]
        yield panel(f"within {radius:g}", panels.over_range, lines=lines, x="age", y="")


@figure_by_model(
    "scatter",
    "Stated confidence and score",
    "Each dot is a trial. On the dashed line, confidence is equal to the score. Horizontal rows of dots are round"
    " confidences.",
)
def score_against_confidence(
    results: TaskResults, styles: ModelStyles, model: ModelTrials
) -> Iterator[Panel]:
    """Draw figure 7 of the paper: stated confidence against score, one dot per trial."""
    score, confidence = complete(model.columns["correct"], model.columns["confidence"])
    if len(score):
        labels, (colour, _) = ("score", "confidence"), styles[model.label]
        yield panel("", panels.scatter, x=score, y=confidence, colour=colour, labels=labels)


@check(
    "warning",
    "Confidence equal to the life table",
    "A confidence this close to the published probabilities shows that the model recalls the table. It does not show"
    " self-knowledge.",
)
def memorised_table(results: TaskResults) -> Iterator[str]:
    """Find models whose confidence is the true probability."""
    for model in results.models:
        correct, confidence = complete(model.columns["correct"], model.columns["confidence"])
        if len(correct) and (distance := np.abs(confidence - correct).mean()) < MEMORISED:
            yield f"{model.label}: mean distance {distance:.4f}"


@check(
    "serious",
    "Scores use different windows",
    "The trials use two definitions of a death within the radius, so that their scores cannot be compared. Report on"
    " one window at a time.",
)
def mixed_windows(results: TaskResults) -> Iterator[str]:
    """Find the windows of each model if there are several."""
    windows = {model.label: sorted(set(map(str, model.columns["window"]))) for model in results.models}
    if len(set(chain.from_iterable(windows.values()))) > 1:
        yield from (f"{label}: {', '.join(names)}" for label, names in windows.items())


def by_radius_sex_and_age(columns: Columns) -> list[Group]:
    """Group trials of LifeEval: all trials, then by radius, by sex and by band of the minimum age.

    Examples
    --------
    >>> columns = {"condition": ["radius=1"], "sex": ["male"], "age": [65.0], "source": ["lifeeval"]}
    >>> columns = {name: np.array(column) for name, column in columns.items()}
    >>> [(group.label, group.by) for group in by_radius_sex_and_age(columns)]
    [('all', 'all'), ('radius=1', 'radius'), ('sex=male', 'sex'), ('age=60-79', 'age')]
    """
    rows = zip(columns["condition"], columns["sex"], columns["age"], strict=True)
    trials = [{"condition": condition, "sex": sex, "age": age} for condition, sex, age in rows]
    radii = sorted({int(CONDITIONS.number(str(condition))) for condition in columns["condition"]})
    groups = []
    for by, labels in group_labels(radii).items():
        trial_labels = np.array([GROUPINGS[by](trial) for trial in trials], dtype=object)
        groups += [Group(label, by, split_by_source(columns, trial_labels == label)) for label in labels]
    return [group for group in groups if group.n]


REPORT = StudyReport(
    figures=(
        general.reliability_of_scores,
        overconfidence_and_people,
        by_age,
        maximum_scores,
        best_guesses,
        score_against_confidence,
    ),
    lead=general.reliability_of_scores,
    checks=(*checks.GENERAL, memorised_table, mixed_windows),
    grouping=by_radius_sex_and_age,
    replication="confidence_tasks.replications.lifeeval:REPLICATION",
    reply_forms=REPLY_FORMS,
    power=(),
)
