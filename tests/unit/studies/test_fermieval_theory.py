"""FermiEval's theory and appendices in the report, compared with simulations, closed forms and counts by hand."""

from __future__ import annotations

import math
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import binomtest
from tests.trials import fermieval_trial, sample_trial, samples_summary
from tests.unit.report.paper_runs import filled_from
from tests.unit.report.runs import undrawn_report, write

from confidence_tasks.report import Report, collect
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.write import write_figures
from confidence_tasks.sources import Question
from confidence_tasks.statistics.intervals import adjusted_interval, adjusted_interval_covariance
from confidence_tasks.studies.fermieval.replies import interval_reply
from confidence_tasks.studies.fermieval.tunnel import curve_over_samples, end_density

FEW = Settings(n_resamples=50)


# Proposition 1


@pytest.mark.parametrize("perception", [0.3, 0.65])
def test_the_covariance_of_adjusted_ends_is_that_of_simulated_tunnels(perception):
    level, queries, repetitions = 0.8, 400, 3_000
    start = np.random.default_rng(5).uniform(0.0, 1.0 - perception, (repetitions, queries))
    tail, normal = (1.0 - level) / 2.0, NormalDist()
    ends = ndtri(start + tail * perception), ndtri(start + (1.0 - tail) * perception)
    covariance = np.cov(*adjusted_interval(*ends, level))
    density = normal.pdf(normal.inv_cdf(tail))
    expected = adjusted_interval_covariance(level, perception, (density, density), queries)
    assert np.diag(covariance) == pytest.approx(np.diag(expected), rel=0.12)
    assert covariance[0, 1] == pytest.approx(expected[0, 1], abs=0.1 * expected[0, 0])


def test_full_perception_has_no_error():
    assert not adjusted_interval_covariance(0.9, 1.0, (0.1, 0.1), 1).any()


@pytest.mark.parametrize(
    "wrong", [(1.0, 0.5, (1, 1), 9), (0.9, 0.0, (1, 1), 9), (0.9, 0.5, (1, 0), 9), (0.9, 0.5, (1, 1), 0)]
)
def test_arguments_out_of_range_raise(wrong):
    with pytest.raises(ValueError, match="perception in"):
        adjusted_interval_covariance(*wrong)


# The report of intervals


@pytest.fixture(scope="module")
def stated(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """Thirteen of twenty intervals contain the truth at .9, and the same at .99."""
    rows = [
        {
            "study": "fermieval",
            "task": "fermieval",
            "model": "lab/a",
            **fermieval_trial(
                Question(f"q-{i}", "fermi", "?", "number", str(3 * i - 12)),
                level,
                "test",
                interval_reply(3 * i - 12, 3 * i - 10) if i < 13 else interval_reply(90, 91),
            ),
        }
        for i in range(20)
        for level in (0.9, 0.99)
    ]
    return undrawn_report(collect(write(tmp_path_factory.mktemp("fermi") / "a.jsonl", rows)), settings=FEW)


def figure_of(report: Report, name: str):
    return next(figure for figure in report.figures if figure.name == name)


def panel(report: Report, name: str):
    ((_, (drawn,)),) = figure_of(report, name).rows
    return drawn.draw.keywords


def test_perception_is_coverage_divided_by_the_highest_level(stated: Report):
    table = next(extra for extra in stated.extras if extra.name == "fermieval_perception").frame
    (row,) = table.to_dict("records")
    beta = 0.65 / 0.99
    assert (row["model"], row["level"], row["perception"]) == ("lab/a", 0.99, pytest.approx(beta))
    normal = NormalDist()
    scale = normal.pdf(normal.inv_cdf(0.005))
    expected = (1 - beta) * math.sqrt(0.005 * 0.995 / 20) / scale
    assert row["error, 20 samples"] == pytest.approx(expected)


def test_visible_parts_have_the_mass_of_the_perception(stated: Report):
    belief, left, right = panel(stated, "fermieval_tunnels")["lines"]
    beta = 0.65 / 0.99
    for part in (left, right):
        assert np.trapezoid(part.y, part.x) == pytest.approx(1.0, abs=0.03)
        assert part.y * beta == pytest.approx(np.interp(part.x, belief.x, belief.y))
    assert left.x.min() < -3.0
    assert left.x.max() == pytest.approx(NormalDist().inv_cdf(beta), abs=0.03)
    assert right.x.max() > 3.0


@pytest.mark.parametrize("beta", [0.2, 0.65])
def test_outer_quantiles_of_the_ends_are_those_of_the_belief(beta):
    """Caption of figure 4: the outer quantiles do not depend on the perception."""
    for quantile in (0.05, 0.95):
        x, density = end_density(beta, quantile)
        mass = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2 * np.diff(x))])
        assert mass[-1] == pytest.approx(1.0, abs=0.03)
        assert np.interp(quantile, mass, x) == pytest.approx(NormalDist().inv_cdf(quantile), abs=0.08)


