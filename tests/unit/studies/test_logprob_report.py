"""Cells of the log-probability study: their measures, and what these are in resamples."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats
from scipy.special import ndtr, xlogy
from tests.unit.studies.logprob_trials import NATURAL, TRIVIA, Evidence, together, trials

from confidence_tasks.report.estimates import Settings
from confidence_tasks.statistics import auroc2, bootstrap, meta_information
from confidence_tasks.statistics.inference.draws import weight_columns
from confidence_tasks.statistics.sdt import (
    correctness_table,
    d_prime_ratings,
    m_ratio_ratings,
    meta_d_ratings,
    quantile_edges,
)
from confidence_tasks.studies.logprob_metacognition.resampling import BINNINGS, resample
from confidence_tasks.studies.logprob_metacognition.tables import MEASURES, CellKey
from confidence_tasks.studies.logprob_metacognition.trials import MEASURES as IN_THE_LOG
from confidence_tasks.study.measures import columns

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


def test_at_temperature_one_values_are_those_in_the_log(drawn):
    of_log = columns(drawn.drop(columns="model").to_dict("records"))
    cell = cell_of(drawn)
    for measure in IN_THE_LOG:
        assert cell.measure(measure.name).value == pytest.approx(measure.compute(of_log, None), abs=1e-12), (
            measure.name
        )


def test_resamples_are_those_of_the_questions_that_were_drawn(drawn):
    """Every resample recomputed from repeated rows, with the edges of the trials themselves."""
    cell = cell_of(drawn)
    (weights,) = weight_columns(400, n_resamples=200, seed=QUICK.generator("nlp_metad", TRIVIA))
    order = np.argsort(drawn["question_id"].astype(str).to_numpy(), kind="stable")
    complete = drawn.dropna(subset=["correct", "mean_logprob"])
    edges = quantile_edges(complete["mean_logprob"], 8)
    for r in (0, 1, 57, 199):
        rows = np.repeat(order, weights[:, r])
        again = drawn.iloc[rows]
        some = again.dropna(subset=["correct", "mean_logprob"])
        table = np.stack(correctness_table(some["correct"], some["mean_logprob"], edges=edges))
        assert (cell.count_draws[r] == table).all()
        expected = {
            "auroc2": auroc2(some["correct"], some["confidence"]),
            "accuracy": again["correct"].mean(),
            "parse_rate": (again["status"] == "ok").mean(),
            "mean_logprob": again["mean_logprob"].mean(),
            "mean_logprob_difference": some.groupby("correct")["mean_logprob"].mean().diff().iloc[-1],
        }
        for name, value in expected.items():
            assert cell.measure(name).resamples[r] == pytest.approx(value, abs=1e-9), name


def start_of(n_draws: int) -> np.ndarray:
    """What the cells of tables of eight bins start from in draws."""
    rng = QUICK.generator("nlp_metad", TRIVIA, "prior")
    return rng.gamma(1 / 8, size=(n_draws, 2, 8))


def weighted_table(trials: pd.DataFrame, weights: np.ndarray, edges: np.ndarray) -> np.ndarray:
    bins = np.searchsorted(edges, trials["mean_logprob"], side="right")
    cell = 8 * trials["correct"].to_numpy().astype(int) + bins
    return np.bincount(cell, weights, minlength=16).reshape(2, 8)


def test_draws_are_counted_between_their_own_quantiles():
    """As with edges computed anew from the random weights, unlike with those kept: a whole, a part, and another."""
    rng = np.random.default_rng(8)
    warm = trials(Evidence(1.2, 1.5, 0.4), 16_000, rng=rng)
    cold = trials(Evidence(1.6, 1.2, 0.5), 16_000, temperature=0.3, rng=rng)
    few = Settings(n_resamples=12, seed=1)
    cells = resample(together(warm, cold), settings=few, binnings=ONLY_PRIMARY).cells
    domain = warm["domain"].iloc[0]
    (columns,) = weight_columns(
        16_000, bayesian=True, n_resamples=12, seed=few.generator("nlp_metad", TRIVIA, "posterior")
    )
    weights = columns[np.unique(warm["question_id"].astype(str), return_inverse=True)[1]].T
    order = np.argsort(warm["mean_logprob"].to_numpy())
    reached = np.cumsum(weights[:, order], axis=1, dtype=np.float64)
    eighths = np.arange(1, 8) / 8
    anew = [
        warm["mean_logprob"].to_numpy()[order][np.searchsorted(row / row[-1], eighths)] for row in reached
    ]
    kept = [quantile_edges(warm["mean_logprob"], 8)] * 12
    inside = (warm["domain"] == domain).to_numpy()
    for key, table, own, most in (
        (HERE, warm, weights, 0.4),
        (HERE._replace(domain=domain), warm[inside], weights[:, inside], 0.8),
        (HERE._replace(temperature=0.3), cold, weights, 0.6),
    ):
        expected, fixed = (
            np.array([weighted_table(table, *pair) for pair in zip(own, edges, strict=True)])
            for edges in (anew, kept)
        )
        found = cells[key].posterior_draws - start_of(12)
        assert np.std(found - expected) < most * np.std(fixed - expected), key


def test_resamples_of_bins_of_one_width_lie_between_their_own_extremes():
    drawn = trials(Evidence(), 60, rng=np.random.default_rng(4))
    experiment = resample(drawn, settings=QUICK, binnings={"equal_width": BINNINGS["equal_width"]})
    cell = experiment.cells[HERE._replace(binning="equal_width")]
    (weights,) = weight_columns(60, n_resamples=200, seed=QUICK.generator("nlp_metad", TRIVIA))
    order = np.argsort(drawn["question_id"].astype(str).to_numpy(), kind="stable")
    for r in (0, 3, 199):
        again = drawn.iloc[np.repeat(order, weights[:, r])]
        edges = np.linspace(again["mean_logprob"].min(), again["mean_logprob"].max(), 9)[1:-1]
        table = np.stack(correctness_table(again["correct"], again["mean_logprob"], edges=edges))
        assert (cell.count_draws[r] == table).all()


def test_questions_asked_twice_are_drawn_together():
    once = trials(Evidence(0.3), 400, rng=np.random.default_rng(3))
    twice = cell_of(together(once, once))
    single = cell_of(once)
    assert (twice.count_draws.sum(axis=2) == 2 * single.count_draws.sum(axis=2)).all()
    start = start_of(200)
    drawn, once_drawn = ((cell.posterior_draws - start).sum(axis=2) for cell in (twice, single))
    assert drawn == pytest.approx(2 * once_drawn, rel=1e-5)
    assert twice.area_draws == pytest.approx(single.area_draws, abs=1e-12)


def test_conditions_and_models_share_their_draws():
    rng = np.random.default_rng(5)
    table = trials(Evidence(), 200, rng=rng)
    copies = [table.assign(temperature=0.3), table.assign(model="b")]
    experiment = resample(together(table, *copies), settings=QUICK, binnings=ONLY_PRIMARY)
    cells = [experiment.cells[key] for key in (HERE, CellKey("a", TRIVIA, 0.3), CellKey("b", TRIVIA, 1.0))]
    for name in ("mratio_v1", "auroc2", "meta_information"):
        for cell in cells[1:]:
            assert (cells[0].measure(name) - cell.measure(name)).resamples == pytest.approx(0.0)


def test_edges_are_those_of_temperature_one_at_every_temperature():
    cold, hot = trials(Evidence(2.0), 200, temperature=0.3), trials(Evidence(1.0, 1.5), 200)
    experiment = resample(together(cold, hot), settings=QUICK, binnings=ONLY_PRIMARY)
    edges = quantile_edges(hot["mean_logprob"], 8)
    for temperature, table in ((0.3, cold), (1.0, hot)):
        cell = experiment.cells[CellKey("a", TRIVIA, temperature)]
        assert (cell.edges == edges).all()
        assert (
            cell.counts == np.stack(correctness_table(table["correct"], table["mean_logprob"], edges=edges))
        ).all()


def test_without_temperature_one_edges_are_those_of_the_nearest():
    greedy, warm = trials(Evidence(2.0), 200, temperature=0.0), trials(Evidence(), 200, temperature=0.7)
    experiment = resample(together(greedy, warm), settings=QUICK)
    assert {key.binning for key in experiment.cells} == {""}
    for cell in experiment.cells.values():
        assert (cell.edges == quantile_edges(warm["mean_logprob"], 8)).all()


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
    spread = np.hypot(1.0, evidence.sd)
    truth = {
        "auroc2": ndtr(evidence.distance / spread),
        "d_a": np.sqrt(2.0) * evidence.distance / spread,
        "z_roc_slope": 1.0 / evidence.sd,
        "mean_logprob_difference": evidence.distance,
        "meta_information": binned_information(evidence, 10),
        "accuracy": evidence.accuracy,
    }
    wide = Settings(n_resamples=200, level=0.999, seed=1)
    for name, value in truth.items():
        interval = cell.measure(name).interval(wide)
        assert interval.low < value < interval.high, name
        assert interval.high - interval.low < 0.45, name


@pytest.mark.parametrize("distance", [0.5, 1.0, 1.4, 2.0])
def test_version_1_m_ratio_is_one_under_equal_variance_whatever_auroc2(distance):
    cell = cell_of(trials(Evidence(distance), 20_000))
    assert cell.measure("auroc2").value == pytest.approx(ndtr(distance / np.sqrt(2.0)), abs=2e-3)
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
    ratios = np.asarray(cell.fit_draws.m_ratio)
    assert cell.n_dropped == (np.abs(ratios) > 10).sum() > 0
    kept = cell.measure("mratio_v1").resamples
    assert np.nanmax(np.abs(kept)) <= 10
    assert np.isnan(kept).sum() == cell.n_dropped + np.isnan(ratios).sum()


def test_resamples_of_meta_information_lie_around_its_value():
    """A resample's information is too large twice over; without that it would lie far above."""
    table = trials(Evidence(0.3), 150, rng=np.random.default_rng(4))
    found = (
        resample(table, settings=Settings(2_000), binnings=ONLY_PRIMARY)
        .cells[HERE]
        .measure("meta_information")
    )
    error = found.resamples.std()
    assert found.resamples.mean() == pytest.approx(found.value, abs=0.3 * error)
    plain = meta_information(table["correct"], table["mean_logprob"], correction="none")
    assert plain - found.value > 0.5 * error


