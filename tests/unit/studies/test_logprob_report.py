"""Cells of the log-probability study: their measures and bootstrap distributions."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats
from scipy.special import ndtr, xlogy
from tests.sizes import n_studies
from tests.unit.studies.logprob_trials import NATURAL, TRIVIA, Evidence, together, trials

from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.statistics import Reason, bootstrap, fit_meta_d, meta_information
from confidence_tasks.statistics.sdt import (
    correctness_table,
    d_prime_ratings,
    m_ratio_ratings,
    meta_d_ratings,
    quantile_edges,
)
from confidence_tasks.studies.logprob_metacognition.cell_tables import BINNINGS, CellKey
from confidence_tasks.studies.logprob_metacognition.count_tables import MEASURES, RESAMPLED
from confidence_tasks.studies.logprob_metacognition.measures import MEASURES as IN_THE_LOG
from confidence_tasks.studies.logprob_metacognition.resampling import resample
from confidence_tasks.study.columns import columns

QUICK = Settings(n_resamples=200, seed=1)
ONLY_PRIMARY = {"": BINNINGS[""]}
HERE = CellKey("a", TRIVIA, 1.0)


def cell_of(table, **options):
    return resample(table, settings=QUICK, binnings=ONLY_PRIMARY, **options).cells[HERE]


@pytest.fixture(scope="module")
def drawn():
    """Some trials at random, a few without an answer or without evidence."""
    rng = np.random.default_rng(7)
    table = trials(Evidence(1.2, 1.3, 0.6), 400, rng=rng)
    table.loc[:9, ["correct", "mean_logprob", "confidence"]] = np.nan
    table.loc[:9, "status"] = "missing_answer"
    table.loc[10:14, ["mean_logprob", "confidence"]] = np.nan
    table.loc[10:14, "status"] = "missing_confidence"
    return table


# Correctness


NAMES = (*MEASURES, "mratio_v1")


def test_at_temperature_one_values_are_those_in_the_log(drawn):
    of_log = columns(drawn.drop(columns="model").to_dict("records"))
    cell = cell_of(drawn)
    for measure in IN_THE_LOG:
        if measure.name in NAMES:
            value = cell.measure(measure.name).value
            assert value == pytest.approx(measure.compute(of_log, None), abs=1e-12), measure.name


def m_ratios(table, weights, edges) -> np.ndarray:
    """Version 1's M-ratio of each row of weights of the trials, between edges of its own."""
    tables = np.array([weighted_table(table, *pair) for pair in zip(weights, edges, strict=True)])
    return np.asarray(fit_meta_d(tables[:, 0], tables[:, 1], padding="hautus").m_ratio)


def weighted_table(trials: pd.DataFrame, weights: np.ndarray, edges: np.ndarray) -> np.ndarray:
    bins = np.searchsorted(edges, trials["mean_logprob"], side="right")
    cell = 8 * trials["correct"].to_numpy().astype(int) + bins
    return np.bincount(cell, weights, minlength=16).reshape(2, 8)


@pytest.mark.parametrize("binning", ["", "equal_width"])
def test_resamples_vary_as_those_of_repeated_rows(binning):
    """Between the quantiles of the trials, or between extremes of their own."""
    table = trials(Evidence(1.2, 1.3, 0.6), 300, rng=np.random.default_rng(4))
    weights = np.random.default_rng(5).multinomial(300, np.full(300, 1 / 300), 1_000).astype(float)
    evidence = table["mean_logprob"].to_numpy()
    edges = [quantile_edges(evidence, 8)] * 1_000
    if binning:
        ends = [(evidence[row > 0].min(), evidence[row > 0].max()) for row in weights]
        edges = [np.linspace(low, high, 9)[1:-1] for low, high in ends]
    expected = m_ratios(table, weights, edges)
    resampler = resample(table, settings=Settings(1_000, seed=1), binnings={binning: BINNINGS[binning]})
    resamples = resampler.cells[HERE._replace(binning=binning)].measure(RESAMPLED).resamples
    assert np.nanmean(resamples) == pytest.approx(np.nanmean(expected), abs=0.03)
    assert np.nanstd(resamples) == pytest.approx(np.nanstd(expected), rel=0.12)


