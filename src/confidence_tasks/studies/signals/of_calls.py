"""Signals that are stated, in the reply with the answer or in a further call."""

from __future__ import annotations

import math
from statistics import fmean

from confidence_tasks.reading.sureness import read_expression, true_probability
from confidence_tasks.reading.token_probabilities import token_problem, tokens_from_reply
from confidence_tasks.reading.token_signals import MissingSignalError
from confidence_tasks.studies.signals.answered import AnsweredQuestion, require
from confidence_tasks.studies.signals.meaning import matches
from confidence_tasks.studies.signals.reader import options_of, read_distribution, read_guesses, read_percent

PANEL = "panel"
"""Start of the names of the stages in which judges are asked, one for each model role."""


def stated(answered: AnsweredQuestion) -> float:
    """Return the confidence stated beside the answer."""
    value = answered.reading.confidence_raw / 100
    return require(
        value if 0.0 <= value <= 1.0 else math.nan, "no confidence from 0 to 100 is stated beside the answer"
    )


def stated_after(answered: AnsweredQuestion) -> float:
    """Return the confidence stated in a second turn."""
    return require(read_percent(answered.text("stated_after")), "the reply is no number from 0 to 100")


def words(answered: AnsweredQuestion) -> float:
    """Return the probability of the chosen expression."""
    return require(read_expression(answered.text("words")), "the reply is none of the expressions")


def p_true(answered: AnsweredQuestion, stage: str = "p_true") -> float:
    """Return the probability of True for the proposed answer."""
    reply = answered.reply(stage)
    if problem := token_problem(reply):
        raise MissingSignalError(problem)
    tokens = tokens_from_reply(reply)
    if not any(token.alternatives for token in tokens):
        raise MissingSignalError("there are no alternatives to True or False")
    return require(true_probability(tokens), "the reply begins with neither True nor False")


def top_k(answered: AnsweredQuestion) -> float:
    """Return the probability stated for the guess that matches the answer; 0 if no guess does."""
    question = answered.question
    guesses = read_guesses(answered.text("top_k"), question)
    if not guesses:
        raise MissingSignalError("the reply has no guess with a probability")
    matching = [value for guess, value in guesses if matches(question, guess, answered.reading.answer)]
    return max(matching, default=0.0)


def distribution(answered: AnsweredQuestion) -> float:
    """Return the probability stated for the answer among all options, which add up to 1."""
    options = options_of(answered.question)
    if not options:
        raise MissingSignalError("the question has no options")
    stated = read_distribution(answered.text("distribution"), options)
    if len(stated) < len(options):
        missing = len(options) - len(stated)
        raise MissingSignalError(f"the reply states no probability for {missing} of {len(options)} options")
    total = math.fsum(stated.values())
    if not total:
        raise MissingSignalError("all options have the probability 0")
    return stated[answered.reading.answer] / total


def panel(answered: AnsweredQuestion) -> float:
    """Return the mean probability that the judges of a panel state, over those whose reply is one."""
    replies = [
        reply for stage, of_stage in answered.replies.items() if stage.startswith(PANEL) for reply in of_stage
    ]
    stated = [value for reply in replies if not math.isnan(value := read_percent(reply.text))]
    if not stated:
        raise MissingSignalError(f"none of the {len(replies)} judges states a number from 0 to 100")
    return fmean(stated)
