"""A request type of lm-eval after which an answer that is no reply is an error that names the server and the fix.

lm-eval itself makes the requests of tasks of other packages. Its errors on a page of HTML or half a line of JSON do not
say which server answered.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import requests as http
from lm_eval.api.instance import Instance
from lm_eval.api.model import LM

from confidence_tasks.harness.compat import add_request_type
from confidence_tasks.harness.compat_models import is_endpoint
from confidence_tasks.harness.lm_eval.endpoints import CHECK, FIXES, UnansweredError, server_of
from confidence_tasks.harness.refusals import REFUSING

REQUEST_TYPE = "name_server"

_UNREADABLE = (json.JSONDecodeError, UnicodeDecodeError, TypeError, AttributeError, LookupError)


_REFUSED = "lm-eval's warning quotes the server: leave out with --gen_kwargs what it refuses"


@dataclass
class NamedServer(Instance):
    """A request that calls no model."""


def name_server(model: LM, asked: Sequence[NamedServer]) -> list[str]:
    """Make errors of an endpoint's generations name the server; lm-eval calls this as a method of the model."""
    if is_endpoint(model) and "generate_until" not in vars(model):
        vars(model)["generate_until"] = _naming(model, model.generate_until)
    return [""] * len(asked)


def _naming(model: LM, generate: Callable[..., list[str]]) -> Callable[..., list[str]]:
    from aiohttp import ClientError

    def generate_or_name(*arguments: Any, **options: Any) -> list[str]:
        try:
            found = generate(*arguments, **options)
        except (*_UNREADABLE, http.RequestException, ClientError) as error:
            raise _no_reply(model, f"{type(error).__name__}: {error}", _status(error)) from error
        if in_parts := next((text for text in found if not isinstance(text, str | None)), None):
            raise _no_reply(model, f"a message in parts: {in_parts}")
        return found

    return generate_or_name


def _status(error: Exception) -> int:
    """Return the HTTP status in an error of requests or of aiohttp; 0 if there is none."""
    response = getattr(error, "response", None)
    return int(getattr(response, "status_code", getattr(error, "status", 0)) or 0)


def _no_reply(model: LM, problem: str, status: int = 0) -> UnansweredError:
    fix = _REFUSED if status in REFUSING else FIXES.get(status, CHECK)
    address = server_of(model).address
    return UnansweredError(
        f"{address} answered with something that lm-eval cannot read ({problem[:300]}): {fix}"
    )


add_request_type(REQUEST_TYPE, name_server)
