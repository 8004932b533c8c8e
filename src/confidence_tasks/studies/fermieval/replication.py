"""The tables and figures of FermiEval's paper: Epstein et al. (2025), arXiv:2510.26995."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

from confidence_tasks.report.paper import (
    MODELS,
    Axis,
    Cell,
    Compute,
    NotMade,
    PaperFigure,
    PaperTable,
    Replication,
    Runs,
    TaskParameters,
    Value,
    from_table,
    heading,
)
from confidence_tasks.studies.fermieval.prompts import level_of
from confidence_tasks.studies.fermieval.report import BY_LOGPROB, SAMPLED, STATED

_TASKS = (STATED, BY_LOGPROB, SAMPLED)
_LEVELS = ("p=0.9", "p=0.95", "p=0.99")


def _of_method(method: str, *tables: str) -> Compute:
    """Return what reads a method's number from the first of some tables that there is; one task has it for all."""

    def value(runs: Runs, cell: Cell) -> Value:
        column = f"p = {level_of(cell.group):g}"
        for table, task in product(tables, _TASKS):
            found = from_table(table, column, method=method)(runs, replace(cell, task=task, group=""))
            if isinstance(found, float) and not math.isnan(found):
                return found
        return None

    return value


_WINKLER: Axis = tuple(
    heading(method, measure=_of_method(method, "winkler_as_published", "winkler_by_method"), task=task)
    for method, task in (("base", STATED), ("conformal", STATED), ("logprob", BY_LOGPROB))
)

_PARAMETERS = TaskParameters("levels")

REPLICATION = Replication(
    name="fermieval",
    title="FermiEval: Epstein, Winnicki, Sornwanee & Dwaraknath (2025), arXiv:2510.26995",
    tasks=dict.fromkeys(_TASKS, _PARAMETERS),
    items=(
        NotMade("1", "Four questions of the archive.", why="They are examples, not results."),
        PaperTable(
            "2",
            "Coverage on the test half: intervals as stated, and from token probabilities.",
            stubs=("Model", "Nominal p"),
            rows=(MODELS, tuple(heading(f"{level_of(label):.2f}", group=label) for label in _LEVELS)),
            columns=(
                (
                    heading(
                        "Baseline obs. cov.", measure=_of_method("base", "coverage_by_method"), task=STATED
                    ),
                    heading(
                        "Logprob obs. cov.",
                        measure=_of_method("logprob", "coverage_by_method"),
                        task=BY_LOGPROB,
                    ),
                ),
            ),
        ),
        PaperFigure("1", "Coverage against nominal coverage, by model.", name="calibration", tasks=(STATED,)),
        PaperTable(
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
                _WINKLER,
            ),
            columns=(MODELS,),
        ),
        PaperFigure(
            "3", "The perception tunnel: what a query sees of a belief.", name="tunnels", tasks=(STATED,)
        ),
        PaperFigure("4", "Where the ends of stated intervals lie.", name="stated_ends", tasks=(STATED,)),
        PaperFigure(
            "5",
            "Coverage against nominal coverage; the paper’s open models.",
            name="calibration",
            tasks=(STATED,),
        ),
        PaperFigure("6", "The true exponents of the questions.", name="truths", tasks=(STATED,)),
    ),
)
