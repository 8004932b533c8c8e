"""Clusters of questions as units: against Inspect's clustered error, sums over clusters, and files of trials."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from click.testing import CliRunner
from inspect_ai.scorer import SampleScore, Score, ci, stderr
from tests.unit.studies.logprob_trials import Evidence
from tests.unit.studies.logprob_trials import trials as log_probabilities

from confidence_tasks import compare, metrics, summary
from confidence_tasks.cli import main
from confidence_tasks.logs.clusters import with_units
from confidence_tasks.logs.task_trials import group_by_task
from confidence_tasks.logs.trial_columns import shared_by
from confidence_tasks.report import collect, trials
from confidence_tasks.report.checks import READING, checks_of
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.groups import TrialSubset
from confidence_tasks.report.notices import notices
from confidence_tasks.report.results import results_and_lost
from confidence_tasks.sources import load
from confidence_tasks.sources.clusters import with_cluster
from confidence_tasks.statistics.inference.limits import skewness_corrected_limits
from confidence_tasks.studies.logprob_metacognition.fixed_edges import version_1
from confidence_tasks.study import Question
from confidence_tasks.study.trial import question_from_metadata, question_metadata

SIZES = np.random.default_rng(3).integers(1, 9, 50)
PASSAGE = np.repeat(np.arange(50), SIZES)
FAST = {"n_resamples": 200}


def answers(seed=0):
    """Return correctness and confidence of questions about passages of unequal number and difficulty."""
    rng = np.random.default_rng(seed)
    ease = rng.normal(size=50)[PASSAGE]
    correct = (rng.random(len(PASSAGE)) < 1 / (1 + np.exp(-0.5 - ease))).astype(float)
    return correct, np.round(1 / (1 + np.exp(-1.0 - 0.5 * ease - rng.normal(size=len(PASSAGE)))), 1)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_accuracy_has_the_clustered_interval_of_inspect(level):
    correct, confidence = answers()
    confidence[::7], correct[3] = np.nan, np.nan
    frame = summary(
        correct, confidence, cluster=PASSAGE, level=level, measures=["accuracy"], **FAST
    ).to_frame()
    scores = [
        SampleScore(score=Score(value=value), sample_metadata={"passage": int(label)})
        for value, label in zip(correct, PASSAGE, strict=True)
        if not np.isnan(value)
    ]
    expected = ci(level=level, cluster="passage")(scores)
    row = frame.iloc[0]
    assert (row["low"], row["high"]) == pytest.approx((expected["lower"], expected["upper"]), abs=1e-12)
    unclustered = stderr()(scores)
    assert row["design_effect"] == pytest.approx(
        (stderr(cluster="passage")(scores) / unclustered) ** 2, rel=1e-9
    )
    assert row["n_clusters"] == 50


@pytest.mark.parametrize(("share", "size", "n"), [(0.7, 30, 2), (0.7, 20, 5), (0.6, 10, 6), (2 / 3, 6, 10)])
def test_clusters_that_differ_by_rounding_only_do_not_vary(share, size, n):
    """Their error was 1e-17, so that the interval of the accuracy had no width."""
    right = round(share * size)
    correct = np.tile(np.r_[np.ones(right), np.zeros(size - right)], n)
    confidence = np.tile(0.8 + 0.001 * np.arange(size), n)
    measures = ["accuracy", "confidence", "overconfidence"]
    found = summary(correct, confidence, cluster=np.repeat(np.arange(n), size), measures=measures, **FAST)
    frame = found.to_frame().set_index("measure")
    assert (frame["design_effect"] == 0.0).all()
    assert frame.loc["accuracy", "high"] - frame.loc["accuracy", "low"] > 0.1
    assert (frame.loc[measures[1:], "reason"] == "no interval: all values are equal").all()


@pytest.mark.parametrize("measure", ["confidence", "overconfidence", "brier"])
def test_other_means_have_the_clustered_error_of_inspect(measure):
    correct, confidence = answers()
    value = {
        "confidence": confidence,
        "overconfidence": confidence - correct,
        "brier": (confidence - correct) ** 2,
    }[measure]
    scores = [
        SampleScore(score=Score(value=float(v)), sample_metadata={"passage": int(label)})
        for v, label in zip(value, PASSAGE, strict=True)
    ]
    expected = ci(cluster="passage")(scores)
    row = summary(correct, confidence, cluster=PASSAGE, measures=[measure], **FAST).to_frame().iloc[0]
    assert (row["low"], row["high"]) == pytest.approx((expected["lower"], expected["upper"]), abs=1e-12)


def test_all_right_answers_keep_an_interval():
    row = summary(np.ones(40), np.full(40, 0.9), cluster=np.arange(40) // 4, measures=["accuracy"], **FAST)
    assert 0.6 < row.to_frame()["low"].iloc[0] < 0.85


@pytest.mark.parametrize("measure", ["ece", "auroc", "meta_information"])
def test_the_design_effect_of_other_measures_is_that_of_their_resamples(measure):
    correct, confidence = answers()
    by_row = summary(correct, confidence, measures=[measure], n_resamples=2_000).to_frame().iloc[0]
    row = (
        summary(correct, confidence, cluster=PASSAGE, measures=[measure], n_resamples=2_000)
        .to_frame()
        .iloc[0]
    )
    ratio = (row["high"] - row["low"]) / (by_row["high"] - by_row["low"])
    assert row["design_effect"] == pytest.approx(ratio**2, rel=0.3)


def test_clusters_of_one_question_change_no_bit():
    correct, confidence = answers()
    labels = np.random.default_rng(0).permutation(len(correct))
    one, other = (summary(correct, confidence, cluster=c, **FAST).to_frame() for c in (labels, None))
    pd.testing.assert_frame_equal(one, other)


def test_a_difference_has_the_error_of_its_clusters():
    correct, confidence = answers()
    other, _ = answers(seed=1)
    given = {"questions": np.arange(len(correct)), "measures": ["accuracy"], "n_resamples": 999}
    by_question, by_passage = (
        compare((correct, confidence), (other, confidence), cluster=cluster, **given).to_frame().iloc[0]
        for cluster in (None, PASSAGE)
    )
    centred = correct - other - (correct - other).mean()
    error = np.sqrt((np.bincount(PASSAGE, centred) ** 2).sum()) / len(correct)
    reach = (by_passage["high"] - by_passage["low"]) / 2
    assert 0.98 < reach / (2.01 * error) < 1.12  # that of Student, or of the exchanges if it is wider
    assert reach > 1.1 * (by_question["high"] - by_question["low"]) / 2
    assert (by_passage["n"], by_passage["n_clusters"]) == (len(correct), 50)
    # As Inspect's clustered error: n / (n - 1) for n units.
    over_questions = (centred**2).sum() * len(correct) / (len(correct) - 1)
    over_passages = (np.bincount(PASSAGE, centred) ** 2).sum() * 50 / 49
    assert by_passage["design_effect"] == pytest.approx(over_passages / over_questions, rel=1e-9)
    assert "design_effect" not in by_question


@pytest.mark.parametrize(
    ("measure", "value"),
    [("accuracy", lambda y, c: y), ("brier", lambda y, c: (c - y) ** 2), ("confidence", lambda y, c: c)],
)
def test_the_p_value_of_a_difference_is_at_least_that_of_its_clustered_error(measure, value):
    """Student's t for 12 passages of unequal size, with the clustered error of Miller (2024) as Inspect has it."""
    few = PASSAGE < 12
    sides = [tuple(each[few] for each in answers(seed)) for seed in (0, 1)]
    given = {
        "cluster": PASSAGE[few],
        "questions": np.arange(few.sum()),
        "measures": [measure],
        "n_resamples": 999,
    }
    row = compare(*sides, **given).to_frame().iloc[0]
    difference = value(*sides[0]) - value(*sides[1])
    scores = [
        SampleScore(score=Score(value=float(each)), sample_metadata={"passage": int(label)})
        for each, label in zip(difference, PASSAGE[few], strict=True)
    ]
    error = stderr(cluster="passage")(scores)
    p = 2 * scipy.stats.t.sf(abs(difference.mean()) / error, 11)
    assert row["p_value"] >= p * (1 - 1e-9)
    assert (row["high"] - row["low"]) / 2 >= scipy.stats.t.isf(0.025, 11) * error * (1 - 1e-9)


