"""The report of FermiEval by token probabilities."""

from confidence_tasks.report.figures.general import reliability
from confidence_tasks.report.study_report import StudyReport
from confidence_tasks.studies.fermieval.methods import method_coverage, method_scores

REPORT = StudyReport(
    figures=(reliability,),
    tables=(method_scores, method_coverage),
    replication="confidence_tasks.replications.fermieval:REPLICATION",
    power=(),
)
