"""FermiEval by token probabilities: the distribution over exponents at the first token, and its smallest sets.

Epstein et al. (2025), section "Direct model elicitation via log probabilities".
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from confidence_tasks.reading.explanation import escape_markdown
from confidence_tasks.reading.token_probabilities import ROUNDING, missing_reason, tokens_from_reply
from confidence_tasks.studies.fermieval.logprob.distribution import (
    FLOAT_ERROR,
    distribution_text,
    integer_probabilities,
    read_distribution,
)
from confidence_tasks.studies.fermieval.logprob.replies import exponent_problem, is_scored
from confidence_tasks.study import Question, Replies, Status, Token, Trial

CONDITION = "first_token"


class DistributionTrial(Trial):
    """A trial of FermiEval by token probabilities.

    ``correct`` is 1 if the most probable exponent is right; ``confidence`` is its probability over ``integer_mass``.

    Attributes
    ----------
    truth : float
        The true exponent.
    integer_mass : float
        Probability of all integers together; the other tokens have the rest. NaN if the probabilities are unknown.
    split : str
        ``calibration`` or ``test``.
    answer : str
        The most probable exponent; empty if there is none.
    distribution : str
        Probabilities by exponent, such as ``12:0.3 13:0.6``.
    """

    truth: float
    integer_mass: float
    split: str
    answer: str
    distribution: str


def distribution_trial(
    question: Question, split: str, probabilities: Mapping[int, float], problem: str = ""
) -> DistributionTrial:
    """Make a trial of the probabilities of the exponents with which a reply may begin.

    If rounding makes the probabilities add up to a little more than 1, they are divided by their sum, and the status of
    the trial is ``repaired``; with a larger sum there is no distribution. ``problem`` says why the token probabilities
    are unknown; it is empty if they are known.

    Examples
    --------
    >>> question = Question("fermi-1", "fermi", "How many pennies cover Pennsylvania?", "number", "13")
    >>> trial = distribution_trial(question, "test", {12: 0.3, 13: 0.5})
    >>> trial["answer"], trial["correct"], round(trial["confidence"], 3), round(trial["integer_mass"], 3)
    ('13', 1.0, 0.625, 0.8)
    """
    positive = {value: p for value, p in probabilities.items() if p > 0.0}
    mass, truth = math.fsum(positive.values()), float(question.gold or math.nan)
    unknown = bool(problem) or mass > 1.0 + ROUNDING
    status: Status = "missing_confidence" if unknown else "ok" if positive else "unreadable"
    if unknown:
        positive, mass = {}, math.nan
    elif mass > 1.0:
        status = "repaired" if mass > 1.0 + FLOAT_ERROR else status
        positive, mass = {value: p / mass for value, p in positive.items()}, 1.0
    mode = max(positive, key=positive.__getitem__) if positive else None
    return DistributionTrial(
        question_id=question.id,
        source=question.source,
        condition=CONDITION,
        correct=math.nan if mode is None else float(mode == truth),
        confidence=math.nan if mode is None else positive[mode] / mass,
        status=status,
        truth=truth,
        integer_mass=mass,
        split=split,
        answer="" if mode is None else str(mode),
        distribution=distribution_text(positive),
    )


MEANINGS: Mapping[Status, str] = {
    "ok": "The alternatives to the first tokens give the probabilities of integers.",
    "repaired": "The probabilities added up to a little more than 1, by rounding, and were divided by their sum.",
    "missing_confidence": "The probabilities add up to much more than 1, have no alternatives, or are not those of the "
    "reply.",
    "unreadable": "No integer is among the alternatives to the first token.",
}


def explain(trial: DistributionTrial, question: Question, tokens: Sequence[Token] = ()) -> dict[str, str]:
    """Return the rows of the log viewer's table: the distribution, and the problem if there is none."""
    problem = "" if trial["distribution"] or not tokens else missing_reason(tokens)
    most = sorted(read_distribution(trial["distribution"]).items(), key=lambda pair: -pair[1])[:8]
    return {
        "Distribution": ", ".join(f"10^{value}: {p:.3f}" for value, p in most) or "none",
        "Mass on integers": f"{trial['integer_mass']:.3f}",
        "Truth": f"10^{trial['truth']:g}",
        **({"Reading": escape_markdown(problem)} if problem else {}),
    }


def read_tokens(question: Question, condition: str, replies: Replies) -> DistributionTrial:
    """Read the probabilities of the integers with which the reply may begin."""
    (reply,) = replies["exponent"]
    problem = exponent_problem(reply)
    tokens = reply.tokens if is_scored(reply) else tokens_from_reply(reply)
    probabilities = {} if problem else integer_probabilities(tokens)
    problem = problem if probabilities else problem or missing_reason(tokens)
    return distribution_trial(question, question.metadata["split"], probabilities, problem)
