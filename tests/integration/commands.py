"""The commands as a user types them, in a folder of the user's own."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

# As the command does, with the start-up hook of this checkout: that of the environment is of the day it was made.
# Of lm-eval's own 10,000 files, which take seconds to read, its index has the first.
LM_EVAL = """
import itertools, sys
from confidence_tasks import _startup
sys.modules["_confidence_tasks_lm_eval"] = _startup
_startup.install()
from lm_eval.__main__ import cli_evaluate
from lm_eval.tasks import _index
files = _index.TaskIndex._iter_yaml_files
_index.TaskIndex._iter_yaml_files = staticmethod(lambda root: itertools.islice(files(root), 1))
sys.argv[0] = "lm_eval"
cli_evaluate()
"""

# As on a machine without a network: every connection but to the machine itself fails.
_NETWORK = """
import os, socket
if os.environ.get("NO_NETWORK"):
    connect = socket.socket.connect
    def refuse(self, address):
        if isinstance(address, tuple) and address[0] not in ("127.0.0.1", "::1", "localhost"):
            raise OSError("no network")
        return connect(self, address)
    socket.socket.connect = refuse
"""
_SCRIPT = _NETWORK + "from {0} import main; import sys; sys.argv[0] = {1!r}; main()"
COMMANDS = {
    "python": "import sys; exec(sys.argv[1])",
    "inspect": _SCRIPT.format("inspect_ai._cli.main", "inspect"),
    "confidence-tasks": _SCRIPT.format("confidence_tasks.cli", "confidence-tasks"),
    "lm_eval": LM_EVAL,
}

_LEFT_OUT = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "HF_TOKEN", "CONFIDENCE_TASKS_MIRROR")
_QUIET = {
    "HF_HUB_OFFLINE": "1",
    "INSPECT_DISPLAY": "plain",
    "PYTHONIOENCODING": "utf-8",
    "COLUMNS": "100",
    "MPLBACKEND": "Agg",
}


class Forks:
    """Runs commands one at a time, each in a process that is forked from one that has imported what they need."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("forks.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | _QUIET,
            text=True,
        )
        self._under_way = False

    def start(
        self,
        command: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        output: Path,
        errors: Path,
    ) -> int:
        """Start a command, whose streams are added to two files; return the id of its process."""
        if self._under_way:  # of a test that failed
            self.wait()
        name, *arguments = command
        told = {
            "program": COMMANDS[name],
            "arguments": arguments,
            "environment": dict(environment),
            "folder": str(folder),
            "output": str(output),
            "errors": str(errors),
        }
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(told) + "\n")
        self._process.stdin.flush()
        self._under_way = True
        return self._line()

    def wait(self) -> int:
        """Return the exit status of the command, once it has ended."""
        self._under_way = False
        return self._line()

    def _line(self) -> int:
        assert self._process.stdout is not None
        return int(self._process.stdout.readline())


@cache
def forks() -> Forks:
    """Return the process of this session that commands are forked from; it ends when the session does."""
    return Forks()


def run(folder: Path, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command without a terminal, a key, a hub or a mirror; its log directory is ``folder/logs``."""
    with TemporaryDirectory() as said:
        streams = Path(said, "output"), Path(said, "errors")
        forks().start(command, folder, _environment(environment), *streams)
        code = forks().wait()
        return subprocess.CompletedProcess(
            list(command), code, *(stream.read_text(encoding="utf-8") for stream in streams)
        )


def run_anew(folder: Path, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command like `run`, in a new interpreter as a user does, which takes seconds more."""
    name, *arguments = command
    return subprocess.run(
        [sys.executable, "-c", COMMANDS[name], *arguments],
        cwd=folder,
        env=_environment(environment),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=600,
    )


def _environment(given: Mapping[str, str]) -> dict[str, str]:
    inherited = {key: value for key, value in os.environ.items() if key not in _LEFT_OUT}
    return {**inherited, **_QUIET, **given}
