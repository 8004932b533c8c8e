"""The runs that ``compare`` takes: which models it pairs, and notices about what else differs between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from confidence_tasks.logs.cache import Cache
from confidence_tasks.logs.run_settings import setting_names, short_value
from confidence_tasks.logs.task_trials import ModelTrials, TaskTrials, in_order, question_keys
from confidence_tasks.logs.texts import printable
from confidence_tasks.logs.trial_columns import PROMPT
from confidence_tasks.report.checks import checks_of
from confidence_tasks.report.estimates.paired_trials import FIRST, SECOND, paired_trials, shared_conditions
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.notices import Notice, in_order_of_severity, notice_if_any, notices
from confidence_tasks.report.question_checks import different_questions, id_conflict_notice, id_conflicts
from confidence_tasks.report.results import results_and_lost
from confidence_tasks.study.columns import rows_of


def cautions(
    first: ModelTrials,
    second: ModelTrials,
    task_trials: TaskTrials,
    settings: Settings,
    cache: Cache | None = None,
) -> list[Notice]:
    """Return the notices about a comparison, serious ones first; they call the models A and B.

    The notices are those of the report's checks on the compared trials. Further notices say in which settings A and B
    differ, what only one of them was asked, and which questions are left out because their texts differ.
    """
    raised = [
        *id_conflict_notice((first.columns, second.columns)),
        *_asked_otherwise(first, second),
        *_not_shared(first, second),
    ]
    columns, side = paired_trials(first.columns, second.columns, shared_conditions(first, second))
    if len(side):
        compared = tuple(
            replace(model, name=name, label=name, columns=rows_of(columns, side == of_model))
            for model, name, of_model in ((first, "A", FIRST), (second, "B", SECOND))
        )
        # Enough to see whether many resamples leave a measure undefined.
        fewer = replace(settings, n_resamples=min(settings.n_resamples, 1_000))
        ((results,), _) = results_and_lost([replace(task_trials, models=compared)], fewer, cache=cache)
        unpaired_only = (different_questions, id_conflicts)
        checks = [check for check in checks_of(task_trials.study) if check not in unpaired_only]
        raised += notices(results, checks)
    return in_order_of_severity(raised)


def _asked_otherwise(first: ModelTrials, second: ModelTrials) -> Iterator[Notice]:
    """Yield a notice of the settings and prompts in which A and B differ."""
    where = [*_differing_settings(first, second), *_differing_prompts(first, second)]
    yield from notice_if_any(
        "warning",
        "A and B ran with different settings",
        "These settings, instead of the models, may cause a difference.",
        [printable(each) for each in where],
    )


def _differing_settings(first: ModelTrials, second: ModelTrials) -> list[str]:
    """Return the settings in which A and B differ, and the provenance that both have, with their values."""
    a, b = first.files[0].setup, second.files[0].setup
    settings = [(key, a.get(key, "not set"), b.get(key, "not set")) for key in sorted({*a, *b})]
    a, b = _provenance(first), _provenance(second)
    settings += [(key, a[key], b[key]) for key in sorted({*a} & {*b})]
    differing = [(key, one, other) for key, one, other in settings if one != other]
    names = setting_names(key for key, _, _ in differing)
    return [f"{names[key]}: A {short_value(one)}, B {short_value(other)}" for key, one, other in differing]


def _provenance(model: ModelTrials) -> dict[str, str]:
    return {key: value for file in model.files for key, value in file.provenance.items()}


def _differing_prompts(first: ModelTrials, second: ModelTrials) -> list[str]:
    """Return a sentence on the prompts that differ between A and B, if any do."""
    a, b = _prompts(first), _prompts(second)
    comparable = [key for key in sorted(a.keys() & b.keys()) if _are_comparable(a[key], b[key])]
    differing = [key for key in comparable if a[key] != b[key]]
    if not differing:
        return []
    condition, _, name = differing[0]
    return [
        f"prompts: {len(differing)} of {len(comparable)} differ, such as that of {name} under {condition}"
    ]


def _prompts(model: ModelTrials) -> Mapping[Any, str]:
    """Return the digest of the prompt of each condition and question."""
    return dict(zip(question_keys(model.columns), model.columns[PROMPT].tolist(), strict=True))


def _are_comparable(a: str, b: str) -> bool:
    """Return whether two digests are of the same harness; those of lm-eval begin with its name."""
    return bool(a) and bool(b) and (" " in a) == (" " in b)


def _not_shared(first: ModelTrials, second: ModelTrials) -> Iterator[Notice]:
    """Yield a notice of the questions and conditions that only one of the models was asked."""
    of_first, of_second = set(question_keys(first.columns)), set(question_keys(second.columns))
    yield from notice_if_any(
        "warning",
        "A and B do not share all questions",
        "The comparison uses only shared questions and conditions. The other questions may be harder or easier.",
        [*_unshared("A", of_first, of_second), *_unshared("B", of_second, of_first)],
    )


def _unshared(name: str, asked: set[tuple[Any, ...]], others: set[tuple[Any, ...]]) -> Iterator[str]:
    """Yield how many questions, and which conditions, a model was asked that the other was not."""
    conditions = {condition for condition, *_ in others}
    missing = sum(condition in conditions for condition, *_ in asked - others)
    if missing:
        yield f"{name}: {missing} of {len(asked)} questions and conditions"
    unshared = in_order({condition for condition, *_ in asked} - conditions)
    if unshared:
        yield f"{name}: the conditions {', '.join(unshared)}"
