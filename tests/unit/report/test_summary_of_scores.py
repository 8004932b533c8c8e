"""Summaries of scores of any range."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import mannwhitneyu

from confidence_tasks import summary


def answers(n=300):
    rng = np.random.default_rng(0)
    score = rng.normal(size=n).round(2)
    return (rng.random(n) < 1 / (1 + np.exp(-2 * score))).astype(float), score


def values(correct, score, **settings):
    frame = summary(correct, score, n_resamples=100, **settings).to_frame()
    return frame.set_index("measure")["value"]


def test_any_increasing_scale_gives_the_same_ranking_and_uncertainty_the_reverse() -> None:
    correct, score = answers()
    expected = mannwhitneyu(score[correct == 1], score[correct == 0]).statistic
    expected /= (correct == 1).sum() * (correct == 0).sum()
    for given, kind in ((score, "score"), (1e6 * score - 5e8, "score"), (-score, "uncertainty")):
        found = values(correct, given, kind=kind)
        assert found["auroc"] == pytest.approx(expected)
        assert found[["prr", "auarc", "accuracy"]].notna().all()


def test_measures_of_probabilities_are_missing_with_the_reason() -> None:
    correct, score = answers()
    frame = summary(correct, score, kind="score", measures=["auroc", "ece"], n_resamples=100).to_frame()
    assert frame["measure"].tolist() == ["auroc", "ece"]
    assert (
        frame["reason"].iloc[1]
        == "no value: a score is no probability; after recalibration it is ece_recalibrated"
    )


def test_recalibrated_log_odds_are_calibrated() -> None:
    correct, score = answers(2000)
    assert values(correct, score, kind="score", measures=["ece_recalibrated"]).iloc[0] < 0.05


def test_tables_and_groups() -> None:
    correct, score = answers()
    table = pd.DataFrame({"right": correct, "s": score, "m": np.tile(["a", "b"], 150)})
    frame = summary(
        "right", "s", data=table, by="m", kind="score", measures=["auroc"], n_resamples=100
    ).to_frame()
    assert frame["m"].tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"confidence": [1.0, 2.0], "kind": "entropy"}, "kind must be one of"),
        ({"confidence": [1.0, np.inf], "kind": "score"}, "infinite score"),
        ({"confidence": ["a", "b"], "kind": "score"}, "not a number"),
        ({"confidence": ["a", "b"], "kind": "score", "measures": ["mratio"]}, "not a number|no measure"),
    ],
)
def test_mistakes_are_refused(arguments, message) -> None:
    with pytest.raises(ValueError, match=message):
        summary([1, 0], **arguments)


def test_single_precision_rounding_is_no_mistake() -> None:
    assert len(summary([1, 0], np.array([1.0000001, 0.5], dtype=np.float32), n_resamples=50).to_frame()) == 8
