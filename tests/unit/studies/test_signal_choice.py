"""The best signal is chosen on one half of the questions and tested on the other."""

import math

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from confidence_tasks.studies.signals.choice import chosen_by_halves, halves


def trials(n=200, **signals):
    """Return the columns of trials of some signals; by default a signal is pure noise."""
    rng = np.random.default_rng(1)
    correct = (rng.random(n) < 0.6).astype(float)
    values = {"stated": rng.random(n), "words": rng.random(n)}
    values |= {name: make(correct, rng) for name, make in signals.items()}
    return {
        "question_id": np.tile([f"q-{i}" for i in range(n)], len(values)),
        "condition": np.repeat(list(values), n),
        "correct": np.tile(correct, len(values)),
        "value": np.concatenate(list(values.values())),
        "probability": np.full(n * len(values), np.nan),
    }


def informative(correct, rng):
    return correct + rng.normal(size=len(correct))


def test_a_good_signal_is_chosen_on_both_halves_and_tested_on_the_other():
    table = trials(margin=informative)
    choices = chosen_by_halves(table)
    assert [choice.signal for choice in choices] == ["margin", "margin"]
    side = halves(np.unique(table["question_id"][:200], return_inverse=True)[1], 0)
    correct = table["correct"][:200]
    margin, stated = (table["value"][table["condition"] == name] for name in ("margin", "stated"))
    for choice, half in zip(choices, (0, 1), strict=True):
        other = side != half
        assert choice.auroc == pytest.approx(roc_auc_score(correct[other], margin[other]))
        assert choice.there == pytest.approx(roc_auc_score(correct[~other], margin[~other]))
        assert choice.baseline == pytest.approx(roc_auc_score(correct[other], stated[other]))
        assert choice.low < choice.auroc < choice.high
        assert choice.n == other.sum() == 100


def test_the_best_of_many_worthless_signals_is_worthless_on_the_other_half():
    noise = {name: lambda correct, rng: rng.random(len(correct)) for name in MANY}
    choices = chosen_by_halves(trials(n=300, **noise))
    assert all(choice.there > 0.55 for choice in choices)
    assert np.mean([choice.auroc for choice in choices]) == pytest.approx(0.5, abs=0.06)


MANY = ("margin", "negentropy", "p_true", "agreement", "top_k", "cocoa", "mean_logprob", "sum_logprob")


def test_a_signal_of_few_answers_is_not_chosen():
    def rare(correct, rng):
        return np.where(rng.random(len(correct)) < 0.5, correct, np.nan)

    assert {choice.signal for choice in chosen_by_halves(trials(margin=rare))} <= {"stated", "words"}


def test_the_answers_of_a_cluster_are_in_one_half():
    unit = np.repeat(np.arange(30), 5)
    side = halves(unit, 3).reshape(30, 5)
    assert (side == side[:, :1]).all()
    assert side[:, 0].sum() == 15


def test_without_two_classes_there_is_no_choice():
    table = trials(margin=informative)
    assert chosen_by_halves({**table, "correct": np.ones(len(table["correct"]))}) == []
    assert chosen_by_halves({name: column[:0] for name, column in table.items()}) == []
    one = {name: column[table["condition"] == "words"] for name, column in table.items()}
    assert all(math.isnan(choice.baseline) for choice in chosen_by_halves(one))
