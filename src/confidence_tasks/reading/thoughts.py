"""Thoughts in replies: which part of a reply is the model's answer, and which part it wrote to itself.

A thought is recognised by the shape of its marks and not by a list of models. A mark is a tag such as ``<think>``,
``[THINK]`` or ``◁think▷``, or a control token such as ``<|START_THINKING|>``. Four shapes are tried in turn:

* control tokens whose names, or labels such as ``analysis`` between them, are about thinking: the reply is the last
  part that they do not open;
* tags whose names are about thinking: the reply is the text outside, and a tag that only closes ends a thought that the
  prompt opened;
* a pair of tags of any other name around the beginning of the reply, or a tag that only closes, unless the name is one
  of HTML or names an answer;
* shapes without marks (`written_thoughts`): headings and labels in several languages, names of channels whose control
  tokens a server has dropped, blocks, quoted lines, a word about thinking between symbols (``$think$``);
* a tag of any other name on the first line, which nothing closes.

Marks are recognised in any width of letters and brackets, and with invisible characters in them. A thought that is not
closed ends with the text. An answer that stands only in a thought is not an answer: the model may
have dropped it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from confidence_tasks.reading.languages import FOREIGN_ANSWER, THINKING
from confidence_tasks.reading.token_probabilities import answer_slice
from confidence_tasks.reading.written_thoughts import (
    Span,
    after_bare_channels,
    after_block,
    after_final_label,
    after_headings,
    after_object,
    after_paragraph,
    after_set_off_lines,
    after_wrapped_word,
    is_set_off,
)
from confidence_tasks.study.stage import ModelReply, Replies, Token

UNKNOWN_MARK = "control_token"
"""Rule of a reply with a control token of unknown meaning; the report counts these replies."""

_TAG = (
    r"(?P<opens>[<\[◁【⟨]{1,3}|\{\{|[({]|&lt;)(?P<loose>[ %@$_*~]{0,3})(?P<tag_closes>[/\\]?)[ %@$_*~]{0,3}"
    rf"(?P<tag>(?:(?i:end|begin|start|stop)(?i: of)? (?=[\w-]{{0,20}}(?i:{THINKING})))?"
    r"(?:[^\W\d_]|[💭🤔🧠])[\w:.-]{0,40})"
    rf"(?:(?:\s[^<>=\[\]\n]{{0,80}}=|=(?=\w{{0,20}}(?:{THINKING}|answer|final)))(?P<value>[^<>\[\]\n]{{0,80}}))?"
    r"[ %@$_*~]{0,3}(?:[>\]▷】⟩]{1,3}|\}\}|[)}]|&gt;)"
)
_CONTROL = (
    r"<(?P<outer>/?)[|｜](?P<inner>/?)(?P<control>[^<>|｜\n]{1,40})[|｜]?>|<(?P<tail>[^\s<>|｜/]{1,40})[|｜]>"
)
_MARK = re.compile(f"{_CONTROL}|{_TAG}")
_LOOSE, _AROUND_WORDS = ("(", "{"), ("(", "{", "[")
"""Brackets that are marks only around a name about thinking, and those that may stand around words of a sentence."""

_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
_PLAIN = str.maketrans(
    {chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}
    | dict(zip("〈〉〔〕«»《》", "<>[]()()", strict=True))
)
"""Full-width letters and brackets, which are the same marks."""

_ABOUT_THINKING = re.compile(THINKING, re.IGNORECASE)
_NEGATED = re.compile(
    rf"(?<![^\W_])(?:no|not|non|without|skip|disable)[\W_]?(?:{THINKING})\w*", re.IGNORECASE
)
_ABOUT_THE_ANSWER = re.compile(
    rf"answer|respon|final|output|solution|result|reply|content|message|confiden|probab|guess|decision|choice|box"
    rf"|{FOREIGN_ANSWER}",
    re.IGNORECASE,
)
_ENDS = re.compile(
    r"(?:\A|[\W_])(?:end|stop|close|suffix|return|eo[a-z])(?:\Z|[\W_])|\Aend(?=think|thought)"
    r"|(?:结束|結束|完毕|終了|끝)\Z",
    re.IGNORECASE,
)
_BOUNDARY = re.compile(
    r"(?:\A|(?<=[\W_]))(?:begin|start|open|prefix|end|stop|close|suffix|of)(?:\Z|(?=[\W_]))|[\W_]",
    re.IGNORECASE,
)
_OTHER_ROLE = re.compile(r"user|human|system|tool|observation", re.IGNORECASE)
_HTML = re.compile(
    "a|abbr|b|blockquote|body|br|code|dd|del|dfn|div|dl|dt|em|font|h[1-6]|head|hr|html|i|img|ins|kbd|li|mark|math|ol|p"
    "|pre|q|s|samp|small|span|strike|strong|sub|sup|svg|table|tbody|td|th|thead|tr|tt|u|ul|var"
    "|bos|eos|pad|unk|sep|cls",
    re.IGNORECASE,
)
"""Tags of HTML, and the tags with which tokenizers begin and end a text."""

_LABEL = re.compile(r"\s*(?:[A-Za-z_][\w.-]{0,30}(?:[ ]\w{1,20}=[\w.-]{1,40})?)?\s*")
_LABEL_LINE = re.compile(r"\s*([^\W\d_]{3,20})[ \t]*:?[ \t]*(?:\n|\Z)")
_ROLE_LINE = re.compile(r"\s*(?:assistant|model|answer|response|final)[ \t]*\n", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]")
_FEW_WORDS = 3
"""Number of words from which the content of a tag of unknown name may be a thought; fewer are a value."""


@dataclass(frozen=True)
class _Mark:
    """A tag or a control token in a text."""

    name: str
    start: int
    end: int
    control: bool
    closes: bool
    wordy: bool
    value: str

    @cached_property
    def thinks(self) -> bool:
        """Whether the name is about thinking, or the value of an attribute of a name that is not about the answer."""
        text = self.name if re.search(r"answer|final|confiden", self.name) else f"{self.name} {self.value}"
        return _ABOUT_THINKING.search(text) is not None and not _NEGATED.match(self.name)

    @cached_property
    def known(self) -> bool:
        """Whether the name is a tag of HTML, or is about the answer, or says that there is no thought."""
        is_about_the_answer = _ABOUT_THE_ANSWER.search(self.name) is not None
        return is_about_the_answer or bool(_HTML.fullmatch(self.name) or _NEGATED.match(self.name))

    @cached_property
    def base(self) -> str:
        """The name without words for a beginning or an end, and without digits."""
        return re.sub(r"\d", "", _BOUNDARY.sub("", self.name)).casefold()


def _marks(text: str) -> list[_Mark]:
    """Return the marks in a text. Loose ones, such as a word in braces, are marks only if they are about thinking."""
    matches = [(match, _mark(match)) for match in _MARK.finditer(text)]
    return [mark for match, mark in matches if mark.thinks or not _is_loose(match)]


def _is_loose(match: re.Match[str]) -> bool:
    return match["opens"] in _LOOSE or bool(match["loose"])


def _mark(match: re.Match[str]) -> _Mark:
    name = match["control"] or match["tail"] or match["tag"]
    slash = match["outer"] or match["inner"] or match["tag_closes"]
    ends = _ENDS.search(name) is not None
    closes = bool(slash or match["tail"] or ends)
    return _Mark(
        name,
        *match.span(),
        match["tag"] is None,
        closes,
        match["opens"] in _AROUND_WORDS and ":" not in name,
        match["value"] or "",
    )


def _has_words(text: str, span: Span, count: int = 1) -> bool:
    if count == 1:
        return _WORD.search(text, *span) is not None
    return len(text[slice(*span)].split(maxsplit=count)) >= count


# Control tokens -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Part:
    """The text between two runs of control tokens, and the run before it with the labels between its tokens."""

    header: str
    opening: str
    marks: tuple[_Mark, ...]
    span: Span

    @property
    def start(self) -> int:
        """Where the run begins."""
        return self.marks[0].start if self.marks else self.span[0]


def _runs(text: str, marks: Sequence[_Mark]) -> list[list[_Mark]]:
    """Group control tokens into runs. A label belongs to a run if a token that closes nothing follows it."""
    runs: list[list[_Mark]] = []
    for mark in filter(lambda mark: mark.control, marks):
        between = _LABEL.fullmatch(text, runs[-1][-1].end, mark.start) if runs else None
        if between and _is_header(runs[-1][-1], between[0].strip(), mark):
            runs[-1].append(replace(mark, closes=False))
        elif between and (not mark.closes or not between[0].strip()):
            runs[-1].append(mark)
        else:
            runs.append([mark])
    return runs


_ROLE = re.compile(r"assistant|model|answer|response|final|user|human|system|tool", re.IGNORECASE)


def _is_header(opening: _Mark, label: str, closing: _Mark) -> bool:
    """Return True for a role or a word about thinking between two halves, as in ``<|start_id|>model<|end_id|>``."""
    is_pair = opening.base == closing.base != "" and opening.name != closing.name
    if not is_pair or opening.closes or not closing.closes:
        return False
    return _ROLE.fullmatch(label) is not None or _ABOUT_THINKING.search(label) is not None


def _parts(text: str, marks: Sequence[_Mark]) -> list[_Part]:
    """Split a text at runs of control tokens."""
    runs = _runs(text, marks)
    starts = [run[0].start for run in runs] + [len(text)]
    parts = [_Part("", "", (), (0, starts[0]))]
    for run, end in zip(runs, starts[1:], strict=True):
        begin = max((mark.end for mark in run if mark.closes), default=run[0].start)
        header = text[run[0].start : run[-1].end]
        parts.append(_Part(header, text[begin : run[-1].end], tuple(run), (run[-1].end, end)))
    return parts


def _is_labelled(part: _Part) -> bool:
    """Return True if there are words between the tokens of a run, as in ``<|channel|>final<|message|>``."""
    labels = (part.header[a.end - part.start : b.start - part.start] for a, b in pairwise(part.marks))
    return any(label.strip() for label in labels)


def _opens_thought(text: str, part: _Part) -> bool:
    labelled = bool(part.opening) and _is_labelled_thought(text, *part.span)
    return labelled or _ABOUT_THINKING.search(_NEGATED.sub("", part.opening)) is not None


def _ended_as_thought(text: str, part: _Part, following: _Part) -> bool:
    """Return True if the token after a part ends a thought: it says so, or it is the other half of an unknown pair."""
    closing = following.marks[0]
    if not closing.closes or not _has_words(text, following.span):
        return False
    opening = part.marks[-1] if part.marks else None
    if opening is None or opening.closes:
        return closing.thinks
    is_pair = bool(opening.base) and opening.base == closing.base
    return closing.thinks or (is_pair and not opening.known and _has_words(text, part.span, _FEW_WORDS))


def _first_turn(text: str, parts: list[_Part]) -> list[_Part]:
    """Return the parts before that of another role."""
    others = (i for i, part in enumerate(parts) if i > 1 and _begins_other_turn(text, part))
    return parts[: next(others, len(parts))]


def _by_control_tokens(text: str, marks: Sequence[_Mark]) -> list[Span] | None:
    parts = _first_turn(text, _parts(text, marks))
    thoughts = [_opens_thought(text, part) for part in parts]
    for i, (part, following) in enumerate(pairwise(parts)):
        thoughts[i] |= _ended_as_thought(text, part, following)
    if not any(thoughts) and not any(map(_is_labelled, parts)):
        return None
    visible = [_unlabelled(text, part) for part, thought in zip(parts, thoughts, strict=True) if not thought]
    return [span for span in visible if _has_words(text, span)][-1:]


def _begins_other_turn(text: str, part: _Part) -> bool:
    label = _LABEL_LINE.match(text, *part.span)
    return bool(_OTHER_ROLE.search(part.header) or (label and _OTHER_ROLE.fullmatch(label[1])))


def _unlabelled(text: str, part: _Part) -> Span:
    """Return the span of a part without the line that names the role or the channel."""
    label = _ROLE_LINE.match(text, *part.span) if part.opening else None
    return (label.end(), part.span[1]) if label else part.span


# Tags -------------------------------------------------------------------------------------------------------------


def _about_thinking(marks: Sequence[_Mark]) -> list[_Mark]:
    """Return the tags about thinking. In brackets that may hold words, they must be closed, or be in capitals."""
    tags = [mark for mark, thinks in _whether_about_thinking(marks) if thinks]
    if any(mark.wordy and mark.closes for mark in tags):
        return tags
    return [tag for tag in tags if not tag.wordy or tag.name.isupper()]


def _whether_about_thinking(marks: Sequence[_Mark]) -> Iterator[tuple[_Mark, bool]]:
    """Yield the tags, and whether each is about thinking: a closing tag also if the value of its opening tag is."""
    opened: dict[str, list[bool]] = {}
    for mark in marks:
        if mark.control:
            continue
        within = opened.setdefault(mark.name, [])
        opened_by_value = within.pop() if mark.closes and within else False
        yield mark, mark.thinks or opened_by_value
        if not mark.closes:
            within.append(mark.thinks)


def _by_tags(text: str, marks: Sequence[_Mark]) -> list[Span] | None:
    """Return the text outside the tags about thinking; None if there are none."""
    tags = _about_thinking(marks)
    kept: list[Span] = []
    start, inside = 0, False
    for tag in tags:
        if not inside and tag.closes:
            kept.clear()  # the opening tag belongs to the prompt: the text so far is a thought
        elif not inside:
            kept.append((start, tag.start))
        inside, start = not tag.closes, tag.end
    if not tags:
        return None
    if inside:
        return [*kept, *_after_answer_heading(text, marks, start)]
    return [*kept, (start, len(text))]


_OF_HEADINGS = frozenset("[【〔")
"""Brackets around words of headings."""


def _after_answer_heading(text: str, marks: Sequence[_Mark], position: int) -> list[Span]:
    """Return the text after the last line that is a word about the answer in brackets; none if any tag is closed."""
    if any(mark.closes for mark in marks):
        return []
    after = (mark for mark in marks if mark.start >= position and mark.known)
    ends = [mark.end for mark in after if text[mark.start] in _OF_HEADINGS and _is_heading(text, mark)]
    return [(ends[-1], len(text))] if ends else []


def _is_heading(text: str, mark: _Mark) -> bool:
    """Return True if a mark is all of a line, or a label with its kind, as in ``[channel:final]``."""
    before = text[max(0, mark.start - 20) : mark.start].rstrip(" \t")
    is_line = before.endswith("\n") and _REST_OF_LINE.match(text, mark.end) is not None
    return is_line or ":" in mark.name


def _unknown_tags(marks: Sequence[_Mark]) -> list[_Mark]:
    return [mark for mark in marks if not mark.control and not mark.known]


def _by_labelled_tag(text: str, marks: Sequence[_Mark]) -> list[Span] | None:
    """Return the text after the tag that ends a first tag with a label, as in ``<unused94>thought``."""
    tags = _unknown_tags(marks)
    if not tags or _has_words(text, (0, tags[0].start)) or not _is_labelled_thought(text, tags[0].end):
        return None
    ends = [tag.end for tag in tags[1:] if tag.base == tags[0].base]
    return [(ends[0], len(text))] if ends else []


_MOST_PAIRS = 16


def _by_first_pair(text: str, marks: Sequence[_Mark]) -> list[Span] | None:
    """Return the text after pairs of tags of unknown names around the beginning, or after a tag that only closes."""
    tags, position = _unknown_tags(marks), 0
    for _ in range(_MOST_PAIRS):
        closing = _end_of_pair(text, position, tags)
        if closing is None:
            break
        position = closing.end
        tags = [tag for tag in tags if tag.start >= position]
    return None if position == 0 or _begins_field(text, position, tags) else [(position, len(text))]


def _end_of_pair(text: str, position: int, tags: Sequence[_Mark]) -> _Mark | None:
    """Return the tag that closes the pair at a position, if there are words between; None without such a pair."""
    if not tags:
        return None
    closing = _closing_of(tags, not _has_words(text, (position, tags[0].start)))
    if closing is None or (position and tags[0].closes):
        return None
    return closing if _has_words(text, (_inside_from(tags[0]), closing.start), _FEW_WORDS) else None


def _is_labelled_thought(text: str, position: int, end: int | None = None) -> bool:
    """Return True if the line at a position is a word for thinking, as in ``<unused94>thought``."""
    label = _LABEL_LINE.match(text, position, len(text) if end is None else end)
    return label is not None and _ABOUT_THINKING.search(label[1]) is not None


def _inside_from(first: _Mark) -> int:
    """Return where the content of the first tag begins; a tag that only closes closes the text before it."""
    return 0 if first.closes else first.end


def _closing_of(tags: Sequence[_Mark], at_start: bool) -> _Mark | None:
    """Return the tag that closes the first one, which must be at the start; the first one itself if it only closes."""
    first = tags[0]
    if first.closes:
        return first
    same = (tag for tag in tags if tag.closes and tag.name == first.name)
    return next(same, None) if at_start else None


def _begins_field(text: str, position: int, tags: Sequence[_Mark]) -> bool:
    """Return True if nothing follows a position, or a further tag, so that the tags are fields."""
    after = (tag.start for tag in tags if tag.start >= position)
    return not _has_words(text, (position, next(after, len(text))))


_REST_OF_LINE = re.compile(r"[ \t]*\n")
_FEWEST_WORDS_OF_A_DRAFT = 4


def _by_open_tag(text: str, marks: Sequence[_Mark]) -> list[Span] | None:
    """Return no text if a tag of unknown name, which is no value, stands alone on the first line and is not closed."""
    first = _unclosed(text, marks)
    if first is None or not _REST_OF_LINE.match(text, first.end):
        return None
    is_draft = "{" in text[first.end :] or _has_words(text, (first.end, len(text)), _FEWEST_WORDS_OF_A_DRAFT)
    return [] if _is_name(first) and is_draft else None


def _unclosed(text: str, marks: Sequence[_Mark]) -> _Mark | None:
    """Return the tag of unknown name with which a text begins and which nothing closes; None if there is none."""
    tags = _unknown_tags(marks)
    if not tags or _has_words(text, (0, tags[0].start)):
        return None
    return None if _closing_of(tags, at_start=True) else tags[0]


def _is_name(tag: _Mark) -> bool:
    """Return whether a tag is no value such as ``<C>`` or ``<Paris>``, and no word of a sentence."""
    is_word = tag.name.islower() or not tag.name.isascii()
    return len(tag.name) > 1 and (tag.name.isupper() or (is_word and not tag.wordy))


def may_be_within_thought(text: str) -> bool:
    """Return whether a text that was cut off begins with a tag of unknown name that nothing closes, or is all quoted.

    Examples
    --------
    >>> may_be_within_thought("<mull>Answer: B"), may_be_within_thought("<mull>B?</mull>Answer: B")
    (True, False)
    """
    return _unclosed(text, _marks(text)) is not None or is_set_off(text)


_SHAPES: tuple[Callable[[str, Sequence[_Mark]], list[Span] | None], ...] = (
    _by_control_tokens,
    _by_tags,
    _by_labelled_tag,
    _by_first_pair,
    lambda text, marks: after_headings(text),
    lambda text, marks: after_final_label(text),
    lambda text, marks: after_bare_channels(text),
    lambda text, marks: after_block(text),
    lambda text, marks: after_object(text),
    lambda text, marks: after_set_off_lines(text),
    lambda text, marks: after_wrapped_word(text),
    lambda text, marks: after_paragraph(text),
    _by_open_tag,
)

# Replies ----------------------------------------------------------------------------------------------------------


def visible_spans(text: str) -> list[Span]:
    """Return the spans of a reply that are not thoughts, in order; none if the reply is all thought.

    Examples
    --------
    >>> visible_spans("<think>A?</think>B"), visible_spans("B"), visible_spans("<think>A?")
    ([(17, 18)], [(0, 1)], [])
    """
    if not _INVISIBLE.search(text):
        return _visible(text.translate(_PLAIN))
    places = [i for i, character in enumerate(text) if not _INVISIBLE.match(character)]
    plain = "".join(text[i] for i in places)
    return [_placed(text, places, span) for span in _visible(plain.translate(_PLAIN))]


def _placed(text: str, places: Sequence[int], span: Span) -> Span:
    """Return where a span stands in the text with invisible characters, of which the first and the last are kept."""
    begin, end = span
    return places[begin] if begin else 0, places[end] if end < len(places) else len(text)


def _visible(text: str) -> list[Span]:
    marks = _marks(text)
    for shape in _SHAPES:
        spans = shape(text, marks)
        if spans is not None:
            spans = [span for span in spans if text[slice(*span)].strip()]
            return [_unwrapped(text, *spans[0])] if len(spans) == 1 else spans
    return [(0, len(text))]


def _unwrapped(text: str, begin: int, end: int) -> Span:
    """Return a span without the pair of tags around all of it, such as ``<response>`` after a thought."""
    marks = [mark for mark in _marks(text[begin:end]) if not mark.control]
    if len(marks) < 2 or begin == 0:
        return begin, end
    first, last = marks[0], marks[-1]
    is_pair = last.closes and not first.closes and first.name == last.name
    around = _has_words(text, (begin, begin + first.start)) or _has_words(text, (begin + last.end, end))
    return (begin + first.end, begin + last.start) if is_pair and not around else (begin, end)


def strip_thoughts(text: str) -> str:
    r"""Return a reply without thoughts, in linear time; empty if the reply is all thought.

    Examples
    --------
    >>> strip_thoughts("<|START_THINKING|>A? No.<|END_THINKING|><|START_RESPONSE|>B<|END_RESPONSE|>")
    'B'
    >>> strip_thoughts("Maybe A.\n</think>\nB"), strip_thoughts("<think>Maybe A.")
    ('\nB', '')
    """
    return "".join(text[slice(*span)] for span in visible_spans(text))


def unknown_control_tokens(text: str) -> list[str]:
    """Return the different control tokens in a cleaned reply; a reader does not know what they mean.

    Examples
    --------
    >>> unknown_control_tokens("A <|mask|> B"), unknown_control_tokens("a < |b|")
    (['<|mask|>'], [])
    """
    return list(dict.fromkeys(text[mark.start : mark.end] for mark in _marks(text) if mark.control))


# Replies of a model -----------------------------------------------------------------------------------------------


def without_thoughts(reply: ModelReply) -> ModelReply:
    """Return a reply whose text and tokens begin after the thought; the reply itself if it has none.

    A provider may remove the thought from the text and leave its tokens. Tokens before the reply are its reasoning.

    Examples
    --------
    >>> from confidence_tasks.study.stage import Token
    >>> tokens = [Token(text, -0.1, {}) for text in ("<think>", "True?", "</think>", "False")]
    >>> reply = without_thoughts(ModelReply("<think>True?</think>False", tuple(tokens)))
    >>> reply.text, [token.text for token in reply.tokens], [token.text for token in reply.reasoning]
    ('False', ['False'], ['<think>', 'True?', '</think>'])
    """
    text = strip_thoughts(reply.text)
    tokens = _tokens_of(text, reply.tokens) if text.strip() or text == reply.text else ()
    if (text, tokens) == (reply.text, reply.tokens):
        return reply
    reasoning = reply.tokens[: len(reply.tokens) - len(tokens)]
    return replace(reply, text=text, tokens=tokens, reasoning=reasoning)


def _tokens_of(text: str, tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """Return the tokens from the beginning of a text on; all of them if they begin with it, or do not contain it."""
    texts, plain = [token.text for token in tokens], text.strip()
    if not plain or "".join(texts).lstrip().startswith(plain):
        return tokens
    first, _ = answer_slice(texts, plain, 0, len(plain))
    return tokens[first:] if _WORD.search("".join(texts[:first])) else tokens


def cleaned_replies(replies: Replies) -> Replies:
    """Return all replies of a trial without their thoughts, as every study reads them on both harnesses."""
    return {stage: [without_thoughts(reply) for reply in each] for stage, each in replies.items()}
