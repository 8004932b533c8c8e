"""The check that names the judge of answers that a model graded."""

from __future__ import annotations

from collections.abc import Iterator

from confidence_tasks.report.notices import check
from confidence_tasks.report.results import TaskResults


@check(
    "note",
    "A model judged the answers",
    "Intervals do not contain the judge's errors. `confidence-tasks judged --labels FILE` corrects measures by labels"
    " of people for some of the answers.",
)
def judged_by_model(results: TaskResults) -> Iterator[str]:
    """Yield the judge of each model that has one: a model in the role of judge or of Inspect's grader."""
    for model in results.models:
        judges = {file.setup[role] for file in model.files for role in _JUDGES if role in file.setup}
        if judges:
            yield f"{model.label}: {', '.join(sorted(judges))}"


_JUDGES = ("role.judge", "role.grader")
