"""Inspect imports every plugin at every start: ours must bring nothing heavy with it. Nor must the list of commands."""

import subprocess
import sys
from pathlib import Path

import pytest

from confidence_tasks.cli import COMMANDS

pytestmark = pytest.mark.slow

SCIPY = ("scipy.stats", "scipy.special", "scipy.optimize", "scipy.sparse", "scipy.linalg", "scipy.integrate")
"""Parts of SciPy take up to half a second, SciPy without them and all of ``statistics`` a tenth of one."""

HEAVY = (*SCIPY, "pandas", "datasets", "matplotlib", "torch")

PROBE = f"""
import sys
import inspect_ai
before = set(sys.modules)
import confidence_tasks._registry
print(sorted(set({HEAVY!r}) & (set(sys.modules) - before)))
"""


def test_registry_pulls_in_nothing_heavy() -> None:
    found = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


HELP_OF_ONE = f"""
import sys
from confidence_tasks.cli import main
main(sys.argv[1:], standalone_mode=False)
print(sorted({{*{HEAVY!r}, "inspect_ai", "lm_eval"}} & set(sys.modules)))
"""


@pytest.mark.parametrize(
    "arguments", [["--version"], *([name, "--help"] for name in sorted(COMMANDS))], ids=" ".join
)
def test_help_of_a_command_imports_nothing_heavy(arguments: list[str]) -> None:
    found = subprocess.run(
        [sys.executable, "-c", HELP_OF_ONE, *arguments], capture_output=True, text=True, check=True
    )
    assert found.stdout.splitlines()[-1] == "[]"


HELP = f"""
import sys
from confidence_tasks.cli import COMMANDS, SUMMARIES, main
main(["--help"], standalone_mode=False)
assert COMMANDS.keys() == SUMMARIES.keys()
print(sorted({{*{HEAVY!r}, "inspect_ai"}} & set(sys.modules)))
"""


def test_help_lists_every_command_and_imports_none() -> None:
    found = subprocess.run([sys.executable, "-c", HELP], capture_output=True, text=True, check=True)
    assert found.stdout.splitlines()[-1] == "[]"
    assert "  report        Write a page of tables, figures and checks from logs." in found.stdout


REPORTS = f"""
import sys
import confidence_tasks.report.write
from confidence_tasks.catalogue import studies
from confidence_tasks.report.study_report import study_report
for study in studies():
    study_report(study)
used = {{"scipy.special", "scipy.sparse", "scipy.linalg", "pandas"}}
print(sorted({{*{HEAVY!r}, "inspect_ai", "lm_eval"}} & set(sys.modules) - used))
"""


def test_studies_and_reports_load_no_harness_until_a_log_is_read_nor_scipy_s_larger_parts() -> None:
    found = subprocess.run([sys.executable, "-c", REPORTS], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


READS = """
import sys
from confidence_tasks import metrics
(table,) = [metrics(sys.argv[1])]
assert len(table)
print("inspect_ai" in sys.modules)
"""


def test_a_log_of_a_study_is_read_without_the_import_of_inspect(log: Path) -> None:
    found = subprocess.run(
        [sys.executable, "-c", READS, str(log)], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "False"
