"""The measures of any answers that are right or wrong and have a confidence, whatever the study."""

from __future__ import annotations

from dataclasses import replace

from confidence_tasks.study.measures import (
    ACCURACY,
    CONFIDENCE,
    GRADED,
    Columns,
    Informative,
    Measure,
    Posterior,
    auroc,
    calibration_error,
    incomparable_by,
    influence_of,
    inverted_test_of,
    min_count,
    overconfidence,
    right_and_wrong,
    statistic_of,
)
from confidence_tasks.study.reference import np

HIGH_CONFIDENCE = 0.9
"""Where confidence is split into high and low for meta-d' (arXiv:2603.09309, section 3.3)."""

PADDING = "hautus"
"""The paper adds one half to each cell (section 3.3); it costs little at its numbers of questions."""

_PRIOR = 0.75
"""Trials of each outcome that the posterior distributions of meta-d' start from, halfway from Jeffreys' half to
Laplace's whole. Where three sure and wrong answers are expected, one study in twenty has none, and a half puts its
interval above the truth; where half a one is, hardly any interval lies above it (``docs/reliability.md``)."""


def _sides(trials: Columns) -> Columns:
    """A right and a wrong answer on either side of every threshold."""
    return {"correct": np.array([1.0, 1.0, 0.0, 0.0]), "confidence": np.array([1.0, 0.0, 1.0, 0.0])}


def of_threshold(name: str, quantity: str, description: str, threshold: float = HIGH_CONFIDENCE) -> Measure:
    """Make a measure of the four cells that a threshold makes of right and wrong, high and low.

    ``quantity`` is what is computed of them, ``meta_d`` or ``m_ratio``; from ``threshold``, in (0, 1), on, confidence
    is high.
    """
    statistic = f"{quantity}_threshold"
    return Measure(
        name,
        statistic_of(statistic, *GRADED, threshold=threshold, padding=PADDING),
        description,
        "higher",
        posterior=Posterior(
            _sides, statistic_of(statistic, *GRADED, threshold=threshold, padding="none"), prior=_PRIOR
        ),
        influence=influence_of(
            "threshold_influence", *GRADED, quantity=quantity, threshold=threshold, padding=PADDING
        ),
        incomparable=incomparable_by(
            "threshold_incomparable", *GRADED, quantity=quantity, threshold=threshold
        ),
    )


def _apart_from_the_usual(trials: Columns) -> Informative:
    """Right or wrong answers, whichever are fewer, that would by chance not have the most frequent confidence."""
    stated = trials["confidence"][~np.isnan(trials["confidence"])]
    _, counts = np.unique(stated, return_counts=True)
    usual = counts.max(initial=0) / max(len(stated), 1)
    return replace(min_count(*right_and_wrong())(trials), weight=float(1.0 - usual))


AUROC = auroc(
    "auroc", "Chance that a right answer has more confidence than a wrong one; ties count one half."
)
ECE = calibration_error("ece", "Expected calibration error, 10 bins of equal width.")
BRIER = Measure(
    "brier",
    statistic_of("brier", *GRADED),
    "Mean squared difference of confidence and correctness.",
    "lower",
    interval="wilson",
    informative=min_count(*right_and_wrong()),
)
OVERCONFIDENCE = overconfidence("overconfidence", "Mean confidence minus accuracy; above 0 is overconfident.")
META_INFORMATION = Measure(
    "meta_information",
    statistic_of("meta_information", *GRADED),
    "Share of the uncertainty about correctness that confidence removes, corrected for bias.",
    "higher",
    informative=_apart_from_the_usual,
    test_inversion=inverted_test_of("InformationTables", *GRADED),
)
M_RATIO = of_threshold(
    "mratio",
    "m_ratio",
    "meta-d' / d' with confidence split at 0.9: 1 is ideal, less is lost; unstable when d' is below 0.5.",
)

STANDARD: tuple[Measure, ...] = (
    ACCURACY,
    CONFIDENCE,
    OVERCONFIDENCE,
    ECE,
    BRIER,
    AUROC,
    META_INFORMATION,
    M_RATIO,
)
"""What :func:`confidence_tasks.summary` shows: how right, how sure, how far apart, and what confidence tells."""

NEED_OUTCOMES = frozenset({AUROC.name, META_INFORMATION.name, M_RATIO.name})
"""Those that compare right with wrong answers, and have no value where ``correct`` is a probability."""
