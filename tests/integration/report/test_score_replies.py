"""Replies that are there already: scored as the study scores them into logs like any other, or refused."""

import csv
import errno
import gzip
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner
from inspect_ai import eval
from inspect_ai.analysis import samples_df
from inspect_ai.log import EvalLog, read_eval_log
from tests.small_runs import SMALL_RUNS, arguments
from tests.stages.agreement import STUDY as AGREEMENT
from tests.stages.sureness import STUDY as SURENESS
from tests.trials import lifeeval_trial, question_set_trial
from tests.unit.studies.question_sets_replies import real_replies

from confidence_tasks import _registry
from confidence_tasks.catalogue import studies
from confidence_tasks.cli import main
from confidence_tasks.harness.compat import LogWriter
from confidence_tasks.harness.logged_trials import scored_trial
from confidence_tasks.logs.log_scores import logged_metrics
from confidence_tasks.logs.rescore import rescore
from confidence_tasks.report import collect
from confidence_tasks.report.reply_forms import known_form, reply_forms
from confidence_tasks.report.score_replies import score_replies
from confidence_tasks.sources import SourceError, load
from confidence_tasks.sources.generated import lifeeval_questions

RUNS = {
    "scales": "scale_granularity",
    "lifeeval": "lifeeval",
    "riskeval": "riskeval",
    "fermieval": "fermieval",
    "boolq": "boolq",
    "sciq": "sciq",
    "lsat_ar": "lsat_ar",
    "sat_en": "sat_en",
    "halueval": "halueval",
}
"""A task of each study that replies can be scored for."""

FIELDS = {"scales": (), "lifeeval": ("sex", "age", "radius"), "fermieval": ("split",), "halueval": ("given",)}
"""What a row must hold of a sample's metadata, beside the condition."""

KEYS = {"fermieval": "exponent"}
"""The field that holds the key, where that is not ``answer``."""

ROW = {"question": "Is it?", "answer": "yes", "kind": "boolean", "scale": "0-100"}
SCALES = {**ROW, "reply": "Answer: yes\nConfidence: 80"}
LIFE = {"question": "How old?", "sex": "male", "age": 40, "radius": 5, "reply": "80"}
FERMI = {"question": "How many?", "exponent": 5, "level": 0.9, "reply": '{"L": 4, "U": 6}'}


def rows_of(log: EvalLog, study: str) -> list[dict[str, Any]]:
    """What a user who kept the replies of a run would have."""
    return [
        {
            "id": meta["question_id"].removeprefix(f"{meta['source']}-"),
            **{name: meta[name] for name in ("question", "source", "kind", "subject", "level")},
            **({KEYS.get(study, "answer"): meta["gold"]} if meta["gold"] is not None else {}),
            **{name: meta[name] for name in ("choices", "aliases") if meta[name]},
            **{name: meta[name] for name in FIELDS.get(study, ())},
            **({"level": meta["condition"].removeprefix("p=")} if study == "fermieval" else {}),
            "condition": meta["condition"],
            "reply": sample.output.completion,
        }
        for sample in log.samples or []
        for meta in [sample.metadata]
    ]


