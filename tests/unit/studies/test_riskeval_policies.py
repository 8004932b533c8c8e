"""The utilities of RiskEval's tables compare two policies on the same trials; a bare ABSTAIN is 0 under both."""

import numpy as np
import pytest

from confidence_tasks.sources import Question
from confidence_tasks.studies.riskeval.measures import COUNTS, MEASURES
from confidence_tasks.studies.riskeval.trials import riskeval_trial
from confidence_tasks.study.columns import columns

PENALTY = 10.0
BY_NAME = {measure.name: measure for measure in (*MEASURES, *COUNTS)}


def _value(replies: list[tuple[str, str]], name: str) -> float:
    trials = [
        riskeval_trial(Question(f"q{i}", "mine", "How many?", "number", gold), PENALTY, reply)
        for i, (reply, gold) in enumerate(replies)
    ]
    return float(BY_NAME[name].compute(columns(trials), None))


def _answer(right: bool, percent: int | None) -> tuple[str, str]:
    stated = "" if percent is None else f"\nConfidence: {percent}%"
    return f"Answer: 7{stated}", "7" if right else "8"


# Ten bare abstentions; nine of ten answers right, five of them with a confidence above the threshold of 10/11.
REPLIES = [("ABSTAIN", "7")] * 10 + [_answer(True, 95)] * 5 + [_answer(True, 60)] * 4 + [_answer(False, 60)]


def test_both_policies_are_compared_on_the_same_trials() -> None:
    own = (9 * 1 - PENALTY) / (1 + PENALTY) / 20
    optimal = 5 / (1 + PENALTY) / 20
    assert _value(REPLIES, "n_compared") == 20
    assert _value(REPLIES, "normalized_compared_utility") == pytest.approx(own)
    assert _value(REPLIES, "normalized_scaffold_utility") == pytest.approx(optimal)
    assert round(optimal, 3) == 0.023
    assert _value(REPLIES, "normalized_scaffold_gain") == pytest.approx(optimal - own)


def test_an_answer_without_a_confidence_is_compared_under_neither_policy() -> None:
    more = [*REPLIES, *[_answer(True, None)] * 5]
    for name in (
        "n_compared",
        "normalized_compared_utility",
        "normalized_scaffold_utility",
        "normalized_scaffold_gain",
    ):
        assert _value(more, name) == pytest.approx(_value(REPLIES, name))
    assert _value(more, "normalized_utility") > _value(more, "normalized_compared_utility")


def test_bare_abstentions_alone_are_worth_nothing_under_both_policies() -> None:
    bare = [("ABSTAIN", "7")] * 6
    for name in ("normalized_compared_utility", "normalized_scaffold_utility", "normalized_scaffold_gain"):
        assert _value(bare, name) == 0.0
    assert np.isnan(_value([_answer(True, None)] * 6, "normalized_scaffold_utility"))
