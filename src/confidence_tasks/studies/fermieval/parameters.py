"""The paper, and the parameters that the three tasks share."""

from confidence_tasks.study import Paper, Parameter
from confidence_tasks.study.parameter import MIRROR

PAPER = Paper("Epstein, Winnicki, Sornwanee & Dwaraknath", 2025, "2510.26995")

SUBSET_PARAMETERS = frozenset({"levels", "split"})

SPLITS = ("all", "test", "authors", "authors_test")
"""Sets of questions: both halves, or the test half only; drawn by seed, or those of the paper's authors."""

LEVELS_PARAMETER = Parameter(
    "levels", str | float | list[float], "0.9,0.95,0.99,0.998", "Nominal coverages, such as 0.9,0.99."
)

NUMBER = Parameter(
    "n", int | None, None, "Number of questions, taken alternately from both halves; all by default.", low=1
)

EXPONENT_PARAMETERS = (
    LEVELS_PARAMETER,
    Parameter(
        "split",
        str,
        "all",
        "Questions to ask: all (both halves) or test (the test half only), drawn by seed; or authors and authors_test, "
        "the same halves as the paper's authors drew them.",
        SPLITS,
    ),
    NUMBER,
    MIRROR,
)
"""Parameters that ``fermieval_logprob`` and ``fermieval_sampling`` share."""
