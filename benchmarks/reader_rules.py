"""Count the replies that need each reading rule: ``python -m benchmarks.reader_rules DATA [PATH ...]``.

DATA is the folder with the real replies. A PATH is a log of Inspect, or JSON lines with the keys ``question``,
``answer``, ``reply`` and ``choices``. A reply needs a rule if its reading, without the names of rules, changes once the
rule is left out of its table. The hand-labelled replies of the tests are counted apart. The result is a table in
markdown.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast

from inspect_ai.log import read_eval_log
from tests.unit.reading.test_abstention import ABSTENTIONS
from tests.unit.reading.test_clear_values import CLEAR as CLEAR_VALUES
from tests.unit.reading.test_clear_values import READERS as CONFIDENCE_READERS
from tests.unit.reading.test_clear_values import REVISED, UNCLEAR
from tests.unit.studies.awkward_riskeval_replies import AWKWARD, CITIES, CLEAR
from tests.unit.studies.awkward_scale_replies_later import AWKWARD_REPLIES
from tests.unit.studies.question_sets_replies import real_replies
from tests.unit.studies.test_question_sets_real_replies import read as read_real

from confidence_tasks.catalogue import studies
from confidence_tasks.harness.parameters import default_stages
from confidence_tasks.harness.trial import trial_from_replies
from confidence_tasks.reading import abstention, answers, cleaning, layouts, sentences
from confidence_tasks.reading.integer_scale import PERCENT, Scale
from confidence_tasks.studies.riskeval.reader import read_risk_reply
from confidence_tasks.studies.scales.trials import read_scale_reply
from confidence_tasks.study.stage import ModelReply
from confidence_tasks.study.trial import Kind, question_from_metadata

TABLES: Mapping[str, Mapping[str, Any]] = {
    "cleaning of replies": cleaning.CLEANING,
    "cleaning of values": cleaning.VALUE_CLEANING,
    "layouts": layouts.LAYOUTS,
    "revisions": sentences.REVISIONS,
    "refusals": abstention.REFUSALS,
    **{
        f"answers, {kind}, {part}": getattr(forms, part)
        for kind, forms in answers.ANSWER_FORMS.items()
        for part in ("whole", "lenient")
    },
}
"""Tables of rules by name, from which a rule is left out."""


class Case(NamedTuple):
    """A reply with its reader, and the name of the collection that it is from."""

    collection: str
    read: Callable[[], Any]


def real_cases(data: Path) -> Iterator[Case]:
    """Yield the real replies to the question sets."""
    for reply in real_replies(data):
        yield Case("real", partial(read_real, reply))


def log_cases(path: Path) -> Iterator[Case]:
    """Yield the replies of a log of Inspect whose study asks once."""
    log = read_eval_log(str(path))
    tasks = {task: study for study in studies() for task in study.designs}
    study = tasks.get(log.eval.task.rpartition("/")[2])
    if study is None or len(default_stages(study)) != 1:
        return
    (stage,) = default_stages(study)
    for sample in log.samples or []:
        replies = {stage.name: [ModelReply(sample.output.completion)]}
        question, condition = question_from_metadata(sample.metadata), str(sample.metadata["condition"])
        options = {name: log.eval.task_args.get(name, "") for name in study.scoring.options}
        yield Case("logs", partial(trial_from_replies, study, question, condition, replies, options))


def row_cases(path: Path) -> Iterator[Case]:
    """Yield the replies of JSON lines, each read as one to `scales` and one to `riskeval`."""
    for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
        choices = tuple(row.get("choices", ()))
        kind: Kind = "choice" if choices else row.get("kind", "number")
        known = choices or (row["answer"],)
        yield Case("cases", partial(read_scale_reply, row["reply"], PERCENT, kind=kind, choices=known))
        yield Case("cases", partial(read_risk_reply, row["reply"], kind, known))


def labelled_cases() -> Iterator[Case]:
    """Yield the replies of the tests that were labelled by hand."""
    for each in AWKWARD_REPLIES:
        read = partial(read_scale_reply, kind=each.kind, choices=each.choices)
        yield Case("labelled", partial(read, each.reply, Scale.parse(each.scale)))
    for case in (*CLEAR, *AWKWARD):
        choices = CITIES if case.kind == "choice" else ()
        yield Case("labelled", partial(read_risk_reply, case.reply, case.kind, choices))
    for text in (*CLEAR_VALUES, *UNCLEAR, *(f"Answer: B\nConfidence: 85\n{revised}" for revised in REVISED)):
        for reader in CONFIDENCE_READERS.values():
            yield Case("labelled", partial(reader, text))
    for text in ABSTENTIONS:
        yield Case("labelled", partial(read_risk_reply, text, "text"))


def reading_of(case: Case) -> str:
    """Return what a reply was read as, without the names of the rules and the status that depends on them."""
    found = case.read()
    fields = (
        dict(found) if isinstance(found, Mapping) else asdict(found) if hasattr(found, "status") else found
    )
    if isinstance(fields, dict):
        fields.pop("rules", None)
        fields["status"] = fields["status"].replace("repaired", "ok")
    return repr(fields)


def needed(cases: list[Case], before: list[str], table: dict[str, Any], rule: str) -> dict[str, int]:
    """Return the number of replies of each collection whose reading changes without a rule."""
    kept = dict(table)
    del table[rule]
    try:
        after = list(map(reading_of, cases))
    finally:
        table.clear()
        table.update(kept)
    counts = dict.fromkeys((case.collection for case in cases), 0)
    for case, old, new in zip(cases, before, after, strict=True):
        counts[case.collection] += old != new
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("paths", type=Path, nargs="*")
    arguments = parser.parse_args()
    cases = [*real_cases(arguments.data), *labelled_cases()]
    for path in arguments.paths:
        cases += log_cases(path) if path.suffix == ".eval" else row_cases(path)
    before = list(map(reading_of, cases))
    collections = list(dict.fromkeys(case.collection for case in cases))
    sizes = (f"{name} ({sum(case.collection == name for case in cases):,})" for name in collections)
    print("| table | rule |", " | ".join(sizes), "|")
    print("| --- | --- |", " | ".join(["---:"] * len(collections)), "|")
    for name, table in TABLES.items():
        for rule in list(table):
            counts = needed(cases, before, cast("dict[str, Any]", table), rule)
            print(
                f"| {name} | `{rule}` |",
                " | ".join(str(counts[each]) for each in collections),
                "|",
                flush=True,
            )


if __name__ == "__main__":
    main()