@pytest.mark.parametrize("measure", ["ece", "auroc", "meta_information"])
def test_the_design_effect_of_a_difference_is_the_ratio_of_squared_errors(measure):
    sides = answers(), answers(seed=1)
    given = {"questions": np.arange(len(PASSAGE)), "measures": [measure], "n_resamples": 2_000}
    by_question, by_passage = (
        compare(*sides, cluster=cluster, **given).to_frame().iloc[0] for cluster in (None, PASSAGE)
    )
    ratio = (by_passage["high"] - by_passage["low"]) / (by_question["high"] - by_question["low"])
    assert by_passage["design_effect"] == pytest.approx(ratio**2, rel=0.3)


def table(path: Path, rows: list[dict[str, object]]) -> Path:
    """Write trials of the scales study as a table."""
    common = {"study": "scales", "condition": "0-20", "status": "ok", "model": "a", "epoch": 1}
    pd.DataFrame([{**common, **row} for row in rows]).to_csv(path, index=False)
    return path


def pairs(path: Path, n: int = 60, source: str = "halueval", name: str = "halueval-{}_{}") -> Path:
    """Write trials about pairs of a right and a hallucinated answer; the second is judged as well as the first."""
    rng = np.random.default_rng(0)
    rows = []
    for i in range(n):
        good = float(rng.random() < 0.7)
        rows += [
            {
                "question_id": name.format(i, end),
                "source": source,
                "correct": good,
                "confidence": rng.choice([0.6, 0.8, 0.9]),
            }
            for end in "rh"
        ]
    return table(path, rows)


