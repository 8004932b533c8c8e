"""``summary``, ``compare`` and ``metrics``: against other libraries, against the report, and on bad input."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai import eval as inspect_eval
from scipy.stats import ttest_ind, ttest_rel
from sklearn.metrics import brier_score_loss, roc_auc_score

from confidence_tasks import boolq, compare, metrics, summary
from confidence_tasks.report import trials
from confidence_tasks.report.commands.compare import compare as compare_command
from confidence_tasks.report.commands.report import report as report_command

EXAMPLES = Path(__file__).parents[3] / "examples"
FEW = {"n_resamples": 200}
ANSWERS = st.lists(st.tuples(st.booleans(), st.integers(0, 20)), min_size=1, max_size=60)
RNG = np.random.default_rng(7)
SURE = RNG.uniform(0.4, 1.0, 240).round(2)
RIGHT = (RNG.random(240) < SURE).astype(float)


def values(table: pd.DataFrame, key: str = "value") -> dict[str, float]:
    return dict(zip(table["measure"], table[key], strict=True))


@given(ANSWERS)
def test_values_are_those_of_other_libraries(answers: list[tuple[bool, int]]) -> None:
    correct = np.array([right for right, _ in answers], dtype=float)
    confidence = np.array([twentieths for _, twentieths in answers]) / 20
    found = summary(correct, confidence, n_resamples=20).to_frame()
    value = values(found)
    assert value["accuracy"] == pytest.approx(correct.mean())
    assert value["brier"] == pytest.approx(brier_score_loss(correct, confidence, pos_label=1))
    assert value["overconfidence"] == pytest.approx(confidence.mean() - correct.mean())
    if 0.0 < correct.mean() < 1.0:
        assert value["auroc"] == pytest.approx(roc_auc_score(correct, confidence))
    else:
        assert "one class" in values(found, "reason")["auroc"]
    missing = found["value"].isna() | found["low"].isna()
    assert (found["reason"] != "").equals(missing)
    assert (found["low"] <= found["high"])[~missing].all()


@pytest.fixture(scope="module")
def own_trials(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of two models, two conditions and repeated questions."""
    rng = np.random.default_rng(3)
    rows = [
        {
            "study": "scales",
            "task": "scale_granularity",
            "model": model,
            "question_id": f"q-{i}",
            "source": "mine",
            "condition": condition,
            "epoch": epoch,
            "status": "ok",
            "confidence": float(sure),
            "correct": float(rng.random() < sure - bias),
        }
        for model, bias in (("lab/old", 0.1), ("lab/new", 0.25))
        for condition in ("0-20", "0-100")
        for i in range(80)
        for epoch in (1, 2)
        for sure in [rng.choice([0.6, 0.75, 0.9, 0.95])]
    ]
    path = tmp_path_factory.mktemp("own") / "trials.csv"
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def reported(own_trials: Path) -> pd.DataFrame:
    page = own_trials.parent / "page.html"
    run = CliRunner().invoke(
        report_command, [str(own_trials), "-o", str(page), "--resamples", "200", "--json"]
    )
    assert run.exit_code == 0, run.output
    table = pd.DataFrame(json.loads(run.stdout)["estimates"])
    return table[table["source"] == ""].rename(columns={"group": "condition"})


KEY = ["model", "condition", "measure"]
DRAWN = ["mratio"]
"""Measures whose intervals are draws that depend on what else is drawn."""


@pytest.mark.parametrize("given_as", ["path", "table"])
def test_a_summary_of_trials_says_what_the_report_says(
    own_trials: Path, reported: pd.DataFrame, given_as: str
) -> None:
    if given_as == "path":
        found = summary(own_trials, **FEW).to_frame()
    else:
        by = ("task", "model", "condition")
        found = summary(trials(own_trials), by=by, **FEW).to_frame()
    both = found.merge(reported, on=KEY, suffixes=("", "_reported"))
    assert len(both) == len(found) == 2 * 2 * 8
    np.testing.assert_allclose(both["value"], both["value_reported"].astype(float))
    same = both[~both["measure"].isin(DRAWN)]
    for limit in ("low", "high"):
        np.testing.assert_allclose(same[limit], same[f"{limit}_reported"].astype(float))
    assert both["reason"].tolist() == both["reason_reported"].tolist()


