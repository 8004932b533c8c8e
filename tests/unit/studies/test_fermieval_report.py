"""The table of FermiEval's methods: each from the trials of its task, on the test half."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from tests.trials import fermieval_trial, sample_trial, samples_summary

from confidence_tasks.simulation.subject import make_subject
from confidence_tasks.sources import Question
from confidence_tasks.studies.fermieval.logprob.measures import logprob_summary
from confidence_tasks.studies.fermieval.logprob.subject import exponent_distribution
from confidence_tasks.studies.fermieval.logprob.trials import distribution_trial
from confidence_tasks.studies.fermieval.methods import mean_reductions, method_table
from confidence_tasks.studies.fermieval.replies import LEVELS, interval_reply
from confidence_tasks.studies.fermieval.subject import (
    belief,
    stated_ends,
)
from confidence_tasks.studies.fermieval.summary import fermieval_summary
from confidence_tasks.study.columns import columns

SUBJECT = make_subject("tunnel", perception=0.5, gain=3.0)
FEW = LEVELS[:2]
HALVES = ("calibration", "test")


def questions(n):
    return [Question(f"q-{i}", "fermi", "How many?", "number", str(i % 31 - 10)) for i in range(n)]


def half(i):
    return ("calibration", "test")[i % 2]


def interval_trials(n, levels):
    return [
        fermieval_trial(
            question,
            level,
            half(i),
            interval_reply(*stated_ends(question, SUBJECT, level, "1", level)),
        )
        for i, question in enumerate(questions(n))
        for level in levels
    ]


def logprob_trials(n):
    trials = []
    for i, question in enumerate(questions(n)):
        probabilities = exponent_distribution(belief(question, SUBJECT, "1"), SUBJECT)
        likely = {value: p for value, p in probabilities.items() if p > 1e-6}
        trials.append(distribution_trial(question, half(i), likely))
    return trials


def sampling_trials(n, levels, samples=20, temperatures=(1.0,)):
    return [
        sample_trial(
            question,
            "interval",
            temperature,
            half(i),
            interval_reply(*stated_ends(question, SUBJECT, level, "1", temperature, repeat)),
            level,
        )
        for i, question in enumerate(questions(n))
        for level in levels
        for temperature in temperatures
        for repeat in range(samples)
    ]


@pytest.fixture(scope="module")
def table():
    return method_table(
        FEW,
        {
            "fermieval": columns(interval_trials(160, FEW)),
            "fermieval_logprob": columns(logprob_trials(160)),
            "fermieval_sampling": columns(sampling_trials(160, FEW)),
        },
    )


def test_every_method_has_a_row_at_every_level(table):
    assert list(dict.fromkeys(table["method"])) == [
        *("base", "conformal", "conformal_asymmetric", "conformal_normalized"),
        *("logprob", "logprob_conformal", "logprob_scaled"),
        *("sampling_interval", "sampling_interval_conformal"),
    ]
    assert len(table) == 9 * len(FEW)
    assert set(table["n"]) == {80}


def test_rows_equal_the_measures_of_the_logs(table):
    rows = table.set_index(["method", "level"])
    stated = fermieval_summary(interval_trials(160, FEW), FEW)
    sets = logprob_summary(logprob_trials(160), FEW)
    sampled = samples_summary(sampling_trials(160, FEW), FEW)
    for level in FEW:
        for method, summary, prefix, label in (
            ("base", stated, "", f"p={level}"),
            ("logprob", sets, "", f"p={level}"),
            ("logprob_scaled", sets, "scaled_", f"p={level}"),
            ("sampling_interval", sampled, "", f"p={level}"),
        ):
            for figure in ("coverage", "coverage_gap", "mean_width", "winkler"):
                assert rows.loc[(method, level), figure] == pytest.approx(
                    summary[f"{prefix}{figure}/{label}"]
                )
        for figure, name in (("coverage", "coverage"), ("mean_width", "width"), ("winkler", "winkler")):
            assert rows.loc[("conformal", level), figure] == pytest.approx(
                stated[f"conformal_{name}/p={level}"]
            )


def test_the_table_of_methods_counts_questions_instead_of_epochs():
    trials = interval_trials(60, [0.9])
    once, often = (
        method_table([0.9], {"fermieval": columns(each)}).set_index("method").loc["base"]
        for each in (trials, 4 * trials)
    )
    assert once["n"] == often["n"] == 30
    for name in ("coverage", "coverage_low", "coverage_high"):
        assert once[name] == pytest.approx(often[name])


def test_every_method_improves_the_intervals_of_a_tunnel(table):
    scores, gaps = (
        table.pivot(index="level", columns="method", values=figure) for figure in ("winkler", "coverage_gap")
    )
    assert list(scores.index) == list(FEW)
    for method in ("conformal", "logprob_scaled", "sampling_interval"):
        assert (scores[method] < scores["base"]).all()
    assert (gaps["base"] < -0.3).all()
    assert (gaps["conformal"] > -0.1).all()
    assert (
        (table["coverage_low"] <= table["coverage"]) & (table["coverage"] <= table["coverage_high"])
    ).all()


def test_each_method_is_scored_on_the_questions_that_have_an_interval():
    intervals = interval_trials(20, [0.9])
    broken = [fermieval_trial(questions(20)[1], 0.9, "test", "none"), *intervals[2:]]
    table = method_table(
        [0.9], {"fermieval": columns(broken), "fermieval_logprob": columns(logprob_trials(20))}
    ).set_index("method")
    assert (table.loc["base", "n"], table.loc["logprob", "n"]) == (9, 10)


def test_too_few_calibration_questions_give_infinite_scores():
    table = method_table([0.998], {"fermieval": columns(interval_trials(20, [0.998]))}).set_index("method")
    assert table.loc["conformal", "winkler"] == math.inf
    assert np.isfinite(table.loc["base", "winkler"])


def test_without_the_calibration_half_intervals_are_adjusted_by_jackknife():
    test = [trial for trial in interval_trials(20, [0.9]) if trial["split"] == "test"]
    sets = [trial for trial in logprob_trials(20) if trial["split"] == "test"]
    table = method_table([0.9], {"fermieval": columns(test), "fermieval_logprob": columns(sets)})
    assert list(table["method"]) == [
        *("base", "conformal_jackknife", "logprob", "logprob_conformal_jackknife")
    ]


def test_one_of_several_temperatures_is_chosen_on_the_calibration_half():
    trials = sampling_trials(4, [0.9], samples=3, temperatures=(0.5, 1.0))
    table = method_table([0.9], {"fermieval_sampling": columns(trials)})
    assert list(table["method"]) == ["sampling_interval", "sampling_interval_conformal"]
    assert table["n"].tolist() == [2, 2]


def split_conformal(known, new, level):
    """Adjust intervals (truth, lower, upper) as the paper prints it: both ends by the k-th smallest score."""
    scores = sorted(max(lower - truth, truth - upper) for truth, lower, upper in known)
    k = math.ceil(Fraction(str(level)) * (len(scores) + 1))
    return [(truth, lower - scores[k - 1], upper + scores[k - 1]) for truth, lower, upper in new]


def mean_winkler(intervals, level):
    penalty = 2.0 / (1.0 - level)
    misses = [max(lower - truth, truth - upper, 0.0) for truth, lower, upper in intervals]
    widths = [upper - lower for _, lower, upper in intervals]
    return sum(widths) / len(widths) + penalty * sum(misses) / len(misses)


def set_ends(trial, level):
    """Return the truth, and the ends of the set of most probable exponents whose probability reaches the level."""
    pairs = sorted(
        (-float(p), int(value)) for value, p in (e.split(":") for e in trial["distribution"].split())
    )
    total, reached, members = -sum(p for p, _ in pairs), 0.0, []
    for p, value in pairs:
        members.append(value)
        reached -= p / total
        if reached >= level - 1e-12:
            break
    return trial["truth"], min(members), max(members)


def sampled_ends(samples, level):
    """Return the truth, and the outer quantiles of the ends: the smallest that a share of the samples reaches."""
    tail = (1 - Fraction(str(level))) / 2
    n = len(samples)
    lower = sorted(each["lower"] for each in samples)[math.ceil(tail * n) - 1]
    upper = sorted(each["upper"] for each in samples)[math.ceil((1 - tail) * n) - 1]
    return samples[0]["truth"], lower, upper


def test_conformal_adjustment_of_other_methods_is_the_papers_rule_by_hand(table):
    scores = table.set_index(["method", "level"])["winkler"]
    tokens, samples = logprob_trials(160), sampling_trials(160, FEW)
    for level in FEW:
        by_question = {}
        for trial in samples:
            if trial["level"] == level:
                by_question.setdefault((trial["split"], trial["question_id"]), []).append(trial)
        for method, known, new in (
            (
                "logprob",
                *([set_ends(each, level) for each in tokens if each["split"] == name] for name in HALVES),
            ),
            (
                "sampling_interval",
                *(
                    [sampled_ends(of, level) for (name, _), of in by_question.items() if name == part]
                    for part in HALVES
                ),
            ),
        ):
            assert scores[method, level] == pytest.approx(mean_winkler(new, level))
            expected = mean_winkler(split_conformal(known, new, level), level)
            assert scores[f"{method}_conformal", level] == pytest.approx(expected)


def test_reductions_of_the_papers_figure_2_are_those_of_its_text():
    published = {
        0.90: ((30.96, 27.92, 28.93), (21.57, 20.78, 23.32), 7.38, 25.2),
        0.95: ((63.73, 55.58, 59.25), (43.62, 42.68, 42.57), 16.56, 27.8),
        0.99: ((321.91, 237.57, 318.56), (122.24, 108.98, 125.31), 173.84, 59.4),
    }
    rows = [
        {"model": model, "method": method, "level": level, "winkler": score}
        for level, (base, conformal, _, _) in published.items()
        for method, scores in (("base", base), ("conformal", conformal))
        for model, score in enumerate(scores)
    ]
    found = mean_reductions(pd.DataFrame(rows)).set_index("level")
    for level, (_, _, drop, share) in published.items():
        assert round(found.loc[level, "drop"], 2) == drop
        assert round(found.loc[level, "reduction (%)"], 1) == share


def test_a_model_without_a_finite_score_after_adjustment_is_in_neither_mean():
    rows = [("a", "base", 0.9, 40.0), ("a", "conformal", 0.9, 30.0), ("b", "base", 0.9, 99.0)]
    scores = pd.DataFrame(
        [*rows, ("b", "conformal", 0.9, math.inf)], columns=["model", "method", "level", "winkler"]
    )
    (row,) = mean_reductions(scores).to_dict("records")
    assert (row["before"], row["after"], row["models"]) == (40.0, 30.0, 1)
