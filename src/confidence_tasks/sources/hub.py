"""Sources on the Hugging Face hub. Rows come from a mirror, the cache, or the hub at a pinned commit.

The shape of a source declares its columns, and the function that turns a row into questions.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from confidence_tasks.sources.bounds import bounded_json_lines
from confidence_tasks.sources.parquet import bounded_parquet_rows, read_parquet
from confidence_tasks.sources.source import (
    MIRROR_VARIABLE,
    RowError,
    Source,
    SourceError,
    announce_download,
    cache_folder,
    download_hint,
    sha256_of,
    shuffle_options,
    shuffle_questions,
    write_atomically,
)
from confidence_tasks.study.trial import LETTERS, Kind, Question

Row = Mapping[str, Any]

_SHIPPED = Path(__file__).parent / "data"


@dataclass(frozen=True, slots=True)
class RowIdentity:
    """Source and id of the questions of a row, and the seed of the order of options."""

    source: str
    id: str
    seed: int

    def question(self, text: str, kind: Kind, gold: str | None, **more: Any) -> Question:
        """Return a question with this source and id; ``more`` are further fields of :class:`Question`."""
        return Question(
            **{"id": self.id, "source": self.source, "text": text, "kind": kind, "gold": gold, **more}
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Columns of a hub data set and the reader of its rows.

    Attributes
    ----------
    columns : tuple of str
        Columns that every row must have.
    read : callable
        ``read(row, identity)`` returns the questions of a row, or raises RowError if the row does not have this shape.
    optional : tuple of str
        Further columns that are used if they exist.
    key : str or None
        Column with the publisher's identifier; None to number the rows.
    """

    columns: tuple[str, ...]
    read: Callable[[Row, RowIdentity], Sequence[Question]]
    optional: tuple[str, ...] = ()
    key: str | None = None


MMLU_LEVELS = ("elementary", "high_school", "college", "professional")
"""Levels with which the name of an MMLU subject may begin. The level of other subjects is ``other``."""


def mmlu_level(subject: str) -> str:
    """Return the difficulty level of an MMLU subject.

    Examples
    --------
    >>> mmlu_level("high_school_physics"), mmlu_level("virology")
    ('high_school', 'other')
    """
    return next((level for level in MMLU_LEVELS if subject.startswith(level)), "other")


def _mmlu(row: Row, identity: RowIdentity) -> list[Question]:
    choices = _options(row, "choices")
    gold = LETTERS[_position(row["answer"], len(choices))]
    subject = _text(row, "subject")
    level = mmlu_level(subject)
    text = _text(row, "question")
    return [identity.question(text, "choice", gold, choices=choices, subject=subject, level=level)]


_GSM8K_GOLD = re.compile(r"#### *(-?\d[\d,]*(?:\.\d+)?)\s*\Z", re.ASCII)

_GSM8K_CALCULATOR = re.compile(r"<<[^<>]*>>")
"""Calculator calls in the published solutions."""


def _gsm8k(row: Row, identity: RowIdentity) -> list[Question]:
    worked = _text(row, "answer")
    match = _GSM8K_GOLD.search(worked)
    if match is None:
        raise RowError("column 'answer' does not end in '#### ' and a number")
    solution = _GSM8K_CALCULATOR.sub("", worked[: match.start()]).rstrip()
    gold = match[1].replace(",", "")
    return [identity.question(_text(row, "question"), "number", gold, metadata={"solution": solution})]


def _truthfulqa(row: Row, identity: RowIdentity) -> list[Question]:
    targets = _record(row, "mc1_targets")
    options = _options(targets, "choices")
    labels = list(targets.get("labels") or ())
    if len(labels) != len(options) or sorted(labels) != [0] * (len(options) - 1) + [1]:
        raise RowError("column 'mc1_targets' must mark exactly one of its choices as right")
    return [_shuffled_choice(identity, _text(row, "question"), options, labels.index(1))]


def _sciq(row: Row, identity: RowIdentity) -> list[Question]:
    options = [_text(row, column) for column in SCIQ.columns[1:]]
    number = int(identity.id.rpartition("-")[2])
    order = [int(digit) for digit in _sciq_orders()[number]]
    choices = tuple(options[position] for position in order)
    return [identity.question(_text(row, "question"), "choice", LETTERS[order.index(0)], choices=choices)]


