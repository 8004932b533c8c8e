"""The commands as a user types them, in a folder of the user's own."""

import os
import subprocess
import sys
from pathlib import Path

# As the command does, with the start-up hook of this checkout: that of the environment is of the day it was made.
LM_EVAL = """
import sys
from confidence_tasks import _startup
sys.modules["_confidence_tasks_lm_eval"] = _startup
_startup.install()
from lm_eval.__main__ import cli_evaluate
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


def run(folder: Path, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command without a terminal, a key, a hub or a mirror; its log directory is ``folder/logs``."""
    name, *arguments = command
    quiet = {
        "HF_HUB_OFFLINE": "1",
        "INSPECT_DISPLAY": "plain",
        "PYTHONIOENCODING": "utf-8",
        "COLUMNS": "100",
        "MPLBACKEND": "Agg",
    }
    inherited = {key: value for key, value in os.environ.items() if key not in _LEFT_OUT}
    return subprocess.run(
        [sys.executable, "-c", COMMANDS[name], *arguments],
        cwd=folder,
        env={**inherited, **quiet, **environment},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=600,
    )
