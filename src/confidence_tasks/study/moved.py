"""Where the fields of a study of version 0.1 are now. For one release, the old names work, with a warning."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from confidence_tasks.study.records import Asking, ConditionRules, Pooling, Scoring, Simulation, Viewer

RECORDS: Mapping[str, Any] = {
    "asking": Asking(),
    "condition_rules": ConditionRules(),
    "scoring": Scoring(),
    "viewer": Viewer(),
    "pooling": Pooling(),
    "simulation": Simulation(),
}
"""The records of a study with their defaults, by the name of its field."""

MOVED: Mapping[str, str] = {
    "source": "asking.source",
    "offline_source": "asking.offline_source",
    "repeats_parameter": "asking.repeats_parameter",
    "metadata_keys": "asking.metadata_keys",
    "worked_example": "asking.worked_example",
    "condition_parameter": "condition_rules.parameter",
    "select_conditions": "condition_rules.select",
    "read_condition": "condition_rules.label_of",
    "condition_of": "condition_rules.of_question",
    "condition_columns": "condition_rules.columns",
    "scorer": "scoring.scorer",
    "scorer_options": "scoring.options",
    "scorer_roles": "scoring.roles",
    "metrics": "scoring.metrics",
    "viewer_columns": "viewer.columns",
    "short_condition": "viewer.short_condition",
    "explain": "viewer.explain",
    "status_descriptions": "viewer.status_descriptions",
    "subset_parameters": "pooling.subset_parameters",
    "protocol_values": "pooling.protocol_values",
    "simulate_reply": "simulation.reply",
    "true_values": "simulation.true_values",
    "simulated_roles": "simulation.roles",
}
"""Record and field by the name of a field of ``Study`` in version 0.1."""

REPORT_FIELDS = frozenset(
    {
        "analysis",
        "checks",
        "corroborating_measures",
        "cross_condition_distributions",
        "figures",
        "grouping",
        "overviews",
        "power",
        "replication",
        "reply_forms",
        "tables",
    }
)
"""Arguments of ``Study`` in version 0.1 that are arguments of ``StudyReport`` now."""


def with_current_names(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of ``Study`` with those of version 0.1 where they are now, and warn of them."""
    current = dict(arguments)
    if of_report := {name: current.pop(name) for name in arguments if name in REPORT_FIELDS}:
        _warn_of_report(of_report)
        current["report"] = of_report
    if moved := {name: current.pop(name) for name in arguments if name in MOVED}:
        current.update(_records_with(moved, current))
        _warn_of_moved(moved)
    return current


def moved_attribute(study: Any, name: str) -> Any:
    """Return a field of a study by its name in version 0.1; AttributeError if there was none of that name."""
    if name not in MOVED:
        raise AttributeError(
            f"{type(study).__name__!r} object has no attribute {name!r}", name=name, obj=study
        )
    record, _, field = MOVED[name].partition(".")
    warnings.warn(
        f"study.{name} is not supported from the next release: write study.{MOVED[name]}",
        DeprecationWarning,
        stacklevel=3,
    )
    return getattr(getattr(study, record), field)


def _records_with(moved: Mapping[str, Any], current: Mapping[str, Any]) -> dict[str, Any]:
    """Return the records among the current arguments, or their defaults, with the values of the moved ones."""
    records: dict[str, Any] = {}
    for name, value in moved.items():
        record, _, field = MOVED[name].partition(".")
        before = records.get(record) or current.get(record, RECORDS[record])
        records[record] = replace(before, **{field: value})
    return records


def _warn_of_moved(moved: Mapping[str, Any]) -> None:
    by_record: dict[str, list[str]] = {}
    for name in moved:
        record, _, field = MOVED[name].partition(".")
        by_record.setdefault(record, []).append(f"{field}=...")
    written = ", ".join(
        f"{record}={type(RECORDS[record]).__name__}({', '.join(fields)})"
        for record, fields in by_record.items()
    )
    named = ", ".join(f"{name}=..." for name in moved)
    warnings.warn(
        f"Study({named}) is not supported from the next release: write Study({written})",
        DeprecationWarning,
        stacklevel=4,
    )


def _warn_of_report(fields: Mapping[str, Any]) -> None:
    named = ", ".join(f"{name}=..." for name in fields)
    warnings.warn(
        f"Study({named}) is not supported from the next release: write REPORT = StudyReport({named}), of"
        ' confidence_tasks.report.study_report, into report.py, and Study(report=f"{__name__}.report:REPORT")',
        DeprecationWarning,
        stacklevel=4,
    )
