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
    CONFIDENCE,
    PARSE_RATE,
    PARSE_RATE_STRICT,
    UNIT,
    Compute,
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
from confidence_tasks.study.trial import Reading, Trial


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
    question: Question,
    scale: Scale,
    reply: str,
    elicitation: Elicitation = "verbal",
    *,
    strict: bool = False,
) -> ScaleTrial:
    r"""Read a reply to ``question`` on ``scale`` into a trial.

    Parameters
    ----------
    question : Question
        What was asked.
    scale : Scale
        The bounds shown.
    reply : str
        The reply.
    elicitation : {"verbal", "cot", "top_k"}
        How confidence was asked for.
    strict : bool
        Whether a reply that strays from the format counts as unreadable: the paper excludes those "that do not conform
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
    if strict and not _to_the_letter(reading):
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


def _to_the_letter(reading: Reading) -> bool:
    """Whether a reply has the format asked for, even if its confidence lies off the scale; a refusal needs none."""
    off_scale = reading.status == "out_of_range" and not reading.rules
    return off_scale or reading.status in ("ok", "refused")


def _reported(statistic: str, **options: Any) -> Compute:
    """A diagnostic of the raw confidences, whether they keep to the bounds or not."""
    return statistic_of(statistic, "confidence_raw", **options)


def _on_scale(statistic: str) -> Compute:
    """A diagnostic of the raw confidences that depends on the bounds."""
    return statistic_of(statistic, "confidence_raw", constants=("lower", "upper"))


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
    Measure(
        "top1_share",
        _reported("top_share"),
        "Share of the most frequent report.",
        interval="none",
        bounds=UNIT,
    ),
    Measure(
        "top3_share",
        _reported("top_share", k=3),
        "Share of the three most frequent reports.",
        interval="none",
        bounds=UNIT,
    ),
    Measure(
        "distinct",
        _reported("distinct_values"),
        "Number of different reports.",
        interval="none",
    ),
    Measure(
        "entropy",
        _reported("confidence_entropy"),
        "Shannon entropy of the reports in bits.",
        interval="none",
    ),
    share(
        "round_share",
        _on_scale("round_share"),
        "Share of reports that are multiples of five within bounds.",
    ),
    share(
        "violation_rate",
        _on_scale("violation_share"),
        "Share of reports off the scale by more than 5% of its width.",
        "lower",
    ),
    Measure(
        "utilization",
        _on_scale("scale_utilization"),
        "Distance of the 5th and the 95th percentile of reports as a share of the scale's width.",
        "higher",
        interval="none",
    ),
)


def explain(trial: ScaleTrial, question: Question, tokens: Sequence[Token] = ()) -> dict[str, str]:
    """Say what was read and what became of it."""
    scale = Scale(int(trial["lower"]), int(trial["upper"]))
    used = "" if math.isnan(trial["confidence"]) else f", that is {trial['confidence']:.3f} of 1"
    stated = f"{number(trial['confidence_raw'])} on {scale.label}{used}"
    return {**answer_and_key(trial, question), "Confidence": stated}
