"""Signals of columns of a user's own answers: those of the study on the same answers, and closed forms."""

import json
import math
from itertools import pairwise

import pytest
from click.testing import CliRunner
from scipy.stats import entropy

import confidence_tasks as ct
from confidence_tasks.cli import main
from confidence_tasks.own_replies.signals import SCALES, signal_columns, signal_trials
from confidence_tasks.sources.source import SourceError
from confidence_tasks.studies.signals.table import SIGNALS
from confidence_tasks.studies.signals.trials import read_signal
from confidence_tasks.study import ModelReply, Question, Token

EMMA = Question("q-1", "demo", "Who wrote Emma?", "text", "Jane Austen")
ROW = {
    "answer": "Jane Austen",
    "logprobs": [-0.5, -0.1],
    "samples": ["the Jane Austen", "Emily Eyre", "", "Emily Austen"],
    "sample_logprobs": [[-0.4, -0.3, -0.2], [-1.0, -2.0], [-3.0], [-1.5, -0.1]],
}


def found(row, question=EMMA, answer="Jane Austen"):
    trial = {"question_id": "q-1", "correct": 1.0, "status": "ok", "answer": answer}
    return {each["condition"]: each["value"] for each in signal_trials([row], [trial], [question])}


def reply(answer, logprobs):
    """Return a reply whose answer has a token for each log-probability."""
    cuts = [*range(len(logprobs)), len(answer)]
    pieces = [answer[begin:end] for begin, end in pairwise(cuts)]
    listed = [Token(text, value, {}) for text, value in zip(pieces, logprobs, strict=True)]
    return ModelReply(f"Answer: {answer}", (Token("Answer: ", -0.1, {}), *listed))


def test_signals_are_those_of_the_study_on_the_same_answers():
    samples = [
        reply(text, logprobs) if text else ModelReply("")
        for text, logprobs in zip(ROW["samples"], ROW["sample_logprobs"], strict=True)
    ]
    replies = {"answer": [reply("Jane Austen", ROW["logprobs"])], "samples": samples}
    of_columns = found(ROW)
    shared = SCALES.keys() & SIGNALS.keys()
    assert of_columns.keys() == shared
    for name in shared:
        trial = read_signal(EMMA, name, replies)
        assert of_columns[name] == pytest.approx(trial["value"], abs=1e-12), name
        assert SCALES[name] is SIGNALS[name].scale


def test_closed_forms_of_numbers():
    four = Question("q-2", "demo", "2 + 2?", "number", "4")
    values = found({"samples": ["4.0", "5", "4"], "logprobs": "-0.5, -0.25"}, four, "4")
    assert values["agreement"] == pytest.approx(2 / 3)
    assert values["semantic_sets"] == -2
    assert values["semantic_entropy_discrete"] == pytest.approx(-entropy([2 / 3, 1 / 3]))
    assert values["mean_logprob"] == pytest.approx(-0.375)
    assert values["consistency_and_confidence"] == pytest.approx(math.exp(-0.375) * 2 / 3)


def test_probabilities_of_options():
    values = found({"option_probabilities": '{"A": 0.1, "B": 0.6, "C": 0.1}'}, answer="b")
    shares = [0.125, 0.75, 0.125]
    assert values["option_probability"] == pytest.approx(0.75)
    assert values["option_negentropy"] == pytest.approx(1 - entropy(shares, base=3))
    assert values["option_self_certainty"] == pytest.approx(entropy([1 / 3] * 3, shares))
    impossible = found({"option_probabilities": {"A": 1.0, "B": 0.0}}, answer="A")
    assert impossible == pytest.approx({"option_probability": 1.0, "option_negentropy": 1.0})


@pytest.mark.parametrize("empty", [None, "", [], "[]"])
def test_what_a_row_does_not_have_gives_no_signal(empty):
    assert found({"logprobs": empty, "samples": empty, "sample_logprobs": empty}) == {}
    assert found({"samples": ["Jane Austen"]}) == {"agreement": 1.0}
    assert found(ROW, answer="") == {}


@pytest.mark.parametrize(
    ("column", "cell", "message"),
    [
        ("logprobs", [0.9], "row 1: the column logprobs must hold the log-probabilities"),
        ("logprobs", "much", "could not convert"),
        ("logprobs", "[NaN]", "no natural logarithm"),
        ("samples", "7", "it is no list"),
        ("sample_logprobs", [[-0.1], 3], "it is no list"),
        ("option_probabilities", {"A": 70, "B": 30}, "outside 0 and 1"),
        ("option_probabilities", "[0.7, 0.3]", "must hold probabilities by option"),
    ],
)
def test_a_cell_of_another_kind_is_told_with_its_row(column, cell, message):
    with pytest.raises(SourceError, match=message):
        found({column: cell})


