"""LifeEval and the calibration question sets over models: the paper's tables from trials.

A table of trials has one row a trial, the columns of the study's trial record, and a column ``model``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from confidence_tasks.report.groups import Columns, Group, split_by_source
from confidence_tasks.statistics import ece, overconfidence
from confidence_tasks.statistics.calibration import hard_easy_regression
from confidence_tasks.studies.lifeeval.trials import GROUPINGS, group_labels


def common_subset(trials: pd.DataFrame) -> pd.DataFrame:
    """Keep the questions that every model answered with a confidence, so that models are compared on the same ones.

    A question under two conditions counts as two. The paper compares models so (appendix B); it leaves 751 of the 808
    questions of LifeEval. Trials stay in the same order.

    Examples
    --------
    >>> trials = pd.DataFrame(
    ...     {
    ...         "model": ["a", "a", "b", "b"],
    ...         "question_id": ["q-1", "q-2", "q-1", "q-2"],
    ...         "condition": "radius=1",
    ...         "correct": [0.1, 0.2, 0.3, float("nan")],
    ...         "confidence": 0.5,
    ...     }
    ... )
    >>> list(common_subset(trials)["question_id"])
    ['q-1', 'q-1']
    """
    keys = ["question_id", "condition"]
    answered = trials.dropna(subset=["correct", "confidence"])
    models = answered.groupby(keys)["model"].nunique()
    common = models.index[models == trials["model"].nunique()]
    return answered[pd.MultiIndex.from_frame(answered[keys]).isin(common)]


def radius_of(condition: str) -> int:
    """Return the radius that a condition asks for; ValueError if it is none.

    Examples
    --------
    >>> radius_of("radius=5")
    5
    """
    name, _, radius = condition.partition("=")
    if name != "radius" or not radius.isdecimal():
        raise ValueError("write radius=5")
    return int(radius)


def by_radius_sex_and_age(columns: Columns) -> list[Group]:
    """Group trials of LifeEval: all of them, then by radius, by sex and by band of the minimum age.

    Examples
    --------
    >>> columns = {"condition": ["radius=1"], "sex": ["male"], "age": [65.0], "source": ["lifeeval"]}
    >>> columns = {name: np.array(column) for name, column in columns.items()}
    >>> [(group.label, group.by) for group in by_radius_sex_and_age(columns)]
    [('all', 'all'), ('radius=1', 'radius'), ('sex=male', 'sex'), ('age=60-79', 'age')]
    """
    told = zip(columns["condition"], columns["sex"], columns["age"], strict=True)
    rows = [{"condition": condition, "sex": sex, "age": age} for condition, sex, age in told]
    radii = sorted({radius_of(str(condition)) for condition in columns["condition"]})
    groups = []
    for by, labels in group_labels(radii).items():
        of_rows = np.array([GROUPINGS[by](row) for row in rows], dtype=object)
        groups += [
            Group(label, by, split_by_source(columns, np.asarray(of_rows == label))) for label in labels
        ]
    return [group for group in groups if group.n]


def hard_easy_table(trials: pd.DataFrame, *, level: float = 0.95) -> pd.DataFrame:
    """Regress each model's overconfidence on the difficulty of the questions, as in table 2 of the paper.

    One row a model: ``model``, ``slope``, ``low``, ``high``, ``standard_error``, ``intercept``, ``n``. The interval
    allows for unequal variances (HC3).
    """
    rows = []
    for model, group in trials.groupby("model", sort=False):
        kept = group.dropna(subset=["correct", "confidence"])
        line = hard_easy_regression(
            kept["correct"],
            kept["confidence"],
            kept["difficulty"],
            questions=kept["question_id"],
            level=level,
        )
        shown = {
            name: float(getattr(line, name))
            for name in ("slope", "low", "high", "standard_error", "intercept")
        }
        rows.append({"model": model, **shown, "n": line.n})
    return pd.DataFrame(rows)


def stated_against_token(trials: pd.DataFrame) -> pd.DataFrame:
    """Compare stated confidence with token probabilities, on the trials that have both.

    One row a model and source: ``confidence``, ``ece`` and ``overconfidence``, each ``stated_`` and ``token_``, and
    ``n``. A model without token probabilities has none. ``token_correct`` is read where there is one, else
    ``correct``.
    """
    judged = "token_correct" if "token_correct" in trials else "correct"
    rows = []
    for (model, source), group in trials.groupby(["model", "source"], sort=False):
        kept = group.dropna(subset=["correct", "confidence", judged, "token_confidence"])
        row: dict[str, Any] = {"model": model, "source": source, "n": len(kept)}
        for name, correct, confidence in (
            ("stated", "correct", "confidence"),
            ("token", judged, "token_confidence"),
        ):
            pair = kept[correct], kept[confidence]
            row[f"{name}_confidence"] = float(kept[confidence].mean())
            row[f"{name}_ece"] = float(ece(*pair))
            row[f"{name}_overconfidence"] = float(overconfidence(*pair))
        rows.append(row)
    return pd.DataFrame(rows)
