"""What commands say in the terminal: true values of simulated subjects, requirements, and exit codes for CI."""

import errno
import json
from dataclasses import replace
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from confidence_tasks.decisions.power_command import power
from confidence_tasks.logs.task_trials import ModelTrials
from confidence_tasks.logs.trial_files import TrialFile
from confidence_tasks.report.commands.compare import compare
from confidence_tasks.report.commands.report import report
from confidence_tasks.report.commands.terminal import subject_of
from confidence_tasks.report.labels import latex
from confidence_tasks.report.requirements import Requirement
from confidence_tasks.simulation.subject import PROFILES

EXAMPLES = Path(__file__).parents[3] / "examples"


def asked(name: str, **setup: str) -> ModelTrials:
    file = TrialFile(
        "a.eval", "scales", "scale_granularity", name, {"question_id": np.array([])}, setup=setup
    )
    return ModelTrials(name, name, file.columns, (file,), 0)


@pytest.mark.parametrize(
    ("name", "setup", "subject"),
    [
        ("simulated/overconfident", {}, PROFILES["overconfident"]),
        (
            "simulated/ideal",
            {"model.bias": "1.0", "harness.fewshot": "4", "task.gain": "9.0"},
            replace(PROFILES["ideal"], bias=1.0),
        ),
        (
            "simulated(subject=blind)",
            {"harness.backend": "simulated", "model.subject": "blind"},
            PROFILES["blind"],
        ),
        ("simulated()", {"harness.backend": "simulated"}, PROFILES["ideal"]),
        ("simulated/of_another_version", {}, None),
        ("openai/gpt-4o", {"model.bias": "1.0"}, None),
        ("hf(pretrained=x)", {"harness.backend": "hf"}, None),
    ],
)
def test_the_subject_of_a_run_is_known_on_both_harnesses(name: str, setup: dict, subject: object) -> None:
    assert subject_of(asked(name, **setup)) == subject


@pytest.mark.parametrize(
    ("answer", "lines"),
    [
        (
            {"correct": 1.0, "confidence": 0.9, "value": 0.9, "probability": 0.9},
            {"AUROC: no value: only one class: all correct or all wrong"},
        ),
        (
            {"correct": 1.0, "confidence": 0.9, "value": 2.0, "probability": None},
            {
                "AUROC: no value: only one class: all correct or all wrong",
                "Overconfidence; ECE: no value: the signal is no probability",
            },
        ),
        (
            {"correct": None, "confidence": 0.9, "value": 0.9, "probability": 0.9},
            {"Overconfidence; ECE; AUROC; Accuracy: no value: no usable trials"},
        ),
    ],
)
def test_a_report_says_why_a_measure_is_not_in_the_table(
    answer: dict[str, float | None], lines: set[str], tmp_path: Path
) -> None:
    trial = {"study": "benchmark", "task": "sums", "model": "m", "source": "sums", "condition": "0-100"}
    trials = [{**trial, "status": "ok", **answer, "question_id": f"q-{i}"} for i in range(20)]
    path = tmp_path / "trials.jsonl"
    path.write_text("\n".join(map(json.dumps, trials)), encoding="utf-8")
    done = CliRunner().invoke(report, [str(path), "-o", str(tmp_path / "page.html"), "--resamples", "100"])
    assert done.exit_code == 0, done.output
    assert {line for line in done.stderr.splitlines() if ": no value: " in line} == lines


