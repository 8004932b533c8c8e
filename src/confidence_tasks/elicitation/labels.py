"""Finding what stands behind the labels of a reply: ``Answer:``, ``Confidence:`` and their many spellings."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from confidence_tasks.elicitation.cleaning import Rule

Part = Literal["answer", "confidence", "other"]
"""``other`` are labels such as ``Explanation:``, which end what stands before them."""

_ANSWER = r"(?:(?:my|your|the|final|correct|best|chosen|selected)[ _]){0,3}ans(?:wer)?|答案|respuesta|réponse|antwort"
_CONFIDENCE = (
    r"(?:(?:my|the|your|overall)[ _]){0,2}(?:confidence|conf|certainty|置信度|confianza|confiance|konfidenz)"
    r"(?:[ _](?:level|score|rating|value|estimate|in[ ](?:my|this|the)[ ]answer)){0,2}"
)
_OTHER = r"solution|explanation|reasoning|justification|rationale|analysis"
_NAME = rf"(?:(?P<answer>{_ANSWER})|(?P<confidence>{_CONFIDENCE})|(?P<other>{_OTHER}))"
_LABEL = re.compile(
    rf"(?<!\w)[\"']?{_NAME}(?:[ ]?\#?\d{{1,2}})?(?:[ ]?[(\[][^()\[\]\n]{{0,40}}[)\]])?"
    r"(?:[ ]is)?(?P<quote>[\"')\]])?[ \t]{0,3}[:=]{1,2}",
    re.IGNORECASE,
)
_LINE_LABEL = re.compile(
    rf"^[ \t]{{0,4}}{_NAME}(?:[ \t]{{0,4}}$|[ \t]{{1,4}}(?:-{{1,2}}>?[ \t]|(?=\S{{1,12}}[ \t]{{0,4}}$)))",
    re.IGNORECASE | re.MULTILINE,
)
_FILLER = re.compile(r"(?:[\s|=\"']|-(?![\d.$\\]))*+")
"""What stands between a label and the line of its value, but no minus of a number."""
_EDGES = " \t,;"
_CELL_BORDER = re.compile(r"\A\|\s+|\s+\|\Z|\A\|\Z")


@dataclass(frozen=True, slots=True)
class Place:
    """A stretch of a reply where an answer or a confidence may stand.

    Attributes
    ----------
    value : str
        What stands there, without separators at its ends.
    start, end : int
        Where it stands, its label included.
    rules : tuple of str
        What was special about finding it: ``json``, ``next_line``, ``separators`` at its ends.
    """

    value: str
    start: int
    end: int
    rules: tuple[str, ...] = ()


def find_labelled(text: str) -> dict[Part, list[Place]]:
    """Find what follows each label, up to the next label or the end of the line.

    A label is followed by a colon or an equals sign anywhere, or stands at the start of a line before a dash, before
    a single word, or alone: then what it labels is on the next line that says something.

    Parameters
    ----------
    text : str
        A cleaned reply.

    Returns
    -------
    dict
        The places by part, in order.

    Examples
    --------
    >>> parts = find_labelled("My answer: B (Confidence level = 17)")
    >>> [place.value for place in parts["answer"]], [place.value for place in parts["confidence"]]
    (['B'], ['17'])
    """
    labels = sorted((*_LABEL.finditer(text), *_LINE_LABEL.finditer(text)), key=lambda label: label.start())
    parts: dict[Part, list[Place]] = {"answer": [], "confidence": [], "other": []}
    for index, label in enumerate(labels):
        limit = labels[index + 1].start() if index + 1 < len(labels) else len(text)
        part: Part = "answer" if label["answer"] else "confidence" if label["confidence"] else "other"
        parts[part].append(_place(text, label, limit))
    return parts


def _place(text: str, label: re.Match[str], limit: int) -> Place:
    """Return what follows a label, on its line or else on the next that says something."""
    rules = ("json",) if label.groupdict().get("quote") == '"' else ()
    start = label.end()
    end = _line_end(text, start, limit)
    if not text[start:end].strip(" \t|=-"):
        filler = _FILLER.match(text, end, limit)
        start = filler.end() if filler else limit
        end = _line_end(text, start, limit)
        rules = (*rules, "next_line")
    value = text[start:end].strip()
    trimmed = trim(value)
    return Place(trimmed, label.start(), end, rules if value == trimmed else (*rules, "separators"))


def _line_end(text: str, start: int, limit: int) -> int:
    """Return where the line that holds ``start`` ends, or the limit if that comes first."""
    end = text.find("\n", start, limit)
    return limit if end < 0 else end


def trim(value: str) -> str:
    """Take off the separators at the ends of a value, and quotes and brackets whose other half is elsewhere.

    Examples
    --------
    >>> trim('"B", '), trim("B ("), trim("17)"), trim("B)"), trim('B"')
    ('"B"', 'B', '17', 'B)', 'B')
    """
    value = _CELL_BORDER.sub("", value.strip(_EDGES)).strip(_EDGES)
    for left, right in ("()", "[]", "{}"):
        if value.endswith(left) or (value.endswith(right) and left not in value and len(value) > 2):
            value = value[:-1].rstrip(_EDGES)
    for quote in "\"'":
        if value.count(quote) == 1:
            value = value.removeprefix(quote).removesuffix(quote).strip(_EDGES)
    return value


# Layouts --------------------------------------------------------------------------------------------------------

_TAG = re.compile(
    r"<(/?)(final_answer|answer|confidence(?:_score|_level)?|solution|explanation)>", re.IGNORECASE
)
_RULER = re.compile(r"[-:|\s]+")
_CELL = re.compile(_NAME, re.IGNORECASE)


def untag(text: str) -> str:
    r"""Write tags named like the labels as labelled lines.

    Examples
    --------
    >>> untag("<answer>B</answer>")
    '\nanswer: B\n'
    """
    return _TAG.sub(lambda tag: "\n" if tag[1] else f"\n{tag[2].replace('_', ' ')}: ", text)


def untabulate(text: str) -> str:
    r"""Write the rows of a table of two columns as labelled lines.

    Examples
    --------
    >>> untabulate("| Answer | Confidence |\n|---|---|\n| B | 17 |")
    'Answer: B\nConfidence: 17'
    """
    if "|" not in text:
        return text
    lines: list[str] = []
    header: list[str] = []
    for line in text.split("\n"):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if "|" in line and _RULER.fullmatch(line):
            continue
        if len(cells) != 2 or ":" in cells[0] or "=" in cells[0]:
            lines.append(line)
        elif all(_CELL.fullmatch(cell) for cell in cells):
            header = cells
        elif header:
            lines.extend(f"{name}: {cell}" for name, cell in zip(header, cells, strict=True))
        else:
            lines.append(": ".join(cells) if _CELL.fullmatch(cells[0]) else line)
    return "\n".join(lines)


_MISSING_END = re.compile(r"(?<=\w)(?=(?:Final Answer|Answer|Confidence):)")
_SPELT_END = re.compile(r"\\n(?=\W{0,4}[A-Z])")


def split_lines(text: str) -> str:
    r"""End a line before a label that is glued to what stands before it, and where an end of line is spelt out.

    Examples
    --------
    >>> split_lines("Answer: BConfidence: 17"), split_lines(r"Answer: B\nConfidence: 17")
    ('Answer: B\nConfidence: 17', 'Answer: B\nConfidence: 17')
    """
    return _MISSING_END.sub("\n", _SPELT_END.sub("\n", text))


LAYOUTS: tuple[Rule[Callable[[str], str]], ...] = (
    Rule("line_ends", split_lines, "Ends of lines that are missing or spelt out.", "Answer: BConfidence: 17"),
    Rule("tags", untag, "Tags named like the labels.", "<answer>B</answer><confidence>17</confidence>"),
    Rule("table", untabulate, "A table of labels and values.", "| Answer | B |\n| Confidence | 17 |"),
)
"""Ways to arrange labels and values other than in lines."""
