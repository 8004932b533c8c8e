"""The first screen: one number per model and task, and the significant differences."""

import numpy as np
import pytest
from scipy.stats import ttest_rel
from tests.unit.report.runs import undrawn_report, write

from confidence_tasks.report import collect
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.page.first_screen import (
    FEW_MODELS,
    headline_of,
    headline_table,
    significant_differences,
)

N = 200
ACCURACY = {"good": 0.9, "fair": 0.6, "same": 0.6}


def trials(model, accuracy):
    """Answers of a model to the same questions: the first ones right."""
    rng = np.random.default_rng(len(model))
    right = rng.permutation(np.arange(N) < accuracy * N)
    return [
        {
            "study": "fermieval_logprob",
            "task": "fermieval_logprob",
            "model": model,
            "question_id": f"q{i}",
            "source": "made-up",
            "condition": "first_token",
            "correct": float(right[i]),
            "confidence": 0.7,
            "status": "ok",
            "truth": 3.0,
            "integer_mass": 1.0,
            "split": "test",
            "answer": "3" if right[i] else "4",
            "distribution": "3:0.7 4:0.3" if right[i] else "3:0.3 4:0.7",
        }
        for i in range(N)
    ]


def made_of(folder, models):
    for model, accuracy in models.items():
        write(folder / f"{model}.jsonl", trials(model, accuracy))
    return undrawn_report(collect(folder), settings=Settings(n_resamples=400))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return made_of(tmp_path_factory.mktemp("logs"), ACCURACY)


def test_a_few_models_stand_in_columns_with_the_number_that_was_estimated(made):
    (results,) = made.results
    headline = headline_of(results)
    table = headline_table([headline])
    (row,) = table.rows
    assert table.columns == tuple(model.label for model in results.models)
    assert row.link == f"#{results.task_trials.slug}"
    assert "Accuracy" in row.note
    assert "higher is better" in row.note
    by_model = dict(zip(table.columns, row.cells, strict=True))
    assert {model: cell.value for model, cell in by_model.items()} == {
        "good": "0.90",
        "fair": "0.60",
        "same": "0.60",
    }
    assert all(cell.limits for cell in row.cells)
    assert [model for model, cell in by_model.items() if cell.significant] == ["good"]


def test_the_best_is_compared_in_pairs_and_corrected_for_all_pairs(made):
    headline = headline_of(made.results[0])
    columns = {model.label: model.columns["correct"] for model in made.results[0].models}
    assert [each.a.model for each in headline.comparisons] == ["good", "good"]
    for each in headline.comparisons:
        difference = columns["good"].mean() - columns[each.b.model].mean()
        assert each.interval.estimate == pytest.approx(difference, abs=1e-12)
        assert each.p_adjusted == min(1.0, 3 * each.p_value)
        assert (each.p_adjusted < 0.05) == (
            3 * ttest_rel(columns["good"], columns[each.b.model]).pvalue < 0.05
        )
    (sentence,) = significant_differences([headline])
    assert "good has the best accuracy" in sentence
    assert "differs significantly from 2 of 2 models compared" in sentence
    assert "+0.30" in sentence
    assert sentence in made.html.replace("&#39;", "'").replace("&lt;", "<")


def test_equal_models_do_not_differ_significantly_and_nothing_is_shaded(tmp_path):
    made = made_of(tmp_path, {"same": 0.6, "fair": 0.6})
    headline = headline_of(made.results[0])
    assert headline.leader == ""
    assert significant_differences([headline]) == ["No significant differences (1 test)."]
    assert '<td class="significant"' not in made.html
    assert "does not differ significantly from same (smallest corrected p" in made.html


def test_nothing_is_said_of_differences_where_none_is_tested(tmp_path):
    made = made_of(tmp_path, {"good": 0.9})
    assert significant_differences([headline_of(made.results[0])]) == []
    assert "Significant differences" not in made.html


def test_many_models_stand_in_rows(tmp_path):
    made = made_of(tmp_path, {f"model-{i}": 0.5 + 0.05 * i for i in range(FEW_MODELS + 1)})
    table = headline_table([headline_of(made.results[0])])
    assert [row.label for row in table.rows] == [f"model-{i}" for i in range(FEW_MODELS + 1)]
    assert len(table.columns) == 1


def test_more_than_two_models_have_ranks_that_hold_at_once(made):
    headline = headline_of(made.results[0])
    (row,) = headline_table([headline]).rows
    by_model = dict(zip(headline_table([headline]).columns, row.cells, strict=True))
    assert headline.ranks == {"good": "1", "fair": "2 to 3", "same": "2 to 3"}
    assert by_model["good"].limits.endswith("], rank 1")
    assert "rank 2 to 3" in made.html


def test_two_models_have_no_ranks(tmp_path):
    made = made_of(tmp_path, {"good": 0.9, "fair": 0.6})
    assert headline_of(made.results[0]).ranks == {}
