"""Calibration: calibration errors, proper scores, reliability curves and recalibration."""

from confidence_tasks.statistics.calibration.binning import (
    BinnedTrials,
    ReliabilityCurve,
    ece_interval,
    reliability_curve,
)
from confidence_tasks.statistics.calibration.conventions import (
    CONVENTIONS,
    ConventionError,
    convention_error,
    convention_errors,
)
from confidence_tasks.statistics.calibration.errors import (
    confidence_correlation,
    debiased_ece,
    ece,
    ece_noise_floor,
    hard_easy_slope,
    mce,
    overconfidence,
    smooth_ece,
)
from confidence_tasks.statistics.calibration.maps import Recalibration, fit_recalibration
from confidence_tasks.statistics.calibration.recalibration import (
    LogisticRecalibration,
    calibration_intercept,
    calibration_slope,
    cross_fitted_confidence,
    cross_fitted_logistic,
    logistic_recalibration,
)
from confidence_tasks.statistics.calibration.scores import (
    CorpDecomposition,
    MurphyDecomposition,
    brier,
    corp_decomposition,
    log_loss,
    murphy_decomposition,
    spiegelhalter_z,
)

__all__ = [
    "CONVENTIONS",
    "BinnedTrials",
    "ConventionError",
    "CorpDecomposition",
    "LogisticRecalibration",
    "MurphyDecomposition",
    "Recalibration",
    "ReliabilityCurve",
    "brier",
    "calibration_intercept",
    "calibration_slope",
    "confidence_correlation",
    "convention_error",
    "convention_errors",
    "corp_decomposition",
    "cross_fitted_confidence",
    "cross_fitted_logistic",
    "debiased_ece",
    "ece",
    "ece_interval",
    "ece_noise_floor",
    "fit_recalibration",
    "hard_easy_slope",
    "log_loss",
    "logistic_recalibration",
    "mce",
    "murphy_decomposition",
    "overconfidence",
    "reliability_curve",
    "smooth_ece",
    "spiegelhalter_z",
]
