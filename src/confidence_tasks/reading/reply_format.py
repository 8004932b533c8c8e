"""The format of a reply that a prompt asks for: lines with answers and confidences, or a JSON object."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from confidence_tasks.reading.integer_scale import Scale


@dataclass(frozen=True, slots=True)
class Format:
    """Format of the reply that a prompt asks for.

    Attributes
    ----------
    labels : tuple of str
        Labels of the last lines, alternately of an answer and of its confidence.
    reasoning_label : str
        Label of the free text before those lines; empty if the format has none.
    placeholder : str
        Text that stands for an answer in the prompt.
    answer_index : int
        Index of the answer that is scored if a reply gives several: 0 for the first, -1 for the last.
    """

    labels: tuple[str, ...] = ("Answer:", "Confidence:")
    reasoning_label: str = ""
    placeholder: str = "<your answer>"
    answer_index: int = -1

    def fill(self, reasoning: str, values: Sequence[str]) -> str:
        """Return a reply in the format; labels without a value are left out."""
        lines = [f"{self.reasoning_label} {reasoning}"] if self.reasoning_label else []
        lines += [f"{label} {value}" for label, value in zip(self.labels, values, strict=False)]
        return "\n".join(lines)

    def template(self, scale: Scale) -> str:
        """Return the format as the prompt shows it."""
        reasoning = f"<your step-by-step {self.reasoning_label.rstrip(':').lower()}>"
        values = (self.placeholder, f"<integer between {scale.lower} and {scale.upper}>")
        return self.fill(reasoning, values * (len(self.labels) // 2))

    def as_object(self) -> Format:
        """Return the format with the keys of a JSON object as labels.

        Examples
        --------
        >>> Format(("Final Answer:", "Confidence:")).as_object().labels
        ('final_answer:', 'confidence:')
        """
        keys = tuple(label.lower().replace(" ", "_") for label in self.labels)
        return replace(self, labels=keys, reasoning_label=self.reasoning_label.lower())

    def key_names(self) -> list[str]:
        """Return the keys of a JSON object, in the order of its values."""
        labels = filter(None, (self.reasoning_label, *self.labels))
        return [label.rstrip(":") for label in labels]


ANSWER_AND_CONFIDENCE = Format()
"""Two lines and nothing else."""
