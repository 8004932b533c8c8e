"""The trials of the samples of a log, by study, model and way of asking."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, TypeAlias

from confidence_tasks.catalogue import study_of_scores
from confidence_tasks.harness.logged_trials import is_sent, scored_trial
from confidence_tasks.harness.refusals import refusals_in
from confidence_tasks.logs.digests import prompt_digest, question_digest
from confidence_tasks.logs.log_contents import NO_METADATA, SampleSummary, fallback_models
from confidence_tasks.logs.origins import Origins
from confidence_tasks.logs.planned_samples import SampleKey
from confidence_tasks.logs.trial_columns import shared_by
from confidence_tasks.study.definition import Study
from confidence_tasks.study.stage import TOKENS
from confidence_tasks.study.trial import RULES

Way: TypeAlias = tuple[str | None, str]
"""How a sample was asked: the reasoning effort, and the models that answered instead of the requested ones."""


@dataclass(slots=True)
class SamplesOfWay:
    """What the samples of a log say: rows of trials by the way in which they were asked, limits and origins."""

    origins: Origins
    study: Study | None = None
    rows: dict[Way, dict[SampleKey, tuple[Any, ...] | None]] = field(default_factory=dict)
    refused: dict[str, None] = field(default_factory=dict)
    limits: dict[tuple[str | None, SampleKey], str | None] = field(default_factory=dict)

    def add(self, summary: SampleSummary) -> None:
        """Add a sample; the later summary of one that ran twice replaces the first, in the same position."""
        self.study = self.study or study_of_scores(summary.scores or {})
        metadata = summary.metadata or NO_METADATA
        self.origins.add(metadata.origin)
        self.refused.update(dict.fromkeys(refusals_in(metadata.server_refusals)))
        effort = metadata.effort if isinstance(metadata.effort, str) else None
        key = str(summary.id), summary.epoch
        same_way = self.rows.setdefault((effort, fallback_models(summary.model_fallbacks)), {})
        same_way[key] = _row(summary, self.study) if self.study else None
        self.limits[effort, key] = summary.limit


def limits_of_way(samples: SamplesOfWay, effort: str | None) -> dict[str, int]:
    """Return how many samples of a reasoning effort each limit ended."""
    return dict(Counter(limit for (of, _), limit in samples.limits.items() if limit and of == effort))


def limit_counts(limits: Iterable[str | None]) -> list[str]:
    """Return how many samples each limit ended."""
    return [f"{n} ended by the {limit} limit" for limit, n in Counter(limits).items() if limit]


def _row(summary: SampleSummary, study: Study) -> tuple[Any, ...] | None:
    """Return the tokens, the record and the extra columns of a sample's trial; None if it has none."""
    score = (summary.scores or {}).get(study.scorer_name)
    if score is None or not isinstance(score.value, dict) or summary.is_lost:
        return None
    trial = scored_trial(score.value, score.metadata)
    metadata = summary.metadata or NO_METADATA
    return (
        *_tokens(metadata),
        *map(trial.get, study.column_types),
        *_digests(summary),
        *shared_by(trial, metadata),
        trial.get(RULES),
        summary.id,
        summary.epoch,
    )


_tokens = attrgetter(*TOKENS)


def _digests(summary: SampleSummary) -> tuple[str, str]:
    """Return digests of the question of a sample and of the messages that the model was sent."""
    sent, metadata = summary.input or "", summary.metadata or NO_METADATA
    messages = (
        sent
        if isinstance(sent, str)
        else [(each.role, each.content) for each in sent if not each.metadata or is_sent(each.metadata)]
    )
    return question_digest(metadata.question, metadata.choices), prompt_digest(messages) if messages else ""