def test_draws_vary_as_those_between_their_own_quantiles():
    """As with edges computed anew from random weights: a whole, a part of it, and another temperature."""
    rng = np.random.default_rng(8)
    warm = trials(Evidence(1.2, 1.5, 0.4), 4_000, rng=rng)
    cold = trials(Evidence(1.6, 1.2, 0.5), 4_000, temperature=0.3, rng=rng)
    cells = resample(together(warm, cold), settings=Settings(500, seed=1), binnings=ONLY_PRIMARY).cells
    domain = warm["domain"].iloc[0]
    weights = np.random.default_rng(5).standard_exponential((500, 4_000))
    evidence = warm["mean_logprob"].to_numpy()
    order = np.argsort(evidence)
    reached = np.cumsum(weights[:, order], axis=1)
    anew = [evidence[order][np.searchsorted(row / row[-1], np.arange(1, 8) / 8)] for row in reached]
    inside = (warm["domain"] == domain).to_numpy()
    for key, table, cell_weights in (
        (HERE, warm, weights),
        (HERE._replace(domain=domain), warm[inside], weights[:, inside]),
        (HERE._replace(temperature=0.3), cold, weights),
    ):
        resamples = cells[key].measure("mratio_v1").resamples
        expected = m_ratios(table, cell_weights, anew)
        assert np.std(resamples) == pytest.approx(np.std(expected), rel=0.15), key


def test_questions_asked_twice_are_drawn_together():
    once = trials(Evidence(0.3), 400, rng=np.random.default_rng(3))
    twice, single = cell_of(together(once, once)), cell_of(once)
    assert twice.counts == pytest.approx(2 * single.counts)
    for name in ("d_prime_v1", "criterion_v1"):
        spread = [np.std(cell.measure(name).resamples) for cell in (twice, single)]
        assert spread[0] == pytest.approx(spread[1], rel=0.05), name


def test_conditions_and_models_share_their_draws():
    rng = np.random.default_rng(5)
    table = trials(Evidence(), 200, rng=rng)
    copies = [table.assign(temperature=0.3), table.assign(model="b")]
    resampler = resample(together(table, *copies), settings=QUICK, binnings=ONLY_PRIMARY)
    cells = [resampler.cells[key] for key in (HERE, CellKey("a", TRIVIA, 0.3), CellKey("b", TRIVIA, 1.0))]
    for name in (RESAMPLED, "criterion_v1", "meta_information"):
        for cell in cells[1:]:
            assert (cells[0].measure(name) - cell.measure(name)).resamples == pytest.approx(0.0)
    for name in ("mratio_v1", "d_prime_v1"):  # draws start from a little that is each cell's own
        for cell in cells[1:]:
            difference = (cells[0].measure(name) - cell.measure(name)).resamples
            assert np.std(difference) < 0.3 * np.std(cell.measure(name).resamples), name


def test_edges_are_those_of_temperature_one_at_every_temperature():
    cold, hot = trials(Evidence(2.0), 200, temperature=0.3), trials(Evidence(1.0, 1.5), 200)
    resampler = resample(together(cold, hot), settings=QUICK, binnings=ONLY_PRIMARY)
    edges = quantile_edges(hot["mean_logprob"], 8)
    for temperature, table in ((0.3, cold), (1.0, hot)):
        cell = resampler.cells[CellKey("a", TRIVIA, temperature)]
        assert (
            cell.counts == np.stack(correctness_table(table["correct"], table["mean_logprob"], edges=edges))
        ).all()


def test_without_temperature_one_edges_are_those_of_the_nearest():
    greedy, warm = trials(Evidence(2.0), 200, temperature=0.0), trials(Evidence(), 200, temperature=0.7)
    resampler = resample(together(greedy, warm), settings=QUICK)
    assert {key.binning for key in resampler.cells} == {""}
    edges = quantile_edges(warm["mean_logprob"], 8)
    for cell, table in zip(resampler.cells.values(), (greedy, warm), strict=True):
        counts = correctness_table(table["correct"], table["mean_logprob"], edges=edges)
        assert (cell.counts == np.stack(counts)).all()


def binned_information(evidence: Evidence, bins: int) -> float:
    """I(correct; bin) / H(correct) for bins of equal mass of the mixture, from the normal distribution function."""
    p = evidence.accuracy

    def below(x):
        return np.array([(1 - p) * ndtr(x), p * ndtr((x - evidence.distance) / evidence.sd)])

    cuts = [
        optimize.brentq(lambda x, share=share: below(x).sum() - share, -20, 20)
        for share in np.arange(1, bins) / bins
    ]
    cells = np.diff(np.stack([below(x) for x in (-np.inf, *cuts, np.inf)]), axis=0)
    joint = xlogy(cells, cells).sum() - xlogy(cells.sum(1), cells.sum(1)).sum()
    rows = xlogy(cells.sum(0), cells.sum(0)).sum()
    return (joint - rows) / -rows


KNOWN = [
    Evidence(0.5, 1.0, 0.5),
    Evidence(1.4, 1.0, 0.7),
    Evidence(1.4, 1.6, 0.3),
    Evidence(2.0, 0.7, 0.6),
]


@pytest.mark.parametrize("evidence", KNOWN, ids=str)
def test_intervals_hold_closed_forms_and_quadrature(evidence):
    cell = cell_of(trials(evidence, 4_000, rng=np.random.default_rng(11)))
    truth = {"meta_information": binned_information(evidence, 10)}
    wide = Settings(n_resamples=200, level=0.999, seed=1)
    for name, value in truth.items():
        interval = cell.measure(name).interval(wide)
        assert interval.low < value < interval.high, name
        assert interval.high - interval.low < 0.45, name


