"""``python forks.py``: a process that has imported what commands need, and forks a child for each command.

Importing takes most of the time of a small run, and a forked process dies of SIGKILL like any other. A line of JSON
in is a command, ``{"program": "...", "arguments": [...], "environment": {...}, "folder": "...", "output": "...",
"errors": "..."}``: Python code with its arguments, in a folder, and the files that its two streams are added to. Two
lines out are the child's process id, and its exit status once it has ended.
"""

import gc
import json
import os
import sys

# Nothing that starts a thread, which a fork would not take along: pandas does, where PyArrow is installed.
import inspect_ai._cli.main
import inspect_ai._eval.eval
import matplotlib.figure
import numpy
import openai
import scipy.optimize
import scipy.stats

import confidence_tasks.cli
import confidence_tasks.harness.inspect.metrics
import confidence_tasks.harness.inspect.task
import confidence_tasks.statistics
from confidence_tasks.catalogue import studies

PRELOADED = (inspect_ai, matplotlib, numpy, openai, scipy, confidence_tasks, studies())
"""All but `confidence_tasks._registry`, which looks at the words of its own command."""


def run(command: dict) -> None:
    """Become the process of one command."""
    os.environ.clear()
    os.environ.update(command["environment"])
    streams = [
        os.open(command[name], os.O_WRONLY | os.O_APPEND | os.O_CREAT) for name in ("output", "errors")
    ]
    for number, stream in enumerate((os.open(os.devnull, os.O_RDONLY), *streams)):
        os.dup2(stream, number)
    os.chdir(command["folder"])
    sys.path[0] = ""
    sys.argv = ["-c", *command["arguments"]]
    exec(command["program"], {"__name__": "__main__"})


if __name__ == "__main__":
    gc.freeze()  # what is never looked through is never copied
    for line in sys.stdin:
        told = json.loads(line)
        child = os.fork()
        if child == 0:
            run(told)
            sys.exit(0)
        print(child, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
