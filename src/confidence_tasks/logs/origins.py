"""Who answered in a run, as its samples tell: servers, the models that they served, and replies from earlier runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from confidence_tasks.harness.system_role import SYSTEM_MESSAGE
from confidence_tasks.logs.run_settings import setup_of

_PREFIXES = {"model": "model"}
"""Prefix of a setting by role; of any other role ``judge`` it is ``role.judge.model``."""


@dataclass
class Origins:
    """The origins of the samples of a run.

    Attributes
    ----------
    values : dict
        Each value of ``base_url``, ``served`` and ``system_message``, by role and name.
    earlier : list of str
        Time of each reply that was read from the cache of an earlier run.
    """

    created: str
    values: dict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))
    earlier: list[str] = field(default_factory=list)

    def add(self, origin: object) -> None:
        """Add what a sample's metadata hold; anything malformed is left out."""
        for role, found in origin.items() if isinstance(origin, Mapping) else ():
            if isinstance(found, Mapping):
                self._add(str(role), found)

    def _add(self, role: str, found: Mapping[str, Any]) -> None:
        for name in ("base_url", "served", SYSTEM_MESSAGE):
            if isinstance(value := found.get(name), str):
                self.values[role, name].add(value)
        count, since = found.get("cached"), found.get("cached_since")
        if isinstance(count, int) and isinstance(since, str) and _time(since) < _time(self.created):
            self.earlier += [since] * min(count, _MOST)

    def settings(self) -> dict[str, str]:
        """Return the servers and the served models as settings of the run."""
        settings: dict[str, str] = {}
        for (role, name), values in self.values.items():
            prefix = _PREFIXES.get(role, f"role.{role}.model")
            settings |= setup_of(prefix, {name: ", ".join(sorted(values))})
        return settings

    def remark(self) -> str:
        """Return how many replies came from earlier runs, and of which date; empty if none did."""
        if not self.earlier:
            return ""
        days = sorted({since[:10] for since in self.earlier})
        between = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
        return f"{len(self.earlier)} replies of {between}"


_MOST = 10_000
"""Largest number of replies of a sample that is believed."""


def _time(text: str) -> datetime:
    """Return a time with its zone; the earliest one for a text that is none."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
    return time if time.tzinfo else time.replace(tzinfo=UTC)
