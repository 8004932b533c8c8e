"""What a study adds to the report: figures, tables and checks, forms of files with replies, and power analysis."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pkgutil import resolve_name
from typing import Any

from confidence_tasks.study.definition import Study
from confidence_tasks.study.legacy import loaded
from confidence_tasks.study.parameter import did_you_mean


@dataclass(frozen=True, kw_only=True)
class StudyReport:
    """The report of a study. A study names it as ``Study.report``, and it is imported when a report is made.

    Attributes
    ----------
    figures : tuple of callable, optional
        Functions that draw the figures of the report; by default those of
        :data:`confidence_tasks.report.figures.general.GENERAL`.
    lead : callable, optional
        The function of ``figures`` whose figure answers the study's question. The page shows it open, above the
        measures. By default the first one for a task with one condition, and none for a task with several, whose
        headline measure is drawn over the conditions.
    tables : tuple of callable
        Functions that make tables of the report, beside the table of measures.
    checks : tuple of callable, optional
        Functions that find reasons to doubt the results, which the report prints as warnings; by default those of
        :data:`confidence_tasks.report.checks.GENERAL`.
    grouping : callable, optional
        ``grouping(columns)`` returns the groups of trials that the tables have as rows; by default one per condition.
    cross_condition_distributions : callable, optional
        ``cross_condition_distributions(columns, subsets, settings)`` returns the resampling distributions of the
        measures that depend on trials of other conditions, for example by the edges of bins, like
        :func:`~confidence_tasks.report.estimates.distributions.distributions`. The metrics of a log are computed
        without it.
    analysis : callable, optional
        ``analysis(trials, settings)`` returns what several tables and figures of the study use. It is computed once per
        task, from the trials of all models.
    corroborating_measures : mapping of str to tuple of str
        For a tested measure that depends on a confidence threshold: tested measures that do not depend on one. The
        report says whether one of these differs significantly in the same direction.
    overviews : tuple of OverviewDesign
        Tables that compare tasks of several studies (:class:`~confidence_tasks.report.extra_tables.OverviewDesign`).
    replication : str, optional
        Where the study's paper is, such as ``"my_study.paper:REPLICATION"``: a
        :class:`~confidence_tasks.report.paper.Replication`, or a tuple of one for each version of the paper. All
        studies of a paper name it.
    reply_forms : mapping of str to ReplyForm, optional
        How files with replies are scored without a model (:class:`~confidence_tasks.report.reply_forms.ReplyForm`),
        by the name that ``score --study`` takes. By default there is one form, for studies with a single call.
    power : tuple of PowerDesign, optional
        Designs for power analysis (:class:`~confidence_tasks.simulation.power_design.PowerDesign`); empty for none. By
        default the trials are simulated as right or wrong answers with a confidence.
    """

    figures: tuple[Callable[..., Any], ...] | None = None
    lead: Callable[..., Any] | None = None
    tables: tuple[Callable[..., Any], ...] = ()
    checks: tuple[Callable[..., Any], ...] | None = None
    grouping: Callable[..., Any] | None = None
    cross_condition_distributions: Callable[..., Any] | None = None
    analysis: Callable[..., Any] | None = None
    corroborating_measures: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    overviews: tuple[Any, ...] = ()
    replication: Any = ()
    reply_forms: Mapping[str, Any] | None = None
    power: tuple[Any, ...] | None = None

    @property
    def replications(self) -> tuple[Any, ...]:
        """The replications of the paper, of which there may be none."""
        # A study of version 0.1 has the replication itself.
        found = resolve_name(self.replication) if isinstance(self.replication, str) else self.replication
        return found if isinstance(found, tuple) else (found,)


@cache
def study_report(study: Study) -> StudyReport:
    """Return the report that a study names, or the general one.

    Raises ValueError if a name among its ``corroborating_measures`` is no measure of the study, and TypeError if the
    study names something else.
    """
    if isinstance(study.report, str):
        report = resolve_name(study.report) if study.report else StudyReport()
    else:
        report = StudyReport(**loaded(study.report))
    if not isinstance(report, StudyReport):
        raise TypeError(f"study {study.name}: {study.report} is a {type(report).__name__}, not a StudyReport")
    corroborating = report.corroborating_measures
    known = study.measures_by_name
    for name in (*corroborating, *sum(corroborating.values(), ())):
        if name not in known:
            raise ValueError(
                f"study {study.name}: corroborating_measures names an unknown measure,"
                f" {name!r}{did_you_mean(name, known)}"
            )
    return report
