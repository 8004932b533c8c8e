"""FermiEval by repeated samples, to score by path: ``inspect score LOG --scorer scorers/fermieval_sampling.py``."""

from typing import Any

from inspect_ai.scorer import Scorer, scorer

from confidence_tasks.studies.fermieval_sampling import trials as study


@scorer(metrics=[])
def fermieval_sampling_scorer(**options: Any) -> Scorer:
    """Return the study's scorer with the options given by ``-S``."""
    return study.fermieval_sampling_scorer(**options)
