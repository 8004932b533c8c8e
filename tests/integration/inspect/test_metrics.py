"""Which measures a log has as metrics."""

from dataclasses import replace

import pytest
from inspect_ai import eval
from inspect_ai._eval.task.results import eval_results
from inspect_ai._eval.task.run import update_metrics_display_fn
from inspect_ai.scorer import SampleScore, Score, match, scorer

from confidence_tasks import _registry
from confidence_tasks.catalogue import studies
from confidence_tasks.harness.inspect.metrics import metrics_of, study_metrics
from confidence_tasks.harness.inspect.viewer import SHOWN, trial_score, viewer
from confidence_tasks.harness.logged_trials import scored_trial
from confidence_tasks.studies.scales import STUDY
from confidence_tasks.study.measures import ACCURACY, CONFIDENCE, PARSE_RATE
from confidence_tasks.study.metrics import select_measures
from confidence_tasks.study.records import TaskMetrics

TASKS = {
    "scale_granularity": ({"sources": "arithmetic"}, 25),
    "scale_nonstandard": ({"sources": "arithmetic"}, 30),
    "riskeval": ({"source": "arithmetic"}, 25),
    "lifeeval": ({}, 25),
    "boolq": ({"source": "arithmetic_boolean"}, 25),
    "nlp_metad": ({"source": "arithmetic"}, 25),
}
"""Tasks that need no download, and the most lines that a terminal shows of their metrics."""


def metrics_logged(name, **arguments):
    task = getattr(_registry, name)(n=4, **arguments)
    (log,) = eval(task, model="none/none", run_samples=False, display="none", log_dir="memory://please")
    del log
    (metric,) = task.metrics
    return metric([])


@pytest.mark.parametrize(("name", "arguments", "most"), [(n, *rest) for n, rest in TASKS.items()])
def test_a_log_has_the_headline_unless_all_is_asked_for(name, arguments, most):
    headline = metrics_logged(name, **arguments)
    every = metrics_logged(name, metrics="all", **arguments)
    (study,) = [study for study in studies() if name in study.designs]

    assert headline.keys() < every.keys()
    assert len(headline) <= most
    assert {key.partition("/")[0] for key in headline} <= set(study.headline_measures)


@pytest.mark.usefixtures("mirror")
@pytest.mark.parametrize(
    ("name", "arguments"),
    [(n, {} if n == "boolq" else given) for n, (given, _) in TASKS.items()]
    + [("fermieval", {}), ("fermieval_sampling", {})],
)
def test_the_viewer_has_room_for_its_five_metrics_beside_the_title(name, arguments):
    """At 1280 pixels, in those of a letter as measured in a browser; the model is simulated/overconfident."""
    task = getattr(_registry, name)(n=4, **arguments)
    shown = list(metrics_logged(name, **arguments))[:5]
    lead = task.headline_metric.metric
    shown = [lead, *[key for key in shown if key != lead]][:5]
    title = 14 * len(task.name) + 290
    assert title + sum(7.75 * len(key) + 14 for key in shown) < 1280, (task.name, shown)


def test_all_are_all():
    every = {
        key.partition("/")[0]
        for key in metrics_logged("scale_granularity", sources="arithmetic", metrics="all")
    }
    assert every == set(STUDY.measures_by_name)


def test_another_word_is_refused_before_the_first_call():
    with pytest.raises(ValueError, match="metrics='al' is not one of headline, all; did you mean 'all'"):
        _registry.scale_granularity(sources="arithmetic", n=2, metrics="al")


def counts(trials, names=None):
    """Sum up nothing."""
    return {f"{name}/{where}": len(trials) for name in names or ["x"] for where in ("all", "a")}


