"""Answers that people already have, scored without a study."""

import json
import math
import random
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner
from inspect_ai.model import ModelOutput, ModelUsage, get_model

from confidence_tasks import compare, metrics, summary
from confidence_tasks.cli import main
from confidence_tasks.harness.inspect import judging
from confidence_tasks.own_replies.shapes import unread_sentences
from confidence_tasks.own_replies.trials import Options, read_own_replies
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.given import read_tasks
from confidence_tasks.report.results import compute_results
from confidence_tasks.sources import SourceError
from confidence_tasks.statistics.calibration import convention_errors
from confidence_tasks.studies.benchmark.report import conventions


def written(tmp_path, rows, name="mine.csv"):
    path = tmp_path / name
    if name.endswith(".csv"):
        pd.DataFrame(rows).to_csv(path, index=False)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def run(*arguments):
    return CliRunner().invoke(main, ["score", *map(str, arguments)])


def tian_rows(n: int):
    """Return replies in the usual forms of Tian et al. with a stated probability, and what they state."""
    rng = random.Random(0)
    forms = (
        "Guess: {a}\nProbability: {p}",
        "Guess: {a}\n\nProbability: {p}",
        "**Guess:** {a}\n**Probability:** {p}",
        "{a}\nProbability: {p}",
        "{a}\n{p}",
        "Guess: {a}.\nProbability: {p} (quite sure)",
        "G1: {a}\nP1: {p}",
    )
    for i in range(n):
        p = round(rng.random(), 2)
        answer = rng.choice(["Lima", "Cusco", "Quito"])
        yield (
            {"id": f"q{i}", "question": f"{i}?", "gold": "Lima"}
            | {"response": rng.choice(forms).format(a=answer, p=rng.choice([f"{p}", f"{p:.2f}"]))},
            p,
            answer,
        )


def test_a_file_in_the_format_of_tian_et_al_is_read_without_a_setting(tmp_path) -> None:
    rows, stated, answers = zip(*tian_rows(2000), strict=True)
    for preset in ("auto", "tian"):
        own = read_own_replies(written(tmp_path, rows), Options(preset=preset))
        read = [trial["probability"] for trial in own.trials]
        n_read = sum(
            value == pytest.approx(p) for value, p in zip(read, stated, strict=True) if value is not None
        )
        assert n_read == len(rows)
        assert [trial["correct"] for trial in own.trials] == [float(answer == "Lima") for answer in answers]


def test_the_verdicts_of_the_authors_win_and_give_their_accuracy(tmp_path) -> None:
    rng = random.Random(1)
    grades = [rng.choice(["CORRECT", "INCORRECT", "NOT_ATTEMPTED"]) for _ in range(997)]
    rows = [
        {
            "question": f"{i}?",
            "answer": "Lima",
            "reply": "It may be Cusco, or not.\nConfidence: 80%",
            "grade": grade,
        }
        for i, grade in enumerate(grades)
    ]
    own = read_own_replies(written(tmp_path, rows), Options())
    right, wrong = grades.count("CORRECT"), grades.count("INCORRECT")

    assert own.outcomes == {"right": right, "wrong": wrong, "abstained": grades.count("NOT_ATTEMPTED")}
    known = [trial["correct"] for trial in own.trials if trial["correct"] is not None]
    assert sum(known) / len(known) == right / (right + wrong)
    assert {trial["verdict"] for trial in own.trials} == {"column grade"}
    assert any("equality against them" in note for note in own.notes)


