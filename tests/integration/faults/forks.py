"""``python forks.py``: a process that has imported Inspect, and forks a child for each ``inspect`` command.

Importing takes most of the time of a small run, and a forked process dies of SIGKILL like any other. A line of JSON
in is a command, ``{"arguments": [...], "environment": {...}, "folder": "..."}``; two lines out are the child's process
id, and its exit status once it has ended.
"""

import json
import os
import sys

# What an evaluation imports when it runs; nothing that starts a thread, which a fork would not take along.
import inspect_ai._eval.eval
import numpy
import openai
import scipy.optimize
import scipy.stats
from inspect_ai._cli.main import main

import confidence_tasks._registry
import confidence_tasks.statistics

PRELOADED = (inspect_ai, numpy, openai, scipy, confidence_tasks)


def run(command: dict) -> None:
    """Become the process of one command."""
    os.environ.update(command["environment"])
    os.chdir(command["folder"])
    output = os.open("output.txt", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    for stream in (1, 2):
        os.dup2(output, stream)
    sys.argv = ["inspect", *command["arguments"]]
    main()


if __name__ == "__main__":
    for line in sys.stdin:
        told = json.loads(line)
        child = os.fork()
        if child == 0:
            run(told)
            sys.exit(0)
        print(child, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