def test_metrics_are_those_of_the_report(own_trials: Path, reported: pd.DataFrame) -> None:
    found = metrics(own_trials, **FEW)
    assert len(found) == len(reported)
    both = found.merge(reported, on=KEY, suffixes=("", "_reported"))
    for column in ("value", "low", "high", "n"):
        np.testing.assert_allclose(both[column], both[f"{column}_reported"].astype(float))
    assert set(metrics(own_trials, measures=["ece"], **FEW)["measure"]) == {"ece"}


def test_a_comparison_of_logs_is_that_of_the_command(own_trials: Path) -> None:
    chosen = ["--model-a", "lab/old", "--model-b", "lab/new", "--resamples", "200", "--json"]
    run = CliRunner().invoke(compare_command, [str(own_trials), str(own_trials), *chosen])
    compared = pd.DataFrame(json.loads(run.stdout)["comparisons"])
    found = compare(own_trials, own_trials, model_a="lab/old", model_b="lab/new", **FEW).to_frame()
    assert found["measure"].tolist() == compared["measure"].tolist()
    for ours, theirs in (
        ("difference", "difference"),
        ("low", "difference_low"),
        ("p_adjusted", "p_adjusted"),
    ):
        np.testing.assert_allclose(found[ours], compared[theirs].astype(float))


def test_groups_are_summarised_as_if_alone() -> None:
    group = np.where(np.arange(240) % 3 == 0, "first", "second")
    asked = np.arange(240)
    together = summary(RIGHT, SURE, by=group, questions=asked, **FEW).to_frame()
    for name in ("first", "second"):
        alone = summary(RIGHT[group == name], SURE[group == name], **FEW).to_frame()
        its = together[together["group"] == name]
        assert values(its) == pytest.approx(values(alone), nan_ok=True)
        assert values(its, "n") == values(alone, "n")


def test_a_table_is_read_by_the_names_of_its_columns() -> None:
    table = pd.DataFrame(
        {"ok": RIGHT, "p": SURE, "domain": "history", "id": [f"{i:03d}" for i in range(240)]}
    )
    found = summary("ok", "p", data=table, by="domain", questions="id", **FEW).to_frame()
    pd.testing.assert_frame_equal(found.drop(columns="domain"), summary(RIGHT, SURE, **FEW).to_frame())


RIGHT_AND_SURE = {"correct": RIGHT, "confidence": SURE}


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ((list(RIGHT), tuple(SURE)), {}),
        ((iter(RIGHT), dict(enumerate(SURE)).values()), {}),
        ((RIGHT_AND_SURE,), {}),
        ((pyarrow.table(RIGHT_AND_SURE),), {}),
        ((pd.DataFrame(RIGHT_AND_SURE).astype(object),), {}),
        ((pd.DataFrame({0: RIGHT, 1: SURE}),), {"correct": 0, "confidence": 1}),
        ((pd.Series(RIGHT), SURE), {"data": pd.DataFrame(RIGHT_AND_SURE)}),
    ],
    ids=[
        "sequences",
        "iterators",
        "mapping",
        "pyarrow",
        "objects",
        "numbered columns",
        "values beside a table",
    ],
)
def test_answers_are_the_same_however_they_are_held(arguments: tuple, options: dict) -> None:
    if "correct" in options:
        arguments, options = (), {**options, "data": arguments[0]}
    found = summary(*arguments, **options, **FEW).to_frame()
    pd.testing.assert_frame_equal(found, summary(RIGHT, SURE, **FEW).to_frame())


