"""FermiEval, to score by path: ``inspect score LOG --scorer scorers/fermieval.py``."""

from typing import Any

from inspect_ai.scorer import Scorer, scorer

from confidence_tasks.studies.fermieval import trials as study


@scorer(metrics=[])
def fermieval_scorer(**options: Any) -> Scorer:
    """Return the study's scorer with the options given by ``-S``."""
    return study.fermieval_scorer(**options)
