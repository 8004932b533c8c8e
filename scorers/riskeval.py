"""RiskEval, to score by path: ``inspect score LOG --scorer scorers/riskeval.py``."""

from typing import Any

from inspect_ai.scorer import Scorer, scorer

from confidence_tasks.studies.riskeval import scorer as study


@scorer(metrics=[])
def riskeval_scorer(**options: Any) -> Scorer:
    """Return the study's scorer with the options given by ``-S``."""
    return study.riskeval_scorer(**options)
