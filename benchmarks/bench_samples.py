"""CPU time of reading lm-eval's samples of MMLU, as a share of that of ``json.loads`` in the same run.

``python -m benchmarks.bench_samples`` prints both times and their ratio, which should be at most one half. The lines
have the shape and the size of those of lm-eval 0.4.13; their texts and log-likelihoods are made up.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator, Sequence

from confidence_tasks.logs.benchmark_samples import benchmark_samples

N_LINES = 14_042
"""Number of questions of MMLU."""

REPEATS = 5
"""Number of times that each is measured; the fastest counts."""

LETTERS = "ABCD"


def lines(n: int = N_LINES) -> list[bytes]:
    """Return the lines of a file of samples, as lm-eval writes them."""
    return list(_lines(n, random.Random(0)))


def _lines(n: int, rng: random.Random) -> Iterator[bytes]:
    for number in range(n):
        words = " ".join(rng.choices(("which", "of", "the", "following", "is", "true", "about"), k=40))
        choices = [" ".join(rng.choices(("energy", "law", "none", "mass"), k=6)) for _ in LETTERS]
        options = "\n".join(f"{letter}. {text}" for letter, text in zip(LETTERS, choices, strict=True))
        prompt = f"The following are multiple choice questions.\n\n{words}\n{options}\nAnswer:"
        replies = [[f"{-5 * rng.random():.10f}", "False"] for _ in LETTERS]
        arguments = {
            f"gen_args_{i}": {"arg_0": prompt, "arg_1": f" {letter}"} for i, letter in enumerate(LETTERS)
        }
        yield (
            json.dumps(
                {
                    "doc_id": number,
                    "doc": {
                        "question": words,
                        "subject": "physics",
                        "choices": choices,
                        "answer": number % 4,
                    },
                    "target": str(number % 4),
                    "arguments": arguments,
                    "resps": [[reply] for reply in replies],
                    "filtered_resps": replies,
                    "filter": "none",
                    "metrics": ["acc"],
                    "doc_hash": f"{rng.getrandbits(256):064x}",
                    "prompt_hash": f"{rng.getrandbits(256):064x}",
                    "target_hash": f"{rng.getrandbits(256):064x}",
                    "acc": float(rng.random() < 0.5),
                }
            ).encode()
            + b"\n"
        )


def seconds(work: Callable[[], object]) -> float:
    """Return the least CPU time of several runs."""
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def measured(written: Sequence[bytes]) -> tuple[float, float]:
    """Return the CPU time of the reader, and of ``json.loads``."""
    return (
        seconds(lambda: benchmark_samples(written)),
        seconds(lambda: [json.loads(line) for line in written]),
    )


def main() -> None:
    """Print the times and their ratio."""
    written = lines()
    own, plain = measured(written)
    size = sum(map(len, written)) / 2**20
    print(
        f"{len(written):,} lines, {size:.0f} MiB: {own:.3f} s, json.loads {plain:.3f} s, ratio {own / plain:.2f}"
    )


if __name__ == "__main__":
    main()
