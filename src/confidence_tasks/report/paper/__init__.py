"""The tables and figures of a study's paper, filled with the models of a report.

A study lists them in its ``replication.py``: what each row and column stands for, in the paper's order and with its
digits. A number is an entry of the report's estimates, or what a function of the study makes of the trials.
"""

from confidence_tasks.report.paper.filled import Filled, FilledCell, filled_papers
from confidence_tasks.report.paper.items import (
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
    by_group,
    by_measure,
    from_table,
    heading,
    is_better,
    is_worse,
    looked_up,
    mean,
    spread,
)

__all__ = [
    "MODELS",
    "Axis",
    "Cell",
    "Compute",
    "Filled",
    "FilledCell",
    "NotMade",
    "PaperFigure",
    "PaperTable",
    "Replication",
    "Runs",
    "TaskParameters",
    "Value",
    "by_group",
    "by_measure",
    "filled_papers",
    "from_table",
    "heading",
    "is_better",
    "is_worse",
    "looked_up",
    "mean",
    "spread",
]
