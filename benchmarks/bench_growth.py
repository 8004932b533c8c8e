"""How the time of every reader grows with the length of a reply: ``python -m benchmarks.bench_growth [NAME ...]``.

For each reader, the script repeats fragments of text that have provoked slow regular expressions, and prints the
fragment whose time grows most from one length to eight times that length. A reader of linear time takes about 8 times
as long, one of quadratic time about 64 times. The exit status is 1 if any reader takes more than 25 times as long.

Times are processor times of this thread, the least of three runs at each length.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from tests.unit.reading.fuzz_targets import PARTS, READERS, SCORED

from confidence_tasks.reading.grading import match_answer
from confidence_tasks.reading.token_probabilities import answer_tokens
from confidence_tasks.studies.logprob_metacognition.domains import domain_of
from confidence_tasks.studies.logprob_metacognition.replies import read_short_answer
from confidence_tasks.study.stage import Token
from confidence_tasks.study.trial import Question

LENGTH, FACTOR = 2_000, 8
"""Characters of the shorter text, and how many times longer the other one is."""

STEEP = 25.0
SHORTEST = 1e-4
"""Seconds below which a time is mostly the fixed cost of a call."""

UNITS = (
    "a", "ab", "é", "\ufffd", " ", "\n", "9", "½", "ﷺ", "١", "1,", "1 111 ", "1.111.", "-", "9-", ";", "'", '"', "$",
    "(", "<", "[", "{", "|", "| a | b |\n", "\\boxed{", "\\frac{", "<think>", "</think>", "<answer>", "<b>", "&amp;",
    "**", "*", "_", "`", "(***a", " __a", " `a", "*. ", " ***a* ", "- ", ". ", "abc.,", "abcd. A",
    "Answer: ", "Answer:\n", "Answer: B\n", "Answer: A or B\n", "Confidence: 1\n", "Confidence: 0.5\n", "Question: ",
    "the answer is A ", "confidence 1 ", "confidence of ", "five ", "A or B ", "because ", "I cannot ", "not ", "no, ",
    "No wait, it's B.\n", "Answer: A\nActually, B.\n", "Correction: ", "ABSTAIN ", "I would abstain but ",
    "if I had to guess ", "between 1 and ", "I need at least ", "confidence that is is ", "at least 9% sure ",
    "B, 9% ", "B, 9%\n", "42 (9%) ", "(9%", "is 42 apples, ", "London ", "= 4, 9%\n",
    '{"Answer":', '{"Answer": "', '"Answer": "B", ', '"Answer": "x" y ', "'Answer'=", '{"\\"', '{"Answer": 1,',
    '{"A": {"Answer": 1}, ', '{"a":', '{"L":', '{"L": 1, "U": 2}', '"L": 10^{', "10^", "[10^1, ", "[10^1,10^2]", "≈",
    "Confidence: 9" + 500 * "9", "Confidence: 9" + 500 * "9 ", "\r", "1 (", "1\n", "1e", "1/", "king ", "world war",
    "ba",
)  # fmt: skip

ALIASES = tuple(f"{'ab' * 49}{i}" for i in range(100))
SPELLINGS = Question("q", "demo", "?", "text", "ab" * 50, aliases=ALIASES)


def _tokens(reply: str) -> Any:
    return answer_tokens([Token(character, -1.0, {}) for character in reply * 3], f"{reply}b", 0, 100)


TARGETS: Mapping[str, Callable[[str], Any]] = {
    **READERS,
    **{f"trial {name}": scored for name, scored in SCORED.items()},
    **PARTS,
    "short answer text": lambda reply: read_short_answer(reply, "text"),
    "short answer number": lambda reply: read_short_answer(reply, "number"),
    "tokens of the answer": _tokens,
    "match": lambda answer: match_answer(answer, SPELLINGS),
    "domain": domain_of,
}
"""Every reader, by name."""


def seconds(work: Callable[[str], Any], text: str) -> float:
    """Return the least processor time of three calls, without garbage collection."""
    times = []
    gc.disable()
    for _ in range(3):
        start = time.thread_time()
        work(text)
        times.append(time.thread_time() - start)
    gc.enable()
    return min(times)


def growth(work: Callable[[str], Any], unit: str) -> tuple[float, float]:
    """Return the ratio of the two times, and the seconds that the longer text takes."""
    short, long = (seconds(work, unit * (n // len(unit))) for n in (LENGTH, FACTOR * LENGTH))
    return long / max(short, SHORTEST), long


def main(chosen: list[str]) -> int:
    """Print one line per reader; return the exit status."""
    if unknown := [name for name in chosen if name not in TARGETS]:
        sys.exit(f"no reader is called {', '.join(unknown)}; there are {', '.join(TARGETS)}")
    print(f"| reader | steepest fragment | times as long | ms for {FACTOR * LENGTH} characters |")
    print("| --- | --- | ---: | ---: |")
    steep = False
    for name in chosen or TARGETS:
        measured = {unit: growth(TARGETS[name], unit) for unit in UNITS}
        unit, (ratio, longest) = max(measured.items(), key=lambda found: found[1])
        steep |= ratio > STEEP
        print(f"| {name} | `{unit!r}` | {ratio:.1f} | {1000 * longest:.1f} |", flush=True)
    return int(steep)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