def test_balanced_trials_are_half_right_and_drawn_by_seed():
    table = trials(Evidence(1.4, 1.0, 0.8), 500)
    first, again, other = (
        resample(table, settings=Settings(10, seed=seed)).cells[HERE._replace(binning="balanced")]
        for seed in (1, 1, 2)
    )
    assert first.counts.sum(axis=1).tolist() == [100, 100]
    assert (first.counts == again.counts).all()
    assert first.questions != other.questions


# Degenerate input


def test_no_trials_are_no_cells():
    table = trials(Evidence(), 30)
    empty = resample(table.iloc[:0], settings=QUICK)
    assert (empty.cells, empty.models, empty.sources) == ({}, [], [])
    unread = resample(table.assign(mean_logprob=np.nan), settings=QUICK)
    assert dict(unread.cells) == {}


@pytest.mark.parametrize("right", [0.0, 1.0])
def test_one_kind_of_answers_leaves_numbers_undefined_with_a_reason(right):
    cell = cell_of(trials(Evidence(), 30).assign(correct=right))
    defined = {"accuracy", "parse_rate", "mean_logprob", "accuracy_50", "accuracy_80", "ece", "brier"}
    for name in set(MEASURES) - defined:
        found = cell.measure(name)
        assert np.isnan(found.value), name
        assert found.value.reason is not None
        assert np.isnan(found.resamples).all(), name


