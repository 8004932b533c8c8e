"""Replies of a chat endpoint that need log-probabilities: a run stops at the first one without any that can be used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from confidence_tasks.harness.lm_eval.generated import Generated
from confidence_tasks.harness.refusals import EMPTY_REPLIES, StopError
from confidence_tasks.reading.thoughts import strip_thoughts, without_thoughts
from confidence_tasks.study.stage import ModelReply, Stage

OTHER_SERVERS = (
    "use a server that returns them, such as vllm, sglang or llama.cpp, a chat model of OpenAI without reasoning, or"
    " --model hf"
)

MORE_ROOM = "a reasoning model may need more tokens, such as --gen_kwargs max_gen_toks=4096"


@dataclass
class NeededTokens:
    """Looks at the first replies of a stage.

    Attributes
    ----------
    stage : Stage
        The stage that cannot do without log-probabilities.
    address : str
        Address of the server, for messages.
    measured : bool
        Whether a reply of this or an earlier stage had log-probabilities. Empty replies of such a server stop no run,
        whose answers may have been paid for.
    empty : int
        Number of replies without text.
    """

    stage: Stage
    address: str
    measured: bool = False
    empty: int = 0

    @property
    def parameters(self) -> Mapping[str, str]:
        """The parameters that a call cannot do without, with what the user can do."""
        return {"logprobs": f"Stage {self.stage.name!r} needs token probabilities: {OTHER_SERVERS}"}

    def are_in(self, reply: Generated) -> bool:
        """Return whether a reply has log-probabilities that can be used; one that is lost or has no text tells nothing.

        Raises
        ------
        StopError
            If a reply has a text and no such log-probabilities, or if too many have no text.
        """
        if reply.lost or reply.stop == "filter":
            return False
        if not strip_thoughts(reply).strip():
            self._count_empty(reply)
            return False
        if problem := self._problem(reply):
            raise StopError(
                f"stage {self.stage.name!r} needs token probabilities, and with the first reply of {self.address},"
                f" {problem}: {OTHER_SERVERS}"
            )
        self.measured = True
        return True

    def _problem(self, reply: Generated) -> str:
        """Return why the log-probabilities of a reply cannot be used; empty if they can."""
        if not reply.tokens:
            return "there are none"
        if self.stage.problem is None:
            return ""
        return self.stage.problem(without_thoughts(ModelReply(str(reply), reply.tokens, stop=reply.stop)))

    def _count_empty(self, reply: Generated) -> None:
        self.empty += 1
        if self.empty == EMPTY_REPLIES and not self.measured:
            returned = "reasoning only" if reply.tokens else "no text"
            raise StopError(
                f"stage {self.stage.name!r} needs token probabilities, and {self.address} returned {returned}"
                f" {EMPTY_REPLIES} times ({MORE_ROOM})"
            )
