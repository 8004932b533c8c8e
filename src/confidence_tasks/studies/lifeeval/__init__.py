"""LifeEval: the model guesses an age at death and states the probability that the guess is within a radius.

arXiv:2605.23909. The folder ``question_sets`` is the study of the paper's question sets.
"""

from confidence_tasks.sources.generated import RADII
from confidence_tasks.studies.lifeeval import measures, replies, subject, trials
from confidence_tasks.study import (
    STRUCTURED,
    TOP_LOGPROBS,
    ConditionRules,
    Design,
    Domain,
    Paper,
    Parameter,
    Scoring,
    Simulation,
    Study,
    Viewer,
)

PAPER = Paper("Anonymous", 2026, "2605.23909")

STUDY = Study(
    name="lifeeval",
    module=__name__,
    title="LifeEval",
    paper=PAPER,
    stages=replies.lifeeval_stages,
    questions=replies.lifeeval_questions,
    conditions=tuple(f"radius={radius}" for radius in RADII),
    condition_rules=ConditionRules(
        parameter="radii",
        label_of=replies.radius_label,
        of_question=lambda question: question.level,
        columns=replies.CONDITIONS.columns,
    ),
    read=trials.read_guess,
    viewer=Viewer(explain=trials.explain),
    scoring=Scoring(metrics=measures.lifeeval_metrics),
    parameters=(
        Parameter("radii", str | int | list[int], "1,5,10,20", "Radii in years, of 1, 5, 10 and 20."),
        Parameter(
            "n",
            int | None,
            None,
            "Number of questions, balanced over radius and sex; by default all 808.",
            low=1,
        ),
        Parameter(
            "window",
            str,
            "half_open",
            "Ages at death that are within r of a guess k: from k - r to k + r - 1 completed years, as in the paper's "
            "results, or to k + r, as in its formula. Scores of different windows must not be compared.",
            trials.WINDOWS,
        ),
        Parameter(
            "table",
            str | None,
            None,
            "Path of another life table: a CSV file with the columns age, male_qx and female_qx (probability of dying "
            "within a year of reaching each age, from 0 to at least 100). By default the US table of 2022.",
        ),
        Parameter(
            "population",
            str,
            replies.POPULATION,
            "Population that the prompt names, with the article, to match the table: 'a Japanese'.",
        ),
        TOP_LOGPROBS,
        STRUCTURED,
    ),
    trial=trials.LifeEvalTrial,
    measures=measures.MEASURES + measures.TOKEN_MEASURES,
    designs={
        "lifeeval": Design("LifeEval", "Does confidence follow the difficulty of guessing an age at death?")
    },
    headline_measures=("ece", "score", "confidence", "overconfidence", "hard_easy", "parse_rate"),
    domains={
        "age": Domain(0.0, 150.0, required=True),
        "difficulty": Domain(0.0, 1.0, required=True),
        "window": Domain(values=trials.WINDOWS),
    },
    simulation=Simulation(reply=replies.respond, true_values=subject.true_values),
    report=f"{__name__}.report:REPORT",
)
