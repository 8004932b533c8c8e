"""What a log says of where its numbers come from."""

from importlib.metadata import version

from confidence_tasks import boolq
from confidence_tasks.harness.inspect.viewer import dataset, provenance
from confidence_tasks.sources.hub import HubSource
from confidence_tasks.sources.table import SOURCES
from confidence_tasks.study.trial import Item


def test_seed_and_versions_are_there() -> None:
    made = boolq(n=2, source="arithmetic_boolean", seed=7).metadata
    assert made["seed"] == made["parameters"]["seed"] == 7
    assert made["versions"]["numpy"] == version("numpy")
    assert made["sources"] == {"arithmetic_boolean": ""}


def test_the_digest_of_the_prompts_is_that_of_what_is_asked() -> None:
    first, again, other = (boolq(n=3, source="arithmetic_boolean", seed=seed).metadata for seed in (1, 1, 2))
    assert first["prompts"] == again["prompts"] != other["prompts"]
    assert len(first["prompts"]) == 64


def test_a_changed_system_message_changes_the_digest() -> None:
    question = SOURCES["arithmetic"].load(1, 0, None)[0]
    digests = {
        provenance({"seed": 0}, dataset([Item(question, "c", "prompt", system=system)], "x"))["prompts"]
        for system in ("", "be brief", "be brief ")
    }
    assert len(digests) == 3


def test_the_pinned_commit_of_every_downloaded_source_is_named() -> None:
    for name, source in SOURCES.items():
        assert len(source.revision) == (40 if isinstance(source, HubSource) or name == "fermi" else 0)
