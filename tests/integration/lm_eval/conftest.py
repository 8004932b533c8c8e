"""The stub server for runs on lm-eval."""

from collections.abc import Iterator

import pytest
from tests.integration.faults.loopback import Server, stub


@pytest.fixture
def server() -> Iterator[Server]:
    with stub() as running:
        yield running
