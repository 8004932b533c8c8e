"""Thoughts that a reply announces in words or by its layout, without marks of their own.

Each function returns the span of the reply after the thought, no span if all of the text is a thought, or None if the
text has not the shape. The thought must be the beginning of the text.
"""

from __future__ import annotations

import json
import re
import unicodedata

from confidence_tasks.reading.languages import FOREIGN_ANSWER, FOREIGN_CONFIDENCE, THINKING

Span = tuple[int, int]

_ABOUT_THINKING = re.compile(THINKING, re.IGNORECASE)
_ANSWER = rf"(?:(?:final )?answer|{FOREIGN_ANSWER})"
_CONFIDENCE = rf"(?:(?:confidence|certainty|probability)|{FOREIGN_CONFIDENCE})"
_STATES_CONFIDENCE = re.compile(
    rf"\W{{0,8}}(?:(?:my |the )?{_CONFIDENCE}\b|I(?:['’]m| am)\b|\d{{1,3}} ?%)", re.I
)
"""The beginning of a text that states a confidence."""


def _without_front(text: str, begin: int) -> list[Span] | None:
    """Return the text from a position on; None if it only states the confidence of what stands before."""
    is_remark = not text[begin:].strip() or _STATES_CONFIDENCE.match(text, begin)
    return None if is_remark else [(begin, len(text))]


# Headings -----------------------------------------------------------------------------------------------------------

_DECORATION = r"[#*_=~>`'\"\-\[\]【】:：.…|! \t💭🤔🧠✅]"
_NAME = (
    r"(?:thinking|thoughts?|thought process|thinking process|reasoning|reasoning process|analysis|scratch ?pad"
    r"|(?:inner|internal) monologue|思考过程|思考|размышления|рассуждение|(?:first |rough )?draft|working"
    r"|thought for(?: \w+){1,4}|let(?: me|'s|’s) think(?: \w+){0,6})"
)
_HEADING = re.compile(
    rf"\s*{_DECORATION}{{0,12}}(?:(?:begin|start)(?: of)? |here(?:'s|’s| is) )?(?:my |the )?{_NAME}"
    rf"{_DECORATION}{{0,12}}\n",
    re.IGNORECASE,
)
_LINE = re.compile(r"\s*(?P<line>[^\n]{1,80})\n")
_MARKED = re.compile(r"[^\w\"'(<{-].*|.*(?:[^\w.,;!?)]|\.\.\.)|[({][^\"]*[)}]|\S+")
"""A line with marks at its start or end, or of one word."""
_MOST_WORDS = 7
_LAST_HEADING = re.compile(
    rf"^[^\w\n]{{0,12}}(?:(?P<label>{_ANSWER})|(?:here(?:['’]s| is) )?(?:my |the )?(?:final )?"
    r"(?:response|reply|output)|final(?: version)?"
    rf"|(?:ok(?:ay)?,? )?(?:done|finished|end)(?: of)? [^\n\d]{{0,12}}(?:{THINKING})\w{{0,10}})[^\w\n]{{0,12}}$",
    re.IGNORECASE | re.MULTILINE,
)
_RULE = re.compile(r"^[ \t]*(?:-{3,}|\*{3,}|_{3,}|={3,})[ \t]*$", re.MULTILINE)
_SET_OFF = tuple(re.compile(rf"(?:\s{{0,9}}{mark}[^\n]*(?:\n|\Z))+") for mark in (">", "//"))
"""Lines that are quoted, and lines that are comments."""


def after_headings(text: str) -> list[Span] | None:
    r"""Return the text after the last line that announces the reply, if the first line announces the thoughts.

    Without such a line, the reply begins after lines that are quoted or comments, or after a rule.

    Examples
    --------
    >>> text = "**Thinking**\nA? No.\n\n**Answer**\nB"
    >>> [text[slice(*span)] for span in after_headings(text)]
    ['**Answer**\nB']
    """
    named = _HEADING.match(text)
    heading = named or _LINE.match(text)
    if heading is None or not (named or _is_heading(heading["line"].strip())):
        return None
    if headings := list(_LAST_HEADING.finditer(text, heading.end())):
        last = headings[-1]
        return [(last.start() if last["label"] else last.end(), len(text))]
    return _after_layout(text, heading.end()) if named else None


def _is_heading(line: str) -> bool:
    """Return whether a line is about thinking and no sentence: it is short, and marks stand at its start or end."""
    if len(line.split()) > _MOST_WORDS or not _ABOUT_THINKING.search(line):
        return False
    return _MARKED.fullmatch(line) is not None


def _after_layout(text: str, position: int) -> list[Span] | None:
    """Return the text after lines that are quoted or comments, or after a rule."""
    end = next(filter(None, (lines.match(text, position) for lines in _SET_OFF)), None) or _RULE.search(
        text, position
    )
    return _without_front(text, end.end()) if end else None


