"""FermiEval by token probabilities: the distribution over exponents that a bare integer was drawn from, and its sets.

Epstein et al. (2025), section "Direct model elicitation via log probabilities".
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Literal

from confidence_tasks import statistics
from confidence_tasks.reading.explanation import plain
from confidence_tasks.reading.token_probabilities import ROUNDING, VOCABULARY_SPACES, candidates, why_unknown
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
from confidence_tasks.study import Question, Replies, Stage, Status, TaskMetrics, Token, Trial
from confidence_tasks.study.measures import (
    ACCURACY,
    CONFIDENCE,
    PARSE_RATE,
    UNIT,
    Columns,
    Compute,
    Measure,
    auroc,
    calibration_error,
    mean,
    named,
    not_resampled,
    proportion,
    rows_of,
    values_of,
)
from confidence_tasks.study.reference import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from confidence_tasks.statistics.core import FloatArray
    from confidence_tasks.statistics.intervals import TemperatureFit


_MINUS = str.maketrans("−–﹣－", "----")
_SIGNS = frozenset({"", "+", "-"})
_INTEGER = re.compile(r"[-+]?\d{1,9}", re.ASCII)


def integer_probabilities(tokens: Sequence[Token]) -> dict[int, float]:
    r"""Compute the probability of each integer with which a reply could have begun, as far as alternatives tell.

    The alternatives to the first token that are integers count with their probability. An integer may take several
    tokens: after a sign or digits that the model did write, the alternatives to the next token are followed as well,
    each with the probability of what stands before it; one that does not go on with the number ends it. An integer
    that begins with another token than the one written is taken to end with that token. Tokens that are not part of an
    integer, and a sign that was not followed, are dropped. A token that is listed twice counts once. What
    probabilities lack to 1 was lost with dropped and unlisted tokens. Integers ascend; those beyond `LARGEST_EXPONENT`
    are dropped. There are none where a log-probability is impossible.

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
    written, before = "", 1.0
    for token in tokens:
        if why_unknown([token]):
            return {}
        goes_on, followed = _extended(written, token.text), token.text.translate(VOCABULARY_SPACES)
        for text, logprob in candidates(token).items():
            if text == followed and goes_on is not None:
                continue
            ended = _extended(written, text)
            _add(mass, written if ended is None else ended, before * math.exp(min(logprob, 0.0)))
        if goes_on is None:
            break
        written, before = goes_on, before * math.exp(min(token.logprob, 0.0))
    else:
        _add(mass, written, before)
    return dict(sorted(mass.items()))


def _extended(written: str, token: str) -> str | None:
    """Return the number so far with a token behind it; None when the token does not go on with it."""
    piece = token.translate(VOCABULARY_SPACES).translate(_MINUS)
    joined = written + (piece.strip() if written in _SIGNS else piece.rstrip())
    is_number = joined in _SIGNS or _INTEGER.fullmatch(joined)
    return (
        joined if is_number and (joined != written or (not written and not piece.strip() and piece)) else None
    )


def _add(mass: defaultdict[int, float], number: str, probability: float) -> None:
    """Add the mass of a number, if it is one within bounds."""
    if number not in _SIGNS and abs(int(number)) <= LARGEST_EXPONENT:
        mass[int(number)] += probability


def distribution_text(probabilities: dict[int, float]) -> str:
    """Write a distribution as the one text that a trial holds.

    Examples
    --------
    >>> distribution_text({7: 0.5, 8: 0.25})
    '7:0.5 8:0.25'
    """
    return " ".join(f"{value}:{p:.12g}" for value, p in probabilities.items())


def read_distribution(text: str) -> dict[int, float]:
    """Read what :func:`distribution_text` wrote.

    Examples
    --------
    >>> read_distribution("7:0.5 8:0.25")
    {7: 0.5, 8: 0.25}
    """
    pairs = (pair.partition(":")[::2] for pair in text.split())
    return {int(value): float(p) for value, p in pairs}


def check_distribution(text: str) -> None:
    """Raise ValueError for a text that is no distribution; the empty text says that there is none.

    Examples
    --------
    >>> check_distribution("7:0.5 8:0.25")
    >>> check_distribution("7:0.5 8:0.75")
    Traceback (most recent call last):
    ValueError: its probabilities are not within [0, 1] or add up to more than 1
    """
    found = read_distribution(text)
    mass = math.fsum(found.values())
    if text and not (min(found.values(), default=-1.0) >= 0.0 and 0.0 < mass <= 1.0 + ROUNDING):
        raise ValueError("its probabilities are not within [0, 1] or add up to more than 1")
    if any(abs(value) > LARGEST_EXPONENT for value in found):
        raise ValueError(f"it has exponents beyond {LARGEST_EXPONENT:g}")


CONDITION = "first_token"

_LAST_PLACES = 1e-9
"""Excess of a sum of probabilities that floating-point arithmetic explains."""


