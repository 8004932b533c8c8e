"""Simulated subject that states an interval or an exponent, in many calls."""

from confidence_tasks.simulation.reply import Reply, StageRequest
from confidence_tasks.studies.fermieval.logprob.subject import respond_exponent
from confidence_tasks.studies.fermieval.sampling.calls import exponent_object
from confidence_tasks.studies.fermieval.sampling.trials import read_cell
from confidence_tasks.studies.fermieval.subject import respond
from confidence_tasks.study.structured import is_structured
from confidence_tasks.study.trial import Question


def respond_sample(question: Question, request: StageRequest) -> Reply:
    """Reply with an interval or an exponent, depending on the condition."""
    ask, *_ = read_cell(request.condition)
    if ask == "interval":
        return respond(question, request)
    reply = respond_exponent(question, request, reasoned=ask == "reasoned")
    if is_structured(question):
        reasoning, _, exponent = reply.text.rpartition("\n")
        return Reply(exponent_object(int(exponent), reasoning), reply.confidence)
    return reply