@pytest.mark.slow
@pytest.mark.parametrize("distance", [0.7, 1.0, 1.4, 2.0])
def test_version_1_m_ratio_is_one_under_equal_variance_whatever_auroc2(distance):
    cell = cell_of(trials(Evidence(distance), 20_000))
    assert cell.measure("mratio_v1").value == pytest.approx(1.0, abs=5e-3)


def test_unequal_variance_m_ratio_is_one_where_version_1_is_not():
    cell = cell_of(trials(Evidence(1.4, 1.6, 0.8), 20_000))
    assert cell.standard_deviation_ratio == pytest.approx(1 / 1.6, abs=0.02)
    assert cell.measure("mratio_v1").value < 0.6
    assert cell.measure("mratio_v1_unequal").value == pytest.approx(1.0, abs=0.03)


def test_m_ratio_intervals_are_those_of_resamples_with_quantiles_of_their_own():
    """Where no outcome is rare, the posterior distribution is that of resamples: statistics draws them by itself."""
    table = trials(Evidence(1.2, 0.8, 0.6), 1_500, rng=np.random.default_rng(2))
    own = resample(table, settings=Settings(4_000, seed=1), binnings=ONLY_PRIMARY).cells[HERE]
    given = table["correct"], np.exp(table["mean_logprob"])
    for name, statistic in (
        ("mratio_v1", m_ratio_ratings),
        ("meta_d_v1", meta_d_ratings),
        ("d_prime_v1", d_prime_ratings),
    ):
        interval, wanted = (
            own.measure(name).interval(Settings(4_000)),
            bootstrap(statistic, *given, n_resamples=4_000),
        )
        assert interval.estimate == pytest.approx(statistic(*given, padding="hautus"), rel=1e-9)
        assert interval.low == pytest.approx(wanted.low, abs=0.03)
        assert interval.high == pytest.approx(wanted.high, abs=0.03)


def test_large_m_ratios_are_dropped_and_counted():
    """Few trials that hardly differ: d' is near 0 in many resamples."""
    table = trials(Evidence(0.05), 40, rng=np.random.default_rng(0))
    cell = resample(table, settings=Settings(1_000), binnings=ONLY_PRIMARY).cells[HERE]
    meta_d, d_prime = (cell.measure(name).resamples for name in ("meta_d_v1", "d_prime_v1"))
    kept = cell.measure("mratio_v1").resamples
    assert cell.n_dropped == (~(np.abs(meta_d / d_prime) <= 10)).sum() > 0
    assert np.nanmax(np.abs(kept)) <= 10


def test_resamples_of_meta_information_lie_around_its_value():
    """A resample's information is too large twice over; without that it would lie far above."""
    table = trials(Evidence(0.3), 150, rng=np.random.default_rng(4))
    cell = resample(table, settings=Settings(2_000), binnings=ONLY_PRIMARY).cells[HERE]
    information = cell.measure("meta_information")
    error = information.resamples.std()
    assert information.resamples.mean() == pytest.approx(information.value, abs=0.3 * error)
    plain = meta_information(table["correct"], table["mean_logprob"], correction="none")
    assert plain - information.value > 0.5 * error


def test_meta_information_of_repeated_questions_is_that_of_the_log():
    """Five equal answers to each question tell as much as one, and their resamples lie around the value."""
    once = trials(Evidence(0.3), 150, rng=np.random.default_rng(4))
    table = together(*[once.assign(epoch=epoch) for epoch in range(1, 6)])
    cell = resample(table, settings=Settings(2_000), binnings=ONLY_PRIMARY).cells[HERE]
    information = cell.measure("meta_information")
    in_the_log = next(measure for measure in IN_THE_LOG if measure.name == "meta_information")
    logged = in_the_log.compute(columns(table.to_dict("records")), None)
    single = meta_information(once["correct"], once["mean_logprob"])
    assert information.value == pytest.approx(logged, abs=1e-12)
    assert information.value == pytest.approx(single, abs=0.005)
    error = information.resamples.std()
    assert information.resamples.mean() == pytest.approx(information.value, abs=0.15 * error)


def test_balanced_trials_are_half_right_and_drawn_by_seed():
    table = trials(Evidence(1.4, 1.0, 0.8), 500)
    first, again, other = (
        resample(table, settings=Settings(10, seed=seed)).cells[HERE._replace(binning="balanced")]
        for seed in (1, 1, 2)
    )
    assert first.counts.sum(axis=1).tolist() == [100, 100]
    assert (first.counts == again.counts).all()
    assert set(first.questions) != set(other.questions)