class DistributionTrial(Trial):
    """A trial of FermiEval by token probabilities.

    ``correct`` is 1 where the most probable exponent is right, and ``confidence`` is its share of the integers' mass.

    Attributes
    ----------
    truth : float
        The right exponent.
    integer_mass : float
        Probability of all integers together; what it lacks to 1 was lost with other tokens.
    split : str
        ``calibration`` or ``test``.
    answer : str
        The most probable exponent, empty when there is none.
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
    """Turn the probabilities of the exponents with which a reply may begin into a trial of a half.

    Where rounding has made their sum exceed 1, they are divided by it, and the trial is ``repaired``; a sum beyond that
    is no distribution. ``problem`` says why the model's token probabilities are unknown; it is empty if they are known.

    Examples
    --------
    >>> question = Question("fermi-1", "fermi", "How many pennies cover Pennsylvania?", "number", "13")
    >>> trial = distribution_trial(question, "test", {12: 0.3, 13: 0.5})
    >>> trial["answer"], trial["correct"], round(trial["confidence"], 3), round(trial["integer_mass"], 3)
    ('13', 1.0, 0.625, 0.8)
    """
    found = {value: p for value, p in probabilities.items() if p > 0.0}
    mass, truth = math.fsum(found.values()), float(question.gold or math.nan)
    unknown = bool(problem) or mass > 1.0 + ROUNDING
    status: Status = "missing_confidence" if unknown else "ok" if found else "unreadable"
    if unknown:
        found, mass = {}, 0.0
    elif mass > 1.0:
        # A sum of terms below 1 may itself exceed 1 by a few units in the last place; that needs no repair.
        status = "repaired" if mass > 1.0 + _LAST_PLACES else status
        found, mass = {value: p / mass for value, p in found.items()}, 1.0
    mode = max(found, key=lambda value: found[value]) if found else None
    return DistributionTrial(
        question_id=question.id,
        source=question.source,
        condition=CONDITION,
        correct=math.nan if mode is None else float(mode == truth),
        confidence=math.nan if mode is None else found[mode] / mass,
        status=status,
        truth=truth,
        integer_mass=mass,
        split=split,
        answer="" if mode is None else str(mode),
        distribution=distribution_text(found),
    )


# Calls -------------------------------------------------------------------------------------------------------

INTEGERS = tuple(map(str, range(-fermi.LARGEST_EXPONENT, fermi.LARGEST_EXPONENT + 1)))
"""What may be the key of one of the archive's questions: on lm-eval each has its exact probability."""

LONGEST_REPLY = 8
"""Maximum number of tokens: enough for a sign and the digits of any exponent."""


def logprob_stages(parameters: Mapping[str, Any]) -> list[Stage]:
    """Return the only call."""
    return [
        Stage(
            "exponent",
            lambda question, condition, replies: exponent_prompt(question.text),
            system=EXPONENT_SYSTEM,
            max_tokens=LONGEST_REPLY,
            logprobs="required",
            top_logprobs=parameters["top_logprobs"],
            candidates=INTEGERS,
        )
    ]


# Sets -----------------------------------------------------------------------------------------------------------


def _with_distribution(trials: Columns, split: str) -> NDArray[Any]:
    rows: NDArray[Any] = (trials["split"] == split) & (trials["distribution"] != "")
    return rows


def _tabulated(texts: Iterable[str]) -> tuple[FloatArray, FloatArray]:
    """Return the values and probabilities of distributions, shape (n, K)."""
    each = [read_distribution(text) for text in texts]
    support = sorted({value for found in each for value in found} or {0})
    values = np.tile(np.array(support, dtype=np.float64), (len(each), 1))
    probabilities = np.array([[found.get(value, 0.0) for value in support] for found in each])
    return values, probabilities.reshape(values.shape)


def fitted_temperature(trials: Columns, levels: Sequence[float]) -> TemperatureFit:
    """Choose the temperature of least Winkler score, averaged over the levels, on the calibration half."""
    rows = _with_distribution(trials, CALIBRATION)
    return _fit(tuple(trials["truth"][rows]), tuple(trials["distribution"][rows]), tuple(levels))


@lru_cache(maxsize=4)
def _fit(truth: tuple[float, ...], texts: tuple[str, ...], levels: tuple[float, ...]) -> TemperatureFit:
    """Fit once for all measures of the same trials."""
    return statistics.intervals.fit_temperature(truth, *_tabulated(texts), levels)


def set_intervals(trials: Columns, level: float, temperature: float = 1.0) -> Columns:
    """Return the test half's smallest sets of a nominal coverage, of the trials that have a distribution.

    Distributions are first flattened by a temperature above 1, or sharpened by one below. The trials get ``level``,
    the span of the set in ``lower`` and ``upper``, and ``held``: whether the truth is a member.
    """
    rows = _with_distribution(trials, TEST)
    kept = rows_of(trials, rows)
    values, probabilities = _tabulated(kept["distribution"])
    found = statistics.intervals.smallest_set(
        values, statistics.intervals.tempered(probabilities, temperature), level
    )
    return {
        **kept,
        "level": np.full(len(values), level),
        "lower": found.lower,
        "upper": found.upper,
        "held": (found.members & (values == kept["truth"][:, None])).any(axis=-1).astype(np.float64),
    }


