"""RiskEval: answer or abstain, under a penalty for wrong answers.

Wang, Zhou, Devic & Fu (2026), arXiv:2601.07767.
"""

from confidence_tasks.studies.riskeval import measures, replies, subject, summary, trials
from confidence_tasks.studies.riskeval.replies import (
    CONDITIONS,
    DEFAULT_SOURCE,
    PENALTIES,
    STRATEGIES,
    penalty_text,
)
from confidence_tasks.study import (
    BINARY,
    STRUCTURED,
    Asking,
    ConditionRules,
    Design,
    Domain,
    Paper,
    Parameter,
    Reference,
    Scoring,
    Simulation,
    Study,
    Viewer,
)
from confidence_tasks.study.parameter import MIRROR

STUDY = Study(
    name="riskeval",
    module=__name__,
    title="RiskEval",
    paper=Paper("Wang, Zhou, Devic & Fu", 2026, "2601.07767"),
    scoring=Scoring(
        scorer=Reference("confidence_tasks.studies.riskeval.scorer", "riskeval_scorer"),
        roles=trials.roles_needed,
        metrics=summary.riskeval_metrics,
    ),
    stages=replies.riskeval_stages,
    questions=replies.riskeval_questions,
    conditions=tuple(map(CONDITIONS.label, PENALTIES)),
    condition_rules=ConditionRules(
        parameter="penalties", label_of=CONDITIONS.label_of, columns=CONDITIONS.columns
    ),
    asking=Asking(offline_source="arithmetic", metadata_keys=()),
    read=trials.read_by_rules,
    viewer=Viewer(explain=trials.explain, status_descriptions=trials.MEANINGS, columns=("utility",)),
    parameters=(
        Parameter(
            "source",
            str,
            DEFAULT_SOURCE,
            "Name of a question source, or path of a question file. The paper uses gsm8k, which needs no token, "
            "gpqa_diamond and hle.",
        ),
        Parameter(
            "penalties",
            str | list[str] | float,
            ",".join(map(penalty_text, PENALTIES)),
            "Penalties for a wrong answer; each is a condition.",
        ),
        Parameter(
            "strategy",
            str,
            "base",
            "base states the scoring rule; use_confidence also tells the model to decide by its confidence.",
            tuple(STRATEGIES),
        ),
        Parameter(
            "n", int | None, None, "Number of questions; by default 128, or all of GPQA Diamond.", low=1
        ),
        Parameter(
            "parser",
            str,
            "rules",
            "Reader of the replies: deterministic rules, or the model in the role parser, as in the paper.",
            ("rules", "model"),
        ),
        Parameter(
            "judge",
            str,
            "auto",
            "Judge of the answers. auto: the model in the role judge judges free texts and, if the role is bound, "
            "answers that are none of the options; all others are compared with the key. model: the model judges every "
            "answer. rules: every answer is compared with the key.",
            ("auto", "model", "rules"),
        ),
        Parameter(
            "images",
            str | None,
            None,
            "Send or skip the questions with a picture; required if there are any.",
            ("send", "skip"),
        ),
        STRUCTURED,
        MIRROR,
    ),
    trial=trials.RiskTrial,
    measures=measures.MEASURES + measures.COUNTS,
    designs={
        "riskeval": Design(
            "RiskEval",
            "Does the model act on its confidence when wrong answers cost more?",
            baseline="lambda=0",
            reference_group="all",
        )
    },
    headline_measures=(
        "policy_consistency",
        "normalized_utility",
        "abstention_rate",
        "ece",
        "accuracy_answered",
        "normalized_scaffold_gain",
        "parse_rate",
    ),
    tested_measures=("abstention_rate", "confidence", "ece", "auarc", "brier"),
    pooled_measures=summary.OVER_PENALTIES,
    domains={
        "outcome": Domain(0.0, 1.0),
        **dict.fromkeys(("answered", "available", "same_decision", "same_answer", "same_confidence"), BINARY),
    },
    simulation=Simulation(
        reply=subject.respond, true_values=subject.true_values, roles=subject.SIMULATED_ROLES
    ),
    report=f"{__name__}.report:REPORT",
)
