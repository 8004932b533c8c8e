"""Which column of a table is the reply, the key, the verdict or the confidence: by its name, or else by its content."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from confidence_tasks.reading.confidence import read_confidence
from confidence_tasks.reading.verdict import verdict_words
from confidence_tasks.sources.any_table import Rows
from confidence_tasks.sources.source import SourceError
from confidence_tasks.study.parameter import did_you_mean

NAMES: Mapping[str, tuple[str, ...]] = {
    "reply": (
        *("reply", "response", "completion", "raw_response", "model_response", "llm_response", "raw_output"),
        *("model_output", "generated_text", "generation", "output", "content", "text", "resps"),
    ),
    "gold": (
        *(
            "gold",
            "gold_answer",
            "correct_answer",
            "right_answer",
            "reference",
            "reference_answer",
            "ground_truth",
        ),
        *("target", "expected", "expected_answer", "true_answer", "key", "truth", "ideal", "best_answer"),
        *(
            "real_answer",
            "answer_key",
            "gold_label",
            "ground_truth_answer",
            "correct_choice",
            "reference_answers",
        ),
    ),
    "answer": (
        *("model_answer", "predicted_answer", "prediction", "predicted", "extracted_answer", "parsed_answer"),
        *("pred", "guess", "generated_answer"),
    ),
    "correct": (
        *(
            "correct",
            "is_correct",
            "correctness",
            "iscorrect",
            "was_correct",
            "verdict",
            "grade",
            "judgement",
        ),
        *("judgment", "judge", "judge_verdict", "em", "exact_match", "is_right", "accuracy"),
    ),
    "confidence": (
        *(
            "confidence",
            "stated_confidence",
            "verbal_confidence",
            "verbalized_confidence",
            "confidence_score",
        ),
        *("model_confidence", "probability", "prob", "conf", "certainty", "p_correct", "p_true"),
    ),
    "question": ("question", "query", "prompt", "problem", "input", "instruction"),
    "id": ("question_id", "id", "qid", "uid", "sample_id", "item_id", "idx"),
    "model": ("model", "model_name", "model_id", "llm"),
    "choices": ("choices", "options"),
    "aliases": ("aliases", "answer_aliases", "gold_aliases", "alternatives"),
    "cluster": ("cluster", "cluster_id", "passage_id"),
}
"""Usual names of the columns of each role, the most usual first."""

ROLES = tuple(NAMES)


@dataclass
class Columns:
    """The column of each role, and how it was found.

    Attributes
    ----------
    chosen : dict of str to str
        Name of the column by role; roles without a column are absent.
    how : dict of str to str
        ``named by you``, ``by name`` or ``by content``.
    """

    chosen: dict[str, str] = field(default_factory=dict)
    how: dict[str, str] = field(default_factory=dict)

    def add(self, role: str, column: str, how: str) -> None:
        """Choose a column."""
        self.chosen[role], self.how[role] = column, how

    def unused(self, available: Sequence[str]) -> list[str]:
        """Return sentences on columns that could have been chosen by their names, too, and were not."""
        free = [name for name in available if name not in self.chosen.values()]
        return [
            f"{name} is not used; it could be the column of {role}, too: --{role} {name}"
            for role in ("reply", "gold", "correct", "confidence")
            if self.how.get(role) == "by name"
            for name in free
            if plain_name(name) in NAMES[role] and name != "text"
        ]

    def values(self, role: str, rows: Rows) -> list[Any]:
        """Return the cells of a role, None where one is missing or the role has no column."""
        column = self.chosen.get(role)
        return [row.get(column) if column else None for row in rows]

    def sentence(self) -> str:
        """Return what was chosen in words."""
        return ", ".join(f"{role} = {column} ({self.how[role]})" for role, column in self.chosen.items())


def find_columns(rows: Rows, named: Mapping[str, str]) -> Columns:
    """Return the columns of a table.

    ``answer`` is the key if there is a reply and no other key, as in the files of :func:`score_replies`; beside a key
    it is the model's answer.

    Parameters
    ----------
    rows : list of dict
        The table.
    named : mapping of str to str
        Columns that the user names, by role; an empty name leaves the role without a column.

    Raises
    ------
    SourceError
        If a named column does not exist, or two columns could have a role.

    Examples
    --------
    >>> rows = [{"question": "?", "answer": "Lima", "response": "Guess: Lima", "graded": "yes"}]
    >>> print(find_columns(rows, {"correct": "graded"}).sentence())
    correct = graded (named by you), reply = response (by name), question = question (by name), gold = answer (by name)
    """
    available = list(dict.fromkeys(name for row in rows for name in row))
    columns = Columns()
    _add_named(named, available, columns)
    for role in (role for role in NAMES if role not in named):
        _add_by_name(role, available, columns)
    _add_answer(available, columns, named)
    for role in (role for role in _TESTS if role not in {*named, *columns.chosen}):
        _add_by_content(role, rows, available, columns)
    return columns


def _add_named(named: Mapping[str, str], available: Sequence[str], columns: Columns) -> None:
    for role, name in named.items():
        if name and name not in available:
            raise SourceError(
                f"there is no column {name!r}; there are {', '.join(available)}{did_you_mean(name, available)}"
            )
        if name:
            columns.add(role, name, "named by you")


def plain_name(name: str) -> str:
    """Return the name of a column in lower case with underscores, such as ``model_answer`` of ``modelAnswer``."""
    return re.sub(r"[^a-z0-9]+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()).strip("_")


def _add_by_name(role: str, available: Sequence[str], columns: Columns) -> None:
    free = [name for name in available if name not in columns.chosen.values()]
    if found := usual_column(role, NAMES[role], free, f"--{role}"):
        columns.add(role, found, "by name")


def usual_column(role: str, names: Sequence[str], available: Sequence[str], option: str = "") -> str:
    """Return the column with the first of some usual names that there is; empty without one.

    Raises
    ------
    SourceError
        If two columns have this name in different spellings; ``option`` is that of the command which names one.
    """
    for usual in names:
        found = _called(usual, available)
        if len(found) > 1:
            fix = f"name one with {option} {found[0]!r}" if option else "rename or delete one"
            raise SourceError(f"{' and '.join(found)} could be the column of {role}: {fix}")
        if found:
            return found[0]
    return ""


def _called(usual: str, names: Sequence[str]) -> list[str]:
    """Return the columns of a name; of nested columns, those that end in it if there is no other."""
    whole = [name for name in names if plain_name(name) == usual]
    return whole or [name for name in names if plain_name(name.rpartition(".")[2]) == usual]


def _add_answer(available: Sequence[str], columns: Columns, named: Mapping[str, str]) -> None:
    """Choose the column ``answer``: the key, or the model's answer if there is a key or no reply."""
    found = [
        name for name in available if plain_name(name) == "answer" and name not in columns.chosen.values()
    ]
    if len(found) != 1:
        return
    is_key = "gold" not in columns.chosen and "gold" not in named and "reply" in columns.chosen
    role = "gold" if is_key else "answer"
    if role not in columns.chosen and role not in named:
        columns.add(role, found[0], "by name")