def test_columns_are_found_by_name():
    assert signal_columns(["Token Logprobs", "samples", "answer"]) == {
        "logprobs": "Token Logprobs",
        "samples": "samples",
    }


def test_score_writes_the_signals_beside_the_confidence(tmp_path):
    path = tmp_path / "mine.jsonl"
    rows = [
        {"question": f"{i}?", "answer": "Lima", "gold": "Lima" if i % 2 else "Cusco", "confidence": 0.8}
        for i in range(4)
    ]
    path.write_text(
        "".join(json.dumps({**row, "logprobs": [-0.1 * (i + 1)]}) + "\n" for i, row in enumerate(rows))
    )
    ran = CliRunner().invoke(main, ["score", str(path), "--log-dir", str(tmp_path / "logs")])
    assert ran.exit_code == 0, ran.output
    assert "further signals" in ran.output
    assert "4 answers: 2 right, 2 wrong" in ran.output
    table = ct.metrics(tmp_path / "logs", measures=["accuracy"], n_resamples=20).set_index("condition")
    assert table.loc["sum_logprob", "value"] == table.loc["confidence", "value"] == 0.5


@pytest.mark.parametrize(
    ("column", "first", "is_probability"),
    [("samples", "agreement", True), ("logprobs", "mean_logprob", False)],
)
def test_a_table_without_confidences_has_the_measures_of_its_first_signal(
    column, first, is_probability, tmp_path
):
    cells = {"samples": ([["7", "7"], ["8", "9"], None]), "logprobs": ([[-0.1], [-2.0], None])}[column]
    rows = [
        {"id": f"q{i}", "answer": "7", "gold": gold, column: cell}
        for i, (gold, cell) in enumerate(zip(("7", "8", "7"), cells, strict=True))
    ]
    file, logs = tmp_path / "own.jsonl", tmp_path / "logs"
    file.write_text("\n".join(map(json.dumps, rows)))
    done = CliRunner().invoke(main, ["score", str(file), "--log-dir", str(logs)])
    assert done.exit_code == 0, done.output
    assert f"no column has confidences: the measures are those of {first}" in " ".join(done.output.split())
    assert ("a score is no probability" in done.output) != is_probability
    written = [json.loads(line) for line in (logs / "own_trials.jsonl").read_text().splitlines()]
    of_first = {row["question_id"]: row for row in written if row["condition"] == first}
    assert {name: row["status"] for name, row in of_first.items()} == {
        "q0": "ok",
        "q1": "ok",
        "q2": "missing_confidence",
    }
    assert "stated" not in {row["condition"] for row in written}

    # Of a score, the mean and the overconfidence were those of its value stretched to [0, 1].
    names = ["confidence", "overconfidence", "mratio"]
    every = ct.summary(logs, measures=names, n_resamples=20).to_frame()
    summarised = every[every["condition"] == first].set_index("measure")
    means = ct.metrics(logs, measures=["confidence"], n_resamples=20)
    assert summarised.loc["overconfidence", "reason"].endswith("a score is no probability") != is_probability
    for values in (summarised.loc[names[:2], "value"], means.loc[means["condition"] == first, "value"]):
        assert values.notna().all() == values.notna().any() == is_probability


def test_a_signal_is_there_where_no_confidence_is_stated(tmp_path):
    file, logs = tmp_path / "own.jsonl", tmp_path / "logs"
    rows = [
        {"id": "q0", "answer": "7", "gold": "7", "confidence": 0.9, "logprobs": [-0.1]},
        {"id": "q1", "answer": "7", "gold": "8", "logprobs": [-2.0]},
    ]
    file.write_text("\n".join(map(json.dumps, rows)))
    assert CliRunner().invoke(main, ["score", str(file), "--log-dir", str(logs)]).exit_code == 0
    written = [json.loads(line) for line in (logs / "own_trials.jsonl").read_text().splitlines()]
    assert [row["status"] for row in written if row["condition"] == "confidence"] == [
        "ok",
        "missing_confidence",
    ]
    assert {row["status"] for row in written if row["condition"] == "min_logprob"} == {"ok"}