def test_the_pairs_of_halueval_are_units_by_default(tmp_path):
    path = pairs(tmp_path / "trials.csv")
    found = metrics(path, measures=["accuracy"], **FAST).iloc[0]
    assert found["n_clusters"] == 60
    assert found["design_effect"] == pytest.approx(2.0, abs=0.05)  # both answers of a pair are always alike
    pd.testing.assert_frame_equal(metrics(path, cluster="pair", **FAST), metrics(path, **FAST))
    apart = metrics(path, cluster="none", measures=["accuracy"], **FAST).iloc[0]
    other = metrics(pairs(tmp_path / "other.csv", source="mine", name="{}_{}"), measures=["accuracy"], **FAST)
    assert (apart["low"], apart["high"]) == pytest.approx(
        (other["low"].iloc[0], other["high"].iloc[0]), abs=0.02
    )
    assert apart["high"] - apart["low"] < 0.85 * (found["high"] - found["low"])
    assert np.isnan(apart["n_clusters"])


def test_trials_have_the_cluster_of_their_question(tmp_path):
    assert trials(pairs(tmp_path / "trials.csv"))["cluster"].tolist()[:3] == [
        "halueval-0",
        "halueval-0",
        "halueval-1",
    ]


def test_a_column_of_a_table_is_its_clusters(tmp_path):
    rows = [
        {
            "question_id": f"q{i}",
            "source": "mine",
            "correct": i % 3 > 0,
            "confidence": 0.8,
            "cluster": f"c{i // 4}",
        }
        for i in range(200)
    ]
    path = table(tmp_path / "trials.csv", [{**row, "subject": f"s{i % 5}"} for i, row in enumerate(rows)])
    assert metrics(path, measures=["accuracy"], **FAST)["n_clusters"].iloc[0] == 50
    assert metrics(path, measures=["accuracy"], cluster="subject", **FAST)["n_clusters"].iloc[0] == 5
    assert (
        summary(path, cluster="subject", measures=["accuracy"], **FAST).to_frame()["n_clusters"].iloc[0] == 5
    )


@pytest.mark.parametrize(
    ("cluster", "message"),
    [
        ("subjct", "no column 'subjct' to cluster by; there are .*; did you mean 'subject'"),
        ("passage", "no question has a passage"),
        ("condition", "no clusters|is in the clusters"),
    ],
)
def test_a_wrong_name_is_refused_before_anything_is_computed(tmp_path, cluster, message):
    path = pairs(tmp_path / "trials.csv")
    frame = pd.read_csv(path)
    pd.concat([frame, frame.assign(condition="0-5")]).to_csv(path, index=False)
    with pytest.raises(ValueError, match=message):
        metrics(path, cluster=cluster, **FAST)


def test_the_commands_take_clusters(tmp_path, monkeypatch):
    monkeypatch.setenv("CONFIDENCE_TASKS_NO_CACHE", "1")
    path = str(pairs(tmp_path / "trials.csv"))
    options = ["--resamples", "99", "--json"]
    done = CliRunner().invoke(main, ["report", path, "-o", str(tmp_path / "page.html"), *options])
    record = json.loads(done.stdout)
    assert {row["n_clusters"] for row in record["estimates"] if row["measure"] == "accuracy"} == {60}
    (notice,) = [notice for notice in record["notices"] if notice["title"] == "Clusters of questions"]
    assert "60 clusters of 120 questions; design effect of" in notice["where"][0]
    assert "60 clusters, design effect" in (tmp_path / "page.html").read_text()
    compared = json.loads(CliRunner().invoke(main, ["compare", path, path, *options]).stdout)["comparisons"]
    assert {row["n_clusters"] for row in compared} == {60}
    assert "design effect" in CliRunner().invoke(main, ["compare", path, path, "--resamples", "99"]).stdout
    for command in (["report", path, "-o", str(tmp_path / "page.html")], ["compare", path, path]):
        refused = CliRunner().invoke(main, [*command, "--cluster", "pasage", *options])
        assert refused.exit_code == 2
        assert "did you mean 'passage'?" in refused.output


