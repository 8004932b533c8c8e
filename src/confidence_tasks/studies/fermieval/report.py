"""FermiEval's report: coverage against nominal coverage, methods side by side, and checks.

Epstein, Winnicki, Sornwanee & Dwaraknath (2025), arXiv:2510.26995, figures 1 and 2.
"""

from __future__ import annotations

from collections.abc import Iterator

from confidence_tasks.report import checks
from confidence_tasks.report.extra_tables import trials_frame
from confidence_tasks.report.figures import Figure, panel, panels
from confidence_tasks.report.figures.general import ModelStyles
from confidence_tasks.report.notices import check
from confidence_tasks.report.results import TaskResults
from confidence_tasks.report.study_report import StudyReport
from confidence_tasks.studies.fermieval import tunnel
from confidence_tasks.studies.fermieval.coverage_figures import calibration, paper_calibration
from confidence_tasks.studies.fermieval.forms import REPLY_FORMS
from confidence_tasks.studies.fermieval.methods import (
    method_coverage,
    method_scores,
    paper_coverage,
    paper_scores,
    reductions,
)
from confidence_tasks.studies.fermieval.power import POWER
from confidence_tasks.studies.fermieval.replies import CALIBRATION, TEST


@check(
    "note",
    "One half of the questions is missing",
    "Measures are computed on the test half; without it there are none. Without the calibration half, each interval"
    " is adjusted by all other questions (jackknife+).",
)
def no_calibration_half(results: TaskResults) -> Iterator[str]:
    """Yield the models without questions of one half."""
    for model in results.models:
        missing = {CALIBRATION, TEST} - set(model.columns["split"])
        yield from (f"{model.label}: no {half} questions" for half in sorted(missing))


def truths(results: TaskResults, styles: ModelStyles) -> Figure:
    """Draw figure 6 of the paper: the distribution of the true exponents of the questions, from -20 to 40."""
    low, high = -20, 40
    trials = trials_frame(results.task_trials)
    values = trials.drop_duplicates("question_id", keep="last")["truth"].to_numpy()
    inside = values[(values >= low) & (values <= high)]
    histogram = panel("", panels.counts, values=inside, low=low, high=high, x="exponent", y="questions")
    return Figure(
        f"{results.task_trials.slug}_truths",
        "True exponents",
        f"Number of questions by true exponent. The {len(inside):,} of {len(values):,} questions from {low} to {high}"
        " are shown.",
        (("", (histogram,) if len(inside) else ()),),
        size=(5.0, 2.2),
    )


REPORT = StudyReport(
    figures=(calibration, paper_calibration, tunnel.tunnels, tunnel.stated_ends, truths),
    lead=calibration,
    tables=(method_scores, paper_scores, reductions, method_coverage, paper_coverage, tunnel.perception),
    checks=(*checks.READING, no_calibration_half),
    replication="confidence_tasks.replications.fermieval:REPLICATION",
    reply_forms=REPLY_FORMS,
    power=(POWER,),
)
