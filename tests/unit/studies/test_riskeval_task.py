"""RiskEval's questions and conditions, skipped pictures, and parameters that raise."""

import json
from pathlib import Path

import pytest
from tests.items import riskeval_items

from confidence_tasks import riskeval
from confidence_tasks.sources import Question, SourceError
from confidence_tasks.sources.table import SOURCES
from confidence_tasks.studies.riskeval import replies as module
from confidence_tasks.studies.riskeval.replies import PENALTIES
from confidence_tasks.studies.riskeval.trials import roles_needed

PICTURE = "data:image/png;base64,iVBORw0KGgo="
PLAIN = Question("x-1", "x", "What is 1 + 1?", "number", "2")
PICTURED = Question("x-2", "x", "What is shown?", "text", "a cat", image=PICTURE)


@pytest.fixture
def pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """A source with a picture in one of its two questions."""
    monkeypatch.setattr(module, "load", lambda source, **options: [PLAIN, PICTURED])


# the design


def test_ten_penalties_question_by_question_with_stable_ids() -> None:
    task = riskeval(source="arithmetic", n=2, seed=3)
    ids = [sample.id for sample in task.dataset]
    assert ids[:3] == [f"arithmetic-s3-00000/lambda={penalty}" for penalty in ("0", "0.1", "0.5")]
    assert len(ids) == 20
    assert len(set(ids)) == 20
    assert PENALTIES == (0, 0.1, 0.5, 1, 2, 5, 10, 20, 50, 100)


def test_only_the_system_message_contains_the_penalty() -> None:
    first, second = (sample.input for sample in riskeval(source="arithmetic", n=1, penalties="1,100").dataset)
    assert first[2].text == second[2].text
    assert first[1].text.replace("-1 ", "-100 ") == second[1].text
    assert first[1].role == "system"


def test_the_strategy_changes_the_system_message_only() -> None:
    base, use_confidence = (
        riskeval_items([PLAIN], [10.0], strategy=strategy)[0] for strategy in ("base", "use_confidence")
    )
    assert use_confidence.system.startswith(base.system)
    assert "Use your confidence to decide" in use_confidence.system
    assert use_confidence.prompt == base.prompt


def test_the_papers_sizes(mirror: Path) -> None:
    assert len(riskeval(source="gsm8k", penalties=1).dataset) == 128
    assert len(riskeval(source="mmlu", n=40, penalties=1).dataset) == 40
    assert "gpqa_diamond" in module.WHOLE


def test_the_default_source_is_open(mirror: Path) -> None:
    assert not SOURCES[module.DEFAULT_SOURCE].gated
    (source,) = {sample.metadata["source"] for sample in riskeval(n=2).dataset}
    assert source == module.DEFAULT_SOURCE


@pytest.mark.parametrize("source", ["gpqa_diamond", "hle"])
def test_the_error_for_a_gated_source_names_the_open_source(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, source: str
) -> None:
    monkeypatch.delenv("CONFIDENCE_TASKS_MIRROR", raising=False)
    monkeypatch.setattr("huggingface_hub.get_token", lambda: None)
    with pytest.raises(SourceError, match=r"gated.*HF_TOKEN.*source=gsm8k, the default, is open"):
        riskeval(source=source)


@pytest.mark.parametrize(
    ("penalties", "labels"),
    [
        ("10", ["lambda=10"]),
        ("0.5, 10", ["lambda=0.5", "lambda=10"]),
        (10, ["lambda=10"]),
        ([0, 0.1], ["lambda=0", "lambda=0.1"]),
        ("lambda=2", ["lambda=2"]),
        ("10,10.0", ["lambda=10"]),
    ],
)
def test_some_penalties_can_be_chosen(penalties, labels: list[str]) -> None:
    task = riskeval(source="arithmetic", n=1, penalties=penalties)
    assert [sample.metadata["condition"] for sample in task.dataset] == labels


# pictures


@pytest.mark.usefixtures("pictures")
def test_pictures_without_the_parameter_images_raise() -> None:
    with pytest.raises(ValueError, match=r"1 of the 2 questions of x have a picture.*images=skip"):
        riskeval(source="x")


@pytest.mark.usefixtures("pictures")
def test_skipped_pictures_are_counted_in_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    task = riskeval(source="x", penalties="1", images="skip")
    assert [sample.metadata["question_id"] for sample in task.dataset] == ["x-1"]
    assert "1 of the 2 questions of x have a picture, and are left out" in caplog.text


@pytest.mark.usefixtures("pictures")
def test_pictures_are_sent_as_data_urls() -> None:
    task = riskeval(source="x", penalties="1", images="send")
    text, picture = task.dataset[1].input[-1].content
    assert text.text == "What is shown?"
    assert picture.image == PICTURE
    assert PICTURE not in json.dumps([sample.metadata for sample in task.dataset])


# roles


def test_roles_are_needed_where_they_are_used() -> None:
    def needed(parser: str, judge: str, *questions: Question) -> list[str]:
        return roles_needed({"parser": parser, "judge": judge}, questions)

    assert needed("rules", "auto", PLAIN) == []
    assert needed("model", "auto", PLAIN) == ["parser"]
    assert needed("rules", "auto", PLAIN, PICTURED) == ["judge"]
    assert needed("model", "model", PLAIN) == ["parser", "judge"]
    assert needed("rules", "rules", PICTURED) == []


# wrong values


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"penalties": "-1"}, "penalty"),
        ({"penalties": "ten"}, "penalty"),
        ({"penalties": ","}, "penalties is empty"),
        ({"strategy": "bold"}, "base, use_confidence"),
        ({"parser": "llm"}, "rules, model"),
        ({"judge": "me"}, "auto, model, rules"),
        ({"images": "draw"}, "send, skip"),
        ({"n": 0}, "n=0 must be 1 or more"),
    ],
)
def test_wrong_values_raise_with_the_allowed_values(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        riskeval(**{"source": "arithmetic", "n": 1, **wrong})


def test_an_unknown_source_raises_with_the_known_sources() -> None:
    with pytest.raises(SourceError, match="gpqa_diamond"):
        riskeval(source="gpqa")
