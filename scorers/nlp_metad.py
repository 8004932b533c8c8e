"""Log-probability metacognition, to score by path: ``inspect score LOG --scorer scorers/nlp_metad.py``."""

from typing import Any

from inspect_ai.scorer import Scorer, scorer

from confidence_tasks.studies.logprob_metacognition import scorer as study


@scorer(metrics=[])
def nlp_metad_scorer(**options: Any) -> Scorer:
    """Return the study's scorer with the options given by ``-S``."""
    return study.nlp_metad_scorer(**options)
