"""FermiEval: an interval for an order of magnitude, at four nominal coverages.

Epstein, Winnicki, Sornwanee & Dwaraknath (2025), arXiv:2510.26995.
"""

from confidence_tasks.studies.fermieval import replies, trials
from confidence_tasks.studies.fermieval.replies import CONDITIONS, CROSS, EXPONENTS, LEVELS
from confidence_tasks.study import Design, LazyModule, Paper, Parameter, Study

_checks = LazyModule("confidence_tasks.report.checks")
_report = LazyModule("confidence_tasks.studies.fermieval.report")
_subject = LazyModule("confidence_tasks.studies.fermieval.subject")
_tunnel = LazyModule("confidence_tasks.studies.fermieval.tunnel")

PAPER = Paper("Epstein, Winnicki, Sornwanee & Dwaraknath", 2025, "2510.26995")

SUBSET_PARAMETERS = frozenset({"levels", "split"})

SPLITS = ("all", "test", "authors", "authors_test")
"""Which questions may be asked: those of both halves, or of the test half, so that nothing is fitted; drawn by seed, or
those of the paper's authors."""

LEVELS_PARAMETER = Parameter(
    "levels", str | float | list[float], "0.9,0.95,0.99,0.998", "Nominal coverages, such as 0.9,0.99."
)

_N = Parameter(
    "n", int | None, None, "Number of questions, in turns from both halves; all by default.", low=1
)
_MIRROR = Parameter("mirror", str | None, None, "Folder with local copies of the question sources.")

EXPONENT_PARAMETERS = (
    LEVELS_PARAMETER,
    Parameter(
        "split",
        str,
        "all",
        "Ask both halves, or the test half only, with nothing fitted to the other; drawn by seed, or the paper's own.",
        SPLITS,
    ),
    _N,
    _MIRROR,
)
"""Parameters of the tasks that ask for a single exponent."""

STUDY = Study(
    name="fermieval",
    module=__name__,
    title="FermiEval",
    paper=PAPER,
    stages=replies.fermieval_stages,
    questions=replies.fermieval_questions,
    conditions=tuple(map(CONDITIONS.label, LEVELS)),
    condition_parameter="levels",
    read_condition=CONDITIONS.label_of,
    metadata_keys=("split", "max_exponent"),
    read=trials.read_interval,
    explain=trials.explain,
    status_descriptions=trials.MEANINGS,
    metrics=trials.fermieval_metrics,
    parameters=(
        LEVELS_PARAMETER,
        Parameter(
            "split",
            str,
            "all",
            "all asks 500 questions of a calibration half, by which intervals are adjusted, and 500 of a test half. "
            "Where no calibration half can be spared, test asks the test half only, and cross judges the questions of "
            "both halves; the interval of each question is then adjusted by all others (jackknife+). authors and "
            "authors_test ask the questions of the paper's own halves with its keys: 491 of the 500 of each half, as "
            "the others are not in the archive at the pinned commit.",
            (*SPLITS, CROSS),
        ),
        Parameter(
            "source",
            str,
            "fermi",
            "fermi, or the path of a file of questions with the fields question and exponent, the key.",
        ),
        Parameter(
            "max_exponent",
            float | None,
            None,
            "Leave out what the paper's figures leave out, with 100: trials whose truth or an end lies further from 0. "
            "By default 100 for the authors' questions, and no limit for others. n_excluded counts them.",
            low=1.0,
        ),
        _N,
        Parameter(
            "temperature",
            float,
            0.0,
            "Of generation; the paper leaves the provider's default, which differs between providers.",
            low=0,
            high=2,
        ),
        _MIRROR,
    ),
    trial=trials.IntervalTrial,
    measures=trials.REPORTED_MEASURES,
    designs={
        "fermieval": Design("FermiEval", "Do intervals hold the truth as often as they were asked to?"),
    },
    viewer_columns=("winkler",),
    headline_measures=(
        "coverage_gap",
        "coverage",
        "conformal_coverage",
        "conformal_jackknife_coverage",
        "mean_width",
        "winkler",
        "conformal_winkler",
        "conformal_jackknife_winkler",
    ),
    condition_columns=CONDITIONS.columns,
    domains=EXPONENTS,
    figures=(
        _report.calibration,
        _report.winkler_by_method,
        _tunnel.tunnels,
        _tunnel.stated_ends,
        _report.truths,
    ),
    tables=(
        _report.method_scores,
        _report.paper_scores,
        _report.method_coverage,
        _tunnel.perception,
    ),
    checks=(_checks.READING, _report.degenerate, _report.no_calibration_half),
    subset_parameters=SUBSET_PARAMETERS,
    # All questions are then judged, each by the others: beside a calibration half they would count for both.
    protocol_values=frozenset({("split", "cross")}),
    simulate_reply=_subject.respond,
    true_values=_subject.true_values,
    reply_forms=_report.REPLY_FORMS,
    power=_subject.POWER,
    replication=_report.REPLICATION,
)
