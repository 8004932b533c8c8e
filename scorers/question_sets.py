"""The calibration question sets, to score by path: ``inspect score LOG --scorer scorers/question_sets.py``."""

from typing import Any

from inspect_ai.scorer import Scorer, scorer

from confidence_tasks.studies.question_sets import trials as study


@scorer(metrics=[])
def question_set_scorer(**options: Any) -> Scorer:
    """Return the study's scorer with the options given by ``-S``."""
    return study.question_set_scorer(**options)
