"""FermiEval by repeated samples, to score by path: ``inspect score LOG --scorer scorers/fermieval_sampling.py``."""

from inspect_ai.scorer import Scorer, scorer

from confidence_tasks.harness.inspect.scoring import study_scorer
from confidence_tasks.studies.fermieval.sampling import STUDY


@scorer(metrics=[])
def fermieval_sampling_scorer() -> Scorer:
    """Return the study's scorer."""
    return study_scorer(STUDY)()
