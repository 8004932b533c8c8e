"""Replies in logs read anew, and every metric computed again, without a model, a key or a network."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from os import PathLike, fspath
from typing import Any

from inspect_ai import score
from inspect_ai.log import (
    EvalLog,
    EvalSample,
    MetadataEdit,
    ProvenanceData,
    edit_eval_log,
    read_eval_log,
)
from inspect_ai.scorer import Scorer

from confidence_tasks.catalogue import studies
from confidence_tasks.harness.inspect.metrics import condition_summary, reference_of
from confidence_tasks.harness.inspect.viewer import scored_trial, versions
from confidence_tasks.report.inspect_logs import RESCORED, refuse_unbounded
from confidence_tasks.report.trial_files import NotTrialsError

NO_MODEL = "none/none"
"""Inspect's own stand-in where no model is called."""


@dataclass(frozen=True, slots=True)
class Rescored:
    """A log scored again: every metric, as the log had it and as it is now, and how many samples' trials differ."""

    log: EvalLog
    before: Mapping[str, float]
    after: Mapping[str, float]
    changed_trials: int

    @property
    def changed_metrics(self) -> list[str]:
        """Names of the metrics of the log that are not bit for bit the same; it may have had the headline only."""
        return [name for name in self.before if not _same(self.before[name], self.after.get(name))]


def rescore(path: str | PathLike[str]) -> Rescored:
    """Read the replies of a log anew, with the reading rules and statistics of this version.

    What a parser or a judge said is taken from the log; no model is called. The log on disk is left alone; write
    the new one with ``inspect_ai.log.write_eval_log``. The entry ``rescored`` of its metadata says when that was
    and by which versions, and reports take the newest reading of a run.

    Raises
    ------
    NotTrialsError
        If the log is of no study of this package, or has no samples.
    RoleError
        If a prompt to a parser or a judge is another one than in the log, so that a model must be asked.
    LostRepliesError
        If a sample of a study of several stages was recovered from a killed run, without its replies.
    """
    refuse_unbounded(fspath(path))
    log = read_eval_log(fspath(path))
    if not log.samples:
        raise NotTrialsError(f"the log has no samples (status: {log.status})")
    scorers = _scorers(log)
    before, trials = metrics_of(log), {_key(sample): _values(sample) for sample in log.samples}
    every = log.samples
    # A failed sample has no reply to read.
    log.samples = [sample for sample in every if sample.error is None]
    done = score_log(log, scorers, every_measure=True)
    changed = sum(trials[_key(sample)] != _values(sample) for sample in log.samples)
    done.samples = every
    return Rescored(_signed(done), before, metrics_of(done), changed)


def _signed(log: EvalLog) -> EvalLog:
    """Write down in a log when its replies were read anew, and by which versions."""
    entry = {RESCORED: {"at": datetime.now(UTC).isoformat(), "versions": versions()}}
    by = ProvenanceData(author="confidence-tasks rescore", reason="replies read anew")
    return edit_eval_log(log, [MetadataEdit(metadata_set=entry)], by)


def score_log(log: EvalLog, scorers: list[Scorer], *, every_measure: bool = False) -> EvalLog:
    """Score the samples of a log, which are changed, and compute its metrics, or all, without a model."""
    roles, log.eval.model_roles = log.eval.model_roles, None  # a role would be made, and ask for its key
    log.samples = _in_order(log)
    if every_measure:
        _log_every_measure(log)
    done = score(log, scorers, action="overwrite", model=NO_MODEL, display="none", copy=False)
    done.eval.model_roles = roles
    return done


def metrics_of(log: EvalLog) -> dict[str, float]:
    """Return every metric of a log by name."""
    scores = log.results.scores if log.results else []
    return {name: float(metric.value) for found in scores for name, metric in found.metrics.items()}


def _scorers(log: EvalLog) -> list[Scorer]:
    """Make the log's scorers anew, with the options that they had."""
    known = {study.scorer_name: study.make_scorer for study in studies()}
    named = [(spec.name.rsplit("/", 1)[-1], spec.options or {}) for spec in log.eval.scorers or []]
    chosen = [(known[name], options) for name, options in named if name in known]
    if not chosen:
        raise NotTrialsError(f"task {log.eval.task} was scored by none of {', '.join(sorted(known))}")
    return [make(**options) for make, options in chosen]


def _log_every_measure(log: EvalLog) -> None:
    """Have the metrics of a log be all measures; of an older log, whose metrics are no longer known, by condition."""
    specs = log.eval.metrics if isinstance(log.eval.metrics, list) else []
    for logged in (spec for spec in specs if not isinstance(spec, dict)):
        options = logged.options or {}
        if "summary" not in options:
            names = {spec.name.rsplit("/", 1)[-1] for spec in log.eval.scorers or []}
            study = next(study for study in studies() if study.scorer_name in names)
            conditions = list(
                dict.fromkeys(str(sample.metadata["condition"]) for sample in log.samples or [])
            )
            logged.name = "confidence_tasks/study_metrics"
            options = {
                "summary": reference_of(condition_summary),
                "arguments": {"study": study.reference, "conditions": conditions},
            }
        logged.options = {**options, "measures": None, "overall": []}


def _in_order(log: EvalLog) -> list[EvalSample]:
    """Put samples in the order of the run: sums of floats depend on theirs in the last bit."""
    samples = log.samples or []
    position = {str(name): i for i, name in enumerate(log.eval.dataset.sample_ids or [])}
    return sorted(samples, key=lambda sample: (sample.epoch, position.get(str(sample.id), len(position))))


def _key(sample: EvalSample) -> tuple[str, int]:
    return str(sample.id), sample.epoch


def _values(sample: EvalSample) -> str:
    """Return the scores of a sample as text, in which NaN equals NaN."""
    return repr(
        {
            name: sorted(scored_trial(found.value, found.metadata).items())
            if isinstance(found.value, Mapping)
            else found.value
            for name, found in (sample.scores or {}).items()
        }
    )


def _same(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return False
    return one == other or (math.isnan(one) and math.isnan(other))