def notices_of(path: Path, cluster: str = "") -> dict[str, tuple[str, ...]]:
    settings = Settings(99, cluster=cluster)
    tasks = with_units(group_by_task(collect(path).files), cluster)
    ((results,), _) = results_and_lost(tasks, settings)
    return {notice.title: notice.where for notice in notices(results, READING)}


def test_few_clusters_are_a_warning(tmp_path):
    assert "Few clusters" not in notices_of(pairs(tmp_path / "many.csv", 30))
    (where,) = notices_of(pairs(tmp_path / "few.csv", 29))["Few clusters"]
    assert where.endswith(": 29 clusters")


def test_a_log_without_passages_says_so(tmp_path):
    rows = [
        {"question_id": f"boolq-{i}", "source": "boolq", "correct": i % 2, "confidence": 0.8}
        for i in range(40)
    ]
    (where,) = notices_of(table(tmp_path / "trials.csv", rows))["Unknown clusters"]
    assert where == "a, boolq: 40 trials"


def test_subjects_of_mmlu_are_named_with_their_design_effect(tmp_path):
    rng = np.random.default_rng(0)
    rows = [
        {
            "question_id": f"mmlu-{i}",
            "source": "mmlu",
            "subject": f"s{i % 20}",
            "correct": float(rng.random() < (0.95 if i % 2 else 0.45)),
            "confidence": 0.8,
        }
        for i in range(400)
    ]
    (where,) = notices_of(table(tmp_path / "trials.csv", rows))["Questions share subjects"]
    assert where.startswith("a, 0-20: 20 subjects; Accuracy ")
    by_subject = np.array([row["correct"] for row in rows]).reshape(20, 20)
    centred = by_subject - by_subject.mean()
    expected = (centred.sum(axis=0) ** 2).sum() * 20 / 19 / ((centred**2).sum() * 400 / 399)
    assert f"Accuracy {expected:.1f}" in where


