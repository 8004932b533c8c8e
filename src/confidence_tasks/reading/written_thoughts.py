"""Thoughts that a reply announces in words or by its layout, without marks of their own.

Each function returns the span of the reply after the thought, no span if all of the text is a thought, or None if the
text has not the shape. The thought must be the beginning of the text.
"""

from __future__ import annotations

import re

Span = tuple[int, int]

_DECORATION = r"[#*_=~>`'\"\-\[\]【】:.…! \t💭🤔🧠]"
_THINKING = (
    r"(?:thinking|thoughts?|thought process|thinking process|reasoning|reasoning process|analysis|scratch ?pad"
    r"|(?:inner|internal) monologue|思考过程|思考|размышления|рассуждение)"
)
_HEADING = re.compile(
    rf"\s*{_DECORATION}{{0,12}}(?:(?:begin|start)(?: of)? |here(?:'s|’s| is) )?(?:my |the )?{_THINKING}"
    rf"{_DECORATION}{{0,12}}\n",
    re.IGNORECASE,
)
_LAST_HEADING = re.compile(
    rf"^{_DECORATION}{{0,12}}(?:(?P<label>(?:final )?answer|回答|答案|ответ)|(?:here(?:'s|’s| is) )?(?:my |the )?"
    rf"(?:final )?(?:response|reply|output)|final|(?:done|finished|end|end of) {_THINKING}){_DECORATION}{{0,12}}$",
    re.IGNORECASE | re.MULTILINE,
)
_RULE = re.compile(r"^[ \t]*(?:-{3,}|\*{3,}|_{3,}|={3,})[ \t]*$", re.MULTILINE)
_QUOTED_LINES = re.compile(r"(?:\s{0,9}>[^\n]{0,2000}(?:\n|\Z))+")


def after_headings(text: str) -> list[Span] | None:
    r"""Return the text after the last line that announces the reply, if the first line announces the thoughts.

    Without such a line, the reply begins after lines that are quoted, or after a rule.

    Examples
    --------
    >>> text = "**Thinking**\nA? No.\n\n**Answer**\nB"
    >>> [text[slice(*span)] for span in after_headings(text)]
    ['**Answer**\nB']
    """
    heading = _HEADING.match(text)
    if heading is None:
        return None
    if headings := list(_LAST_HEADING.finditer(text, heading.end())):
        last = headings[-1]
        return [(last.start() if last["label"] else last.end(), len(text))]
    quoted, rule = _QUOTED_LINES.match(text, heading.end()), _RULE.search(text, heading.end())
    end = quoted or rule
    return [(end.end(), len(text))] if end else None


_CHANNEL = re.compile(r"\s*(?:analysis|commentary)(?=\w|[\"'{(*<]|(?P<line>\s*\n))")
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


_FENCE = re.compile(rf"\s*(?P<mark>`{{3,}}|~{{3,}})[ \t]*{_THINKING}[ \t]*\n", re.IGNORECASE)


def after_block(text: str) -> list[Span] | None:
    """Return the text after a fenced block for thoughts, or after a comment, which nobody is meant to see.

    Examples
    --------
    >>> after_block("<!-- A? No. -->B"), after_block("<!-- A?")
    ([(15, 16)], [])
    """
    fence = _FENCE.match(text)
    if fence is None and not text.lstrip().startswith("<!--"):
        return None
    start, closing = (fence.end() - 1, f"\n{fence['mark']}") if fence else (0, "-->")
    end = text.find(closing, start)
    return [] if end < 0 else [(end + len(closing), len(text))]


_PARAGRAPH = re.compile(r"\s*[*_]{0,2}(?:(?:thinking|thoughts?|思考)[ \t]*[:：]|[💭🤔🧠])", re.IGNORECASE)
_BLANK_LINE = re.compile(r"\n[ \t]*\n")


def after_paragraph(text: str) -> list[Span] | None:
    r"""Return the text after a first paragraph that begins as a thought.

    Examples
    --------
    >>> text = "*Thinking: A? No.*\n\nB"
    >>> [text[slice(*span)] for span in after_paragraph(text)]
    ['B']
    """
    end = _BLANK_LINE.search(text) if _PARAGRAPH.match(text) else None
    return [(end.end(), len(text))] if end and text[end.end() :].strip() else None
