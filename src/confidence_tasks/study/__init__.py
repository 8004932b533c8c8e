"""What the author of a study imports."""

from confidence_tasks.study.definition import BINARY, Design, Domain, Paper, Study
from confidence_tasks.study.measures import Measure
from confidence_tasks.study.parameter import Parameter, source_parameters
from confidence_tasks.study.question import Question
from confidence_tasks.study.reading import Reading
from confidence_tasks.study.reference import LazyModule, Reference
from confidence_tasks.study.stage import ModelReply, Replies, Stage, Token
from confidence_tasks.study.trial import Trial

__all__ = [
    "BINARY",
    "Design",
    "Domain",
    "LazyModule",
    "Measure",
    "ModelReply",
    "Paper",
    "Parameter",
    "Question",
    "Reading",
    "Reference",
    "Replies",
    "Stage",
    "Study",
    "Token",
    "Trial",
    "source_parameters",
]
