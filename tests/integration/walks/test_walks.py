"""Ten people, each with a purpose: what they type, and what they see at the end."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from tests.integration.commands import run

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[3] / "examples"
BOOLQ = "inspect eval confidence_tasks/boolq -T source=arithmetic_boolean"
SCALES = "inspect eval confidence_tasks/scale_granularity --model simulated/ideal"


@dataclass(frozen=True)
class Walk:
    """Commands typed one after the other, in a folder with some files.

    ``seen`` must be in the output, ``left`` are patterns of files that must exist at the end, and ``check``
    tests more. The last command ends with ``code``.
    """

    commands: tuple[str | tuple[str, ...], ...]
    seen: tuple[str, ...]
    files: tuple[tuple[str, str], ...] = ()
    left: tuple[str, ...] = ()
    code: int = 0
    check: Callable[[Path, str], None] = lambda folder, said: None
    environment: tuple[tuple[str, str], ...] = ()


OWN_QUESTIONS = "\n".join(
    json.dumps(
        {
            "id": f"my-{i}",
            "question": f"{i} + {i}?",
            "kind": "choice",
            "choices": [str(2 * i), "7"],
            "answer": "A",
        }
    )
    for i in range(10)
)
OWN_REPLIES = "question,choices,gold,reply,condition\n" + "".join(
    f'Sum {i}?,{2 * i}|7,A,"Answer: {"AB"[i % 4 == 0]}\nConfidence: {60 + i}",0-100\n' for i in range(20)
)
IN_PYTHON = """
import numpy as np
from confidence_tasks import compare, summary
rng = np.random.default_rng(0)
sure = rng.choice([0.6, 0.8, 0.95], 200)
right = rng.random(200) < sure - 0.2
found = summary(right, sure)
print(found)
found.plot().figure.savefig("curve.png")
print(compare((right, sure), (right, sure - 0.2), questions=range(200)))
"""


def no_row_of_trials(_folder: Path, said: str) -> None:
    assert not re.search(r"\|\s*trial\b", said)


def told_apart_by_any_eye(folder: Path, _said: str) -> None:
    """Each pair of the colours of series differs to those who lack the green or the red cones (Vienot et al. 1999)."""
    page = (folder / "report.html").read_text(encoding="utf-8")
    light = dict(
        re.findall(r"--series-([0-2]):\s*(#[0-9a-f]{6})", page[: page.index("prefers-color-scheme")])
    )
    assert len(light) == 3
    linear = {
        key: (np.array([int(hue[i : i + 2], 16) for i in (1, 3, 5)]) / 255) ** 2.2
        for key, hue in light.items()
    }
    for lacking in (
        [[0.29275, 0.70725, 0.0], [0.29275, 0.70725, 0.0], [-0.02234, 0.02234, 1.0]],
        [[0.11238, 0.88762, 0.0], [0.11238, 0.88762, 0.0], [0.00401, -0.00401, 1.0]],
    ):
        for one, other in combinations(linear.values(), 2):
            assert np.abs(np.array(lacking) @ (one - other)).max() > 0.1
    markers = [
        re.findall(r'<path id="(\w+)"', path.read_text()) for path in (folder / "figures").glob("*.svg")
    ]
    assert any(markers)


WALKS = {
    "first run": Walk(
        (f"{BOOLQ} --model simulated/overconfident -T n=60", "confidence-tasks report logs"),
        seen=("boolq, simulated/overconfident", "true", "0.773", "Overconfidence", "report.html"),
        left=("report.html", "logs/*.eval"),
    ),
    "own questions": Walk(
        (
            f"{SCALES} -T sources=own.jsonl -T scales=0-20",
            "confidence-tasks report logs --json",
        ),
        seen=('"n": 10', '"group": "0-20"'),
        files=(("own.jsonl", OWN_QUESTIONS),),
    ),
    "own replies": Walk(
        (
            "confidence-tasks score replies.csv --study scales --model-name me",
            "confidence-tasks report logs",
        ),
        seen=("recorded/me", "Accuracy", "0.750"),
        files=(("replies.csv", OWN_REPLIES),),
        left=("logs/*.eval",),
    ),
    "compare releases": Walk(
        (
            f"{BOOLQ} --model simulated/ideal -T n=200 --log-dir old",
            f"{BOOLQ} --model simulated/overconfident -T n=200 --log-dir new",
            "confidence-tasks compare old new --measure brier --measure ece --fail-if-worse 0.02",
        ),
        seen=("A  simulated/ideal", "B  simulated/overconfident", "B is worse by more than 0.02 in ece"),
        code=1,
    ),
    "lm-eval only": Walk(
        (
            "lm_eval --model simulated --model_args subject=overconfident --tasks scale_granularity_0_20_arithmetic"
            " --limit 40 --output_path out --log_samples",
            "confidence-tasks report out",
        ),
        seen=("scale_granularity, simulated(subject=overconfident)", "true", "0.773"),
        left=("out/**/samples_*.jsonl", "report.html"),
        check=no_row_of_trials,
    ),
    "Python only": Walk(
        (("python", IN_PYTHON),),
        seen=("measure", "AUROC", "95% interval", "A − B"),
        left=("curve.png",),
    ),
    "no network": Walk(
        (
            f"{BOOLQ} --model simulated/ideal -T n=10",
            f"{SCALES} -T sources=mmlu -T n=3",
        ),
        seen=("confidence-tasks sources fetch mmlu", "CONFIDENCE_TASKS_MIRROR"),
        code=1,
        environment=(("NO_NETWORK", "1"),),
    ),
    "no key": Walk(
        (f"confidence-tasks rescore {EXAMPLES / 'riskeval.eval'}",),
        seen=("ok ", "riskeval.eval"),
    ),
    "Windows paths": Walk(
        (
            (*BOOLQ.split(), "--model", "simulated/ideal", "-T", "n=10", "--log-dir", "My Logs"),
            ("confidence-tasks", "report", "My Logs", "C:\\logs\\[run] 1.eval", "-o", "My report.html"),
        ),
        seen=("skipped C:\\logs\\[run] 1.eval: there is no such file or folder", "My report.html"),
        left=("My report.html",),
    ),
    "colour-blind print": Walk(
        (
            f"{BOOLQ} --model simulated/ideal,simulated/blind,simulated/overconfident -T n=30",
            "confidence-tasks report logs --figures figures",
        ),
        seen=("simulated/blind",),
        left=("figures/*.svg",),
        check=told_apart_by_any_eye,
    ),
}


@pytest.mark.sampled("name")
@pytest.mark.parametrize("name", WALKS)
def test_the_walk_ends_where_it_should(name: str, tmp_path: Path) -> None:
    walk = WALKS[name]
    for path, text in walk.files:
        (tmp_path / path).write_text(text, encoding="utf-8")
    said = ""
    for number, command in enumerate(walk.commands, start=1):
        words = command.split() if isinstance(command, str) else command
        done = run(tmp_path, *words, **dict(walk.environment))
        said += done.stdout + done.stderr
        assert done.returncode == (walk.code if number == len(walk.commands) else 0), said
    assert "Traceback" not in said
    told = " ".join(said.split())
    for text in walk.seen:
        assert " ".join(text.split()) in told, f"{text!r} is not in {told}"
    for pattern in walk.left:
        assert list(tmp_path.glob(pattern)), pattern
    walk.check(tmp_path, said)
    assert "\x1b[" not in said


@pytest.mark.sampled("encoding")
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_a_terminal_of_few_signs_keeps_every_minus(encoding: str) -> None:
    command = [sys.executable, "-c", "from confidence_tasks.cli import main; main()"]
    done = subprocess.run(
        [*command, "compare", *["examples/riskeval.eval"] * 2],
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONIOENCODING": encoding},
    )
    # click itself writes UTF-8 where the encoding is said to be ASCII.
    assert " -0.002 " in done.stdout.decode("utf-8" if encoding == "ascii" else encoding)
