"""Measures of confidence: pure NumPy and SciPy, arrays in, numbers out."""

from confidence_tasks.statistics._core import (
    Estimate,
    Reason,
    complete,
)
from confidence_tasks.statistics.bayes import (
    HierarchicalMetaD,
    Posterior,
    hierarchical_meta_d,
    hierarchical_meta_d_unbiased,
)
from confidence_tasks.statistics.calibration import (
    debiased_ece,
    ece,
    ece_noise_floor,
    mce,
    overconfidence,
    rms_calibration_error,
)
from confidence_tasks.statistics.calibration_interval import (
    BinnedTrials,
    ece_interval,
)
from confidence_tasks.statistics.conformal import (
    ConformalAdjustment,
    conformal_rank,
    cross_conformal,
    fit_conformal,
    jackknife_conformal,
    nonconformity,
)
from confidence_tasks.statistics.correctness_sdt import (
    d_a,
    d_prime_ratings,
    mean_difference,
    z_roc_slope,
)
from confidence_tasks.statistics.correlation import (
    confidence_correlation,
)
from confidence_tasks.statistics.count_tables import (
    correctness_table,
    count_table,
    quantile_edges,
    to_ratings,
)
from confidence_tasks.statistics.cross_fitting import (
    cross_fitted_confidence,
)
from confidence_tasks.statistics.decision import (
    abstention_rate,
    answered_accuracy,
    mean_utility,
    optimal_decision,
    optimal_threshold,
    policy_consistency,
    regret,
    scaffold_gain,
    scaffold_utility,
)
from confidence_tasks.statistics.discretization import (
    DiscretizationSummary,
    confidence_entropy,
    discretization_summary,
    distinct_values,
    round_share,
    scale_utilization,
    top_share,
    top_value,
    violation_share,
)
from confidence_tasks.statistics.hard_easy import (
    HardEasyRegression,
    hard_easy_regression,
    hard_easy_slope,
)
from confidence_tasks.statistics.information_interval import (
    InformationTables,
    meta_information_interval,
)
from confidence_tasks.statistics.intervals import (
    CoverageCurve,
    adjusted_interval,
    coverage,
    coverage_curve,
    degenerate_share,
    mean_width,
    penalized_winkler_score,
    sampled_interval,
    winkler_score,
)
from confidence_tasks.statistics.life_table import (
    BestGuess,
    best_guess,
    close_life_table,
    death_distribution,
    survival,
    window_probability,
)
from confidence_tasks.statistics.meta_information import (
    MetaInformation,
    meta_information,
    meta_information_test,
)
from confidence_tasks.statistics.metacognition import (
    FiellerInterval,
    Metacognition,
    fieller_interval,
)
from confidence_tasks.statistics.metad import (
    MetaD,
    fit_meta_d,
)
from confidence_tasks.statistics.metad_intervals import (
    MetaDIntervals,
    meta_d_2afc_intervals,
    meta_d_intervals,
    meta_d_ratings_intervals,
    meta_d_threshold_intervals,
)
from confidence_tasks.statistics.metad_threshold import (
    ThresholdMetaD,
    fit_meta_d_threshold,
    m_ratio_threshold,
    meta_d_threshold,
    threshold_table,
)
from confidence_tasks.statistics.metad_trials import (
    m_ratio_2afc,
    m_ratio_ratings,
    meta_d_2afc,
    meta_d_ratings,
    two_choice_table,
)
from confidence_tasks.statistics.multiple_testing import (
    bonferroni,
    holm,
)
from confidence_tasks.statistics.paired_tests import (
    EquivalenceTest,
    PermutationTest,
    equivalence_test,
    permutation_test,
)
from confidence_tasks.statistics.predictive_distribution import (
    SmallestSet,
    TemperatureFit,
    empirical_distribution,
    fit_temperature,
    smallest_set,
    tempered,
    tunnel_index,
)
from confidence_tasks.statistics.proportion import (
    wilson_interval,
)
from confidence_tasks.statistics.recalibration import (
    LogisticRecalibration,
    calibration_intercept,
    calibration_slope,
    logistic_recalibration,
)
from confidence_tasks.statistics.reliability import (
    ReliabilityCurve,
    reliability_curve,
)
from confidence_tasks.statistics.resampling import (
    Interval,
    bootstrap,
    bootstrap_counts,
    bootstrap_difference,
    bootstrap_distribution,
)
from confidence_tasks.statistics.risk_sensitivity import (
    abstention_slope,
    implied_threshold,
)
from confidence_tasks.statistics.scoring import (
    CorpDecomposition,
    MurphyDecomposition,
    brier,
    corp_decomposition,
    log_loss,
    murphy_decomposition,
    spiegelhalter_z,
)
from confidence_tasks.statistics.sdt import (
    TypeOne,
    ZRoc,
    d_prime_mafc,
    type1,
    z_roc,
)
from confidence_tasks.statistics.selective import (
    RiskCoverageCurve,
    Type2RocCurve,
    accuracy_at_coverage,
    auarc,
    aurc,
    auroc2,
    eaurc,
    risk_coverage_curve,
    type2_roc_curve,
)
from confidence_tasks.statistics.smooth_calibration import (
    smooth_ece,
)
from confidence_tasks.statistics.uvsdt import (
    UnequalVarianceSDT,
    fit_uv_sdt,
)