@pytest.mark.parametrize(
    ("values", "right"),
    [
        (["True", "False"], [1, 0]),
        (["yes", "no"], [1, 0]),
        ([1, 0], [1, 0]),
        (["CORRECT", "INCORRECT"], [1, 0]),
        (["A", "B"], [1, 0]),
        (["C", "I"], [1, 0]),
    ],
)
def test_verdicts_in_usual_words(tmp_path, values, right) -> None:
    rows = [{"confidence": 0.5, "verdict": value} for value in values]
    own = read_own_replies(written(tmp_path, rows), Options())
    assert [trial["correct"] for trial in own.trials] == right


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        ([{"confidence": 0.5, "correct": 0.3}], {}, "or a bound such as --correct 'correct>=0.5'"),
        ([{"p1": 1, "p2": 2}], {}, "no column has replies or confidences"),
        ([{"confidence": 0.5}], {}, "name the key with --gold, or your verdicts with --correct"),
        ([{"confidence": c, "correct": 1} for c in (0.5, 0.7, 80, 90)], {}, "fractions beside percentages"),
        ([{"confidence": c, "correct": 1} for c in (1, 3, 5)], {}, "give their scale, such as --scale 1-5"),
        ([{"confidence": c, "correct": 1} for c in (-3.1, -0.2)], {}, "--kind score"),
        ([{"confidence": c, "correct": 1} for c in (-0.5, 1.0)], {}, "--scale -1-1"),
        ([{"confidence": c, "correct": 1} for c in ("high", "very low")], {}, "--scale levels"),
        (
            [{"confidence": c, "correct": 1} for c in ("so so", "quite")],
            {},
            "the words in order.*'so so', 'quite'",
        ),
        *(
            (
                [{"reply": f"x\nConfidence: {c}", "gold": "x"} for c in scale],
                {},
                f"numbers up to {scale[-1]} without",
            )
            for scale in ((1, 2, 3, 4, 5), (0, 7, 10), (4, "unknown", 5))
        ),
        (
            [{"reply": f"x\nConfidence: {c}", "gold": "x"} for c in ("0.8", "90", "0.7", "85")],
            {},
            "2 replies state fractions and 2 percentages without a sign",
        ),
        ([{"Correct": 1, "correct": 0, "confidence": 0.5}], {}, "could be the column of correct"),
        ([{"confidence": 0.5, "correct": 1}], {"columns": {"gold": "godl"}}, "there is no column 'godl'"),
        ([{"confidence": "very", "correct": 1}], {}, "no value of the column confidence can be read"),
    ],
)
def test_what_could_be_two_things_is_refused_with_the_fix(tmp_path, rows, options, message) -> None:
    with pytest.raises(SourceError, match=message):
        read_own_replies(written(tmp_path, rows, "mine.jsonl"), Options(**options))


@pytest.mark.parametrize(
    ("stated", "read"),
    [
        (("0.9", "1", "0"), (0.9, 1.0, 0.0)),
        (("0", "1", "1"), (0.0, 1.0, 1.0)),
        (("90", "1", "70"), (0.9, 0.01, 0.7)),
        (("90%", "0.8", "70 %"), (0.9, 0.8, 0.7)),
        (("1/5", "4/5", "8 out of 10"), (0.2, 0.8, 0.8)),
    ],
)
def test_a_bare_one_has_the_unit_of_the_other_replies(tmp_path, stated, read) -> None:
    rows = [{"reply": f"Answer: Lima\nConfidence: {each}", "gold": "Lima"} for each in stated]
    own = read_own_replies(written(tmp_path, rows, "mine.jsonl"), Options())
    assert [trial["probability"] for trial in own.trials] == pytest.approx(read)


def test_replies_in_many_languages_and_layouts(tmp_path) -> None:
    replies = (
        ("Guess: Lima | Probability: 0.9", 0.9),
        ("Guess: Lima - Probability: 0.9", 0.9),
        ("My guess is Lima.\nProbability that it is right: 0.8", 0.8),
        ("Answer: Lima\nP(correct) = 0.75", 0.75),
        ("Vermutung: Lima\nWahrscheinlichkeit: 0,9", 0.9),
        ("Conjetura: Lima\nProbabilidad: 0,85", 0.85),
        ("Réponse : Lima\nProbabilité : 0,8", 0.8),
        ("猜测：Lima\n概率：0.8", 0.8),
        ("Odhad: Lima\nPravděpodobnost: 0,7", 0.7),
        ("回答：Lima\n確率：0.6", 0.6),
        ("Ответ: Lima\nВероятность: 0,9", 0.9),
        ("Palpite: Lima\nProbabilidade: 0,4", 0.4),
    )
    rows = [{"response": reply, "gold": "Lima"} for reply, _ in replies]
    for preset in ("auto", "probability"):
        own = read_own_replies(written(tmp_path, rows, "mine.jsonl"), Options(preset=preset))
        assert [trial["probability"] for trial in own.trials] == pytest.approx([p for _, p in replies])
        assert [trial["answer"] for trial in own.trials] == ["Lima"] * len(replies)
        assert own.outcomes == {"right": len(replies)}


