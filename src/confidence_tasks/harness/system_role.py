"""What a chat template leaves of a prompt: a system message that it drops, and prompts that it makes equal.

A template without a system role drops the system message, on which all that is special about a condition may stand.
"""

from __future__ import annotations

import json
from collections.abc import Hashable
from dataclasses import dataclass, field
from hashlib import blake2b

SYSTEM_MESSAGE = "system_message"
"""Name of the setting that tells where a system message went that the chat template drops."""

MOVED = "before the first user turn"
"""Value of that setting."""


def has_text(rendered: str, text: str) -> bool:
    r"""Return whether a rendered prompt has a text, as it is or as a string of JSON, whatever the white space.

    Examples
    --------
    >>> has_text("<|system|>Be brief. <|user|>Hi", "Be  brief.\n"), has_text("<|user|>Hi", "Be brief.")
    (True, False)
    """
    forms = (text, *(json.dumps(text, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False)))
    return any("".join(form.split()) in "".join(rendered.split()) for form in forms)


@dataclass(frozen=True, slots=True)
class RenderedPrompts:
    """The rendered prompts of a run.

    Two different prompts must not be rendered as one: the conditions that they belong to would be the same.
    """

    _asked: dict[tuple[Hashable, bytes], tuple[object, str]] = field(default_factory=dict)

    def add(self, key: Hashable, rendered: str, asked: object, condition: str) -> None:
        """Add a prompt.

        Parameters
        ----------
        key : hashable
            What prompts that must differ have in common, such as the study and the question.
        rendered : str
            The prompt as the model gets it.
        asked : object
            The prompt before the chat template was applied.
        condition : str
            The condition under which it is asked.

        Raises
        ------
        ValueError
            If the same text was rendered from another prompt.
        """
        digest = blake2b(rendered.encode(errors="surrogatepass"), digest_size=16).digest()
        before, other = self._asked.setdefault((key, digest), (asked, condition))
        if before != asked:
            raise ValueError(
                f"the model's chat template renders the prompts of {other} and {condition} as the same text, so the "
                "model could not tell these conditions apart: use a chat template that keeps every message, or the "
                "conditions one at a time"
            )