def test_a_report_shows_true_values_beside_estimated_ones(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = CliRunner().invoke(report, [str(EXAMPLES / "boolq.eval"), "-o", str(page), "--resamples", "100"])
    assert done.stdout.splitlines() == [f"The report is in {page}"]
    rows = {line.split()[0]: line.split() for line in done.stderr.splitlines()[1:]}
    assert rows["measure"][:3] == ["measure", "value", "true"]
    accuracy = NormalDist().cdf(PROFILES["sloppy"].d_prime / 2)
    assert rows["Accuracy"][2] == f"{accuracy:.3f}"


def test_a_simulated_subject_is_shown_at_the_middle_of_its_conditions(tmp_path: Path) -> None:
    """All conditions together have no true values, and the first penalty of RiskEval, which is 0, says little."""
    command = [str(EXAMPLES / "lifeeval.eval"), "-o", str(tmp_path / "page.html"), "--resamples", "50"]
    assert "radius=10 (4 conditions are in the report)" in CliRunner().invoke(report, command).stderr


def test_conditions_without_an_interval_are_counted_with_the_reason(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = CliRunner().invoke(report, [str(EXAMPLES / "signals.eval"), "-o", str(page), "--resamples", "50"])
    lines = done.stderr.splitlines()
    assert "30 conditions: no interval: too few informative questions" in lines
    assert "" not in lines
    assert len(lines) < 20


def test_of_many_conditions_the_best_are_shown_and_the_rest_is_named(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    scales = ["0-100", *(f"0-{5 + k}" for k in range(12))]
    right = rng.random(200) < 0.6
    confidence = np.clip(0.8 + 0.1 * right + rng.normal(0.0, 0.1, (len(scales), 200)), 0.0, 1.0)
    trials = pd.concat(
        pd.DataFrame(
            {
                "question_id": range(200),
                "condition": scale,
                "confidence": sure,
                "correct": right.astype(float),
            }
        )
        for scale, sure in zip(scales, confidence, strict=True)
    ).assign(study="scales", task="scale_granularity", model="lab/m", source="mine", status="ok")
    trials.to_csv(tmp_path / "trials.csv", index=False)
    command = [str(tmp_path / "trials.csv"), "-o", str(tmp_path / "page.html"), "--resamples", "50"]
    assert (
        "the best 10 of 12; all are in the report" in CliRunner().invoke(report, command).stderr.splitlines()
    )


@pytest.fixture(scope="module")
def two_scales(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One model on two scales: surer by 0.2 on 0-20, where it is also right more often."""
    rng = np.random.default_rng(7)
    right = rng.random(200) < 0.6
    better = right | (np.arange(200) % 7 == 0)
    sides = []
    for scale, correct, sure in (("0-100", right, 0.6), ("0-20", better, 0.8)):
        confidence = np.clip(sure + 0.1 * correct + rng.normal(0, 0.05, 200), 0, 1)
        rows = pd.DataFrame(
            {"question_id": range(200), "confidence": confidence, "correct": correct.astype(float)}
        )
        sides.append(rows.assign(condition=scale))
    path = tmp_path_factory.mktemp("scales") / "trials.csv"
    pd.concat(sides).assign(
        study="scales", task="scale_granularity", model="lab/m", source="mine", status="ok"
    ).to_csv(path, index=False)
    return path


def test_a_report_says_which_condition_it_shows_and_prints_the_contrast(two_scales: Path) -> None:
    page = two_scales.parent / "page.html"
    done = CliRunner().invoke(report, [str(two_scales), "-o", str(page), "--resamples", "200"])
    said = " ".join(done.stderr.split())
    assert "lab/m, 0-100 (2 conditions are in the report)" in said
    assert "AUROC minus that of 0-100, paired by question condition difference 95% interval" in said
    estimates = CliRunner().invoke(report, [str(two_scales), "-o", str(page), "--resamples", "200", "--json"])
    (contrast,) = [each for each in json.loads(estimates.stdout)["contrasts"] if each["measure"] == "auroc"]
    row = done.stderr.splitlines()[-1].split()
    assert row[0] == "0-20"
    assert float(row[1].replace("−", "-")) == pytest.approx(contrast["value"], abs=5e-4)


def test_a_report_of_one_condition_says_nothing_of_others(releases: Path) -> None:
    done = CliRunner().invoke(
        report, [str(releases / "new.csv"), "-o", str(releases / "one.html"), "--resamples", "50"]
    )
    assert "conditions are in the report" not in done.stderr
    assert "minus that of" not in done.stderr


@pytest.mark.parametrize("text", ["ece", "ece 0.1", "ece<", "<0.1", "ece<0.1.2", "ece==0.1"])
def test_what_is_no_requirement_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a requirement such as"):
        Requirement.parse(text)


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two releases asked the same 300 questions: the older one is calibrated, the newer one too sure by 0.2."""
    folder = tmp_path_factory.mktemp("releases")
    rng = np.random.default_rng(5)
    known = rng.choice([0.5, 0.6, 0.7], 300)
    right = rng.random(300) < known
    for name, bias in (("old", 0.0), ("new", 0.2)):
        rows = pd.DataFrame(
            {"question_id": range(300), "confidence": known + bias, "correct": right.astype(float)}
        )
        rows.assign(study="scales", model=name, source="mine", condition="0-100", status="ok").to_csv(
            folder / f"{name}.csv", index=False
        )
    return folder


@pytest.mark.parametrize(
    ("requirement", "outcome", "code"),
    [
        ("ece<0.35", "met", 0),
        ("ece<0.1", "not met", 1),
        ("ece<0.21", "undecided", 1),
        ("ece > .1", "met", 0),
        ("ece/0-100<0.35", "met", 0),
        ("auroc<2", "met", 0),
    ],
)
def test_a_report_fails_unless_all_of_an_interval_meets_the_bound(
    releases: Path, requirement: str, outcome: str, code: int
) -> None:
    options = ["-o", str(releases / "page.html"), "--resamples", "200", "--require", requirement, "--json"]
    done = CliRunner().invoke(report, [str(releases / "new.csv"), *options])
    assert done.exit_code == code, done.output
    assert [each["outcome"] for each in json.loads(done.stdout)["requirements"]] == [outcome]
    assert done.stderr.split()[0] == outcome.split()[0]


@pytest.mark.parametrize(
    ("requirement", "message"),
    [
        ("ecce<0.1", "did you mean 'ece'?"),
        ("ece/0-20<0.1", "the conditions are 0-100"),
        ("ece", "is not a requirement"),
    ],
)
def test_a_requirement_that_names_nothing_is_refused(releases: Path, requirement: str, message: str) -> None:
    done = CliRunner().invoke(
        report, [str(releases / "new.csv"), "--require", requirement, "-o", str(releases / "none.html")]
    )
    assert done.exit_code == 2
    assert message in " ".join(done.output.split())
    assert not (releases / "none.html").exists()


@pytest.mark.parametrize(
    ("first", "second", "options", "code"),
    [
        ("old", "new", ["--fail-if-worse", "0.02", "--measure", "ece"], 1),
        ("old", "new", ["--fail-if-worse", "0.5", "--measure", "ece"], 0),
        ("old", "new", ["--fail-if-worse", "0", "--measure", "auroc"], 0),
        ("new", "old", ["--fail-if-worse", "0", "--measure", "ece"], 0),
        ("old", "new", ["--fail-if-worse", "0", "--measure", "overconfidence"], 0),
        ("old", "new", ["--measure", "ece"], 0),
    ],
)
def test_a_comparison_fails_only_where_the_newer_is_credibly_worse(
    releases: Path, first: str, second: str, options: list[str], code: int
) -> None:
    sides = [str(releases / f"{name}.csv") for name in (first, second)]
    done = CliRunner().invoke(compare, [*sides, "--resamples", "500", *options])
    assert done.exit_code == code, done.output
    assert ("B is worse by more than 0.02 in ece (scales, 0-100)" in done.stderr) == (code == 1)


def test_a_full_disk_is_told_and_leaves_no_half_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, target: Path) -> Path:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    done = CliRunner().invoke(
        report, [str(EXAMPLES / "boolq.eval"), "-o", str(tmp_path / "page.html"), "--resamples", "20"]
    )
    assert done.exit_code == 1
    assert "No space left on device: not every file of the report could be written" in " ".join(
        done.output.split()
    )
    assert list(tmp_path.iterdir()) == []


def test_a_quotation_mark_needs_no_font_encoding() -> None:
    assert latex('the "best" model') == "the ''best'' model"
    assert latex("org--name it's ''so'', ?`") == "org-{}-name it's '{}'so'{}'{}, ?{}`"


def test_a_power_analysis_says_what_it_simulates(tmp_path: Path) -> None:
    options = ["scales", "--measure", "accuracy", "--effect", "0.2", "--n", "50,1000", "--studies", "100"]
    done = CliRunner().invoke(power, options)
    assert done.exit_code == 0, done.output
    assert done.stderr.splitlines() == ["simulating 100 studies of each size: 50, 1000 questions"]