def test_true_exponents_are_counted_once_per_question(stated: Report):
    shown = panel(stated, "fermieval_truths")
    assert sorted(shown["values"]) == [3.0 * i - 12 for i in range(18)]
    assert "18 of 20 questions" in figure_of(stated, "fermieval_truths").caption


def test_the_pictures_can_be_drawn(stated: Report, tmp_path: Path):
    names = {f"fermieval_{name}" for name in ("tunnels", "stated_ends", "truths")}
    write_figures([figure_of(stated, name) for name in names], tmp_path)
    assert {path.stem for path in tmp_path.glob("*.svg")} == names


def rows_of(truths_and_ends):
    for i, (truth, *ends) in enumerate(truths_and_ends):
        question = Question(f"q-{i}", "fermi", "?", "number", str(truth))
        trial = fermieval_trial(question, 0.9, "test", interval_reply(*ends))
        yield {"study": "fermieval", "task": "fermieval", "model": "lab/a", **trial}


def report_of(path: Path, truths_and_ends) -> Report:
    return undrawn_report(collect(write(path, list(rows_of(truths_and_ends)))), settings=FEW)


def test_tables_and_a_figure_with_the_papers_exclusions_appear_only_if_they_matter(tmp_path: Path):
    names = {f"fermieval_{name}_as_published" for name in ("winkler", "coverage", "calibration")}
    # Seven truths lie beyond 10^100, where the paper excludes; the other intervals are 2 wide and contain the truth.
    far = report_of(tmp_path / "far.jsonl", [(3, 2, 4)] * 13 + [(150, 90, 95)] * 7)
    frames = {extra.name: extra.frame for extra in far.extras}
    rows = {
        name: frame.set_index("method").loc["base"] for name, frame in frames.items() if "p = 0.9" in frame
    }
    assert rows["fermieval_coverage_by_method"]["p = 0.9"] == 13 / 20
    assert rows["fermieval_coverage_as_published"]["p = 0.9"] == 1.0
    winkler = rows["fermieval_winkler_as_published"]
    assert (winkler["p = 0.9"], winkler["replies left out"]) == (2.0, 7)
    *_, all_stated = panel(far, "fermieval_calibration")["lines"]
    *_, stated = panel(far, "fermieval_calibration_as_published")["lines"]
    assert (all_stated.y.tolist(), stated.y.tolist()) == ([13 / 20], [1.0])
    assert [*stated.low, *stated.high] == pytest.approx([*binomtest(13, 13).proportion_ci(method="wilson")])
    near = report_of(tmp_path / "near.jsonl", [(5, 4, 100)])
    made = {each.name for each in (*near.extras, *near.figures)}
    assert not names & made


@pytest.mark.parametrize(
    ("stated", "name"),
    [
        ([(3, 2, 4)] * 13 + [(3, 5, 6)] * 7 + [(150, 90, 95)] * 9, "calibration_as_published"),
        ([(3, 2, 4)] * 13 + [(3, 5, 6)] * 7, "calibration"),
    ],
)
def test_table_2_and_figure_1_of_the_paper_have_its_exclusions(tmp_path: Path, stated, name: str):
    (items,) = (
        filled for _, filled in filled_from(write(tmp_path / "a.jsonl", list(rows_of(stated)))).papers
    )
    table, figure = (next(each for each in items if each.title == title) for title in ("Table 2", "Figure 1"))
    assert {cells[0].values[0] for labels, cells in table.rows if "0.90" in labels} == {13 / 20}
    assert [each.name for each in figure.figures] == [f"fermieval_{name}"]


