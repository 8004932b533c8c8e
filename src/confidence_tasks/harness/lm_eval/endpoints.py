"""Servers that lm-eval asks over HTTP: what they refuse, which calls they do not answer, and what they measure.

lm-eval repeats a refused request as it is, and one request without a reply ends its run. Here a request is sent without
the optional parameters that the server refuses, and a call without a reply is lost. The first request of each kind is
sent alone: if a server answers none of the first requests, the run stops before the others are paid for.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import requests as http
from lm_eval.api.instance import Instance
from lm_eval.api.model import LM, TemplateLM
from tenacity import RetryError, Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential

from confidence_tasks.harness.address import public_address
from confidence_tasks.harness.compat_models import (
    calls_through,
    generations_through,
    is_endpoint,
    payload_of,
    post,
    sends_settings,
    token_loglikelihoods,
)
from confidence_tasks.harness.lm_eval import wire
from confidence_tasks.harness.lm_eval.chat import run_of
from confidence_tasks.harness.lm_eval.first_replies import note_reply
from confidence_tasks.harness.lm_eval.generated import Generated
from confidence_tasks.harness.lm_eval.measured import Unmeasured, measured
from confidence_tasks.harness.refusals import (
    REFUSING,
    Refusals,
    StopError,
    quoted,
    read_refusal,
)

T = TypeVar("T")

_log = logging.getLogger(__name__)

_SCORING = dict.fromkeys(
    ("logprobs", "max_tokens"),
    "lm-eval needs the log-probabilities of given tokens: use a vllm or sglang server",
)
"""Parameters without which a server cannot score given tokens, with what the user can do."""

_FIRST = 3
"""Number of requests at the start of which one must be answered."""

_AGAIN = (408, 409, 425, 429)
"""HTTP statuses below 500 after which a call is worth repeating."""

FIXES: Mapping[int, str] = {
    401: "check the key in OPENAI_API_KEY",
    403: "check the key in OPENAI_API_KEY",
    404: "check base_url, such as http://127.0.0.1:8000/v1/chat/completions, and model",
    429: "wait, check the quota of the key, or lower num_concurrent",
}
CHECK = "check that base_url is the whole address of a running server, such as http://127.0.0.1:8000/v1/chat/completions"

_UNANSWERED = "unanswered"
"""Key of what stands for the reply of a server without one: the reason."""


class UnansweredError(StopError):
    """A server answers none of the first requests."""


class _TryAgainError(Exception):
    """A call failed in a way that may pass."""


def is_answered(found: Any) -> bool:
    """Return whether a call was answered."""
    return not _why_lost(found)


def _why_lost(found: Any) -> str:
    """Return why a call was not answered; empty if it was."""
    value = found[0] if isinstance(found, tuple) else found
    return str(getattr(value, "lost", ""))


@dataclass
class Server:
    """What is known of the server of a model.

    Attributes
    ----------
    model : LM
        The model.
    refusals : Refusals
        The parameters that the server refuses.
    stopped : StopError or None
        Why no more calls are made: a needed parameter is refused, or none of the first replies has a text.
    lowered : set of str
        Notes on parameters that the server lowers without a word.
    measured : bool
        Whether a reply had log-probabilities where a study needs them.
    """

    model: LM
    refusals: Refusals
    stopped: StopError | None = None
    lowered: set[str] = field(default_factory=set)
    measured: bool = False

    def call(
        self,
        needed: Mapping[str, str],
        messages: Sequence[Any],
        *,
        generate: bool = True,
        gen_kwargs: Any = None,
    ) -> dict[str, Any]:
        """Return the JSON of a reply, or what stands for one.

        ``needed`` has the parameters that cannot be left out, each with what the user can do.
        """
        if self.stopped:
            return {_UNANSWERED: str(self.stopped), "n": len(messages)}
        limit: Any = self.model
        trying = Retrying(
            stop=stop_after_attempt(max(limit.max_retries, 1)),
            wait=wait_exponential(multiplier=0.5, min=1, max=10),
            retry=retry_if_exception_type(_TryAgainError),
        )
        make = partial(payload_of, self.model, messages, generate=generate, gen_kwargs=gen_kwargs)
        try:
            outputs: dict[str, Any] = trying(self._attempt, needed, make, len(messages))
        except StopError as error:
            self.stopped = self.stopped or error
            return {_UNANSWERED: str(error), "n": len(messages)}
        except RetryError as error:
            return {_UNANSWERED: str(error.last_attempt.exception()), "n": len(messages)}
        run_of(self.model).see(
            str(limit.model), outputs, [*map(str, self.refusals.made), *sorted(self.lowered)]
        )
        return outputs

    def _attempt(
        self, needed: Mapping[str, str], make: Callable[[], dict[str, Any]], n_replies: int
    ) -> dict[str, Any]:
        """Send a request, without what the server refuses; return the JSON of the reply, or what stands for one."""
        while True:
            payload = self._accepted(make())
            status, text = self._post(payload)
            if wire.is_filtered_prompt(text):
                return wire.filtered_replies(n_replies)
            if status not in REFUSING or not self._learn(payload, text, needed):
                return self._read(status, text, payload, n_replies)

    def _post(self, payload: Mapping[str, Any]) -> tuple[int, str]:
        try:
            return post(self.model, wire.as_posted(payload))
        except http.RequestException as error:
            raise _TryAgainError(f"it cannot be reached ({type(error).__name__}): {CHECK}") from error

    def _learn(self, sent: Mapping[str, Any], text: str, needed: Mapping[str, str]) -> bool:
        """Return whether a refused call is worth repeating: a parameter was named, or found by leaving one out."""
        if self.refusals.learn(sent, text, needed):
            return True
        for refusal in self.refusals.guesses(sent, text):
            if self._post(refusal.applied(sent))[0] < 300:
                self.refusals.keep(refusal, needed)
                return True
        return False

    def _accepted(self, payload: dict[str, Any]) -> dict[str, Any]:
        """Return a payload as the server takes it, without an empty list of stop sequences."""
        if not payload.get("stop", True):
            payload = {name: value for name, value in payload.items() if name != "stop"}
        return self.refusals.adapt(wire.with_system(payload))[0]

    def _read(self, status: int, text: str, sent: Mapping[str, Any], n_replies: int) -> dict[str, Any]:
        if status >= 300:
            problem = f"it answered {status}: {quoted(read_refusal(text)[0])} ({FIXES.get(status, CHECK)})"
            if status in _AGAIN or status >= 500:
                raise _TryAgainError(problem)
            return {_UNANSWERED: problem, "n": n_replies}
        outputs, problem = wire.read_body(text, n_replies)
        if problem:
            raise _TryAgainError(f"{problem} ({CHECK})")
        self.refusals.accept(sent)
        self.lowered.update(wire.lowered(outputs, sent, self.refusals))
        return outputs

    def texts(self, outputs: Any, parse: Callable[[Any], list[Any]]) -> list[Generated]:
        """Return the replies in outputs of `call`."""
        (output,) = outputs if isinstance(outputs, list) else [outputs]
        if problem := output.get(_UNANSWERED):
            return [Generated("", lost=problem)] * output["n"]
        replies = wire.generations(output, parse)
        # A chat endpoint replies to one prompt, so that several replies are choices.
        replies = [wire.with_choices(replies, output)] if sends_settings(self.model) else replies
        for reply in replies:
            self.stopped = self.stopped or note_reply(self.model, self.address, reply)
        return replies

    def scores(self, outputs: Any, parse: Callable[..., Any], *, tokens: Any, ctxlens: Any) -> list[Any]:
        """Return the log-probabilities in outputs of `call`."""
        (output,) = outputs if isinstance(outputs, list) else [outputs]
        if problem := output.get(_UNANSWERED):
            return [(Unmeasured(f"{self.address}: {problem}", problem), False)] * output["n"]
        return measured(self.model, output, parse, tokens, ctxlens)

    @property
    def address(self) -> str:
        """The address of the server, for messages."""
        return public_address(str(getattr(self.model, "base_url", "") or self.model))

    def ask(
        self,
        asked: Sequence[T],
        ask: Callable[[Sequence[T]], Sequence[Any]],
        needed: Mapping[str, str],
        settles: Callable[[Any], bool] = is_answered,
    ) -> list[Any]:
        """Return ``ask(asked)``, with the first requests alone until a reply ``settles`` that the others can be made.

        Raises
        ------
        StopError
            If the server refuses a needed parameter.
        UnfinishedError
            If none of its first replies has a text.
        UnansweredError
            If it answers none of the first requests.
        """
        call = partial(self.call, needed)
        found: list[Any] = []
        with calls_through(self.model, call, self.texts, self.scores, one_by_one=True):
            while len(found) < min(_FIRST, len(asked)):
                found += ask(asked[len(found) : len(found) + 1])
                self._raise_if_stopped()
                if settles(found[-1]):
                    break
        if not any(map(is_answered, found)):
            raise UnansweredError(f"{self.address} answers no call: {_why_lost(found[-1])}")
        if rest := asked[len(found) :]:
            with calls_through(self.model, call, self.texts, self.scores, one_by_one=False):
                found += ask(rest)
            self._raise_if_stopped()
        return found

    def _raise_if_stopped(self) -> None:
        error, self.stopped = self.stopped, None
        if error:
            raise error

    def generate(
        self,
        asked: Sequence[Instance],
        needed: Mapping[str, str],
        settles: Callable[[Generated], bool] = is_answered,
    ) -> list[Generated]:
        """Return the replies to requests, as `ask` does; a reply may be lost."""

        def generate(part: Sequence[Instance]) -> list[Any]:
            return self.model.generate_until(list(part))

        # The cache keeps no lost call, so that a repeated run makes it again.
        with generations_through(
            self.model, lambda request, text, row: None if isinstance(text, Generated) and text.lost else text
        ):
            replies = self.ask(asked, generate, needed, settles)
        lost = Counter(reply.lost for reply in replies if reply.lost)
        for problem, n_calls in lost.items():
            _log.warning("%d of %d calls of %s are lost: %s", n_calls, len(replies), self.address, problem)
        run_of(self.model).lost += lost
        return replies


_servers: WeakKeyDictionary[LM, Server] = WeakKeyDictionary()


def server_of(model: LM) -> Server:
    """Return what is known of the server of a model."""
    if model not in _servers:
        _servers[model] = Server(model, Refusals(str(getattr(model, "base_url", model))))
    return _servers[model]


def loglikelihoods(model: TemplateLM, pairs: Sequence[tuple[list[int], list[int]]]) -> list[float]:
    """Return the log-probability of each continuation; an endpoint is asked without what it refuses."""
    if not pairs:
        return []
    if not is_endpoint(model):
        return [value for value, _ in token_loglikelihoods(model, pairs)]
    found = server_of(model).ask(pairs, partial(token_loglikelihoods, model), _SCORING)
    return [value for value, _ in found]
