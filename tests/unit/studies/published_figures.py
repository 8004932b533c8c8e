"""What the LifeEval paper prints of the three models whose replies are public, and these replies as trials.

Of SAT-EN and LSAT-AR every reply is public, of the other sets 300 a model, drawn at random. (LSAT-AR is compared on 86
of its 230 questions only, which are not known.)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from tests.trials import lifeeval_trial, question_set_trial

from confidence_tasks.sources import Question, load
from confidence_tasks.sources.generated import lifeeval_questions
from confidence_tasks.studies.lifeeval.question_sets.replies import QUESTION_SETS
from confidence_tasks.studies.lifeeval.trials import guess_score

from .question_sets_replies import DEEPSEEK, HAIKU, LLAMA, RealReply, real_replies

MODELS = (HAIKU, DEEPSEEK, LLAMA)

KEPT = {"boolq": 2503, "halueval": 1790, "lsat_ar": 86, "lifeeval": 751, "sat_en": 173, "sciq": 995}
"""Number of questions after cleaning: table 1."""


class Row(NamedTuple):
    """Accuracy in %, confidence in %, ECE, and share of round confidences in %."""

    accuracy: float
    confidence: float
    ece: float
    rounded: float


TABLE_4 = {
    ("boolq", HAIKU): Row(78.15, 89.76, 0.12, 99.88),
    ("boolq", DEEPSEEK): Row(82.90, 92.94, 0.10, 91.33),
    ("boolq", LLAMA): Row(69.32, 85.98, 0.17, 96.28),
    ("halueval", HAIKU): Row(52.12, 88.65, 0.37, 100.00),
    ("halueval", DEEPSEEK): Row(52.12, 67.16, 0.15, 100.00),
    ("halueval", LLAMA): Row(52.12, 71.21, 0.20, 98.72),
    ("lsat_ar", HAIKU): Row(29.07, 67.39, 0.42, 89.53),
    ("lsat_ar", DEEPSEEK): Row(34.88, 63.84, 0.32, 90.70),
    ("lsat_ar", LLAMA): Row(33.72, 88.80, 0.57, 94.19),
    ("lifeeval", HAIKU): Row(53.02, 79.76, 0.27, 100.00),
    ("lifeeval", DEEPSEEK): Row(53.26, 63.72, 0.12, 100.00),
    ("lifeeval", LLAMA): Row(48.39, 59.85, 0.14, 100.00),
    ("sat_en", HAIKU): Row(88.44, 67.51, 0.22, 98.84),
    ("sat_en", DEEPSEEK): Row(94.80, 72.86, 0.24, 100.00),
    ("sat_en", LLAMA): Row(83.82, 85.52, 0.12, 94.80),
    ("sciq", HAIKU): Row(94.07, 84.35, 0.11, 99.80),
    ("sciq", DEEPSEEK): Row(97.09, 86.55, 0.11, 98.99),
    ("sciq", LLAMA): Row(91.06, 94.51, 0.05, 97.29),
}

SAT_EN_DIGITS = {
    # ECE and overconfidence with all digits, from the authors' repository
    HAIKU: (0.22083148065807037, -0.20927078701645163),
    DEEPSEEK: (0.241907514450867, -0.21936416184971097),
    LLAMA: (0.11537630641676877, 0.01704618438722494),
}


class HardEasy(NamedTuple):
    """ECE and regression coefficient of LifeEval."""

    ece: float
    slope: float


TABLE_2 = {HAIKU: HardEasy(0.267, 0.996), DEEPSEEK: HardEasy(0.124, 0.782), LLAMA: HardEasy(0.142, 0.941)}

DROPPED = ("138", "8", "12", "203")
"""In reply 138 Claude answers E, which no question has. Three more questions were dropped because of models whose
replies are not here: with these three (or one of 29 equivalent triples) out, accuracy and confidence of all three
models are the published ones to every digit, and then the ECE is a check."""

READINGS = Path(__file__).with_name("sat_en_readings.csv")
"""What our readers made of SAT-EN's replies, so that its figures are checked without the replies, which their authors
published under the MIT licence (NoamMichael/Comparing-Confidence-in-LLMs at 560aae77)."""

NUMBERS = ["kept", "correct", "confidence", "answer_correct", "answer_confidence"]


def sat_en_readings() -> pd.DataFrame:
    """Return the readings that travel with the tests."""
    return pd.read_csv(READINGS, dtype={"id": str})


def published_sat_en(readings: pd.DataFrame, model: str) -> pd.DataFrame:
    """Return the readings of a model's replies to the 173 questions that the paper's table is of."""
    kept = (readings.groupby("id")["kept"].transform("min") == 1) & ~readings["id"].isin(DROPPED)
    return readings[kept & (readings["model"] == model)]


def known_questions(shared_data: Path) -> dict[str, dict[str, Question]]:
    """Return the questions that the sets' sources have under the replies' ids."""
    mirror = shared_data / "hub"
    known = {
        name: {str(int(question.id.rsplit("-", 1)[1])): question for question in load(name, mirror=mirror)}
        for name in ("boolq", "lsat_ar", "sat_en", "sciq")
    }
    return {**known, "lifeeval": {str(i): person for i, person in enumerate(lifeeval_questions())}}


def question_of(reply: RealReply, known: dict[str, dict[str, Question]]) -> Question:
    """Return what a reply answers."""
    return known.get(reply.task, {}).get(reply.id) or Question(
        reply.id,
        reply.task,
        "",
        "boolean",
        {"r": "yes", "h": "no"}.get(reply.id[-1]),
    )


def published_trials(shared_data: Path) -> dict[str, pd.DataFrame]:
    """Return trials by task, with the model and whether the authors kept the reply."""
    known = known_questions(shared_data)
    rows = defaultdict(list)
    for reply in real_replies(shared_data):
        question = question_of(reply, known)
        if reply.task == "lifeeval":
            trial = dict(lifeeval_trial(question, reply.text))
        else:
            trial = dict(question_set_trial(QUESTION_SETS[reply.task].form, question, reply.text))
        rows[reply.task].append(
            {**trial, "model": reply.model, "id": reply.id, "kept": float(reply.theirs is not None)}
        )
    return {task: pd.DataFrame(found) for task, found in rows.items()}


def cannot_be_scored(reply: RealReply) -> bool:
    """Return whether the authors dropped a reply, or read an answer that is no option or zeros for every option."""
    theirs = reply.theirs
    if theirs is None or "A" not in theirs:
        return theirs is None
    return theirs["Answer"] not in theirs or not any(float(theirs.get(letter, 0)) for letter in "ABCDE")


def their_pair(reply: RealReply, known: dict[str, dict[str, Question]]) -> tuple[float, float]:
    """Return correctness and normalised confidence of the stated answer in the authors' parse."""
    theirs = reply.theirs
    assert theirs is not None
    question = question_of(reply, known)
    if reply.task == "lifeeval":
        return guess_score(question, int(float(theirs["Answer"]))), float(theirs["Confidence"])
    if reply.task == "halueval":
        return float(question.gold == "yes"), float(theirs["Confidence"])
    if reply.task == "boolq":
        said = {"True": "yes", "False": "no"}[theirs["Answer"]]
        return float(said == question.gold), float(theirs["Confidence"])
    stated = [float(theirs[letter]) for letter in question.options]
    chosen = float(theirs[theirs["Answer"]]) / sum(
        stated
    )  # not fsum: `printed_round_share` depends on the last bit
    return float(theirs["Answer"] == question.gold), chosen