# Measures -------------------------------------------------------------------------------------------------------


_FIGURES: tuple[tuple[str, Compute, str, Literal["lower", "neither"]], ...] = (
    ("membership", proportion(lambda sets: sets["held"]), "Share of sets that hold the truth", "neither"),
    *((name, compute, f"{what} that span the sets", better) for name, compute, what, better in FIGURES),
)

INTEGER_MASS = mean(
    "integer_mass",
    "integer_mass",
    "Mean probability of all integers together; the rest was lost with other tokens.",
    "higher",
    bounds=UNIT,
)


def logprob_measures(levels: Sequence[float], *, scaled: bool = True) -> tuple[Measure, ...]:
    """Return the measures of the sets of some levels, as they are and after temperature scaling.

    On the test half, by level: ``membership`` (share of sets that hold the truth), and of the interval that spans the
    set ``coverage``, ``coverage_gap``, ``mean_width`` and ``winkler``; the same beginning with ``scaled_``, where the
    calibration half was asked. Over all trials: ``accuracy`` of the most probable exponent, ``integer_mass``,
    ``parse_rate``, and the ``temperature`` that was fitted, NaN where no calibration trial has a distribution.
    """

    def temperature(trials: Columns) -> float:
        return float(fitted_temperature(trials, levels).temperature)

    def sets(prefix: str, level: float, trials: Columns) -> Columns:
        chosen = temperature(trials) if prefix else 1.0
        if math.isnan(chosen):
            return rows_of(set_intervals(trials, level), slice(0))
        return set_intervals(trials, level, chosen)

    fitted = Measure(
        "temperature/all", not_resampled(temperature), "Temperature fitted on the calibration half."
    )
    ways = {"": "as they are"} | ({"scaled_": "after temperature scaling"} if scaled else {})
    return (
        *(replace(measure, name=f"{measure.name}/all") for measure in (ACCURACY, INTEGER_MASS, PARSE_RATE)),
        *((fitted,) if scaled else ()),
        *(
            Measure(
                f"{prefix}{name}/{condition_of(level)}",
                of_intervals(partial(sets, prefix, level), compute),
                f"{what}, at a nominal coverage of {level:g}, on the test half, {way}.",
                better,
            )
            for prefix, way in ways.items()
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
    """Return those of `logprob_measures` that are named, by default all, NaN without trials."""
    return values_of(trials, named(logprob_measures(levels, scaled=scaled), names))


def logprob_metrics(parameters: Mapping[str, Any], conditions: Sequence[str]) -> TaskMetrics:
    """Return the measures of the sets of every level; without the calibration half no temperature is fitted."""
    levels, scaled = levels_of(parameters["levels"]), parameters["split"] in CALIBRATED
    return TaskMetrics(
        logprob_summary,
        {"levels": levels, "scaled": scaled},
        logprob_measures(levels, scaled=scaled),
        condition_of(levels[0]),
        overall=("all", condition_of(levels[0])),
        default_measures=LOGGED,
    )


# The scorer -----------------------------------------------------------------------------------------------------


MEANINGS: Mapping[Status, str] = {
    "ok": "The alternatives to the first tokens tell the probabilities of integers.",
    "repaired": "The probabilities added up to a little more than 1, by rounding, and were divided by their sum.",
    "missing_confidence": "The probabilities add up to much more than 1.",
    "unreadable": "No integer is among the alternatives to the first token.",
}


def explain(trial: DistributionTrial, question: Question, tokens: Sequence[Token] = ()) -> dict[str, str]:
    """Say what the tokens gave, or why they gave nothing."""
    problem = "" if trial["distribution"] or not tokens else why_unknown(tokens)
    most = sorted(read_distribution(trial["distribution"]).items(), key=lambda pair: -pair[1])[:8]
    return {
        "Distribution": ", ".join(f"10^{value}: {p:.3f}" for value, p in most) or "none",
        "Mass on integers": f"{trial['integer_mass']:.3f}",
        "Truth": f"10^{trial['truth']:g}",
        **({"Reading": plain(problem)} if problem else {}),
    }


def read_tokens(question: Question, condition: str, replies: Replies) -> DistributionTrial:
    """Collect the probabilities of integers in the place of the answer."""
    tokens = replies["exponent"][0].tokens
    found = integer_probabilities(tokens)
    problem = "" if found else why_unknown(tokens)
    return distribution_trial(question, question.metadata["split"], found, problem)


REPORTED_MEASURES: tuple[Measure, ...] = (
    ACCURACY,
    CONFIDENCE,
    calibration_error(
        "ece", "Expected calibration error of the most probable exponent’s probability, 10 bins."
    ),
    auroc(
        "auroc",
        "Chance that a right most probable exponent has more probability than a wrong one.",
    ),
    INTEGER_MASS,
)
"""Measures of the most probable exponent; intervals from the distribution are in the table of methods."""
