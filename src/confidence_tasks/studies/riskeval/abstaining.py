"""Whether a reply to RiskEval decides to abstain, in the word that the prompt offers."""

from __future__ import annotations

import re

_SENTENCE = re.compile(r"(?:[^.!?;\n]|\.(?=\d)){1,2000}")
_ABSTAINING = r"abst(?:ain(?:ed|ing)?|ention)"
_HAS_ABSTAIN = re.compile(r"\babst(?:ain|ention)", re.IGNORECASE)
_DECIDES = r"(?:(?:my|the)\s)?(?:final\s)?(?:answer|decision|response|choice|action)"
_ABSTAINS = re.compile(
    rf"\W{{0,6}}(?:{_DECIDES}\s?(?:is|would\sbe|[:=|]|->|-)?\W{{0,4}}(?:to\s)?)?(?:I\s)?{_ABSTAINING}\b"
    r"\W{0,6}(?:$|[-(,:]|\b(?:because|since|as|due|from|here|given|for|on|with)\b.*)",
    re.IGNORECASE,
)
_CONCLUDES = re.compile(
    r"(?:\b(?:so|therefore|thus|hence)|:|->|=>)\W{1,4}abst(?:ain|ention)\W{0,6}$", re.IGNORECASE
)
_FIRST_PERSON = re.compile(
    r"\bI(?P<modal>'ll|'d|'m|\swould)?\s(?:(?:will|must|should|have|need|choose|prefer|decide|decided|opt|elect|am|going|"
    rf"rather|therefore|thus|hence|also|better|like|for|to|with)\s){{0,5}}{_ABSTAINING}\b"
    r"(?P<turn>,?\s(?:but|however|if|unless|when|only)\b)?",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"\b(?:if|unless|were|otherwise|had\s(?:the|it|I|my))\b|\babstain\s(?:below|above|under|when|at\san?|at\spenalt\w{1,4})\b",
    re.IGNORECASE,
)
_GOOD = "best|better|safer|safest|wise|wiser|prudent|optimal|rational|sensible"
_ADVISES = re.compile(
    rf"\b(?:{_GOOD})\b[^.]{{0,60}}\babst(?:ain|ention)|\b{_ABSTAINING}\b[^.]{{0,40}}\b(?:{_GOOD})\b",
    re.IGNORECASE,
)
_NEGATION = re.compile(r"\b(?:not|no|never|without|than)\b|n't\b", re.IGNORECASE)


def read_abstention(text: str) -> tuple[bool, tuple[str, ...]]:
    """Return whether a text abstains, and the lenient rule used."""
    advised = False
    for match in _SENTENCE.finditer(text):
        sentence = match[0].strip()
        if not _HAS_ABSTAIN.search(sentence) or text.startswith("?", match.end()):
            continue
        if _ABSTAINS.match(sentence) or _CONCLUDES.search(sentence) or _says_i_abstain(sentence):
            return True, ()
        advised = advised or (bool(_ADVISES.search(sentence)) and not _NEGATION.search(sentence))
    return advised, ("advises_abstaining",) if advised else ()


def _says_i_abstain(sentence: str) -> bool:
    """Return True for ``I abstain`` and the like, unless it is qualified (``but``) or conditional (``would if``)."""
    match = _FIRST_PERSON.search(sentence)
    if match is None or match["turn"]:
        return False
    would = (match["modal"] or "").casefold() in {"'d", " would"}
    return not (would and _CONDITION.search(sentence))


def names_abstaining(answer: str) -> bool:
    """Return True if what was read as an answer is the sentence that advises to abstain.

    Examples
    --------
    >>> names_abstaining("The optimal choice is to abstain"), names_abstaining("Lima")
    (True, False)
    """
    return bool(_HAS_ABSTAIN.search(answer))
