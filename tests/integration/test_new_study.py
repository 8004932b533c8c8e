"""A new study is a skeleton that runs: its own test passes, and every command and both harnesses find it."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner
from inspect_ai.log import read_eval_log
from tests.integration.commands import COMMANDS

from confidence_tasks.cli import main
from confidence_tasks.logs.log_scores import logged_metrics
from confidence_tasks.new_study import write_study

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
NAME = "guesswork"


@dataclass(frozen=True)
class Made:
    """A new study in an environment of its own."""

    task: str
    test: Path
    folder: Path
    environment: Mapping[str, str]

    def command(self, *commands: Sequence[str]) -> list[str]:
        """Run ``confidence-tasks`` with some words, and with others; return what each says."""
        return self.run("-c", EACH, json.dumps(commands)).split(END)[:-1]

    def run(self, *arguments: str) -> str:
        """Run Python."""
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr


END = "--- end of a command ---\n"
EACH = f"""
import json, sys
from confidence_tasks.cli import main
for words in json.loads(sys.argv[1]):
    main(words, standalone_mode=False)
    print(end={END!r}, flush=True)
"""
"""One process for several commands: importing takes most of the time of each."""


def install(project: Path, site_packages: Path) -> None:
    """Put a package where an installer would, with the entry points that its pyproject.toml declares."""
    declared = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (source,) = (project / "src").iterdir()
    shutil.copytree(source, site_packages / source.name)
    about = site_packages / f"{source.name}-{declared['version']}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {declared['name']}\nVersion: {declared['version']}\n", encoding="utf-8"
    )
    groups = (
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in entries.items())
        for group, entries in declared["entry-points"].items()
    )
    (about / "entry_points.txt").write_text("\n".join(groups), encoding="utf-8")


@pytest.fixture(params=["package", "repository"])
def made(request: pytest.FixtureRequest, tmp_path: Path) -> Made:
    folder, site_packages = tmp_path / "work", tmp_path / "site-packages"
    folder.mkdir()
    site_packages.mkdir()
    source = ROOT / "src"
    if request.param == "repository":
        copy = tmp_path / "checkout"
        shutil.copytree(source, copy / "src", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", copy)
        (copy / "tests").mkdir()
        source = copy / "src"
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("INSPECT_")},
        "PYTHONPATH": os.pathsep.join(map(str, (site_packages, source))),
        "INSPECT_CACHE_DIR": str(tmp_path / "cache"),
    }
    study = Made("", Path(), folder, environment)
    (said,) = study.command(["new-study", NAME, *(["--package"] if request.param == "package" else [])])
    files = [
        folder / line for line in said.partition("\n\n")[0].splitlines() if line.endswith((".py", ".toml"))
    ]
    assert all(path.is_file() for path in files)
    if request.param == "package":
        assert len(files) == 5
        install(folder / NAME, site_packages)
        return Made(f"{NAME}/{NAME}", files[-1], folder, environment)
    assert len(files) == 4
    return Made(f"confidence_tasks/{NAME}", files[-1], folder, environment)


@pytest.mark.sampled("made", one_in=2)
def test_a_new_study_is_known_everywhere_without_another_edit(made: Made) -> None:
    assert "8 passed" in made.run(
        "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, str(made.test)
    )

    models = "simulated/ideal,simulated/overconfident"
    arguments = ("--model", models, "-T", "n=60", "--log-dir", "logs", "--display", "none")
    made.run("-m", "inspect_ai", "eval", made.task, *arguments)
    arguments = ("--model", "simulated", "--limit", "60", "--log_samples", "--output_path", "samples")
    assert f"{NAME}_plain" in made.run("-c", COMMANDS["lm_eval"], "run", "--tasks", NAME, *arguments)

    ideal, overconfident = (
        next(
            str(path)
            for path in (made.folder / "logs").glob("*.eval")
            if model_of(path) == f"simulated/{subject}"
        )
        for subject in ("ideal", "overconfident")
    )
    replies = made.folder / "replies.jsonl"
    replies.write_text(
        "".join(
            json.dumps({"question": f"Is {i} odd?", "answer": "yes", "kind": "boolean", "reply": reply})
            + "\n"
            for i, reply in enumerate(("Answer: yes\nConfidence: 90%", "Answer: no\nConfidence: 60%"))
        ),
        encoding="utf-8",
    )
    _, compared, rescored, power, _ = made.command(
        ["report", "logs", "samples", "--output", "page.html"],
        ["compare", ideal, overconfident],
        ["rescore", ideal],
        ["power", NAME, "--measure", "ece", "--effect", "-0.1", "--n", "100", "--studies", "100"],
        ["score", str(replies), "--study", NAME, "--log-dir", "scored"],
    )
    page = (made.folder / "page.html").read_text(encoding="utf-8")
    assert "Does the model know when it is right?" in page
    assert "Share of the answers by stated confidence." in page
    assert all(model in page for model in ("simulated/ideal", "simulated/overconfident"))
    assert all(measure in compared for measure in ("AUROC", "ECE", "Accuracy"))
    assert rescored.rstrip().endswith("nothing changed")
    assert "100" in power
    (scored,) = (made.folder / "scored").glob("*.eval")
    assert logged_metrics(read_eval_log(str(scored)))["accuracy/plain"] == 0.5


def model_of(path: Path) -> str:
    return read_eval_log(str(path), header_only=True).eval.model


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Guess-Work", "is not a valid study name: use lower-case letters"),
        ("class", "is not a valid study name"),
        ("scales", "a study named scales exists already"),
        ("json", "a module named json exists already"),
    ],
)
def test_a_name_that_cannot_be_used_is_refused_and_nothing_is_written(
    name: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=said):
        write_study(name, tmp_path, package=True)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    (first, *_) = write_study(NAME, tmp_path, package=True)
    first.write_text("mine", encoding="utf-8")
    with pytest.raises(ValueError, match="exists already"):
        write_study(NAME, tmp_path, package=True)
    assert first.read_text(encoding="utf-8") == "mine"


def test_the_command_says_what_is_wrong_in_a_line() -> None:
    done = CliRunner().invoke(main, ["new-study", "scales"])
    assert done.exit_code == 1
    assert done.output == "Error: a study named scales exists already: choose another name\n"
