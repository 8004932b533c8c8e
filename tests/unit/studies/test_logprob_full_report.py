"""The report of the log-probability study: its tables agree with the estimates, its verdicts with the trials."""

import numpy as np
import pytest
from tests.unit.report.runs import undrawn_report
from tests.unit.studies.logprob_trials import NATURAL, TRIVIA, Evidence, together, trials

from confidence_tasks.logs.collection import collect
from confidence_tasks.replications.logprob_metacognition.hypotheses import outcomes
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.statistics import fit_meta_d, wilson_interval
from confidence_tasks.studies.logprob_metacognition.measures import MEASURES

QUICK = Settings(n_resamples=200, seed=1)


def report(tmp_path, *parts):
    together(*parts).assign(study="nlp_metad", task="nlp_metad").to_parquet(tmp_path / "trials.parquet")
    return undrawn_report(collect([str(tmp_path)]), settings=QUICK)


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    rng = np.random.default_rng(8)
    parts = [
        trials(
            evidence,
            800,
            model=model,
            temperature=temperature,
            gold=Evidence(1.0, 1.2, evidence.accuracy),
            rng=rng,
        )
        for model, evidence in (("small", Evidence(1.0)), ("large", Evidence(1.4, 1.6, 0.7)))
        for temperature in (0.3, 0.5, 0.7, 1.0)
    ]
    parts += [
        trials(Evidence(1.0, 1.0, 0.4), 600, model=model, source=NATURAL, rng=rng)
        for model in ("small", "large")
    ]
    return report(tmp_path_factory.mktemp("full"), *parts)


def table(made, name):
    (extra,) = [extra for extra in made.extras if extra.name == f"nlp_metad_{name}"]
    return extra.frame


@pytest.mark.slow
def test_all_tables_and_figures_of_the_paper_are_there(full):
    assert [extra.name.removeprefix("nlp_metad_") for extra in full.extras] == [
        "acceptance",
        "verdicts",
        "valid",
        "quarters",
        "domains",
        "temperatures",
        "robustness",
    ]
    names = {figure.name.removeprefix("nlp_metad_") for figure in full.figures}
    assert {"quarters", "domains", "efficiency_space", "temperatures", "robustness", "risk_coverage"} <= names


@pytest.mark.slow
def test_the_page_has_the_tables_of_both_versions_of_the_paper(full):
    (task,) = full.tasks
    assert [paper.title.rpartition(", ")[2] for paper in task.papers] == ["version 1", "version 2"]
    assert all(table for paper in task.papers for item, table in paper.items if item.rows)


def test_every_hypothesis_and_check_has_a_verdict(full):
    verdicts = table(full, "verdicts")
    numbers = [name.partition(":")[0] for name in verdicts["hypothesis"]]
    assert numbers[:6] == ["H1", "H2", "H3", "H4", "H2 by meta-information", "H4 by meta-information"]
    assert numbers[6:] == ["Monotonicity", "R1", "R2", "R3", "R4", "R5", "R6"]
    assert set(verdicts["verdict"]) <= {"supported", "not supported"}
    assert (verdicts["n"] > 0).all()


def test_the_order_of_models_under_unequal_variance_is_compared_with_the_primary_order(full):
    outcome = outcomes(full.results[0].analysis)["R2"]
    orders = table(full, "robustness")[["K = 4", "R2"]].rank()
    assert ("not the same" in outcome.why) is not orders["K = 4"].equals(orders["R2"])


def test_tables_are_estimates_of_the_report(full):
    (results,) = full.results
    valid = table(full, "valid")
    assert len(valid) == 4
    for row in valid.to_dict("records"):
        for label, measure in (
            ("Meta-information", "meta_information"),
            ("AUROC₂", "auroc2"),
            ("d_a", "d_a"),
        ):
            entry = results.estimate(row["model"], "T=1", measure, row["source"])
            assert row[label] == pytest.approx(entry.interval.estimate)
            assert row[f"{label} low"] == pytest.approx(entry.interval.low)
    assert (valid["p"] == "<.001").all()


