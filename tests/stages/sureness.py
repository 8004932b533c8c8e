"""A study of two stages and two conditions: the confidence in the reply, or asked about the answer afterwards."""

import math
import re

from confidence_tasks.reading.grading import grade
from confidence_tasks.simulation.reply import Reply, answer
from confidence_tasks.sources import load_asked
from confidence_tasks.study import (
    Design,
    Parameter,
    Simulation,
    Stage,
    Study,
    Trial,
    Viewer,
    source_parameters,
)
from confidence_tasks.study.measures import ACCURACY, PARSE_RATE, auroc, calibration_error


class SurenessTrial(Trial):
    answer: str
    tokens: float


def ask_answer(question, condition, replies):
    return f"{question.text}\nReply with yes or no, and how sure you are in percent."


def ask_confidence(question, condition, replies):
    if condition == "stated":
        return None
    (said,) = re.findall(r"^\s*(\S*)", replies["answer"][0].text)
    return f"How sure are you that {said} is right, in percent?"


def read(question, condition, replies):
    said = replies["answer"][0].text
    told = said if condition == "stated" else replies["confidence"][0].text
    found, percent = re.search(r"\b(yes|no)\b", said, re.I), re.search(r"\b(\d+)%", told)
    text = found[1].lower() if found else ""
    return SurenessTrial(
        question_id=question.id,
        source=question.source,
        condition=condition,
        correct=grade(text, kind=question.kind, gold=question.gold),
        confidence=int(percent[1]) / 100 if percent else math.nan,
        status="ok" if found and percent else "unreadable",
        answer=text,
        tokens=sum(reply.output_tokens for said in replies.values() for reply in said),
    )


def subject(question, request):
    decision = request.subject.decide(question.id, request.condition, request.seed)
    percent = f"{round(100 * decision.confidence)}%"
    if request.stage == "confidence":
        return Reply(percent, decision.confidence)
    said = answer(question, correct=decision.correct, seed=request.seed)
    return Reply(f"{said} {percent}", decision.confidence)


STUDY = Study(
    name="sureness",
    title="Sureness",
    module=__name__,
    stages=(Stage("answer", ask_answer), Stage("confidence", ask_confidence, follows="answer")),
    questions=load_asked,
    conditions=("stated", "asked"),
    read=read,
    parameters=(
        *source_parameters("arithmetic_boolean"),
        Parameter("level", float, 0.5, "A level.", high=1.0),
    ),
    trial=SurenessTrial,
    measures=(
        auroc("auroc", "Chance."),
        calibration_error("ece", "Expected calibration error."),
        ACCURACY,
        PARSE_RATE,
    ),
    designs={"sureness": Design("Sureness", "Does a model know more when it is asked?", baseline="stated")},
    headline_measures=("auroc", "ece", "accuracy"),
    tested_measures=("auroc", "ece"),
    simulation=Simulation(reply=subject),
    viewer=Viewer(columns=("tokens",)),
)
