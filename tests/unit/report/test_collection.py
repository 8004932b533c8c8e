"""What is read, and what is skipped with a reason: logs, samples and tables, sound and broken, local and remote."""

import json
import re
import zipfile
from pathlib import Path

import fsspec
import pandas as pd
import pytest
from click.testing import CliRunner
from inspect_ai import Task, eval_retry
from inspect_ai import eval as inspect_eval
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.scorer import match
from tests.trials import fermieval_trial, scale_trial
from tests.unit.report.runs import rows, undrawn_report, write

from confidence_tasks import riskeval
from confidence_tasks.cli import main
from confidence_tasks.harness.inspect.simulated import SimulatedSubject
from confidence_tasks.logs.task_trials import group_by_task
from confidence_tasks.reading.integer_scale import Scale
from confidence_tasks.report import collect, trials
from confidence_tasks.report.commands.report import report as command
from confidence_tasks.report.estimates.settings import Settings
from confidence_tasks.report.estimates.two_models import compare_models
from confidence_tasks.sources import Question

FEW = Settings(n_resamples=20)


def run(*paths, folder):
    """The command's exit code, the page, if there is one, and what it printed."""
    page = folder / "page.html"
    arguments = [*map(str, paths), "-o", str(page), "--resamples", "20"]
    done = CliRunner().invoke(command, arguments)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, page.read_text(encoding="utf-8") if page.exists() else None, done.output


# Sound files ------------------------------------------------------------------------------------------------------


def test_a_log_gives_one_trial_a_sample(log):
    found = trials(log)
    assert len(found) == 8
    assert set(found["condition"]) == {"0-10", "0-100"}
    assert set(found["model"]) == {"simulated/overconfident"}
    assert found["confidence"].between(0, 1).all()


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_a_table_of_trials_gives_the_same_trials_in_any_format(suffix, tmp_path):
    table = pd.DataFrame(rows("scales"))
    path = tmp_path / f"trials{suffix}"
    {
        ".csv": lambda: table.to_csv(path, index=False),
        ".jsonl": lambda: table.to_json(path, orient="records", lines=True),
        ".parquet": lambda: table.to_parquet(path),
    }[suffix]()
    found = trials(path)
    assert found["confidence"].tolist() == pytest.approx(table["confidence"].tolist())
    assert found["question_id"].tolist() == table["question_id"].tolist()


def test_the_trials_of_several_studies_share_a_table(studies):
    found = trials(studies)
    assert set(found["study"]) == {"scales", "lifeeval", "riskeval", "fermieval"}
    assert set(found["model"]) == {"lab/steady", "lab/bold"}


def test_a_model_of_one_file_has_its_columns_and_no_copies(log):
    (file,) = collect(log).files
    ((model,),) = (task.models for task in group_by_task([file]))
    assert all(model.columns[name] is column for name, column in file.columns.items())


def test_samples_of_lm_eval_are_read_with_the_model_that_their_run_names(tmp_path):
    folder = tmp_path / "lab__model"
    folder.mkdir()
    time = "2026-01-31T10-00-00.123456"
    sample = [
        {"doc": {"id": row["question_id"]}, "confidence_trial": row}
        for row in rows("scales")
        if row["condition"] == "0-20"
    ]
    from confidence_tasks.harness.lm_eval.metrics import TRIAL

    lines = [{"doc": each["doc"], TRIAL: each["confidence_trial"]} for each in sample]
    name = "scale_granularity_0_20_arithmetic"
    write(folder / f"samples_{name}_{time}.jsonl", lines)
    results = {
        "model_name": "lab/model",
        "config": {"model": "hf", "model_args": "pretrained=lab/model,dtype=float32"},
        "configs": {name: {"metadata": {"condition": "0-20"}}},
        "versions": {name: 1},
        "lm_eval_version": "0.4.12",
    }
    (folder / f"results_{time}.json").write_text(json.dumps(results), encoding="utf-8")
    found = collect(tmp_path)
    assert not found.skipped
    (file,) = found.files
    assert (file.model, file.design, len(file)) == ("lab/model", "scale_granularity", len(lines))


