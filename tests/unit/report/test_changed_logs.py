"""Logs that were changed after their run: edited scores, invalidated samples, and replies of a fallback model."""

import itertools
import os
import struct
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from inspect_ai import score
from inspect_ai.log import (
    EvalLog,
    ProvenanceData,
    edit_score,
    invalidate_samples,
    read_eval_log,
    write_eval_log,
)
from inspect_ai.model import ModelFallback
from inspect_ai.scorer import ScoreEdit, includes
from tests.unit.report.runs import undrawn_report

from confidence_tasks.logs import sample_changes, validated
from confidence_tasks.logs.inspect_logs import read_inspect_log
from confidence_tasks.logs.rescore import rescore
from confidence_tasks.logs.task_trials import ModelTrials, group_by_task
from confidence_tasks.logs.trial_files import NotTrialsError
from confidence_tasks.report import collect
from confidence_tasks.report.estimates.settings import Settings

FEW = Settings(n_resamples=20)


def _edit(log: EvalLog, confidence: float, day: int, n: int = 1) -> EvalLog:
    """Edit the confidence of the first samples, on a day of 2031."""
    by = ProvenanceData(author="Ada", reason="misread", timestamp=datetime(2031, 1, day, tzinfo=UTC))
    for sample in (log.samples or [])[:n]:
        ((name, score),) = (sample.scores or {}).items()
        value = {**score.value, "confidence": confidence}
        edit_score(log, sample.id, name, ScoreEdit(value=value, provenance=by), epoch=sample.epoch)
    return log


def _invalidate(log: EvalLog, day: int = 9) -> EvalLog:
    by = ProvenanceData(author="Ada", reason="leaked", timestamp=datetime(2031, 1, day, tzinfo=UTC))
    return invalidate_samples(log, [str(sample.uuid) for sample in (log.samples or [])[:3]], by)


def _models(*paths: Path) -> list[ModelTrials]:
    return [model for task in group_by_task(collect(list(map(str, paths))).files) for model in task.models]


def _notices(folder: Path) -> dict[str, tuple[str, ...]]:
    (task,) = undrawn_report(collect(folder), settings=FEW).tasks
    return {notice.title: notice.where for notice in task.notices}


@pytest.mark.parametrize("suffix", ["eval", "json"])
def test_edited_scores_count_and_are_told(suffix: str, log: Path, tmp_path: Path) -> None:
    write_eval_log(_edit(read_eval_log(str(log)), 0.125, 1, n=2), str(tmp_path / f"edited.{suffix}"))
    (file,) = collect(tmp_path).files
    assert (file.edited, file.changed) == (2, "2031-01-01T00:00:00+00:00")
    assert np.count_nonzero(file.columns["confidence"] == 0.125) == 2
    assert _notices(tmp_path)["Edited scores"] == (f"simulated/overconfident: 2 of 8 in edited.{suffix}",)


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, 93])
def test_samples_are_searched_however_they_are_packed(compression: int, log: Path, tmp_path: Path) -> None:
    write_eval_log(_edit(read_eval_log(str(log)), 0.125, 1, n=2), str(tmp_path / "edited.eval"))
    packed = tmp_path / "packed.eval"
    with (
        zipfile.ZipFile(tmp_path / "edited.eval") as edited,
        zipfile.ZipFile(packed, "w", compression) as copy,
    ):
        for member in edited.namelist():
            copy.writestr(member, edited.read(member))
    assert collect(packed).files[0].edited == 2


