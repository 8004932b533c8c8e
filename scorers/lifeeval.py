"""LifeEval, to score by path: ``inspect score LOG --scorer scorers/lifeeval.py``."""

from inspect_ai.scorer import Scorer, scorer

from confidence_tasks.harness.inspect.scoring import study_scorer
from confidence_tasks.studies.lifeeval import STUDY


@scorer(metrics=[])
def lifeeval_scorer() -> Scorer:
    """Return the study's scorer."""
    return study_scorer(STUDY)()
