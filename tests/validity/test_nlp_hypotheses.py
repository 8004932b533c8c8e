"""Hypotheses and robustness checks on trials where they are true, where they are false, and where none can be told."""

from dataclasses import FrozenInstanceError
from functools import cache, partial

import numpy as np
import pytest
from scipy import stats
from tests.unit.studies.logprob_trials import DOMAINS, NATURAL, Evidence, together, trials

from confidence_tasks.replications.logprob_metacognition.hypotheses import (
    ROBUSTNESS_CHECKS,
    domain_specific_efficiency,
    hidden_structure,
    hypotheses,
    monotonicity,
    suboptimal_metacognition,
    temperature_dissociation,
)
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.studies.logprob_metacognition.quarters import quarters_of
from confidence_tasks.studies.logprob_metacognition.resampling import resample

pytestmark = pytest.mark.slow

QUICK = Settings(n_resamples=300, seed=1)

binning_sensitivity, unequal_variance, equal_width_bins, *others = ROBUSTNESS_CHECKS
other_questions, gold_answer, matched_difficulty = others

EQUAL = Evidence(1.4, 1.0, 0.8)
"""M-ratio 1, as equal variance always has."""

LOW = Evidence(1.4, 1.6, 0.8)
"""M-ratio .49: right answers vary more than wrong ones, and are many."""

HIGH = Evidence(1.4, 1.6, 0.3)
"""M-ratio 1.34: the same, but they are few."""


@cache
def experiment(*parts):
    """Cells of the models, conditions and sources that keyword arguments of ``trials`` describe."""
    return resample(together(*(part() for part in parts)), settings=QUICK)


def asked(evidence, n=2_000, **options):
    """Describe trials; to be handed to ``experiment``."""
    return partial(trials, evidence, n, **options)


def domains(model, **evidence):
    return [asked(evidence.get(name.split()[0], EQUAL), 700, model=model, domain=name) for name in DOMAINS]


def over_temperatures(*evidence, model="a"):
    return [
        asked(its_evidence, 3_000, model=model, temperature=temperature)
        for its_evidence, temperature in zip(evidence, (0.3, 0.5, 0.7, 1.0), strict=True)
    ]


class Tails:
    """Evidence that tells little but at its very ends: the more bins, the more is seen of them."""

    accuracy = 0.5

    def given(self, correct, rng):
        n = len(correct)
        place = (np.arange(n) + 0.5) / n
        chance = np.select([place < 1 / 12, place < 0.5, place < 11 / 12], [0.01, 0.42, 0.58], 0.99)
        order = np.argsort(-(chance + np.random.default_rng(0).uniform(-0.5, 0.5, n)), kind="stable")
        evidence = np.empty(n)
        right = int(correct.sum())
        evidence[correct == 1.0], evidence[correct == 0.0] = place[order[:right]], place[order[right:]]
        return evidence


