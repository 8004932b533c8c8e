"""Five calibration question sets: BoolQ, SciQ, LSAT-AR, SAT-EN and HaluEval.

arXiv:2605.23909.
"""

from confidence_tasks.studies.lifeeval import PAPER
from confidence_tasks.studies.question_sets import trials
from confidence_tasks.study import BINARY, Design, Domain, LazyModule, Reference, Study

_lifeeval = LazyModule("confidence_tasks.studies.lifeeval.report")
_lm_eval = LazyModule("confidence_tasks.studies.question_sets.lm_eval")
_overview = LazyModule("confidence_tasks.studies.question_sets.overview")
_general = LazyModule("confidence_tasks.report.figures.general")
_replies = LazyModule("confidence_tasks.studies.question_sets.replies")
_report = LazyModule("confidence_tasks.studies.question_sets.report")
_subject = LazyModule("confidence_tasks.studies.question_sets.subject")

STUDY = Study(
    name="question_sets",
    module=__name__,
    title="Calibration question sets",
    paper=PAPER,
    scorer=Reference("confidence_tasks.studies.question_sets.trials", "question_set_scorer"),
    trial=trials.QuestionSetTrial,
    measures=trials.ALL_MEASURES,
    designs={
        "boolq": Design("BoolQ", "Is the confidence in true or false calibrated?"),
        "sciq": Design("SciQ", "Are the probabilities of the options of science questions calibrated?"),
        "lsat_ar": Design(
            "LSAT-AR", "Are the probabilities of the options of hard logical questions calibrated?"
        ),
        "sat_en": Design(
            "SAT-EN", "Are the probabilities of the options of questions on a passage calibrated?"
        ),
        "halueval": Design("HaluEval", "Does confidence tell right answers from hallucinated ones?"),
    },
    headline=("ece", "accuracy", "confidence", "overconfidence", "auroc"),
    figures=(
        _general.GENERAL,
        _report.pooled_calibration,
        _report.calibration_by_model_and_set,
        _report.stated_and_token_ece,
    ),
    tables=(_report.performance, _report.performance_across_sets, _lifeeval.token_probabilities),
    domains={
        **dict.fromkeys(("answer_confidence", "judged_confidence"), Domain(0.0, 1.0)),
        **dict.fromkeys(("answer_correct", "judged_correct", "stimulus"), BINARY),
    },
    binary_where=(("correct", "stimulus"),),
    responders=_subject.RESPONDERS,
    true_values=_subject.true_values,
    reply_forms=_replies.REPLY_FORMS,
    overviews=_overview.OVERVIEWS,
    lm_eval=_lm_eval.GROUPS,
)
