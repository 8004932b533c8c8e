"""What a server refuses: an optional parameter that its refusal names is left out, lowered or renamed, once a model.

Strict servers answer 400 or 422 to a temperature of 0, a seed, log-probabilities, many alternatives or ``max_tokens``.
Both harnesses send the call again without the parameter, and write the server's sentence into the log. A parameter that
the study or the user needs is not optional: its refusal stops the run at the first call.
"""

from __future__ import annotations

import json
import logging
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

REFUSED = "server_refusals"
"""Key of a sample's metadata, or of an lm-eval request's settings, that holds the notes on refused parameters."""

LOST = "lost_call"
"""Key of an lm-eval request's settings that holds the reason why there is no reply."""

SYSTEM = "system"
"""Name under which a call's system message counts as one of its parameters."""

REFUSING = (400, 422)
"""HTTP statuses of a refusal."""

_PATTERNS: Mapping[str, re.Pattern[str]] = {
    name: re.compile(rf"(?<![a-z]){pattern}", re.IGNORECASE)
    for name, pattern in {
        "temperature": "temperature",
        "seed": r"seed\b",
        "top_logprobs": r"top[\s_-]?log[\s_-]?prob",
        "logprobs": r"(?<!top_)(?<!top-)(?<!top )log[\s_-]?prob",
        "max_tokens": r"max(?:imum)?[\s_-]?(?:new|output|generated)?[\s_-]?tokens",
        "max_completion_tokens": r"max[\s_-]?completion[\s_-]?tokens",
        "stop": r"stop(?:[\s_-]?sequences?)?\b",
        "n": r"(?<!\\)n\b|num(?:ber of|_) ?(?:choices|completions)|candidate_?count",
        SYSTEM: (
            r"(?:system|developer)[\s_-](?:role|message|prompt|instruction)|['\"`]system['\"`]|roles must alternate"
        ),
        "response_format": r"response[\s_-]?(?:format|schema)|json[\s_-]?schema|structured",
    }.items()
}
"""Parameters that may be optional, with the forms in which servers write their names."""

_ALWAYS_NEEDED: Mapping[str, str] = {
    "response_format": "Leave out the response schema (structured), or use a server that follows schemas"
}
"""Parameters without which a reply is another one, with what the user can do."""

_CONTEXT = re.compile(r"context|prompt is too long|input (?:length|tokens)", re.IGNORECASE)
"""Words of a refusal of a long prompt, which may name ``max_tokens``, too."""

_LIMITED = ("top_logprobs", "max_tokens", "max_completion_tokens", "n")
"""Parameters that are lowered to the largest number below them that the refusal states."""

_NUMBER = re.compile(r"(?<![\w.-])\d{1,7}(?!\w|\.\d)")

_LONGEST = 200
"""Maximum number of characters of a server's sentence that are quoted."""


_SEPARATOR = "¦"
"""Character between the notes of a sample's metadata, whose summary has no line ends."""

_MOST = 10
"""Maximum number of notes that are read from a log."""


USUAL_TEMPERATURE = 1.0
"""The temperature of servers that are sent none, so that this one may be left out."""


EMPTY_REPLIES = 3
"""Number of empty replies at the start of a run after which a model that has to give log-probabilities is refused."""


FIRST_REPLIES = 10
"""Number of replies without a text at the start of a run after which it stops."""


class StopError(RuntimeError):
    """A run cannot go on; the message says why, and what the user can do."""


class RefusedParameterError(StopError):
    """A server refuses a parameter that the study or the user needs."""


def quoted(sentence: str) -> str:
    r"""Return a server's sentence on one line, without control characters, and not too long.

    Examples
    --------
    >>> quoted("Unknown parameter:\n  'seed'.")
    "“Unknown parameter: 'seed'.”"
    """
    words = " ".join(
        "".join(c if c.isprintable() and c != _SEPARATOR else " " for c in sentence[: 4 * _LONGEST]).split()
    )
    return f"“{words if len(words) <= _LONGEST else words[:_LONGEST] + '…'}”"


def read_refusal(body: object) -> tuple[str, str]:
    """Return the sentence of a refusal, and the parameter that it names in a field of its own, else an empty text.

    ``body`` is the body of the server's reply: JSON in the form of OpenAI or of another server, or a text.

    Examples
    --------
    >>> read_refusal({"error": {"message": "Unknown parameter: 'seed'.", "param": "seed"}})
    ("Unknown parameter: 'seed'.", 'seed')
    >>> read_refusal('{"detail": [{"loc": ["body", "seed"]}]}')
    ('{"detail": [{"loc": ["body", "seed"]}]}', '')
    """
    if isinstance(body, str):
        try:
            parsed = json.loads(body)
        except (ValueError, RecursionError):
            return body, ""
        return read_refusal(parsed) if isinstance(parsed, dict) else (body, "")
    inner = body.get("error", body) if isinstance(body, dict) else body
    if not isinstance(inner, dict):
        return str(inner), ""
    message = inner.get("message")
    sentence = message if isinstance(message, str) else json.dumps(inner, default=str)
    return sentence, str(inner.get("param") or "")


