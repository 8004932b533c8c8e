"""Replies and answers of anybody, in any table, as trials of the study ``benchmark``."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from confidence_tasks.own_replies.columns import Columns, find_columns
from confidence_tasks.own_replies.scale import NumbersError, file_reader, read_numbers
from confidence_tasks.own_replies.signals import SCALES, signal_columns, signal_trials
from confidence_tasks.reading.abstention import is_abstention
from confidence_tasks.reading.answers import answer_to
from confidence_tasks.reading.confidence import Direction, StatedConfidence, confidence_reader
from confidence_tasks.reading.grading import grade, match_answer, normalise_text
from confidence_tasks.reading.verdict import read_verdict, verdict_words
from confidence_tasks.sources.any_table import Rows, read_any_table
from confidence_tasks.sources.own_file import parse_question
from confidence_tasks.sources.source import SourceError
from confidence_tasks.study.trial import Question

Grader: TypeAlias = Literal["equality", "contains", "fuzzy", "judge"]
GRADERS: tuple[Grader, ...] = get_args(Grader)
Kind: TypeAlias = Literal["confidence", "score", "uncertainty"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Judge: TypeAlias = Callable[[Sequence[tuple[Question, str]]], Sequence[float]]
"""Returns the verdicts of a model on answers to questions, NaN without one."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the user says about a file of replies.

    Attributes
    ----------
    columns : mapping of str to str
        Columns that the user names, by role.
    preset, scale, direction, pattern : str
        As in :func:`confidence_tasks.read_confidence`.
    kind : {"confidence", "score", "uncertainty"}
        Whether the column of confidence holds probabilities, or scores of any range of which a high one means sure
        (``score``) or unsure (``uncertainty``).
    grader : {"equality", "contains", "fuzzy", "judge"}
        How answers without a verdict are compared with the key.
    least : float
        Smallest number in the column ``correct`` of a right answer; NaN if the column holds verdicts.
    model : str
        Model of rows that name none.
    task : str
        Name of the task; by default that of the file.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    preset: str = "auto"
    scale: str = ""
    direction: Direction = "confidence"
    pattern: str = ""
    kind: Kind = "confidence"
    grader: Grader = "equality"
    least: float = math.nan
    model: str = ""
    task: str = ""


@dataclass
class OwnReplies:
    """The trials of a file, and what was decided about it.

    Attributes
    ----------
    trials : list of dict
        Rows of a table of trials, which reports read.
    columns : Columns
        The columns that were chosen.
    notes : list of str
        Sentences on how the file was read and graded.
    outcomes : Counter of str
        Number of ``right``, ``wrong``, ``abstained`` and ``unread`` answers.
    unread : list of str
        Replies without a confidence that could be read.
    further : list of dict
        Trials of the same answers with signals of further columns, such as log-probabilities and samples.
    """

    trials: list[dict[str, Any]]
    columns: Columns
    notes: list[str]
    outcomes: Counter[str]
    unread: list[str]
    further: list[dict[str, Any]] = field(default_factory=list)


@dataclass(slots=True)
class _Answer:
    """An answer, before and after it is graded."""

    question: Question | None
    text: str
    whole: str
    abstained: bool
    correct: float = math.nan
    source: str = ""


