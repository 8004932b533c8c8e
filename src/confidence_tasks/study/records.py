"""The records of a :class:`~confidence_tasks.study.Study`, which hold its optional fields by what they are about."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from confidence_tasks.study.legacy import Reference
from confidence_tasks.study.measure import Measure
from confidence_tasks.study.stage import Token
from confidence_tasks.study.trial import Question, Status


@dataclass(frozen=True, slots=True)
class Asking:
    """How questions are put to a model.

    Attributes
    ----------
    source : str
        Name of the question source, if the tasks have no parameter for it; by default the name of the study.
    offline_source : str
        A source of generated questions, such as ``arithmetic``. lm-eval then has further tasks that ask these
        questions and download nothing.
    repeats_parameter : str
        Name of the parameter that holds the number of times each question is asked under each condition. Each of these
        replies is a trial of its own. By default each question is asked once.
    metadata_keys : tuple of str, optional
        Keys of a question's metadata that are stored with each sample, where the reader and simulated subjects find
        them; by default all keys.
    worked_example : callable, optional
        ``worked_example(question, condition, number)`` returns the reply shown in a few-shot example, numbered from 0.
        By default an ideal simulated subject replies.
    """

    source: str = ""
    offline_source: str = ""
    repeats_parameter: str = ""
    metadata_keys: tuple[str, ...] | None = None
    worked_example: Callable[[Question, str, int], str] | None = None


@dataclass(frozen=True, slots=True)
class ConditionRules:
    """How the conditions of a study are selected, named and recorded.

    Attributes
    ----------
    parameter : str
        Name of the parameter by which a user selects conditions. If there are several conditions and the study has no
        parameter of this name, its tasks get a parameter ``conditions``.
    select : callable, optional
        ``select(parameters)`` returns the conditions that are asked. By default the parameter lists them.
    label_of : callable, optional
        ``label_of(text)`` returns the label of the condition that a user names, if there are more conditions than the
        study lists. It raises ValueError for a text that names none.
    of_question : callable, optional
        ``of_question(question)`` returns the only condition under which the question is asked.
    columns : callable
        ``columns(label)`` returns the columns of a trial that follow from its condition, such as the penalty. It raises
        ValueError for a label that is not a condition of the study.
    absent_without_values : frozenset of str
        Conditions that reports leave out if no trial of a model has a confidence there, because the model cannot give
        what they need.

    Examples
    --------
    >>> ConditionRules(columns=lambda label: {"penalty": float(label)}).columns("20")
    {'penalty': 20.0}
    """

    parameter: str = "conditions"
    select: Callable[[Mapping[str, Any]], Sequence[str]] | None = None
    label_of: Callable[[str], str] | None = None
    of_question: Callable[[Question], str] | None = None
    columns: Callable[[str], Mapping[str, float]] = lambda label: {}
    absent_without_values: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class TaskMetrics:
    """The metrics that the log of a task contains.

    Attributes
    ----------
    summary : callable, optional
        ``summary(trials, names=None, **arguments)`` returns metrics keyed ``measure/condition``, of the measures in
        ``names``, or of all measures. A log stores the address of the function, so that ``rescore`` can call it again.
        None computes every measure of the study in each of ``arguments["conditions"]``.
    arguments : mapping
        Keyword arguments of ``summary``. A log stores them as JSON.
    measures : tuple of Measure
        The measures that ``summary`` computes.
    headline_condition : str
        Condition of the log's headline metric.
    overall : tuple of str
        Conditions that are logged first. Of the other conditions a log has the first headline measure only.
    default_measures : tuple of str
        Measures that are logged by default; by default the headline measures of the study.
    """

    summary: Callable[..., Mapping[str, float]] | None
    arguments: Mapping[str, Any]
    measures: tuple[Measure, ...]
    headline_condition: str
    overall: tuple[str, ...] = ()
    default_measures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Scoring:
    """How a harness scores samples, and what it logs.

    Attributes
    ----------
    scorer : Reference or str
        Name of the scorer in logs, or a function that makes the scorer; by default ``<name>_scorer``, which calls the
        reader. A parameter of the task is passed to the option of the same name.
    options : tuple of str
        Names of parameters that change how replies are read. They are options of the scorer, so that a log can be
        scored again with other values. The reader finds them in the metadata of the question.
    roles : callable, optional
        ``roles(parameters, questions)`` returns the model roles that the scorer itself calls, such as a judge.
    metrics : callable, optional
        ``metrics(parameters, conditions)`` returns the :class:`TaskMetrics` of a log; by default every measure in every
        condition.
    """

    scorer: Reference | str = ""
    options: tuple[str, ...] = ()
    roles: Callable[[Mapping[str, Any], Sequence[Question]], Sequence[str]] | None = None
    metrics: Callable[[Mapping[str, Any], Sequence[str]], TaskMetrics] | None = None


@dataclass(frozen=True, slots=True)
class Viewer:
    """What Inspect's log viewer shows of a trial.

    Attributes
    ----------
    columns : tuple of str
        Columns of a trial that the sample list shows beside the common ones, which leave about 80 of 1,280 pixels. All
        columns are in the metadata of a score.
    short_condition : callable
        ``short_condition(label)`` returns the label of a condition for the sample list, whose column has room for 14
        characters.
    explain : callable, optional
        ``explain(trial, question, tokens)`` returns the rows of the table that is shown beside a trial: markdown by the
        name of the row. ``tokens`` are those of the first reply. Rows for the status and the reading rules are added; a
        row ``Reading`` replaces the description of the status.
    status_descriptions : mapping of Status to str
        Description of a status, where the general one does not fit the study.

    Examples
    --------
    >>> Viewer(short_condition=lambda label: label.removeprefix("semantic_")).short_condition("semantic_entropy")
    'entropy'
    """

    columns: tuple[str, ...] = ()
    short_condition: Callable[[str], str] = str
    explain: Callable[[Any, Question, Sequence[Token]], Mapping[str, str]] | None = None
    status_descriptions: Mapping[Status, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Pooling:
    """Which runs a report puts together: those that differ only in the selection of questions and conditions.

    Attributes
    ----------
    subset_parameters : frozenset of str
        Names of parameters that select questions or conditions and change nothing else, beside ``n``, ``mirror`` and
        the condition parameter.
    protocol_values : frozenset of (str, str)
        Values of subset parameters that do change what a trial means: pairs of a parameter and its value.
    """

    subset_parameters: frozenset[str] = frozenset({"source", "sources"})
    protocol_values: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True, slots=True)
class Simulation:
    """How simulated models reply.

    Attributes
    ----------
    reply : callable, optional
        ``reply(question, request)`` returns the reply of a simulated subject to one call, described by a
        :class:`~confidence_tasks.simulation.reply.StageRequest`.
    true_values : callable, optional
        ``true_values(subject, condition, task, parameters)`` returns the expected value of each measure for a simulated
        subject (:class:`~confidence_tasks.simulation.subject.Subject`), by name. It raises ValueError for an unknown
        condition.
    roles : tuple of RoleResponder
        Pairs: a pattern that recognises a prompt to a parser or a judge, and the function that replies to the
        prompt as a simulated one (:class:`~confidence_tasks.simulation.reply.RoleResponder`).
    """

    reply: Callable[..., Any] | None = None
    true_values: Callable[..., Mapping[str, float]] | None = None
    roles: tuple[Any, ...] = ()
