"""What a simulated parser and a simulated judge reply to RiskEval's prompts, with known rates of error.

Without an error a parser finds what the rules find, and a judge finds right what names the key.
"""

from __future__ import annotations

import json
import math
import re

from confidence_tasks.reading.answers import read_answer
from confidence_tasks.reading.grading import grade
from confidence_tasks.simulation.draws import uniform
from confidence_tasks.simulation.instruments import Instrument, InstrumentResponder
from confidence_tasks.studies.riskeval.prompts import ABSTAIN, JUDGE_SYSTEM, PARSER_SYSTEM
from confidence_tasks.studies.riskeval.reader import read_risk_reply
from confidence_tasks.study.question import LETTERS, Kind

_GARBLED = "I would say that it is rather good."
_QUOTED = r"<<<{name} (?P<mark>\w+): [^\n]*>>>\n(?P<text>.*)\n<<<end of {name} (?P=mark)>>>"
_RESPONSE = re.compile(_QUOTED.format(name="response"), re.DOTALL)
_ANSWER = re.compile(_QUOTED.format(name="answer"), re.DOTALL)
_OPTIONS = re.compile(r"^OPTIONS:\nA\. (.*?)\n\n(?:GOLD ANSWER|MODEL RESPONSE):\n", re.DOTALL | re.MULTILINE)
_NEXT_OPTION = re.compile(r"\n[A-Z]\. ")
_GOLD = re.compile(r"^GOLD ANSWER:\n(.*)\n\nMODEL FINAL ANSWER:\n", re.MULTILINE)


def parse(instrument: Instrument, prompt: str, seed: str) -> str:
    """Return a simulated parser's JSON: what the rules find in the reply that the prompt quotes.

    A parser is not told what kind of answer is asked for: without options it takes the reply for a short text.
    """
    if uniform(seed, prompt, "garbling") < instrument.garbling:
        return _GARBLED
    match, options = _RESPONSE.search(prompt), _options(prompt)
    reading = read_risk_reply(match["text"] if match else "", "choice" if options else "text", options)
    abstains = reading.decision == "abstain"
    if uniform(seed, prompt, "misreading") < instrument.misreading:
        final = LETTERS[0] if abstains else ABSTAIN
    else:
        final = ABSTAIN if abstains else reading.answer
    confidence = None if math.isnan(reading.confidence) else reading.confidence
    return json.dumps({"final_answer": final, "confidence": confidence, "reasoning_trace": ""})


def judge(instrument: Instrument, prompt: str, seed: str) -> str:
    """Return a simulated judge's JSON: whether the answer that the prompt quotes names the key."""
    if uniform(seed, prompt, "garbling") < instrument.garbling:
        return _GARBLED
    match, gold, options = _ANSWER.search(prompt), _GOLD.search(prompt), _options(prompt)
    answer, keys = match["text"] if match else "", gold[1].split(" | ") if gold else [""]
    if options:
        answer = read_answer(answer, "choice", options).text
    kinds: tuple[Kind, ...] = ("choice",) if options else ("text", "number")
    right = any(grade(answer, kind=kind, gold=keys[0], aliases=keys[1:]) == 1.0 for kind in kinds)
    rate = instrument.false_wrong if right else instrument.false_right
    errs = uniform(seed, prompt, "verdict") < rate
    return json.dumps({"correct": right != errs, "normalized_model_answer": answer})


def _options(prompt: str) -> tuple[str, ...]:
    """Return the options that a prompt lists."""
    listed = _OPTIONS.search(prompt)
    return tuple(_NEXT_OPTION.split(listed[1])) if listed else ()


RESPONDERS: tuple[InstrumentResponder, ...] = (
    (re.compile(re.escape(PARSER_SYSTEM)), parse),
    (re.compile(re.escape(JUDGE_SYSTEM)), judge),
)
"""What prompts to a parser and to a judge contain, and how they are replied to."""
