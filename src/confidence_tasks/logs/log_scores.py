"""The scores in a log of Inspect: which are of this package, which a person edited, and those of other scorers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from inspect_ai.log import EvalLog, EvalSample
from inspect_ai.scorer import Score

from confidence_tasks.catalogue import studies
from confidence_tasks.harness.logged_trials import scored_trial


def logged_metrics(log: EvalLog) -> dict[str, float]:
    """Return every metric of a log by name."""
    scores = log.results.scores if log.results else []
    return {name: float(metric.value) for score in scores for name, metric in score.metrics.items()}


def kept_scores(sample: EvalSample) -> dict[str, Score]:
    """Return the scores of other scorers, and those that a person edited."""
    scores = (sample.scores or {}).items()
    return {name: score for name, score in scores if not is_ours(name) or _is_edited(score)}


def _is_edited(score: Score) -> bool:
    """Whether a person edited the value or the metadata; the first entry of a history is the original."""
    return any((edit.value, edit.metadata) != ("UNCHANGED", "UNCHANGED") for edit in score.history[1:])


def is_ours(scorer: str) -> bool:
    """Whether a study of this package has the scorer; Inspect numbers scorers of the same name."""
    return scorer_name(scorer).rstrip("0123456789") in {study.scorer_name for study in studies()}


def scorer_name(scorer: str) -> str:
    """Return the name of a scorer without its package."""
    return scorer.rsplit("/", 1)[-1]


@contextmanager
def metrics_of_others_kept(log: EvalLog) -> Iterator[None]:
    """Keep what the header of a log says of other scorers, whose metrics may be unknown here, in the logged order."""
    order = [scorer_name(spec.name) for spec in log.eval.scorers or []]
    specs = _of_others(log.eval.scorers, "name")
    scores = _of_others(log.results.scores if log.results else [], "scorer")
    reductions = _of_others(log.reductions, "scorer")
    yield
    _restore(log, order, specs, scores, reductions)


def _of_others(entries: Sequence[Any] | None, field: str) -> list[Any]:
    """Return the entries whose field names the scorer of another package."""
    return [each for each in entries or [] if not is_ours(getattr(each, field))]


def _restore(
    log: EvalLog,
    order: list[str],
    specs: list[Any],
    scores: list[Any],
    reductions: list[Any],
) -> None:
    """Add scorers, their metrics and reductions to the header of a log, in an order of scorers."""
    every = [*(log.eval.scorers or []), *specs]
    log.eval.scorers = sorted(every, key=lambda each: order.index(scorer_name(each.name)))
    if log.results:
        every_score = [*log.results.scores, *scores]
        log.results.scores = sorted(every_score, key=lambda each: order.index(scorer_name(each.scorer)))
    log.reductions = [*(log.reductions or []), *reductions] or None


def scores_text(sample: EvalSample) -> str:
    """Return the scores of a sample as text, so that NaN equals NaN."""
    return repr(
        {
            name: sorted(scored_trial(score.value, score.metadata).items())
            if isinstance(score.value, Mapping)
            else score.value
            for name, score in (sample.scores or {}).items()
        }
    )
