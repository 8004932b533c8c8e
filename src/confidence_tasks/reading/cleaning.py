"""Cleaning of replies: removal of chat tokens, typography and mark-up; `thoughts` has the removal of thoughts.

Each rule of `CLEANING` maps any text to a text, in time that is linear in the length of the text.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TypeVar

from confidence_tasks.reading.thoughts import UNKNOWN_MARK, strip_thoughts, unknown_control_tokens

Rules = Mapping[str, Callable[[str], str]]
"""Functions from text to text, in the order in which they are applied, by the name that a reading records."""

HEAD, TAIL = 5_000, 15_000
"""Numbers of characters at the beginning and at the end of a reply that are read."""


# Chat tokens ----------------------------------------------------------------------------------------------------

_LEADING_TOKENS = re.compile(
    r"\s*+(?:(?:<\|start_header_id\|>|<\|im_start\|>|<start_of_turn>)(?:assistant|model)|<\|[a-z_]{1,20}\|>|</?s>|\s)++"
)
_END_OF_TURN = re.compile(
    r"<\|(?:im_end|im_start|eot_id|eom_id|end|endoftext|end_of_text|return|start|start_header_id)\|>"
    r"|</s>|<end_of_turn>|<eos>|\[/?INST\]"
)


def strip_chat_tokens(text: str) -> str:
    """Remove the special tokens before the reply, and all text after the end of the model's turn."""
    leading = _LEADING_TOKENS.match(text)
    return until_end_of_turn(text[leading.end() :] if leading else text)


def until_end_of_turn(text: str) -> str:
    """Return the text before the first special token that ends the model's turn.

    Examples
    --------
    >>> until_end_of_turn("Paris<|im_end|>"), until_end_of_turn("Paris")
    ('Paris', 'Paris')
    """
    end = _END_OF_TURN.search(text)
    return text[: end.start()] if end else text


def marks_of_reply(text: str, visible: str | None = None) -> list[str]:
    """Return the rules that say what a reply holds beside the answer, whatever its study reads.

    Parameters
    ----------
    text : str
        The reply.
    visible : str, optional
        The reply without its thought; by default it is removed here.

    Returns
    -------
    list of str
        ``thought`` if a thought was removed, and ``control_token`` if tokens of unknown meaning are left.

    Examples
    --------
    >>> marks_of_reply("<think>A?</think>B <|mask|>"), marks_of_reply("B<|im_end|>")
    (['thought', 'control_token'], [])
    """
    visible = strip_thoughts(text) if visible is None else visible
    used = {"thought": visible != text, UNKNOWN_MARK: unknown_control_tokens(strip_chat_tokens(visible))}
    return [name for name, applies in used.items() if applies]


_NEXT_TURN = re.compile(
    r"^[^\w\n]{0,4}(?:answer the following question\b|solve the following math problem\b"
    r"|(?:next )?question(?: \d{1,3})?(?:[:.]|[ \t]*$)|q\d{0,3}[:.]|(?:user|human|instruction|problem):)",
    re.IGNORECASE | re.MULTILINE,
)
_MAX_TURNS = 20

Result = TypeVar("Result")


def read_first_turn(
    text: str, read: Callable[[str], Result], has_content: Callable[[Result], object]
) -> tuple[Result, bool]:
    """Return what is read from the first turn with any content, or else from the last, and whether turns follow it.

    A turn begins where a model continues with a question that it made up.
    """
    *earlier, last = _NEXT_TURN.split(text, maxsplit=_MAX_TURNS)
    for turn in earlier:
        result = read(turn)
        if has_content(result):
            return result, True
    return read(last), False


def truncate_reply(reply: str) -> str:
    """Return a reply, a long one cut to its first `HEAD` and last `TAIL` characters with an ellipsis between them.

    Every reader of whole replies calls this function first.

    Examples
    --------
    >>> len(truncate_reply("a" * 10_000_000)), truncate_reply("Answer: B")
    (20003, 'Answer: B')
    """
    return reply if len(reply) <= HEAD + TAIL else f"{reply[:HEAD]}\n…\n{reply[-TAIL:]}"


# Typography -----------------------------------------------------------------------------------------------------

