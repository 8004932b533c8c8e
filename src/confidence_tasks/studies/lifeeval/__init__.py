"""LifeEval: an age at death, and how sure that it is near enough.

arXiv:2605.23909.
"""

from confidence_tasks.sources.generated import RADII
from confidence_tasks.studies.lifeeval import replies, trials
from confidence_tasks.study import TOP_LOGPROBS, Design, Domain, LazyModule, Paper, Parameter, Study

_checks = LazyModule("confidence_tasks.report.checks")
_general = LazyModule("confidence_tasks.report.figures.general")
_report = LazyModule("confidence_tasks.studies.lifeeval.report")

PAPER = Paper("Anonymous", 2026, "2605.23909")

STUDY = Study(
    name="lifeeval",
    module=__name__,
    title="LifeEval",
    paper=PAPER,
    stages=replies.lifeeval_stages,
    questions=replies.lifeeval_questions,
    conditions=tuple(f"radius={radius}" for radius in RADII),
    condition_parameter="radii",
    read_condition=replies.radius_label,
    condition_of=lambda question: question.level,
    read=trials.read_guess,
    explain=trials.explain,
    metrics=trials.lifeeval_metrics,
    parameters=(
        Parameter(
            "radii", str | int | list[int], "1,5,10,20", "Which of the radii 1, 5, 10 and 20, in years."
        ),
        Parameter(
            "n",
            int | None,
            None,
            "Number of questions, balanced over radius and sex; all 808 by default.",
            low=1,
        ),
        Parameter(
            "window",
            str,
            "half_open",
            "Ages at death that count as within r of k: k - r to k + r - 1 completed years, which the paper's figures "
            "use, or k - r to k + r as it prints the formula. Never compare the two.",
            trials.WINDOWS,
        ),
        Parameter(
            "table",
            str | None,
            None,
            "Another year or country: a CSV file with the columns age, male_qx and female_qx (probability of dying "
            "within a year of reaching each age from 0 to at least 100). The US life table of 2022 by default.",
        ),
        Parameter(
            "population",
            str,
            replies.POPULATION,
            "Whom the prompt speaks of, with the article, to go with the table: 'a Japanese'.",
        ),
        TOP_LOGPROBS,
    ),
    trial=trials.LifeEvalTrial,
    measures=trials.MEASURES + trials.TOKEN_MEASURES,
    designs={
        "lifeeval": Design("LifeEval", "Does confidence follow the difficulty of guessing an age at death?")
    },
    headline_measures=("ece", "score", "confidence", "overconfidence", "hard_easy"),
    condition_columns=replies.CONDITIONS.columns,
    domains={
        "age": Domain(0.0, 150.0, required=True),
        "difficulty": Domain(0.0, 1.0, required=True),
        "window": Domain(values=("half_open", "inclusive")),
    },
    grouping=_report.by_radius_sex_and_age,
    figures=(
        _general.reliability_of_scores,
        _report.by_age,
        _report.best_guesses,
        _report.score_against_confidence,
    ),
    tables=(_report.overview, _report.token_probabilities),
    checks=(_checks.GENERAL, _report.memorised_table, _report.mixed_windows),
    simulate_reply=replies.respond,
    true_values=trials.true_values,
    reply_forms=_report.REPLY_FORMS,
    power=None,
    replication=_report.REPLICATION,
)