@settings(max_examples=25)
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
        resample(rows, settings=Settings(20), binnings=ONLY_PRIMARY).cells
        for rows in (table, table.iloc[places])
    )
    assert set(plain) == set(moved)
    for key, cell in plain.items():
        for name in MEASURES if not key.domain else ("mratio_v1", "meta_information", "auroc2"):
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
    assert plain[key].measure("mratio_v1").value == moved[key].measure("mratio_v1").value


def test_resamples_without_any_answer_that_can_be_read_have_empty_tables():
    table = trials(Evidence(), 30)
    table.loc[table.index[2:], ["correct", "mean_logprob", "confidence"]] = np.nan
    table.loc[table.index[:2], "correct"] = [0.0, 1.0]
    for key, cell in resample(table, settings=QUICK).cells.items():
        answered = cell.count_draws.sum(axis=(1, 2))
        assert (answered == 0.0).any(), key
        assert np.isnan(cell.measure("mratio_v1_resampled").resamples[answered == 0.0]).all(), key


def test_constant_evidence_tells_nothing():
    cell = cell_of(trials(Evidence(), 100).assign(mean_logprob=-1.0))
    assert cell.measure("auroc2").value == 0.5
    assert cell.measure("meta_information").value == pytest.approx(0.0, abs=1e-12)