_SUPERSCRIPT = "\ue000"
_SUPERSCRIPTS = re.compile(f"(?:{_SUPERSCRIPT}.)+")
_TYPOGRAPHY = {
    **dict.fromkeys("‐‑‒–—―−﹣－⁃", "-"),
    **dict.fromkeys("‘’‚‛′´＇", "'"),
    **dict.fromkeys("“”„‟″«»「」『』＂", '"'),
    **dict.fromkeys("⁄∕", "/"),
    **dict.fromkeys("≈∼≃≅", "~"),
    **dict.fromkeys("、，", ","),
    **dict.fromkeys("【〔", "["),
    **dict.fromkeys("】〕", "]"),
    **dict.fromkeys("≥⩾", ">="),
    **dict.fromkeys("≤⩽", "<="),
    "。": ".",
    "٪": "%",
    "→": "->",
    "⇒": "=>",
    "\u2028": "\n",
    "\u2029": "\n",
    "\x85": "\n",
}


LONGEST = 4
"""Maximum number of characters by which `fold` replaces one character."""


@lru_cache(maxsize=1 << 14)
def _folded(code: int) -> str:
    """Return the plain form of one character."""
    character = chr(code)
    if character in _TYPOGRAPHY:
        return _TYPOGRAPHY[character]
    digit = unicodedata.decimal(character, None)
    if digit is not None:
        return str(digit)
    category = unicodedata.category(character)
    if category in {"Cf", "Co", "Cs", "Me"} or 0xFE00 <= code <= 0xFE0F:
        return ""
    if category == "Zs":
        return " "
    tag = unicodedata.decomposition(character).partition(" ")[0]
    if not tag.startswith("<"):
        return character
    plain = "".join(_TYPOGRAPHY.get(part, part) for part in unicodedata.normalize("NFKC", character))
    if len(plain) > LONGEST:
        return character
    if tag == "<super>" and plain in "+-0123456789":
        return _SUPERSCRIPT + plain
    return f" {plain}" if tag == "<fraction>" else plain


class _Folding:
    """A table for `str.translate` whose entries are computed when they are needed."""

    def __getitem__(self, code: int) -> str:
        return _folded(code)


_FOLDING = _Folding()


def fold(text: str) -> str:
    """Replace digits of any script, full-width and mathematical letters, dashes, quotes and spaces by ASCII.

    Superscripts become powers, vulgar fractions become quotients, and invisible characters are removed. Accents and
    letters of other scripts are not changed.

    Examples
    --------
    >>> fold("１７ − ٣½ × 10⁻⁵ “ok”")
    '17 - 3 1/2 × 10^-5 "ok"'
    """
    if text.isascii():
        return text
    plain = text.translate(_FOLDING)
    return _SUPERSCRIPTS.sub(lambda run: "^" + run[0].replace(_SUPERSCRIPT, ""), plain)


# Quotations -----------------------------------------------------------------------------------------------------

_STRUCK = re.compile(r"~~[^~\n]{1,500}~~")
_QUOTED_BLOCK = re.compile(r"<(details|blockquote|del)\b.*?(?:</\1>|\Z)", re.IGNORECASE | re.DOTALL)
_FENCE_LINE = re.compile(r"[ \t]{0,8}(?:```|~~~)[^`]{0,40}")
_QUOTED_LINE = re.compile(r"[ \t]*(?:[-*+] )?(?:> |`[^`]*confidence)", re.IGNORECASE)
_STATES_CONFIDENCE = re.compile(
    r"^[^\w\n\"'([]{0,8}(?:my )?confidence\b(?:[^\n:=]{0,40}[:=]|[^\w\n]{0,4}$)", re.IGNORECASE | re.MULTILINE
)


def strip_struck(text: str) -> str:
    """Remove text that is struck through.

    Examples
    --------
    >>> strip_struck("Confidence: ~~90~~ 40")
    'Confidence:  40'
    """
    return _STRUCK.sub("", text)


def strip_quoted(text: str) -> str:
    r"""Remove text that is struck through or quoted, unless only this text contains the confidence.

    Examples
    --------
    >>> strip_quoted("Confidence: ~~90~~ 40\n> Confidence: 100"), strip_quoted("> Confidence: 100")
    ('Confidence:  40', '> Confidence: 100')
    """
    kept: list[str] = []
    inside: list[str] = []
    fenced = False
    for line in _QUOTED_BLOCK.sub("", strip_struck(text)).split("\n"):
        if _FENCE_LINE.fullmatch(line):
            fenced = not fenced
        elif fenced:
            inside.append(line)
        elif not _QUOTED_LINE.match(line):
            kept.append(line)
    unquoted = "\n".join(kept)
    is_quotation = _STATES_CONFIDENCE.search(unquoted) and not _is_fenced_answer(inside, kept)
    return unquoted if is_quotation else text


