"""Coverage-guided fuzzing of every reader, by hand: ``python -m benchmarks.fuzz_readers FINDINGS --seconds 3600``.

``--files`` fuzzes the readers of files instead of those of replies.

Needs the ``fuzz`` extra (Atheris, a libFuzzer for Python). The fuzzer follows the branches of the readers' own code and
of their regular expressions. An input that raises, that breaks what must hold of a result, or that takes long is
written to the folder FINDINGS, once for each place and kind of fault, and the run goes on; what is found is mended and
becomes a case in ``tests/unit/reading/test_fuzz_targets.py``.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

import atheris

with atheris.instrument_imports(include=["confidence_tasks"]):
    from tests.unit.reading.fuzz_file_targets import EXAMPLES, FILE_READERS, FileReader, read_text
    from tests.unit.reading.fuzz_targets import PARTS, READERS, SCORED, faults

from tests.unit.studies.awkward_riskeval_replies import AWKWARD as RISKEVAL_REPLIES
from tests.unit.studies.awkward_scale_replies_later import AWKWARD_REPLIES as SCALE_REPLIES

LONGEST = 8_192
"""Bytes of an input."""

SLOW = 0.5
"""Seconds of processor time for an input that are a finding: a hundred times the usual."""

OBJECTS = (
    '{"Reasoning": "so", "Answer": "True", "Confidence": 0.95}',
    '{"Answer": "B", "A": 0.1, "B": 0.7, "C": 0.1, "D": 0.1}',
    '```json\n{"Answer": 84, "Confidence": "70%",}\n```',
    'Some 10^11. {"L": 10^6, "U": 1e9}',
    '{"correct": true, "normalized_model_answer": "B"}',
    '{"final_answer": "ABSTAIN", "confidence": null, "reasoning_trace": "the "odd" one"}',
)
"""Replies in JSON, to begin with."""

REPLIES: dict[str, Callable[[str], Any]] = {
    **PARTS,
    **READERS,
    **{f"trial {name}": scored for name, scored in SCORED.items()},
}


def _from_file(reader: FileReader, folder: Path) -> Callable[[str], Any]:
    return lambda text: read_text(reader, text.encode("utf-8", errors="surrogateescape"), folder)


class Failures:
    """Inputs that broke something, one for each place and kind of fault."""

    def __init__(self, folder: Path, targets: dict[str, Callable[[str], Any]]) -> None:
        self.folder, self.targets = folder, targets
        self.seen: set[tuple[str, ...]] = set()
        self.inputs = 0
        self.started = time.time()

    def test(self, data: bytes) -> None:
        """Give one input to the target that its first byte names."""
        name, text = decoded(data, list(self.targets))
        self.inputs += 1
        start = time.process_time()
        try:
            wrong = [(fault.partition(":")[0], name) for fault in faults(self.targets[name](text))]
        except Exception as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            wrong = [(type(error).__name__, frame.filename.rpartition("/")[2], frame.name)]
        if time.process_time() - start > SLOW:
            wrong.append(("slow", name))
        for signature in wrong:
            self._keep(signature, name, text)
        if self.inputs % 1_000 == 0:
            self.report()

    def _keep(self, signature: tuple[str, ...], name: str, text: str) -> None:
        if signature in self.seen:
            return
        self.seen.add(signature)
        found = {"fault": list(signature), "target": name, "text": text}
        file = blake2b(repr(signature).encode(), digest_size=6).hexdigest()
        (self.folder / f"{file}.json").write_text(json.dumps(found))
        print("FOUND", signature, name, repr(text[:200]), flush=True)

    def report(self) -> None:
        """Write down how far the run has come."""
        so_far = {"inputs": self.inputs, "seconds": time.time() - self.started, "findings": len(self.seen)}
        (self.folder / "progress.json").write_text(json.dumps(so_far))


def decoded(data: bytes, names: list[str]) -> tuple[str, str]:
    """Return the target that an input's first byte names, and the text of the rest; broken UTF-8 is kept as such."""
    return names[(data[0] if data else 0) % len(names)], data[1:].decode("utf-8", errors="surrogateescape")


def reply_seeds() -> Iterator[bytes]:
    """The awkward replies of the tests, each for one of the readers of whole replies."""
    replies = dict.fromkeys([*OBJECTS, *(case.reply for case in (*SCALE_REPLIES, *RISKEVAL_REPLIES))])
    for index, reply in enumerate(replies):
        target = len(PARTS) + index % (len(REPLIES) - len(PARTS))
        yield bytes([target]) + reply.encode("utf-8", errors="surrogateescape")


def file_seeds() -> Iterator[bytes]:
    """A good file for each reader."""
    for target, reader in enumerate(FILE_READERS.values()):
        if reader.name in EXAMPLES:
            yield bytes([target]) + EXAMPLES[reader.name].encode()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("findings", type=Path)
    parser.add_argument("--files", action="store_true")
    parser.add_argument("--seconds", type=int, default=3600)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    corpus = options.findings / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp())
    targets = {name: _from_file(reader, scratch) for name, reader in FILE_READERS.items()}
    for index, seed in enumerate(file_seeds() if options.files else reply_seeds()):
        (corpus / f"seed-{index}").write_bytes(seed)
    atheris.enabled_hooks.add("RegEx")
    found = Failures(options.findings, targets if options.files else REPLIES)
    flags = [f"-max_total_time={options.seconds}", f"-max_len={LONGEST}", f"-seed={options.seed}"]
    limits = ["-timeout=60", "-rss_limit_mb=2048", "-print_final_stats=1", "-reload=0", "-len_control=10"]
    atheris.Setup([sys.argv[0], str(corpus), *flags, *limits], found.test)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
