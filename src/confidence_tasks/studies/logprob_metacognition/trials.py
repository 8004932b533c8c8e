"""Trials and measures of the log-probability study.

The tokens of an answer are those that overlap its span in the reply. The measures are those of Cacioli (2026),
arXiv:2603.25112, in its second version, and for replication those of its first.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from confidence_tasks.reading.explanation import answer_and_key, escape_markdown
from confidence_tasks.reading.grading import match_answer
from confidence_tasks.reading.token_probabilities import AnswerTokens, answer_tokens, missing_reason
from confidence_tasks.studies.logprob_metacognition.author import AUTHOR, NO_ANSWER
from confidence_tasks.studies.logprob_metacognition.domains import domain_of
from confidence_tasks.studies.logprob_metacognition.replies import (
    ANSWER,
    CONDITIONS,
    GOLD,
    read_answer_of,
    reading_of,
    span_of_evidence,
)
from confidence_tasks.study.stage import ModelReply, Replies, Token
from confidence_tasks.study.trial import Question, Status, Trial

CLASSIFIER_ROLE = "domain_classifier"
DOMAIN_CHOICES = ("lexicon", "model")
"""Methods that assign a question to a domain."""


class LogprobTrial(Trial):
    """A trial of the log-probability study.

    ``confidence`` is exp(``mean_logprob``), the geometric mean of the probabilities of the answer's tokens.

    Attributes
    ----------
    temperature : float
        Sampling temperature; 0 is greedy decoding.
    mean_logprob : float
        Mean log-probability of the reply's tokens, or of the answer's with ``span=answer``, in nats, the study's
        evidence; NaN if it is missing.
    tokens : float
        Number of these tokens; NaN if the reply was not finished.
    domain : str
        Knowledge domain of the question, one of ``confidence_tasks.studies.logprob_metacognition.replies.DOMAINS``.
    answer : str
        The answer as read; empty if it is missing.
    match : str
        How the answer matches the key or an alias: ``exact``, ``fuzzy`` or ``none``.
    gold_mean_logprob : float
        Mean log-probability of the key, scored after the same prompt; NaN without ``force_gold``.
    """

    temperature: float
    mean_logprob: float
    tokens: float
    domain: str
    answer: str
    match: str
    gold_mean_logprob: float


MEANINGS: Mapping[Status, str] = {
    "ok": "The reply is an answer and nothing else.",
    "repaired": "The answer had to be taken out of a longer reply.",
    "missing_confidence": "The provider's tokens are not those of the reply, or have no log-probabilities; the answer "
    "still counts for accuracy.",
    "unreadable": "The reply holds neither letters nor digits.",
    "refused": "The reply declines to answer; the author’s scoring counts it as wrong.",
}


def read_reply(question: Question, condition: str, replies: Replies) -> LogprobTrial:
    """Read the answer, align the tokens of the evidence and grade it; the domain is that of the lexicon.

    The metadata of the question say how: ``scoring``, ``span``, ``similarity``, and whether the reply has ``one_line``.

    Examples
    --------
    >>> from confidence_tasks.study import ModelReply
    >>> question = Question("q-1", "demo", "Who wrote the novel Emma?", "text", "Jane Austen")
    >>> tokens = (Token("Jane", -0.1, {}), Token(" Austin", -0.4, {}), Token(".", -0.2, {}))
    >>> trial = read_reply(question, "T=0.7", {ANSWER: [ModelReply("Jane Austin.", tokens)]})
    >>> trial["condition"], trial["correct"], trial["match"], round(trial["confidence"], 4), trial["domain"]
    ('T=0.7', 1.0, 'fuzzy', 0.7788, 'Arts & Literature')
    """
    (reply,) = replies[ANSWER]
    how = reading_of(question.metadata)
    answer = read_answer_of(question, reply.text, how)
    evidence = answer_tokens(reply.tokens, reply.text, *span_of_evidence(question, reply.text, answer, how))
    gold_mean_logprob = math.nan
    for scored in replies.get(GOLD, ()):
        begin = len(scored.text) - len(question.gold or "")
        gold_mean_logprob = answer_tokens(scored.tokens, scored.text, begin, len(scored.text)).mean_logprob
    match = match_answer(answer.text, question, how["similarity"])
    # The author's scoring has no missing answer: one that is refused is wrong.
    is_graded = bool(answer.text) or (how["scoring"] == AUTHOR and answer.status in NO_ANSWER)
    mean_logprob = evidence.mean_logprob if is_graded else math.nan
    return LogprobTrial(
        question_id=question.id,
        source=question.source,
        condition=condition,
        correct=float(match != "none") if is_graded and question.gold is not None else math.nan,
        confidence=math.exp(mean_logprob),
        status="missing_confidence" if answer.text and math.isnan(mean_logprob) else answer.status,
        temperature=CONDITIONS.number(condition),
        mean_logprob=mean_logprob,
        tokens=_number_of_tokens(reply, evidence, is_graded=is_graded),
        domain=domain_of(question.text),
        answer=answer.text,
        match=match,
        gold_mean_logprob=gold_mean_logprob,
    )


def _number_of_tokens(reply: ModelReply, evidence: AnswerTokens, *, is_graded: bool) -> float:
    if reply.stop and not reply.text:
        return math.nan
    return float(evidence.tokens if is_graded else 0)


def classifier_role(parameters: Mapping[str, Any], questions: Sequence[Question]) -> list[str]:
    """Return the role of the model that sorts questions into domains, if a model does."""
    return [CLASSIFIER_ROLE] if parameters["domains"] == "model" else []


def explain(trial: LogprobTrial, question: Question, tokens: Sequence[Token] = ()) -> dict[str, str]:
    """Return the rows of the log viewer: answer and key, evidence or the reason why it is missing, and domain."""
    rows = answer_and_key(trial, question)
    if trial["match"] == "fuzzy":
        rows["Answer"] += ", by its similarity to the key or an alias"
    rows["Mean log-probability"] = (
        ": ".join(filter(None, ("none", escape_markdown(missing_reason(tokens)))))
        if math.isnan(trial["mean_logprob"])
        else f"{trial['mean_logprob']:.4f} nats over {trial['tokens']:g} tokens,"
        f" a probability of {trial['confidence']:.3f} each"
    )
    if not math.isnan(trial["gold_mean_logprob"]):
        rows["Of the key"] = f"{trial['gold_mean_logprob']:.4f} nats"
    return rows | {"Domain": escape_markdown(trial["domain"])}