def test_a_second_column_that_could_be_meant_is_named(tmp_path) -> None:
    rows = [{"confidence": 0.5, "probability": 0.7, "correct": 1, "is_correct": 0}]
    own = read_own_replies(written(tmp_path, rows), Options())
    assert own.notes[1:3] == [
        "is_correct is not used; it could be the column of correct, too: --correct is_correct",
        "probability is not used; it could be the column of confidence, too: --confidence probability",
    ]
    named = Options(columns={"correct": "is_correct", "confidence": "probability"})
    assert not any("not used" in note for note in read_own_replies(written(tmp_path, rows), named).notes)


def test_a_stated_scale_settles_what_the_numbers_leave_open(tmp_path) -> None:
    rows = [{"confidence": c, "correct": 1} for c in (0.5, 80, 100)]
    own = read_own_replies(written(tmp_path, rows), Options(scale="0-100"))
    assert [trial["probability"] for trial in own.trials] == pytest.approx([0.005, 0.8, 1.0])
    likert = [{"confidence": c, "correct": 1} for c in (1, 3, 5)]
    own = read_own_replies(written(tmp_path, likert), Options(scale="1-5"))
    assert [trial["probability"] for trial in own.trials] == [0.0, 0.5, 1.0]


def test_columns_are_found_by_content_and_by_what_the_user_names(tmp_path) -> None:
    rows = [
        {"frage": "?", "said": f"{a}\nConfidence: {p}%", "ok": ok}
        for a, p, ok in (("Lima", 90, "yes"), ("Cusco", 20, "no"), ("Lima", 80, "yes"))
    ]
    own = read_own_replies(written(tmp_path, rows), Options())
    assert own.columns.sentence() == "reply = said (by content), correct = ok (by content)"
    own = read_own_replies(written(tmp_path, rows), Options(columns={"question": "frage"}))
    assert own.columns.how["question"] == "named by you"
    assert len({trial["question_id"] for trial in own.trials}) == 1
    assert [trial["epoch"] for trial in own.trials] == [1, 2, 3]


def test_an_abstention_is_no_wrong_answer_and_a_right_answer_no_abstention(tmp_path) -> None:
    replies = ["The passage does not mention it.", "Nevím.", "<UNKNOWN>", "Answer: Na\nConfidence: 90%", "K"]
    rows = [{"question": "Symbol of sodium?", "answer": "Na", "reply": reply} for reply in replies]
    own = read_own_replies(written(tmp_path, rows), Options())
    assert [trial["status"] for trial in own.trials] == ["refused"] * 3 + ["ok", "missing_confidence"]
    assert own.outcomes == {"abstained": 3, "right": 1, "wrong": 1}


def test_a_reply_that_declines_and_has_the_key_is_neither_right_wrong_nor_an_abstention(tmp_path) -> None:
    replies = ("The passage does not mention Lima.", "The passage does not mention it.", "Cusco")
    rows = [{"question": f"{i}?", "gold": "Lima", "reply": reply} for i, reply in enumerate(replies)]
    outcomes = read_own_replies(written(tmp_path, rows), Options()).outcomes
    assert outcomes == {"unread": 1, "abstained": 1, "wrong": 1}


@pytest.mark.parametrize(("grader", "right"), [("equality", 1), ("contains", 2), ("fuzzy", 2)])
def test_graders_and_their_notice(tmp_path, grader, right) -> None:
    replies = ["Answer: Jane Austen", "Answer: It was Jane Austen, in 1815", "Answer: Jane Austin"]
    rows = [
        {"question": "Who?", "gold": "Jane Austen", "reply": f"{reply}\nConfidence: 80%"} for reply in replies
    ]
    own = read_own_replies(written(tmp_path, rows), Options(grader=grader))
    assert own.outcomes["right"] == right
    assert any("3 answers are compared with the key" in note for note in own.notes)


