"""Cleaning removes everything around a reply and nothing else."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from confidence_tasks.reading.abstention import REFUSALS, is_refusal
from confidence_tasks.reading.cleaning import (
    CLEANING,
    HEAD,
    LONGEST,
    TAIL,
    VALUE_CLEANING,
    clean,
    clean_value,
    fold,
    is_placeholder,
    last_box,
    strip_chat_tokens,
    strip_emphasis,
    strip_latex,
    strip_markdown,
    truncate_reply,
    unwrap,
)
from confidence_tasks.reading.integer_scale import Scale
from confidence_tasks.reading.thoughts import strip_thoughts
from confidence_tasks.studies.riskeval.reader import read_risk_reply
from confidence_tasks.studies.scales.trials import read_scale_reply

EXAMPLES = {
    "thought": "<think>A? No.</think>B",
    "chat_tokens": "B<|im_end|>",
    "quoted": "Confidence: 17\n> Confidence: 3",
    "html": "<b>B</b><br>",
    "unicode": "１７",
    "code_fence": "```\nB\n```",
    "markdown": "**B**",
}
VALUES = {"unicode": "１７", "latex": r"\text{B}", "wrapped": "[B]"}


@pytest.mark.parametrize("name", CLEANING)
def test_each_cleaning_rule_cleans_its_example(name: str) -> None:
    assert name in clean(EXAMPLES[name])[1]


@pytest.mark.parametrize("name", VALUE_CLEANING)
def test_each_value_rule_cleans_its_example(name: str) -> None:
    assert name in clean_value(VALUES[name])[1]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("<think>a</think>B", "B"),
        ("<think>a</think>B<think>c</think>", "B"),
        ("a</think>B", "B"),
        ("B<think>never closed", "B"),
        ("<think>a<think>b</think>B", "B"),
        ("<THINKING>a</THINKING>B", "B"),
        ("[THINK]a[/THINK]B", "B"),
        ("◁think▷a◁/think▷B", "B"),
        ("<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>B", "B"),
        ("<|channel|>analysis<|message|>a", ""),
        ("I think that B", "I think that B"),
        ("a < b > c", "a < b > c"),
    ],
)
def test_thoughts_are_removed(text: str, left: str) -> None:
    assert strip_thoughts(text) == left


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("B<|im_end|>\n<|im_start|>user\nC", "B"),
        ("<|im_start|>assistant\nB", "B"),
        ("<s> B</s>", "B"),
        ("B<end_of_turn>", "B"),
        ("B", "B"),
    ],
)
def test_chat_tokens_end_the_reply(text: str, left: str) -> None:
    assert strip_chat_tokens(text) == left


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("**B**", "B"),
        ("*B*", "B"),
        ("__B__ `c`", "B c"),
        ("### B", "B"),
        ("> B", "B"),
        ("1. B\n2) C", "B\nC"),
        ("- B", "B"),
        ("3 * 4 * 5", "3 * 4 * 5"),
        ("10**5", "10**5"),
        ("snake_case_name", "snake_case_name"),
        ("-5", "-5"),
        ("#### 18", "18"),
        ("**Answer: B\nConfidence: 17**", "Answer: B\nConfidence: 17"),
    ],
)
def test_markdown_is_removed_and_arithmetic_is_kept(text: str, left: str) -> None:
    assert strip_markdown(text) == left


@example("︑｡｢㎧🉀")
@given(st.text(st.characters(), max_size=300))
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)
    assert len(fold(text)) <= LONGEST * len(text)


@given(st.text(st.characters(max_codepoint=127), max_size=300))
def test_ascii_is_not_changed(text: str) -> None:
    assert fold(text) == text


MARKS = ("*", "**", "***", "_", "__", "`", "``")
PLAIN = st.text("abc x=+.1", min_size=1, max_size=9).map(str.strip).filter(bool)


@given(st.lists(st.tuples(PLAIN, st.sampled_from(("", *MARKS)), st.sampled_from(("", *MARKS))), max_size=9))
def test_marks_around_words_are_removed(parts) -> None:
    """Also where another kind of mark encloses the first."""
    inner = [(word, one, other if one and other[:1] != one[:1] else "") for word, one, other in parts]

    assert strip_emphasis(
        " ".join(other + one + word + one + other for word, one, other in inner)
    ) == " ".join(word for word, _, _ in inner)


@pytest.mark.parametrize(
    "text",
    [
        "x**2 + a * b * c",
        "f(x)**2 * g(x)**3",
        "C*-algebra",
        "snake_case_name",
        "p * (q * r)",
        "5 *",
        r"\*a\*",
    ],
)
def test_operators_and_names_are_kept(text: str) -> None:
    assert strip_emphasis(text) == text


@pytest.mark.parametrize("unit", ["*", "**a", "* a", "a*", "_a `", "*a_b** ", "a**b "])
def test_unclosed_marks_are_kept(unit: str) -> None:
    """In linear time: the fuzz targets and the benchmark of growth measure it."""
    assert strip_emphasis(unit * 3_000).count("a") == 3_000 * unit.count("a")


def test_letters_of_other_scripts_and_accents_are_kept() -> None:
    assert fold("Żółw, 東京, Ω, naïve") == "Żółw, 東京, Ω, naïve"


def test_a_long_reply_is_cut_to_its_two_ends() -> None:
    text = "a" * HEAD + "b" * 1000 + "c" * TAIL

    assert truncate_reply(text) == "a" * HEAD + "\n…\n" + "c" * TAIL
    assert truncate_reply(text[: HEAD + TAIL]) == text[: HEAD + TAIL]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (r"\boxed{B}", "B"),
        (r"\textbf{(B) London}", "(B) London"),
        (r"\(B\)", "B"),
        (r"$\frac{1}{2}$", "1/2"),
        (r"\$5", "$5"),
        (r"5\%", "5%"),
        (r"90^\circ", "90"),
        (r"10^{5}", "10^{5}"),
        ("no latex {here} $5", "no latex {here} $5"),
    ],
)
def test_latex_is_removed(text: str, left: str) -> None:
    assert strip_latex(text) == left


@pytest.mark.parametrize(
    ("text", "box"),
    [
        (r"\boxed{A} and \boxed{B}", "B"),
        (r"\boxed{\text{a {b} c}}", r"\text{a {b} c}"),
        (r"\boxed{never closed", ""),
        ("none", ""),
        (r"\boxed {18}", "18"),
    ],
)
def test_last_box(text: str, box: str) -> None:
    assert last_box(text) == box


@pytest.mark.parametrize(
    "value", ["<your answer>", "<integer between 0 and 20>", "[number]", "integer between 3 and 38"]
)
def test_placeholders_of_prompts(value: str) -> None:
    assert is_placeholder(value)


@pytest.mark.parametrize("value", ["<B>", "[17]", "London", "your guess is as good as mine", "number 5", ""])
def test_values_that_are_no_placeholders(value: str) -> None:
    assert not is_placeholder(value)


@given(st.text(max_size=50))
def test_unwrapping_never_lengthens(value: str) -> None:
    assert len(unwrap(value)) <= len(value)


@given(st.text(st.characters(), max_size=300))
def test_any_text_can_be_cleaned(text: str) -> None:
    cleaned, _ = clean(text)
    clean_value(text)

    assert cleaned == cleaned.strip()
    assert "\r" not in cleaned


DECLINING = {
    "apology": "I'm sorry, but I can't help with that.",
    "cannot": "I cannot answer this question.",
    "unable": "It is impossible to determine.",
    "will_not": "I will not answer that.",
    "decline": "I must decline to answer.",
    "as_an_ai": "As an AI language model, I do not have opinions.",
    "does_not_know": "I don't know.",
    "does_not_have": "I don't have information about that.",
    "abstains": "[ABSTAIN]",
    "passes": "I'll pass.",
    "no_right_answer": "The question has no correct answer.",
    "undetermined": "This cannot be determined.",
    "not_enough": "Not enough information to choose.",
    "unknown": "Unknown",
}


@pytest.mark.parametrize("name", REFUSALS)
def test_each_refusal_pattern_recognises_its_example(name: str) -> None:
    assert REFUSALS[name].search(DECLINING[name])
    assert is_refusal(DECLINING[name])


@pytest.mark.parametrize(
    "text",
    ["London", "Answer: B", "I know that it is B", "Sorry for the delay: B", "No, it is not", "18 (known)"],
)
def test_answers_are_no_refusals(text: str) -> None:
    assert not is_refusal(text)


@pytest.mark.parametrize("fence", ["```", "```text", "~~~"])
def test_an_answer_alone_in_a_fence_is_the_answer_and_a_fenced_confidence_none(fence: str) -> None:
    mark = fence[:3]
    reply = f"{fence}\nLima\n{mark}\nConfidence: 80%"
    assert read_risk_reply(reply, "text").answer == "Lima"
    reading = read_scale_reply(reply, Scale(0, 100), kind="text")
    assert (reading.answer, reading.confidence_raw) == ("Lima", 80.0)
    quoted = f"{fence}\nConfidence: 10%\n{mark}\nConfidence: 80%"
    assert read_scale_reply(quoted, Scale(0, 100), kind="text").confidence_raw == 80.0
