"""The true measures of a simulated subject on a scale."""

from __future__ import annotations

from confidence_tasks.reading.integer_scale import Scale
from confidence_tasks.simulation.reply import answer, reply_probabilities
from confidence_tasks.simulation.reports import report_distribution
from confidence_tasks.simulation.subject import Subject, expected_values
from confidence_tasks.studies.scales.measures import MEASURES
from confidence_tasks.studies.scales.replies import out_of_format, reply_in_format
from confidence_tasks.studies.scales.trials import read_reply
from confidence_tasks.study.stage import ModelReply
from confidence_tasks.study.trial import Question


def true_values(subject: Subject, condition: str, *run: object) -> dict[str, float]:
    """Return the true values of a subject's measures on a scale, with the paper's elicitation method.

    The task and its parameters are ignored. ``distinct`` is left out, since it grows with the number of questions.

    Examples
    --------
    >>> values = true_values(Subject(), "0-100")
    >>> {name: round(values[name], 3) for name in ("accuracy", "ece", "overconfidence", "auroc")}
    {'accuracy': 0.773, 'ece': 0.0, 'overconfidence': 0.0, 'auroc': 0.734}
    """
    scale = Scale.parse(condition)
    parameters = {"elicitation": "verbal", "strict": False}
    question = Question("true", "true", "How many?", "number", "7", metadata=parameters)
    trials = []
    for (correct, raw), p_report in report_distribution(subject, condition, scale).items():
        chosen = answer(question, correct=correct, seed=0)
        reply = reply_in_format(question, [(chosen, raw)])
        for text, p_text in reply_probabilities(reply, subject, out_of_format(chosen, raw, scale)):
            trial = read_reply(question, condition, {"answer": [ModelReply(text)]})
            trials.append((trial, p_report * p_text))
    return expected_values([measure for measure in MEASURES if measure.name != "distinct"], trials)