@pytest.mark.parametrize(
    "answer",
    [
        r"\boxed{Lima}",
        r"Answer: \boxed{Lima}",
        r"$\boxed{\text{Lima}}$",
        "<answer>Lima</answer>",
        "I think it's Lima.",
        "**Lima**",
    ],
)
def test_the_marks_around_an_answer_are_not_compared_with_the_key(tmp_path, answer) -> None:
    """They were part of the answer, which was graded as wrong."""
    row = {"question": "Capital?", "gold": "Lima", "reply": f"{answer}\nConfidence: 90"}
    own = read_own_replies(written(tmp_path, [row]), Options(preset="percent"))
    assert own.outcomes == {"right": 1}
    assert own.trials[0]["confidence"] == 0.9


@pytest.mark.parametrize(
    "reply",
    [
        "Answer: Lima, 90%",
        "Answer: Lima (90%)",
        "**Answer:** Lima [90%]",
        "Lima - 90%",
        "Lima (90%)",
        "Lima, 90%",
    ],
)
def test_a_percentage_behind_an_answer_is_no_part_of_it(tmp_path, reply) -> None:
    own = read_own_replies(
        written(tmp_path, [{"question": "Capital?", "gold": "Lima", "reply": reply}]), Options()
    )
    assert own.outcomes == {"right": 1}
    assert own.trials[0]["confidence"] == 0.9


def test_a_percentage_at_the_end_of_prose_is_no_confidence(tmp_path) -> None:
    row = {"question": "Capital?", "gold": "Lima", "reply": "It is a city.\nMost people live in Lima (90%)."}
    assert read_own_replies(written(tmp_path, [row]), Options()).trials[0]["confidence"] is None


def test_a_long_answer_is_kept_whole(tmp_path) -> None:
    row = {"gold": "Lima", "answer": f"I think {'very ' * 300}Lima.", "confidence": "90%"}
    own = read_own_replies(written(tmp_path, [row]), Options(grader="contains"))
    assert own.outcomes == {"right": 1}


def test_a_judge_sees_what_does_not_equal_the_key(tmp_path) -> None:
    seen = []

    def judge(pairs):
        seen.extend(text for _, text in pairs)
        return [1.0, math.nan]

    replies = ["Answer: Lima", "Answer: The city of Lima", "Answer: Whatever", "I don't know."]
    rows = [{"question": "Capital?", "gold": "Lima", "reply": reply} for reply in replies]
    own = read_own_replies(written(tmp_path, rows), Options(grader="judge"), judge)
    assert seen == ["The city of Lima", "Whatever"]
    assert own.outcomes == {"right": 2, "unread": 1, "abstained": 1}


def test_a_model_of_inspect_is_the_judge(tmp_path, monkeypatch) -> None:
    prompts = []

    def reply(messages, *_):
        prompts.append(messages[-1].text)
        output = ModelOutput.from_content("mockllm/model", "RIGHT")
        output.usage = ModelUsage()
        return output

    model = get_model("mockllm/model", custom_outputs=reply, memoize=False)
    monkeypatch.setattr(judging, "get_model", lambda name: model)
    rows = [{"question": "Capital?", "gold": "Lima", "reply": "Answer: It is Lima </answer> NONE"}] * 2
    settings = ["--judge", "mockllm/model", "--log-dir", tmp_path / "logs", "--json"]
    result = run(written(tmp_path, rows), *settings)

    assert result.exit_code == 0, result.output
    assert json.loads(result.output)["outcomes"] == {"right": 2}
    assert len(prompts) == 1
    assert prompts[0].count("</answer>") == 1


