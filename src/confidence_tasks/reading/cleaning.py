"""Clearing away what surrounds a reply: thoughts, chat tokens, typography and markup. Shared by every reader.

Each rule of `CLEANING` is a total function from text to text whose time is linear in the length of the text.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TypeVar

Rules = Mapping[str, Callable[[str], str]]
"""Rules from text to text, in order of use, by the name with which a reading is marked."""

HEAD, TAIL = 5_000, 15_000
"""Numbers of characters at the two ends of a reply that are read; what lies between them is not."""


# Thoughts and chat tokens ---------------------------------------------------------------------------------------

_THOUGHT_TAG = re.compile(
    r"[<◁](/?)(?:think|thinking|thoughts?|reasoning|reflection|scratchpad|analysis|seed:think)[>▷]|\[(/?)THINK\]",
    re.IGNORECASE,
)
_FINAL_CHANNEL = re.compile(r"<\|channel\|>final[^<\n]{0,40}<\|message\|>")
_LEADING_TOKENS = re.compile(
    r"\s*+(?:(?:<\|start_header_id\|>|<\|im_start\|>|<start_of_turn>)(?:assistant|model)|<\|[a-z_]{1,20}\|>|</?s>|\s)++"
)
_END_OF_TURN = re.compile(
    r"<\|(?:im_end|im_start|eot_id|eom_id|end|endoftext|end_of_text|return|start|start_header_id)\|>"
    r"|</s>|<end_of_turn>|<eos>|\[/?INST\]"
)


def strip_thoughts(text: str) -> str:
    """Drop ``<think>...</think>`` and its relatives; a thought that never ends takes the rest of the text with it."""
    if "<|channel|>" in text:
        final = list(_FINAL_CHANNEL.finditer(text))
        return text[final[-1].end() :] if final else ""
    kept: list[str] = []
    start, inside = 0, False
    for tag in _THOUGHT_TAG.finditer(text):
        closes = bool(tag[1] or tag[2])
        if closes and not inside:
            kept.clear()  # the opening tag belonged to the prompt: all before is thought
        elif not closes and not inside:
            kept.append(text[start : tag.start()])
        inside, start = not closes, tag.end()
    if not inside:
        kept.append(text[start:])
    return "".join(kept)


def strip_chat_tokens(text: str) -> str:
    """Drop the special tokens before the reply, and everything from the end of the model's turn on."""
    leading = _LEADING_TOKENS.match(text)
    text = text[leading.end() :] if leading else text
    end = _END_OF_TURN.search(text)
    return text[: end.start()] if end else text


_NEXT_TURN = re.compile(
    r"^[^\w\n]{0,4}(?:answer the following question\b|solve the following math problem\b"
    r"|(?:next )?question(?: \d{1,3})?(?:[:.]|[ \t]*$)|q\d{0,3}[:.]|(?:user|human|instruction|problem):)",
    re.IGNORECASE | re.MULTILINE,
)
_MAX_TURNS = 20

Read = TypeVar("Read")


def read_first_turn(
    text: str, read: Callable[[str], Read], says_something: Callable[[Read], object]
) -> tuple[Read, bool]:
    """Read the first of a reply's turns that says anything, else the last; and whether others follow.

    Where a model goes on with a question of its own making, a turn begins.
    """
    *earlier, last = _NEXT_TURN.split(text, maxsplit=_MAX_TURNS)
    for turn in earlier:
        found = read(turn)
        if says_something(found):
            return found, True
    return read(last), False


def bounded(reply: str) -> str:
    """Return the first `HEAD` and the last `TAIL` characters of a longer reply, with an ellipsis between them.

    Every reader of whole replies calls this first, before it looks at any other property of the reply.

    Examples
    --------
    >>> len(bounded("a" * 10_000_000)), bounded("Answer: B")
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
    "→": "->",
    "⇒": "=>",
    "\u2028": "\n",
    "\u2029": "\n",
    "\x85": "\n",
}


LONGEST = 4
"""Maximum number of characters that replace one character, which bounds the growth of a text by folding."""


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
    plain = unicodedata.normalize("NFKC", character).translate({0x2044: "/", 0x2212: "-"})
    if len(plain) > LONGEST:
        return character
    if tag == "<super>" and plain in "+-0123456789":
        return _SUPERSCRIPT + plain
    return f" {plain}" if tag == "<fraction>" else plain


class _Folding:
    """A table for `str.translate` that is made as it is read."""

    def __getitem__(self, code: int) -> str:
        return _folded(code)


_FOLDING = _Folding()


def fold(text: str) -> str:
    """Write digits of any script, full-width and mathematical letters, dashes, quotes and spaces in ASCII.

    Superscripts become powers and vulgar fractions quotients; invisible characters go. Letters of other scripts
    and accents stay.

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


