"""Studies against the quirks of real servers, on both harnesses: ``python -m benchmarks.server_quirks``.

Writes two tables, one for each harness, between the marks of ``docs/reliability_tables.md``: what became of the trials
of each study under each quirk, compared with a run without quirks.

* ``same``: the same trial.
* ``missing``: a trial without some of its numbers, or without any, and with a status or a reason.
* ``noted``: another reply, because a parameter was refused; samples and report quote the server.
* ``lost``: a sample without a trial, with the reason.
* ``stopped``: the run ended at its first calls with a sentence.
* ``PAID``: all calls were made and there is no trial. ``WRONG``: another number, and nothing says why.
"""

from __future__ import annotations

import argparse
import logging
import math
import os
import re
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import redirect_stderr
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from typing import Any

from inspect_ai import Task
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import get_model
from inspect_ai.scorer import match
from tests.integration.faults.loopback import ENVIRONMENT, Server, stub
from tests.integration.faults.quirks import QUIRKS

from confidence_tasks import _registry, with_confidence
from confidence_tasks.harness.inspect.viewer import scored_trial
from confidence_tasks.harness.refusals import REFUSED
from confidence_tasks.sources.source import mirror_folder

PAGE = Path(__file__).parents[1] / "docs" / "reliability_tables.md"
LEFT_OUT = frozenset({"plain", "slow", "text"})
"""Quirks that take minutes or need a value."""

NO_REPLIES = frozenset({"html", "half-a-line", "error-200"})
"""Quirks that send no reply for which anybody would be paid."""

FURTHER = ("half-html", "half-half-a-line", "half-empty", "half-filter", "half-lp-none")
"""Quirks of half of the requests."""

_ARITHMETIC = {"source": "arithmetic", "n": 3}
_MIRROR = frozenset({"fermieval", "fermieval_logprob", "fermieval_sampling"})
"""Studies whose questions must be downloaded, or come from a mirror."""

INSPECT: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "scales": ("scale_granularity", {"sources": "arithmetic", "n": 2, "scales": "0-10,0-100"}),
    "riskeval": ("riskeval", {**_ARITHMETIC, "penalties": "1"}),
    "question_sets": ("boolq", {"source": "arithmetic_boolean", "n": 3}),
    "signals": (
        "signals",
        {**_ARITHMETIC, "samples": 2, "signals": "stated_after,mean_logprob,p_true,agreement"},
    ),
    "lifeeval": ("lifeeval", {"n": 3}),
    "nlp_metad": ("nlp_metad", {"source": "arithmetic_number", "n": 3, "temperatures": "1"}),
    "fermieval": ("fermieval", {"n": 3, "levels": "0.9"}),
    "fermieval_logprob": ("fermieval_logprob", {"n": 3}),
    "fermieval_sampling": ("fermieval_sampling", {"n": 2, "samples": 2, "levels": 0.9}),
    "benchmark": ("", {}),
}
"""Task and arguments of each study on Inspect; ``with_confidence`` around a task of another package at the end."""

LM_EVAL: Mapping[str, tuple[str, Mapping[str, Any], bool]] = {
    "scales": ("scale_granularity_0_100_arithmetic", {}, False),
    "riskeval": ("riskeval_lambda10_arithmetic", {}, False),
    "question_sets": ("boolq_confidence_arithmetic_boolean", {}, False),
    "signals": ("signals_stated_after", {}, False),
    "signals (tokens)": ("signals_mean_logprob", {}, True),
    "lifeeval": ("lifeeval_radius5", {}, False),
    "nlp_metad": ("nlp_metad_T1_arithmetic", {}, True),
    "fermieval": ("fermieval_p0_9", {}, False),
    "fermieval_logprob": ("fermieval_logprob_first_token", {}, True),
    "fermieval_sampling": ("fermieval_sampling_interval", {"samples": 2, "levels": "0.9"}, False),
}
"""Task and metadata of each study on lm-eval, and whether a completions endpoint scores its tokens."""

