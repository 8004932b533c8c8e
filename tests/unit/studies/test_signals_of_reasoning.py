"""Reports leave out the signals of reasoning of a model without reasoning."""

from pathlib import Path

from confidence_tasks.logs.collection import collect
from confidence_tasks.logs.task_trials import ModelTrials, group_by_task
from confidence_tasks.report.results import results_without_numbers
from confidence_tasks.studies.signals.report import without_reasoning


def write(path: Path, *rows: str) -> Path:
    header = "study,question_id,source,condition,correct,confidence,status"
    path.write_text("\n".join([header, *rows, ""]))
    return path


def rows(condition: str, *confidences: str) -> list[str]:
    return [
        f"signals,q-{i},mine,{condition},1,{confidence},{'ok' if confidence else 'missing_confidence'}"
        for i, confidence in enumerate(confidences)
    ]


def model_of(path: Path) -> ModelTrials:
    ((task,),) = [[each.models for each in group_by_task(collect(path).files)]]
    return task[0]


def test_signals_of_reasoning_without_any_value_are_left_out_with_one_note(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.csv",
        *rows("stated", "0.8", "0.6"),
        *rows("p_true", "", ""),
        *rows("trace_length", "", ""),
        *rows("trace_logprob", "", ""),
    )
    model = model_of(path)
    assert set(model.columns["condition"]) == {"stated", "p_true"}
    assert model.absent == ("trace_length", "trace_logprob")
    (results,) = results_without_numbers(group_by_task(collect(path).files))
    (notice,) = without_reasoning(results)
    assert (notice.severity, len(notice.where)) == ("note", 1)


def test_one_reply_with_reasoning_keeps_the_signal(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", *rows("stated", "0.8", "0.6"), *rows("trace_length", "", "0.1"))
    assert model_of(path).absent == ()


def test_a_run_of_nothing_else_keeps_its_trials(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", *rows("trace_length", "", ""))
    assert len(model_of(path)) == 2
