"""LifeEval, to score by path: ``inspect score LOG --scorer scorers/lifeeval.py``."""

from typing import Any

from inspect_ai.scorer import Scorer, scorer

from confidence_tasks.studies.lifeeval import trials as study


@scorer(metrics=[])
def lifeeval_scorer(**options: Any) -> Scorer:
    """Return the study's scorer with the options given by ``-S``."""
    return study.lifeeval_scorer(**options)