def refusals_text(notes: Iterable[str], earlier: object = None) -> str:
    """Return notes, after earlier ones, as one text from which `refusals_in` reads them."""
    return f" {_SEPARATOR} ".join(dict.fromkeys([*refusals_in(earlier), *notes]))


def refusals_in(logged: object) -> tuple[str, ...]:
    """Return the notes in a log, a text or a list, bounded in number and length; none in anything else.

    Examples
    --------
    >>> refusals_in(refusals_text(["seed is left out", "temperature=0.0 is left out"])), refusals_in(None)
    (('seed is left out', 'temperature=0.0 is left out'), ())
    """
    notes = (
        logged.split(_SEPARATOR) if isinstance(logged, str) else logged if isinstance(logged, list) else []
    )
    return tuple(" ".join(str(note)[: 2 * _LONGEST].split()) for note in notes[:_MOST] if note)


def named_parameter(sentence: str, named: str, sent: Mapping[str, Any]) -> str:
    """Return the parameter that a refusal is about: the one in its own field, or the first in its sentence.

    Empty if it names none of the parameters that were ``sent``.

    Examples
    --------
    >>> named_parameter("Unsupported: 'max_tokens'. Use 'max_completion_tokens'.", "", {"max_tokens": 9, "seed": 1})
    'max_tokens'
    >>> named_parameter("Requested sample logprobs of 20, but at most 5", "", {"logprobs": True, "top_logprobs": 20})
    'top_logprobs'
    """
    if _CONTEXT.search(sentence):
        return ""
    found = {name: match.start() for name in _PATTERNS if (match := _PATTERNS[name].search(sentence))}
    name = named if named in _PATTERNS and named in sent else ""
    name = name or min(found.keys() & sent.keys(), key=found.__getitem__, default="")
    if name == "logprobs" and _lower(sentence, sent.get("top_logprobs")):
        return "top_logprobs"
    return name


def _lower(sentence: str, value: object) -> int | None:
    """Return the largest number of a sentence that is positive and below a value; None without one."""
    if not isinstance(value, int):
        return None
    below = (number for number in map(int, _NUMBER.findall(sentence)) if 0 < number < value)
    return max(below, default=None)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A parameter that a server refused, and the name and value that are sent ``instead``; no name for none."""

    parameter: str
    value: Any
    instead: str
    limit: Any
    sentence: str

    def covers(self, name: str, value: Any) -> bool:
        """Return whether a parameter of a later call would be refused, too."""
        if name != self.parameter:
            return False
        if name == "temperature":
            return bool(value == self.value)
        return self.instead != name or value > self.limit

    def applied(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return parameters, of which one is the refused one, as they are sent instead."""
        changed = dict(parameters)
        value = changed.pop(self.parameter)
        if self.instead:
            changed[self.instead] = self.limit if self.instead == self.parameter else value
        if "logprobs" not in changed:
            changed.pop("top_logprobs", None)
        return changed

    def __str__(self) -> str:
        """Return the note for the log."""
        said = quoted(self.sentence)
        if self.parameter == SYSTEM:
            return f"the system message stands before the first user turn, because the server says {said}"
        change = "is left out"
        if self.instead == self.parameter:
            change = f"is lowered to {self.limit}"
        elif self.instead:
            change = f"is sent as {self.instead}"
        value = "" if self.parameter == "seed" else f"={self.value}"
        return f"{self.parameter}{value} {change}, because the server says {said}"


