"""One small run of every task, on questions that need no network: what the trust tests are tried on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests import sizes

from confidence_tasks.catalogue import studies
from confidence_tasks.studies.signals.table import SIGNALS

GIVEN_ANSWERS = [
    {"question": f"What is {a} + {b}?", "answer": right, "kind": "boolean", "metadata": {"answer": str(said)}}
    for a, b, said, right in ((3, 4, 7, "yes"), (5, 8, 12, "no"), (21, 9, 30, "yes"), (17, 6, 24, "no"))
]
"""Questions with an answer to be judged, which no generated source has."""


@dataclass(frozen=True, slots=True)
class SmallRun:
    """A task with arguments that make it small.

    Attributes
    ----------
    task : str
        Name of the task.
    arguments : mapping
        What it is called with.
    profile : str
        The simulated subject that replies.
    needs_mirror : bool
        Whether the questions must be downloaded, or come from a mirror.
    roles : mapping of str to str
        The simulated subject of each model role.
    """

    task: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    profile: str = "sloppy"
    needs_mirror: bool = False
    roles: Mapping[str, str] = field(default_factory=dict)


_SCALES = {"sources": "arithmetic", "n": 6}
SMALL_RUNS: Mapping[str, SmallRun] = {
    run.task: run
    for run in (
        SmallRun("scale_granularity", {**_SCALES, "scales": "0-10,0-100"}),
        SmallRun("scale_boundary", {**_SCALES, "scales": "0-100,40-100"}),
        SmallRun("scale_nonstandard", {**_SCALES, "scales": "0-100,7-79"}),
        SmallRun("riskeval", {"source": "arithmetic", "n": 6, "penalties": "1,100"}, "partial"),
        SmallRun(
            "signals",
            {
                "n": 4,
                "samples": 3,
                "signals": "stated,mean_logprob,negentropy,p_true,agreement,cocoa",
            },
            "ideal",
        ),
        SmallRun("lifeeval", {"n": 12}),
        SmallRun("boolq", {"source": "arithmetic_boolean", "n": 12}),
        SmallRun("sciq", {"source": "arithmetic", "n": 12}),
        SmallRun("lsat_ar", {"source": "arithmetic", "n": 12}),
        SmallRun("sat_en", {"source": "arithmetic", "n": 12}),
        SmallRun("halueval", {"source": "given_answers.jsonl", "prompt": "own_answer"}),
        SmallRun("nlp_metad", {"source": "arithmetic_number", "n": 8, "temperatures": "0.7,1"}, "ideal"),
        SmallRun("fermieval", {"n": 6, "levels": "0.9,0.99"}, "tunnel", needs_mirror=True),
        SmallRun("fermieval_logprob", {"n": 12}, "tunnel", needs_mirror=True),
        SmallRun("fermieval_sampling", {"n": 4, "samples": 3, "levels": 0.9}, "tunnel", needs_mirror=True),
    )
}


KINDS = (
    tuple(SMALL_RUNS)
    if sizes.ALL
    else (
        *("scale_granularity", "riskeval", "signals", "lifeeval", "boolq"),
        *("nlp_metad", "fermieval", "fermieval_logprob", "fermieval_sampling"),
    )
)
"""Tasks that the check runs where a release runs all: the others differ from one of these in their questions alone."""


EXAMPLE_RUNS: Mapping[str, SmallRun] = {
    **SMALL_RUNS,
    "signals": SmallRun(
        "signals", {"n": 4, "samples": 3, "signals": ",".join(SIGNALS)}, "ideal", roles={"panel": "sloppy"}
    ),
}
"""The runs whose logs are the examples: that of the signals has every signal."""


def published_tasks() -> set[str]:
    """Name the tasks of studies with a paper; a new study runs before it has an example, a page and an entry."""
    return {name for study in studies() if study.paper for name in study.designs}


def arguments(run: SmallRun, folder: Path) -> dict[str, Any]:
    """Return what a task is called with; a file of questions that it names is written into ``folder``."""
    given = dict(run.arguments)
    if str(given.get("source", "")).endswith(".jsonl"):
        path = folder / given["source"]
        path.write_text("\n".join(map(json.dumps, GIVEN_ANSWERS)), encoding="utf-8")
        given["source"] = str(path)
    return given