Trials = Mapping[tuple[str, int], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Run:
    """What became of a run.

    Attributes
    ----------
    trials : mapping
        The trials by sample and epoch.
    n_paid : int
        Number of replies that the server sent.
    notes : frozenset of str
        What samples say of refused parameters.
    message : str
        The last sentence of a run that ended early.
    """

    trials: Trials
    n_paid: int
    notes: frozenset[str] = frozenset()
    message: str = ""


def on_inspect(study: str, quirk: str, server: Server, folder: Path) -> Run:
    """Run a small task of a study on Inspect."""
    before = len(server.answers)
    model = get_model(
        "openai-api/loopback/subject", base_url=server.address(quirk), memoize=False, max_retries=2
    )
    (log,) = inspect_eval(
        _task(study), model=model, log_dir=str(folder), display="none", log_realtime=False, max_retries=2
    )
    metadata = [sample.metadata for sample in log.samples or []]
    notes = frozenset(str(each[REFUSED]) for each in metadata if each.get(REFUSED))
    return Run(trials_of(log), len(server.answers) - before, notes, log.error.message if log.error else "")


def _task(study: str) -> Task:
    name, arguments = INSPECT[study]
    if name:
        task: Task = getattr(_registry, name)(**arguments)
        return task
    samples = [Sample(f"What is {i} + {i}?", target=str(2 * i)) for i in (3, 5, 8)]
    return with_confidence(Task(samples, scorer=match(location="any"), name="sums"))


def trials_of(log: EvalLog) -> Trials:
    """Return the trial of each sample and epoch that has one."""
    return {
        (str(sample.id), sample.epoch): scored_trial(score.value, score.metadata)
        for sample in log.samples or []
        if sample.error is None
        for score in (sample.scores or {}).values()
        if isinstance(score.value, dict)
    }


def on_lm_eval(study: str, quirk: str, server: Server, folder: Path) -> Run:
    """Run a small task of a study on lm-eval."""
    from lm_eval.evaluator import simple_evaluate
    from lm_eval.tasks import TaskManager
    from tests.integration.lm_eval.harnesses import stubs
    from tests.integration.lm_eval.servers import chat, completions

    before = len(server.answers)
    task, metadata, scores = LM_EVAL[study]
    manager = TaskManager(
        include_path=str(stubs()),
        include_defaults=False,
        metadata={"n": 3, "metrics": "headline", **metadata},
    )
    model = (completions if scores else chat)(server, quirk)
    try:
        found = simple_evaluate(
            model=model,
            tasks=[task],
            task_manager=manager,
            apply_chat_template=not scores,
            log_samples=True,
            bootstrap_iters=0,
        )
    except Exception as error:  # whatever ends a run is a cell of the table
        return Run({}, len(server.answers) - before, message=f"{type(error).__name__}: {error}")
    assert found is not None
    samples = [sample for of_task in found["samples"].values() for sample in of_task]
    return Run(
        {(str(sample["doc"]["id"]), 1): sample["trial"] for sample in samples if "trial" in sample},
        len(server.answers) - before,
        frozenset(note for sample in samples for note in sample["arguments"][0][1].get(REFUSED, ())),
    )


def outcome(before: Mapping[str, Any], after: Mapping[str, Any] | None, *, noted: bool) -> str:
    """Return what became of a sample, given its trials without and with a quirk."""
    if after is None:
        return "lost"
    numbers = {name: after[name] for name in _SCORED if isinstance(after.get(name), float)}
    known = {name: value for name, value in numbers.items() if not math.isnan(value)}
    if any(repr(value) != repr(before.get(name)) for name, value in known.items()):
        return "noted" if noted else "WRONG"
    was_known = [name for name in numbers if not math.isnan(before.get(name, math.nan))]
    return "same" if all(name in known for name in was_known) else "missing"


_SCORED = (
    *("confidence", "token_confidence", "value", "probability", "p_true", "mean_logprob", "low", "high"),
    *("lower", "upper", "integer_mass", "correct", "0-100"),
)
"""Columns that a quirk must not change."""


def cell(plain: Run, run: Run) -> str:
    """Return what became of a run, in words."""
    if not run.trials and run.message:
        return "PAID" if run.n_paid >= plain.n_paid > 3 else "stopped"
    counts = Counter(
        outcome(trial, run.trials.get(key), noted=bool(run.notes)) for key, trial in plain.trials.items()
    )
    if len(counts) == 1:
        return next(iter(counts))
    return ", ".join(f"{count} {word}" for word, count in counts.most_common())


Harness = Callable[[str, str, Server, Path], Run]
HARNESSES: Mapping[str, tuple[Harness, Iterable[str]]] = {
    "Inspect": (on_inspect, INSPECT),
    "lm-eval": (on_lm_eval, LM_EVAL),
}


def rows(name: str, quirks: Iterable[str], chosen: Iterable[str] = ()) -> Iterator[str]:
    """Yield the lines of the table of a harness; what stopped runs goes to the standard error stream."""
    run, every = HARNESSES[name]
    wanted = [study for study in every if mirror_folder() is not None or study not in _MIRROR]
    studies = [study for study in wanted if not list(chosen) or study in chosen]
    yield f"| {name} | {' | '.join(studies)} |"
    yield f"| --- |{' --- |' * len(studies)}"
    with stub() as server, tempfile.TemporaryDirectory() as folder:
        plain = {study: _quietly(run, study, "plain", server, Path(folder)) for study in studies}
        for quirk in quirks:
            found = {study: _quietly(run, study, quirk, server, Path(folder)) for study in studies}
            if quirk in NO_REPLIES:
                found = {study: replace(each, n_paid=0) for study, each in found.items()}
            for study, each in found.items():
                if each.message:
                    print(
                        f"{name} {study} {quirk}: {' '.join(each.message.split())}",
                        file=sys.stderr,
                        flush=True,
                    )
            cells = [cell(plain[study], found[study]) for study in studies]
            yield f"| {quirk} | {' | '.join(cells)} |"


def _quietly(run: Harness, *arguments: Any) -> Run:
    with redirect_stderr(StringIO()):
        return run(*arguments)


def main() -> None:
    """Write the tables into the page, or print those of some quirks."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quirks", default="", help="names with commas between, by default all")
    parser.add_argument(
        "--harness", choices=HARNESSES, help="print the table of one harness, and leave the page"
    )
    given = parser.parse_args()
    os.environ.update(ENVIRONMENT)
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    every = [name for name in QUIRKS if name not in LEFT_OUT] + list(FURTHER)
    quirks = given.quirks.split(",") if given.quirks else every
    tables = []
    for name in [given.harness] if given.harness else HARNESSES:
        lines = []
        for line in rows(name, quirks):
            print(line, flush=True)
            lines.append(line)
        tables.append("\n".join(lines))
    if not given.harness:
        write("\n\n".join(tables))


_MARKS = ("<!-- server quirks -->\n", "<!-- end of server quirks -->")


def write(tables: str) -> None:
    """Write the tables between the marks of the page."""
    text = PAGE.read_text(encoding="utf-8")
    begin, end = map(re.escape, _MARKS)
    new = re.sub(f"{begin}.*?{end}", lambda _: f"{_MARKS[0]}\n{tables}\n\n{_MARKS[1]}", text, flags=re.DOTALL)
    PAGE.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
