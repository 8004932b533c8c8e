"""Small trials of every task of the papers, by two models whose names no format takes as they are."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from confidence_tasks.sources import Question
from confidence_tasks.studies.scales.scale import BOUNDARY, GRANULARITY, NONSTANDARD, Scale
from confidence_tasks.studies.scales.trials import scale_trial

MODELS = ("lab/a_b&50%\\x#{1}$^~", "=cmd|模型<i>é")
"""Names that LaTeX, HTML or a spreadsheet would take for more than text."""

Rows = Iterator[Mapping[str, Any]]

SCALE_TASKS = {"scale_granularity": GRANULARITY, "scale_boundary": BOUNDARY, "scale_nonstandard": NONSTANDARD}


def scale_rows(
    tasks: Mapping[str, tuple[Scale, ...]] = SCALE_TASKS,
    sources: tuple[str, ...] = ("mmlu", "gsm8k"),
    n: int = 24,
) -> Rows:
    """Yield trials on every scale; the first model's confidence tells more of what it knows."""
    rng = np.random.default_rng(1)
    for model, skill in zip(MODELS, (1.6, 0.4), strict=True):
        for task, scales in tasks.items():
            for source in sources:
                for i in range(n):
                    question = Question(f"{source}-{i}", source, "How many?", "number", "7")
                    evidence = rng.normal(size=len(scales))
                    for scale, noise in zip(scales, evidence, strict=True):
                        right = (i + len(source)) % 3 > 0
                        share = 1.0 / (1.0 + np.exp(-(1.5 + skill * (1 if right else -1) + noise)))
                        stated = round(scale.lower + share * (scale.upper - scale.lower))
                        trial = scale_trial(
                            question, scale, f"Answer: {7 if right else 8}\nConfidence: {stated}"
                        )
                        yield {"study": "scales", "task": task, "model": model, **trial}