@dataclass
class Refusals:
    """What the server of one model refused, and which parameters it accepted.

    Attributes
    ----------
    model : str
        Name of the model, for messages.
    made : list of Refusal
        The refusals, in their order.
    """

    model: str
    made: list[Refusal] = field(default_factory=list)
    _accepted: set[tuple[str, str]] = field(default_factory=set)
    _largest: dict[str, int] = field(default_factory=dict)
    _most_alternatives: int = 0
    _most_choices: int = 0

    def adapt(self, parameters: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
        """Return parameters as the server takes them, and the notes on those that were changed."""
        adapted, notes = dict(parameters), []
        for refusal in self.made:
            name = refusal.parameter
            if name in adapted and refusal.covers(name, adapted[name]):
                adapted = refusal.applied(adapted)
                notes.append(str(refusal))
        return adapted, notes

    def learn(self, sent: Mapping[str, Any], body: object, needed: Mapping[str, str]) -> bool:
        """Record the refusal of parameters that were ``sent``; return whether the call is worth repeating.

        A parameter that was accepted before is not optional: the refusal is about something else, unless it states a
        limit for a number that is larger than all that were accepted. ``needed`` has the parameters that cannot be left
        out, each with what the user can do.

        Raises
        ------
        RefusedParameterError
            If a needed parameter is refused.
        """
        if self.adapt(sent)[0] != dict(sent):
            return True  # another call has learned it meanwhile
        sentence, named = read_refusal(body)
        name = named_parameter(sentence, named, sent)
        if not name:
            return False
        refusal = _refusal(name, sent[name], sentence)
        if (name, _kind(name, sent[name])) in self._accepted and not self._is_new_limit(refusal):
            return False
        self.keep(refusal, needed)
        return True

    def _is_new_limit(self, refusal: Refusal) -> bool:
        """Return whether a refusal states a limit for a number that is larger than all that were accepted."""
        largest = self._largest.get(refusal.parameter, math.inf)
        return refusal.instead == refusal.parameter and largest <= refusal.limit < refusal.value

    def guesses(self, sent: Mapping[str, Any], body: object) -> list[Refusal]:
        """Return what a refusal without a name of a parameter may mean: one of those that were never accepted.

        A call tells which one: the first that is answered without a parameter is to be kept.
        """
        sentence, named = read_refusal(body)
        if named_parameter(sentence, named, sent) or _CONTEXT.search(sentence):
            return []
        new = [
            name
            for name in _PATTERNS
            if name in sent and (name, _kind(name, sent[name])) not in self._accepted
        ]
        return [_refusal(name, sent[name], sentence) for name in new]

    def keep(self, refusal: Refusal, needed: Mapping[str, str]) -> None:
        """Record a refusal once; RefusedParameterError if it is that of a needed parameter."""
        name, needed = refusal.parameter, {**_ALWAYS_NEEDED, **needed}
        if name in needed and refusal.instead in ("", name):
            value = "" if name in _ALWAYS_NEEDED else f"={refusal.value}"
            raise RefusedParameterError(
                f"{self.model} refuses {name}{value}: {quoted(refusal.sentence)} {needed[name]}"
            )
        if not any(each.covers(name, refusal.value) for each in self.made):
            self.made.append(refusal)
            logging.getLogger(__name__).warning("%s: %s", self.model, refusal)

    def accept(self, sent: Mapping[str, Any]) -> None:
        """Record that a call with these parameters was answered."""
        self._accepted.update((name, _kind(name, value)) for name, value in sent.items())
        for name in _LIMITED:
            if isinstance(sent.get(name), int):
                self._largest[name] = max(sent[name], self._largest.get(name, 0))

    def note_alternatives(self, sent: Mapping[str, Any], listed: int) -> list[str]:
        """Return a note if a server lists fewer alternatives to each token than were asked for; otherwise no note.

        ``listed`` is the largest number of alternatives to a token of a reply. The note has the same number for all
        replies of a model as for the first one. No alternatives at all are what a study has reasons of its own for.
        """
        asked = sent.get("top_logprobs", 0)
        if not 0 < listed < asked:
            return []
        self._most_alternatives = self._most_alternatives or listed
        return [
            f"top_logprobs={asked} is lowered by the server, which lists {self._most_alternatives} alternatives to a"
            " token and does not say so"
        ]

    def note_choices(self, sent: Mapping[str, Any], given: int) -> list[str]:
        """Return the note that a server gives fewer choices than were asked for; else none.

        The note has the same number for all replies of a model as for the first one, and is logged as a warning once.
        """
        if not 0 < given < sent.get("n", 1):
            return []
        is_first = not self._most_choices
        self._most_choices = self._most_choices or given
        note = (
            f"n is lowered by the server, which gives {self._most_choices} of the choices that are asked for and does"
            " not say so: the others are requested by further calls"
        )
        if is_first:
            logging.getLogger(__name__).warning("%s: %s", self.model, note)
        return [note]


def _kind(name: str, value: Any) -> str:
    """Return what calls with an accepted value have in common; seeds and limits differ from call to call."""
    return repr(value) if name == "temperature" else ""


def _refusal(name: str, value: Any, sentence: str) -> Refusal:
    return Refusal(name, value, *_replacement(name, value, sentence), sentence)


def _replacement(name: str, value: Any, sentence: str) -> tuple[str, Any]:
    """Return the name and the limit with which a refused parameter is sent; an empty name if it is left out.

    Without ``max_tokens`` a reply has no limit, so the newer name is tried, whether the refusal mentions it or not.
    """
    newer = _PATTERNS["max_completion_tokens"].search(sentence)
    limit = _lower(sentence, value) if name in _LIMITED else None
    if name == "max_tokens" and (newer or not limit):
        return "max_completion_tokens", None
    return (name, limit) if limit else ("", None)