def test_a_table_is_grouped_by_a_column_by_its_values_and_by_several() -> None:
    table = pd.DataFrame({**RIGHT_AND_SURE, "half": np.arange(240) % 2, "whole": 1})
    by_name = summary(table, by="half", **FEW)
    for by in (table["half"], {"half": table["half"].to_numpy()}):
        pd.testing.assert_frame_equal(summary(table, by=by, **FEW).to_frame(), by_name.to_frame())
    assert repr(summary(table, by=["half", "whole"], **FEW)) == repr(by_name)  # what is all one is not shown


@pytest.mark.parametrize(
    ("correct", "confidence"),
    [
        ([True, False, None, True], [0.9, 0.2, 0.4, None]),
        (pd.array([1, 0, None, 1], dtype="Int8"), pd.Series([0.9, 0.2, 0.4, None])),
        ([1, 0, math.nan, 1], (0.9, 0.2, 0.4, math.nan)),
    ],
)
def test_what_is_missing_is_left_out_and_counted(correct: object, confidence: object) -> None:
    found = summary(correct, confidence, **FEW).to_frame()
    assert values(found, "n") == {
        **dict.fromkeys(found["measure"], 2),
        "accuracy": 3,
        "confidence": 3,
    }
    assert values(found)["accuracy"] == pytest.approx(2 / 3)
    assert values(found)["brier"] == pytest.approx((0.1**2 + 0.2**2) / 2)