def test_many_remote_logs_are_read_through_fsspec(log, tmp_path):
    memory = fsspec.filesystem("memory")
    for i in range(12):
        memory.pipe(f"/bucket/{i}/run.eval", log.read_bytes())
    write(tmp_path / "t.jsonl", rows("riskeval"))
    memory.pipe("/bucket/deep/er/t.jsonl", (tmp_path / "t.jsonl").read_bytes())
    try:
        results = collect("memory://bucket")
        assert not results.skipped
        assert len(results.files) == 13
        assert all(file.path.startswith("memory://") for file in results.files)
        made = undrawn_report(results, settings=FEW)
        # The same questions in twelve logs are asked more than once, and count once.
        (scales,) = [results for results in made.results if results.task_trials.study.name == "scales"]
        assert len(scales.models[0]) == 8
        assert scales.models[0].repeated == 88
    finally:
        memory.rm("/bucket", recursive=True)


def test_a_run_is_unfinished_until_it_is_resumed(tmp_path, monkeypatch):
    asked = {"source": "arithmetic", "n": 2, "penalties": "1,10"}
    generate, calls = SimulatedSubject.generate, iter(range(100))

    async def fails_at_first(self, **arguments):
        if next(calls) == 0:
            raise RuntimeError
        return await generate(self, **arguments)

    def unfinished():
        (task,) = undrawn_report(collect(tmp_path), settings=FEW).tasks
        return [notice.where for notice in task.notices if notice.title == "Unfinished runs"]

    monkeypatch.setattr(SimulatedSubject, "generate", fails_at_first)
    (broken,) = inspect_eval(
        riskeval(**asked),
        model="simulated/partial",
        log_dir=str(tmp_path),
        display="none",
        fail_on_error=False,
    )
    ((where,),) = unfinished()
    assert where.startswith("simulated/partial: 1 of 4 in ")
    eval_retry(broken, log_dir=str(tmp_path), display="none")
    assert len(collect(tmp_path).files) == 2
    assert not unfinished()


# Broken and foreign ones --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def foreign(tmp_path_factory):
    """A log of somebody else's task."""
    (done,) = inspect_eval(
        Task(dataset=[Sample("What is 1 + 1?", target="2")], scorer=match(), name="elsewhere"),
        model="mockllm/model",
        log_dir=str(tmp_path_factory.mktemp("foreign")),
        display="none",
    )
    return done.location.removeprefix("file://")


def without_member(source, target, member):
    with zipfile.ZipFile(source) as whole, zipfile.ZipFile(target, "w") as part:
        for name in whole.namelist():
            if name != member:
                part.writestr(name, whole.read(name))


