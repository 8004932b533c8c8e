"""FermiEval by repeated samples: the same question many times, at one or several temperatures.

Epstein, Winnicki, Sornwanee & Dwaraknath (2025), arXiv:2510.26995.
"""

from confidence_tasks.studies.fermieval import PAPER, SUBSET_PARAMETERS
from confidence_tasks.studies.fermieval.prompts import EXPONENTS
from confidence_tasks.studies.fermieval_sampling import trials
from confidence_tasks.study import Design, LazyModule, Reference, Study

_checks = LazyModule("confidence_tasks.report.checks")
_consistency = LazyModule("confidence_tasks.studies.fermieval_sampling.report")
_lm_eval = LazyModule("confidence_tasks.studies.fermieval_sampling.lm_eval")
_report = LazyModule("confidence_tasks.studies.fermieval.report")

STUDY = Study(
    name="fermieval_sampling",
    module=__name__,
    title="FermiEval",
    paper=PAPER,
    scorer=Reference("confidence_tasks.studies.fermieval_sampling.trials", "fermieval_sampling_scorer"),
    trial=trials.SampleTrial,
    domains=EXPONENTS,
    ordered=(("lower", "upper"),),
    measures=trials.REPORTED_MEASURES,
    designs={
        "fermieval_sampling": Design(
            "FermiEval by sampling", "How often do single samples hold the truth, by temperature?"
        ),
    },
    columns=("lower", "upper", "truth"),
    headline=("share_right", "parse_rate"),
    figures=(_report.winkler_by_method, _consistency.tunnel_over_samples),
    tables=(_report.method_scores, _report.method_coverage, _consistency.self_consistency),
    checks=(_checks.READING, _report.no_temperature),
    subset_parameters=SUBSET_PARAMETERS | {"temperatures", "ask", "asks", "samples"},
    lm_eval=_lm_eval.GROUPS,
)