_MARK = r"(?:\d[.)][ ]|[-+•][ ])?[#*_>\[]{0,6}[ ]?"
_SEPARATOR = r"[*_\]]{0,3}[ \t]?(?::{1,2}|：|>)"
_LABEL = re.compile(rf"\s*{_MARK}(?P<label>[^\W\d_]+(?: [^\W\d_]+){{0,2}}){_SEPARATOR}")
_FINAL_LABEL = re.compile(
    rf"^[ \t]{{0,6}}{_MARK}(?:my |the )?(?:(?P<answer>final answer)|(?P<foreign>{FOREIGN_ANSWER})"
    rf"|final(?: (?:decision|verdict))?|(?:final )?(?:response|reply|output)){_SEPARATOR}",
    re.IGNORECASE | re.MULTILINE,
)
_CONFIDENCE_LINE = re.compile(rf"^\W{{0,8}}{_CONFIDENCE}\b", re.IGNORECASE | re.MULTILINE)


def after_final_label(text: str) -> list[Span] | None:
    r"""Return the text after the last label ``Final:`` or ``Final answer:``, if the first label is about thinking.

    Examples
    --------
    >>> text = "Thought: A? No.\n\nFinal: B"
    >>> [text[slice(*span)] for span in after_final_label(text)]
    [' B']
    """
    first = _LABEL.match(text)
    if first is None or not _ABOUT_THINKING.search(first["label"]):
        return None
    finals = [final for final in _FINAL_LABEL.finditer(text, first.end()) if _is_final(final)]
    if not finals:
        return None
    last = finals[-1]
    begin = last.start() if last["answer"] or last["foreign"] else last.end()
    last_line = text[first.end() : last.start()].rstrip().rpartition("\n")[2]
    if _CONFIDENCE_LINE.match(last_line) and not _CONFIDENCE_LINE.search(text, begin):
        return None  # that line belongs to the answer below it
    return _without_front(text, begin)


def _is_final(label: re.Match[str]) -> bool:
    """Return whether a label in another language says that the answer is the final one; in English, it does."""
    return not label["foreign"] or " " in label["foreign"].strip() or label["foreign"].startswith("最")


# Channels -----------------------------------------------------------------------------------------------------------

_CHANNEL = re.compile(r"\s*(?:assistant)?(?:analysis|commentary)(?=\w|[\"'{(*<]|(?P<line>\s*\n))")
_FINAL_CHANNEL = re.compile(r"assistant\s?(?:final|answer|response)")


def after_bare_channels(text: str) -> list[Span] | None:
    """Return the text after the name of the last channel, if the server has dropped the tokens around the names.

    Examples
    --------
    >>> after_bare_channels("analysisA? No.assistantfinalB"), after_bare_channels("analysisA?")
    ([(28, 29)], [])
    """
    first = _CHANNEL.match(text)
    if first is None:
        return None
    if finals := list(_FINAL_CHANNEL.finditer(text)):
        return [(finals[-1].end(), len(text))]
    return None if first["line"] else []


# Blocks -------------------------------------------------------------------------------------------------------------

_BLOCKS = (
    (
        re.compile(
            rf"\s*(?P<mark>`{{3,}}|~{{3,}}|:{{3,}})[^\n`{{]{{0,40}}(?:{THINKING})[^\n`{{]{{0,20}}(?=\n)", re.I
        ),
        "\n{}",
    ),
    (re.compile(r"\s*(?P<mark><!--)"), "-->"),
    (re.compile(r"\s*(?P<mark>/\*)"), "*/"),
    (re.compile(rf"\s*<(?P<mark>\?)[\w-]{{0,20}}(?:{THINKING})", re.I), "?>"),
    (
        re.compile(rf"\s*\\begin\{{(?P<mark>[^{{}}\n]{{0,20}}(?:{THINKING})[^{{}}\n]{{0,20}})\}}", re.I),
        "\\end{{{}}}",
    ),
    (
        re.compile(rf"\s*(?:BEGIN|START)[_ ](?P<mark>[A-Z]{{0,9}}(?:{THINKING.upper()})[A-Z]{{0,9}})\b:?"),
        "END_{}",
    ),
)
"""What begins a block that nobody is meant to see, and what ends it."""


def after_block(text: str) -> list[Span] | None:
    """Return the text after a fenced block for thoughts, or after a comment, which nobody is meant to see.

    Examples
    --------
    >>> after_block("<!-- A? No. -->B"), after_block("<!-- A?")
    ([(15, 16)], [])
    """
    for opening, closing in _BLOCKS:
        if block := opening.match(text):
            mark = closing.format(block["mark"])
            end = text.find(mark, block.end())
            return [] if end < 0 else [(end + len(mark), len(text))]
    return None


_DECODER = json.JSONDecoder(strict=False, parse_int=str)


def after_object(text: str) -> list[Span] | None:
    """Return the text after a JSON object all of whose keys are about thinking.

    Examples
    --------
    >>> after_object('{"thought": "A? No."} B'), after_object('{"thought": "", "answer": "B"} B')
    ([(21, 23)], None)
    """
    if not text.startswith("{"):
        return None
    try:
        value, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return _without_front(text, end) if value and all(map(_ABOUT_THINKING.search, value)) else None