__all__ = [
    "BestGuess",
    "BinnedTrials",
    "ConformalAdjustment",
    "CorpDecomposition",
    "CoverageCurve",
    "DiscretizationSummary",
    "EquivalenceTest",
    "Estimate",
    "FiellerInterval",
    "HardEasyRegression",
    "HierarchicalMetaD",
    "InformationTables",
    "Interval",
    "LogisticRecalibration",
    "MetaD",
    "MetaDIntervals",
    "MetaInformation",
    "Metacognition",
    "MurphyDecomposition",
    "PermutationTest",
    "Posterior",
    "Reason",
    "ReliabilityCurve",
    "RiskCoverageCurve",
    "SmallestSet",
    "TemperatureFit",
    "ThresholdMetaD",
    "Type2RocCurve",
    "TypeOne",
    "UnequalVarianceSDT",
    "ZRoc",
    "abstention_rate",
    "abstention_slope",
    "accuracy_at_coverage",
    "adjusted_interval",
    "answered_accuracy",
    "auarc",
    "aurc",
    "auroc2",
    "best_guess",
    "bonferroni",
    "bootstrap",
    "bootstrap_counts",
    "bootstrap_difference",
    "bootstrap_distribution",
    "brier",
    "calibration_intercept",
    "calibration_slope",
    "close_life_table",
    "complete",
    "confidence_correlation",
    "confidence_entropy",
    "conformal_rank",
    "corp_decomposition",
    "correctness_table",
    "count_table",
    "coverage",
    "coverage_curve",
    "cross_conformal",
    "cross_fitted_confidence",
    "d_a",
    "d_prime_mafc",
    "d_prime_ratings",
    "death_distribution",
    "debiased_ece",
    "degenerate_share",
    "discretization_summary",
    "distinct_values",
    "eaurc",
    "ece",
    "ece_interval",
    "ece_noise_floor",
    "empirical_distribution",
    "equivalence_test",
    "fieller_interval",
    "fit_conformal",
    "fit_meta_d",
    "fit_meta_d_threshold",
    "fit_temperature",
    "fit_uv_sdt",
    "hard_easy_regression",
    "hard_easy_slope",
    "hierarchical_meta_d",
    "hierarchical_meta_d_unbiased",
    "holm",
    "implied_threshold",
    "jackknife_conformal",
    "log_loss",
    "logistic_recalibration",
    "m_ratio_2afc",
    "m_ratio_ratings",
    "m_ratio_threshold",
    "mce",
    "mean_difference",
    "mean_utility",
    "mean_width",
    "meta_d_2afc",
    "meta_d_2afc_intervals",
    "meta_d_intervals",
    "meta_d_ratings",
    "meta_d_ratings_intervals",
    "meta_d_threshold",
    "meta_d_threshold_intervals",
    "meta_information",
    "meta_information_interval",
    "meta_information_test",
    "murphy_decomposition",
    "nonconformity",
    "optimal_decision",
    "optimal_threshold",
    "overconfidence",
    "penalized_winkler_score",
    "permutation_test",
    "policy_consistency",
    "quantile_edges",
    "regret",
    "reliability_curve",
    "risk_coverage_curve",
    "rms_calibration_error",
    "round_share",
    "sampled_interval",
    "scaffold_gain",
    "scaffold_utility",
    "scale_utilization",
    "smallest_set",
    "smooth_ece",
    "spiegelhalter_z",
    "survival",
    "tempered",
    "threshold_table",
    "to_ratings",
    "top_share",
    "top_value",
    "tunnel_index",
    "two_choice_table",
    "type1",
    "type2_roc_curve",
    "violation_share",
    "wilson_interval",
    "window_probability",
    "winkler_score",
    "z_roc",
    "z_roc_slope",
]