# Degenerate input


def test_no_trials_are_no_cells():
    table = trials(Evidence(), 30)
    empty = resample(table.iloc[:0], settings=QUICK)
    assert (empty.cells, empty.sources) == ({}, [])
    unread = resample(table.assign(mean_logprob=np.nan), settings=QUICK)
    assert dict(unread.cells) == {}


@pytest.mark.slow
@pytest.mark.parametrize("right", [0.0, 1.0])
def test_one_kind_of_answers_leaves_numbers_undefined_with_a_reason(right):
    cell = cell_of(trials(Evidence(), 30).assign(correct=right))
    for name in NAMES:
        distribution = cell.measure(name)
        assert np.isnan(distribution.value), name
        assert distribution.value.reason is not None
        assert np.isnan(distribution.resamples).all(), name


@pytest.mark.slow
@settings(max_examples=n_studies(10))
@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, 1.0, np.nan]), st.sampled_from([-2.0, -1.0, -0.5, 0.0, np.nan])),
        min_size=1,
        max_size=25,
    ),
    st.randoms(use_true_random=False),
)
def test_any_trials_are_measured_and_their_order_does_not_count(pairs, random):
    correct, mean_logprob = zip(*pairs, strict=True)
    table = trials(Evidence(), len(pairs)).assign(
        correct=correct, mean_logprob=mean_logprob, confidence=np.exp(mean_logprob)
    )
    places = list(range(len(pairs)))
    random.shuffle(places)
    plain, moved = (
        resample(rows, settings=Settings(5), binnings=ONLY_PRIMARY).cells
        for rows in (table, table.iloc[places])
    )
    assert set(plain) == set(moved)
    for key, cell in plain.items():
        for name in NAMES if not key.domain else ("mratio_v1", "meta_information"):
            one, other = cell.measure(name), moved[key].measure(name)
            assert one.value == pytest.approx(other.value, abs=1e-9, nan_ok=True)
            assert one.resamples == pytest.approx(other.resamples, abs=1e-9, nan_ok=True)
            assert np.isfinite(one.value) or one.value.reason is not None


def test_the_answers_that_a_balanced_table_takes_do_not_depend_on_their_order():
    table = trials(Evidence(), 200)
    binnings = {name: BINNINGS[name] for name in ("", "balanced")}
    plain, moved = (
        resample(rows, settings=Settings(20), binnings=binnings).cells
        for rows in (table, table.sample(frac=1.0, random_state=1))
    )
    (key,) = (key for key in plain if key.binning == "balanced")
    assert (plain[key].counts == moved[key].counts).all()


def test_constant_evidence_tells_nothing():
    cell = cell_of(trials(Evidence(), 100).assign(mean_logprob=-1.0))
    assert np.isnan(cell.measure("meta_information").value)
    assert cell.measure("meta_information").value.reason is Reason.FEW_INFORMATIVE


# Sources, domains, binnings


def test_the_resampler_lists_sources_and_domains():
    table = together(
        trials(Evidence(), 80, source=NATURAL),
        trials(Evidence(0.3), 1_000),
        trials(Evidence(), 80, temperature=0.3),
    )
    resampler = resample(table, settings=QUICK)
    assert resampler.sources == [TRIVIA, NATURAL]
    assert len(resampler.domains) == 4
    assert len({key.domain for key in resampler.cells if key.source == TRIVIA}) == 1 + 4
    assert {key.binning for key in resampler.cells} == set(BINNINGS) - {"gold"}
    parts = [cell for key, cell in resampler.cells.items() if key.domain and key.source == TRIVIA]
    whole = resampler.cells[HERE]
    assert (sum(cell.counts for cell in parts) == whole.counts).all()


# The type-2 criterion


def test_the_type_2_criterion_is_that_of_the_trials_above_the_median_of_temperature_one():
    rng = np.random.default_rng(3)
    table = pd.concat([trials(Evidence(1.2, 1.3, 0.6), 300, rng=rng, temperature=t) for t in (0.5, 1.0)])
    table.loc[table["temperature"] == 0.5, "mean_logprob"] += 0.4
    cells = resample(table, settings=QUICK, binnings=ONLY_PRIMARY).cells
    median = np.median(table.loc[table["temperature"] == 1.0, "mean_logprob"])
    for temperature in (0.5, 1.0):
        rows = table[table["temperature"] == temperature]
        z = [
            stats.norm.ppf(((answers["mean_logprob"] >= median).sum() + 0.5) / (len(answers) + 1.0))
            for _, answers in rows.groupby("correct")
        ]
        criterion = cells[HERE._replace(temperature=temperature)].measure("criterion_v1").value
        assert criterion == pytest.approx(-np.mean(z), abs=1e-9)
    assert cells[HERE._replace(temperature=0.5)].measure("criterion_v1").value < criterion
