"""FermiEval by repeated samples: the same question many times, at one or several temperatures.

Epstein, Winnicki, Sornwanee & Dwaraknath (2025), arXiv:2510.26995.
"""

from confidence_tasks.studies.fermieval.parameters import EXPONENT_PARAMETERS, PAPER, SUBSET_PARAMETERS
from confidence_tasks.studies.fermieval.replies import EXPONENTS, exponent_questions
from confidence_tasks.studies.fermieval.sampling import calls, measures, subject, trials
from confidence_tasks.studies.fermieval.trials import MEANINGS
from confidence_tasks.study import (
    STRUCTURED,
    Asking,
    ConditionRules,
    Design,
    Parameter,
    Pooling,
    Scoring,
    Simulation,
    Study,
    Viewer,
)

STUDY = Study(
    name="fermieval_sampling",
    module=__name__,
    title="FermiEval",
    paper=PAPER,
    stages=calls.sampling_stages,
    questions=exponent_questions,
    conditions=("interval", "exponent"),
    condition_rules=ConditionRules(parameter="ask", select=trials.sampling_conditions, label_of=str),
    asking=Asking(source="fermi", repeats_parameter="samples", metadata_keys=("split",)),
    read=trials.read_sample,
    viewer=Viewer(
        explain=trials.explain,
        status_descriptions=MEANINGS,
        short_condition=lambda label: label.removeprefix("interval,"),
    ),
    scoring=Scoring(metrics=measures.sampling_metrics),
    parameters=(
        Parameter(
            "ask",
            str | list[str],
            "interval",
            "What to sample: interval, direct (bare exponents), reasoned (exponents after reasoning), or exponent for "
            "the latter two, which gives the tunnel index.",
        ),
        Parameter(
            "samples",
            int,
            20,
            "Number of samples of each question under each condition; a level of 0.9 needs 20 for its quantiles.",
            low=2,
        ),
        Parameter(
            "temperatures",
            str | float | list[float],
            "1",
            "Temperatures above 0; one of several is chosen on the calibration half.",
        ),
        *EXPONENT_PARAMETERS,
        Parameter(
            "shortfall_weight",
            float,
            trials.SHORTFALL_WEIGHT,
            "Weight of the squared shortfall of coverage in the choice of the temperature: lambda of the paper's "
            "appendix F, which gives no value.",
            low=0.0,
        ),
        STRUCTURED,
    ),
    trial=trials.SampleTrial,
    domains=EXPONENTS,
    measures=measures.REPORTED_MEASURES,
    designs={
        "fermieval_sampling": Design(
            "FermiEval by sampling", "How often do single samples contain the truth, by temperature?"
        ),
    },
    headline_measures=("share_right", "parse_rate"),
    pooling=Pooling(subset_parameters=SUBSET_PARAMETERS | {"temperatures", "samples"}),
    simulation=Simulation(reply=subject.respond_sample),
    report=f"{__name__}.report:REPORT",
)