@cache
def _sciq_orders() -> Sequence[str]:
    """Return the order of the options of each row as the LifeEval authors showed them, arXiv:2605.23909.

    ``1203`` shows the first distractor as A, the second as B, the right answer as C and the third distractor as D. The
    orders are those of "Formatted Benchmarks/sciq_test_formatted.csv" in NoamMichael/Comparing-Confidence-in-LLMs at
    commit 560aae77 (MIT licence).
    """
    _, *lines = (_SHIPPED / "sciq_order.csv").read_text(encoding="utf-8").split()
    return [line.partition(",")[2] for line in lines]


def _gpqa(row: Row, identity: RowIdentity) -> list[Question]:
    answers = ("Correct Answer", "Incorrect Answer 1", "Incorrect Answer 2", "Incorrect Answer 3")
    options = [_text(row, column).strip() for column in answers]
    subject = row.get("High-level domain") or ""
    return [_shuffled_choice(identity, _text(row, "Question").strip(), options, 0, subject=subject)]


def _boolq(row: Row, identity: RowIdentity) -> list[Question]:
    answer = row["answer"]
    if not isinstance(answer, bool):
        raise RowError(f"gold out of range: column 'answer' must be true or false, not {_describe(answer)}")
    passage = {"passage": row.get("passage") or ""}
    return [identity.question(_text(row, "question"), "boolean", "yes" if answer else "no", metadata=passage)]


_AGIEVAL_OPTIONS = "Answer Choices:"
_LETTERED = re.compile(r"\s*\(?([A-Z])\)\s*")


def _agieval(row: Row, identity: RowIdentity) -> list[Question]:
    """Split the published prompt into passage, question and options, because tasks have their own prompts."""
    query, marker, _ = _text(row, "query").rpartition(_AGIEVAL_OPTIONS)
    if not marker:
        raise RowError(f"column 'query' has no {_AGIEVAL_OPTIONS!r}")
    passage, _, question = query.rpartition("\nQ: ")
    gold = row["gold"]
    position = gold[0] if isinstance(gold, list | tuple) and len(gold) == 1 else gold
    choices = tuple(map(_strip_letter, _options(row, "choices"), LETTERS))
    parts = {"passage": passage.strip(), "question": question.strip()}
    letter = LETTERS[_position(position, len(choices))]
    text = "\n\n".join(parts.values()).strip()
    return [identity.question(text, "choice", letter, choices=choices, metadata=parts)]


def _halueval(row: Row, identity: RowIdentity) -> list[Question]:
    """Return two questions whether a given answer is right: one for the right, one for the hallucinated answer."""
    text, knowledge = _text(row, "question"), row.get("knowledge") or ""
    return [
        identity.question(
            text,
            "boolean",
            gold,
            id=f"{identity.id}_{column[0]}",
            metadata={"answer": _text(row, column), "knowledge": knowledge},
        )
        for column, gold in (("right_answer", "yes"), ("hallucinated_answer", "no"))
    ]


def _trivia_qa(row: Row, identity: RowIdentity) -> list[Question]:
    answer = _record(row, "answer")
    return [_short_answer(row, identity, _text(answer, "value"), answer.get("aliases") or ())]


def _nq_open(row: Row, identity: RowIdentity) -> list[Question]:
    answers = row["answer"]
    if not isinstance(answers, list | tuple) or not answers:
        raise RowError(f"column 'answer' must list at least one answer, not {_describe(answers)}")
    return [_short_answer(row, identity, answers[0], answers)]


_HLE_OPTIONS = "Answer Choices:"
_HLE_OPTION = re.compile(r"^([A-Z])\.\s+", re.MULTILINE)


def _hle(row: Row, identity: RowIdentity) -> list[Question]:
    text, gold = _text(row, "question"), row["answer"] or None
    if gold is not None and not isinstance(gold, str):
        raise RowError("column 'answer' must be a text")
    stem, choices = _inline_options(text)
    lettered = row["answer_type"] == "multipleChoice" and gold in list(LETTERS[: len(choices)])
    return [
        identity.question(
            stem if lettered else text,
            "choice" if lettered else "text",
            gold,
            choices=choices if lettered else (),
            subject=row.get("category") or "",
            image=_data_url(row["image"]),
            metadata={"answer_type": row["answer_type"]},
        )
    ]


