"""LifeEval: an age at death, and how sure that it is near enough.

arXiv:2605.23909.
"""

from confidence_tasks.studies.lifeeval import trials
from confidence_tasks.study import Design, Domain, LazyModule, Paper, Reference, Study

_checks = LazyModule("confidence_tasks.report.checks")
_general = LazyModule("confidence_tasks.report.figures.general")
_lm_eval = LazyModule("confidence_tasks.studies.lifeeval.lm_eval")
_replication = LazyModule("confidence_tasks.studies.lifeeval.replication")
_replies = LazyModule("confidence_tasks.studies.lifeeval.replies")
_report = LazyModule("confidence_tasks.studies.lifeeval.report")
_subject = LazyModule("confidence_tasks.studies.lifeeval.subject")
_tables = LazyModule("confidence_tasks.studies.lifeeval.tables")

PAPER = Paper("Anonymous", 2026, "2605.23909")

STUDY = Study(
    name="lifeeval",
    module=__name__,
    title="LifeEval",
    paper=PAPER,
    scorer=Reference("confidence_tasks.studies.lifeeval.trials", "lifeeval_scorer"),
    trial=trials.LifeEvalTrial,
    measures=trials.MEASURES + trials.TOKEN_MEASURES,
    designs={
        "lifeeval": Design("LifeEval", "Does confidence follow the difficulty of guessing an age at death?"),
    },
    columns=("mas",),
    headline=("ece", "score", "confidence", "overconfidence", "hard_easy"),
    condition_numbers=_report.radius_column,
    domains={
        "age": Domain(0.0, 150.0, needed=True),
        "difficulty": Domain(0.0, 1.0, needed=True),
        "window": Domain(values=("half_open", "inclusive")),
    },
    grouping=_tables.by_radius_sex_and_age,
    figures=(
        _general.reliability_of_scores,
        _report.by_difficulty,
        _report.by_age,
        _report.best_guesses,
        _report.score_against_confidence,
    ),
    tables=(_report.overview, _report.hard_easy, _report.token_probabilities),
    checks=(_checks.GENERAL, _report.memorised_table, _report.mixed_windows),
    subset_parameters=frozenset({"radii", "n"}),
    responders=_subject.RESPONDERS,
    true_values=_subject.true_values,
    reply_forms=_replies.REPLY_FORMS,
    replication=_replication.REPLICATION,
    lm_eval=_lm_eval.GROUPS,
)
