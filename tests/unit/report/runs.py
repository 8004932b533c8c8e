"""Trials of simulated subjects in every study, as files that a report reads, without a harness."""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.items import reply_to, riskeval_items, scale_items
from tests.trials import fermieval_trial, lifeeval_trial, scale_trial

from confidence_tasks.reading.integer_scale import GRANULARITY, Scale
from confidence_tasks.report import Collection, Report, report_of
from confidence_tasks.simulation.subject import Subject
from confidence_tasks.sources import Question, load
from confidence_tasks.sources.generated import lifeeval_question
from confidence_tasks.studies.fermieval.replies import LEVELS, interval_reply
from confidence_tasks.studies.fermieval.subject import stated_ends
from confidence_tasks.studies.lifeeval.trials import maximum_score
from confidence_tasks.studies.riskeval import STUDY as RISKEVAL
from confidence_tasks.studies.riskeval.replies import penalty_of
from confidence_tasks.studies.riskeval.trials import riskeval_trial
from confidence_tasks.studies.scales import STUDY as SCALES
from confidence_tasks.study.definition import Study
from confidence_tasks.study.trial import Item

Trials = Iterator[Mapping[str, Any]]


def replies(study: Study, items: list[Item], subject: Subject, seed: str) -> Iterator[tuple[Item, str]]:
    for item in items:
        yield item, reply_to(study, item.question, item.condition, subject, seed).text


def scales(subject: Subject, seed: str, n: int = 40) -> Trials:
    for item, reply in replies(
        SCALES, list(scale_items(GRANULARITY[2:], ["arithmetic"], n=n)), subject, seed
    ):
        yield scale_trial(item.question, Scale.parse(item.condition), reply)


def riskeval(subject: Subject, seed: str, n: int = 40) -> Trials:
    items = list(riskeval_items(load("arithmetic", n=n), (0.0, 1.0, 10.0, 100.0)))
    for item, reply in replies(RISKEVAL, items, subject, seed):
        yield riskeval_trial(item.question, penalty_of(item.condition), reply)


def fermieval(subject: Subject, seed: str, n: int = 60) -> Trials:
    for i in range(n):
        question = Question(f"quantity-{i}", "made-up", "How many?", "number", str(i % 19 - 9))
        for level in LEVELS:
            reply = interval_reply(*stated_ends(question, subject, level, seed, level))
            yield fermieval_trial(question, level, ("calibration", "test")[i % 2], reply)


def lifeeval(subject: Subject, seed: str) -> Trials:
    for sex in ("male", "female"):
        for age in range(0, 101, 10):
            for radius in (1, 20):
                case = lifeeval_question(sex, age, radius)
                stated = min(1.0, 0.2 + 0.7 * maximum_score(case))
                yield lifeeval_trial(case, f'{{"Answer": {max(age, 84)}, "Confidence": {stated}}}')


STUDIES: Mapping[str, Callable[[Subject, str], Trials]] = {
    "scales": scales,
    "lifeeval": lifeeval,
    "riskeval": riskeval,
    "fermieval": fermieval,
}
TASKS = {"scales": "scale_granularity"}
SUBJECTS = {
    "lab/steady": Subject(risk_sensitivity=1.0),
    "lab/bold": Subject(meta_d_prime=1.0, bias=1.2, rounding=0.8, risk_sensitivity=1.0),
}


def rows(study: str, model: str = "lab/steady", **columns: Any) -> list[dict[str, Any]]:
    """Return a study's trials as rows of a file of trials; ``columns`` are set in every row."""
    task = TASKS.get(study, study)
    return [
        {"study": study, "task": task, "model": model, **trial, **columns} for trial in _trials(study, model)
    ]


@cache
def _trials(study: str, model: str) -> tuple[Mapping[str, Any], ...]:
    return tuple(STUDIES[study](SUBJECTS.get(model, SUBJECTS["lab/steady"]), model))


def write(path: Path, its_rows: list[dict[str, Any]]) -> Path:
    """Write rows as JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in its_rows), encoding="utf-8")
    return path


def write_studies(folder: Path) -> Path:
    """Write a file for each study and model."""
    for study in STUDIES:
        for model in SUBJECTS:
            write(folder / f"{study}-{model.replace('/', '-')}.jsonl", rows(study, model))
    return folder


def undrawn_report(collection: Collection, **options: Any) -> Report:
    """Return the report on some trials with empty panels: to draw them takes three quarters of its time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("confidence_tasks.report.page.drawn.panel_svg", lambda *_: "")
        return report_of(collection, **options)