def _is_fenced_answer(inside: Sequence[str], outside: Sequence[str]) -> bool:
    """Return True if one line is in a fence, and nothing but the confidence stands outside it."""
    answer, rest = (list(filter(str.strip, lines)) for lines in (inside, outside))
    return len(answer) == len(rest) == 1 and "confidence" not in answer[0].casefold()


# Markup ---------------------------------------------------------------------------------------------------------

_BREAK = re.compile(r"<br\s{0,3}/?>", re.IGNORECASE)
_INLINE_TAG = re.compile(r"<(b|strong|i|em|u|code|span)>([^<>]{0,2000})</\1>", re.IGNORECASE)
_BLOCK_TAG = re.compile(r"<(p|div|li|pre|h[1-6])>([^<>]{0,2000})</\1>", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z]{2,8});", re.IGNORECASE)
_FENCE = re.compile(r"^[ \t]{0,8}(?:```|~~~)[^\n`]{0,40}$", re.MULTILINE)
_FENCE_ON_A_LINE = re.compile(r"```(?:json|text|markdown|yaml|xml)?")
_EMPHASIS = re.compile(
    r"(?<![\w*_`\\])(\*{1,3}|_{1,3}|`{1,2})(?=\S)"
    r"((?:(?!\1)[^\n]|(?<=\w)\1(?=\w)|(?<=\s)\1(?=\s)){1,1000}+)(?<=\S)\1(?![\w*_`])"
)
"""Marks that enclose words on one line. A mark inside a word or between spaces is part of a name or an operation."""
_OPEN_ENDED = re.compile(r"^[ \t]{0,8}\*{2,9}(?=\S)|(?<=\S)\*{2,9}(?=[ \t]{0,8}$)", re.MULTILINE)
"""Marks of bold text that ends on another line."""
_LINE_MARK = re.compile(r"^[ \t]{0,8}(?:(?:#{1,6}|>|[-*•▪◦‣+])[ \t]+)+", re.MULTILINE)
_LIST_NUMBER = re.compile(r"^[ \t]{0,8}(\d{1,2})[.)][ \t]+(?=[A-Za-z*])", re.MULTILINE)
_BEFORE_ANSWER = re.compile(r"\*{0,3}(?:final )?answer\b", re.IGNORECASE)


def strip_html(text: str) -> str:
    r"""Remove tags for layout, insert the line breaks that they stand for, and decode entities.

    Examples
    --------
    >>> strip_html("<p><b>Answer:</b> B &amp; C</p><br>A < B")
    'Answer: B & C\n\nA < B'
    """
    if "<" in text:
        text = _BREAK.sub("\n", text)
        text = _BLOCK_TAG.sub("\\2\n", _INLINE_TAG.sub("\\2", text))
    return _ENTITY.sub(lambda entity: html.unescape(entity[0]), text)


def strip_emphasis(text: str) -> str:
    """Remove the marks of bold, italics and code that enclose words, but no operators.

    Examples
    --------
    >>> strip_emphasis("**Answer:** *x* * y**2")
    'Answer: x * y**2'
    """
    return _EMPHASIS.sub(r"\2", _EMPHASIS.sub(r"\2", text))


def strip_list_numbers(text: str) -> str:
    r"""Remove the numbers of lists, which have neighbours on other lines or precede ``Answer:``; others are answers.

    Examples
    --------
    >>> strip_list_numbers("1. B\n2. Sure"), strip_list_numbers("8. I am 97% confident.")
    ('B\nSure', '8. I am 97% confident.')
    """
    numbers = Counter(int(match[1]) for match in _LIST_NUMBER.finditer(text))

    def kept(match: re.Match[str]) -> str:
        number = int(match[1])
        has_neighbour = numbers[number] > 1 or numbers[number - 1] or numbers[number + 1]
        return "" if has_neighbour or _BEFORE_ANSWER.match(text, match.end()) else match[0]

    return _LIST_NUMBER.sub(kept, text)


