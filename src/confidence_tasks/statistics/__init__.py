"""Statistics of confidence, in NumPy and SciPy only: functions take arrays and return numbers.

The most used functions can be imported from here. All functions are in the module of their family, such as
``statistics.calibration.mce``: ``acceptance``, ``calibration``, ``decision``, ``discretization``, ``discrimination``,
``inference``, ``information``, ``intervals``, ``life_table``, ``reliability``, ``sdt`` (signal detection theory),
``selective`` and ``sequential``. Modules are imported when first used.

A function raises a ValueError that names the argument if an argument contains NaN or masked values, has the wrong shape
or is out of range, or if an option is unknown. Floats of 16 and 32 bits are read as the shortest decimal numbers that
they stand for. Degenerate data raise no error: the result is NaN, and an :class:`Estimate` has the
reason in ``reason``.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from confidence_tasks.statistics.acceptance import acceptance_threshold
    from confidence_tasks.statistics.calibration import (
        brier,
        ece,
        ece_interval,
        log_loss,
        overconfidence,
        reliability_curve,
    )
    from confidence_tasks.statistics.core import Estimate, Reason, complete
    from confidence_tasks.statistics.decision import optimal_threshold
    from confidence_tasks.statistics.discrimination import auroc2, auroc2_interval
    from confidence_tasks.statistics.inference import (
        Interval,
        bootstrap,
        bootstrap_difference,
        equivalence_test,
        holm,
        permutation_test,
        wilson_interval,
    )
    from confidence_tasks.statistics.information import meta_information, meta_information_interval
    from confidence_tasks.statistics.intervals import coverage, winkler_score
    from confidence_tasks.statistics.sdt import fit_meta_d, m_ratio_threshold, meta_d_2afc, meta_d_threshold
    from confidence_tasks.statistics.selective import accuracy_at_coverage, auarc, risk_coverage_curve
    from confidence_tasks.statistics.sequential import confidence_sequence, gate_test

FAMILIES = {
    "acceptance": "acceptance_threshold",
    "calibration": "brier ece ece_interval log_loss overconfidence reliability_curve",
    "decision": "optimal_threshold",
    "discretization": "",
    "discrimination": "auroc2 auroc2_interval",
    "inference": "Interval bootstrap bootstrap_difference equivalence_test holm permutation_test wilson_interval",
    "information": "meta_information meta_information_interval",
    "intervals": "coverage winkler_score",
    "life_table": "",
    "reliability": "",
    "sdt": "fit_meta_d m_ratio_threshold meta_d_2afc meta_d_threshold",
    "selective": "accuracy_at_coverage auarc risk_coverage_curve",
    "sequential": "confidence_sequence gate_test",
}
"""Modules of this package, and the names from each that this package exports."""

_MODULE_OF = {
    name: family
    for family, names in {**FAMILIES, "core": "Estimate Reason complete"}.items()
    for name in names.split()
}

__all__ = [
    "Estimate",
    "Interval",
    "Reason",
    "acceptance_threshold",
    "accuracy_at_coverage",
    "auarc",
    "auroc2",
    "auroc2_interval",
    "bootstrap",
    "bootstrap_difference",
    "brier",
    "complete",
    "confidence_sequence",
    "coverage",
    "ece",
    "ece_interval",
    "equivalence_test",
    "fit_meta_d",
    "gate_test",
    "holm",
    "log_loss",
    "m_ratio_threshold",
    "meta_d_2afc",
    "meta_d_threshold",
    "meta_information",
    "meta_information_interval",
    "optimal_threshold",
    "overconfidence",
    "permutation_test",
    "reliability_curve",
    "risk_coverage_curve",
    "wilson_interval",
    "winkler_score",
]


def __getattr__(name: str) -> Any:
    if name in FAMILIES:
        return import_module(f"{__name__}.{name}")
    if name in _MODULE_OF:
        return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    families = [family for family in FAMILIES if name in __getattr__(family).__all__]
    hint = f"; it is {__name__}.{families[0]}.{name}" if families else ""
    raise AttributeError(
        f"module {__name__!r} has no attribute {name!r}{hint}", name=name, obj=sys.modules[__name__]
    )


def __dir__() -> list[str]:
    return sorted([*__all__, *FAMILIES])
