"""The report of FermiEval by repeated samples."""

from confidence_tasks.report.checks import READING
from confidence_tasks.report.study_report import StudyReport
from confidence_tasks.studies.fermieval.methods import method_coverage, method_scores, no_temperature
from confidence_tasks.studies.fermieval.tunnel import self_consistency, tunnel_over_samples

REPORT = StudyReport(
    figures=(tunnel_over_samples,),
    tables=(method_scores, method_coverage, self_consistency),
    checks=(*READING, no_temperature),
    replication="confidence_tasks.replications.fermieval:REPLICATION",
    power=(),
)
