"""Everything that the author of a study imports."""

from confidence_tasks.study.definition import BINARY, Design, Domain, Paper, Study
from confidence_tasks.study.legacy import LazyModule, Reference
from confidence_tasks.study.measure import Measure
from confidence_tasks.study.parameter import STRUCTURED, TOP_LOGPROBS, Parameter, source_parameters
from confidence_tasks.study.records import (
    Asking,
    ConditionRules,
    Pooling,
    Scoring,
    Simulation,
    TaskMetrics,
    Viewer,
)
from confidence_tasks.study.stage import ModelReply, Replies, Stage, Token
from confidence_tasks.study.structured import Structured
from confidence_tasks.study.trial import Question, Reading, Status, Trial

__all__ = [
    "BINARY",
    "STRUCTURED",
    "TOP_LOGPROBS",
    "Asking",
    "ConditionRules",
    "Design",
    "Domain",
    "LazyModule",
    "Measure",
    "ModelReply",
    "Paper",
    "Parameter",
    "Pooling",
    "Question",
    "Reading",
    "Reference",
    "Replies",
    "Scoring",
    "Simulation",
    "Stage",
    "Status",
    "Structured",
    "Study",
    "TaskMetrics",
    "Token",
    "Trial",
    "Viewer",
    "source_parameters",
]
