"""Log-probability metacognition: the mean log-probability of an answer's tokens as confidence.

Cacioli (2026), arXiv:2603.25112.
"""

from confidence_tasks.studies.logprob_metacognition import trials
from confidence_tasks.study import BINARY, Design, Domain, LazyModule, Paper, Reference, Study

_checks = LazyModule("confidence_tasks.report.checks")
_figures = LazyModule("confidence_tasks.studies.logprob_metacognition.figures")
_general = LazyModule("confidence_tasks.report.figures.general")
_lm_eval = LazyModule("confidence_tasks.studies.logprob_metacognition.lm_eval")
_power = LazyModule("confidence_tasks.studies.logprob_metacognition.power")
_replication = LazyModule("confidence_tasks.studies.logprob_metacognition.replication")
_report = LazyModule("confidence_tasks.studies.logprob_metacognition.report")
_subject = LazyModule("confidence_tasks.studies.logprob_metacognition.subject")

STUDY = Study(
    name="nlp_metad",
    module=__name__,
    title="Log-probability metacognition",
    paper=Paper("Cacioli", 2026, "2603.25112"),
    scorer=Reference("confidence_tasks.studies.logprob_metacognition.trials", "nlp_metad_scorer"),
    trial=trials.LogprobTrial,
    measures=trials.MEASURES,
    designs={
        "nlp_metad": Design(
            "Log-probability metacognition",
            "Does the log-probability of a short answer tell whether it is right?",
            reference="T=1",
        ),
    },
    columns=("mean_logprob", "match", "domain"),
    headline=("meta_information", "auroc2", "z_roc_slope", "d_a", "accuracy_50", "accuracy", "mratio_v1"),
    condition_numbers=_report.temperature_column,
    domains={
        "correct": BINARY,
        **dict.fromkeys(("mean_logprob", "gold_mean_logprob"), Domain(-1e6, 1e6)),
        "domain": Domain(needed=True),
    },
    figures=(
        _figures.by_quarter,
        _general.type2_roc,
        _general.selective,
        _figures.by_domain,
        _figures.efficiency_space,
        _figures.by_temperature,
        _figures.criterion_by_temperature,
        _figures.robustness,
    ),
    tables=(
        _report.verdicts,
        _report.valid_measures,
        _report.quarters,
        _report.by_domain,
        _report.by_temperature,
        _report.version_1,
        _report.rankings,
        _report.other_bins,
    ),
    checks=(
        _checks.GENERAL,
        _report.m_ratio_by_construction,
        _report.unequal_variance,
        _report.no_reference_temperature,
    ),
    subset_parameters=frozenset({"source", "temperatures", "n", "mirror"}),
    resampler=_report.resample_all,
    responders=_subject.RESPONDERS,
    true_values=_subject.true_values,
    power=_power.POWER,
    replication=_replication.REPLICATION,
    lm_eval=_lm_eval.GROUPS,
)
