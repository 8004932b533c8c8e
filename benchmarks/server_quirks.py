"""Studies against the quirks of real servers, on both harnesses: ``python -m benchmarks.server_quirks``.

Writes two tables, one for each harness, between the marks of ``docs/reliability_tables.md``: what became of the trials
of each study under each quirk, compared with a run without quirks. ``--harness`` and ``--quirks`` choose rows, and
``--studies`` columns; other cells stay as they are.

* ``same``: the same trial.
* ``missing``: a trial without some of its numbers, or without any, and with a status or a reason.
* ``noted``: another reply, because a parameter was refused; samples and report quote the server.
* ``lost``: a sample without a trial, with the reason.
* ``stopped``: the run ended at its first calls with a sentence.
* ``PAID``: all calls were made and there is no trial. ``WRONG``: another number, and nothing says why.

The probability of integers in a reply without one, the score that a task of another package gives to a reply without a
confidence, and the log-probability and the verdict of ``nlp_metad`` of a reply without an answer, which its author
counts as wrong, are true of that reply: they are no wrong numbers.
"""

from __future__ import annotations

import argparse
import json
import logging
import math
import os
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
from confidence_tasks.harness.correctness import ASKED
from confidence_tasks.harness.logged_trials import scored_trial
from confidence_tasks.harness.refusals import REFUSED
from confidence_tasks.sources.source import mirror_folder
from confidence_tasks.studies.logprob_metacognition.author import NO_ANSWER

PAGE = Path(__file__).parents[1] / "docs" / "reliability_tables.md"
LEFT_OUT = frozenset({"plain", "slow", "text"})
"""Quirks that take minutes or need a value."""

NO_REPLIES = frozenset({"html", "half-a-line", "error-200"})
"""Quirks that send no reply for which anybody would be paid."""

FURTHER = ("half-html", "half-half-a-line", "half-empty", "half-filter", "half-lp-none")
"""Quirks of half of the requests."""

EVERY = (*(name for name in QUIRKS if name not in LEFT_OUT), *FURTHER)
"""Rows of the table."""

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
    "nlp_metad": ("nlp_metad", {"source": "arithmetic_number", "n": 12, "temperatures": "1"}),
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
    "benchmark": ("with_confidence", {}, False),
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
        _task(study),
        model=model,
        log_dir=str(folder),
        display="none",
        log_realtime=False,
        max_retries=2,
        max_connections=2,
    )
    metadata = [sample.metadata for sample in log.samples or []]
    notes = frozenset(str(each[REFUSED]) for each in metadata if each.get(REFUSED))
    return Run(trials_of(log), len(server.answers) - before, notes, log.error.message if log.error else "")


def _task(study: str) -> Task:
    name, arguments = INSPECT[study]
    if name:
        task: Task = getattr(_registry, name)(**arguments)
        return task
    samples = [Sample(question, target=key) for question, key in SUMS.items()]
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
    if study == "benchmark":
        metadata = {"task": _write_sums(folder)}
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
        {key: trial for sample in samples for key, trial in _lm_eval_trials(sample)},
        len(server.answers) - before,
        frozenset(note for sample in samples for note in sample["arguments"][0][1].get(REFUSED, ())),
    )


SUMS = {f"What is {i} + {i}?": str(2 * i) for i in (3, 5, 8)}
"""Questions of another package, with their keys."""

_SUMS_TASK = r"""
task: sums
dataset_path: json
dataset_kwargs: {data_files: {test: FOLDER/sums.jsonl}}
output_type: generate_until
test_split: test
doc_to_text: "{{question}}"
doc_to_target: "{{answer}}"
generation_kwargs: {until: ["Question:"], do_sample: false, max_gen_toks: 40}
metric_list: [{metric: exact_match, aggregation: mean, higher_is_better: true}]
filter_list: [{name: last, filter: [{function: regex, regex_pattern: 'Answer: (\d+)'}, {function: take_first}]}]
"""


def _write_sums(folder: Path) -> str:
    docs = [{"question": question, "answer": key} for question, key in SUMS.items()]
    (folder / "sums.jsonl").write_text("".join(f"{json.dumps(doc)}\n" for doc in docs))
    path = folder / "sums.yaml"
    path.write_text(_SUMS_TASK.replace("FOLDER", str(folder)))
    return str(path)


def _lm_eval_trials(sample: Mapping[str, Any]) -> Iterator[tuple[tuple[str, int], Mapping[str, Any]]]:
    if "trial" in sample:
        yield (str(sample["doc"]["id"]), 1), sample["trial"]
    for name, asked in sample.get(ASKED, {}).items():
        confidence = math.nan if asked["confidence"] is None else float(asked["confidence"])
        yield (f"{sample['doc_id']}", 1), {"correct": float(sample["exact_match"]), name: confidence}


