"""A local model of natural-language inference: whether two answers to a question entail each other."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any

_BATCH = 32


def check_installed() -> None:
    """Raise ValueError, naming the fix, if transformers or torch is missing."""
    if missing := [name for name in ("transformers", "torch") if find_spec(name) is None]:
        raise ValueError(
            f"entailment='nli' needs {' and '.join(missing)}: pip install 'confidence-tasks[hf]'"
        )


@cache
def _load(name: str) -> tuple[Any, Any, int]:
    """Load a model by its name or folder, once; ValueError if it has no label for entailment."""
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer, model = (
        made.from_pretrained(name) for made in (AutoTokenizer, AutoModelForSequenceClassification)
    )
    labels = {str(label).casefold(): int(i) for i, label in model.config.id2label.items()}
    found = [i for label, i in labels.items() if label.startswith("entail")]
    if len(found) != 1:
        raise ValueError(
            f"{name} has no label for entailment among {', '.join(labels)}: take a model of MNLI"
        )
    return tokenizer, model.eval(), found[0]


def entails_both_ways(name: str, question: str, pairs: Sequence[tuple[str, str]]) -> list[bool]:
    """Tell for each pair of answers whether each entails the other, both after the question.

    Parameters
    ----------
    name : str
        Name or folder of a sequence classifier with a label for entailment.
    question : str
        What was asked, the context of the answers.
    pairs : sequence of (str, str)
        Answers.

    Raises
    ------
    OSError, ValueError
        If the model cannot be loaded, or has no label for entailment.

    References
    ----------
    Kuhn, Gal & Farquhar (2023), Semantic uncertainty, arXiv:2302.09664, algorithm 1.
    """
    import torch

    tokenizer, model, entailment = _load(name)
    texts = [(f"{question} {a}", f"{question} {b}") for pair in pairs for a, b in (pair, pair[::-1])]
    entailed: list[bool] = []
    for start in range(0, len(texts), _BATCH):
        premises, hypotheses = zip(*texts[start : start + _BATCH], strict=True)
        encoded = tokenizer(
            list(premises), list(hypotheses), return_tensors="pt", padding=True, truncation=True
        )
        with torch.inference_mode():
            logits = model(**encoded).logits
        entailed += (logits.argmax(dim=-1) == entailment).tolist()
    return [forth and back for forth, back in zip(entailed[::2], entailed[1::2], strict=True)]