def strip_markdown(text: str) -> str:
    """Remove the marks of emphasis, headings, quotations and lists."""
    unmarked = strip_list_numbers(_LINE_MARK.sub("", strip_emphasis(text)))
    return _OPEN_ENDED.sub("", strip_emphasis(unmarked))


CLEANING: Rules = {
    "thought": strip_thoughts,
    "chat_tokens": strip_chat_tokens,
    "quoted": strip_quoted,
    "html": strip_html,
    "unicode": fold,
    "code_fence": lambda text: _FENCE_ON_A_LINE.sub("", _FENCE.sub("", text)),
    "markdown": strip_markdown,
}
"""Rules that clean a whole reply."""


def clean(text: str) -> tuple[str, tuple[str, ...]]:
    r"""Apply the rules of `CLEANING`; return the cleaned reply and the names of the rules that changed it.

    Examples
    --------
    >>> clean("<think>A?</think>**Answer:** B")
    ('Answer: B', ('thought', 'markdown'))
    """
    return apply_rules(CLEANING, text.replace("\r\n", "\n").replace("\r", "\n"))


def apply_rules(rules: Rules, text: str) -> tuple[str, tuple[str, ...]]:
    """Apply rules in order; return the text and the names of the rules that changed more than the outer white space.

    Examples
    --------
    >>> apply_rules(VALUE_CLEANING, "[B] ")
    ('B', ('wrapped',))
    """
    used = []
    for name, rule in rules.items():
        cleaned = rule(text)
        if cleaned.strip() != text.strip():
            used.append(name)
        text = cleaned
    return text.strip(), tuple(used)


# Values ---------------------------------------------------------------------------------------------------------

_LATEX: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\\[dt]?frac\s?\{\s?(-?[\d.]{1,40})\s?\}\s?\{\s?([\d.]{1,40})\s?\}"), r" \1/\2"),
    (re.compile(r"\\[dt]?frac\s?(\d)(\d)"), r" \1/\2"),
    (re.compile(r"\{,\}|(?<=\d)\\[,!;](?=\d)|(?<=\d),\\!(?=\d)"), ","),
    (re.compile(r"\\(?:times|cdot)(?![A-Za-z])"), "×"),
    (re.compile(r"\\(?:approx|sim)(?![A-Za-z])"), "~"),
    (re.compile(r"\\pm(?![A-Za-z])"), "±"),
    (re.compile(r"\^\s?\{?\s?\\circ\s?\}?"), ""),
    (re.compile(r"\\[a-zA-Z]{1,12}\s?\{|\\[()\[\]]|\\(?:left|right|displaystyle)(?![A-Za-z])|\\[,!;: ]"), ""),
    (re.compile(r"\\([$%#&_{}])"), r"\1"),
    (re.compile(r"\^\s?\{\s?(-?\d{1,4})\s?\}"), r"^\1"),
    (re.compile(r"[{}]"), ""),
)
_BOXED = re.compile(r"\\boxed\s?\{|\\fbox\s?\{")
_WRAPPERS = frozenset(('""', "''", "``", "<>", "[]", "{}", "$$", "**"))
_PLACEHOLDER = re.compile(
    r"[<\[{(]?\s?(?:your|insert|enter|put|integer|an integer|number|numerical|a number|letter|answer|confidence|option)"
    r"(?:\s[\w\s'/,-]{1,80})?\s?[>\]})]|(?:an )?integer between[\w\s]{1,40}|your answer",
    re.IGNORECASE,
)


def strip_latex(text: str) -> str:
    r"""Remove LaTeX mark-up such as boxes, fonts and spaces, and write fractions as quotients.

    Examples
    --------
    >>> strip_latex(r"\boxed{\text{B}}"), strip_latex(r"$\frac{3}{4}$"), strip_latex(r"1{,}234\%")
    ('B', '3/4', '1,234%')
    """
    if "\\" not in text and "{,}" not in text:
        return text
    math = text.replace("\\$", "\ue001").replace("$", "").replace("\ue001", "$")
    for pattern, plain in _LATEX:
        math = pattern.sub(plain, math)
    return math.strip()


def last_box(text: str) -> str:
    r"""Return the content of the last ``\boxed{...}``; the empty string if there is none.

    Examples
    --------
    >>> last_box(r"so $\boxed{\text{B}}$.")
    '\\text{B}'
    """
    boxes = list(_BOXED.finditer(text))
    if not boxes:
        return ""
    depth, start = 1, boxes[-1].end()
    for position in range(start, min(len(text), start + 1000)):
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        if depth == 0:
            return text[start:position]
    return ""