def _inline_options(text: str) -> tuple[str, tuple[str, ...]]:
    """Return a question without the options at its end, lines ``A. ...`` lettered in order, and these options."""
    stem, marker, listed = text.rpartition(_HLE_OPTIONS)
    matches = list(_HLE_OPTION.finditer(listed)) if marker else []
    if len(matches) < 2 or [match[1] for match in matches] != list(LETTERS[: len(matches)]):
        return text, ()
    ends = [match.start() for match in matches[1:]] + [len(listed)]
    choices = (listed[match.end() : end].strip() for match, end in zip(matches, ends, strict=True))
    return stem.strip(), tuple(choices)


_IMAGE_TYPES = {"iVBOR": "png", "/9j/": "jpeg", "UklGR": "webp", "R0lGOD": "gif"}
"""Image format by the first characters of the base64 text."""


def _data_url(value: object) -> str | None:
    """Return the data URL of a picture with the type of its content, because providers refuse a wrong type."""
    if not value:
        return None
    header, comma, data = value.partition(",") if isinstance(value, str) else ("", "", "")
    if not comma or not header.startswith("data:image/"):
        raise RowError(f"column 'image' must be a data URL, not {_describe(value)}")
    for start, kind in _IMAGE_TYPES.items():
        if data.startswith(start):
            return f"data:image/{kind};base64,{data}"
    return f"{header},{data}"


MMLU = Shape(columns=("question", "subject", "choices", "answer"), read=_mmlu)
GSM8K = Shape(columns=("question", "answer"), read=_gsm8k)
TRUTHFULQA = Shape(columns=("question", "mc1_targets"), read=_truthfulqa)
BOOLQ = Shape(columns=("question", "answer"), optional=("passage",), read=_boolq)
SCIQ = Shape(columns=("question", "correct_answer", "distractor1", "distractor2", "distractor3"), read=_sciq)
AGIEVAL = Shape(columns=("query", "choices", "gold"), read=_agieval)
HALUEVAL = Shape(
    columns=("question", "right_answer", "hallucinated_answer"),
    optional=("knowledge",),
    read=_halueval,
)
TRIVIA_QA = Shape(columns=("question", "question_id", "answer"), read=_trivia_qa, key="question_id")
NQ_OPEN = Shape(columns=("question", "answer"), read=_nq_open)
GPQA = Shape(
    columns=(
        "Record ID",
        "Question",
        "Correct Answer",
        "Incorrect Answer 1",
        "Incorrect Answer 2",
        "Incorrect Answer 3",
    ),
    optional=("High-level domain",),
    read=_gpqa,
    key="Record ID",
)
HLE = Shape(
    columns=("id", "question", "image", "answer", "answer_type"), optional=("category",), read=_hle, key="id"
)


def _shuffled_choice(
    identity: RowIdentity, text: str, options: Sequence[str], gold: int, subject: str = ""
) -> Question:
    """Return a question with its options shuffled, for sources that list the right one at a fixed position."""
    choices, letter = shuffle_options(options, gold, identity.seed, identity.id)
    return identity.question(text, "choice", letter, choices=choices, subject=subject)


def _short_answer(row: Row, identity: RowIdentity, gold: str, aliases: Sequence[str]) -> Question:
    if not all(isinstance(answer, str) for answer in (gold, *aliases)):
        raise RowError("column 'answer' has an answer that is not a text")
    others = tuple(alias for alias in dict.fromkeys(aliases) if alias != gold)
    return identity.question(_text(row, "question"), "text", gold, aliases=others)


def _strip_letter(option: str, letter: str) -> str:
    """Remove the letter of an option, because tasks add letters themselves."""
    match = _LETTERED.match(option)
    return option[match.end() :] if match and match[1] == letter else option


def _text(row: Row, column: str) -> str:
    value = row.get(column)
    if not isinstance(value, str) or not value.strip():
        raise RowError(f"column {column!r} must be a text, not {_describe(value)}")
    return value


def _options(row: Row, column: str) -> tuple[str, ...]:
    value = row.get(column)
    if not isinstance(value, list | tuple) or not 2 <= len(value) <= len(LETTERS):
        raise RowError(f"column {column!r} must list 2 to {len(LETTERS)} options, not {_describe(value)}")
    if not all(isinstance(option, str) for option in value):
        raise RowError(f"column {column!r} has an option that is not a text")
    return tuple(value)


def _record(row: Row, column: str) -> Row:
    value = row.get(column)
    if not isinstance(value, Mapping):
        raise RowError(f"column {column!r} must be a record, not {_describe(value)}")
    return value


