"""Reading the replies of the signal study, and whether two answers mean the same.

A reply holds an answer, a percentage, an expression, guesses, or True. Answers are compared by the grader of their
kind, by a judge, or by a model of entailment.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from itertools import combinations
from typing import TYPE_CHECKING, Any

from confidence_tasks.reading.answers import read_answer
from confidence_tasks.reading.cleaning import strip_thoughts, trim_span, truncate_reply
from confidence_tasks.reading.grading import grade
from confidence_tasks.reading.token_probabilities import candidates, is_known, match_option
from confidence_tasks.studies.scales.replies import ANSWER_AND_CONFIDENCE, PERCENT
from confidence_tasks.studies.scales.trials import read_confidence, read_scale_reply
from confidence_tasks.study import ModelReply, Question, Reading, Token
from confidence_tasks.study.reference import np

if TYPE_CHECKING:
    from numpy.typing import NDArray


SPAN = 2_000
"""Maximum number of characters that are read of a short reply."""


@dataclass(frozen=True, slots=True)
class AnswerReply(Reading):
    """An answer with the percentage stated beside it.

    ``reply[begin:end]`` is the answer as it stands in the reply, empty where it is not found.
    """

    begin: int = 0
    end: int = 0


def read_answer_reply(reply: str, question: Question) -> AnswerReply:
    r"""Read an answer and a confidence; any text in, a reading out.

    Examples
    --------
    >>> question = Question("q-1", "demo", "Who wrote Emma?", "text", "Jane Austen")
    >>> read_answer_reply("Answer: Jane Austen\nConfidence: 85", question)
    AnswerReply(answer='Jane Austen', confidence_raw=85.0, status='ok', rules=(), begin=8, end=19)
    """
    reading = read_scale_reply(
        reply, PERCENT, kind=question.kind, choices=question.choices, expected_format=ANSWER_AND_CONFIDENCE
    )
    begin, end = answer_span(reply, reading.answer, question.options.get(reading.answer, ""))
    return AnswerReply(
        reading.answer, reading.confidence_raw, reading.status, reading.rules, begin=begin, end=end
    )


_ANSWER_LINE = re.compile(
    r"^[^\w\n]{0,8}(?:final )?answer[^\w\n]{0,4}[:=][ \t]*", re.IGNORECASE | re.MULTILINE
)
_AROUND = " \t\r\"'`*_“”‘’«»"


def answer_span(reply: str, answer: str, option: str = "") -> tuple[int, int]:
    r"""Return where a reply states its answer: behind the last label, else where the answer or its option stands.

    ``answer`` is as read, ``option`` the text of the option where the answer is the letter of one.

    Examples
    --------
    >>> answer_span("Answer: **1,000**\nConfidence: 9", "1000"), answer_span("It is Paris.", "Paris")
    ((10, 15), (6, 11))
    """
    if not answer:
        return 0, 0
    text = truncate_reply(reply)
    for label in reversed(list(_ANSWER_LINE.finditer(text))):
        end = text.find("\n", label.end())
        begin, end = trim_span(text, label.end(), len(text) if end < 0 else end, _AROUND, _AROUND)
        if begin < end:
            return begin, end
    for stated in filter(None, (option, answer)):
        if found := list(re.finditer(rf"(?<!\w){re.escape(stated)}(?!\w)", text, re.IGNORECASE)):
            return found[-1].span()
    return 0, 0


def read_percent(reply: str) -> float:
    """Read a reply that is a percentage, as a probability; NaN where it is none or lies outside 0 to 100.

    Examples
    --------
    >>> read_percent("85%"), read_percent("Confidence: 40"), read_percent("120"), read_percent("very")
    (0.85, 0.4, nan, nan)
    """
    said = strip_thoughts(truncate_reply(reply)).strip()[:SPAN]
    said = re.sub(r"\A[^\w\n]{0,8}confidence[^\w\n]{0,4}[:=]\s*", "", said, flags=re.IGNORECASE)
    value = read_confidence(said.rstrip("."), PERCENT).raw
    return value / 100 if 0 <= value <= 100 else math.nan


def read_expression(reply: str, expressions: Mapping[str, float]) -> float:
    """Read the one expression that a reply names; NaN where it names none or several of different likelihood.

    Examples
    --------
    >>> listed = {"Likely": 0.7, "Unlikely": 0.2, "Highly unlikely": 0.05}
    >>> [read_expression(text, listed) for text in ("Highly unlikely.", "likely", "Likely or unlikely", "Yes")]
    [0.05, 0.7, nan, nan]
    """
    said = strip_thoughts(truncate_reply(reply))[:SPAN].casefold()
    by_name = {name.casefold(): value for name, value in expressions.items()}
    longest_first = "|".join(sorted(map(re.escape, by_name), key=len, reverse=True))
    named = {by_name[match] for match in re.findall(rf"\b(?:{longest_first})\b", said)}
    return named.pop() if len(named) == 1 else math.nan


_GUESS = re.compile(
    r"^[^\w\n]{0,8}(answer|guess|confidence|probability)\s?\#?(\d{1,2})[^\w\n]{0,4}[:=][ \t]*(.*)$",
    re.IGNORECASE | re.MULTILINE,
)


def read_guesses(reply: str, question: Question) -> list[tuple[str, float]]:
    r"""Read numbered guesses with their probabilities, in the order of their numbers.

    A guess that cannot be read, or has no probability, is left out; of a number that comes twice, the first counts.

    Examples
    --------
    >>> question = Question("q-1", "demo", "Who wrote Emma?", "text", "Jane Austen")
    >>> read_guesses("Answer 1: Jane Austen\nConfidence 1: 80\nAnswer 2: Emily Brontë\nConfidence 2: 10%", question)
    [('Jane Austen', 0.8), ('Emily Brontë', 0.1)]
    """
    answers: dict[int, str] = {}
    probabilities: dict[int, float] = {}
    for label, number, value in _GUESS.findall(strip_thoughts(truncate_reply(reply))[: 2 * SPAN]):
        if label.casefold() in ("answer", "guess"):
            answers.setdefault(int(number), read_answer(value, question.kind, question.choices).text)
        else:
            probabilities.setdefault(int(number), read_percent(value))
    found = [(answers[number], probabilities.get(number, math.nan)) for number in sorted(answers)]
    return [(answer, probability) for answer, probability in found if answer and not math.isnan(probability)]


TRUE_FALSE: Mapping[str, Sequence[str]] = {"true": ("True",), "false": ("False",)}


def true_probability(tokens: Iterable[Token]) -> float:
    """Compute the probability of True against False where a reply begins with one of them.

    Spellings are added up. Where one of the two is not among the alternatives, the mass that is missing to 1 stands for
    it, the most that it can have.
    NaN where the reply begins otherwise, or has no log-probabilities.

    References
    ----------
    Kadavath et al. (2022), Language models (mostly) know what they know, arXiv:2207.05221, section 3.

    Examples
    --------
    >>> round(true_probability([Token("True", math.log(0.6), {"True": math.log(0.6), " false": math.log(0.2)})]), 6)
    0.75
    >>> round(true_probability([Token("False", math.log(0.9), {})]), 6)
    0.1
    """
    first = next((token for token in tokens if any(map(str.isalnum, token.text))), None)
    if first is None or not is_known(first.logprob):
        return math.nan
    mass, total = {"true": 0.0, "false": 0.0}, 0.0
    for text, logprob in candidates(first).items():
        if not is_known(logprob):
            continue
        probability = math.exp(min(logprob, 0.0))
        total += probability
        option = match_option(text, TRUE_FALSE)
        if option is not None:
            mass[option] += probability
    if not any(mass.values()):
        return math.nan
    missing = max(1.0 - total, 0.0)
    likely, unlikely = (mass[option] or missing for option in ("true", "false"))
    return likely / (likely + unlikely)


# Equal meaning -------------------------------------------------------------------------------------------------

ENTAILMENT = "entailment"
"""Key of a question's metadata that names the rule."""

