"""Five calibration question sets: BoolQ, SciQ, LSAT-AR, SAT-EN and HaluEval.

arXiv:2605.23909.
"""

from confidence_tasks.studies.lifeeval import PAPER
from confidence_tasks.studies.lifeeval.question_sets import measures, replies, subject, trials
from confidence_tasks.study import (
    BINARY,
    STRUCTURED,
    TOP_LOGPROBS,
    Asking,
    ConditionRules,
    Design,
    Domain,
    Parameter,
    Scoring,
    Simulation,
    Study,
    Viewer,
    source_parameters,
)


def _set(source: str, title: str, question: str, *others: Parameter, offline_source: str = "") -> Design:
    return Design(
        title,
        question,
        parameters=(*source_parameters(source), *others, STRUCTURED),
        offline_source=offline_source,
    )


STUDY = Study(
    name="question_sets",
    module=__name__,
    title="Calibration question sets",
    paper=PAPER,
    scoring=Scoring(scorer="question_set_scorer", metrics=measures.question_set_metrics),
    stages=replies.question_set_stages,
    questions=replies.question_set_questions,
    condition_rules=ConditionRules(of_question=lambda question: question.source),
    asking=Asking(metadata_keys=("question_set", "given")),
    read=trials.read_reply,
    viewer=Viewer(
        explain=trials.explain, short_condition=lambda label: label.replace("arithmetic_", "sums, ")
    ),
    trial=trials.QuestionSetTrial,
    measures=measures.ALL_MEASURES,
    designs={
        "boolq": _set(
            "boolq",
            "BoolQ",
            "Is the confidence in true or false calibrated?",
            TOP_LOGPROBS,
            offline_source="arithmetic_boolean",
        ),
        **{
            source: _set(
                source,
                title,
                f"Are the probabilities of the options of {kind} calibrated?",
                TOP_LOGPROBS,
                offline_source="arithmetic",
            )
            for source, title, kind in (
                ("sciq", "SciQ", "science questions"),
                ("lsat_ar", "LSAT-AR", "hard logical questions"),
                ("sat_en", "SAT-EN", "questions on a passage"),
            )
        },
        "halueval": _set(
            "halueval",
            "HaluEval",
            "Does confidence separate right answers from hallucinated ones?",
            Parameter(
                "prompt",
                str,
                "given_answer",
                "given_answer tells the model that it has given the answer and asks only for the probability; most "
                "models of the paper were asked with it. own_answer is the authors' older wording: it asks for an "
                "answer and ends with the start of a reply that contains the given answer.",
                tuple(replies.HALUEVAL_PROMPTS),
            ),
        ),
    },
    headline_measures=("ece", "accuracy", "confidence", "overconfidence", "auroc", "parse_rate"),
    domains={
        "correct": Domain(0.0, 1.0, binary_where="stimulus"),
        **dict.fromkeys(("answer_confidence", "judged_confidence"), Domain(0.0, 1.0)),
        **dict.fromkeys(("answer_correct", "judged_correct", "stimulus"), BINARY),
    },
    simulation=Simulation(reply=replies.respond, true_values=subject.true_values),
    report=f"{__name__}.report:REPORT",
)
