"""Log-probability metacognition: the mean log-probability of an answer's tokens as confidence.

Cacioli (2026), arXiv:2603.25112.
"""

from confidence_tasks.studies.logprob_metacognition import (
    author,
    measures,
    replies,
    simulated_replies,
    subject,
    trials,
)
from confidence_tasks.studies.logprob_metacognition.replies import CONDITIONS, TEMPERATURES
from confidence_tasks.study import (
    BINARY,
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
from confidence_tasks.study.parameter import source_parameters

STUDY = Study(
    name="nlp_metad",
    module=__name__,
    title="Log-probability metacognition",
    paper=Paper("Cacioli", 2026, "2603.25112"),
    scoring=Scoring(
        scorer=Reference("confidence_tasks.studies.logprob_metacognition.scorer", "nlp_metad_scorer"),
        roles=trials.classifier_role,
        metrics=measures.nlp_metad_metrics,
    ),
    stages=replies.nlp_metad_stages,
    questions=replies.logprob_questions,
    conditions=tuple(map(CONDITIONS.label, TEMPERATURES)),
    condition_rules=ConditionRules(
        parameter="temperatures", label_of=CONDITIONS.label_of, columns=CONDITIONS.columns
    ),
    asking=Asking(
        offline_source="arithmetic",
        metadata_keys=tuple(replies.FIRST_RELEASE),
        worked_example=replies.example_reply,
    ),
    read=trials.read_reply,
    viewer=Viewer(explain=trials.explain, status_descriptions=trials.MEANINGS, columns=("match",)),
    parameters=(
        *source_parameters("trivia_qa"),
        Parameter(
            "split",
            str,
            author.AUTHOR,
            "Split from which questions of trivia_qa and nq_open are drawn: the author's (train; of nq_open, train and "
            "validation), or validation.",
            (author.AUTHOR, author.VALIDATION),
        ),
        Parameter(
            "prompt",
            str,
            "author",
            "Wording: the author's for chat models, for chat models without a system role, or for base models; or "
            "short, this package's.",
            tuple(author.WORDINGS),
        ),
        Parameter(
            "scoring",
            str,
            author.AUTHOR,
            "Reading of a reply: the author's, where the whole reply is the answer and a refusal is wrong; or line, "
            "which takes the answer out of the first line and leaves refusals out.",
            (author.AUTHOR, replies.LINE),
        ),
        Parameter(
            "similarity",
            float,
            author.SIMILARITY,
            "Least similarity of a right answer and an alias, if they are not equal.",
            low=0.0,
            high=1.0,
        ),
        Parameter(
            "span",
            str,
            replies.ALL_TOKENS,
            "Tokens whose mean log-probability is the evidence: all of the reply, or those of the answer.",
            (replies.ALL_TOKENS, replies.ANSWER_TOKENS),
        ),
        Parameter(
            "temperatures",
            str | float | list[float],
            ",".join(f"{temperature:g}" for temperature in TEMPERATURES),
            "Sampling temperatures, one condition each; 0 is greedy decoding.",
        ),
        Parameter("seed", int, 42, "Seed of the sample of questions, and of sampling.", low=0),
        Parameter(
            "k",
            int,
            measures.RATINGS,
            "Number of confidence levels on either side: the log's metrics of count tables have 2k ratings. Report and "
            "compare use the paper's 8.",
            low=2,
        ),
        Parameter(
            "domains",
            str,
            "lexicon",
            "Method that sorts questions into domains of knowledge: a lexicon, or the model role domain_classifier.",
            trials.DOMAIN_CHOICES,
        ),
        Parameter(
            "force_gold",
            bool,
            False,
            "Also score the right answer's log-probability, for the paper's check R5; providers hf and simulated.",
        ),
    ),
    trial=trials.LogprobTrial,
    measures=measures.MEASURES,
    designs={
        "nlp_metad": Design(
            "Log-probability metacognition",
            "Does the log-probability of a short answer predict whether it is right?",
            reference_group="T=1",
        ),
    },
    headline_measures=(
        "meta_information",
        "auroc2",
        "z_roc_slope",
        "d_a",
        "accuracy_50",
        "accuracy",
        "mratio_v1",
        "parse_rate",
    ),
    domains={
        "correct": BINARY,
        **dict.fromkeys(("mean_logprob", "gold_mean_logprob"), Domain(-1e6, 1e6)),
        "domain": Domain(required=True),
    },
    simulation=Simulation(reply=simulated_replies.respond, true_values=subject.true_values),
    report=f"{__name__}.report:REPORT",
)