def write(rows: list[Mapping[str, Any]], path: Path) -> Path:
    if path.suffix == ".jsonl":
        path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    elif path.suffix == ".parquet":
        pd.DataFrame(rows).to_parquet(path)
    else:
        names = list(dict.fromkeys(name for row in rows for name in row))
        with path.open("w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, names)
            table.writeheader()
            for row in rows:
                table.writerow({name: " | ".join(v) if isinstance(v, list) else v for name, v in row.items()})
    return path


def trials(log: EvalLog) -> list[dict[str, Any]]:
    return [
        scored_trial(score.value, score.metadata)
        for sample in log.samples or []
        for score in (sample.scores or {}).values()
    ]


@pytest.mark.slow
@pytest.mark.sampled("study", "suffix")
@pytest.mark.parametrize("study", reply_forms())
@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".parquet"])
def test_a_recorded_run_gives_the_trials_and_metrics_of_the_run(
    study: str, suffix: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    small = SMALL_RUNS[RUNS[study]]
    if small.needs_mirror:
        request.getfixturevalue("mirror")
    if suffix != ".jsonl" and study not in ("scales", "sciq"):
        pytest.skip("the form of the file does not depend on the study")
    log = run_of(study, tmp_path)
    path = write(rows_of(log, study), tmp_path / f"mine{suffix}")

    (scored,) = score_replies(path, study, log_dir=tmp_path / "logs")
    assert scored.eval.model == "recorded/mine"
    read = read_eval_log(scored.location)
    assert read.status == "success"
    assert repr(trials(read)) == repr(trials(log))
    # The run may have conditions, and a half to calibrate on, that no row is of.
    of_run = rescore(log.location).after
    assert logged_metrics(read) == pytest.approx(
        {name: of_run[name] for name in logged_metrics(read)}, nan_ok=True, rel=1e-12, abs=0
    )


def run_of(study: str, folder: Path) -> EvalLog:
    small = SMALL_RUNS[RUNS[study]]
    task = getattr(_registry, small.task)(**arguments(small, folder))
    (run,) = eval(task, model=f"simulated/{small.profile}", log_dir=str(folder), display="none")
    return read_eval_log(run.location)


def test_the_log_is_read_and_rescored_like_any_other(tmp_path: Path) -> None:
    rows = [{**SCALES, "question": f"Is it {i}?", "reply": f"Answer: yes\nConfidence: {i}"} for i in range(9)]
    (log,) = score_replies(write(rows, tmp_path / "mine.jsonl"), "scales", log_dir=tmp_path / "logs")
    (file,) = collect(tmp_path / "logs").files
    assert (file.study, file.model, len(file), file.lost) == ("scales", "recorded/mine", 9, 0)
    assert len(samples_df(log.location)) == 9
    found = rescore(log.location)
    assert (found.changed_metrics, found.changed_trials) == ([], 0)


def test_whole_numbers_may_be_written_with_a_point(tmp_path: Path) -> None:
    path = write([{**LIFE, "age": 40.0, "radius": "5.0"}], tmp_path / "mine.jsonl")
    (log,) = score_replies(path, "lifeeval", log_dir=tmp_path)
    assert [(sample.metadata["age"], sample.metadata["radius"]) for sample in log.samples or []] == [(40, 5)]


def test_each_model_gets_a_log_and_repeated_questions_are_epochs(tmp_path: Path) -> None:
    rows = [{**SCALES, "model": model} for model in ("lab/one", "two", "lab/one")]
    logs = score_replies(write(rows, tmp_path / "mine.jsonl"), "scales", log_dir=tmp_path)
    assert [(log.eval.model, [s.epoch for s in log.samples or []]) for log in logs] == [
        ("lab/one", [1, 2]),
        ("recorded/two", [1]),
    ]


@pytest.mark.parametrize(
    ("study", "rows"),
    [
        (
            "lifeeval",
            [{"sex": sex, "age": age, "radius": 5} for sex in ("male", "female") for age in (30, 60)],
        ),
        ("halueval", [{"given": "Rome", "answer": "no"}, {"given": "London", "answer": "yes"}]),
    ],
)
def test_what_a_text_leaves_out_tells_questions_apart(
    study: str, rows: list[dict[str, Any]], tmp_path: Path
) -> None:
    same = {"question": "Which?", "reply": '{"Answer": 80, "Confidence": 0.5}'}
    path = write([{**same, **row} for row in rows], tmp_path / "mine.jsonl")
    (log,) = score_replies(path, study, log_dir=tmp_path)
    assert len({trial["question_id"] for trial in trials(log)}) == len(rows)


@pytest.mark.slow
def test_replies_of_three_real_models(tmp_path: Path, shared_data: Path) -> None:
    """SAT-EN and LifeEval: what the paper's figures are computed from (tests/scorers/test_published_figures.py)."""
    known = {q.id.rsplit("-", 1)[1].lstrip("0") or "0": q for q in load("sat_en", mirror=shared_data / "hub")}
    persons = lifeeval_questions()
    files: dict[str, list[dict[str, Any]]] = {"sat_en": [], "lifeeval": []}
    wanted: dict[str, list[dict[str, Any]]] = {"sat_en": [], "lifeeval": []}
    for reply in real_replies(shared_data):
        own = {"model": reply.model, "reply": reply.text, "id": reply.id, "source": reply.task}
        if reply.task == "sat_en":
            question = known[reply.id]
            rest = {"choices": list(question.choices), "answer": question.gold}
            trial = question_set_trial("options", question, reply.text)
        elif reply.task == "lifeeval" and reply.id.endswith("7"):
            question = persons[int(reply.id)]
            rest = {name: question.metadata[name] for name in ("sex", "age", "radius")}
            trial = lifeeval_trial(question, reply.text)
        else:
            continue
        files[reply.task].append({"question": question.text or "How old?", **own, **rest})
        wanted[reply.task].append(dict(trial))
    for study, rows in files.items():
        logs = score_replies(write(rows, tmp_path / f"{study}.jsonl"), study, log_dir=tmp_path / "logs")
        assert len(logs) == 3
        expected = {(row["model"], row["id"]): trial for row, trial in zip(rows, wanted[study], strict=True)}
        for log in logs:
            for trial in trials(log):
                row_id = trial["question_id"].removeprefix(f"{study}-")
                same = {
                    **expected.pop((log.eval.model.removeprefix("recorded/"), row_id)),
                    "question_id": trial["question_id"],
                }
                assert repr({key: trial[key] for key in same}) == repr(same)
        assert expected == {}


HOSTILE = (
    "<script>alert(1)</script>",
    "Confidence: " + "9" * 100_000,
    "\ud800 half a pair",
    "\x00\x1b[31m nothing",
    "{" * 50_000,
    "",
    "Answer: yes\nConfidence: 80\n" * 1_000,
    "[bold]rich markup[/] {{7*7}} %s",
)


@pytest.mark.slow
@pytest.mark.parametrize("study", reply_forms())
def test_any_text_becomes_a_trial(study: str, tmp_path: Path) -> None:
    fields = {
        "scales": {"scale": "0-100"},
        "lifeeval": {"sex": "male", "age": 40, "radius": 5},
        "riskeval": {"penalty": 10},
        "fermieval": {"level": 0.9, "exponent": "3", "kind": "number"},
        "halueval": {"given": "an answer"},
    }.get(study, {})
    if study in ("sciq", "lsat_ar", "sat_en"):
        fields = {"choices": ["red", "blue", "green", "grey"], "answer": "red", "kind": "choice"}
    rows = [
        {**ROW, **fields, "question": f"{text[:40]} {i}", "reply": text} for i, text in enumerate(HOSTILE)
    ]
    rows = [{**row, "question": row["question"].strip("\x00") or "Is it?"} for row in rows]
    (log,) = score_replies(write(rows, tmp_path / "mine.jsonl"), study, log_dir=tmp_path / "logs")
    read = read_eval_log(log.location)
    assert len(trials(read)) == len(HOSTILE)
    assert all(sample.error is None for sample in read.samples or [])


@pytest.mark.parametrize(
    ("rows", "study", "said"),
    [
        (
            [{**ROW, "respones": "x"}],
            "scales",
            "line 1: reply missing; a row of scales needs question, reply, answer, scale",
        ),
        ([{**SCALES, "scale": None}], "scales", "line 1: scale missing"),
        ([SCALES, {**SCALES, "scale": "low"}], "scales", "line 2: unknown scale 'low'"),
        ([{**SCALES, "answer": "perhaps"}], "scales", "line 1: 'answer' 'perhaps' is not"),
        ([{**SCALES, "reply": 7}], "scales", "line 1: reply must be text"),
        ([{**SCALES, "reply": "x" * 1_000_001}], "scales", "line 1: reply has more than 1,000,000"),
        ([{**SCALES, "penalty": -1}], "riskeval", "line 1: penalty '-1' must be a number, 0 or above"),
        ([{**FERMI, "level": 2}], "fermieval", "line 1: level=2 is not a number from 0 to 1"),
        ([{**FERMI, "level": 1}], "fermieval", "line 1: level=1 must lie between 0 and 1"),
        ([{**FERMI, "level": True}], "fermieval", "line 1: level=True is not a number"),
        (
            [FERMI, {**{name: FERMI[name] for name in ("question", "level", "reply")}, "answer": 100}],
            "fermieval",
            "line 2: exponent missing; .*; exponent is the key, a power of ten: 3 for a truth of 1,000",
        ),
        (
            [{**FERMI, "exponent": 100_000}],
            "fermieval",
            "line 1: exponent=100000 is not a number from -100 to 100",
        ),
        ([{**FERMI, "exponent": 2.5}], "fermieval", "line 1: exponent='2.5' is not a whole number"),
        ([{**FERMI, "exponent": "10^5"}], "fermieval", "line 1: 'exponent' '10.5' is not a number"),
        (
            [SCALES, {name: text for name, text in SCALES.items() if name != "answer"}],
            "scales",
            "line 2: answer missing",
        ),
        ([LIFE, {**LIFE, "radius": 5.9}], "lifeeval", "line 2: radius='5.9' is not a whole number"),
        ([{**LIFE, "radius": True}], "lifeeval", "line 1: radius=True is not a number from 1 to 100"),
        ([{**LIFE, "age": "30.5"}], "lifeeval", "line 1: age='30.5' is not a whole number"),
        ([{**LIFE, "age": 120}], "lifeeval", "line 1: age=120 is not a number from 0 to 119"),
        (
            [{**SCALES, "gold": "no"}],
            "scales",
            "line 1: answer and gold are two names of the right answer, but differ",
        ),
        (
            [{"question": "Is it?", "answer": 1, "reply": "x"}],
            "boolq",
            "line 1: 'answer' '1' is not yes or no",
        ),
        ([{"question": "What?", "answer": "x", "reply": "x"}], "sciq", "'choices' and the kind 'choice' go"),
        (
            [{**SCALES, "id": "1"}, {**SCALES, "id": "1", "question": "Or not?"}],
            "scales",
            "rows with the id mine-1 differ in their question",
        ),
        ([SCALES, {**SCALES, "elicitation": "cot"}], "scales", "differ in their question, key or fields"),
        ([{**SCALES, "sex": "x", "age": 3, "radius": 5}], "lifeeval", "line 1: sex='x'"),
        ([[1, 2]], "scales", "line 1: not an object"),
        ([], "scales", "the file has no replies"),
    ],
)
def test_an_unsound_row_is_named_and_nothing_is_written(
    rows: list[Any], study: str, said: str, tmp_path: Path
) -> None:
    path = write(rows, tmp_path / "mine.jsonl")
    with pytest.raises(SourceError, match=said):
        score_replies(path, study, log_dir=tmp_path / "logs")
    assert not (tmp_path / "logs").exists()

    shown = CliRunner().invoke(
        main, ["score", str(path), "--study", study, "--log-dir", str(tmp_path / "logs")]
    )
    assert shown.exit_code == 1
    assert shown.output.startswith("Error: ")
    assert "Traceback" not in shown.output


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("mine.jsonl", b'{"question": ', "line 1: not JSON"),
        ("mine.jsonl", b"[" * 100_000, "line 1: not JSON"),
        ("mine.jsonl", b"\xff\xfe\x00", "cannot be read"),
        ("mine.csv", b'question,reply\n"a,b\n', "not CSV"),
        ("mine.csv", b"question,reply,scale\na,b,0-100,d\n", "line 2: more cells than columns"),
        ("mine.parquet", b"PAR1 no", "not Parquet"),
        ("mine.txt", b"", "no rows"),
        ("mine.csv.gz", b"\x1f\x8b no", "cannot be read"),
        ("mine.tsv", b"question\treply\na\tb\n", "row 1: answer, scale missing; a row of scales needs"),
    ],
)
def test_a_broken_file_is_refused(name: str, content: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(SourceError, match=said):
        score_replies(path, "scales", log_dir=tmp_path)


TABLE = [
    ("question", "gold", "choices", "message"),
    ("Perú?", "Lima", "Lima|Cusco", "Answer: A\nConfidence: 18"),
]


def table(separator: str) -> str:
    """Return the table as text with a separator; the reply has a line break."""
    return "".join(separator.join(f'"{cell}"' for cell in row) + "\r\n" for row in TABLE)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("mine.csv", table(";").encode("utf-8-sig")),
        ("mine.csv", table(";").encode("utf-16")),
        ("mine.csv", table(",").encode("latin-1")),
        ("mine.tsv", table("\t").encode()),
        ("mine.csv.gz", gzip.compress(table(",").encode())),
        ("mine.json", json.dumps({"n": 1, "data": [dict(zip(*TABLE, strict=True))]}).encode()),
    ],
)
def test_any_table_is_read_for_a_study_and_columns_are_renamed(
    name: str, content: bytes, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    arguments: Any = {"fields": {"scale": "0-20"}, "log_dir": tmp_path / "logs"}
    (header,) = score_replies(path, "scales", rename={"message": "reply"}, **arguments)
    (trial,) = collect(header.location).frame().to_dict("records")
    assert (trial["model"], trial["correct"], trial["confidence"]) == ("recorded/mine", 1.0, 0.9)
    with pytest.raises(
        SourceError, match=r"no column 'massage' to rename; there are .*; did you mean 'message'"
    ):
        score_replies(path, "scales", rename={"massage": "reply"}, **arguments)


def test_without_room_for_the_second_log_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        {"question": "6 x 7?", "answer": "42", "scale": "0-100", "reply": "Answer: 42", "model": name}
        for name in ("a", "b")
    ]
    finish = LogWriter.finish

    async def fill(writer: LogWriter, header: EvalLog) -> EvalLog:
        if header.eval.model.endswith("b"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return await finish(writer, header)

    monkeypatch.setattr(LogWriter, "finish", fill)
    arguments = [write(rows, tmp_path / "mine.jsonl"), "--study", "scales", "--log-dir", tmp_path / "logs"]
    shown = CliRunner().invoke(main, ["score", *map(str, arguments)])
    assert shown.exit_code == 1
    assert "the log cannot be written (No space left on device)" in " ".join(shown.output.split())
    assert list((tmp_path / "logs").iterdir()) == []


def test_sizes_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write([SCALES] * 3, tmp_path / "mine.jsonl")
    monkeypatch.setattr("confidence_tasks.own_replies.rows.MAX_REPLIES", 2)
    with pytest.raises(SourceError, match="line 3: more than 2 replies"):
        score_replies(path, "scales", log_dir=tmp_path)
    monkeypatch.setattr("confidence_tasks.own_replies.rows.MAX_BYTES", 10)
    with pytest.raises(SourceError, match="larger than"):
        score_replies(path, "scales", log_dir=tmp_path)


def test_the_command_prints_metrics_and_the_log(tmp_path: Path) -> None:
    path = write([SCALES] * 2, tmp_path / "mine.jsonl")
    arguments = [
        "score",
        str(path),
        "--study",
        "scales",
        "--model-name",
        "lab/it",
        "--log-dir",
        str(tmp_path),
    ]
    shown = CliRunner().invoke(main, arguments)
    assert shown.exit_code == 0, shown.output
    assert "lab/it: 2 replies" in shown.stdout
    assert shown.stdout.rstrip().endswith(".eval")
    (told,) = json.loads(CliRunner().invoke(main, [*arguments, "--json"]).stdout)
    assert (told["model"], told["replies"], told["metrics"]["accuracy/0-100"]) == ("lab/it", 2, 1.0)
    assert CliRunner().invoke(main, ["score", str(path), "--study", "nope"]).exit_code == 2


def test_json_tells_an_infinite_number_from_a_missing_one(tmp_path: Path) -> None:
    # Two questions to learn from are too few for the 90% quantile that conformal intervals need.
    halves = ("calibration", "test") * 2
    rows = [{**FERMI, "id": str(i), "split": half} for i, half in enumerate(halves)]
    path, logs = write(rows, tmp_path / "mine.jsonl"), str(tmp_path / "logs")
    scored = ["score", str(path), "--study", "fermieval", "--log-dir", logs, "--json"]
    (told,) = json.loads(CliRunner().invoke(main, scored).stdout)
    assert told["metrics"]["conformal_width/p=0.9"] == "Infinity"
    reported = ["report", logs, "-o", str(tmp_path / "r.html"), "--resamples", "9", "--json"]
    estimates = json.loads(CliRunner().invoke(main, reported).stdout)["estimates"]
    (width,) = (row for row in estimates if row["measure"] == "conformal_width")
    assert (float(width["value"]), width["low"]) == (float("inf"), None)


def test_fields_of_every_row_can_be_given_at_once(tmp_path: Path) -> None:
    """The paper's rule for FermiEval: golds and both ends within 100, what is dropped counted."""
    said = [(5, 4, 6), (5, 7, 9), (100, -100, 100), (14_889, 3, 9), (5, 2, 101), (-101, 3, 9)]
    rows = [
        {"question": f"How many {i}?", "exponent": truth, "reply": f'Some.\n{{"L": {lower}, "U": {upper}}}'}
        for i, (truth, lower, upper) in enumerate(said)
    ]
    path = write(rows, tmp_path / "mine.jsonl")
    scored = ["score", str(path), "--study", "fermieval", "--log-dir", str(tmp_path / "logs"), "--json"]
    fields = ["--field", "level=0.99", "--field", "max_exponent=100"]
    (told,) = json.loads(CliRunner().invoke(main, [*scored, *fields]).stdout)
    assert told["metrics"]["winkler/p=0.99"] == pytest.approx((2 + 402 + 200) / 3)
    assert told["metrics"]["n_excluded/p=0.99"] == 3
    refused = CliRunner().invoke(main, [*scored, "--field", "level=0.99"])
    assert "line 4: exponent=14889 is not a number from -100 to 100; max_exponent leaves" in refused.output
    unknown = CliRunner().invoke(main, [*scored, *fields, "--field", "max_exponnent=100"])
    assert (unknown.exit_code, "reads no field max_exponnent" in unknown.output) == (1, True)
    assert CliRunner().invoke(main, [*scored, "--field", "level"]).exit_code == 2
    given = write([{**rows[0], "level": 0.9}, rows[1]], tmp_path / "mixed.jsonl")
    (told,) = json.loads(CliRunner().invoke(main, [scored[0], str(given), *scored[2:], *fields]).stdout)
    scores = [told["metrics"][f"winkler/{level}"] for level in ("p=0.9", "p=0.99")]
    assert scores == pytest.approx([2, 402])


def test_a_row_may_say_why_its_reply_ended(tmp_path: Path) -> None:
    row = {"question": "Is 3 + 4 equal to 7?", "answer": "yes", "kind": "boolean"}
    reply = '{"Answer": "True", "Confidence": 0.9}'
    rows = [
        {**row, "id": "cut", "reply": reply[:30], "finish_reason": "length"},
        {**row, "id": "whole", "reply": reply, "finish_reason": "length"},
        {**row, "id": "filtered", "reply": reply, "finish_reason": "content_filter"},
        {**row, "id": "ended", "reply": reply, "finish_reason": "stop"},
        {**row, "id": "unknown", "reply": reply},
    ]
    path = tmp_path / "replies.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    (log,) = score_replies(path, "boolq", log_dir=tmp_path / "logs")
    samples = read_eval_log(log.location).samples or []
    found = {
        str(sample.id).removeprefix("replies-").partition("/")[0]: scored_trial(score.value, score.metadata)[
            "status"
        ]
        for sample in samples
        for score in (sample.scores or {}).values()
    }
    assert found == {
        "cut": "truncated",
        "whole": "ok",
        "filtered": "filtered",
        "ended": "ok",
        "unknown": "ok",
    }


@pytest.mark.parametrize(
    ("study", "needed"),
    [
        ("sureness", "a trial has the calls answer, confidence, and a row has one reply"),
        ("agreement", r"a trial has the calls answer, samples \(4 times\), and a row has one reply"),
        ("fermieval_sampling", "a trial belongs to several samples of its question"),
        ("fermieval_logprob", "a trial needs token probabilities"),
    ],
)
def test_a_study_that_needs_more_than_a_reply_is_refused_with_what_to_declare(
    monkeypatch: pytest.MonkeyPatch, study: str, needed: str
) -> None:
    every = (*studies(), SURENESS, AGREEMENT)
    monkeypatch.setattr("confidence_tasks.report.reply_forms.studies", lambda: every)
    written = rf"StudyReport\(reply_forms={{'{study}': ReplyForm\(\.\.\.\)}}\) in the study's report\.py"
    with pytest.raises(
        ValueError, match=f"study {study} cannot score .* because {needed}. Leave out .*{written}"
    ):
        known_form(study)


def test_the_command_says_what_a_study_needs_before_it_reads_a_row(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    path.write_text("not read", encoding="utf-8")
    done = CliRunner().invoke(main, ["score", str(path), "--study", "fermieval_sampling"])
    assert done.exit_code == 2
    assert "a trial belongs to several samples" in " ".join(done.output.replace("│", " ").split())
