"""The call that asks for one integer and its token probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from confidence_tasks.reading.token_probabilities import token_problem
from confidence_tasks.sources import fermi
from confidence_tasks.studies.fermieval.replies import EXPONENT_SYSTEM, exponent_prompt
from confidence_tasks.study import ModelReply, Stage

INTEGERS = tuple(map(str, range(-fermi.LARGEST_EXPONENT, fermi.LARGEST_EXPONENT + 1)))
"""All integers that may be the key of a question of the archive; on lm-eval the probability of each is exact."""

LONGEST_REPLY = 8
"""Maximum number of tokens of a reply: enough for a sign and the digits of any exponent."""


def is_scored(reply: ModelReply) -> bool:
    """Return whether all `INTEGERS` were scored, as on lm-eval, so that there is no generated text."""
    return not reply.text and len(reply.tokens) == 1 and reply.tokens[0].alternatives.keys() <= set(INTEGERS)


def exponent_problem(reply: ModelReply) -> str:
    """Return why the tokens of a reply give no distribution; empty if they may."""
    return "" if is_scored(reply) else token_problem(reply, alternatives=True)


def logprob_stages(parameters: Mapping[str, Any]) -> list[Stage]:
    """Return the single model call of a trial."""
    return [
        Stage(
            "exponent",
            lambda question, condition, replies: exponent_prompt(question.text),
            system=EXPONENT_SYSTEM,
            max_tokens=LONGEST_REPLY,
            logprobs="required",
            top_logprobs=parameters["top_logprobs"],
            candidates=INTEGERS,
            problem=exponent_problem,
            complete=lambda question, condition, reply: True,  # only the first token is read
        )
    ]
