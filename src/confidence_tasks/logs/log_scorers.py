"""The scorers of this package that a log names, and the metrics that they have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from inspect_ai.log import EvalLog
from inspect_ai.scorer import Scorer

from confidence_tasks.catalogue import studies
from confidence_tasks.harness.inspect.metrics import condition_summary, reference_of
from confidence_tasks.harness.inspect.scoring import make_scorer
from confidence_tasks.logs.log_contents import SampleSummary
from confidence_tasks.logs.log_scores import scorer_name
from confidence_tasks.logs.trial_files import NotTrialsError


def scorers_of_log(log: EvalLog) -> list[Scorer]:
    """Return the scorers of this package that the log names, with their options in the log."""
    known = {study.scorer_name: make_scorer(study) for study in studies()}
    named = [(scorer_name(spec.name), spec.options or {}) for spec in log.eval.scorers or []]
    scorers = [known[name](**options) for name, options in named if name in known]
    if not scorers:
        raise NotTrialsError(f"task {log.eval.task} was scored by none of {', '.join(sorted(known))}")
    return scorers


def log_every_measure(log: EvalLog, samples: Sequence[SampleSummary]) -> None:
    """Let the metrics of a log compute all measures; metrics of older logs are replaced by those by condition."""
    specs = log.eval.metrics if isinstance(log.eval.metrics, list) else []
    for logged in (spec for spec in specs if not isinstance(spec, dict)):
        options = logged.options or {}
        if "summary" not in options:
            logged.name = "confidence_tasks/study_metrics"
            options = _options_by_condition(log, samples)
        logged.options = {**options, "measures": None, "overall": []}


def _options_by_condition(log: EvalLog, samples: Sequence[SampleSummary]) -> dict[str, Any]:
    """Return the options of metrics by condition, for the study that scored a log."""
    names = {scorer_name(spec.name) for spec in log.eval.scorers or []}
    study = next(study for study in studies() if study.scorer_name in names)
    conditions = dict.fromkeys(each.metadata.condition for each in samples if each.metadata)
    return {
        "summary": reference_of(condition_summary),
        "arguments": {"study": study.address, "conditions": list(conditions)},
    }
