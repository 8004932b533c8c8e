"""Reports as Markdown and as the metadata of a model card."""

import math

import markdown
import pytest
import yaml
from click.testing import CliRunner

from confidence_tasks.cli import main
from confidence_tasks.report.markdown import escaped, markdown_report, markdown_table, model_card
from confidence_tasks.report.page.document import merged_notices
from confidence_tasks.report.result_tables import estimates_frame

HOSTILE = "a|b <script>alert(1)</script> [x](javascript:y) `c` **d**\n# e\x1b[2J"


def as_html(text):
    return markdown.markdown(text, extensions=["tables"])


def test_every_headline_value_of_every_condition_is_in_a_table(report):
    text = markdown_report(report.results, merged_notices(report.tasks))
    html = as_html(text)
    for task in report.results:
        assert f"## {escaped(task.task_trials.task)}\n" in text
        for entry in task.estimates:
            is_shown = entry.measure in [measure.name for measure in task.headline]
            if (
                is_shown
                and entry.by == "condition"
                and not entry.source
                and not math.isnan(entry.interval.low)
            ):
                assert f"{entry.interval.estimate:.3f} [".replace("-", "−") in html
    assert all(escaped(notice.title) in text for notice in merged_notices(report.tasks))


def test_what_a_log_says_stays_text():
    html = as_html(markdown_table([{"model": HOSTILE, "value": "0.1"}]))
    assert html.count("<td>") == 2
    assert not any(tag in html for tag in ("<script", "<a ", "<code", "<strong", "<h1", "\x1b"))


def test_the_metadata_of_a_model_card_has_the_numbers_of_the_report(report):
    _, block, text = model_card(report.results).split("---\n", 2)
    index = yaml.safe_load(block)["model-index"]
    frame = estimates_frame(report.results)
    frame = frame[frame["source"] == ""].set_index(["task", "model", "group", "measure"])
    assert {model["name"] for model in index} == set(frame.index.get_level_values("model"))
    n_metrics = 0
    for model in index:
        for result in model["results"]:
            for metric in result["metrics"]:
                args = metric["args"]
                row = frame.loc[(result["task"]["name"], model["name"], args["condition"], metric["type"])]
                assert metric["value"] == row["value"]
                assert math.isnan(row["low"]) or (args["low"], args["high"]) == (row["low"], row["high"])
                n_metrics += 1
    assert n_metrics > 20
    assert "# Confidence\n" in text


@pytest.mark.parametrize(
    ("page_format", "name"), [("markdown", "report.md"), ("model-card", "model_card.md")]
)
def test_the_command_writes_the_format(page_format, name, log, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = CliRunner().invoke(main, ["report", str(log), "--format", page_format, "--resamples", "200"])
    assert run.exit_code == 0, run.output
    assert f"The report is in {name}" in run.output
    assert "## scale\\_granularity" in (tmp_path / name).read_text(encoding="utf-8")


def test_without_rows_there_is_no_table():
    assert markdown_table([]) == ""