def test_a_sample_whose_checksum_is_wrong_is_damage(log: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.eval"
    content = log.read_bytes()
    with zipfile.ZipFile(log) as archive:
        crc = next(each.CRC for each in archive.infolist() if each.filename.startswith("samples/"))
    damaged.write_bytes(content.replace(struct.pack("<L", crc), struct.pack("<L", crc ^ 1)))
    (skipped,) = collect(damaged).skipped
    assert "BadZipFile" in skipped.reason


def test_an_edit_of_an_explanation_changes_no_trial(log: Path, tmp_path: Path) -> None:
    edited = read_eval_log(str(log))
    (sample, *_) = edited.samples or []
    (name,) = sample.scores or {}
    edit_score(edited, sample.id, name, ScoreEdit(explanation="see the paper"), epoch=sample.epoch)
    write_eval_log(edited, str(tmp_path / "edited.eval"))
    assert "Edited scores" not in _notices(tmp_path)


@pytest.mark.parametrize("names", list(itertools.permutations("abc")))
def test_the_newest_edit_counts_whatever_the_paths(names: tuple[str, ...], log: Path, tmp_path: Path) -> None:
    for name, confidence, day in zip(names, (None, 0.25, 0.125), (1, 2, 3), strict=True):
        copy = read_eval_log(str(log))
        write_eval_log(
            copy if confidence is None else _edit(copy, confidence, day), str(tmp_path / f"{name}.eval")
        )
    (model,) = _models(tmp_path)
    (sample, *_) = read_eval_log(str(log)).samples or []
    (row,) = np.flatnonzero(model.columns["sample_id"] == sample.id)
    assert len(model) == 8
    assert model.columns["confidence"][row] == 0.125


@pytest.mark.parametrize("name", ["a", "z"])
def test_a_copy_without_a_recorded_change_is_as_old_as_its_file(name: str, log: Path, tmp_path: Path) -> None:
    for path, confidence, time in (("m", 0.25, 2_000_000_000), (name, 0.125, 2_000_000_100)):
        copy = read_eval_log(str(log))
        for sample in copy.samples or []:
            (score,) = (sample.scores or {}).values()
            score.value = {**score.value, "confidence": confidence}
        write_eval_log(copy, str(tmp_path / f"{path}.json"))
        os.utime(tmp_path / f"{path}.json", (time, time))
    (model,) = _models(tmp_path)
    assert set(model.columns["confidence"]) == {0.125}


@pytest.mark.parametrize(
    ("original", "marked"), [("a.eval", "b.eval"), ("b.eval", "a.eval"), ("a.eval", "b.json")]
)
def test_an_invalid_sample_does_not_count_in_an_earlier_copy(
    original: str, marked: str, log: Path, tmp_path: Path
) -> None:
    write_eval_log(read_eval_log(str(log)), str(tmp_path / original))
    write_eval_log(_invalidate(read_eval_log(str(log))), str(tmp_path / marked))
    (model,) = _models(tmp_path)
    invalid = {sample.id for sample in (read_eval_log(str(log)).samples or [])[:3]}
    assert len(model) == 5
    assert not invalid & {*model.columns["sample_id"]}
    assert _notices(tmp_path)["Invalidated samples"] == (f"simulated/overconfident: 3 in {marked}",)


def test_a_log_of_invalid_samples_only_withdraws_its_earlier_copy(log: Path, tmp_path: Path) -> None:
    write_eval_log(read_eval_log(str(log)), str(tmp_path / "b.eval"))
    marked = invalidate_samples(read_eval_log(str(log)), "all", ProvenanceData(author="Ada"))
    write_eval_log(marked, str(tmp_path / "a.eval"))
    assert _models(tmp_path) == []


def test_a_later_run_of_an_invalid_sample_counts(log: Path, tmp_path: Path) -> None:
    write_eval_log(_invalidate(read_eval_log(str(log))), str(tmp_path / "a.eval"))
    again = read_eval_log(str(log))
    again.eval.created = "2032-01-01T00:00:00+00:00"
    write_eval_log(again, str(tmp_path / "b.eval"))
    (model,) = _models(tmp_path)
    assert len(model) == 8


def test_an_invalid_sample_of_another_run_hides_nothing(log: Path, tmp_path: Path) -> None:
    other = read_eval_log(str(log))
    other.eval.task_id, other.eval.created = "another", "2020-01-01T00:00:00+00:00"
    write_eval_log(other, str(tmp_path / "a.eval"))
    write_eval_log(_invalidate(read_eval_log(str(log))), str(tmp_path / "b.eval"))
    (model,) = _models(tmp_path)
    assert len(model) == 8


def _with_fallback(log: EvalLog) -> EvalLog:
    for sample in (log.samples or [])[:2]:
        sample.model_fallbacks = [ModelFallback(model="simulated/overconfident", fallback_model="lab/small")]
    return log


@pytest.mark.parametrize("suffix", ["eval", "json"])
def test_replies_of_a_fallback_model_are_told_and_reported_apart(
    suffix: str, log: Path, tmp_path: Path
) -> None:
    write_eval_log(_with_fallback(read_eval_log(str(log))), str(tmp_path / f"a.{suffix}"))
    models = {model.label: len(model) for model in _models(tmp_path)}
    label = "simulated/overconfident (fallback=lab/small)"
    assert models == {"simulated/overconfident": 6, label: 2}
    assert sum(file.lost for file in collect(tmp_path).files) == 0
    assert _notices(tmp_path)["Replies of a fallback model"] == (f"{label}: 2 trials",)


def test_large_logs_are_searched_if_they_were_written_after_their_run(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sample_changes, "SMALL", 0)
    searched: list[str] = []
    search: Callable[..., object] = sample_changes._samples
    monkeypatch.setattr(
        sample_changes, "_samples", lambda path, **options: searched.append(path) or search(path, **options)
    )
    read_inspect_log(str(log))
    assert searched == []
    edited = _edit(read_eval_log(str(log)), 0.5, 1)
    # Half of a quarter of an hour, of which all time zones are multiples.
    edited.stats.completed_at = (datetime.now(UTC) - timedelta(minutes=7.5)).isoformat()
    path = tmp_path / "edited.eval"
    write_eval_log(edited, str(path))
    (found,) = read_inspect_log(str(path))
    assert (found.edited, searched) == (1, [str(path)])


def test_edits_in_json_are_found_as_in_archives(log: Path, tmp_path: Path) -> None:
    edited = _edit(read_eval_log(str(log)), 0.5, 4)
    for suffix in ("eval", "json"):
        write_eval_log(edited, str(tmp_path / f"x.{suffix}"))
    (first,), (second,) = (read_inspect_log(str(tmp_path / f"x.{suffix}")) for suffix in ("eval", "json"))
    assert (first.edited, first.changed) == (second.edited, second.changed) == (1, first.changed)


@pytest.mark.parametrize("suffix", ["eval", "json"])
def test_rescoring_keeps_edited_scores(suffix: str, log: Path, tmp_path: Path) -> None:
    edited = tmp_path / f"edited.{suffix}"
    write_eval_log(_edit(read_eval_log(str(log)), 0.125, 1, n=2), str(edited))
    found = rescore(edited, tmp_path / f"again.{suffix}")
    assert found.changed_trials == 0
    (before,), (after,) = (collect(tmp_path / f"{name}.{suffix}").files for name in ("edited", "again"))
    assert after.edited == before.edited == 2
    assert np.count_nonzero(after.columns["confidence"] == 0.125) == 2
    np.testing.assert_array_equal(after.columns["confidence"], before.columns["confidence"])


def test_rescoring_reads_again_where_only_an_explanation_was_edited(log: Path, tmp_path: Path) -> None:
    edited = read_eval_log(str(log))
    sample, wrong = (edited.samples or [])[:2]
    ((name, score),) = (sample.scores or {}).items()
    edit_score(edited, sample.id, name, ScoreEdit(explanation="see the paper"), epoch=sample.epoch)
    for each in (sample, wrong):
        (each.scores or {})[name].value = {**score.value, "confidence": 0.0625}
    write_eval_log(edited, str(tmp_path / "edited.eval"))
    assert rescore(tmp_path / "edited.eval", tmp_path / "again.eval").changed_trials == 2
    (after,) = collect(tmp_path / "again.eval").files
    assert 0.0625 not in after.columns["confidence"]


@pytest.mark.parametrize("suffix", ["eval", "json"])
def test_rescoring_keeps_what_other_scorers_found(suffix: str, log: Path, tmp_path: Path) -> None:
    """Their code may be unknown here, so their metrics stay as they were logged, too."""
    both = score(read_eval_log(str(log)), [includes()], action="append", display="none")
    assert both.results
    assert both.eval.scorers
    both.results.scores.reverse()
    both.eval.scorers.reverse()  # the other scorer is the first
    both.results.scores[0].metrics["accuracy"].value = 0.125  # is kept, not computed again
    write_eval_log(both, str(tmp_path / f"both.{suffix}"))
    found = rescore(tmp_path / f"both.{suffix}", tmp_path / f"again.{suffix}")
    again = read_eval_log(str(tmp_path / f"again.{suffix}"))
    assert (found.changed_trials, found.changed_metrics) == (0, [])
    assert found.after["accuracy"] == 0.125
    assert [spec.name for spec in again.eval.scorers or []] == [spec.name for spec in both.eval.scorers]
    assert again.results
    assert [each.scorer for each in again.results.scores] == [each.scorer for each in both.results.scores]
    of_other = [
        {(sample.id, sample.epoch): (sample.scores or {})["includes"].value for sample in each.samples or []}
        for each in (both, again)
    ]
    assert len(of_other[0]) == 8
    assert of_other[0] == of_other[1]


@pytest.mark.parametrize("suffix", ["eval", "json"])
def test_rescoring_refuses_a_sample_of_too_many_values(
    suffix: str, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vast = read_eval_log(str(log))
    assert vast.samples
    vast.samples[3].metadata["x"] = [0] * 20_000
    write_eval_log(vast, str(tmp_path / f"vast.{suffix}"))
    monkeypatch.setattr(validated, "MOST_MARKS_WITH_EVENTS", 20_000)
    with pytest.raises(NotTrialsError, match="more than 20,000 values"):
        rescore(tmp_path / f"vast.{suffix}")
