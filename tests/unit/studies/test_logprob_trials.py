"""The log-probability study: trials, measures against statistics, and token texts."""

import math

import numpy as np
import pytest
from inspect_ai.model import Logprob, Logprobs, ModelOutput
from tests.trials import logprob_trial

from confidence_tasks import statistics
from confidence_tasks.harness.inspect.model_replies import logprob_tokens
from confidence_tasks.studies.logprob_metacognition.measures import MEASURES, nlp_metad_measures
from confidence_tasks.studies.logprob_metacognition.trials import LogprobTrial
from confidence_tasks.study.columns import columns
from confidence_tasks.study.metrics import summarise
from confidence_tasks.study.trial import Question

WROTE = Question(
    "q-1", "demo", "Who wrote Emma?", "text", "Jane Austen", aliases=("Austen, Jane", "J. Austen")
)


def trial(reply, mean_logprob=-0.5, **options):
    """Read a reply whose tokens, of four letters each, are equally probable; None for no tokens."""
    pieces = [] if mean_logprob is None else [reply[i : i + 4] for i in range(0, len(reply), 4)]
    return logprob_trial(WROTE, 0.7, reply, [(piece, mean_logprob) for piece in pieces], **options)


def test_trial_of_an_answer():
    row = trial("Jane Austin", of_gold=-0.25)
    assert row == LogprobTrial(
        question_id="q-1",
        source="demo",
        condition="T=0.7",
        correct=1.0,
        confidence=math.exp(-0.5),
        status="ok",
        temperature=0.7,
        mean_logprob=-0.5,
        tokens=3.0,
        domain="Arts & Literature",
        answer="Jane Austin",
        match="fuzzy",
        gold_mean_logprob=-0.25,
    )


@pytest.mark.parametrize(
    ("reply", "status"), [("", "missing_answer"), ("I don't know.", "refused"), ("?", "unreadable")]
)
def test_trial_without_an_answer_has_no_evidence_whatever_the_tokens(reply, status):
    row = trial(reply)
    assert row["status"] == status
    assert row["tokens"] == 0.0
    assert all(math.isnan(row[key]) for key in ("correct", "mean_logprob", "confidence"))


def test_answer_without_tokens_still_counts_for_accuracy():
    row = trial("Jane Austen", None)
    assert (row["status"], row["correct"]) == ("missing_confidence", 1.0)
    assert math.isnan(row["mean_logprob"])


@pytest.fixture(scope="module")
def trials():
    rng = np.random.default_rng(0)
    right = rng.random(400) < 0.6
    mean_logprobs = np.minimum(-2.0 + 0.3 * (1.4 * right + rng.normal(size=400)), -1e-6)
    made = [
        trial("Jane Austen" if correct else "nobody", float(mean_logprob))
        for correct, mean_logprob in zip(right, mean_logprobs, strict=True)
    ]
    return [*made, trial(""), trial("Jane Austen", None)]


def test_every_measure_is_its_statistic_over_the_complete_trials(trials):
    metrics = summarise(trials, MEASURES, ["T=0.7"])
    table = columns(trials)
    both = ~np.isnan(table["correct"]) & ~np.isnan(table["mean_logprob"])
    correct, mean_logprob, confidence = (
        table[key][both] for key in ("correct", "mean_logprob", "confidence")
    )
    expected = {
        "meta_information": statistics.meta_information(correct, mean_logprob),
        "auroc2": statistics.auroc2(correct, confidence),
        "z_roc_slope": statistics.sdt.z_roc_slope(correct, mean_logprob),
        "d_a": statistics.sdt.d_a(correct, mean_logprob),
        "accuracy": table["correct"][:-2].sum() / 401 + 1 / 401,
        "accuracy_of_all": np.mean([*table["correct"][~np.isnan(table["correct"])].tolist(), 0.0]),
        "parse_rate": 400 / 402,
        "ece": statistics.ece(correct, np.exp(mean_logprob)),
        "brier": np.mean((np.exp(mean_logprob) - correct) ** 2),
        "mean_logprob": mean_logprob.mean(),
        "mean_logprob_difference": mean_logprob[correct == 1].mean() - mean_logprob[correct == 0].mean(),
        "accuracy_50": statistics.accuracy_at_coverage(
            correct, mean_logprob.argsort().argsort() / 400, coverage=0.5
        ),
        "accuracy_80": statistics.accuracy_at_coverage(
            correct, mean_logprob.argsort().argsort() / 400, coverage=0.8
        ),
        "d_prime_v1": statistics.sdt.d_prime_ratings(correct, mean_logprob, padding="hautus"),
        "meta_d_v1": statistics.sdt.meta_d_ratings(correct, mean_logprob, padding="hautus"),
        "mratio_v1": statistics.sdt.m_ratio_ratings(correct, mean_logprob, padding="hautus"),
    }
    assert {f"{name}/T=0.7" for name in expected} == set(metrics)
    for name, value in expected.items():
        assert metrics[f"{name}/T=0.7"] == pytest.approx(value, abs=1e-12), name
    assert MEASURES[0].name == "meta_information"


def test_the_number_of_ratings_changes_measures_of_count_tables_only(trials):
    four, six = (summarise(trials, nlp_metad_measures(k), ["T=0.7"]) for k in (4, 6))
    changed = {name.partition("/")[0] for name, value in four.items() if value != six[name]}
    assert changed == {"z_roc_slope", "d_a", "d_prime_v1", "meta_d_v1", "mratio_v1"}


def test_measures_are_nan_without_trials_and_meta_information_if_all_are_right(trials):
    nothing = summarise([], MEASURES, ["T=0.7"])
    assert len(nothing) == len(MEASURES)
    assert all(map(math.isnan, nothing.values()))
    right = summarise([one for one in trials if one["correct"] == 1.0], MEASURES, ["T=0.7"])
    assert math.isnan(right["meta_information/T=0.7"])
    assert right["accuracy/T=0.7"] == 1.0


def test_version_1_carries_its_warning():
    (measure,) = (measure for measure in MEASURES if measure.name == "mratio_v1")
    assert "replication only" in measure.description
    assert "withdrew" in measure.description


def output(*items):
    reply = ModelOutput.from_content("model", "x")
    reply.choices[0].logprobs = Logprobs(content=[Logprob(token=t, logprob=-1.0, bytes=b) for t, b in items])
    return [token.text for token in logprob_tokens(reply)]


def test_texts_of_tokens_come_from_their_bytes_where_characters_are_cut():
    assert output((" Caf", [32, 67, 97, 102]), ("\\xc3", [0xC3]), ("\\xa9", [0xA9])) == [" Caf", "", "é"]
    assert output(("é", None), ("a", [97])) == ["é", "a"]
    assert output(("ĠSan", [288, 83, 97, 110])) == ["ĠSan"]
