"""FermiEval by token probabilities: an exponent asked for as a bare integer.

Epstein, Winnicki, Sornwanee & Dwaraknath (2025), arXiv:2510.26995.
"""

from confidence_tasks.reading.token_probabilities import ROUNDING
from confidence_tasks.studies.fermieval.logprob import measures, replies, subject, trials
from confidence_tasks.studies.fermieval.logprob.distribution import check_distribution
from confidence_tasks.studies.fermieval.parameters import EXPONENT_PARAMETERS, PAPER, SUBSET_PARAMETERS
from confidence_tasks.studies.fermieval.replies import EXPONENTS, exponent_questions
from confidence_tasks.study import (
    BINARY,
    Asking,
    Design,
    Domain,
    Parameter,
    Pooling,
    Scoring,
    Simulation,
    Study,
    Viewer,
)

STUDY = Study(
    name="fermieval_logprob",
    module=__name__,
    title="FermiEval",
    paper=PAPER,
    stages=replies.logprob_stages,
    questions=exponent_questions,
    conditions=(trials.CONDITION,),
    asking=Asking(source="fermi", metadata_keys=("split",)),
    read=trials.read_tokens,
    viewer=Viewer(explain=trials.explain, status_descriptions=trials.MEANINGS, columns=("integer_mass",)),
    scoring=Scoring(metrics=measures.logprob_metrics),
    parameters=(
        *EXPONENT_PARAMETERS,
        Parameter("top_logprobs", int, 20, "Number of alternatives to each token.", low=2, high=20),
    ),
    trial=trials.DistributionTrial,
    domains={
        "truth": EXPONENTS["truth"],
        "correct": BINARY,
        "integer_mass": Domain(0.0, 1.0 + ROUNDING),
        "distribution": Domain(check=check_distribution),
    },
    measures=measures.REPORTED_MEASURES,
    designs={
        "fermieval_logprob": Design(
            "FermiEval by token probabilities", "Is the first token’s distribution over exponents calibrated?"
        ),
    },
    headline_measures=("accuracy", "confidence", "ece", "integer_mass", "parse_rate"),
    pooling=Pooling(subset_parameters=SUBSET_PARAMETERS),
    simulation=Simulation(reply=subject.respond_exponent, true_values=subject.true_values_of_tokens),
    report=f"{__name__}.report:REPORT",
)
