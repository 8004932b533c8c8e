"""Confidence scales: an answer, and a confidence on one of 13 scales.

Dai (2026), arXiv:2603.09309.
"""

from confidence_tasks.studies.scales import trials
from confidence_tasks.study import BINARY, Design, LazyModule, Paper, Reference, Study

_checks = LazyModule("confidence_tasks.report.checks")
_general = LazyModule("confidence_tasks.report.figures.general")
_lm_eval = LazyModule("confidence_tasks.studies.scales.lm_eval")
_replication = LazyModule("confidence_tasks.studies.scales.replication")
_power = LazyModule("confidence_tasks.studies.scales.power")
_replies = LazyModule("confidence_tasks.studies.scales.replies")
_report = LazyModule("confidence_tasks.studies.scales.report")
_subject = LazyModule("confidence_tasks.studies.scales.subject")

STUDY = Study(
    name="scales",
    module=__name__,
    title="Confidence scales",
    paper=Paper("Dai", 2026, "2603.09309"),
    scorer=Reference("confidence_tasks.studies.scales.trials", "scale_scorer"),
    trial=trials.ScaleTrial,
    measures=trials.MEASURES,
    designs={
        "scale_granularity": Design(
            "Granularity", "Does the number of steps on the scale matter?", baseline="0-100"
        ),
        "scale_boundary": Design(
            "Boundary placement", "Does the model use a scale whose lower bound is raised?", baseline="0-100"
        ),
        "scale_nonstandard": Design(
            "Non-standard ranges", "Does the model heed odd bounds?", baseline="0-100"
        ),
    },
    columns=("confidence_raw",),
    headline=("mratio", "auroc", "ece", "accuracy", "parse_rate"),
    condition_numbers=_report.bounds_of,
    domains={"correct": BINARY},
    tested=("mratio", "meta_d", "auroc", "meta_information", "ece", "brier", "accuracy"),
    witnesses={"mratio": ("auroc", "meta_information")},
    figures=(
        _report.histograms,
        _report.discretisation_profile,
        _general.reliability,
        _general.type2_roc,
        _general.selective,
        _report.efficiency_space,
        _report.ece_by_bins,
    ),
    tables=(_report.discretisation,),
    checks=(_checks.GENERAL, _report.unstable_m_ratio),
    subset_parameters=frozenset({"scales", "sources", "n", "mirror"}),
    responders=_subject.RESPONDERS,
    true_values=_subject.true_values,
    reply_forms=_replies.REPLY_FORMS,
    power=_power.POWER,
    replication=_replication.REPLICATION,
    lm_eval=_lm_eval.GROUPS,
)