def authors_parse(shared_data: Path) -> dict[tuple[str, str], dict[str, tuple[float, float]]]:
    """Return correctness and confidence of the replies that the authors kept, by task and model, then id."""
    known = known_questions(shared_data)
    pairs: dict[tuple[str, str], dict[str, tuple[float, float]]] = defaultdict(dict)
    for reply in real_replies(shared_data):
        if not cannot_be_scored(reply):
            pairs[reply.task, reply.model][reply.id] = their_pair(reply, known)
    return pairs


def stated_answers(trials: pd.DataFrame) -> pd.DataFrame:
    """Return ``id``, ``correct`` and ``confidence`` of the stated answers, where both are known."""
    prefix = "answer_" if "answer_correct" in trials else ""
    chosen = trials[["id", f"{prefix}correct", f"{prefix}confidence"]]
    return chosen.set_axis(["id", "correct", "confidence"], axis=1).dropna()


def printed_round_share(confidences: Iterable[float]) -> float:
    """Return the share of multiples of .05 by the authors' test, a remainder of floats, in %."""
    found = [(100 * confidence) % 5 == 0 for confidence in confidences]
    return 100 * sum(found) / len(found)


def plain_ece(correct: list[float], confidence: list[float]) -> float:
    """Equation 6 of the paper, bin by bin: closed on the right, the first one on both sides."""
    total = 0.0
    for m in range(1, 11):
        members = [
            (a, c)
            for a, c in zip(correct, confidence, strict=True)
            if (m - 1) / 10 < c <= m / 10 or (m == 1 and c == 0)
        ]
        total += abs(sum(a - c for a, c in members))
    return total / len(correct)
