"""The same studies as lm-evaluation-harness tasks."""

from pathlib import Path


def lm_eval_tasks_path() -> Path:
    """Return the folder for ``lm_eval --include_path``, where the start-up hook is switched off or unwanted.

    Examples
    --------
    >>> lm_eval_tasks_path().name
    'lm_eval'
    """
    return Path(__file__).parent
