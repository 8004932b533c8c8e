"""FermiEval by token probabilities, to score by path: ``inspect score LOG --scorer scorers/fermieval_logprob.py``."""

from inspect_ai.scorer import Scorer, scorer

from confidence_tasks.harness.inspect.scoring import study_scorer
from confidence_tasks.studies.fermieval.logprob import STUDY


@scorer(metrics=[])
def fermieval_logprob_scorer() -> Scorer:
    """Return the study's scorer."""
    return study_scorer(STUDY)()