def test_outside_of_the_overall_conditions_a_log_has_the_first_headline_measure():
    logged = TaskMetrics(counts, {}, (), "all", overall=("all",), default_measures=("ece", "auroc"))
    (metric,) = metrics_of(STUDY, logged)
    (without,) = metrics_of(STUDY, replace(logged, overall=()))
    (every,) = metrics_of(STUDY, logged, "all")
    scores = [SampleScore(score=Score(value={"trial": 1})), SampleScore(score=Score(value=0.5))]

    assert list(metric(scores).items()) == [("ece/all", 1), ("auroc/all", 1), ("ece/a", 1)]
    assert set(without([])) == {"ece/all", "ece/a", "auroc/all", "auroc/a"}
    assert set(every([])) == {"x/all", "x/a"}


def test_measures_come_in_the_order_of_their_names():
    measures = (ACCURACY, PARSE_RATE, CONFIDENCE)

    assert select_measures(measures, None) == list(measures)
    assert select_measures(measures, ["confidence", "nothing", "accuracy"]) == [CONFIDENCE, ACCURACY]


def test_the_sample_list_begins_with_the_question_the_answer_and_the_key():
    shown = [column.id for column in viewer(STUDY).task_samples_view.columns if column.visible]
    assert shown[:3] == ["input", "answer", "target"]
    assert "sampleId" not in shown


@pytest.mark.parametrize("study", studies(), ids=lambda study: study.name)
def test_a_score_has_a_key_for_each_column_that_is_shown_and_gives_the_trial_back(study):
    trial = {key: "a" if kind is str else 0.5 for key, kind in study.column_types.items()}
    score = trial_score(study, trial, {}, answer="a", explanation="")
    shown = [column.id for column in viewer(study).task_samples_view.columns if column.visible]
    assert shown[3:] == [f"score__{study.scorer_name}__{key}" for key in score.value]
    assert set(score.value) == {*SHOWN, *study.viewer.columns}
    assert scored_trial(score.value, score.metadata) == trial
    assert scored_trial(trial, None) == trial


@pytest.mark.parametrize("study", studies(), ids=lambda study: study.name)
def test_a_column_has_room_for_what_it_shows_and_the_trial_is_whole(study):
    trial = {key: "a" if kind is str else 0.7992007992007991 for key, kind in study.column_types.items()}
    trial |= {"status": "missing_confidence", "answer": "two words " * 200 + "end"}
    named = {"fermieval_sampling": ("interval,T=0.7,p=0.95",), "question_sets": ("arithmetic_boolean",)}
    for condition in (*study.conditions, *named.get(study.name, ())):
        trial["condition"] = condition
        score = trial_score(study, trial, {}, answer="a", explanation="")
        assert max(len(str(value)) for value in score.value.values()) <= 14
        assert all(len(text) <= 1000 for text in score.metadata.values() if isinstance(text, str))
        assert scored_trial(score.value, score.metadata) == trial
        assert scored_trial({**score.value, "correct": 0.0}, score.metadata) == {**trial, "correct": 0.0}


def test_live_values_are_computed_seldom_and_those_of_the_log_from_all_scores(monkeypatch):
    """Inspect calls every metric anew with all scores while a run goes on; here two runs go on at once."""
    computed = []

    def counted(trials, names=None):
        computed.append(len(trials))
        return {"x/all": float(len(trials))}

    monkeypatch.setattr("confidence_tasks.harness.inspect.metrics.resolve_address", lambda reference: counted)

    @scorer(metrics=[study_metrics("anywhere", {})])
    def told():
        return match()

    scorers = [told()]
    runs = [
        [{"told": SampleScore(score=Score(value={"n": i}), sample_id=i, scorer="told")} for i in range(1_000)]
        for _ in range(2)
    ]
    shown = []
    for n in range(1, 1_001):
        for scores in runs:
            live = update_metrics_display_fn(shown.append)
            live(n, scores[:n], scorers, ["told"], None, None)
    assert 2 * 10 < len(computed) < 2 * 40
    assert sum(computed) < 2 * 5.5 * 1_000
    values = [value.value for (value,) in shown]
    assert values[::2] == values[1::2]
    assert all(n / 1.25 <= value <= n for n, value in enumerate(values[::2], start=1))
    computed.clear()
    results, _ = eval_results(999, runs[0][:999], None, scorers, None, ["told"])
    assert results.scores[0].metrics["x/all"].value == 999
    assert computed == [999]