def _position(value: object, options: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < options:
        raise RowError(
            f"gold out of range: {_describe(value)} is not the position of one of {options} options"
        )
    return value


def _describe(value: object) -> str:
    """Describe a wrong value without its text, because the questions of some sources must not be printed."""
    if isinstance(value, str | list | tuple | dict):
        return f"a {type(value).__name__} of length {len(value)}"
    return repr(value)


logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RowSelection:
    """The rows of a split that a paper used.

    Attributes
    ----------
    file : str
        Name of the data file that lists the numbers of the rows, from 0, in the order of the paper.
    n_rows : int
        Number of rows of the whole split.
    sha256 : str
        Hash of the required columns of the selected rows, to recognise a mirror that contains only these rows.
    """

    file: str
    n_rows: int
    sha256: str

    @property
    def numbers(self) -> list[int]:
        """Numbers of the selected rows."""
        _, *lines = (_SHIPPED / self.file).read_text(encoding="utf-8").split()
        return list(map(int, lines))

    def is_all_of(self, rows: Sequence[Row], columns: Sequence[str]) -> bool:
        """Return True if ``rows`` are the selected ones, in order."""
        texts = "\0".join(str(row.get(column)) for row in rows for column in columns)
        return hashlib.sha256(texts.encode()).hexdigest() == self.sha256


@dataclass(frozen=True, slots=True, kw_only=True)
class HubSource(Source):
    """A pinned split of a data set on the hub.

    Attributes
    ----------
    hub_id : str
        Name of the data set on the hub.
    config, split : str
        Configuration and split of the data set; the configuration is ``default`` if there is only one.
    shape : Shape
        Columns of the data set and the reader of its rows.
    balance : tuple of str
        Attributes of a question over which samples are balanced.
    sample_in_mirror : bool
        Whether a mirror may contain fewer rows than the pinned split.
    selection : RowSelection, optional
        The rows that are used; by default all. Ids of selected rows have no leading zeros.
    """

    hub_id: str
    config: str = "default"
    split: str = "test"
    revision: str
    shape: Shape
    balance: tuple[str, ...] = ()
    sample_in_mirror: bool = False
    selection: RowSelection | None = None

    @property
    def page(self) -> str:
        """Page of the data set on the hub."""
        return f"https://huggingface.co/datasets/{self.hub_id}"

    @property
    def rows(self) -> int:
        """Number of rows of the pinned split."""
        return self.selection.n_rows if self.selection else self.size or 0

    def load(self, n: int | None, seed: int, mirror: Path | None, **options: Any) -> list[Question]:
        """Load at most ``n`` questions. They are downloaded first if there is neither a mirror nor a cached copy."""
        path = self.find_copy(mirror)
        if path is None and mirror is not None:
            raise SourceError(
                f"{self.name}: the mirror has neither {self._path(mirror)} nor the same as .parquet; "
                f"`confidence-tasks sources fetch {self.name} --into {mirror}` puts it there where there is "
                f"internet; without {MIRROR_VARIABLE} it is downloaded from the hub"
            )
        if path is None:
            announce_download(self)
            path = self.fetch()
        rows = read_rows(self, path)
        return shuffle_questions(
            self._questions(rows, seed, mirrored=mirror is not None), seed, self.balance
        )[:n]

    def find_copy(self, mirror: Path | None) -> Path | None:
        """Return the copy in the mirror, or without a mirror that in the cache; None if there is none."""
        lines = self._path(mirror)
        return next((path for path in (lines, lines.with_suffix(".parquet")) if path.is_file()), None)

    def fetch(self, into: Path | None = None) -> Path:
        """Download the split at its pinned commit, check its questions, and save the columns that are used."""
        rows = download_rows(self)
        self._questions(rows, seed=0, mirrored=False)
        path = self._path(into)
        write_atomically(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode())
        write_atomically(path.with_suffix(f"{path.suffix}.sha256"), sha256_of(path).encode())
        return path

    def verify(self, mirror: Path | None) -> int:
        """Check the hash that was recorded at the download, if any, the number of rows, and every row."""
        path = self.require_copy(mirror)
        recorded = path.with_suffix(f"{path.suffix}.sha256")
        if recorded.is_file() and recorded.read_text().strip() != sha256_of(path):
            raise SourceError(
                f"{self.name}: {path} has changed since its download: delete it and fetch again"
            )
        return len(self._questions(read_rows(self, path), seed=0, mirrored=mirror is not None))

    def _path(self, root: Path | None) -> Path:
        """Return the path of the copy in a mirror, or in the cache, which has one mirror folder per revision."""
        folder = root or cache_folder() / "hub" / self.revision
        return folder / self.hub_id / self.config / f"{self.split}.jsonl"

    def _questions(self, rows: Sequence[Row], seed: int, mirrored: bool) -> list[Question]:
        width = 0 if self.selection else len(str(self.rows - 1))
        questions: list[Question] = []
        for position, row in self._numbered(rows, mirrored):
            try:
                if missing := [column for column in self.shape.columns if column not in row]:
                    has = ", ".join(row) or "none"
                    raise RowError(f"missing columns: {', '.join(missing)} (the row has {has})")
                key = row[self.shape.key] if self.shape.key else f"{position:0{width}d}"
                questions.extend(self.shape.read(row, RowIdentity(self.name, f"{self.name}-{key}", seed)))
            except RowError as error:
                raise SourceError(f"{self.name}: row {position}: {error}") from error
        if len({question.id for question in questions}) < len(questions):
            raise SourceError(f"{self.name}: two rows have the same {self.shape.key!r}")
        return questions

    def _numbered(self, rows: Sequence[Row], mirrored: bool) -> list[tuple[int, Row]]:
        """Return the rows that are used, with their numbers in the split."""
        if self.selection and mirrored and self.selection.is_all_of(rows, self.shape.columns):
            return list(zip(self.selection.numbers, rows, strict=True))
        self._check_count(len(rows), mirrored)
        numbers = self.selection.numbers if self.selection else range(len(rows))
        return [(number, rows[number]) for number in numbers]

    def _check_count(self, rows: int, mirrored: bool) -> None:
        """Raise SourceError for a split of another size, which is another revision with other ids."""
        if rows == 0:
            raise SourceError(f"{self.name}: the split {self.split!r} is empty")
        if mirrored and self.sample_in_mirror and rows < self.rows:
            logger.warning("%s: the mirror holds a sample, %d of %d rows", self.name, rows, self.rows)
        elif rows != self.rows:
            raise SourceError(
                f"{self.name}: {rows} rows, but revision {self.revision[:8]} of {self.hub_id} has {self.rows}: "
                "another revision cannot replace it"
            )


def read_rows(source: HubSource, path: Path) -> list[Row]:
    """Read the rows of a local copy, JSON lines or Parquet."""
    try:
        if path.suffix == ".parquet":
            columns = (*source.shape.columns, *source.shape.optional)
            return list(bounded_parquet_rows(read_parquet(str(path), columns=columns)))
        with path.open(encoding="utf-8") as file:
            return [_read_line(line, number) for number, line in bounded_json_lines(file)]
    except (OSError, ValueError) as error:
        raise SourceError(f"{source.name}: cannot read {path}: {error}") from error


def _read_line(line: str, number: int) -> Row:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"line {number} is not JSON: {error}") from error
    if not isinstance(row, Mapping):
        raise ValueError(f"line {number} is not a JSON object")
    return row


