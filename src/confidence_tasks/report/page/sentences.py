"""What a task's numbers say, in sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from confidence_tasks.report.contrasts import Contrast
from confidence_tasks.report.labels import group_label, measure_label
from confidence_tasks.report.page.numbers import limits, number, p_is, signed
from confidence_tasks.report.results import TaskResults
from confidence_tasks.statistics import Interval

_NAMED = 3
"""Differences spelled out; of more, the number is given."""


def sentences(results: TaskResults) -> list[str]:
    """Say what can be told apart from the baseline, which model leads, and which way confidence errs."""
    return [*_contrasts(results), *_leader(results), *_overconfidence(results)]


def _contrasts(results: TaskResults) -> Iterator[str]:
    """The first tested measure against the baseline, and what its witnesses say."""
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
            witnesses = " nor ".join(map(_in_a_sentence, labels))
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


def _leader(results: TaskResults) -> Iterator[str]:
    """The model with the best headline measure, where there are several."""
    study = results.task_trials.study
    measure, where = study.measure[study.headline[0]], results.reference
    entries = [results.estimate(model.label, where, measure.name) for model in results.models]
    defined = [entry for entry in entries if entry is not None and not math.isnan(entry.interval.estimate)]
    if len(defined) < 2 or measure.better == "neither":
        return
    ranked = sorted(defined, key=lambda entry: entry.interval.estimate, reverse=measure.better == "higher")
    first, second = ranked[0].interval, ranked[1].interval
    apart = first.low > second.high or second.low > first.high
    untold = math.isnan(first.low) or math.isnan(second.low)
    name = _in_a_sentence(measure_label(measure.name))
    word = "Highest" if measure.better == "higher" else "Lowest"
    rest = (
        "with no interval to tell it from the next"
        if untold
        else "its interval lies apart from that of the next"
        if apart
        else f"not clearly apart from {ranked[1].model}"
    )
    value = f"{number(first.estimate)} {limits(first)}".strip()
    yield f"{word} {name} {_on(where)}: {ranked[0].model}, {value}, {rest}."


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
                    f"{_counted(chosen, entries)} {words} {_on(where)}; the farthest off is"
                    f" {most.model}, by {signed(most.interval.estimate)} {limits(most.interval)}."
                )


def _in_a_sentence(label: str) -> str:
    """Return a label without its capital, if that is all that is capital in its first word."""
    return label[:1].lower() + label[1:] if label[1:2].islower() else label


def _counted(chosen: Sequence[object], every: Sequence[object]) -> str:
    if len(every) == 1:
        return "The model is"
    return f"{len(chosen)} of {len(every)} models {'is' if len(chosen) == 1 else 'are'}"


def _on(group: str) -> str:
    return "overall" if group == "all" else f"on {group_label(group)}"
