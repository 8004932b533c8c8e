"""The calibration question sets, to score by path: ``inspect score LOG --scorer scorers/question_sets.py``."""

from inspect_ai.scorer import Scorer, scorer

from confidence_tasks.harness.inspect.scoring import study_scorer
from confidence_tasks.studies.lifeeval.question_sets import STUDY


@scorer(metrics=[])
def question_set_scorer() -> Scorer:
    """Return the study's scorer."""
    return study_scorer(STUDY)()
