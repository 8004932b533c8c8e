"""Confidence scales: from a reply to a trial, and the measures of the study.

Dai (2026), arXiv:2603.09309, section 3.3.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from confidence_tasks.harness.inspect.explanation import answer_and_key, number
from confidence_tasks.reading.grading import grade
from confidence_tasks.studies.scales.prompts import Elicitation, Scale
from confidence_tasks.study.measures import (
    ACCURACY,
    ACCURACY_OF_ALL,
    ANY,
    CONFIDENCE,
    PARSE_RATE,
    PARSE_RATE_STRICT,
    UNIT,
    Bounds,
    Measure,
    calibration_error,
    share,
    statistic_of,
)
from confidence_tasks.study.question import Question
from confidence_tasks.study.stage import Replies, Token
from confidence_tasks.study.standard import (
    AUROC,
    BRIER,
    ECE,
    M_RATIO,
    META_INFORMATION,
    OVERCONFIDENCE,
    of_threshold,
)
from confidence_tasks.study.trial import Trial


class ScaleTrial(Trial):
    """A trial of the scale study.

    Attributes
    ----------
    answer : str
        The answer read, empty when there is none.
    confidence_raw : float
        The confidence as stated, on the scale asked for; kept when it violates the bounds.
    lower, upper : float
        The bounds of the scale.
    rules : str
        Names of the lenient reading rules used, joined by ``+``.
    """

    answer: str
    confidence_raw: float
    lower: float
    upper: float
    rules: str


def scale_trial(
    question: Question, scale: Scale, reply: str, elicitation: Elicitation = "verbal", *, strict: bool = False
) -> ScaleTrial:
    r"""Read a reply to ``question`` on ``scale`` into a trial.

    With ``strict``, one that strays from the format counts as unreadable: the paper excludes those "that do not conform
    to the specified format" (appendix B.3).

    Examples
    --------
    >>> question = Question("q-1", "demo", "Is the sky blue?", "choice", "A", ("Yes", "No"))
    >>> trial = scale_trial(question, Scale(0, 20), "Answer: A\nConfidence: 17")
    >>> trial["correct"], trial["confidence"], trial["status"]
    (1.0, 0.85, 'ok')
    """
    from confidence_tasks.studies.scales.reader import read_scale_reply

    reading = read_scale_reply(
        reply, scale, kind=question.kind, choices=question.choices, elicitation=elicitation
    )
    # A confidence off the scale, and a refusal, keep to the format all the same.
    to_the_letter = reading.status in ("ok", "refused", *(() if reading.rules else ("out_of_range",)))
    if strict and not to_the_letter:
        reading = replace(reading, answer="", confidence_raw=math.nan, status="unreadable")
    usable = reading.status != "out_of_range" and not math.isnan(reading.confidence_raw)
    return ScaleTrial(
        question_id=question.id,
        source=question.source,
        condition=scale.label,
        correct=grade(reading.answer, kind=question.kind, gold=question.gold, aliases=question.aliases),
        confidence=scale.normalise(reading.confidence_raw) if usable else math.nan,
        status=reading.status,
        answer=reading.answer,
        confidence_raw=reading.confidence_raw,
        lower=float(scale.lower),
        upper=float(scale.upper),
        rules="+".join(reading.rules),
    )


def read_reply(question: Question, condition: str, replies: Replies) -> ScaleTrial:
    """Read the answer and the confidence."""
    about, reply = question.metadata, replies["answer"][0].text
    return scale_trial(question, Scale.parse(condition), reply, about["elicitation"], strict=about["strict"])


def _reports(name: str, statistic: str, description: str, *, bounds: Bounds = ANY, **options: Any) -> Measure:
    """Make a diagnostic of the raw confidences, whether they keep to the bounds or not."""
    compute = statistic_of(statistic, "confidence_raw", **options)
    return Measure(name, compute, description, interval="none", bounds=bounds)


MEASURES: tuple[Measure, ...] = (
    M_RATIO,
    AUROC,
    ECE,
    ACCURACY,
    ACCURACY_OF_ALL,
    PARSE_RATE,
    PARSE_RATE_STRICT,
    OVERCONFIDENCE,
    BRIER,
    CONFIDENCE,
    calibration_error("ece_15", "Expected calibration error, 15 bins of equal width.", bins=15),
    calibration_error("ece_20", "Expected calibration error, 20 bins of equal width.", bins=20),
    calibration_error(
        "ece_mass", "Expected calibration error, 10 bins of equal numbers.", binning="equal_mass"
    ),
    of_threshold(
        "meta_d",
        "meta_d",
        "Sensitivity of an ideal observer with this type-2 hit and false-alarm rate, split at 0.9.",
    ),
    of_threshold("meta_d_95", "meta_d", "The same with the split at 0.95.", 0.95),
    of_threshold("mratio_95", "m_ratio", "meta-d' / d' with the split at 0.95.", 0.95),
    META_INFORMATION,
    _reports("top1_share", "top_share", "Share of the most frequent report.", bounds=UNIT),
    _reports("top3_share", "top_share", "Share of the three most frequent reports.", bounds=UNIT, k=3),
    _reports("distinct", "distinct_values", "Number of different reports."),
    _reports("entropy", "confidence_entropy", "Shannon entropy of the reports in bits."),
    share(
        "round_share",
        statistic_of("round_share", "confidence_raw", constants=("lower", "upper")),
        "Share of reports that are multiples of five within bounds.",
    ),
    share(
        "violation_rate",
        statistic_of("violation_share", "confidence_raw", constants=("lower", "upper")),
        "Share of reports off the scale by more than 5% of its width.",
        "lower",
    ),
    replace(
        _reports(
            "utilization",
            "scale_utilization",
            "Distance of the 5th and the 95th percentile of reports as a share of the scale's width.",
            constants=("lower", "upper"),
        ),
        better="higher",
    ),
)


def explain(trial: ScaleTrial, question: Question, tokens: Sequence[Token] = ()) -> dict[str, str]:
    """Say what was read and what became of it."""
    scale = Scale(int(trial["lower"]), int(trial["upper"]))
    used = "" if math.isnan(trial["confidence"]) else f", that is {trial['confidence']:.3f} of 1"
    stated = f"{number(trial['confidence_raw'])} on {scale.label}{used}"
    return {**answer_and_key(trial, question), "Confidence": stated}