def test_version_1_has_the_edges_of_temperature_one_at_every_temperature(full):
    (results,) = full.results
    columns = results.task_trials.models[0].columns
    one, cold = (
        (columns["source"] == TRIVIA) & (columns["temperature"] == temperature) for temperature in (1.0, 0.3)
    )
    evidence, correct = columns["mean_logprob"], columns["correct"]
    edges = np.quantile(evidence[one], np.arange(1, 8) / 8)
    rating = np.searchsorted(edges, evidence[cold], side="right")
    counts = [np.bincount(rating[correct[cold] == value], minlength=8) for value in (0.0, 1.0)]
    interval = results.estimate(results.models[0].label, "T=0.3", "mratio_v1", TRIVIA).interval
    assert interval.estimate == pytest.approx(fit_meta_d(*counts, padding="hautus").m_ratio)
    (row,) = (
        row
        for row in table(full, "temperatures").to_dict("records")
        if (row["model"], row["source"], row["T"]) == (results.models[0].label, TRIVIA, "0.3")
    )
    shown = [row[f"M-ratio, version 1{limit}"] for limit in ("", " low", " high")]
    assert shown == [interval.estimate, interval.low, interval.high]


def test_every_measure_is_estimated_with_an_interval_of_its_kind(full):
    (results,) = full.results
    for measure in MEASURES:
        entry = results.estimate("small", "T=0.3", measure.name)
        assert entry.interval.low <= entry.interval.estimate <= entry.interval.high, measure.name
    accuracy = results.estimate("small", "T=0.3", "accuracy").interval
    low, high = wilson_interval(round(accuracy.estimate * 800), 800)
    assert (accuracy.low, accuracy.high) == pytest.approx((float(low), float(high)), abs=0.006)


def test_the_reader_is_warned(full):
    (task,) = full.tasks
    titles = {notice.title: notice for notice in task.notices}
    assert titles["Version 1’s M-ratio is 1 by construction"].severity == "warning"
    where = titles["Right and wrong answers differ in variance"].where
    assert any(line.startswith("large, trivia_qa: slope 0.") for line in where)
    assert not any(line.startswith("small, trivia_qa") for line in where)
    assert "functions of one table" in full.html


def test_one_model_at_one_temperature_is_reported_with_what_cannot_be_tested(tmp_path):
    made = report(tmp_path, trials(Evidence(1.2), 300, temperature=0.7))
    verdicts = table(made, "verdicts")
    assert set(verdicts["verdict"]) == {"cannot be tested"}
    (task,) = made.tasks
    (notice,) = [notice for notice in task.notices if notice.title == "No trials at T = 1"]
    assert notice.where == ("a, trivia_qa: T = 0.7 instead",)
    assert made.results[0].estimate("a", "T=0.7", "auroc2").interval.estimate > 0.7


def test_trials_without_evidence_are_reported(tmp_path):
    made = report(
        tmp_path,
        trials(Evidence(), 20).assign(mean_logprob=np.nan, confidence=np.nan, status="missing_confidence"),
    )
    entry = made.results[0].estimate("a", "T=1", "meta_information")
    assert np.isnan(entry.interval.estimate)
    assert entry.interval.estimate.reason is not None
    assert {extra.name for extra in made.extras} == {"nlp_metad_verdicts"}


@pytest.mark.slow
def test_the_same_replies_again_make_no_p_value_smaller(tmp_path):
    noise = trials(Evidence(0.0), 120, rng=np.random.default_rng(2))
    p_values = []
    for times in (1, 4):
        folder = tmp_path / str(times)
        folder.mkdir()
        p_values.append(float(table(report(folder, *[noise] * times), "valid")["p"].item()))
    once, four_times = p_values
    assert 0.1 < once < 0.9
    assert four_times == pytest.approx(once, abs=0.04)
