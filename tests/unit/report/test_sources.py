"""Where questions come from several sources: tables, figures and checks average over them by one rule."""

import math

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from tests.unit.report.runs import undrawn_report, write

from confidence_tasks.report import Report, collect
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.figures import general
from confidence_tasks.report.groups import by_condition
from confidence_tasks.statistics import ece
from confidence_tasks.studies.scales.report import BIN_COUNTS, ece_by_bins, histograms

SOURCES = {"over": -0.2, "under": 0.2}
"""By how much accuracy differs from what is stated, which is .7 or .75."""

SIZES = {"over": 300, "under": 100}


def _columns(source, offset, n, seed=0):
    rng = np.random.default_rng(seed)
    confidence = rng.choice([0.65, 0.7, 0.75], n)
    correct = (np.arange(n) < round(n * (0.7 + offset))).astype(float)
    return rng.permutation(correct), confidence


def trials(condition, sources):
    return [
        {
            "study": "scales",
            "task": "scale_granularity",
            "model": "lab/m",
            "question_id": f"{source}-{i}",
            "source": source,
            "condition": condition,
            "correct": right,
            "confidence": stated,
            "confidence_raw": 100.0 * stated,
            "lower": 0.0,
            "upper": 100.0,
            "status": "ok",
        }
        for source in sources
        for i, (right, stated) in enumerate(
            zip(*_columns(source, SOURCES[source], SIZES[source]), strict=True)
        )
    ]


def reported(folder, rows) -> Report:
    return undrawn_report(collect(write(folder / "trials.jsonl", rows)), settings=Settings(n_resamples=50))


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Two sources, one off by +.2 and the other by -.2, and of different sizes."""
    (task,) = reported(tmp_path_factory.mktemp("sources"), trials("0-100", SOURCES)).results
    return task


def value(found, measure, condition="0-100", source=""):
    return float(found.estimate("lab/m", condition, measure, source).interval.estimate)


def lines(figure):
    ((_, (panel, *_)), *_) = figure.rows
    return panel.draw.keywords["lines"]


def test_the_calibration_error_over_numbers_of_bins_is_that_of_the_tables(found):
    (line,) = lines(ece_by_bins(found, general.model_styles(["lab/m"])))
    at = dict(zip(BIN_COUNTS, line.y, strict=True))
    assert at[10] == pytest.approx(value(found, "ece")) == pytest.approx(0.2, abs=0.03)
    assert at[15] == pytest.approx(value(found, "ece_15"))
    assert at[20] == pytest.approx(value(found, "ece_20"))
    pooled = [
        np.concatenate(each) for each in zip(*(_columns(s, SOURCES[s], 100) for s in SOURCES), strict=True)
    ]
    assert ece(*pooled) < 0.1  # what the figure showed of sources of one size


def test_the_area_under_the_roc_curve_is_the_auroc_of_the_tables(found):
    (line,) = lines(general.type2_roc(found, general.model_styles(["lab/m"])))
    assert np.trapezoid(line.y, line.x) == pytest.approx(value(found, "auroc"), abs=1e-6)
    own = [roc_auc_score(*_columns(source, SOURCES[source], SIZES[source])) for source in SOURCES]
    assert value(found, "auroc") == pytest.approx(np.mean(own))


def test_accuracy_at_full_coverage_is_the_accuracy_of_the_tables(found):
    (line,) = lines(general.selective(found, general.model_styles(["lab/m"])))
    assert line.y[-1] == pytest.approx(value(found, "accuracy")) == pytest.approx(0.7)
    assert line.x[0] == pytest.approx(20 / 400, abs=0.01)


def test_other_figures_average_too_or_say_that_they_do_not(found):
    styles = general.model_styles(["lab/m"])
    assert "pools the trials of all sources" in general.reliability(found, styles).caption
    ((_, (panel,)),) = histograms(found, styles).rows
    weights = panel.draw.keywords["weights"]
    assert weights.sum() == pytest.approx(1.0)
    assert weights[: SIZES["over"]].sum() == pytest.approx(0.5)


def test_curves_average_where_they_rise_straight_up():
    """Areas of 1 and 1/2: an ideal observer's curve and the diagonal."""
    ideal = np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 1.0])
    diagonal = np.array([0.0, 1.0]), np.array([0.0, 1.0])
    x, y = general.mean_curve([ideal, diagonal])
    assert np.trapezoid(y, x) == pytest.approx(0.75, abs=1e-6)
    assert (np.diff(x) > 0.0).all()
    assert y[-1] == pytest.approx(1.0)


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """One source under both conditions, and another under one of them only."""
    rows = trials("0-100", SOURCES) + trials("0-20", ["over"])
    return reported(tmp_path_factory.mktemp("mixed"), rows)


