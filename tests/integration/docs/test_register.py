"""The register entries agree with the tasks."""

import inspect
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.integration.docs.pages import ROOT

from confidence_tasks import _registry
from confidence_tasks.catalogue import studies
from confidence_tasks.reading.integer_scale import BOUNDARY, GRANULARITY, NONSTANDARD
from confidence_tasks.sources.table import SOURCES
from confidence_tasks.studies.fermieval.replies import LEVELS
from confidence_tasks.studies.logprob_metacognition import replies as nlp_metad
from confidence_tasks.studies.logprob_metacognition.replies import TEMPERATURES
from confidence_tasks.studies.riskeval import replies as riskeval
from confidence_tasks.studies.riskeval.replies import PENALTIES
from confidence_tasks.studies.scales import SOURCES as SOURCES_OF_SCALES
from confidence_tasks.studies.scales import replies as scales

ENTRIES = sorted((ROOT / "register").glob("*/eval.yaml"))

ALLOWED = {
    *("full_title", "common_title", "paper_title", "description", "arxiv"),
    *("contributors", "tags", "tasks", "metadata", "source", "evaluation_report"),
}
"""Keys of an entry, as the register's schema has them (inspect_evals 0.26); others are refused there."""


def size(source: str) -> int:
    found = SOURCES[source].size
    assert found is not None
    return found


SCALE_QUESTIONS = sum(scales.PAPER_SIZES.get(name, size(name)) for name in SOURCES_OF_SCALES.split(","))

SAMPLES = {
    "scale_granularity": len(GRANULARITY) * SCALE_QUESTIONS,
    "scale_boundary": len(BOUNDARY) * SCALE_QUESTIONS,
    "scale_nonstandard": len(NONSTANDARD) * SCALE_QUESTIONS,
    "lifeeval": size("lifeeval"),
    **{name: size(name) for name in ("sciq", "lsat_ar", "sat_en", "halueval")},  # boolq is a name taken there
    "fermieval": len(LEVELS) * size("fermi"),
    "fermieval_logprob": size("fermi"),
    "fermieval_sampling": len(LEVELS) * size("fermi"),
    "riskeval": len(PENALTIES) * riskeval.PAPER_SIZE,
    "nlp_metad": len(TEMPERATURES) * nlp_metad.PAPER_SIZES["trivia_qa"],
}


def read(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    entry = yaml.safe_load(path.read_text(encoding="utf-8"))
    (task,) = entry["tasks"]
    return entry, task


def test_every_task_has_an_entry() -> None:
    assert {path.parent.name for path in ENTRIES} == SAMPLES.keys()
    assert SAMPLES.keys() <= set(_registry.__all__)


@pytest.mark.parametrize("path", ENTRIES, ids=lambda path: path.parent.name)
def test_entry_agrees_with_its_task(path: Path) -> None:
    entry, task = read(path)
    name = path.parent.name
    assert entry.keys() <= ALLOWED
    assert task["name"] == name == entry["common_title"]
    assert task["dataset_samples"] == SAMPLES[name]

    (study,) = [study for study in studies() if name in study.designs]
    code = (ROOT / task["task_path"]).read_text(encoding="utf-8")
    assert re.search(rf"^@task\ndef {name}\(", code, re.M)
    every = inspect.signature(getattr(_registry, name)).parameters.values()
    parameters = ", ".join(
        each.name for each in every if each.kind is not each.VAR_KEYWORD and each.name != "metrics"
    )
    assert task["comment"] == f"version {study.version}; parameters {parameters}"
    assert re.fullmatch(r"\d+-[A-Z]", study.version)


@pytest.mark.parametrize("path", ENTRIES, ids=lambda path: path.parent.name)
def test_entry_names_the_study_s_paper_and_is_short(path: Path) -> None:
    entry, _ = read(path)
    (study,) = [study for study in studies() if path.parent.name in study.designs]
    assert entry["arxiv"] == study.paper.url
    assert len(entry["description"].split()) <= 80
