"""FermiEval by token probabilities: the distribution over exponents at the first token, and its smallest sets.

Epstein et al. (2025), section "Direct model elicitation via log probabilities".
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from confidence_tasks import statistics
from confidence_tasks.reading.explanation import escape_markdown
from confidence_tasks.reading.token_probabilities import (
    ROUNDING,
    VOCABULARY_SPACES,
    candidates,
    missing_reason,
    token_problem,
    tokens_from_reply,
)
from confidence_tasks.sources import fermi
from confidence_tasks.studies.fermieval.replies import (
    CALIBRATION,
    EXPONENT_SYSTEM,
    LARGEST_EXPONENT,
    TEST,
    condition_of,
    exponent_prompt,
    levels_of,
)
from confidence_tasks.studies.fermieval.trials import CALIBRATED, FIGURES, LOGGED, of_intervals
from confidence_tasks.study import ModelReply, Question, Replies, Stage, Status, TaskMetrics, Token, Trial
from confidence_tasks.study.measures import (
    ACCURACY,
    CONFIDENCE,
    PARSE_RATE,
    UNIT,
    Better,
    Columns,
    Compute,
    Measure,
    auroc,
    calibration_error,
    mean_measure,
    not_resampled,
    proportion_of,
    rows_of,
    select_measures,
    values_of,
)

if TYPE_CHECKING:
    from confidence_tasks.statistics.core import FloatArray
    from confidence_tasks.statistics.intervals import TemperatureFit


_MINUS = str.maketrans("−–﹣－", "----")
_SIGNS = frozenset({"", "+", "-"})
_INTEGER = re.compile(r"[-+]?\d{1,9}", re.ASCII)

_FLOAT_ERROR = 1e-9
"""Largest error of a sum of probabilities that is due to floating-point arithmetic."""


def integer_probabilities(tokens: Sequence[Token]) -> dict[int, float]:
    r"""Compute the probability of each integer with which the reply could have begun, from the tokens' alternatives.

    An alternative to the first token that is an integer has its own probability. After a token of the reply that is a
    sign or digits, the alternatives to the next token are used in the same way, multiplied by the probability of the
    tokens before: an alternative that continues the number gives a longer integer, and the number ends with the
    probability that is left, whether other tokens are listed or not. An alternative that the reply did not take is
    assumed to end its integer.

    Tokens that are not part of an integer, signs without digits, and integers beyond `LARGEST_EXPONENT` are dropped. A
    token that is listed twice is used once. The probabilities add up to less than 1 if tokens were dropped or not
    listed.

    Returns
    -------
    dict of int to float
        Probabilities by integer, ascending; empty if a log-probability is impossible.

    Examples
    --------
    >>> halves = {"7": -0.6931, "8": -1.3863, "The": -2.0}
    >>> {v: round(p, 3) for v, p in integer_probabilities([Token("7", -0.6931, halves)]).items()}
    {7: 0.5, 8: 0.25}
    >>> digits = [Token("1", -0.1054, {"1": -0.1054, "9": -2.3026}), Token("3", -0.2231, {"3": -0.2231, "": -1.6094})]
    >>> {v: round(p, 3) for v, p in integer_probabilities(digits).items()}
    {1: 0.18, 9: 0.1, 13: 0.72}
    """
    mass: defaultdict[int, float] = defaultdict(float)
    number, probability = "", 1.0  # of the tokens so far
    for token in tokens:
        if missing_reason([token]):
            return {}
        longer, written = _append(number, token.text), token.text.translate(VOCABULARY_SPACES)
        further = _continuations(number, token)
        for text, (other, share) in further.items():
            if text != written:
                _add_mass(mass, other, probability * share)
        ends = 1.0 - math.fsum(share for _, share in further.values())
        if ends > _FLOAT_ERROR:
            _add_mass(mass, number, probability * ends)
        if longer is None:
            break
        number, probability = longer, probability * math.exp(min(token.logprob, 0.0))
    else:
        _add_mass(mass, number, probability)
    return dict(sorted(mass.items()))


def _continuations(number: str, token: Token) -> dict[str, tuple[str, float]]:
    """Return the longer number and the probability of each listed text that continues a number."""
    longer = {text: (_append(number, text), logprob) for text, logprob in candidates(token).items()}
    return {
        text: (other, math.exp(min(logprob, 0.0)))
        for text, (other, logprob) in longer.items()
        if other is not None
    }


def _append(number: str, token: str) -> str | None:
    """Return a number with a token appended; None if the token does not continue it."""
    piece = token.translate(VOCABULARY_SPACES).translate(_MINUS)
    longer = number + (piece.strip() if number in _SIGNS else piece.rstrip())
    if longer not in _SIGNS and not _INTEGER.fullmatch(longer):
        return None
    leading_space = not number and not piece.strip() and piece
    return longer if longer != number or leading_space else None


def _add_mass(mass: defaultdict[int, float], number: str, probability: float) -> None:
    """Add the probability of a number; one without digits or beyond `LARGEST_EXPONENT` is dropped."""
    if number not in _SIGNS and abs(int(number)) <= LARGEST_EXPONENT:
        mass[int(number)] += probability


def distribution_text(probabilities: dict[int, float]) -> str:
    """Return a distribution as a text, the form in which trials store it.

    Examples
    --------
    >>> distribution_text({7: 0.5, 8: 0.25})
    '7:0.5 8:0.25'
    """
    return " ".join(f"{value}:{p:.12g}" for value, p in probabilities.items())


def read_distribution(text: str) -> dict[int, float]:
    """Return the distribution that :func:`distribution_text` wrote.

    Examples
    --------
    >>> read_distribution("7:0.5 8:0.25")
    {7: 0.5, 8: 0.25}
    """
    pairs = (pair.partition(":")[::2] for pair in text.split())
    return {int(value): float(p) for value, p in pairs}


def check_distribution(text: str) -> None:
    """Raise ValueError unless a text is a distribution; the empty text is valid and stands for none.

    Examples
    --------
    >>> check_distribution("7:0.5 8:0.25")
    >>> check_distribution("7:0.5 8:0.75")
    Traceback (most recent call last):
    ValueError: its probabilities are not within [0, 1] or add up to more than 1
    """
    probabilities = read_distribution(text)
    mass = math.fsum(probabilities.values())
    if text and not (min(probabilities.values(), default=-1.0) >= 0.0 and 0.0 < mass <= 1.0 + ROUNDING):
        raise ValueError("its probabilities are not within [0, 1] or add up to more than 1")
    if any(abs(value) > LARGEST_EXPONENT for value in probabilities):
        raise ValueError(f"it has exponents beyond {LARGEST_EXPONENT:g}")


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
        status = "repaired" if mass > 1.0 + _FLOAT_ERROR else status
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


# Calls -------------------------------------------------------------------------------------------------------

INTEGERS = tuple(map(str, range(-fermi.LARGEST_EXPONENT, fermi.LARGEST_EXPONENT + 1)))
"""All integers that may be the key of a question of the archive; on lm-eval the probability of each is exact."""

LONGEST_REPLY = 8
"""Maximum number of tokens of a reply: enough for a sign and the digits of any exponent."""


def _is_scored(reply: ModelReply) -> bool:
    """Return whether all `INTEGERS` were scored, as on lm-eval, so that there is no generated text."""
    return not reply.text and len(reply.tokens) == 1 and reply.tokens[0].alternatives.keys() <= set(INTEGERS)


def exponent_problem(reply: ModelReply) -> str:
    """Return why the tokens of a reply give no distribution; empty if they may."""
    return "" if _is_scored(reply) else token_problem(reply, alternatives=True)


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


# Sets -----------------------------------------------------------------------------------------------------------


def _with_distribution(trials: Columns, split: str) -> Columns:
    return rows_of(trials, (trials["split"] == split) & (trials["distribution"] != ""))


def _distribution_arrays(texts: Iterable[str]) -> tuple[FloatArray, FloatArray]:
    """Return the values and probabilities of distributions, both of shape (n, K)."""
    distributions = [read_distribution(text) for text in texts]
    support = sorted({value for each in distributions for value in each} or {0})
    values = np.tile(np.array(support, dtype=np.float64), (len(distributions), 1))
    probabilities = np.array([[each.get(value, 0.0) for value in support] for each in distributions])
    return values, probabilities.reshape(values.shape)


def fitted_temperature(trials: Columns, levels: Sequence[float]) -> TemperatureFit:
    """Fit the temperature with the smallest Winkler score, averaged over the levels, on the calibration half."""
    known = _with_distribution(trials, CALIBRATION)
    return _fit_temperature(tuple(known["truth"]), tuple(known["distribution"]), tuple(levels))


@lru_cache(maxsize=4)  # all measures of the same trials share the fit
def _fit_temperature(
    truth: tuple[float, ...], texts: tuple[str, ...], levels: tuple[float, ...]
) -> TemperatureFit:
    return statistics.intervals.fit_temperature(truth, *_distribution_arrays(texts), levels)


def set_intervals(trials: Columns, level: float, temperature: float = 1.0, split: str = TEST) -> Columns:
    """Return the smallest sets of a nominal coverage, for the trials of a half that have a distribution.

    A temperature above 1 flattens the distributions first, one below 1 sharpens them. The trials get ``level``, the
    span of the set in ``lower`` and ``upper``, and ``held``: 1 if the set contains the truth, else 0.
    """
    new = _with_distribution(trials, split)
    values, probabilities = _distribution_arrays(new["distribution"])
    sets = statistics.intervals.smallest_set(
        values, statistics.intervals.tempered(probabilities, temperature), level
    )
    return {
        **new,
        "level": np.full(len(values), level),
        "lower": sets.lower,
        "upper": sets.upper,
        "held": (sets.members & (values == new["truth"][:, None])).any(axis=-1).astype(np.float64),
    }


# Measures -------------------------------------------------------------------------------------------------------


_FIGURES: tuple[tuple[str, Compute, str, Better], ...] = (
    (
        "membership",
        proportion_of(lambda sets: sets["held"]),
        "Share of sets that contain the truth",
        "neither",
    ),
    *((name, compute, f"{what} that span the sets", better) for name, compute, what, better in FIGURES),
)

INTEGER_MASS = mean_measure(
    "integer_mass",
    "integer_mass",
    "Mean probability of all integers together; other tokens have the rest.",
    "higher",
    bounds=UNIT,
)


def logprob_measures(levels: Sequence[float], *, scaled: bool = True) -> tuple[Measure, ...]:
    """Return the measures of the smallest sets at some levels, without and with temperature scaling.

    On the test half, by level: ``membership``, the share of sets that contain the truth, and ``coverage``,
    ``coverage_gap``, ``mean_width`` and ``winkler`` of the intervals that span the sets. With ``scaled``, for runs with
    a calibration half, also the same measures after temperature scaling, named ``scaled_...``, and the fitted
    ``temperature``, NaN if no calibration trial has a distribution. Over all trials: ``accuracy`` of the most probable
    exponent, ``integer_mass`` and ``parse_rate``.
    """

    def temperature(trials: Columns) -> float:
        return float(fitted_temperature(trials, levels).temperature)

    def sets(prefix: str, level: float, trials: Columns) -> Columns:
        scaling = temperature(trials) if prefix else 1.0
        if math.isnan(scaling):
            return rows_of(set_intervals(trials, level), slice(0))
        return set_intervals(trials, level, scaling)

    fitted = Measure(
        "temperature/all", not_resampled(temperature), "Temperature fitted on the calibration half."
    )
    variants = {"": "without scaling"} | ({"scaled_": "after temperature scaling"} if scaled else {})
    return (
        *(replace(measure, name=f"{measure.name}/all") for measure in (ACCURACY, INTEGER_MASS, PARSE_RATE)),
        *((fitted,) if scaled else ()),
        *(
            Measure(
                f"{prefix}{name}/{condition_of(level)}",
                of_intervals(partial(sets, prefix, level), compute),
                f"{what}, at a nominal coverage of {level:g}, on the test half, {variant}.",
                better,
            )
            for prefix, variant in variants.items()
            for level in levels
            for name, compute, what, better in _FIGURES
        ),
    )


def logprob_summary(
    trials: Sequence[Mapping[str, Any]],
    levels: Sequence[float],
    *,
    scaled: bool = True,
    names: Sequence[str] | None = None,
) -> dict[str, float]:
    """Return the measures of `logprob_measures`, or those in ``names``; NaN without trials."""
    return values_of(trials, select_measures(logprob_measures(levels, scaled=scaled), names))


def logprob_metrics(parameters: Mapping[str, Any], conditions: Sequence[str]) -> TaskMetrics:
    """Return the measures of the sets at every level, with temperature scaling if there is a calibration half."""
    levels, scaled = levels_of(parameters["levels"]), parameters["split"] in CALIBRATED
    return TaskMetrics(
        logprob_summary,
        {"levels": levels, "scaled": scaled},
        logprob_measures(levels, scaled=scaled),
        condition_of(levels[0]),
        overall=("all", condition_of(levels[0])),
        default_measures=LOGGED,
    )


# Reading and explanation ----------------------------------------------------------------------------------------


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
    tokens = reply.tokens if _is_scored(reply) else tokens_from_reply(reply)
    probabilities = {} if problem else integer_probabilities(tokens)
    problem = problem if probabilities else problem or missing_reason(tokens)
    return distribution_trial(question, question.metadata["split"], probabilities, problem)


REPORTED_MEASURES: tuple[Measure, ...] = (
    ACCURACY,
    CONFIDENCE,
    calibration_error(
        "ece", "Expected calibration error of the most probable exponent’s probability, 10 bins."
    ),
    auroc(
        "auroc",
        "Probability that a right most probable exponent has a higher probability than a wrong one.",
    ),
    INTEGER_MASS,
    PARSE_RATE,
)
"""Measures of the most probable exponent; the table of methods has the intervals from the distribution."""