@pytest.mark.parametrize(
    ("correct", "confidence", "reason"),
    [
        ([], [], "no usable trials"),
        ([1, 1, 1], [0.2, 0.5, 0.9], "one class"),
        ([math.nan] * 3, [0.2, 0.5, 0.9], "no usable trials"),
        ([0.2, 0.5, 0.9], [0.2, 0.5, 0.9], "correct is a probability"),
    ],
)
def test_what_cannot_be_computed_has_a_reason(
    correct: list[float], confidence: list[float], reason: str
) -> None:
    found = summary(correct, confidence, **FEW)
    assert reason in values(found.to_frame(), "reason")["auroc"]
    assert reason in repr(found)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([1, 0], [0.5]), {}, "correct has 2 values and confidence 1"),
        (([1, 0], [90, 20]), {}, "trial 0 has 90: divide percentages by 100"),
        (
            ("right", "sure"),
            {},
            "correct='right': give one value per trial, or the table that has this column as data=",
        ),
        (([0.9, 0.2], [True, False]), {}, "confidence holds True and False, .*: give correct first"),
        (([1, 0], [0.9, 0.2]), {"by": "domain"}, "by='domain': give one value per trial, or the table"),
        (([1, 0], [0.9, 0.2]), {"questions": "id"}, "questions='id': give one value per trial, or the table"),
        (([1, 0], [0.9, 0.2]), {"by": ["a", None]}, "lacks a value at trial 1: drop such trials or"),
        (([1, 0], [0.9, 0.2]), {"level": "95%"}, "got '95%': 95% is 0.95"),
        (
            ([1, 0], [0.9, 0.2]),
            {"n_resamples": 1e3},
            "n_resamples must be a whole number from 1 up, got 1000.0",
        ),
        (([1, 0], [0.9, 0.2]), {"seed": None}, "seed must be a whole number from 0 up, got None"),
        (([1, 0], [0.9, 0.2]), {"measures": "ECE"}, "no measure 'ECE'; there are .*; did you mean 'ece'"),
        (({"correct": 1, "confidence": 0.5},), {}, "a mapping must hold columns of equal length"),
        (
            (pd.DataFrame({"correct": [1], "sure": [0.9]}),),
            {},
            "confidence='confidence' is not a column; there are correct, sure",
        ),
        (([1, 0], [0.9, -0.2]), {}, "confidence must lie in .0, 1., but trial 1 has -0.2"),
        (([1, 0], [0.9, math.inf]), {}, "confidence must lie in"),
        ((["A", "B"], [0.9, 0.2]), {}, "correct holds the text 'A': give 1 for right"),
        (([1, 0], ["85%", "20%"]), {}, "confidence holds the text '85%'"),
        (([2, 0], [0.9, 0.2]), {}, "correct must lie in .0, 1., but trial 0 has 2"),
        (([1, 0], [[0.9, 0.1], [0.2, 0.8]]), {}, "give one number per trial"),
        (([1, 0],), {}, "give confidence with correct"),
        ((), {}, "give confidence with correct"),
        (([1, 0], [0.9, 0.2]), {"by": ["a"]}, "group has 1 values for 2 trials"),
        (([1, 0], [0.9, 0.2]), {"questions": ["a", None]}, "questions lacks a value at trial 1"),
        (([1, 0], [0.9, 0.2]), {"level": 95}, "95% is 0.95"),
        (([1, 0], [0.9, 0.2]), {"measures": ["auc"]}, "no measure 'auc'; there are .*; did you mean 'auroc'"),
        ((pd.DataFrame({"right": [1], "confidence": [0.9]}),), {}, "correct='correct' is not a column"),
        (
            (pd.DataFrame({"correct": [1], "confidence": [0.9], "model": "m"}),),
            {"by": "modle"},
            "mean 'model'",
        ),
        (("no/such.eval",), {}, "no trials were found: no/such.eval: there is no such file or folder"),
    ],
)
def test_bad_input_is_refused_with_the_fix(arguments: tuple, options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        summary(*arguments, **options)


def test_unpaired_differences_agree_with_welch() -> None:
    a, b = (RIGHT[:90], SURE[:90]), (RIGHT[90:], SURE[90:] * 0.95)
    found = compare(a, b, n_resamples=4000).to_frame().set_index("measure")
    for measure, (one, other) in {
        "confidence": (a[1], b[1]),
        "overconfidence": (a[1] - a[0], b[1] - b[0]),
    }.items():
        welch = ttest_ind(one, other, equal_var=False)
        row = found.loc[measure]
        assert row["difference"] == pytest.approx(one.mean() - other.mean())
        assert row["p_value"] == pytest.approx(welch.pvalue, abs=0.02)
        limits = welch.confidence_interval()
        assert [row["low"], row["high"]] == pytest.approx([limits.low, limits.high], abs=0.006)


def test_paired_differences_agree_with_the_paired_t_test() -> None:
    shuffled = np.random.default_rng(0).permutation(240)
    lower = (SURE - 0.02 * (np.arange(240) % 3)).clip(0, 1)
    asked = (np.arange(240), np.arange(240)[shuffled])
    found = compare((RIGHT, SURE), (RIGHT[shuffled], lower[shuffled]), questions=asked, n_resamples=4000)
    row = found.to_frame().set_index("measure").loc["confidence"]
    paired = ttest_rel(SURE, lower)
    limits = paired.confidence_interval()
    assert [row["low"], row["high"]] == pytest.approx([limits.low, limits.high], abs=1e-3)
    assert row["n"] == 240


def test_a_difference_turned_round_is_its_opposite() -> None:
    a, b = (RIGHT[:90], SURE[:90]), (RIGHT[90:], SURE[90:])
    one, other = (compare(*sides, **FEW).to_frame() for sides in ((a, b), (b, a)))
    np.testing.assert_allclose(one["difference"], -other["difference"])
    assert ((one["p_value"] < 0.05) == ((one["low"] > 0) | (one["high"] < 0))).all()


@pytest.mark.parametrize(
    ("sides", "options", "message"),
    [
        (("a.eval", ([1], [0.5])), {}, "a is logs and b is arrays: give two of the same kind"),
        (([1, 0, 1], [0.5]), {}, "give a and b as .correct, confidence."),
        ((([1], [0.5]), ([0], [0.5])), {"questions": (["x"], ["y"])}, "a and b share no question"),
        ((([1], [0.5]), ([], [])), {}, "a or b has no trials"),
        (
            (([1], [0.5]), ([0], [0.5])),
            {"by": "domain"},
            "by names columns of tables or logs, .* give two tables",
        ),
        (({"right": [1]}, {"right": [0]}), {}, "correct='correct' is not a column; there are right"),
        (
            (([1], [0.5]), ([0], [0.5])),
            {"model_a": "m", "model_b": None},
            "model_a and model_b select models",
        ),
    ],
)
def test_bad_comparisons_are_refused_with_the_fix(sides: tuple, options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compare(*sides, **options)


def test_logs_of_several_models_ask_which(own_trials: Path) -> None:
    with pytest.raises(ValueError, match=r"choose one of its models with model_a: lab/new, lab/old"):
        compare(own_trials, own_trials)


def test_tables_compare_each_group_and_correct_for_all(own_trials: Path) -> None:
    table = trials(own_trials)
    old, new = (table[table["model"] == name] for name in ("lab/old", "lab/new"))
    found = compare(old, new, by="condition", **FEW)
    frame = found.to_frame()
    assert list(dict.fromkeys(frame["condition"])) == ["0-20", "0-100"]
    p = frame[frame["measure"] == "ece"].set_index("condition")["p_value"]
    corrected = frame[frame["measure"] == "ece"].set_index("condition")["p_adjusted"]
    assert corrected.min() == pytest.approx(min(1.0, 2 * p.min()))
    heading = "condition measure A B A − B 95% interval p n"
    assert " ".join(repr(found).splitlines()[0].split()).startswith(heading)


def test_tables_are_compared_by_columns_of_other_names_and_several() -> None:
    halves = [
        pd.DataFrame({"correct": RIGHT[rows], "confidence": SURE[rows], "half": rows % 2, "whole": 1})
        for rows in (np.arange(120), np.arange(120, 240))
    ]
    plain = compare(*halves, by="half", **FEW)
    assert repr(compare(*halves, by=["half", "whole"], **FEW)) == repr(plain)
    renamed = [half.rename(columns={"correct": "right", "confidence": "sure"}) for half in halves]
    named = compare(*renamed, correct="right", confidence="sure", by="half", **FEW)
    pd.testing.assert_frame_equal(named.to_frame(), plain.to_frame())


def test_logs_without_a_question_in_common_say_what_each_lacks() -> None:
    with pytest.raises(ValueError, match=r"skipped boolq: only A has .*; skipped sciq: only B has"):
        compare(EXAMPLES / "boolq.eval", EXAMPLES / "sciq.eval")


@pytest.mark.parametrize("given", [{"correct": [1]}, pd.DataFrame({"correct": [1]})])
def test_metrics_are_of_logs_and_a_table_is_sent_to_the_summary(given: object) -> None:
    with pytest.raises(ValueError, match="for a table, `summary` computes the measures"):
        metrics(given)


def test_tables_print_in_a_terminal_and_in_a_notebook() -> None:
    found = summary(RIGHT, SURE, by=np.where(SURE > 0.7, "high", "low"), measures=["accuracy", "ece"], **FEW)
    lines = repr(found).splitlines()
    assert lines[0].split() == ["group", "measure", "value", "95%", "interval", "n"]
    assert len(lines) == 1 + 4
    assert max(map(len, lines)) < 100
    html = found._repr_html_()
    assert html.count("<tr") == 5
    assert "<td>Accuracy</td>" in html


def test_many_groups_leave_the_curves_free_and_no_name_is_cut() -> None:
    from matplotlib import pyplot

    by = {"same": np.full(240, "all"), "group": [f"a rather long name of group {i % 20}" for i in range(240)]}
    axes = summary(RIGHT, SURE, by=by, measures="accuracy", **FEW).plot()
    axes.figure.canvas.draw()
    legend = axes.figure.legends[0]
    assert legend.get_texts()[0].get_text() == "a rather long name of group 0"
    box, figure = legend.get_window_extent(), axes.figure.bbox
    assert box.x0 >= axes.get_window_extent().x1
    assert (box.x1 <= figure.x1, box.y0 >= 0, box.y1 <= figure.y1) == (True, True, True)
    pyplot.close("all")


def test_plots_are_axes_with_a_curve_a_group() -> None:
    from matplotlib import pyplot

    axes = summary(RIGHT, SURE, by=np.where(np.arange(240) % 2, "odd", "even"), **FEW).plot()
    labels = [text.get_text() for text in axes.figure.legends[0].get_texts()]
    assert labels == ["even", "odd"]
    _, own = pyplot.subplots()
    assert len(summary(RIGHT, SURE, by=SURE > 0.7, **FEW).plot(own).get_legend().get_texts()) == 2
    curve = next(line for line in axes.lines if line.get_label() == "odd")
    chosen = (np.arange(240) % 2 == 1) & (SURE > 0.5) & (SURE <= 0.6)
    x, y = SURE[chosen].mean(), RIGHT[chosen].mean()
    assert np.isclose(curve.get_xydata(), [x, y]).all(axis=1).any()
    different = ((RIGHT, SURE), (RIGHT, SURE * 0.9))
    drawn = compare(*different, questions=np.arange(240), **FEW).plot()
    assert {text.get_text() for text in drawn.get_yticklabels()} >= {"ECE", "AUROC"}
    # M-ratio, in another unit, would make all others too small to be read.
    assert "M-ratio" not in [text.get_text() for text in drawn.get_yticklabels()]
    alone = compare((RIGHT[:120], SURE[:120]), (RIGHT[120:], SURE[120:]), measures="mratio", **FEW).plot()
    assert [text.get_text() for text in alone.get_yticklabels()] == ["M-ratio"]
    pyplot.close("all")


@pytest.mark.slow
def test_logs_in_memory_are_read_like_their_files(tmp_path: Path) -> None:
    runs = [
        inspect_eval(
            boolq(source="arithmetic_boolean", n=60),
            model=f"simulated/{name}",
            log_dir=str(tmp_path / name),
            display="none",
        )
        for name in ("ideal", "overconfident")
    ]
    for run, name in zip(runs, ("ideal", "overconfident"), strict=True):
        pd.testing.assert_frame_equal(
            summary(run, **FEW).to_frame(), summary(tmp_path / name, **FEW).to_frame()
        )
        pd.testing.assert_frame_equal(
            summary(run[0], **FEW).to_frame(), summary(tmp_path / name, **FEW).to_frame()
        )
        pd.testing.assert_frame_equal(metrics(run, **FEW), metrics(tmp_path / name, **FEW))
    pd.testing.assert_frame_equal(
        compare(*runs, **FEW).to_frame(),
        compare(tmp_path / "ideal", tmp_path / "overconfident", **FEW).to_frame(),
    )
    runs[0][0].location = ""
    with pytest.raises(ValueError, match="a log has no file: write it"):
        summary(runs[0])


@pytest.mark.parametrize(("questions", "said"), [(np.arange(240), "paired by question"), (None, "unpaired")])
def test_every_form_of_a_comparison_says_how_it_is_paired(questions: object, said: str) -> None:
    found = compare((RIGHT, SURE), (RIGHT, SURE), questions=questions, measures=["ece", "auroc"], **FEW)
    for text in (repr(found), found._repr_html_(), found.to_markdown()):
        assert said in text
        assert "95% interval" in text


def test_a_table_in_markdown_has_the_cells_of_the_terminal() -> None:
    group = np.where(np.arange(240) % 2, "a|b", "c")
    found = summary(RIGHT, SURE, by=group, measures=["ece", "auroc"], level=0.9, **FEW)
    lines = found.to_markdown().splitlines()
    assert lines[0] == "| group | measure | value | 90% interval | n |"
    assert lines[1] == "| --- | --- | --- | --- | --- |"
    assert len(lines) == 2 + 4
    assert lines[2].startswith("| a\\|b | ECE | ")
    shown = [line.split() for line in repr(found).splitlines()[1:]]
    assert [line.replace("\\|", "|").replace(" | ", " ").strip("| ").split() for line in lines[2:]] == shown
