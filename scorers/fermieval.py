"""FermiEval, to score by path: ``inspect score LOG --scorer scorers/fermieval.py``."""

from inspect_ai.scorer import Scorer, scorer

from confidence_tasks.harness.inspect.scoring import study_scorer
from confidence_tasks.studies.fermieval import STUDY


@scorer(metrics=[])
def fermieval_scorer() -> Scorer:
    """Return the study's scorer."""
    return study_scorer(STUDY)()
