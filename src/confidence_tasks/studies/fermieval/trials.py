"""FermiEval's trials, and the measures of intervals as stated and as conformally adjusted.

Epstein, Winnicki, Sornwanee & Dwaraknath (2025), "LLMs are Overconfident: Evaluating Confidence Interval Calibration
with FermiEval".
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from confidence_tasks import statistics
from confidence_tasks.reading.explanation import escape_markdown
from confidence_tasks.studies.fermieval.replies import (
    LARGEST_EXPONENT,
    largest_end,
    level_of,
    read_fermi_interval,
)
from confidence_tasks.study import Question, Replies, Status, Token
from confidence_tasks.study.trial import ReadTrial

EXCLUDED = "excluded"
"""The ``split`` of a trial that is left out because its truth or an end lies beyond ``max_exponent``."""


class IntervalTrial(ReadTrial):
    """A trial of FermiEval; ``correct`` is 1 if the interval contains the truth, ``confidence`` the nominal coverage.

    ``answer`` is the interval as written.

    Attributes
    ----------
    level : float
        Requested nominal coverage.
    lower, upper : float
        Ends of the interval as exponents of ten; NaN if there is none.
    truth : float
        The true exponent.
    width : float
        Upper end minus lower end.
    winkler : float
        Winkler score of the interval.
    split : str
        ``calibration`` or ``test``; ``excluded`` if the truth or an end lies beyond ``max_exponent``.
    """

    level: float
    lower: float
    upper: float
    truth: float
    width: float
    winkler: float
    split: str


def read_interval(question: Question, condition: str, replies: Replies) -> IntervalTrial:
    """Read the interval of a reply and compare it with the key, which is an exponent.

    The metadata of the question hold its ``split``, ``calibration`` or ``test``. If they also hold ``max_exponent``, a
    trial whose truth or one of whose ends lies further from 0 is excluded; the paper's figures use 100.

    Examples
    --------
    >>> from confidence_tasks.study import ModelReply
    >>> about = {"split": "test", "max_exponent": 100}
    >>> question = Question("fermi-1", "fermi", "Pennies in a trillion?", "number", "13", metadata=about)
    >>> read_interval(question, "p=0.9", {"interval": [ModelReply('{"L": 10, "U": 101}')]})["split"]
    'excluded'
    >>> trial = read_interval(question, "p=0.9", {"interval": [ModelReply('Some 10^11. {"L": 10, "U": 12}')]})
    >>> trial["condition"], trial["correct"], trial["width"], round(trial["winkler"], 6)
    ('p=0.9', 0.0, 2.0, 22.0)
    """
    level, split = level_of(condition), question.metadata["split"]
    max_exponent = question.metadata.get("max_exponent")
    truth = float(question.gold or math.nan)
    reading = read_fermi_interval(replies["interval"][0].text, largest_end(truth))
    lower, upper = reading.lower, reading.upper
    scored = not (math.isnan(lower) or math.isnan(truth))
    beyond = max_exponent is not None and any(abs(end) > max_exponent for end in (truth, lower, upper))
    if beyond or (max_exponent is not None and reading.status == "out_of_range"):
        split = EXCLUDED
    return IntervalTrial(
        question_id=question.id,
        source=question.source,
        condition=condition,
        correct=float(statistics.coverage([truth], [lower], [upper])) if scored else math.nan,
        confidence=level if scored else math.nan,
        status=reading.status,
        level=level,
        lower=lower,
        upper=upper,
        truth=truth,
        width=upper - lower,
        winkler=float(statistics.winkler_score([truth], [lower], [upper], level)) if scored else math.nan,
        split=split,
        answer=reading.stated,
        rules="+".join(reading.rules),
    )


# The explanation -------------------------------------------------------------------------------------------------

MEANINGS: Mapping[Status, str] = {
    "out_of_range": f"An end lies beyond 10^±{LARGEST_EXPONENT:g}; the interval is left out.",
    "missing_answer": "Only one end of the interval can be read; the trial counts for the parse rate only.",
    "unreadable": "No interval can be read; the trial counts for the parse rate only.",
}


def explain(trial: IntervalTrial, question: Question, tokens: Sequence[Token] = ()) -> dict[str, str]:
    """Return the rows of the log viewer's table: the interval, the truth and the score."""
    rows = {
        "Interval": f"10^[{escape_markdown(trial['answer'])}]" if trial["answer"] else "none",
        "Nominal coverage": f"{trial['level']:.1%}",
        "Truth": f"10^{trial['truth']:g}",
    }
    if not math.isnan(trial["correct"]):
        verdict = "contains the truth" if trial["correct"] else "misses the truth"
        rows["Verdict"] = f"**{verdict}**; Winkler score {trial['winkler']:.3f}"
    if trial["split"] == EXCLUDED:
        rows["Left out"] = "The truth or an end lies beyond `max_exponent`."
    return rows
