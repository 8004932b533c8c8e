"""A study of samples: one greedy answer with its log-probability, and how many samples agree with it."""

import math

from tests.stages.sureness import subject as sure_subject

from confidence_tasks.reading.grading import grade
from confidence_tasks.simulation.reply import Reply
from confidence_tasks.sources import load_asked
from confidence_tasks.study import Design, Parameter, Simulation, Stage, Study, Trial, source_parameters
from confidence_tasks.study.measures import ACCURACY


class AgreementTrial(Trial):
    logprob: float
    n: float


def ask(question, condition, replies):
    return f"{question.text}\nReply with yes or no."


def ask_judge(question, condition, replies):
    said = replies["answer"][0].text
    return [f"Same: {said} and {reply.text}?" for reply in replies["samples"]]


def stages(parameters):
    return (
        Stage("answer", ask, temperature=0.0, logprobs=parameters["logprobs"]),
        Stage("samples", ask, samples=parameters["samples"], temperature=1.0),
        *(
            [Stage("judge", ask_judge, role="judge", system="You judge.")]
            if parameters["by"] == "judge"
            else []
        ),
    )


def read(question, condition, replies):
    first, samples = replies["answer"][0], [reply.text for reply in replies["samples"]]
    same = [text == first.text for text in samples]
    if "judge" in replies:
        same = [reply.text == "yes" for reply in replies["judge"]]
    return AgreementTrial(
        question_id=question.id,
        source=question.source,
        condition=condition,
        correct=grade(first.text, kind=question.kind, gold=question.gold),
        confidence=sum(same) / len(same),
        status="ok",
        logprob=sum(token.logprob for token in first.tokens) if first.tokens else math.nan,
        n=len(set(samples)),
    )


def subject(question, request):
    reply = sure_subject(question, request)
    return Reply(reply.text.split()[0], reply.confidence)


STUDY = Study(
    name="agreement",
    title="Agreement",
    module=__name__,
    stages=stages,
    questions=load_asked,
    conditions=("agreement",),
    read=read,
    parameters=(
        *source_parameters("arithmetic_boolean"),
        Parameter("samples", int, 4, "Number of samples.", low=2),
        Parameter("logprobs", str, "wanted", "Whether.", choices=("wanted", "required")),
        Parameter("by", str, "match", "How answers are compared.", choices=("match", "judge")),
    ),
    trial=AgreementTrial,
    measures=(ACCURACY,),
    designs={"agreement": Design("Agreement", "Do samples agree?")},
    headline_measures=("accuracy",),
    simulation=Simulation(reply=subject),
)