def outcome(before: Mapping[str, Any], after: Mapping[str, Any] | None, *, noted: bool) -> str:
    """Return what became of a sample, given its trials without and with a quirk."""
    if after is None:
        return "lost"
    names = [name for name in _SCORED if name not in _true_of_any_reply(after)]
    numbers = {name: after[name] for name in names if isinstance(after.get(name), float)}
    known = {name: value for name, value in numbers.items() if not math.isnan(value)}
    if any(repr(value) != repr(before.get(name)) for name, value in known.items()):
        return "noted" if noted else "WRONG"
    was_known = [name for name in _SCORED if not math.isnan(before.get(name, math.nan))]
    return "same" if all(name in known for name in was_known) else "missing"


_OF_OTHERS = "0-100"
"""Column of the confidence that only trials of tasks of other packages have."""


def _true_of_any_reply(trial: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the columns of a trial without a confidence or answer that are no wrong numbers, whatever the reply is."""
    if "mean_logprob" in trial and trial.get("status") in NO_ANSWER:
        return ("mean_logprob", "confidence", "correct")
    if not math.isnan(trial.get(_OF_OTHERS, trial.get("confidence", 0.0))):
        return ()
    return ("integer_mass", *(("correct",) if _OF_OTHERS in trial else ()))


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
    if run.message and "WRONG" in counts:
        return "stopped"  # the sentence says what is wrong with the trials before the end
    if len(counts) == 1:
        return next(iter(counts))
    return ", ".join(f"{count} {word}" for word, count in counts.most_common())


Harness = Callable[[str, str, Server, Path], Run]
HARNESSES: Mapping[str, tuple[Harness, Iterable[str]]] = {
    "Inspect": (on_inspect, INSPECT),
    "lm-eval": (on_lm_eval, LM_EVAL),
}


def studies_of(name: str) -> list[str]:
    """Return the studies that can be run here."""
    return [study for study in HARNESSES[name][1] if mirror_folder() is not None or study not in _MIRROR]


def studies_header(name: str) -> tuple[str, str]:
    """Return the first two lines of the table of a harness."""
    studies = list(HARNESSES[name][1])
    return f"| {name} | {' | '.join(studies)} |", f"| --- |{' --- |' * len(studies)}"


def rows(name: str, quirks: Iterable[str], studies: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the name and the cells of each row of a harness; what stopped runs goes to the standard error stream."""
    run = HARNESSES[name][0]
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
            yield quirk, {study: cell(plain[study], found[study]) for study in studies}


def _quietly(run: Harness, *arguments: Any) -> Run:
    with redirect_stderr(StringIO()):
        return run(*arguments)


def main() -> None:
    """Write the tables into the page, or print those of some quirks."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quirks", default="", help="names with commas between, by default all")
    parser.add_argument("--harness", choices=HARNESSES, help="by default both")
    parser.add_argument("--studies", default="", help="columns with commas between, by default all")
    given = parser.parse_args()
    os.environ.update(ENVIRONMENT)
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    quirks = given.quirks.split(",") if given.quirks else EVERY
    for name in [given.harness] if given.harness else HARNESSES:
        studies = [study for study in studies_of(name) if study in (given.studies or study).split(",")]
        for quirk, cells in rows(name, quirks, studies):
            print(name, quirk, cells, flush=True)
            write(name, quirk, cells)


_MARKS = ("<!-- server quirks -->\n", "<!-- end of server quirks -->")


def write(name: str, quirk: str, cells: Mapping[str, str]) -> None:
    """Put cells into the table of a harness on the page; a table with other columns is written anew."""
    before, between, after = _parts(PAGE.read_text(encoding="utf-8"))
    tables = {_cells(table)[0]: table.splitlines() for table in between.strip().split("\n\n") if table}
    header, rule = studies_header(name)
    old = tables.get(name, [])
    found = {_cells(line)[0]: line for line in old[2:]} if old[:1] == [header] else {}
    studies = list(HARNESSES[name][1])
    earlier = dict(zip(studies, _cells(found[quirk])[1:], strict=True)) if quirk in found else {}
    found[quirk] = f"| {quirk} | {' | '.join((earlier | cells).get(study, '') for study in studies)} |"
    tables[name] = [header, rule, *(found[quirk] for quirk in EVERY if quirk in found)]
    text = "\n\n".join("\n".join(tables[harness]) for harness in HARNESSES if harness in tables)
    PAGE.write_text(f"{before}{_MARKS[0]}\n{text}\n\n{_MARKS[1]}{after}", encoding="utf-8")


def _parts(text: str) -> tuple[str, str, str]:
    before, _, rest = text.partition(_MARKS[0])
    between, _, after = rest.partition(_MARKS[1])
    return before, between, after


def _cells(line: str) -> list[str]:
    return [part.strip() for part in line.partition("\n")[0].split("|")[1:-1]]


if __name__ == "__main__":
    main()