_SAME = "Do the two answers mean the same? Reply with yes or no and nothing else."


def answers_of(question: Question, samples: Sequence[ModelReply]) -> list[str]:
    """Return the answer of each sample; empty where there is none."""
    return [read_answer_reply(reply.text, question).answer for reply in samples]


def matches(question: Question, first: str, second: str) -> bool:
    """Whether the grader takes either answer for right when the other is the key.

    The key of the question and its aliases have no part in it: what a signal knows must not come from the key.

    Examples
    --------
    >>> question = Question("q-1", "demo", "Who wrote Emma?", "text", "Jane Austen", aliases=("Austen",))
    >>> matches(question, "The Jane Austen", "jane austen!"), matches(question, "Jane Austen", "Austen")
    (True, False)
    """
    return all(
        grade(answer, kind=question.kind, gold=key) == 1.0
        for answer, key in ((first, second), (second, first))
    )


def _distinct(question: Question, answers: Sequence[str]) -> list[str]:
    """Return one answer of each set that match."""
    distinct: list[str] = []
    for answer in answers:
        if answer and not any(matches(question, answer, other) for other in distinct):
            distinct.append(answer)
    return distinct


def _open_pairs(question: Question, answers: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the pairs that only a model can compare: short texts that do not match."""
    if question.kind == "text":
        yield from combinations(_distinct(question, answers), 2)


def judge_prompts(question: Question, answer: str, samples: Sequence[ModelReply]) -> list[str]:
    """Return what a judge is asked about the answer and the samples, a prompt a pair."""
    return [
        f"Question: {question.text}\nFirst answer: {first}\nSecond answer: {second}\n\n{_SAME}"
        for first, second in _open_pairs(question, [answer, *answers_of(question, samples)])
    ]


class MissingSignalError(ValueError):
    """A signal has no value; the message says why."""


def same_meaning(
    question: Question, answers: Sequence[str], verdicts: Sequence[ModelReply] = ()
) -> NDArray[np.bool_]:
    """Tell which answers mean the same, by the rule in the question's metadata.

    ``answers`` are the answer and those of the n - 1 samples, as they were put to a judge, empty where there is none;
    ``verdicts`` are the judge's replies, in the order of its prompts. The table has shape (n, n) and is symmetric; an
    empty answer means the same as none.

    Raises
    ------
    MissingSignalError
        If a verdict cannot be read or is missing, or the model of entailment fails.
    """
    distinct = _distinct(question, answers)
    kinds = [
        next((i for i, other in enumerate(distinct) if answer and matches(question, answer, other)), -1)
        for answer in answers
    ]
    table = np.eye(len(distinct) + 1, dtype=np.bool_)
    table[-1, -1] = False  # answers that are none
    if pairs := list(_open_pairs(question, answers)):
        i, j = np.triu_indices(len(distinct), 1)
        table[i, j] = table[j, i] = _verdicts(question, pairs, verdicts)
    return np.asarray(table[np.ix_(kinds, kinds)])


def _verdicts(
    question: Question, pairs: Sequence[tuple[str, str]], replies: Sequence[ModelReply]
) -> list[bool]:
    """Return the verdict on each pair of answers that do not match."""
    rule = question.metadata.get(ENTAILMENT, "match")
    if rule == "match":
        return [False] * len(pairs)
    if rule == "nli":
        try:
            return entails_both_ways(str(question.metadata["nli_model"]), question.text, pairs)
        except (ImportError, OSError, ValueError, RuntimeError) as error:
            raise MissingSignalError(f"the entailment model failed: {error}") from error
    if len(replies) != len(pairs):
        raise MissingSignalError(f"the judge gave {len(replies)} of {len(pairs)} verdicts")
    said = [read_answer(strip_thoughts(truncate_reply(reply.text)), "boolean").text for reply in replies]
    if "" in said:
        raise MissingSignalError("the judge's verdict is neither yes nor no")
    return [verdict == "yes" for verdict in said]


# A local model of natural-language inference --------------------------------------------------------------------

_BATCH = 32


def check_installed() -> None:
    """Raise ValueError, naming the fix, if transformers or torch is missing."""
    if missing := [name for name in ("transformers", "torch") if find_spec(name) is None]:
        raise ValueError(
            f"entailment='nli' needs {' and '.join(missing)}: pip install 'confidence-tasks[hf]'"
        )


@cache
def _load(name: str) -> tuple[Any, Any, int]:
    """Load a model by its name or folder, once; ValueError if it has no label for entailment."""
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer, model = (
        made.from_pretrained(name) for made in (AutoTokenizer, AutoModelForSequenceClassification)
    )
    labels = {str(label).casefold(): int(i) for i, label in model.config.id2label.items()}
    found = [i for label, i in labels.items() if label.startswith("entail")]
    if len(found) != 1:
        raise ValueError(
            f"{name} has no label for entailment among {', '.join(labels)}: take a model of MNLI"
        )
    return tokenizer, model.eval(), found[0]


def entails_both_ways(name: str, question: str, pairs: Sequence[tuple[str, str]]) -> list[bool]:
    """Tell for each pair of answers whether each entails the other, both after the question.

    ``name`` is the name or folder of a sequence classifier with a label for entailment.

    Raises
    ------
    OSError, ValueError
        If the model cannot be loaded, or has no label for entailment.

    References
    ----------
    Kuhn, Gal & Farquhar (2023), Semantic uncertainty, arXiv:2302.09664, algorithm 1.
    """
    import torch

    tokenizer, model, entailment = _load(name)
    texts = [(f"{question} {a}", f"{question} {b}") for pair in pairs for a, b in (pair, pair[::-1])]
    entailed: list[bool] = []
    for start in range(0, len(texts), _BATCH):
        premises, hypotheses = zip(*texts[start : start + _BATCH], strict=True)
        encoded = tokenizer(
            list(premises), list(hypotheses), return_tensors="pt", padding=True, truncation=True
        )
        with torch.inference_mode():
            logits = model(**encoded).logits
        entailed += (logits.argmax(dim=-1) == entailment).tolist()
    return [forth and back for forth, back in zip(entailed[::2], entailed[1::2], strict=True)]