@pytest.mark.parametrize(("per_passage", "is_warned"), [(1, False), (2, True)])
def test_questions_about_one_passage_count_once_among_right_and_wrong_answers(
    tmp_path, per_passage, is_warned
):
    """60 questions have 30 wrong answers, which are about 30 or about 15 passages."""
    rows = [
        {
            "question_id": f"q{i}",
            "source": "mine",
            "correct": float(i // per_passage % 2),
            "confidence": 0.6 + 0.1 * (i % 4),
            "cluster": f"c{i // per_passage}",
        }
        for i in range(60)
    ]
    ((results,), _) = results_and_lost(
        with_units(group_by_task(collect(table(tmp_path / "trials.csv", rows)).files)), Settings(99)
    )
    found = {notice.title for notice in notices(results, checks_of(results.task_trials.study))}
    assert ("Few right or few wrong answers" in found) == is_warned


def test_measures_of_the_first_version_of_log_probabilities_have_clusters():
    table = log_probabilities(Evidence(1.2), 240, rng=np.random.default_rng(0))
    columns = {name: column.to_numpy() for name, column in table.items()}
    passage = np.array([f"text {i // 4}" for i in range(240)], dtype=object)
    subset = TrialSubset(columns["source"][0], np.arange(240))
    clustered, renamed, single = (
        version_1(each, [subset], Settings(50))
        for each in ({**columns, "unit": passage}, {**columns, "question_id": passage}, columns)
    )
    for key, found in clustered.items():
        np.testing.assert_array_equal(found.resamples, renamed[key].resamples)
        assert not np.array_equal(found.resamples, single[key].resamples)


AGIEVAL = "A passage. " * 40


@pytest.mark.parametrize(
    ("source", "text", "metadata"),
    [
        ("lsat_ar", f"{AGIEVAL}\n\nWhich one?", {}),
        ("sat_en", f"{AGIEVAL}\n\nWhich one?", {}),
        ("boolq", "is it so", {"passage": AGIEVAL * 9}),
    ],
)
def test_an_old_log_has_the_clusters_of_a_new_one(source, text, metadata):
    """Inspect shortens the texts of a sample to 1,024 letters."""
    question = with_cluster(
        Question(f"{source}-1", source, text, "choice", "A", ("a", "b"), metadata=metadata)
    )
    other = with_cluster(
        Question(f"{source}-2", source, text.replace("Which", "What"), "choice", "A", metadata=metadata)
    )
    assert question.cluster == other.cluster != ""
    assert question_from_metadata(question_metadata(question)).cluster == question.cluster
    old = SimpleNamespace(
        subject="", cluster=None, question=text[:1024], passage=str(metadata.get("passage", ""))[:1024]
    )
    assert shared_by({"source": source, "question_id": f"{source}-1"}, old) == ("", question.cluster)


def test_the_radii_of_a_person_are_a_family():
    questions = load("lifeeval")
    assert len({question.cluster for question in questions}) == len(questions) / 4 == 202


def test_own_questions_may_have_clusters(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("question,answer,cluster\nA?,yes,first\nB?,no,first\nC?,no,\n")
    assert sorted(question.cluster for question in load(str(path))) == ["", "first", "first"]


def test_stated_intervals_and_scores_have_clusters_too():
    correct, confidence = answers()
    table = pd.DataFrame(
        {
            "low": 0.0,
            "high": 1.0,
            "truth": np.where(correct == 1.0, 0.5, 2.0),
            "level": 0.9,
            "passage": PASSAGE,
            "gone": np.arange(len(PASSAGE)) % 9 == 0,
        }
    )
    table.loc[table["gone"], "low"] = np.nan  # left out, with its passage
    rows = summary(table, kind="interval", cluster="passage", **FAST).to_frame().set_index("measure")
    kept = ~table["gone"].to_numpy()
    expected = summary(correct[kept], confidence[kept], cluster=PASSAGE[kept], measures=["accuracy"], **FAST)
    shown = ["value", "low", "high", "n_clusters", "design_effect"]
    assert rows.loc["coverage", shown].tolist() == expected.to_frame().iloc[0][shown].tolist()

    scores = summary(correct, np.log(confidence + 0.1), kind="score", cluster=PASSAGE, **FAST).to_frame()
    assert (scores["n_clusters"].dropna() == 50).all()
    plain = summary(correct, np.log(confidence + 0.1), kind="score", **FAST).to_frame()
    assert "n_clusters" not in plain


@pytest.mark.parametrize("kind", ["confidence", "score", "interval"])
def test_the_clusters_of_own_replies_are_units_of_what_score_prints_and_of_its_file(kind, tmp_path):
    correct, confidence = answers()
    path = tmp_path / "mine.csv"
    columns = {"id": np.arange(len(PASSAGE)), "passage_id": PASSAGE, "topic": PASSAGE}
    if kind == "interval":
        columns |= {"low": 0.0, "high": 1.0, "truth": np.where(correct == 1.0, 0.5, 2.0), "level": 0.9}
    else:
        columns |= {"correct": correct.astype(int), "confidence": confidence}
    pd.DataFrame(columns).to_csv(path, index=False)

    def found(*options):
        arguments = ["score", str(path), "--kind", kind, "--log-dir", str(tmp_path), "--json", *options]
        result = CliRunner().invoke(main, arguments, catch_exceptions=False)
        assert result.exit_code == 0, result.output
        written = json.loads(result.stdout)
        return {row["measure"]: row for row in written["metrics"]}, written["trials"]

    name = "coverage" if kind == "interval" else "accuracy"
    printed, written = found()
    assert printed[name]["n_clusters"] == 50
    assert metrics(written, measures=[name], **FAST).iloc[0]["n_clusters"] == 50
    assert found("--cluster", "topic")[0] == printed
    alone, written = found("--cluster", "")
    assert "n_clusters" not in alone[name]
    assert np.isnan(metrics(written, measures=[name], **FAST).iloc[0]["n_clusters"])


def test_means_without_an_upper_bound_have_an_interval_that_is_corrected_for_the_skewness_of_clusters():
    rng = np.random.default_rng(5)
    width = np.exp(rng.normal(size=50)[PASSAGE] + 0.2 * rng.normal(size=len(PASSAGE)))
    table = pd.DataFrame({"low": 0.0, "high": width, "truth": width / 2, "level": 0.9, "passage": PASSAGE})
    row = summary(table, kind="interval", cluster="passage", measures=["width"], **FAST).to_frame().iloc[0]
    totals = np.bincount(PASSAGE, width - width.mean())
    error = np.sqrt((totals**2).sum() * 50 / 49) / len(width)
    expected = skewness_corrected_limits(width.mean(), error, scipy.stats.skew(totals), 50, 0.95)
    assert (row["low"], row["high"]) == pytest.approx(expected)