def read_own_replies(
    path: Path, options: Options, judge: Judge | None = None, rows: Rows | None = None
) -> OwnReplies:
    """Read a table of replies or answers into trials.

    A verdict of the user wins over a comparison with the key. An abstention is neither right nor wrong; an answer that
    the key or an alias equals is none. ``rows`` are those of the file, if it was read before.

    Raises
    ------
    SourceError
        If the file, a column, or the unit of the confidences cannot be read, with the fix.
    """
    rows = read_any_table(path) if rows is None else rows
    columns = find_columns(rows, options.columns)
    is_stated = bool(columns.chosen.keys() & _CONFIDENCES)
    _require(path, columns, has_signals=bool(signal_columns(_names(rows))))
    notes = [
        f"columns: {columns.sentence()}",
        *columns.unused(_names(rows)),
    ]
    replies = [_text(value) for value in columns.values("reply", rows)]
    read, note = _read_replies(replies, options) if "reply" in columns.chosen else ([None] * len(rows), "")
    notes += filter(None, [note if "confidence" not in columns.chosen else ""])
    values, probabilities, condition = _confidences(rows, columns, read, options, notes)
    answers = [_answer(path, row, columns, reading) for row, reading in zip(rows, read, strict=True)]
    _grade(rows, columns, answers, options, judge, notes)
    trials = [
        _trial(path, number, row, columns, answer, options)
        | {"condition": condition, "value": values[number], "probability": probabilities[number]}
        for number, (row, answer) in enumerate(zip(rows, answers, strict=True))
    ]
    _rank(trials)
    _number_epochs(trials)
    outcomes, unread = Counter(map(_outcome, answers)), _unread(answers, values) if is_stated else []
    further = _further(rows, trials, answers, notes)
    if not is_stated:
        trials, further = _with_first_signal(path, trials, further)
        notes.append(f"no column has confidences: the measures are those of {trials[0]['condition']}")
    return OwnReplies(list(map(_without_nan, trials)), columns, notes, outcomes, unread, further)


def _further(
    rows: Rows, trials: list[dict[str, Any]], answers: Sequence[_Answer], notes: list[str]
) -> list[dict[str, Any]]:
    """Return the trials of further signals, with a note that names them."""
    further = signal_trials(rows, trials, [answer.question for answer in answers])
    if names := list(dict.fromkeys(str(trial["condition"]) for trial in further)):
        notes.append(f"further signals of the columns, for report: {', '.join(names)}")
    return list(map(_without_nan, further))


_CONFIDENCES = frozenset({"reply", "confidence"})
"""Roles of columns with confidences."""


