"""Characters that a terminal cannot print."""

import pytest

from confidence_tasks.cli import PLAIN


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("M-ratio −0.30 ± 0.10", "M-ratio -0.30 +- 0.10"),
        ("meta-d′ ≥ 0 …", "meta-d' >= 0 ..."),
        ("modèle", "mod\\xe8le"),
    ],
)
def test_missing_characters_are_replaced_by_ascii(text: str, printed: str) -> None:
    assert text.encode("ascii", errors=PLAIN).decode() == printed
