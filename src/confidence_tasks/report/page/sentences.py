"""What a task's numbers say, in sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from confidence_tasks.report.contrasts import Contrast
from confidence_tasks.report.labels import group_label, measure_label
from confidence_tasks.report.page.numbers import limits, p_is, signed
from confidence_tasks.report.results import TaskResults
from confidence_tasks.statistics import Interval

_NAMED = 3
"""Differences spelled out; of more, the number is given."""


def sentences(results: TaskResults) -> list[str]:
    """Say what can be told apart from the baseline, and which way confidence errs."""
    return [*contrast_sentences(results), *_overconfidence(results)]


def contrast_sentences(results: TaskResults) -> Iterator[str]:
    """Say which conditions differ from the baseline in the first tested measure, and what its witnesses say."""
    base = group_label(results.task_trials.design.baseline)
    for name in results.task_trials.study.tested[:1]:
        compared = [contrast for contrast in results.contrasts if contrast.measure == name]
        told = sorted(
            (contrast for contrast in compared if contrast.significant),
            key=lambda contrast: -abs(contrast.interval.estimate),
        )
        borne_out = [contrast for contrast in told if _is_borne_out(results, contrast)]
        alone = [contrast for contrast in told if contrast not in borne_out]
        if borne_out:
            yield f"{measure_label(name)} differs from that on {base} for {_listed(borne_out)}."
        if alone:
            labels = map(measure_label, results.task_trials.study.witnesses[name])
            witnesses = " nor ".join(map(in_a_sentence, labels))
            yield (
                f"{measure_label(name)} also differs" if borne_out else f"{measure_label(name)} differs"
            ) + (
                f" from that on {base} for {_listed(alone)}, but neither {witnesses} does so in the same direction:"
                " the threshold cuts the scales differently, which alone can make such a difference."
            )
        if not told and compared:
            least = min((c.p_adjusted for c in compared if not math.isnan(c.p_adjusted)), default=math.nan)
            yield (
                f"No condition’s {measure_label(name)} can be told apart from that on {base}, in any model"
                f" (smallest corrected {p_is(least)})."
            )


def _is_borne_out(results: TaskResults, contrast: Contrast) -> bool:
    """Whether a measure without a threshold differs significantly in the same direction, where a study names any."""
    witnesses = results.task_trials.study.witnesses.get(contrast.measure, ())
    others = [results.contrast(contrast.model, contrast.group, name) for name in witnesses]
    return not witnesses or any(
        other is not None
        and other.significant
        and (other.interval.estimate > 0.0) == (contrast.interval.estimate > 0.0)
        for other in others
    )


def _listed(told: Sequence[Contrast]) -> str:
    parts = [
        f"{contrast.model} on {group_label(contrast.group)} ({_difference(contrast.interval)},"
        f" {p_is(contrast.p_adjusted)})"
        for contrast in told[:_NAMED]
    ]
    return "; ".join(parts) + (f", and {len(told) - _NAMED} more" if len(told) > _NAMED else "")


def _difference(interval: Interval) -> str:
    return f"{signed(interval.estimate)} {limits(interval)}".strip()


_BEYOND_0 = {
    "overconfidence": ("more confident than right", "less confident than right"),
    "coverage_gap": ("too cautious, with intervals too wide,", "overconfident, with intervals too narrow,"),
}
"""Measures of which way confidence errs, and what a model is whose interval lies above 0, or below."""


def _overconfidence(results: TaskResults) -> Iterator[str]:
    """How many models state more, or less, confidence than their accuracy bears out."""
    where = results.reference
    for measure, (above, below) in _BEYOND_0.items():
        entries = [
            entry
            for model in results.models
            if (entry := results.estimate(model.label, where, measure)) is not None
            and not math.isnan(entry.interval.low)
        ]
        for words, chosen in (
            (above, [entry for entry in entries if entry.interval.low > 0]),
            (below, [entry for entry in entries if entry.interval.high < 0]),
        ):
            if chosen:
                most = max(chosen, key=lambda entry: abs(entry.interval.estimate))
                yield (
                    f"{_counted(chosen, entries)} {words} {on_group(where)}; the farthest off is"
                    f" {most.model}, by {signed(most.interval.estimate)} {limits(most.interval)}."
                )


def in_a_sentence(label: str) -> str:
    """Return a label without its capital, if that is all that is capital in its first word."""
    return label[:1].lower() + label[1:] if label[1:2].islower() else label


def _counted(chosen: Sequence[object], every: Sequence[object]) -> str:
    if len(every) == 1:
        return "The model is"
    return f"{len(chosen)} of {len(every)} models {'is' if len(chosen) == 1 else 'are'}"


def on_group(group: str) -> str:
    """Say what group of trials a number is of."""
    return "overall" if group == "all" else f"on {group_label(group)}"
