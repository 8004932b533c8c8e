"""FermiEval: intervals for orders of magnitude, at four nominal coverages.

Epstein, Winnicki, Sornwanee & Dwaraknath (2025), arXiv:2510.26995.

The folders ``logprob`` and ``sampling`` are the studies of the other two tasks. They build on ``parameters``,
``replies``, ``trials``, ``adjustments``, ``measures`` and ``summary`` of this folder, whose modules ``methods`` and
``tunnel`` compare the three tasks.
"""

from confidence_tasks.studies.fermieval import replies, subject, summary, trials
from confidence_tasks.studies.fermieval.parameters import (
    LEVELS_PARAMETER,
    NUMBER,
    PAPER,
    SPLITS,
    SUBSET_PARAMETERS,
)
from confidence_tasks.studies.fermieval.replies import CONDITIONS, CROSS, EXPONENTS, LEVELS
from confidence_tasks.study import (
    STRUCTURED,
    Asking,
    ConditionRules,
    Design,
    Parameter,
    Pooling,
    Scoring,
    Simulation,
    Study,
    Viewer,
)
from confidence_tasks.study.parameter import MIRROR

STUDY = Study(
    name="fermieval",
    module=__name__,
    title="FermiEval",
    paper=PAPER,
    stages=replies.fermieval_stages,
    questions=replies.fermieval_questions,
    conditions=tuple(map(CONDITIONS.label, LEVELS)),
    condition_rules=ConditionRules(
        parameter="levels", label_of=CONDITIONS.label_of, columns=CONDITIONS.columns
    ),
    asking=Asking(metadata_keys=("split", "max_exponent")),
    read=trials.read_interval,
    viewer=Viewer(explain=trials.explain, status_descriptions=trials.MEANINGS, columns=("winkler",)),
    scoring=Scoring(metrics=summary.fermieval_metrics),
    parameters=(
        LEVELS_PARAMETER,
        Parameter(
            "split",
            str,
            "all",
            "all asks the 500 questions of the calibration half, on which adjustments of intervals are fitted, and the "
            "500 of the test half. test asks the test half only, and cross asks both halves and scores all questions; "
            "both adjust the interval of each question by all other questions (jackknife+). authors and authors_test "
            "ask the questions of the authors' own halves with their keys: 491 of the 500 of each half, because the "
            "others are not in the archive at the pinned commit.",
            (*SPLITS, CROSS),
        ),
        Parameter(
            "source",
            str,
            "fermi",
            "fermi, or the path of a question file with the fields question and exponent (the key).",
        ),
        Parameter(
            "max_exponent",
            float | None,
            None,
            "Leave out trials whose truth or one of whose ends lies further from 0; the paper's figures use 100. "
            "Defaults to 100 for the authors' questions and to no limit for others. n_excluded counts these trials.",
            low=1.0,
        ),
        NUMBER,
        Parameter(
            "temperature",
            float | str,
            0.0,
            "Temperature of generation. With provider none is sent, as in the paper, so that each provider's default "
            "applies; on Inspect only.",
            (replies.PROVIDER,),
            low=0,
            high=2,
        ),
        STRUCTURED,
        MIRROR,
    ),
    trial=trials.IntervalTrial,
    measures=summary.REPORTED_MEASURES,
    designs={
        "fermieval": Design(
            "FermiEval", "Do intervals contain the truth as often as their nominal coverage says?"
        ),
    },
    headline_measures=(
        "coverage_gap",
        "coverage",
        "conformal_coverage",
        "conformal_jackknife_coverage",
        "mean_width",
        "winkler",
        "conformal_winkler",
        "conformal_jackknife_winkler",
        "parse_rate",
    ),
    domains=EXPONENTS,
    # With split=cross all questions are test questions, which cannot be pooled with runs that have a calibration half.
    pooling=Pooling(subset_parameters=SUBSET_PARAMETERS, protocol_values=frozenset({("split", CROSS)})),
    simulation=Simulation(reply=subject.respond, true_values=subject.true_values),
    report=f"{__name__}.report:REPORT",
)