# Sources, domains, binnings


def test_experiment_lists_what_was_asked():
    table = together(
        trials(Evidence(), 80, source=NATURAL),
        trials(Evidence(0.3), 1_000),
        trials(Evidence(), 80, temperature=0.3),
    )
    experiment = resample(table, settings=QUICK)
    assert experiment.sources == [TRIVIA, NATURAL]
    assert experiment.temperatures("a", TRIVIA) == [0.3, 1.0]
    assert len(experiment.domains(TRIVIA)) == 4
    assert {key.binning for key in experiment.cells} == set(BINNINGS) - {"gold"}
    parts = [cell for key, cell in experiment.cells.items() if key.domain and key.source == TRIVIA]
    whole = experiment.cells[HERE]
    assert (sum(cell.count_draws for cell in parts) == whole.count_draws).all()
    start = start_of(200)
    of_parts = sum(cell.posterior_draws - start for cell in parts)
    assert of_parts == pytest.approx(whole.posterior_draws - start, rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("evidence", [Evidence(0.0), Evidence(1.2, 1.4, 0.6)], ids=str)
def test_intervals_of_meta_information_and_auroc2_cover(evidence):
    truth = {
        "meta_information": max(binned_information(evidence, 10), 0.0),  # not below by rounding
        "auroc2": ndtr(evidence.distance / np.hypot(1.0, evidence.sd)),
    }
    held = pd.DataFrame(
        [
            {name: _holds(cell.measure(name), value) for name, value in truth.items()}
            for cell in (
                resample(
                    trials(evidence, 500, rng=np.random.default_rng(seed)),
                    settings=Settings(300),
                    binnings=ONLY_PRIMARY,
                ).cells[HERE]
                for seed in range(120)
            )
        ]
    )
    for name in truth:
        # Where there is nothing to tell, intervals hold it more often than they say.
        assert stats.binomtest(int(held[name].sum()), 120, 0.95, "less").pvalue > 1e-3, held.mean()


def _holds(found, value):
    interval = found.interval(Settings(300))
    return interval.low <= value <= interval.high


# The type-2 criterion


def test_the_type_2_criterion_is_that_of_the_trials_above_the_median_of_temperature_one():
    rng = np.random.default_rng(3)
    table = pd.concat([trials(Evidence(1.2, 1.3, 0.6), 300, rng=rng, temperature=t) for t in (0.5, 1.0)])
    table.loc[table["temperature"] == 0.5, "mean_logprob"] += 0.4
    cells = resample(table, settings=QUICK, binnings=ONLY_PRIMARY).cells
    median = np.median(table.loc[table["temperature"] == 1.0, "mean_logprob"])
    for temperature in (0.5, 1.0):
        of = table[table["temperature"] == temperature]
        z = [
            stats.norm.ppf(((its["mean_logprob"] >= median).sum() + 0.5) / (len(its) + 1.0))
            for its in (of[of["correct"] == 0.0], of[of["correct"] == 1.0])
        ]
        found = cells[HERE._replace(temperature=temperature)].measure("criterion_v1")
        assert found.value == pytest.approx(-np.mean(z), abs=1e-9)
    assert cells[HERE._replace(temperature=0.5)].measure("criterion_v1").value < found.value


def test_calibration_of_resamples_is_that_of_the_questions_drawn(drawn):
    cell = cell_of(drawn)
    kept = drawn.dropna(subset=["correct", "mean_logprob"])
    confidence = np.exp(kept["mean_logprob"].to_numpy())
    assert cell.measure("brier").value == pytest.approx(np.mean((confidence - kept["correct"]) ** 2))
    for name in ("ece", "brier"):
        found = cell.measure(name)
        assert np.std(found.resamples) > 0.0
        assert abs(np.mean(found.resamples) - found.value) < 4 * np.std(found.resamples)
