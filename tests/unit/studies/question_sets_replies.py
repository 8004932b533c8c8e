"""The real replies of the LifeEval paper's three models, and where our readers and the authors' parse part.

The replies themselves stay in the shared data; here are identifiers and reasons only.
"""

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPLIES = "replies/calibration_sets_3_models.jsonl.gz"

TASKS = {
    "life_eval": "lifeeval",
    "boolq_valid": "boolq",
    "sciq_test": "sciq",
    "lsat_ar_test": "lsat_ar",
    "sat_en": "sat_en",
    "halu_eval_qa": "halueval",
}

HAIKU, DEEPSEEK, LLAMA = "claude-3-haiku-20240307", "deepseek-v3", "Meta-Llama-3.1-8B-Instruct"


@dataclass(frozen=True)
class RealReply:
    """One reply with the authors' own parse of it; ``theirs`` is None where they dropped it."""

    task: str
    model: str
    id: str
    text: str
    theirs: dict[str, str] | None
    tokens: dict[str, float]


def real_replies(shared_data: Path) -> Iterator[RealReply]:
    with gzip.open(shared_data / REPLIES, "rt", encoding="utf-8") as lines:
        for line in lines:
            row: dict[str, Any] = json.loads(line)
            parsed = {key: row[key] for key in ("Answer", "Confidence", *"ABCDE") if key in row}
            tokens = {key.removesuffix("_prob"): float(row[key]) for key in row if key.endswith("_prob")}
            kept = parsed if row["coerce"] == "True" else None
            yield RealReply(
                TASKS[row["dataset"]], row["model"], row["Question ID"], row["content"], kept, tokens
            )


@dataclass(frozen=True)
class Disagreement:
    """Replies that one of the two reads and the other does not, for one reason."""

    why: str
    ours: bool
    ids: dict[tuple[str, str], str]

    @property
    def replies(self) -> set[tuple[str, str, str]]:
        return {(task, model, id) for (task, model), ids in self.ids.items() for id in ids.split()}


DISAGREEMENTS = (
    Disagreement(
        "The answer is true or false (or yes or no) with an explanation, as in 'False (currently no operational train "
        "service)'. It commits to one of the two and not to both, so it is an answer; the authors keep bare words.",
        True,
        {
            ("boolq", HAIKU): "836 1210 2083",
            (
                "boolq",
                DEEPSEEK,
            ): "121 360 407 471 531 541 710 744 764 837 1003 1439 1445 1634 1854 1912 1913 1984 "
            "2039 2262 2744 2783 2882",
        },
    ),
    Disagreement("The answer is 'No' instead of 'False'.", True, {("boolq", HAIKU): "842"}),
    Disagreement(
        "Quotation marks within a string are not escaped; the fields that are asked for are intact.",
        True,
        {
            ("boolq", HAIKU): "718",
            (
                "halueval",
                HAIKU,
            ): "346_h 416_r 1731_h 2820_h 3686_r 4321_h 5272_h 5748_h 6084_h 6743_h 6789_h 7205_h "
            "8214_h 8283_h 8517_h 8771_h 9085_h 9393_h 9615_h 9655_h 9696_r",
        },
    ),
    Disagreement("The answer is Python's True without quotation marks.", True, {("boolq", HAIKU): "1933"}),
    Disagreement(
        "The reasoning, and often the answer, lacks one or both of its quotation marks.",
        True,
        {("sat_en", HAIKU): "9 18 19 20 30 32 37 57 58 60 72 74 83 93 99 123 129 158 173 186"},
    ),
    Disagreement(
        "Lines with labels instead of JSON, each probability with a reason behind it.",
        True,
        {("sat_en", HAIKU): "31 126 139 202"},
    ),
    Disagreement(
        "The closing brace is missing; every value is complete.",
        True,
        {("lsat_ar", LLAMA): "41 76", ("sat_en", LLAMA): "193"},
    ),
    Disagreement(
        "The answer is E, which the question does not have, with .2 for each of five options; the authors keep it.",
        False,
        {("sat_en", HAIKU): "138"},
    ),
)
"""Every disagreement on 4,908 replies; where both read a reply, they agree on every value."""

BREAK_OFF = {
    ("boolq", LLAMA): "780 1033 2321",
    ("lifeeval", LLAMA): "471 528",
    (
        "lsat_ar",
        LLAMA,
    ): "6 12 22 23 25 36 38 40 44 50 54 56 74 82 85 102 111 120 125 136 151 154 168 169 179 192 195 196 "
    "197 198 199 200 208 214 223 226 229",
    ("lsat_ar", DEEPSEEK): "159",
    ("sat_en", LLAMA): "137 139",
}
"""Replies that neither reads because they break off before all that was asked for is there."""

NO_COMMITMENT = {
    ("boolq", LLAMA): "203 1393 1960",
    ("boolq", HAIKU): "126 349 702 2336 2629",
    ("boolq", DEEPSEEK): "180 278 410 470 504 639 642 804 886 1596 2189 2273 2574 2830 3129 3256",
    ("lsat_ar", LLAMA): "129",
    ("lsat_ar", DEEPSEEK): "179",
    ("sat_en", LLAMA): "35",
    ("sat_en", HAIKU): "194",
    ("sat_en", DEEPSEEK): "164 194",
}
"""Replies that neither reads because they name no option, hold the words for both, hedge or state zeros only."""