def test_a_mean_is_over_the_sources_that_conditions_share(mixed):
    (results,) = mixed.results
    for measure in ("accuracy", "ece", "overconfidence"):
        assert value(results, measure) == value(results, measure, "0-20"), measure
        assert value(results, measure, source="over") == value(results, measure, "0-20", "over"), measure
    assert value(results, "accuracy") == pytest.approx(0.5)
    assert value(results, "accuracy", source="under") == pytest.approx(0.9)
    assert results.estimate("lab/m", "0-100", "accuracy").n == SIZES["over"]
    first, second = lines(ece_by_bins(results, general.model_styles(["lab/m"])))
    assert first.y == pytest.approx(second.y)


def test_the_page_says_what_is_averaged(mixed):
    (task,) = mixed.tasks
    (notice,) = [each for each in task.notices if each.title == "Conditions used different question sources"]
    assert notice.where == ("lab/m, 0-20: compared on over only", "lab/m, 0-100: averaged without under")


def logprob_trials(temperature, source, n=120):
    rng = np.random.default_rng(1)
    right = (np.arange(n) < (60 if source == "nq_open" else 90)).astype(float)
    return [
        {
            "study": "nlp_metad",
            "task": "nlp_metad",
            "model": "lab/m",
            "question_id": f"{source}-{i}",
            "source": source,
            "condition": f"T={temperature:g}",
            "temperature": temperature,
            "domain": "unclassified",
            "correct": correct,
            "mean_logprob": evidence,
            "confidence": math.exp(evidence),
            "status": "ok",
        }
        for i, (correct, evidence) in enumerate(
            zip(right, -rng.exponential(1.0, n) - 1.0 + right, strict=True)
        )
    ]


def test_temperatures_are_compared_on_the_question_sets_that_all_were_asked_of(tmp_path):
    rows = (
        logprob_trials(1.0, "trivia_qa") + logprob_trials(1.0, "nq_open") + logprob_trials(0.5, "trivia_qa")
    )
    rows = [
        {**row, "mean_logprob": min(row["mean_logprob"], 0.0), "confidence": min(row["confidence"], 1.0)}
        for row in rows
    ]
    report = reported(tmp_path, rows)
    (results,), (task,) = report.results, report.tasks
    assert value(results, "accuracy", "T=1") == value(results, "accuracy", "T=0.5") == pytest.approx(0.75)
    assert value(results, "accuracy", "T=1", "nq_open") == pytest.approx(0.5)
    lines = [line for notice in task.notices for line in notice.where if "averaged without" in line]
    assert lines == ["lab/m, T=1: averaged without nq_open"]


def test_conditions_that_share_nothing_keep_their_own_sources():
    asked = {"a": ["s", "t"], "b": ["s"], "c": ["u", "v"], "d": ["u"]}
    columns = {
        "condition": np.array([label for label, its in asked.items() for _ in its], dtype=object),
        "source": np.array([source for its in asked.values() for source in its], dtype=object),
    }
    means = {group.label: [cell.source for cell in group.subsets] for group in by_condition(columns)}
    assert means == {"a": ["s"], "b": ["s"], "c": ["u"], "d": ["u"]}
    others = {
        group.label: [subset.source for subset in group.not_averaged] for group in by_condition(columns)
    }
    assert others == {"a": ["t"], "b": [], "c": ["v"], "d": []}
