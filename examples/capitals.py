"""A benchmark of one's own: an Inspect task that knows nothing of confidence.

inspect eval confidence_tasks/with_confidence -T task=examples/capitals.py@capitals --model simulated/overconfident
"""

from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import FieldSpec, json_dataset
from inspect_ai.scorer import includes

QUESTIONS = Path(__file__).resolve().parents[1] / "docs" / "capitals.jsonl"


@task
def capitals() -> Task:
    """Return questions about capitals."""
    dataset = json_dataset(str(QUESTIONS), FieldSpec(input="question", target="answer"))
    return Task(dataset, scorer=includes())