def _used_columns(source: HubSource, present: Sequence[str]) -> list[str]:
    """Return the columns to read, without the pictures and canaries of some data sets."""
    return [column for column in (*source.shape.columns, *source.shape.optional) if column in present]


@contextmanager
def _quiet_retries() -> Iterator[None]:
    """Keep the hub's warnings about each retry from the terminal: the error that follows them says what to do."""
    logger = logging.getLogger("huggingface_hub")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def download_rows(source: HubSource) -> list[Row]:
    """Download the rows of the pinned split from the hub; SourceError gives advice if this fails."""
    from huggingface_hub import get_token

    if source.gated and get_token() is None:
        raise SourceError(
            f"{source.name} is gated: request access at {source.page}, then set HF_TOKEN to a token of that account "
            f"(or {MIRROR_VARIABLE} to a folder with a copy)"
        )
    try:
        from datasets.load import load_dataset

        config = None if source.config == "default" else source.config
        with _quiet_retries():
            data = load_dataset(source.hub_id, config, split=source.split, revision=source.revision)
        return list(data.select_columns(_used_columns(source, data.column_names)))
    except Exception as error:  # of three libraries, down to the socket
        access = (
            f" Access must be granted at {source.page} to the account of HF_TOKEN." if source.gated else ""
        )
        message = f"{type(error).__name__}: {error}".split("\n", 1)[0]
        raise SourceError(
            f"{source.name}: cannot be read from the hub ({message}).{access} "
            f"{download_hint(source.name)}; or give the path of a .jsonl or .csv file of questions instead"
        ) from error
