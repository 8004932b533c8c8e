"""Tasks side by side, as the page shows them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from confidence_tasks.report.estimates import Estimated
from confidence_tasks.report.figures.figure import Figure
from confidence_tasks.report.figures.general import ModelStyles, interval_line, intervals_figure
from confidence_tasks.report.labels import measure_label
from confidence_tasks.report.overviews import Overview
from confidence_tasks.report.page.numbers import signed
from confidence_tasks.report.page.tables import overview_table
from confidence_tasks.report.page.tasks import REFERENCES, figure_view, measure_caption, measure_view
from confidence_tasks.report.page.views import OverviewView


def overview_figures(overview: Overview, styles: ModelStyles) -> list[Figure]:
    """Return a figure of each measure: every model in every task, with intervals."""
    return [
        intervals_figure(
            f"{overview.design.name}_{measure.name}",
            measure_label(measure.name),
            measure_caption(measure, overview.tasks[0].settings),
            overview.columns,
            [
                interval_line(overview, model, overview.columns, measure.name, *styles[model])
                for model in overview.models
            ],
            REFERENCES.get(measure.name),
            joined=False,
        )
        for measure in overview.design.measures
    ]


def overview_view(overview: Overview, figures: Sequence[Figure]) -> OverviewView:
    """Lay out an overview with its figures, as :func:`overview_figures` gives them."""
    design, study = overview.design, overview.tasks[0].task_trials.study
    models = [model for task in overview.tasks for model in task.models]
    measures = tuple(
        measure_view(measure, figure_view(figure), (overview_table(overview, measure),))
        for measure, figure in zip(design.measures, figures, strict=True)
    )
    return OverviewView(
        name=design.name,
        title=design.title,
        question=design.question,
        study=study.title,
        paper=study.paper.cited if study.paper else "",
        paper_url=study.paper.url if study.paper else "",
        sentences=tuple(_overconfidence(overview)),
        measures=measures,
        note=design.note,
        n_trials=sum(map(len, models)),
        n_questions=sum(
            len({name for model in task.models for name in model.columns["question_id"]})
            for task in overview.tasks
        ),
    )


def _overconfidence(overview: Overview) -> Iterator[str]:
    """On which tasks models state more, or less, confidence than their accuracy bears out."""
    for word, side, sign, beyond in _BEYOND:
        counts: list[str] = []
        for column in overview.columns:
            entries = [overview.estimate(model, column, "overconfidence") for model in overview.models]
            asked = [entry for entry in entries if entry is not None]
            if n := sum(beyond(entry) for entry in asked):
                models = "" if counts else " model" if len(asked) == 1 else " models"
                most = max((entry.interval for entry in asked), key=lambda interval: sign * interval.estimate)
                counts.append(f"{column} ({n} of {len(asked)}{models}, by up to {signed(most.estimate)})")
        if counts:
            yield f"{word} confident than right, the interval lying {side} 0: {', '.join(counts)}."


_BEYOND: tuple[tuple[str, str, float, Callable[[Estimated], bool]], ...] = (
    ("More", "above", 1.0, lambda entry: entry.interval.low > 0.0),
    ("Less", "below", -1.0, lambda entry: entry.interval.high < 0.0),
)
