"""How a simulated subject replies when it is asked for an answer and a confidence on a scale."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.special import ndtr

from confidence_tasks.report.groups import Columns
from confidence_tasks.report.power import (
    METACOGNITION,
    Draws,
    EffectParameter,
    PowerDesign,
    by_name,
    decide,
)
from confidence_tasks.simulation.reply import Reply, StageRequest, answer, ranked_guesses
from confidence_tasks.simulation.subject import Subject, pick, uniform
from confidence_tasks.simulation.true_values import decisions, long_run, sloppily
from confidence_tasks.statistics.core import BoolArray, FloatArray
from confidence_tasks.studies.scales.prompts import BASELINE, TOP_K, Scale, reply_in_format
from confidence_tasks.studies.scales.trials import MEASURES as SCALE_MEASURES
from confidence_tasks.study.question import Question

SLOPPY_FORMS: tuple[Callable[[str, int, Scale], str], ...] = (
    lambda answer, raw, scale: f"**Answer:** {answer}\n**Confidence:** {raw}",
    lambda answer, raw, scale: f"Answer: {answer}\nConfidence: {raw}/{scale.upper}",
    lambda answer, raw, scale: f"Confidence: {raw}\nAnswer: {answer}",
    lambda answer, raw, scale: f"Let me think about it.\n\nAnswer: {answer}\n\nConfidence: about {raw}",
    lambda answer, raw, scale: f"The answer is {answer}, and my confidence is {raw}.",
    lambda answer, raw, scale: f"Answer: {answer}\nConfid",
    lambda answer, raw, scale: "I'm sorry, but I cannot help with that.",
)
"""Ways to stray from the format; the last two leave out what was asked for."""


def report(confidence: float, scale: Scale, subject: Subject, *key: object) -> int:
    """Put a confidence in [0, 1] as an integer on ``scale``, with the subject's habits.

    Examples
    --------
    >>> report(0.87, Scale(0, 20), Subject(), 0, "q-1")
    17
    >>> report(0.87, Scale(0, 100), Subject(rounding=1.0), 0, "q-1")
    85
    """
    ignores_bounds = uniform(*key, "bounds") < subject.ignores_bounds
    rounds = uniform(*key, "rounding") < subject.rounding
    return int(_stated(subject, confidence, Scale(0, 100) if ignores_bounds else scale, rounds))


def reports(confidence: float, scale: Scale, subject: Subject) -> list[tuple[int, float]]:
    """Return everything that :func:`report` may return, with its probability."""
    ways = [
        (int(_stated(subject, confidence, of, rounds)), of_scale * of_rounding)
        for of, of_scale in ((Scale(0, 100), subject.ignores_bounds), (scale, 1.0 - subject.ignores_bounds))
        for rounds, of_rounding in ((True, subject.rounding), (False, 1.0 - subject.rounding))
    ]
    return [(raw, probability) for raw, probability in ways if probability]


def report_distribution(
    subject: Subject,
    condition: str,
    scale: Scale,
    of: Callable[[float, bool], float] = lambda confidence, correct: confidence,
) -> dict[tuple[bool, int], float]:
    """Return the probability of each outcome with each report on a scale; ``of`` a function of what is decided."""
    found: dict[tuple[bool, int], float] = {}
    for correct, confidence, chance in decisions(subject, condition):
        for raw, probability in reports(of(confidence, correct), scale, subject):
            found[correct, raw] = found.get((correct, raw), 0.0) + chance * probability
    return found


def respond(question: Question, request: StageRequest) -> Reply:
    """Answer ``question`` and state a confidence in the format asked for, or sloppily."""
    scale, subject, seed = Scale.parse(request.condition), request.subject, request.seed
    decision = subject.decide(question.id, scale.label, seed)
    text = answer(question, correct=decision.correct, seed=seed)
    key = (seed, question.id, scale.label)
    raw = report(decision.confidence, scale, subject, *key)
    if uniform(*key, "sloppy") < subject.sloppiness:
        form = SLOPPY_FORMS[pick(len(SLOPPY_FORMS), *key, "form")]
        return Reply(form(text, raw, scale), decision.confidence)
    guesses = ranked_guesses(question, text, raw, lower=scale.lower, size=TOP_K)
    elicitation = question.metadata.get("elicitation", "verbal")
    reply = reply_in_format(question, guesses, elicitation, reasoning="I worked it out step by step.")
    return Reply(reply, decision.confidence)


SHOWN_CONFIDENCE = (0.95, 0.3, 0.85, 0.1, 0.7, 0.55, 0.4, 1.0)
"""Confidences of the examples, in turn. Those below one half come with a wrong answer, so that the examples show what
a low confidence is for and favour no end of the scale."""

REASONING = "I considered what the question asks and chose accordingly."
"""What stands for the reasoning where a source gives no worked solution."""


def worked_example(question: Question, condition: str, number: int) -> str:
    """Return a reply in format to a question on a scale."""
    scale, confidence = Scale.parse(condition), SHOWN_CONFIDENCE[number % len(SHOWN_CONFIDENCE)]
    raw = round(scale.lower + confidence * scale.width)
    right = confidence >= 0.5 or question.kind == "text"  # a wrong text says what the answer is not
    best = answer(question, correct=right, seed="fewshot")
    guesses = ranked_guesses(question, best, raw, lower=scale.lower, size=TOP_K)
    reasoning = question.metadata.get("solution", REASONING)
    return reply_in_format(question, guesses, question.metadata["elicitation"], reasoning=reasoning)


def true_values(subject: Subject, condition: str, *run: object) -> dict[str, float]:
    """Return what a subject's measures on a scale are in the long run, asked as the paper asks.

    The task and its parameters make no difference. The number of distinct values, which grows with the number of
    questions, is left out.

    Examples
    --------
    >>> values = true_values(Subject(), "0-100")
    >>> {name: round(values[name], 3) for name in ("accuracy", "ece", "overconfidence", "auroc")}
    {'accuracy': 0.773, 'ece': 0.0, 'overconfidence': 0.0, 'auroc': 0.734}
    """
    from confidence_tasks.studies.scales.trials import MEASURES, scale_trial

    scale = Scale.parse(condition)
    question = Question("true", "true", "How many?", "number", "7")
    trials = []
    for (correct, raw), chance in report_distribution(subject, condition, scale).items():
        said = answer(question, correct=correct, seed=0)
        reply = reply_in_format(question, [(said, raw)], "verbal")
        strayed = [form(said, raw, scale) for form in SLOPPY_FORMS]
        for text, probability in sloppily(reply, strayed, subject):
            trials.append((scale_trial(question, scale, text), chance * probability))
    return long_run([measure for measure in MEASURES if measure.name != "distinct"], trials)


_MOST_STEPS = 200
"""Steps of a wider scale are taken together, to so many or fewer, so that questions are alike."""


def reported(subject: Subject, confidence: FloatArray, scale: Scale, draws: Draws) -> FloatArray:
    """Return the integers on ``scale`` that the subject states, with its habits."""
    return _stated(subject, confidence, scale, ndtr(draws["rounding"]) < subject.rounding)


ENOUGH_ROUND_NUMBERS = 7
"""A scale with fewer multiples within its bounds, such as 0-20, draws nobody to them."""


def _stated(
    subject: Subject, confidence: FloatArray | float, scale: Scale, rounds: BoolArray | bool
) -> FloatArray:
    """Return the integers on ``scale`` for confidences, or multiples where the subject rounds and there are enough."""
    if subject.anchors:
        confidence = _nearest(np.sort(subject.anchors), confidence)
    raw = scale.lower + confidence * scale.width
    step = subject.round_to
    multiples = np.arange(-(-scale.lower // step) * step, scale.upper + 1, step, dtype=np.float64)
    if len(multiples) < ENOUGH_ROUND_NUMBERS:
        return np.rint(raw)
    return np.where(rounds, _nearest(multiples, raw), np.rint(raw))


def _nearest(grid: FloatArray, values: FloatArray | float) -> FloatArray:
    """Return for each value the entry of the ascending ``grid`` that is nearest; of two, the lower."""
    middles = (grid[1:] + grid[:-1]) / 2.0
    return np.asarray(grid[np.searchsorted(middles, values)])


def _scale_replies(subject: Subject, draws: Sequence[Draws], condition: str) -> Columns:
    scale = Scale.parse(condition)
    correct, confidence = decide(subject, draws[0], condition)
    raw = reported(subject, confidence, scale, draws[0])
    step = -(-scale.width // _MOST_STEPS)
    nearest = scale.lower + step * np.rint((raw - scale.lower) / step)
    return {"correct": correct.astype(np.float64), "confidence_raw": np.minimum(nearest, scale.upper)}


def _scale_trials(replies: Columns, condition: str) -> Columns:
    scale = Scale.parse(condition)
    return {**replies, "confidence": (replies["confidence_raw"] - scale.lower) / scale.width}


_SCALE_EFFECTS = {
    **dict.fromkeys(("mratio", "meta_d", "auroc"), METACOGNITION),
    **dict.fromkeys(("ece", "overconfidence", "brier"), EffectParameter("bias", -4.0, 4.0)),
    "accuracy": EffectParameter("d_prime", 0.0, 4.0),
}
POWER = PowerDesign(
    condition=BASELINE.label,
    read_condition=Scale.label_of,
    n_replies=1,
    replies=_scale_replies,
    trials=_scale_trials,
    measures=by_name(SCALE_MEASURES, _SCALE_EFFECTS),
    effects=_SCALE_EFFECTS,
)
