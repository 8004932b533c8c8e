"""FermiEval by repeated samples on lm-eval: intervals, or exponents at once and after reasoning.

Epstein, Winnicki, Sornwanee & Dwaraknath (2025), theorem 1 and appendices F and G.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from confidence_tasks.harness.inspect.samples import one_of
from confidence_tasks.harness.lm_eval.staged import StudyOfStages
from confidence_tasks.harness.staged import chosen_conditions

ASKED: Mapping[str, str] = {"interval": "interval", "exponent": "direct,reasoned"}
"""Ways of asking by condition: those whose samples are compared are in one task."""


class FermiSamplingTask(StudyOfStages):
    """Samples of intervals at every level, or of exponents; ``n`` limits the questions, ``--limit`` the samples."""

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """The parameters of Inspect's task that ask the same, checked."""
        said = self.config.metadata or {}
        condition = one_of(list(ASKED), str(said["condition"]), "condition")
        return {**super().parameters, "ask": said.get("ask", ASKED[condition])}

    @property
    def conditions(self) -> Sequence[str]:
        """The conditions of all samples."""
        return chosen_conditions(self.STUDY, self.parameters)
