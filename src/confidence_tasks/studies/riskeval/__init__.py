"""RiskEval: answer or abstain, with a penalty for a wrong answer.

Wang, Zhou, Devic & Fu (2026), arXiv:2601.07767.
"""

from confidence_tasks.studies.riskeval import measures
from confidence_tasks.studies.riskeval.trials import RiskTrial
from confidence_tasks.study import BINARY, Design, Domain, LazyModule, Paper, Reference, Study

_checks = LazyModule("confidence_tasks.report.checks")
_general = LazyModule("confidence_tasks.report.figures.general")
_instruments = LazyModule("confidence_tasks.studies.riskeval.instruments")
_lm_eval = LazyModule("confidence_tasks.studies.riskeval.lm_eval")
_paper_figures = LazyModule("confidence_tasks.studies.riskeval.paper_figures")
_power = LazyModule("confidence_tasks.studies.riskeval.power")
_replication = LazyModule("confidence_tasks.studies.riskeval.replication")
_replies = LazyModule("confidence_tasks.studies.riskeval.replies")
_report = LazyModule("confidence_tasks.studies.riskeval.report")
_subject = LazyModule("confidence_tasks.studies.riskeval.subject")

STUDY = Study(
    name="riskeval",
    module=__name__,
    title="RiskEval",
    paper=Paper("Wang, Zhou, Devic & Fu", 2026, "2601.07767"),
    scorer=Reference("confidence_tasks.studies.riskeval.trials", "riskeval_scorer"),
    trial=RiskTrial,
    measures=measures.MEASURES + measures.COUNTS,
    designs={
        "riskeval": Design(
            "RiskEval",
            "Does the model act on its confidence when wrong answers cost more?",
            baseline="lambda=0",
            reference="all",
        ),
    },
    columns=("decision", "utility", "regret"),
    headline=(
        "policy_consistency",
        "normalized_utility",
        "normalized_scaffold_gain",
        "abstention_rate",
        "accuracy_answered",
        "ece",
    ),
    tested=("abstention_rate", "confidence", "ece", "auarc", "brier"),
    pooled=measures.OVER_PENALTIES,
    condition_numbers=_report.penalty_column,
    domains={
        "outcome": Domain(0.0, 1.0),
        **dict.fromkeys(("answered", "available", "same_decision", "same_answer", "same_confidence"), BINARY),
    },
    grouping=_report.by_penalty_and_regime,
    figures=(
        _report.decisions,
        _report.utilities,
        _report.thresholds,
        _general.reliability_overall,
        _general.selective_overall,
        _paper_figures.FIGURES,
    ),
    tables=(_report.over_all_penalties, _report.over_high_penalties, _report.rules_and_parser),
    checks=(_checks.GENERAL, _report.never_or_always, _report.without_confidence),
    subset_parameters=frozenset({"source", "penalties", "n", "mirror"}),
    responders=_subject.RESPONDERS,
    true_values=_subject.true_values,
    instruments=_instruments.RESPONDERS,
    reply_forms=_replies.REPLY_FORMS,
    power=_power.POWER,
    replication=_replication.REPLICATION,
    lm_eval=_lm_eval.GROUPS,
)