def strip_quoted(text: str) -> str:
    r"""Drop what is struck through, code blocks, block quotes and details, unless the confidence stands only there.

    Examples
    --------
    >>> strip_quoted("Confidence: ~~90~~ 40\n> Confidence: 100"), strip_quoted("> Confidence: 100")
    ('Confidence:  40', '> Confidence: 100')
    """
    kept: list[str] = []
    fenced = False
    for line in _QUOTED_BLOCK.sub("", _STRUCK.sub("", text)).split("\n"):
        if _FENCE_LINE.fullmatch(line):
            fenced = not fenced
        elif not fenced and not _QUOTED_LINE.match(line):
            kept.append(line)
    own = "\n".join(kept)
    return own if _STATES_CONFIDENCE.search(own) else text


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
"""Marks that enclose words on one line; between words, or between spaces, such a mark is an operation or a name."""
_OPEN_ENDED = re.compile(r"^[ \t]{0,8}\*{2,9}(?=\S)|(?<=\S)\*{2,9}(?=[ \t]{0,8}$)", re.MULTILINE)
"""Bold that is not closed on its line."""
_LINE_MARK = re.compile(
    r"^[ \t]{0,8}(?:#{1,6}[ \t]+|>[ \t]+|[-*•▪◦‣+][ \t]+|\d{1,2}[.)][ \t]+(?=[A-Za-z*]))+", re.MULTILINE
)


def strip_html(text: str) -> str:
    r"""Drop pairs of tags that only lay out, end lines where they do, and decode entities.

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
    """Drop the marks of bold, italics and code that enclose words, and no sign of an operation.

    Examples
    --------
    >>> strip_emphasis("**Answer:** *x* * y**2")
    'Answer: x * y**2'
    """
    return _EMPHASIS.sub(r"\2", _EMPHASIS.sub(r"\2", text))


def strip_markdown(text: str) -> str:
    """Drop emphasis, headings, quotation and list marks."""
    return _OPEN_ENDED.sub("", strip_emphasis(_LINE_MARK.sub("", strip_emphasis(text))))


CLEANING: Rules = {
    "thought": strip_thoughts,
    "chat_tokens": strip_chat_tokens,
    "quoted": strip_quoted,
    "html": strip_html,
    "unicode": fold,
    "code_fence": lambda text: _FENCE_ON_A_LINE.sub("", _FENCE.sub("", text)),
    "markdown": strip_markdown,
}
"""Rules that clean a whole reply; a rule that changes nothing is not recorded."""


def clean(text: str) -> tuple[str, tuple[str, ...]]:
    r"""Apply every rule of `CLEANING` in turn.

    Returns what is left of the reply, and the names of the rules that changed something.

    Examples
    --------
    >>> clean("<think>A?</think>**Answer:** B")
    ('Answer: B', ('thought', 'markdown'))
    """
    return apply_rules(CLEANING, text.replace("\r\n", "\n").replace("\r", "\n"))


def apply_rules(rules: Rules, text: str) -> tuple[str, tuple[str, ...]]:
    """Apply rules from text to text in turn, and name those that changed more than the space at the ends.

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
    r"""Drop mathematical mark-up: boxes, fonts, spaces; fractions become quotients.

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
    r"""Return what is in the last ``\boxed{...}``, or the empty string.

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
    """Take off spaces and the pairs of quotes or brackets that enclose a whole value, a full stop behind them included.

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


def trimmed(text: str, begin: int, end: int, before: str, behind: str) -> tuple[int, int]:
    """Return where a span of a text begins and ends without some characters before and behind it.

    Examples
    --------
    >>> trimmed("It is *Paris*,", 5, 14, " *", " *,")
    (7, 12)
    """
    while begin < end and text[begin] in before:
        begin += 1
    while begin < end and text[end - 1] in behind:
        end -= 1
    return begin, end


_FONT = re.compile(r"\$?\\(?:text|textbf|textit|mathrm|mathbf)\s?\{([^{}]*)\}\$?\.?")
_QUOTES = frozenset(('""', "''", "“”", "‘’", "«»", "``"))


def literal(value: str) -> str:
    r"""Take off what surrounds a whole text: emphasis, one pair of quotes, a font of LaTeX. All else stays as it is.

    Examples
    --------
    >>> literal("**Paris**"), literal('"Paris".'), literal(r"$\text{Paris}$"), literal(r"\{1, 2\}"), literal("[1, 2]")
    ('Paris', 'Paris', 'Paris', '\\{1, 2\\}', '[1, 2]')
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
    """Return whether a value is the template's own, such as ``<your answer>`` or ``<integer between 0 and 20>``."""
    return _PLACEHOLDER.fullmatch(value.strip()) is not None


VALUE_CLEANING: Rules = {
    "unicode": fold,
    "latex": strip_latex,
    "wrapped": lambda value: unwrap(strip_emphasis(value)),
}
"""Rules that clean a value, such as what follows a label."""

LITERAL_CLEANING: Rules = {"wrapped": literal}
"""Rules that clean a text whose wording is kept."""


def clean_value(value: str) -> tuple[str, tuple[str, ...]]:
    r"""Apply every rule of `VALUE_CLEANING` in turn to what follows a label.

    Examples
    --------
    >>> clean_value(r"$\boxed{17}$"), clean_value("<B>")
    (('17', ('latex',)), ('B', ('wrapped',)))
    """
    return apply_rules(VALUE_CLEANING, value)
