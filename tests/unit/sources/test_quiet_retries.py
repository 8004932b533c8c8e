"""A download that fails leaves one error on the terminal, without the hub's warning about each retry."""

import logging

import pytest

from confidence_tasks.sources import SourceError
from confidence_tasks.sources.hub import download_rows
from confidence_tasks.sources.table import SOURCES

RETRIES = logging.getLogger("huggingface_hub.utils._http")


def unreachable(*args, **kwargs):
    """Fail as the hub's client does without a network: a warning for each retry, then an error."""
    for retry in range(5):
        RETRIES.warning("Retrying in 1s [Retry %d/5].", retry)
    raise ConnectionError("no network")


def test_warnings_about_retries_are_shown_only_outside_of_a_download(monkeypatch, caplog):
    monkeypatch.setattr("datasets.load.load_dataset", unreachable)
    level = logging.getLogger("huggingface_hub").level
    with pytest.raises(SourceError, match="cannot be read from the hub") as failed:
        download_rows(SOURCES["boolq"])
    assert "Check the connection" in str(failed.value)
    assert not caplog.records
    assert logging.getLogger("huggingface_hub").level == level
    RETRIES.warning("of the user's own call")
    assert [each.message for each in caplog.records] == ["of the user's own call"]