def test_what_cannot_be_read_is_named_with_the_reason_and_costs_nothing_else(log, foreign, tmp_path):
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "sound.eval").write_bytes(log.read_bytes())
    data = log.read_bytes()
    (folder / "truncated.eval").write_bytes(data[: len(data) // 2])
    (folder / "empty.eval").write_bytes(b"")
    (folder / "noise.eval").write_bytes(bytes(range(256)) * 40)
    (folder / "foreign.eval").write_bytes(Path(foreign).read_bytes())
    without_member(log, folder / "headless.eval", "header.json")
    (folder / "other.json").write_text('{"some": "thing"}', encoding="utf-8")
    (folder / "broken.json").write_text('{"some": ', encoding="utf-8")
    (folder / "list.json").write_text("[1, 2]", encoding="utf-8")
    (folder / "people.csv").write_text("name,age\nAda,36\n", encoding="utf-8")
    (folder / "empty.csv").write_text("", encoding="utf-8")
    (folder / "latin.csv").write_bytes("question_id;\xe9t\xe9\n".encode("latin-1"))
    (folder / "noise.jsonl").write_bytes(b"\x00\xff\xfe{{{\n")
    (folder / "noise.parquet").write_bytes(b"PAR1 but not really")
    (folder / "replies.csv").write_text("question,reply\nx,y\n", encoding="utf-8")
    (folder / "readme.txt").write_text("not a log", encoding="utf-8")
    code, page, said = run(folder, folder=tmp_path)
    assert code == 0
    assert "Traceback" not in said
    reasons = {entry.path.rsplit("/", 1)[-1]: entry.reason for entry in collect(folder).skipped}
    broken = {path.name for path in folder.iterdir()} - {"sound.eval", "readme.txt", "headless.eval"}
    # A log whose header was never written is one that is not finished: Inspect reads it from its journal.
    assert broken <= set(reasons)
    for name in broken:
        assert name in page
        assert len(reasons[name]) > 10
    assert "elsewhere" in reasons["foreign.eval"]
    assert "no columns" in reasons["people.csv"]
    assert "confidence-tasks score" in reasons["replies.csv"]
    assert "Granularity" in page


def test_the_lists_that_inspect_writes_beside_logs_are_no_logs(log, tmp_path):
    folder = tmp_path / "set"
    folder.mkdir()
    (folder / "run.eval").write_bytes(log.read_bytes())
    (folder / "eval-set.json").write_text('{"eval_set_id": "a", "tasks": []}', encoding="utf-8")
    (folder / "logs.json").write_text('{"run.eval": {"eval": {}, "value": NaN}}', encoding="utf-8")
    (folder / "listing.json").write_text('{"run.eval": {}}', encoding="utf-8")
    (folder / "._run.eval").write_bytes(b"\0\5\26\7 attributes of macOS")
    found = collect(folder)
    assert (len(found.files), found.skipped) == (1, ())
    done = CliRunner().invoke(main, ["rescore", str(folder), "--json"])
    assert done.exit_code == 0, done.output
    assert len(json.loads(done.stdout)) == 1
    write_eval_log(read_eval_log(str(log)), str(folder / "logs.json"))
    assert [Path(file.path).name for file in collect(folder).files] == ["logs.json", "run.eval"]
    (folder / "logs.json").write_text('{"run.eval": ', encoding="utf-8")
    assert [Path(entry.path).name for entry in collect(folder).skipped] == ["logs.json"]


@pytest.mark.parametrize("suffix", ["eval", "json"])
def test_a_log_without_samples_says_the_cause_and_what_to_do(suffix, tmp_path):
    (done,) = inspect_eval(
        riskeval(source="arithmetic", n=2),
        model="simulated/ideal",
        log_dir=str(tmp_path),
        log_format=suffix,
        log_samples=False,
        display="none",
    )
    assert done.status == "success"
    said = "--no-log-samples (log_samples=False), so that it has metrics but no replies: run the evaluation again"
    code, _, printed = run(tmp_path, folder=tmp_path / "page")
    assert code == 1
    assert said in " ".join(printed.split())
    done = CliRunner().invoke(main, ["rescore", str(tmp_path)])
    assert said in " ".join(done.output.split())


def test_where_no_trials_are_found_no_page_is_written(foreign, tmp_path):
    (tmp_path / "empty").mkdir()
    for path in (tmp_path / "empty", tmp_path / "is-not-there", foreign, "memory://nowhere"):
        code, page, printed = run(path, folder=tmp_path)
        assert (code, page) == (1, None)
        assert f"skipped {path}" in " ".join(printed.split())
        assert "no trials were found, and no page is written" in " ".join(printed.split())


def test_logs_of_different_versions_are_told_apart(log, tmp_path):
    for i, version in enumerate(("0.1.0", "0.0.9")):
        with zipfile.ZipFile(log) as whole, zipfile.ZipFile(tmp_path / f"{i}.eval", "w") as other:
            for name in whole.namelist():
                text = whole.read(name)
                if name == "header.json":
                    header = json.loads(text)
                    header["eval"]["packages"]["confidence-tasks"] = version
                    header["eval"]["metadata"] = {}
                    header["eval"]["model"] = f"model-{i}"
                    text = json.dumps(header).encode()
                other.writestr(name, text)
    made = undrawn_report(collect(tmp_path), settings=FEW)
    (notice,) = (each for each in made.tasks[0].notices if each.title == "Mixed versions")
    assert any("0.0.9, 0.1.0" in place for place in notice.where)


WRONG = {
    "confidence": (85.0, "not within"),
    "correct": (-1.0, "which is none of 0, 1"),
    "condition": ("radius=banana", "no condition"),
    "lower": ("lots", "which is not a number"),
    "study": ("alchemy", "not one of"),
}


def test_a_path_that_is_not_there_is_told_from_an_empty_folder(tmp_path):
    found = collect([tmp_path, tmp_path / "lgos", tmp_path / "old.eval"]).skipped
    assert [entry.reason for entry in found] == [
        "there is no log and no file of trials here",
        "there is no such file or folder",
        "there is no such file or folder",
    ]


@pytest.mark.parametrize("column", WRONG)
def test_a_table_with_wrong_values_is_refused_with_the_value(column, tmp_path):
    value, reason = WRONG[column]
    path = write(tmp_path / "trials.jsonl", [{**row, column: value} for row in rows("scales")])
    code, _, printed = run(path, folder=tmp_path)
    assert code == 1
    (skipped,) = collect(path).skipped
    assert reason in skipped.reason
    assert "".join(reason.split()) in "".join(printed.split())


@pytest.mark.parametrize(
    ("study", "change"),
    [
        ("riskeval", {"condition": "lambda=-1"}),
        ("riskeval", {"condition": "often"}),
        ("lifeeval", {"condition": "0-20"}),
        ("fermieval", {"condition": "p=2"}),
        ("lifeeval", {"age": None}),
    ],
)
def test_a_condition_of_no_study_is_refused(study, change, tmp_path):
    path = write(tmp_path / "trials.jsonl", rows(study, **change))
    assert run(path, folder=tmp_path)[0] == 1
    assert len(collect(path).skipped) == 1


@pytest.mark.slow
@pytest.mark.parametrize("study", ["scales", "lifeeval", "riskeval", "fermieval"])
@pytest.mark.parametrize(
    "change",
    [
        {"correct": None, "confidence": None, "status": "unreadable"},
        {"correct": 1.0, "confidence": 1.0},
        {"question_id": "the-only-one"},
    ],
    ids=["nothing read", "all alike", "one question"],
)
def test_degenerate_trials_still_make_a_page(study, change, tmp_path):
    path = write(tmp_path / "trials.jsonl", rows(study, **change))
    code, page, _ = run(path, folder=tmp_path)
    assert code == 0
    assert "trials</p>" in page
    assert "nan" not in re.sub(
        r"<style.*?</style>|<script.*?</script>|<svg.*?</svg>", "", page, flags=re.DOTALL
    )


@pytest.mark.parametrize("study", ["scales", "riskeval"])
def test_trials_with_the_common_columns_alone_still_make_a_page(study, tmp_path):
    core = ("study", "question_id", "source", "condition", "correct", "confidence", "status")
    bare = [{name: row[name] for name in core} for row in rows(study)]
    code, page, _ = run(write(tmp_path / "trials.jsonl", bare), folder=tmp_path)
    assert code == 0
    assert "trials</p>" in page


def test_numbers_of_ten_thousand_digits_are_shown_in_a_few(tmp_path):
    digits = "9" * 10_000
    question = Question("q-1", "made-up", "How many?", "number", "4")
    scale = [scale_trial(question, Scale(0, 100), f"Answer: {digits}\nConfidence: {digits}")]
    fermi = [
        fermieval_trial(question, 0.9, half, f'{{"L": -{digits}, "U": {digits}}}')
        for half in ("test", "calibration")
    ]
    write(tmp_path / "s.jsonl", [{"study": "scales", "task": "scale_granularity", "model": "m", **scale[0]}])
    write(
        tmp_path / "f.jsonl",
        [{"study": "fermieval", "task": "fermieval", "model": "m", **row} for row in fermi],
    )
    code, page, _ = run(tmp_path / "s.jsonl", tmp_path / "f.jsonl", folder=tmp_path)
    assert code == 0
    assert "9" * 300 not in page
    assert len(page) < 1_000_000


def test_huge_numbers_are_powers_of_ten(tmp_path):
    strict = [
        {**row, "condition": "p=0.999999999999", "lower": row["truth"] + 5, "upper": row["truth"] + 6}
        for row in rows("fermieval")
        if row["condition"] == "p=0.9"
    ]
    code, page, _ = run(write(tmp_path / "t.jsonl", strict), folder=tmp_path)
    assert code == 0
    assert "×10" in page
    assert "000,000,000,000" not in page


def test_a_scale_of_a_billion_steps_is_drawn(tmp_path):
    wide = [{**row, "condition": "0-999999"} for row in rows("scales")]
    assert run(write(tmp_path / "t.jsonl", wide), folder=tmp_path)[0] == 0


@pytest.mark.parametrize(
    ("study", "column", "value", "reason"),
    [
        ("fermieval", "upper", 1e300, "1e+300, not within [-1000, 1000]"),
        ("fermieval", "truth", -1.7e308, "-1.7e+308, not within [-100000, 100000]"),
        ("fermieval", "lower", 900.0, "are no interval: 900 and"),
        ("fermieval", "lower", None, "are no interval: nan and"),
        ("lifeeval", "age", 1e300, "1e+300, not within [0, 150]"),
        ("riskeval", "answered", 0.5, "0.5, which is none of 0, 1"),
        ("riskeval", "outcome", 1e300, "1e+300, not within [0, 1]"),
    ],
)
def test_a_number_that_no_measure_can_take_is_named(study, column, value, reason, tmp_path):
    first, *others = rows(study)
    found = collect(write(tmp_path / "a.jsonl", [{**first, column: value}, *others]))
    (file,) = found.files
    assert len(file) == len(others)
    (entry,) = found.skipped
    assert f"1 of {len(others) + 1} trials does not count (row 1): " in entry.reason
    assert reason in entry.reason


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("number", ["1e300", "-1.7e308", "9" * 400])
def test_astronomical_numbers_in_replies_are_reported_without_a_warning(number, tmp_path):
    for i, study in enumerate(("scales", "fermieval")):
        trials = []
        for k in range(40):
            asked = Question(f"q-{k}", "mine", "?", "number", "4")
            said = number if k % 3 == 0 else "3"
            trials.append(
                scale_trial(asked, Scale.parse("0-100"), f"Answer: {said}\nConfidence: {said}")
                if i == 0
                else fermieval_trial(asked, 0.9, ("test", "calibration")[k % 2], f'{{"L": 1, "U": {said}}}')
            )
        write(tmp_path / f"{study}.jsonl", [{"study": study, "model": "m", **trial} for trial in trials])
    made = undrawn_report(collect(tmp_path), settings=FEW)
    assert [len(results.models[0]) for results in made.results] == [40, 40]


def test_an_existing_page_is_not_replaced_by_one_that_has_nothing_to_report(tmp_path):
    page, tables = tmp_path / "page.html", tmp_path / "tables"
    page.write_text("the page of last week")
    tables.mkdir()
    (tables / "estimates.csv").write_text("the table of last week")
    code, kept, printed = run(tmp_path / "nowhere", "--tables", tables, folder=tmp_path)
    assert (code, kept) == (1, "the page of last week")
    assert (tables / "estimates.csv").read_text() == "the table of last week"
    assert "no trials were found" in printed
    _, _, printed = run(tmp_path / "nowhere", "--json", folder=tmp_path)
    assert json.loads(printed[printed.index("{") : printed.rindex("}") + 1])["report"] is None


# What would otherwise be read as something else -----------------------------------------------------------------------

HEADER = "study,model,question_id,source,condition,correct,confidence,status"


def table(path, *lines, encoding="utf-8"):
    path.write_text("\n".join((HEADER, *lines)), encoding=encoding)
    return path


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("scales,m,,mine,0-20,1,0.5,ok", "question_id is missing"),
        (
            "scales,m,q-1,mine,0-20,1,0.5,OK",
            "status is 'OK', which is none of ok, repaired",
        ),
        ("scales,m,q-1,mine,0-20,1,0.5,", "status is missing"),
        ("scales,m,q-1,mine,0-20,1,0,85,ok", "it cannot be read (ParserWarning"),
    ],
)
def test_a_table_that_does_not_say_what_was_asked_or_read_is_refused(tmp_path, line, said):
    (skipped,) = collect(table(tmp_path / "t.csv", line)).skipped
    assert said in skipped.reason


def test_questions_of_two_sources_may_have_the_same_ids(tmp_path):
    for source in "ab":
        table(tmp_path / f"{source}.csv", *(f"scales,m,{i},{source},0-20,1,0.5,ok" for i in range(3)))
    (model,) = group_by_task(collect(tmp_path).files)[0].models
    assert (len(model), model.repeated, model.doubled) == (6, 0, 0)


def test_a_byte_order_mark_costs_no_line(tmp_path):
    lines = [json.dumps(row) for row in rows("scales")]
    (tmp_path / "t.jsonl").write_text("\n".join(lines), encoding="utf-8-sig")
    (file,) = collect(tmp_path).files
    assert (len(file), file.lost) == (len(lines), 0)


def test_models_that_were_asked_other_sources_share_no_question(tmp_path):
    for model, source in (("m", "a"), ("n", "b")):
        table(tmp_path / f"{model}.csv", *(f"scales,{model},{i},{source},0-20,1,0.5,ok" for i in range(3)))
    (task_trials,) = group_by_task(collect(tmp_path).files)
    assert compare_models(*task_trials.models, task_trials, settings=FEW) == []
