"""All question sets side by side, and LifeEval beside them: tables 3 and 4 of arXiv:2605.23909."""

from confidence_tasks.report.overviews import OverviewDesign, Side
from confidence_tasks.studies.question_sets import STUDY

STATED = {name: f"answer_{name}" for name in ("ece", "accuracy", "confidence", "overconfidence")}
"""What the question sets call measures of the stated answer."""

ALL_QUESTION_SETS = OverviewDesign(
    name="all_question_sets",
    title="All question sets",
    question="On which kinds of questions is each model’s confidence right?",
    note="Accuracy and confidence are of the stated answer; for LifeEval accuracy is the score, the probability that a"
    " guess comes within the radius, over all radii asked; for HaluEval it is the share of the given answers that are"
    " right, the same for every model that judges all of them.",
    sides=(Side("question_sets", names=STATED), Side("lifeeval", "all", {"accuracy": "score"})),
    measures=tuple(
        STUDY.measure[name] for name in ("ece", "accuracy", "confidence", "overconfidence", "round_share")
    ),
)
"""Tables 3 and 4 of arXiv:2605.23909, and overconfidence as in its figure 2."""

OVERVIEWS = (ALL_QUESTION_SETS,)