def _add_by_content(role: str, rows: Rows, available: Sequence[str], columns: Columns) -> None:
    """Choose the only free column whose cells pass the test of the role."""
    free = [name for name in available if name not in columns.chosen.values()]
    cells = {name: [row[name] for row in rows[:SAMPLE] if name in row] for name in free}
    found = [name for name, values in cells.items() if values and _TESTS[role](values)]
    if len(found) == 1:
        columns.add(role, found[0], "by content")


SAMPLE = 500
"""Number of rows whose content is looked at."""


def _states_confidence(values: Sequence[Any]) -> bool:
    texts = [value for value in values if isinstance(value, str)]
    stated = [value for value in texts if read_confidence(value).rule in ("label", "sentence", "last_line")]
    return len(stated) > len(values) / 2


def _is_verdict(values: Sequence[Any]) -> bool:
    return verdict_words(values) is not None and len(set(map(str, values))) > 1


def _is_probability(values: Sequence[Any]) -> bool:
    numbers = [value for value in map(_number, values) if value is not None]
    return (
        len(numbers) == len(values) and all(0 <= x <= 1 for x in numbers) and any(0 < x < 1 for x in numbers)
    )


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


_TESTS: Mapping[str, Callable[[Sequence[Any]], bool]] = {
    "reply": _states_confidence,
    "correct": _is_verdict,
    "confidence": _is_probability,
}
