"""Table 2 and figures 1 to 6 of Epstein, Winnicki, Sornwanee & Dwaraknath (2025), arXiv:2510.26995, on FermiEval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import product

from confidence_tasks.replications.numbers import from_table
from confidence_tasks.report import paper
from confidence_tasks.report.paper import MODELS, heading
from confidence_tasks.studies.fermieval.methods import BY_LOGPROB, STATED, TASKS
from confidence_tasks.studies.fermieval.replies import level_of

_LEVELS = ("p=0.9", "p=0.95", "p=0.99")
_OPEN = "open"
"""Group of models of the paper's figure 5; figure 1 has the others."""


def _method_score(runs: paper.Runs, cell: paper.Cell, method: str, tables: Sequence[str]) -> paper.Value:
    """Return the score of a method from the first table, in any of the three tasks, that has it.

    NaN if the model was asked, and the method needs other trials, such as a calibration half.
    """
    column = f"p = {level_of(cell.group):g}"
    for table, task in product(tables, TASKS):
        value = from_table(table, column, method=method)(runs, replace(cell, task=task, group=""))
        if isinstance(value, float) and not math.isnan(value):
            return value
    return math.nan if runs.task_of(replace(cell, group="")) else None


_winkler = partial(_method_score, tables=("winkler_as_published", "winkler_by_method"))
_coverage = partial(_method_score, tables=("coverage_as_published", "coverage_by_method"))

REPLICATION = paper.Replication(
    name="fermieval",
    title="FermiEval: Epstein, Winnicki, Sornwanee & Dwaraknath (2025), arXiv:2510.26995",
    tasks=dict.fromkeys(TASKS, paper.TaskParameters("levels")),
    items=(
        paper.NotMade("1", "Four questions of the archive.", why="The table shows examples, not results."),
        paper.PaperTable(
            "2",
            "Coverage on the test half: intervals as stated, and from token probabilities. As in the paper, without"
            " items whose truth or an end lies beyond ±100.",
            stubs=("Model", "Nominal p"),
            rows=(MODELS, tuple(heading(f"{level_of(label):.2f}", group=label) for label in _LEVELS)),
            columns=(
                heading("Baseline obs. cov.", measure=partial(_coverage, method="base"), task=STATED),
                heading("Logprob obs. cov.", measure=partial(_coverage, method="logprob"), task=BY_LOGPROB),
            ),
        ),
        paper.PaperFigure(
            "1",
            "Coverage against nominal coverage, by model. As in the paper, without items whose truth or an end lies"
            " beyond ±100.",
            name="calibration_as_published",
            otherwise="calibration",
            tasks=(STATED,),
            not_of_type=_OPEN,
        ),
        paper.PaperTable(
            "2",
            "Winkler score on the test half, lower is better: intervals as stated, after conformal adjustment"
            " by the calibration half, and from token probabilities. As in the paper, without items whose truth or an"
            " end lies beyond ±100.",
            kind="figure",
            stubs=("p (α)", "method"),
            rows=(
                tuple(
                    heading(f"p={100 * level_of(label):g} (α = {1 - level_of(label):.2f})", group=label)
                    for label in _LEVELS
                ),
                tuple(
                    heading(method, measure=partial(_winkler, method=method), task=task)
                    for method, task in (("base", STATED), ("conformal", STATED), ("logprob", BY_LOGPROB))
                ),
            ),
            columns=MODELS,
        ),
        paper.PaperFigure(
            "3",
            "The perception tunnel: the part of a belief that a query sees.",
            name="tunnels",
            tasks=(STATED,),
        ),
        paper.PaperFigure(
            "4", "The distribution of the ends of stated intervals.", name="stated_ends", tasks=(STATED,)
        ),
        paper.PaperFigure(
            "5",
            "Coverage against nominal coverage, of open models. As in the paper, without items whose truth or an end"
            " lies beyond ±100.",
            name="calibration_as_published",
            otherwise="calibration",
            tasks=(STATED,),
            of_type=_OPEN,
        ),
        paper.PaperFigure("6", "The true exponents of the questions.", name="truths", tasks=(STATED,)),
    ),
)