@pytest.mark.parametrize(("text", "why"), [("I cannot say", "I cannot say"), ("", "the last one was empty")])
def test_a_judge_without_a_verdict_is_not_asked_for_all(text, why, tmp_path, monkeypatch) -> None:
    prompts = []

    def reply(messages, *_):
        prompts.append(messages[-1].text)
        output = ModelOutput.from_content("mockllm/model", text)
        output.usage = ModelUsage()
        return output

    model = get_model("mockllm/model", custom_outputs=reply, memoize=False)
    monkeypatch.setattr(judging, "get_model", lambda name: model)
    rows = [
        {"question": f"Capital {i}?", "gold": "Lima", "reply": "Answer: The city of Lima"} for i in range(40)
    ]
    result = run(written(tmp_path, rows), "--judge", "mockllm/model", "--log-dir", tmp_path / "logs")

    assert result.exit_code
    assert "none of the first 10 replies of mockllm/model is a verdict" in result.output
    assert why in result.output
    assert "Choose another model with --judge" in result.output
    assert 10 <= len(prompts) <= 10 + judging.AT_ONCE


def test_choices_numbers_and_booleans_are_read_as_such(tmp_path) -> None:
    rows = [
        {
            "question": "?",
            "choices": ["Lima", "Cusco"],
            "gold": "A",
            "reply": "Answer: (A) Lima\nConfidence: 90%",
        },
        {"question": "1+1?", "gold": "2", "reply": "Answer: 2.0\nConfidence: 90%"},
        {"question": "Whale?", "gold": "no", "reply": "Answer: No.\nConfidence: 90%"},
        {"question": "Who?", "gold": ["Ann", "Anna"], "reply": "Answer: Anna\nConfidence: 90%"},
    ]
    own = read_own_replies(written(tmp_path, rows, "mine.jsonl"), Options())
    assert own.outcomes == {"right": 4}
    assert any("In free text" in note for note in own.notes)
    of_letters = read_own_replies(written(tmp_path, rows[:3], "mine.jsonl"), Options()).notes
    assert of_letters[-1] == "3 answers are compared with the key and its aliases by equality"


def test_a_bound_makes_verdicts_of_a_metric(tmp_path) -> None:
    path = written(tmp_path, [{"f1": f1, "confidence": 0.5} for f1 in (0.2, 0.5, 1.0)])
    result = run(path, "--correct", "f1>=0.5", "--log-dir", tmp_path / "logs", "--json")
    assert json.loads(result.output)["outcomes"] == {"wrong": 1, "right": 2}


@pytest.mark.slow
def test_reports_comparisons_and_summaries_read_the_trials(tmp_path) -> None:
    rng = random.Random(3)
    for model, shift in (("a", 0.0), ("b", 0.2)):
        rows = [
            {"id": i, "model": model, "confidence": c, "correct": int(rng.random() < c - shift)}
            for i, c in enumerate(rng.choice([0.6, 0.8, 0.95]) for _ in range(200))
        ]
        path = written(tmp_path, rows, f"{model}.csv")
        result = run(path, "--log-dir", tmp_path / model, "--conventions", "--task", "mine")
        assert result.exit_code == 0, result.output
        assert "torchmetrics_l2" in result.output
    trials = [tmp_path / model / f"{model}_trials.jsonl" for model in "ab"]
    frame = pd.read_json(trials[0], lines=True)
    of_logs = summary(trials[0], measures=["ece"], n_resamples=200).to_frame()
    of_columns = summary(frame, measures=["ece"], n_resamples=200).to_frame()
    assert of_logs["value"].tolist() == pytest.approx(of_columns["value"].tolist())
    table = metrics(trials[0], measures=["accuracy"], n_resamples=200)
    assert table["study"].tolist() == ["benchmark"]
    assert table["value"].tolist() == pytest.approx([frame["correct"].mean()])
    assert (
        len(compare(tmp_path / "a", tmp_path / "b", measures=["accuracy"], n_resamples=200).to_frame()) <= 1
    )


