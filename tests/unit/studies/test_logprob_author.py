"""The log-probability study with its author's instrument: wordings, questions, scoring and evidence."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.items import items_of

from confidence_tasks.simulation.subject import make_subject
from confidence_tasks.sources import Question
from confidence_tasks.studies.logprob_metacognition import STUDY
from confidence_tasks.studies.logprob_metacognition.author import author_questions, read_whole_reply
from confidence_tasks.studies.logprob_metacognition.domains import (
    CLASSIFIER_LABELS,
    classifier_prompt,
    read_domain,
)
from confidence_tasks.studies.logprob_metacognition.replies import (
    FIRST_RELEASE,
    nlp_metad_stages,
    reading_of_run,
)
from confidence_tasks.studies.logprob_metacognition.subject import true_values
from confidence_tasks.studies.logprob_metacognition.trials import LogprobTrial, read_reply
from confidence_tasks.study import ModelReply
from confidence_tasks.study.stage import Token

AUTHOR = {"prompt": "author", "scoring": "author", "span": "all", "similarity": 0.85}
EMMA = Question("q-1", "demo", "Who wrote Emma?", "text", "Jane Austen", aliases=("Austen",))
SENTENCE = (
    "Answer the following question with a short factual answer. Respond with only the answer, nothing else."
)


@pytest.mark.parametrize(
    ("prompt", "system", "user"),
    [
        ("author", SENTENCE, "Q: Who wrote Emma?"),
        ("author_user", "", f"{SENTENCE}\n\nQ: Who wrote Emma?"),
        ("author_base", "", f"{SENTENCE}\n\nQ: Who wrote Emma?\nA:"),
        (
            "short",
            "",
            "Answer the question with a name, a number or a few words, without an explanation.\n\n"
            "Question: Who wrote Emma?\nAnswer:",
        ),
    ],
)
def test_wordings_are_those_of_the_author_to_the_letter(prompt: str, system: str, user: str) -> None:
    (stage,) = nlp_metad_stages({**AUTHOR, "prompt": prompt, "force_gold": False})
    assert stage.system_of(EMMA, "T=1") == system
    assert stage.prompts(EMMA, "T=1", {}) == (user,)
    assert stage.max_tokens == 64


def test_the_authors_instrument_is_the_default() -> None:
    defaults = {parameter.name: parameter.default for parameter in STUDY.parameters}
    assert AUTHOR.items() <= defaults.items()
    assert defaults["split"] == "author"
    (item,) = items_of(STUDY, source="arithmetic", temperatures="1", n=1)
    assert item.prompt.startswith("Q: ")


def test_a_question_with_braces_is_asked_as_it_is() -> None:
    braces = Question("q-2", "demo", "What is {x} in {0}?", "text", "x")
    (stage,) = nlp_metad_stages({**AUTHOR, "force_gold": False})
    assert stage.prompts(braces, "T=1", {}) == ("Q: What is {x} in {0}?",)


# Scoring ----------------------------------------------------------------------------------------------------------


def trial_of(text: str, *, tokens: tuple[Token, ...] = (), **how: object) -> LogprobTrial:
    asked = EMMA.with_metadata(**reading_of_run({**AUTHOR, **how}))
    return read_reply(asked, "T=1", {"answer": [ModelReply(text, tokens or (Token(text, -1.0, {}),))]})


@pytest.mark.parametrize(
    ("reply", "correct", "status"),
    [
        ("Jane Austen", 1.0, "ok"),
        ("the jane austen", 1.0, "ok"),
        ("The answer is Jane Austen.", 1.0, "repaired"),
        ("Sure, Jane Austen", 1.0, "repaired"),
        ("I think Jane Austen", 1.0, "repaired"),
        ("I believe: Jane Austen", 1.0, "repaired"),
        ("It’s Jane Austen", 1.0, "repaired"),
        ("Here's Jane Austen", 1.0, "repaired"),
        ("Jane Austin", 1.0, "ok"),
        ("Jane Eyre", 0.0, "ok"),
        ("Jane Austen, who was born in 1775", 0.0, "ok"),
        ("Jane Austen\n\nShe was born in 1775.", 0.0, "ok"),
        ("I don't know.", 0.0, "refused"),
        ("I’m not sure, perhaps Jane Austen", 0.0, "refused"),
        ("I cannot say", 0.0, "refused"),
        ("I can't say", 0.0, "refused"),
        ("Sorry, I do not know", 0.0, "refused"),
        ("I don't have that information", 0.0, "refused"),
        ("I do not know", 0.0, "ok"),
        ("Surely Jane Austen", 0.0, "ok"),
        ("...", 0.0, "unreadable"),
    ],
)
def test_the_authors_scoring(reply: str, correct: float, status: str) -> None:
    trial = trial_of(reply)
    assert (trial["correct"], trial["status"]) == (correct, status)


def test_an_empty_reply_is_missing_and_refusals_are_left_out_by_the_scoring_of_a_line() -> None:
    assert math.isnan(trial_of("  ")["correct"])
    refused = trial_of("I don't know.", scoring="line")
    assert (refused["status"], math.isnan(refused["correct"])) == ("refused", True)


def test_similarity_is_a_parameter() -> None:
    """The ratio of "jane austen" and "jane austern" is 22/23; that of "jane osten" is 20/21 less one letter."""
    ratio = 2 * 9 / 21  # nine letters of "jane osten" match, of ten and eleven
    assert 0.85 < ratio < 0.9
    assert trial_of("Jane Osten", similarity=0.85)["correct"] == 1.0
    assert trial_of("Jane Osten", similarity=0.90)["correct"] == 0.0


TOKENS = tuple(
    Token(text, logprob, {})
    for text, logprob in (("The", -3.0), (" answer", -1.0), (" is", -1.0), (" Austen", -0.5), (".", -0.1))
)


def test_the_evidence_is_that_of_all_tokens_or_of_the_answer() -> None:
    every = trial_of("The answer is Austen.", tokens=(*TOKENS, Token("<|end|>", -9.0, {})))
    assert (every["mean_logprob"], every["tokens"]) == (pytest.approx(-5.6 / 5), 5.0)
    answer = trial_of("The answer is Austen.", tokens=TOKENS, span="answer", scoring="line")
    assert (answer["mean_logprob"], answer["tokens"]) == (-0.5, 1.0)


def test_a_refusal_has_evidence_and_counts() -> None:
    trial = trial_of("Sorry.", tokens=(Token("Sorry", -1.0, {}), Token(".", -2.0, {})))
    assert (trial["correct"], trial["mean_logprob"], trial["tokens"]) == (0.0, -1.5, 2.0)


def test_the_reply_of_a_base_model_ends_at_the_line_break() -> None:
    tokens = (Token(" Austen", -0.5, {}), Token("\n", -4.0, {}), Token("Q", -4.0, {}), Token(":", -4.0, {}))
    trial = trial_of(" Austen\nQ:", tokens=tokens, prompt="author_base")
    assert (trial["correct"], trial["mean_logprob"]) == (1.0, -0.5)
    (stage,) = nlp_metad_stages({**AUTHOR, "prompt": "author_base", "force_gold": False})
    assert stage.span is not None
    assert stage.span(EMMA, " Austen\nQ:") == (1, 7)


def test_a_log_that_does_not_say_how_is_read_as_its_release_did() -> None:
    reply = "The answer is Jane Austen, who was born in 1775. She wrote it."
    replies = {"answer": [ModelReply(reply, (Token(reply, -1.0, {}),))]}
    trial = read_reply(EMMA, "T=1", replies)
    assert (trial["answer"], trial["correct"]) == ("Jane Austen, who was born in 1775", 0.0)
    assert repr(trial) == repr(read_reply(EMMA.with_metadata(**FIRST_RELEASE), "T=1", replies))
    assert FIRST_RELEASE == {"scoring": "line", "span": "answer", "similarity": 0.85, "one_line": False}


@given(st.text(max_size=80), st.sampled_from(["text", "number"]), st.booleans())
def test_any_reply_is_read(reply: str, kind: str, one_line: bool) -> None:
    found = read_whole_reply(reply, kind, one_line=one_line)
    assert 0 <= found.begin <= found.end <= len(reply)
    assert bool(found.text) == (found.status in {"ok", "repaired"})


@pytest.mark.parametrize(
    ("texts", "reply"),
    [
        (["Jane", " Austen", "<|im_end|>"], "Jane Austen<|im_end|>"),
        (["Q: Who wrote", " Emma?", "\n", "Jane", " Austen"], "Q: Who wrote Emma?\nJane Austen"),
        ([f"{SENTENCE}\n\n", "Q: Who wrote Emma?\nA:", " Jane", " Austen"], ""),
    ],
)
@pytest.mark.parametrize("one_line", [False, True])
def test_end_tokens_and_a_repeated_prompt_are_neither_answer_nor_evidence(
    texts: list[str], reply: str, one_line: bool
) -> None:
    values = {"Jane": -0.2, " Jane": -0.2, " Austen": -0.4}
    tokens = tuple(Token(text, values.get(text, -9.0), {}) for text in texts)
    question = EMMA.with_metadata(**AUTHOR, one_line=one_line)
    trial = read_reply(question, "T=1", {"answer": [ModelReply(reply or "".join(texts), tokens)]})
    assert (trial["answer"], trial["correct"]) == ("Jane Austen", 1.0)
    assert (trial["mean_logprob"], trial["tokens"]) == (pytest.approx(-0.3), 2.0)


def test_a_token_that_holds_the_end_of_the_thought_gives_no_evidence() -> None:
    tokens = tuple(Token(text, -0.5, {}) for text in ("analysisHm.assistant", "finalJane", " Austen"))
    question = EMMA.with_metadata(**AUTHOR, one_line=False)
    trial = read_reply(question, "T=1", {"answer": [ModelReply("Jane Austen", tokens)]})
    assert (trial["answer"], trial["correct"], trial["status"]) == ("Jane Austen", 1.0, "missing_confidence")
    assert math.isnan(trial["mean_logprob"])


# Questions --------------------------------------------------------------------------------------------------------


@pytest.fixture
def author_mirror(tmp_path: Path, mirror: Path) -> Path:
    """A mirror with a few rows of the train splits, and the whole validation split of Natural Questions."""
    trivia = tmp_path / "mandarjoshi/trivia_qa/unfiltered.nocontext"
    natural = tmp_path / "google-research-datasets/nq_open/nq_open"
    for folder in (trivia, natural):
        folder.mkdir(parents=True)
    rows = [
        {"question": f"Trivia {i}?", "question_id": f"tc_{i}", "answer": {"value": "X", "aliases": ["X"]}}
        for i in range(30)
    ]
    (trivia / "train.jsonl").write_text("\n".join(map(json.dumps, rows)))
    asked = [("new question", ["one two three"]), ("long one", ["a b c d e f"])]
    pairs = [{"question": question, "answer": answer} for question, answer in asked]
    of_validation = mirror / "google-research-datasets/nq_open/nq_open/validation.jsonl"
    (natural / "validation.jsonl").symlink_to(of_validation)
    with of_validation.open(encoding="utf-8") as lines:
        pairs.append(json.loads(next(lines)))  # also among the questions of the validation split
    (natural / "train.jsonl").write_text("\n".join(map(json.dumps, pairs)))
    return tmp_path


def test_trivia_is_drawn_from_the_train_split_by_the_seed(author_mirror: Path) -> None:
    drawn = author_questions("trivia_qa", n=10, seed=42, mirror=str(author_mirror))
    assert len({question.id for question in drawn}) == 10
    assert {question.source for question in drawn} == {"trivia_qa"}
    assert all(question.text.startswith("Trivia ") for question in drawn)
    items = items_of(STUDY, source="trivia_qa", temperatures="1", n=10, seed=42, mirror=str(author_mirror))
    assert [item.question.id for item in items] == [question.id for question in drawn]


def test_natural_questions_are_both_splits_without_repetitions_and_long_answers(author_mirror: Path) -> None:
    drawn = author_questions("nq_open", n=None, seed=42, mirror=str(author_mirror))
    texts = [question.text.casefold() for question in drawn]
    assert len(texts) == len(set(texts))
    assert "new question" in texts
    assert "long one" not in texts
    assert all(1 <= len((question.gold or "").split()) <= 5 for question in drawn)


# Domains and simulated subjects -----------------------------------------------------------------------------------


def test_a_model_chooses_among_six_labels_of_which_two_are_unclassified() -> None:
    assert len(CLASSIFIER_LABELS) == 6
    assert all(f"- {label}" in classifier_prompt("Who?", "X") for label in CLASSIFIER_LABELS)
    assert {read_domain(label) for label in ("Sports", "Pop Culture", "None")} == {"Unclassified"}
    assert [read_domain(label) for label in CLASSIFIER_LABELS[:4]] == list(CLASSIFIER_LABELS[:4])


def test_true_values_of_a_sloppy_subject_are_known_for_the_answer_alone() -> None:
    sloppy = make_subject("sloppy")
    assert true_values(sloppy, "T=1", "nlp_metad", FIRST_RELEASE)["accuracy"] > 0
    with pytest.raises(ValueError, match="scoring=line"):
        true_values(sloppy, "T=1", "nlp_metad", AUTHOR)