def _names(rows: Rows) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def _with_first_signal(
    path: Path, trials: list[dict[str, Any]], further: list[dict[str, Any]]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the trials of the first signal, which stands for the confidence that a table lacks, and of the others."""
    if not further:
        raise SourceError(f"{path}: no answer has a confidence or a signal")
    names = {trial["condition"] for trial in further}
    first = next(name for name in SCALES if name in names)
    of_first = {_answered(trial): trial for trial in further if trial["condition"] == first}
    every = [of_first.get(_answered(trial), {**trial, "condition": first}) for trial in trials]
    return every, [trial for trial in further if trial["condition"] != first]


def _answered(trial: Mapping[str, Any]) -> tuple[Any, ...]:
    return trial["model"], trial["question_id"], trial["epoch"]


def _unread(answers: Sequence[_Answer], values: Sequence[float]) -> list[str]:
    """Return the replies with an answer and no confidence."""
    return [
        answer.whole
        for answer, value in zip(answers, values, strict=True)
        if answer.whole and math.isnan(value) and not answer.abstained
    ]


def _require(path: Path, columns: Columns, *, has_signals: bool) -> None:
    if not columns.chosen.keys() & _CONFIDENCES and not ("answer" in columns.chosen and has_signals):
        raise SourceError(
            f"{path}: no column has replies or confidences: name one with --reply or --confidence; or name the answers"
            " with --answer, beside samples, logprobs or option_probabilities"
        )
    if not columns.chosen.keys() & {"gold", "correct"}:
        raise SourceError(
            f"{path}: no column says what is right: name the key with --gold, or your verdicts with --correct"
        )


def _text(value: Any) -> str:
    while isinstance(value, list) and len(value) == 1:
        (value,) = value
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


# Confidence -----------------------------------------------------------------------------------------------------------


def _read_replies(replies: Sequence[str], options: Options) -> tuple[list[StatedConfidence | None], str]:
    reader = confidence_reader(options.preset, options.scale, (), options.direction, pattern=options.pattern)
    try:
        reader, note = file_reader(reader, replies)
    except NumbersError as error:
        raise SourceError(str(error)) from error
    return [reader.read(reply) for reply in replies], note


def _confidences(
    rows: Rows,
    columns: Columns,
    read: Sequence[StatedConfidence | None],
    options: Options,
    notes: list[str],
) -> tuple[list[float], list[float], str]:
    """Return the value and the probability of each row, and the name of the signal."""
    if "confidence" not in columns.chosen:
        values = [reading.value if reading else math.nan for reading in read]
        return values, values, "stated"
    name = columns.chosen["confidence"]
    cells = columns.values("confidence", rows)
    try:
        values, note = read_numbers(
            cells, name, options.scale, options.direction, is_score=options.kind != "confidence"
        )
    except NumbersError as error:
        raise SourceError(str(error)) from error
    notes.append(note)
    if options.kind == "confidence":
        return values, values, name
    sign = -1.0 if options.kind == "uncertainty" else 1.0
    notes.append(
        f"{name} ranks answers and is no probability: ECE, Brier score and overconfidence are left out"
    )
    return [sign * value for value in values], [math.nan] * len(values), name


def _rank(trials: list[dict[str, Any]]) -> None:
    """Set the confidence of each trial: its probability, or else its value moved and stretched to [0, 1]."""
    known = [trial["value"] for trial in trials if math.isfinite(trial["value"])]
    is_probability = any(not math.isnan(trial["probability"]) for trial in trials)
    low, high = min(known, default=0.0), max(known, default=1.0)
    for trial in trials:
        stretched = (trial["value"] - low) / (high - low) if high > low else trial["value"] * 0.0 + 0.5
        trial["confidence"] = trial["probability"] if is_probability else stretched
        if math.isnan(trial["value"]) and trial["status"] == "ok":
            trial["status"] = "missing_confidence"


# Answers --------------------------------------------------------------------------------------------------------------


def _answer(
    path: Path, row: Mapping[str, Any], columns: Columns, reading: StatedConfidence | None
) -> _Answer:
    given = row.get(columns.chosen.get("answer", ""))
    if given is not None:
        whole = text = _text(given).strip()
        abstained = is_abstention(text)
    else:
        whole = _text(row.get(columns.chosen.get("reply", "")))
        text = reading.answer if reading else ""
        abstained = bool(reading and reading.abstained)
    question = _question(path, row, columns) if "gold" in columns.chosen else None
    return _Answer(question, _canonical(text, whole, question), whole, abstained)


def _canonical(text: str, whole: str, question: Question | None) -> str:
    """Return an answer in the form of the key; the text itself if it cannot be read as such."""
    if question is None:
        return text
    return answer_to(question, text if question.kind == "text" else text or whole)


def _question(path: Path, row: Mapping[str, Any], columns: Columns) -> Question | None:
    """Return the question and its key; None if the row has no key."""
    cells = {role: row[name] for role, name in columns.chosen.items() if name in row}
    if "gold" not in cells:
        return None
    key, others = _key(cells["gold"])
    fields: dict[str, Any] = {"question": _text(cells.get("question")) or "?", "answer": key}
    choices = _entries(cells.get("choices"))
    aliases = [*others, *_entries(cells.get("aliases"))]
    if choices:
        fields["choices"] = choices
    elif aliases:
        fields["aliases"] = aliases
    try:
        return parse_question(source_of(path), fields)
    except ValueError:
        fields.pop("choices", None)
        return parse_question(source_of(path), {**fields, "kind": "text"})


def _key(cell: Any) -> tuple[Any, list[str]]:
    """Return the key and its aliases; of a list, the first entry is the key."""
    first, *others = cell if isinstance(cell, list) and cell else [cell]
    return first if isinstance(first, str | bool | int) else str(first), list(map(str, others))


def _entries(cell: Any) -> list[str]:
    if isinstance(cell, list):
        return [str(entry) for entry in cell]
    return [entry.strip() for entry in str(cell).split("|") if entry.strip()] if cell is not None else []


def source_of(path: Path) -> str:
    """Return the name of a file without its endings, as that of its task."""
    return re.sub(r"[^\w.-]+", "_", path.name.partition(".")[0], flags=re.ASCII) or "replies"


# Grading --------------------------------------------------------------------------------------------------------------


def _grade(
    rows: Rows,
    columns: Columns,
    answers: Sequence[_Answer],
    options: Options,
    judge: Judge | None,
    notes: list[str],
) -> None:
    verdicts = _verdicts(rows, columns, options)
    compared = [answer for answer in answers if answer.question]
    _compare(compared, options, judge)
    if verdicts and compared:
        notes.append(_agreement(answers, verdicts, options.grader))
    for answer, verdict in zip(answers, verdicts or [None] * len(answers), strict=True):
        if verdict is not None:
            answer.correct, answer.abstained = verdict
            answer.source = f"column {columns.chosen['correct']}"
    graded = sum(bool(answer.source == options.grader) for answer in answers)
    if graded:
        notes.append(_notice(options.grader, graded, any(map(_is_free_text, compared))))


def _notice(grader: Grader, n: int, is_free_text: bool) -> str:
    """Return how answers were graded; what it misses in free text only if the keys are free text."""
    notice = _NOTICES[grader].format(n=n)
    return notice if is_free_text else notice.partition(". In free text")[0]


def _is_free_text(answer: _Answer) -> bool:
    """Return whether the key is a text of more than a letter, which answers may have in other words."""
    question = answer.question
    return bool(question and question.kind == "text" and len(question.gold or "") > 1)


_NOTICES: Mapping[Grader, str] = {
    "equality": (
        "{n} answers are compared with the key and its aliases by equality. In free text this finds few of the right"
        " answers: name your verdicts with --correct, or use --judge MODEL"
    ),
    "contains": "{n} answers are compared with the key: right if they contain the key or an alias as words",
    "fuzzy": "{n} answers are compared with the key: right if they equal it or an alias, or are a spelling of it",
    "judge": "{n} answers are judged by a model",
}


def _verdicts(rows: Rows, columns: Columns, options: Options) -> list[tuple[float, bool] | None]:
    """Return correctness and abstention from the user's column, None in rows without a verdict; empty without one."""
    cells = columns.values("correct", rows)
    present = [cell for cell in cells if cell is not None]
    if not present:
        return []
    name = columns.chosen["correct"]
    if not math.isnan(options.least):
        return _bounded(cells, name, options.least)
    words = verdict_words(present)
    if words is None:
        raise SourceError(_no_verdicts(name, present))
    return [None if cell is None else read_verdict(cell, words) for cell in cells]


def _bounded(cells: Sequence[Any], name: str, least: float) -> list[tuple[float, bool] | None]:
    numbers, _ = read_numbers(cells, name, "", "confidence", is_score=True)
    return [None if math.isnan(number) else (float(number >= least), False) for number in numbers]


def _no_verdicts(name: str, present: Sequence[Any]) -> str:
    examples = ", ".join(list(dict.fromkeys(repr(cell)[:30] for cell in present))[:5])
    return (
        f"the column {name} has {examples}, which are not right or wrong in one way: name another column with"
        f" --correct, or a bound such as --correct '{name}>=0.5'; --correct '' ignores it"
    )


def _compare(answers: Sequence[_Answer], options: Options, judge: Judge | None) -> None:
    """Grade answers by their keys; a judge sees those that do not equal the key."""
    for answer in answers:
        _compare_one(answer, options.grader)
    if judge:
        pairs = [
            (answer, answer.question)
            for answer in answers
            if answer.question and answer.correct != 1.0 and not answer.abstained
        ]
        judged = judge([(question, answer.text or answer.whole) for answer, question in pairs])
        for (answer, _), verdict in zip(pairs, judged, strict=True):
            answer.correct = verdict


def _compare_one(answer: _Answer, grader: Grader) -> None:
    """Grade an answer by its key. What equals the key is right, even if it reads like a refusal."""
    is_right = _RULES.get(grader, _equal)(answer)
    answer.source = grader
    # Words of doubt around the key are neither an abstention nor a wrong answer.
    in_doubt = answer.abstained and _contains(answer)
    is_read = answer.text or (grader == "contains" and answer.whole.strip())
    if is_right:
        answer.correct = 1.0
    elif is_read and not answer.abstained:
        answer.correct = 0.0
    answer.abstained = answer.abstained and not in_doubt and not is_right


def _equal(answer: _Answer) -> bool:
    question = answer.question
    if question is None:
        return False
    texts = filter(None, (answer.text, answer.whole.strip() if question.kind == "text" else ""))
    return any(
        grade(text, kind=question.kind, gold=question.gold, aliases=question.aliases) == 1.0 for text in texts
    )


def _contains(answer: _Answer) -> bool:
    question = answer.question
    if question is None or question.kind != "text":
        return _equal(answer)
    said = f" {normalise_text(answer.text or answer.whole)} "
    return any(f" {normalise_text(key)} " in said for key in (question.gold or "", *question.aliases) if key)


def _fuzzy(answer: _Answer) -> bool:
    return bool(answer.question and match_answer(answer.text, answer.question) != "none") or _equal(answer)


_RULES: Mapping[str, Callable[[_Answer], bool]] = {"equality": _equal, "contains": _contains, "fuzzy": _fuzzy}


def _agreement(
    answers: Sequence[_Answer], verdicts: Sequence[tuple[float, bool] | None], grader: Grader
) -> str:
    """Return the precision and the recall of right answers by the key, against the user's verdicts."""
    pairs = [
        (answer.correct, verdict[0])
        for answer, verdict in zip(answers, verdicts, strict=True)
        if verdict and answer.question
    ]
    found = sum(ours == 1.0 for ours, _ in pairs)
    right = sum(theirs == 1.0 for _, theirs in pairs)
    both = sum(ours == theirs == 1.0 for ours, theirs in pairs)
    numbers = f"precision {both / found:.3f}" if found else "no answer found right"
    recall = f", recall {both / right:.3f}" if right else ""
    return f"your verdicts count; {grader} against them over {len(pairs)} answers: {numbers}{recall}"


def _outcome(answer: _Answer) -> str:
    if answer.abstained:
        return "abstained"
    return {1.0: "right", 0.0: "wrong"}.get(answer.correct, "unread")


# Trials ---------------------------------------------------------------------------------------------------------------


def _trial(
    path: Path, number: int, row: Mapping[str, Any], columns: Columns, answer: _Answer, options: Options
) -> dict[str, Any]:
    cells = {role: row.get(name) for role, name in columns.chosen.items()}
    question = _text(cells.get("question"))
    identifier = cells.get("id") if cells.get("id") is not None else _digest(question) if question else number
    status = "refused" if answer.abstained else "missing_answer" if math.isnan(answer.correct) else "ok"
    return {
        "study": "benchmark",
        "model": _text(cells.get("model")) or options.model or source_of(path),
        "task": options.task or source_of(path),
        "question_id": str(identifier),
        "source": options.task or source_of(path),
        "correct": answer.correct,
        "status": status,
        "answer": answer.text[:500],
        "verdict": answer.source,
        **_shared(cells),
    }


def _shared(cells: Mapping[str, Any]) -> dict[str, str]:
    """Return the cluster of a question, if the table has a column of clusters."""
    return {name: _text(cells[name]) for name in ("cluster",) if name in cells}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _number_epochs(trials: list[dict[str, Any]]) -> None:
    """Number the answers of a model to the same question."""
    seen: Counter[tuple[str, str]] = Counter()
    for trial in trials:
        key = trial["model"], trial["question_id"]
        seen[key] += 1
        trial["epoch"] = seen[key]


def _without_nan(trial: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in trial.items()
    }
