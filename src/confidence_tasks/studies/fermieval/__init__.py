"""FermiEval: an interval for an order of magnitude, at four nominal coverages.

Epstein, Winnicki, Sornwanee & Dwaraknath (2025), arXiv:2510.26995.
"""

from confidence_tasks.studies.fermieval import measures, trials
from confidence_tasks.studies.fermieval.prompts import EXPONENTS
from confidence_tasks.study import Design, LazyModule, Paper, Reference, Study

_checks = LazyModule("confidence_tasks.report.checks")
_lm_eval = LazyModule("confidence_tasks.studies.fermieval.lm_eval")
_power = LazyModule("confidence_tasks.studies.fermieval.power")
_replies = LazyModule("confidence_tasks.studies.fermieval.replies")
_replication = LazyModule("confidence_tasks.studies.fermieval.replication")
_report = LazyModule("confidence_tasks.studies.fermieval.report")
_sizes = LazyModule("confidence_tasks.studies.fermieval.sizes")
_theory = LazyModule("confidence_tasks.studies.fermieval.theory")
_subject = LazyModule("confidence_tasks.studies.fermieval.subject")

PAPER = Paper("Epstein, Winnicki, Sornwanee & Dwaraknath", 2025, "2510.26995")

SUBSET_PARAMETERS = frozenset({"levels", "split", "n", "mirror"})

STUDY = Study(
    name="fermieval",
    module=__name__,
    title="FermiEval",
    paper=PAPER,
    scorer=Reference("confidence_tasks.studies.fermieval.trials", "fermieval_scorer"),
    trial=trials.IntervalTrial,
    measures=measures.MEASURES,
    designs={
        "fermieval": Design("FermiEval", "Do intervals hold the truth as often as they were asked to?"),
    },
    columns=("lower", "upper", "truth", "winkler"),
    headline=(
        "coverage_gap",
        "coverage",
        "conformal_coverage",
        "conformal_jackknife_coverage",
        "mean_width",
        "winkler",
        "conformal_winkler",
        "conformal_jackknife_winkler",
    ),
    condition_numbers=_report.level_column,
    domains=EXPONENTS,
    ordered=(("lower", "upper"),),
    figures=(
        _report.calibration,
        _sizes.gap_by_size,
        _report.winkler_by_method,
        _theory.tunnels,
        _theory.stated_ends,
        _theory.truths,
    ),
    tables=(
        _sizes.by_size,
        _report.method_scores,
        _report.paper_scores,
        _report.method_coverage,
        _theory.perception,
    ),
    checks=(_checks.READING, _report.degenerate, _report.no_calibration_half),
    subset_parameters=SUBSET_PARAMETERS,
    # All questions are then judged, each by the others: beside a calibration half they would count for both.
    protocol_values=frozenset({("split", "cross")}),
    responders=_subject.RESPONDERS,
    true_values=_subject.true_values,
    reply_forms=_replies.REPLY_FORMS,
    power=_power.POWER,
    replication=_replication.REPLICATION,
    lm_eval=_lm_eval.GROUPS,
)