def unwrap(value: str) -> str:
    """Remove the quotation marks or brackets that enclose a whole value, with the full stop after them and white space.

    Examples
    --------
    >>> unwrap(' ["B"]. '), unwrap("[0, 20] or so"), unwrap("U.S.")
    ('B', '[0, 20] or so', 'U.S.')
    """
    value = value.strip()
    for _ in range(4):
        inner = value.rstrip(".,;")
        if len(inner) > 1 and inner[0] + inner[-1] in _WRAPPERS:
            value = inner[1:-1].strip()
    return value


def trim_span(text: str, begin: int, end: int, before: str, behind: str) -> tuple[int, int]:
    """Return a span of a text without the characters of ``before`` at its start and of ``behind`` at its end.

    Examples
    --------
    >>> trim_span("It is *Paris*,", 5, 14, " *", " *,")
    (7, 12)
    """
    while begin < end and text[begin] in before:
        begin += 1
    while begin < end and text[end - 1] in behind:
        end -= 1
    return begin, end


_FONT = re.compile(r"\$?\\(?:text|textbf|textit|mathrm|mathbf)\s?\{([^{}]*)\}\$?\.?")
_QUOTES = frozenset(('""', "''", "“”", "‘’", "«»", "``"))


def strip_wrapping(value: str) -> str:
    r"""Remove the marks that enclose a whole text: emphasis, one pair of quotation marks, a LaTeX font.

    Examples
    --------
    >>> texts = ("**Paris**", '"Paris".', r"$\text{Paris}$", r"\{1, 2\}", "[1, 2]")
    >>> [strip_wrapping(text) for text in texts]
    ['Paris', 'Paris', 'Paris', '\\{1, 2\\}', '[1, 2]']
    """
    value = strip_emphasis(value.strip())
    if font := _FONT.fullmatch(value):
        value = font[1].strip()
    inner = value.rstrip(".,;")
    if len(inner) < 3 or inner[0] + inner[-1] not in _QUOTES:
        return value
    within = inner[1:-1].strip()
    first, last = (within.find(quote) for quote in (inner[0], inner[-1]))
    enclosed = (
        max(first, last) < 0 or within[: max(first, 0)][-1:].isspace()
    )  # else the first pair ends there
    return within if enclosed else value


def is_placeholder(value: str) -> bool:
    """Return True for a placeholder of the prompt, such as ``<your answer>`` or ``<integer between 0 and 20>``."""
    return _PLACEHOLDER.fullmatch(value.strip()) is not None


VALUE_CLEANING: Rules = {
    "unicode": fold,
    "latex": strip_latex,
    "wrapped": lambda value: unwrap(strip_emphasis(value)),
}
"""Rules that clean a value, such as the text after a label."""

_PERCENTAGE = re.compile(
    r"(?<=\S)(?:\s{0,3}[(\[]|(?<![\d%])(?:,\s{1,3}|\s{1,3}[-–—]\s{1,3}))"
    r"\d{1,3}(?:\.\d{1,4})?\s?%[)\]]?(?=\.?\s{0,3}\Z)"
)


def without_percentage(value: str) -> str:
    """Return a text without a percentage behind it, in brackets or after a comma or a dash, which may be a confidence.

    After a number, a comma or a dash may join two values of an answer.

    Examples
    --------
    >>> [without_percentage(text) for text in ("Lima (90%)", "Lima, 90%", "(90%)", "40%, 50%")]
    ['Lima', 'Lima', '(90%)', '40%, 50%']
    """
    return _PERCENTAGE.sub("", value)


LITERAL_CLEANING: Rules = {"percentage": without_percentage, "wrapped": strip_wrapping}
"""Rules that clean a text and keep its wording."""


def clean_value(value: str) -> tuple[str, tuple[str, ...]]:
    r"""Apply the rules of `VALUE_CLEANING`; return the cleaned value and the names of the rules that changed it.

    Examples
    --------
    >>> clean_value(r"$\boxed{17}$"), clean_value("<B>")
    (('17', ('latex',)), ('B', ('wrapped',)))
    """
    return apply_rules(VALUE_CLEANING, value)
