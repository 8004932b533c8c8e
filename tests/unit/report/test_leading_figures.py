"""The figure that a section of the page opens with, and the title of a section."""

import re
from pathlib import Path

import pytest
from tests.unit.report.runs import rows, undrawn_report, write
from tests.unit.report.test_first_screen import made_of

from confidence_tasks.logs.task_trials import group_by_task
from confidence_tasks.report import collect
from confidence_tasks.report.estimates.settings import Settings

EXAMPLES = Path(__file__).parents[3] / "examples"


def open_figures(html):
    """Names of the figures that are not folded, in their order."""
    unfolded = re.sub(r'<details class="more">.*?</details>', "", html, flags=re.DOTALL)
    return re.findall(r'<figure class="\w+" id="([^"]*)"', unfolded)


def report_of_study(folder, study, *models):
    for i, model in enumerate(models):
        write(folder / f"{i}.jsonl", rows(study, model))
    return undrawn_report(collect(folder), settings=Settings(n_resamples=50))


def test_one_model_under_one_condition_opens_with_reliability_and_has_no_plot_of_a_point(tmp_path):
    html = made_of(tmp_path, {"good": 0.9}).html
    assert open_figures(html) == ["fermieval_logprob_reliability"]
    assert 'aria-controls="fermieval_logprob_accuracy-tab"' in html


def test_several_models_under_one_condition_have_the_plot_of_the_measure_below(tmp_path):
    opened = open_figures(made_of(tmp_path, {"good": 0.9, "fair": 0.6}).html)
    assert opened[0] == "fermieval_logprob_reliability"
    assert len(opened) > 1


@pytest.mark.parametrize(
    ("study", "leading"),
    [
        ("riskeval", "riskeval_decisions"),
        ("fermieval", "fermieval_calibration"),
        ("scales", "scale_granularity_mratio"),
        ("lifeeval", "lifeeval_reliability"),
    ],
)
def test_a_study_with_several_conditions_opens_with_the_figure_that_answers_its_question(
    tmp_path, study, leading
):
    assert open_figures(report_of_study(tmp_path, study, "lab/bold").html)[0] == leading


def test_log_probabilities_open_with_the_curves_that_show_what_they_predict():
    made = undrawn_report(collect(EXAMPLES / "nlp_metad.eval"), settings=Settings(n_resamples=20))
    assert open_figures(made.html)[0] == "nlp_metad_type2_roc"


def test_few_panels_of_a_leading_figure_are_large_and_names_fit(tmp_path):
    html = made_of(tmp_path, {"good": 0.9}).html
    (width,) = re.findall(r'id="fermieval_logprob_reliability" style="--panel: (\d+)px"', html)
    assert int(width) > 350


@pytest.mark.parametrize(
    ("sources", "title"),
    [
        (["arithmetic_boolean"], "arithmetic_boolean"),
        (["boolq"], "BoolQ"),
        (["arithmetic_boolean", "boolq"], "BoolQ"),
        (["arithmetic_boolean", "sciq"], "BoolQ"),
    ],
)
def test_a_question_set_asked_from_another_source_has_the_title_of_that_source(tmp_path, sources, title):
    trial = {"study": "question_sets", "task": "boolq", "model": "m", "question_id": "q", "status": "ok"}
    trials = [
        {**trial, "source": source, "condition": source, "correct": 1.0, "confidence": 0.9}
        for source in sources
    ]
    (task,) = group_by_task(collect(write(tmp_path / "a.jsonl", trials)).files)
    assert task.title == title
