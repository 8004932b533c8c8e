"""How often the registered rules of the log-probability study say "supported" where there is nothing.

Simulated studies of normal evidence, 250 to 500 each, such as ``python -m benchmarks.validity_nlp_metad`` makes; the
figures are in docs/reliability.md. What holds for one model gives what holds for several that answer independently.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Chance:
    """Share of studies with nothing to find in which a rule is met.

    Attributes
    ----------
    nothing : str
        What is not there, as the beginning of a sentence.
    registered : callable
        The share by the number of models.
    corrected : callable, optional
        The same after Bonferroni's correction for pairs.
    """

    nothing: str
    registered: Callable[[int], float]
    corrected: Callable[[int], float] | None = None

    def sentence(self, n_models: int) -> str:
        """Say how often a rule is met by chance."""
        said = f"{self.nothing}, the rule as registered is met in {_percent(self.registered(n_models))} of studies"
        if self.corrected is not None:
            said += f", corrected in {_percent(self.corrected(n_models))}"
        return f"{said} (simulated)."


def _percent(share: float) -> str:
    """Write a share.

    Examples
    --------
    >>> _percent(0.214), _percent(0.002)
    ('21%', 'less than 1%')
    """
    return "less than 1%" if share < 0.005 else f"{share:.0%}"


def _in_all(of_one: float) -> Callable[[int], float]:
    """The rule asks for every model."""
    return lambda n_models: of_one**n_models


def _in_two(of_one: float) -> Callable[[int], float]:
    """The rule asks for two models or more."""

    def share(n_models: int) -> float:
        none, one = (1.0 - of_one) ** n_models, n_models * of_one * (1.0 - of_one) ** (n_models - 1)
        return 1.0 - none - one

    return share


def _simulated(by_models: Mapping[int, float]) -> Callable[[int], float]:
    """Return the share of as many models as were simulated, but no more than there are."""
    return lambda n_models: by_models[
        max(known for known in by_models if known <= max(n_models, min(by_models)))
    ]


CHANCE: Mapping[str, Chance] = {
    "H1": Chance("Where M-ratio is 1", _in_all(0.042)),
    "H2": Chance("Where no two of four domains differ", _in_two(0.192), _in_two(0.044)),
    "H3": Chance("Where nothing depends on temperature", _in_all(0.345)),
    "H4": Chance(
        "Where no two models differ",
        _simulated({2: 0.05, 3: 0.107, 4: 0.167, 6: 0.31}),
        _simulated({2: 0.05, 3: 0.03, 4: 0.04, 6: 0.03}),
    ),
}
"""By hypothesis, about version 1's M-ratio."""