@pytest.mark.slow
def test_the_report_has_the_calibration_error_as_other_programs_compute_it(tmp_path) -> None:
    rng = random.Random(4)
    rows = [
        {"id": i // 2, "confidence": c, "correct": int(rng.random() < c)}
        for i, c in enumerate(rng.choice([0.0, 0.6, 0.8, 1.0]) for _ in range(120))
    ]
    result = run(written(tmp_path, rows), "--log-dir", tmp_path / "logs")
    assert result.exit_code == 0, result.output
    tables = []
    for remove in ((), ("verdict",)):
        frame = pd.read_json(tmp_path / "logs" / "mine_trials.jsonl", lines=True).drop(columns=list(remove))
        frame.to_json(tmp_path / "trials.jsonl", orient="records", lines=True)
        (results,) = compute_results(read_tasks(tmp_path / "trials.jsonl"), Settings(50, 0.95, 0))
        tables.append(conventions(results).frame)
    of_own, of_others = tables
    expected = convention_errors(frame["correct"], frame["confidence"], questions=frame["question_id"])
    assert of_own["convention"].tolist() == [row.convention for row in expected]
    for column, name in (("calibration error", "value"), ("calibration error low", "low")):
        assert of_own[column].tolist() == pytest.approx([getattr(row, name) for row in expected], nan_ok=True)
    assert of_others.empty


def test_scores_of_any_range_rank_answers(tmp_path) -> None:
    rows = [
        {"entropy": e, "correct": c} for e, c in ((7.0, 0), (3.5, 1), (0.1, 1), (5.0, 0), (1.0, 1), (2.0, 0))
    ]
    path = written(tmp_path, rows)
    settings = ["--confidence", "entropy", "--kind", "uncertainty", "--log-dir", tmp_path / "logs", "--json"]
    result = run(path, *settings)
    assert result.exit_code == 0, result.output
    values = {row["measure"]: row["value"] for row in json.loads(result.output)["metrics"]}
    assert values["auroc"] == pytest.approx(8 / 9)
    assert values["ece"] is None


def test_the_shapes_of_unread_replies_are_counted_with_what_would_read_them() -> None:
    replies = [f"Lima\nUncertainty score: {i}" for i in range(2, 32)] + ["\x1b[31mno idea\x1b[0m"]
    first, *others = unread_sentences(replies)
    assert first.startswith("30 × Uncertainty score: 9    such as: Lima\\nUncertainty score: 2")
    assert not any("\x1b" in sentence for sentence in others)
    assert others[-1] == "--direction uncertainty --scale 0-100 would read 30 of 31"


def test_options_of_files_without_a_study_are_refused_beside_one(tmp_path) -> None:
    path = written(tmp_path, [{"confidence": 0.5, "correct": 1}])
    assert "--kind is for files without --study" in run(path, "--study", "scales", "--kind", "score").output
    assert "add --study or --kind interval" in run(path, "--field", "level=0.9").output
    assert "cannot be read: write two numbers" in run(path, "--scale", "much").output


def test_a_folder_is_scored_and_names_what_it_leaves_out(tmp_path) -> None:
    folder = tmp_path / "mine"
    (folder / "sub").mkdir(parents=True)
    rows = [{"p": 0.8, "right": i % 2} for i in range(4)]
    for name in ("a.csv", "sub/a.csv", "b.tsv"):
        written(folder, rows, "rows.csv").rename(folder / name)
    (folder / "b.tsv").write_text(pd.DataFrame(rows).to_csv(index=False, sep="\t"))
    (folder / "c.csv").write_text("x,y\n1,2\n")
    (folder / "notes.md").write_text("Mine.")
    (folder / ".hidden.csv").write_text("x\n1\n")
    (folder / "log.eval").write_bytes(b"")
    renamed = ("--rename", "p=confidence", "--rename", "right=correct")
    result = run(folder, *renamed, "--log-dir", folder / "logs", "--json")

    record = json.loads(result.output)
    assert {name: Path(each["trials"]).name for name, each in record["files"].items()} == {
        "a.csv": "a_csv_trials.jsonl",
        "b.tsv": "b_trials.jsonl",
        "sub/a.csv": "sub_a_csv_trials.jsonl",
    }
    assert record["left_out"].keys() == {"c.csv", "notes.md", "log.eval"}
    assert "there is no column 'p' to rename" in record["left_out"]["c.csv"]
    models = {json.loads(path.read_text().split("\n")[0])["model"] for path in (folder / "logs").iterdir()}
    assert models == {"a_csv", "sub_a_csv", "b"}
    again = run(folder, *renamed, "--log-dir", folder / "logs")
    assert "left out: log.eval: a log of Inspect, which report reads" in again.output
    (tmp_path / "empty").mkdir()
    assert "no file can be scored, as there is none" in run(tmp_path / "empty").output
