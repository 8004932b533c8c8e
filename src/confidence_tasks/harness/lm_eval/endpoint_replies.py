"""The replies of an endpoint to requests, some of which cannot do without log-probabilities or their temperature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lm_eval.api.instance import Instance
from lm_eval.api.model import LM

from confidence_tasks.harness.lm_eval.endpoints import Server, server_of
from confidence_tasks.harness.lm_eval.generated import Generated
from confidence_tasks.harness.lm_eval.needed_tokens import NeededTokens
from confidence_tasks.harness.refusals import USUAL_TEMPERATURE
from confidence_tasks.study.stage import Stage


def generate(model: LM, requests: Sequence[Instance], needing: Sequence[Stage | None]) -> list[Generated]:
    """Return the replies of an endpoint, which is asked without what it refuses; a reply may be lost.

    ``needing`` has the stage of each request that cannot do without log-probabilities, and None for the others.
    """
    server = server_of(model)
    replies: dict[int, Generated] = {}
    for is_needed in (True, False):
        part = [number for number, stage in enumerate(needing) if (stage is not None) == is_needed]
        if not part:
            continue
        asked, stage = [requests[number] for number in part], needing[part[0]]
        needed = _needed_temperature(asked)
        found = _with_tokens(server, asked, needed, stage) if stage else server.generate(asked, needed)
        replies |= dict(zip(part, found, strict=True))
    return [replies[number] for number in range(len(requests))]


def _with_tokens(
    server: Server, asked: Sequence[Instance], needed: Mapping[str, str], stage: Stage
) -> list[Generated]:
    """Return replies that need log-probabilities; StopError if the first ones have none."""
    tokens = NeededTokens(stage, server.address, server.measured)
    replies = server.generate(asked, {**needed, **tokens.parameters}, tokens.are_in)
    server.measured = tokens.measured
    return replies


def _needed_temperature(requests: Sequence[Instance]) -> dict[str, str]:
    """Return the temperature, with what the user can do, if requests cannot do without it."""
    temperatures = {request.args[1].get("temperature") for request in requests} - {
        None,
        0.0,
        USUAL_TEMPERATURE,
    }
    fix = "Choose a temperature that it takes, or leave out the one in --gen_kwargs"
    return {"temperature": fix} if temperatures else {}
