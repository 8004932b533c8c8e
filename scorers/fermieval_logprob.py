"""FermiEval by token probabilities, to score by path: ``inspect score LOG --scorer scorers/fermieval_logprob.py``."""

from typing import Any

from inspect_ai.scorer import Scorer, scorer

from confidence_tasks.studies.fermieval_logprob import trials as study


@scorer(metrics=[])
def fermieval_logprob_scorer(**options: Any) -> Scorer:
    """Return the study's scorer with the options given by ``-S``."""
    return study.fermieval_logprob_scorer(**options)