def after_set_off_lines(text: str) -> list[Span] | None:
    r"""Return the text after first lines that are quoted or are comments, unless these are the answer.

    They are the answer if they begin with its label or are short, or if nothing but a confidence follows.

    Examples
    --------
    >>> text = "> Is it A?\n> No, it is not.\n\nB"
    >>> after_set_off_lines(text), after_set_off_lines("> Answer: B\n\nConfidence: 90")
    ([(28, 30)], None)
    """
    lines = next(filter(None, (lines.match(text) for lines in _SET_OFF)), None)
    if lines is None:
        return None
    said = lines[0].lstrip("> \t\n/")
    is_answer = _LABELLED.match(said) or len(said.split()) < _FEWEST_WORDS
    return None if is_answer else _without_front(text, lines.end())


def is_set_off(text: str) -> bool:
    """Return whether all of a text is quoted, or all is a comment."""
    return any(lines.fullmatch(text) for lines in _SET_OFF)


_FEWEST_WORDS = 6
"""Number of words from which lines may be a thought; fewer are a value."""
_LABELLED = re.compile(rf"\W{{0,8}}(?:my |the )?(?:{_ANSWER}|{_CONFIDENCE})\b", re.IGNORECASE)


# Words and paragraphs -----------------------------------------------------------------------------------------------

_PARAGRAPH = re.compile(r"\s*[*_]{0,2}(?:(?:thinking|thoughts?|思考)[ \t]*[:：]|[💭🤔🧠])", re.IGNORECASE)
_ASIDE = re.compile(rf"\s*(?P<mark>[*_]{{1,3}}|\()(?=[^\n]{{0,24}}(?:{THINKING}))", re.IGNORECASE)
_BLANK_LINE = re.compile(r"\n[ \t]*\n")


def after_paragraph(text: str) -> list[Span] | None:
    r"""Return the text after a first paragraph that begins as a thought, or is one in brackets or in italics.

    Examples
    --------
    >>> text = "*Thinking: A? No.*\n\nB"
    >>> [text[slice(*span)] for span in after_paragraph(text)]
    ['B']
    """
    end = _BLANK_LINE.search(text)
    if end is None:
        return None
    aside = _ASIDE.match(text)
    closing = ")" if aside and aside["mark"] == "(" else aside and aside["mark"]
    said = text[aside.end() : end.start()].rstrip() if aside else ""
    is_aside = closing and said.endswith(closing) and len(said.split()) >= _FEWEST_WORDS
    return _without_front(text, end.end()) if is_aside or _PARAGRAPH.match(text) else None


_SYMBOLS = r"(?:[^\w\s\"'`(){}.,;!?:<>\[\]]{1,8}|:{2,3})"
_WRAPPED_WORD = re.compile(
    rf"\s*(?P<left>{_SYMBOLS})[ ]?(?P<word>[^\W\d_]{{2,30}})[ ]?(?P<right>{_SYMBOLS}|(?=\n))"
)
_LAYOUT = frozenset("#*_=~-|+>•·")
"""Symbols that are layout, so that a word between them is a heading, a cell or emphasis."""


def after_wrapped_word(text: str) -> list[Span] | None:
    r"""Return the text after the last repetition of a first word about thinking between symbols, as in ``$think$``.

    A slash or ``end`` may stand before the repetition. Without a repetition all of the text is a thought, unless the
    symbols are those of layout.

    Examples
    --------
    >>> text = "$think$ A? No. $think$ B"
    >>> [text[slice(*span)] for span in after_wrapped_word(text)]
    [' B']
    """
    first = _WRAPPED_WORD.match(text)
    if first is None or not _ABOUT_THINKING.search(first["word"]):
        return None
    word = rf"(?P<end>(?:{_SYMBOLS})?[/\\]|end[ _]?)?{re.escape(first['word'])}"
    repeated = re.compile(rf"(?:{_SYMBOLS})[ ]?{word}(?:[ ]?{_SYMBOLS}|(?=\s|\Z))", re.IGNORECASE)
    ends = [match for match in repeated.finditer(text, first.end()) if first["right"] or match["end"]]
    if ends:
        return [(ends[-1].end(), len(text))]
    return [] if _is_mark(first) else None


def _is_mark(wrapped: re.Match[str]) -> bool:
    """Return whether symbols around a word are neither layout nor pictures, and stand close to it on both sides."""
    left, right = wrapped["left"], wrapped["right"]
    is_layout = any(symbol in _LAYOUT or unicodedata.category(symbol) == "So" for symbol in left)
    is_close = wrapped[0].strip() == f"{left}{wrapped['word']}{right}"
    return not is_layout and is_close and _mirrored(left) == right


def _mirrored(symbols: str) -> str:
    """Return what stands on the right side of a word if some symbols stand on its left side."""
    return "".join(_MIRRORED.get(symbol, symbol) for symbol in reversed(symbols))


_MIRRORED = {
    chr(code): chr(code + 1)
    for code in range(0x2E80)
    if unicodedata.category(chr(code)) == "Ps" and unicodedata.category(chr(code + 1)) == "Pe"
} | {"「": "」", "『": "』", "〖": "〗", "〘": "〙", "〚": "〛", "☾": "☽"}
"""The closing bracket of each opening one."""