# Samples


def test_the_tunnel_index_falls_as_more_chains_are_pooled():
    direct = {"a": [1, 2, 3, 4], "b": [1, 1, 1, 1]}
    reasoned = {"a": [1, 2, 1, 2], "b": [1, 1, 1, 1], "c": [9, 9]}
    curve = curve_over_samples(direct, reasoned)
    assert curve["samples"].tolist() == [1, 2, 3, 4]
    # Of a: 2 bits less 0, 1, .918 and 1 bit of the pooled; of b: nothing.
    two_of_three = -(2 / 3 * math.log2(2 / 3) + 1 / 3 * math.log2(1 / 3))
    expected = [2 / 2, 1 / 2, (2 - two_of_three) / 2, 1 / 2]
    assert curve["tunnel_index"].tolist() == pytest.approx(expected)
    assert curve["agreement"].tolist() == pytest.approx([1, 0.75, (1 + 2 / 3) / 2, 0.75])
    assert curve_over_samples({"a": [1]}, {"b": [1]}).empty


def sample(i, ask, temperature, value, *, split="test", truth=5):
    question = Question(f"q-{i}", "fermi", "?", "number", str(truth))
    return sample_trial(question, ask, temperature, split, str(value))


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> Report:
    trials = [
        sample(i, ask, 1.0, value)
        for i in range(6)
        for ask, values in (("direct", (4, 5, 6, 5)), ("reasoned", (5, 5, 5, 4)))
        for value in values
    ]
    rows = [
        {
            "study": "fermieval_sampling",
            "task": "fermieval_sampling",
            "model": "lab/a",
            "epoch": i % 4 + 1,
            **trial,
        }
        for i, trial in enumerate(trials)
    ]
    return undrawn_report(collect(write(tmp_path_factory.mktemp("samples") / "a.jsonl", rows)), settings=FEW)


def test_agreement_and_tunnel_index_are_in_the_report(sampled: Report):
    table = next(extra for extra in sampled.extras if extra.name == "fermieval_sampling_self_consistency")
    frame = table.frame.set_index("asked")
    assert list(frame.index) == ["direct, T=1", "reasoned, T=1", "T=1"]
    assert frame.loc["direct, T=1", "Agreement"] == 0.5
    assert frame.loc["reasoned, T=1", "Agreement"] == 0.75
    assert frame.loc["reasoned, T=1", "Majority accuracy"] == 1.0
    index = 1.5 + (0.75 * math.log2(0.75) + 0.25 * math.log2(0.25))
    assert frame.loc["T=1", "Tunnel index"] == pytest.approx(index)
    (line, agreement) = panel(sampled, "fermieval_sampling_tunnel_over_samples")["lines"]
    assert line.y[0] == pytest.approx(1.5)
    assert line.y[-1] == pytest.approx(index)
    assert agreement.y.tolist() == pytest.approx([1.0, (1 + 1 + 0.5) / 3, (1 + 2 / 3) / 2, 0.75])


def test_the_weight_of_a_shortfall_decides_the_temperature():
    """At T = .2 intervals are narrow and half of them contain the truth, at T = 1 they are wide and all do."""
    trials = []
    for i in range(20):
        near = 5 if i % 2 else 6
        for split in ("calibration", "test"):
            trials += [sample(f"{split}-{i}", "direct", 0.2, near, split=split) for _ in range(20)]
            trials += [
                sample(f"{split}-{i}", "direct", 1.0, value, split=split) for value in (-10, *[5] * 18, 20)
            ]
    chosen = {
        weight: samples_summary(trials, [0.95], shortfall_weight=weight)["temperature/p=0.95"]
        for weight in (0.0, 1_000.0)
    }
    assert chosen == {0.0: 0.2, 1_000.0: 1.0}