CASES = [
    # what is tested, trials, verdict
    (suboptimal_metacognition, [asked(LOW), asked(LOW, model="b")], "supported"),
    (suboptimal_metacognition, [asked(LOW), asked(EQUAL, model="b")], "not supported"),
    (suboptimal_metacognition, [asked(HIGH)], "not supported"),
    (suboptimal_metacognition, [asked(LOW, temperature=0.7)], "cannot be tested"),
    (suboptimal_metacognition, [asked(Evidence(accuracy=0.99), 1_000)], "cannot be tested"),
    (domain_specific_efficiency, [*domains("a", Arts=LOW), *domains("b", Geography=LOW)], "supported"),
    (domain_specific_efficiency, [*domains("a"), *domains("b", Geography=LOW)], "not supported"),
    (domain_specific_efficiency, [*domains("a"), *domains("b")], "not supported"),
    (domain_specific_efficiency, domains("a", Arts=LOW), "cannot be tested"),
    (
        temperature_dissociation,
        over_temperatures(
            Evidence(1.2, 1.0, 0.8), Evidence(1.4, 1.1, 0.8), Evidence(1.6, 1.2, 0.8), Evidence(1.7, 1.3, 0.8)
        ),
        "supported",
    ),
    (
        temperature_dissociation,
        over_temperatures(*(Evidence(distance, 1.0, 0.8) for distance in (1.0, 1.3, 1.6, 1.9))),
        "not supported",
    ),
    (
        temperature_dissociation,  # equivalent, but meta-d' follows temperature as closely as d'
        over_temperatures(*(Evidence(distance, 1.0, 0.8) for distance in (1.40, 1.43, 1.46, 1.49))),
        "not supported",
    ),
    (temperature_dissociation, over_temperatures(EQUAL, EQUAL, EQUAL, EQUAL)[:2], "cannot be tested"),
    (hidden_structure, [asked(EQUAL), asked(LOW, model="b")], "supported"),
    (hidden_structure, [asked(EQUAL), asked(Evidence(1.5, 1.0, 0.5), model="b")], "not supported"),
    (hidden_structure, [asked(EQUAL), asked(Evidence(2.4, 1.0), model="b")], "cannot be tested"),
    (hidden_structure, [asked(EQUAL)], "cannot be tested"),
    (binning_sensitivity, [asked(EQUAL)], "supported"),
    (binning_sensitivity, [asked(Tails())], "not supported"),
    (unequal_variance, [asked(EQUAL, 4_000)], "supported"),
    (unequal_variance, [asked(LOW)], "not supported"),
    (equal_width_bins, [asked(Evidence(1.4, 1.0, 0.5), 20_000)], "supported"),
    (equal_width_bins, [asked(Evidence(1.4, 1.6, 0.5))], "not supported"),
    (other_questions, [asked(EQUAL), asked(Evidence(1.0, 1.0, 0.3), source=NATURAL)], "supported"),
    (other_questions, [asked(EQUAL), asked(LOW, source=NATURAL)], "not supported"),
    (other_questions, [asked(EQUAL)], "cannot be tested"),
    (gold_answer, [asked(EQUAL, gold=Evidence(1.0, 1.0, 0.8))], "supported"),
    (gold_answer, [asked(EQUAL, gold=LOW)], "not supported"),
    (gold_answer, [asked(EQUAL)], "cannot be tested"),
    (matched_difficulty, [asked(EQUAL, 6_000)], "supported"),
    (matched_difficulty, [asked(LOW)], "not supported"),
    (matched_difficulty, [asked(EQUAL, temperature=0.3)], "cannot be tested"),
    (monotonicity, [asked(EQUAL), asked(LOW, source=NATURAL)], "supported"),
    (monotonicity, [asked(Evidence(0.0))], "not supported"),
    (monotonicity, [asked(EQUAL), asked(Evidence(0.05), model="b")], "not supported"),
    (monotonicity, [asked(Evidence(accuracy=0.0), 100)], "cannot be tested"),
]


@pytest.mark.parametrize(
    ("tested", "parts", "verdict"),
    CASES,
    ids=[
        f"{getattr(case[0], '__name__', None) or case[0].name}-{case[2]}-{i}" for i, case in enumerate(CASES)
    ],
)
def test_the_verdict_is_the_truth(tested, parts, verdict):
    found = tested(experiment(*parts))
    assert found.verdict == verdict, found.why
    assert found.why.endswith(".")
    if verdict == "cannot be tested":
        assert np.isnan([found.estimate, found.low, found.high]).all()
        assert found.n == 0
    else:
        assert found.low <= found.estimate <= found.high
        assert found.n == sum(len(part()) for part in parts) or found.name.startswith("R")
        assert {"what", "estimate", "low", "high", "passes"} <= set(found.tests)
        assert found.about in set(found.tests["what"])


def test_an_outcome_is_frozen():
    with pytest.raises(FrozenInstanceError):
        suboptimal_metacognition(experiment(asked(LOW))).verdict = "supported"


def test_nothing_can_be_tested_without_trials():
    nothing = resample(trials(EQUAL, 10).assign(mean_logprob=np.nan), settings=QUICK)
    for found in (
        *hypotheses(nothing),
        *(check(nothing) for check in ROBUSTNESS_CHECKS),
        monotonicity(nothing),
    ):
        assert found.verdict == "cannot be tested", found.name


def test_the_deciding_case_is_the_weakest_model_of_h1():
    found = suboptimal_metacognition(experiment(asked(LOW), asked(EQUAL, model="b")))
    assert found.about == "b"
    assert found.estimate == pytest.approx(1.0, abs=0.05)
    assert "1 of 2 models: a" in found.why


def test_domains_are_compared_within_models_and_those_without_a_name_not_at_all():
    parts = [*domains("a", Arts=LOW), *domains("b"), asked(LOW, 700, model="b", domain="Unclassified")]
    found = domain_specific_efficiency(experiment(*parts))
    assert len(found.tests) == 12
    assert not found.tests["what"].str.contains("Unclassified").any()
    assert set(found.tests[found.tests["passes"]]["model"]) == {"a"}
    assert "Arts & Literature" in found.about


