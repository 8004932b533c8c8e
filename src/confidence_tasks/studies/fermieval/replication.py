"""The tables and figures of FermiEval's paper: Epstein et al. (2025), arXiv:2510.26995."""

from __future__ import annotations

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
    heading,
)
from confidence_tasks.studies.fermieval.report import BY_LOGPROB, SAMPLED, STATED, level_of

_TASKS = (STATED, BY_LOGPROB, SAMPLED)
_LEVELS = ("p=0.9", "p=0.95", "p=0.99")


def _of_method(method: str, *tables: str) -> Compute:
    """Return what reads a method's number from the first of some tables that there is; one task has it for all."""

    def value(runs: Runs, cell: Cell) -> Value:
        for table, task in product(tables, _TASKS):
            found = runs.table_of(replace(cell, task=task, group=""), table)
            column = f"p = {level_of(cell.group):g}"
            if found is not None and column in found.frame:
                rows = found.frame[(found.frame["model"] == cell.model) & (found.frame["method"] == method)]
                if len(rows):
                    return float(rows[column].iloc[0])
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
        NotMade(number="1", caption="Four questions of the archive.", why="They are examples, not results."),
        PaperTable(
            number="2",
            caption="Coverage on the test half: intervals as stated, and from token probabilities.",
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
        PaperFigure(
            number="1",
            caption="Coverage against nominal coverage, by model.",
            name="calibration",
            tasks=(STATED,),
        ),
        PaperTable(
            number="2",
            kind="figure",
            caption="Winkler score on the test half, lower is better: intervals as stated, after conformal adjustment"
            " by the calibration half, and from token probabilities. As in the paper, without items whose truth or an"
            " end lies beyond ±100.",
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
            number="3",
            caption="The perception tunnel: what a query sees of a belief.",
            name="tunnels",
            tasks=(STATED,),
        ),
        PaperFigure(
            number="4", caption="Where the ends of stated intervals lie.", name="stated_ends", tasks=(STATED,)
        ),
        PaperFigure(
            number="5",
            caption="Coverage against nominal coverage; the paper’s open models.",
            name="calibration",
            tasks=(STATED,),
        ),
        PaperFigure(
            number="6", caption="The true exponents of the questions.", name="truths", tasks=(STATED,)
        ),
    ),
)
