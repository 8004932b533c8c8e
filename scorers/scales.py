"""Confidence scales, to score by path: ``inspect score LOG --scorer scorers/scales.py``."""

from typing import Any

from inspect_ai.scorer import Scorer, scorer

from confidence_tasks.harness.inspect.scoring import study_scorer
from confidence_tasks.studies.scales import STUDY


@scorer(metrics=[])
def scale_scorer(**options: Any) -> Scorer:
    """Return the study's scorer with the options given by ``-S``."""
    return study_scorer(STUDY)(**options)