def test_corrected_intervals_are_wider_and_decide_if_asked_to():
    parts = [*domains("a"), *domains("b")]
    tests = domain_specific_efficiency(experiment(*parts)).tests
    assert (tests["low_corrected"] < tests["low"]).all()
    assert (tests["high_corrected"] > tests["high"]).all()
    # Large enough a difference for one interval, not for six.
    found = domain_specific_efficiency(experiment(*parts), corrected=True)
    assert found.verdict == "not supported"
    assert "corrected" in found.rule


def test_valid_measures_tell_what_m_ratio_cannot():
    """Two models of equal variance: M-ratio is 1 in both, although one's evidence tells far more."""
    parts = [asked(Evidence(1.4)), asked(Evidence(1.65), model="b")]
    assert hidden_structure(experiment(*parts)).verdict == "not supported"
    assert hidden_structure(experiment(*parts), "meta_information").verdict == "supported"


def test_r2_recovers_one_where_variances_differ():
    test = unequal_variance(experiment(asked(LOW))).tests.iloc[0]
    assert test["m_ratio"] == pytest.approx(1.0, abs=0.05)
    assert test["what"].startswith("a, s = 0.6")  # 1 / 1.6


def test_robustness_must_be_shown_not_assumed():
    """Few trials: no difference can be shown, and neither can its absence."""
    found = binning_sensitivity(resample(trials(EQUAL, 300, rng=np.random.default_rng(0)), settings=QUICK))
    assert found.verdict == "not supported"
    assert "too uncertain to decide" in found.why


@pytest.mark.parametrize(
    ("tested", "parts", "why"),
    [
        (other_questions, [asked(EQUAL)], "source=nq_open"),
        (other_questions, [asked(EQUAL, 100), asked(EQUAL, source=NATURAL)], "50 right and 50 wrong"),
        (gold_answer, [asked(EQUAL)], "force_gold"),
        (gold_answer, [asked(EQUAL, 100, gold=EQUAL)], "50 right and 50 wrong"),
    ],
)
def test_what_cannot_be_tested_says_what_is_lacking(tested, parts, why):
    assert why in tested(experiment(*parts)).why


def test_p_values_of_neighbouring_quarters_are_fishers():
    table = trials(Evidence(0.2), 200, rng=np.random.default_rng(1))
    cells = resample(table, settings=QUICK)
    (cell,) = [cell for key, cell in cells.cells.items() if not (key.domain or key.binning)]
    right, total, independent = quarters_of(cell)
    assert total.tolist() == independent.tolist() == [50.0] * 4
    assert right.sum() == table["correct"].sum()
    expected = max(
        stats.fisher_exact(
            [[right[i + 1], total[i + 1] - right[i + 1]], [right[i], total[i] - right[i]]],
            alternative="greater",
        ).pvalue
        for i in range(3)
    )
    assert monotonicity(cells).tests["p_value"].iloc[0] == pytest.approx(expected, rel=1e-9)


def test_the_papers_monotonicity_is_a_strict_rise_of_the_shares_and_proves_less():
    """A rise of two hundredths a quarter is one to the paper, and none where two shares are equal."""
    for shares, rises in (((0.50, 0.52, 0.54, 0.56), True), ((0.50, 0.52, 0.52, 0.56), False)):
        correct = np.concatenate([np.arange(50) < round(50 * share) for share in shares]).astype(float)
        table = trials(Evidence(), 200).assign(correct=correct, mean_logprob=np.arange(200.0) - 300.0)
        table = table.assign(confidence=np.exp(table["mean_logprob"]))
        found = monotonicity(resample(table, settings=QUICK))
        assert found.tests["rises"].tolist() == [rises]
        assert not found.tests["passes"].any()
        assert found.why.endswith(
            f"By the observed proportions alone, as in the paper, it rises in {int(rises)}."
        )


def test_the_same_answers_again_prove_no_rise():
    table = trials(Evidence(0.4), 200, rng=np.random.default_rng(1))
    once, three_times = (
        monotonicity(resample(together(*[table] * times), settings=QUICK)).tests.iloc[0] for times in (1, 3)
    )
    for name in ("estimate", "low", "high", "p_value"):
        assert three_times[name] == pytest.approx(once[name], rel=1e-9), name


def test_equal_evidence_shares_a_quarter():
    table = trials(Evidence(), 200).assign(mean_logprob=np.repeat([-2.0, -1.0], [150, 50]))
    cell = next(iter(resample(table, settings=QUICK).cells.values()))
    assert quarters_of(cell).total.sum() == 200
    assert len(quarters_of(cell).total) == 2
