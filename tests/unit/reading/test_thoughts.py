"""Thoughts are recognised by the shape of their marks: what a study reads is the text after them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from confidence_tasks.catalogue import studies
from confidence_tasks.harness.staged import (
    chosen_conditions,
    complete_parameters,
    read_trial,
    record_marks,
    staged_items,
)
from confidence_tasks.reading.cleaning import strip_chat_tokens, strip_markdown
from confidence_tasks.reading.thoughts import strip_thoughts, unknown_control_tokens, without_thoughts
from confidence_tasks.study.measures import columns
from confidence_tasks.study.stage import ModelReply, Token

DRAFTS = (
    "19 + 6. Answer: 24? No, 25.",
    "Maybe Answer: A\nConfidence: 40\nNo, so C.",
    'Try {"L": 1, "U": 9}; too wide.',
)
FINALS = ("C", "25", "Answer: C\nConfidence: 95", '{"L": 3, "U": 4}')
FORMATS = {
    "closed tag": "<think>\n{d}\n</think>\n\n{f}",
    "tag that only closes": "{d}\n</think>\n\n{f}",
    "empty thought": "<think></think>{f}",
    "nothing before the closing tag": "\n\n</think>\n\n{f}",
    "opened twice": "<think>\n<think>\n{d}\n</think>\n{f}",
    "attribute": '<think type="hidden">{d}</think>{f}',
    "prefix": "<mm:think>{d}</mm:think>{f}",
    "other prefix": "<deep_think>{d}</deep_think>\n{f}",
    "square brackets": "[THINK]{d}[/THINK]{f}",
    "triangles": "◁think▷{d}◁/think▷{f}",
    "braces": "{{{{think}}}}{d}{{{{/think}}}}{f}",
    "answer in a tag of its own": "<think>\n{d}\n</think>\n<answer>\n{f}\n</answer>",
    "both in tags": "<Thought>\n{d}\n</Thought>\n<Output>\n{f}\n</Output>",
    "tag of unknown name": "<mull>{d}</mull>\n{f}",
    "unknown tag that only closes": "{d}\n</mull>\n{f}",
    "numbered tags": "<unused94>thought\n{d}<unused95>{f}",
    "details": "<details><summary>Thinking</summary>{d}</details>\n{f}",
    "channels": "<|channel|>analysis<|message|>{d}<|end|><|start|>assistant<|channel|>final<|message|>{f}<|return|>",
    "channel with a type": "<|channel|>commentary<|message|>{d}<|end|><|start|>assistant<|channel|>final "
    "<|constrain|>json<|message|>{f}",
    "half tokens": "<|channel>thought\n{d}<channel|>{f}",
    "half tokens without a thought": "<|channel>thought\n<channel|>{f}",
    "start and end": "<|START_THINKING|>{d}<|END_THINKING|><|START_RESPONSE|>{f}<|END_RESPONSE|>",
    "begin and end of": "<|begin_of_thought|>{d}<|end_of_thought|>\n<|begin_of_solution|>{f}<|end_of_solution|>",
    "full-width": "<｜begin▁of▁thinking｜>{d}<｜end▁of▁thinking｜>{f}",
    "unknown pair of tokens": "<|inner_prefix|>{d}<|inner_suffix|>{f}",
    "token that only ends": "{d}<|END_THINKING|>{f}",
    "turns": "<|think|>{d}<|end|><|begin|>assistant<|content|>{f}",
    "next turn": "<|think|>{d}<|end|><|begin|>assistant<|content|>{f}<|end|><|begin|>user<|content|>And B?",
    "headings": "Here is my thought process:\n{d}\n\nHere is my response:\n{f}",
    "markdown headings": "### Thought process\n{d}\n### Response\n{f}",
    "printed headings": "Thinking...\n{d}\n...done thinking.\n\n{f}",
    "full-width brackets": "＜think＞{d}＜／think＞{f}",
    "full-width letters": "［ＴＨＩＮＫ］{d}［／ＴＨＩＮＫ］{f}",
    "Chinese": "<思考>{d}</思考>{f}",
    "Cyrillic": "<размышление>{d}</размышление>\n{f}",
    "Chinese, only closed": "{d}\n</思索>\n{f}",
    "book brackets": "《think》{d}《/think》{f}",
    "guillemets": "«think»{d}«/think»{f}",
    "parentheses": "(thinking) {d} (/thinking)\n{f}",
    "one brace": "{{think}}{d}{{/think}}{f}",
    "template": "{{% think %}}{d}{{% endthink %}}{f}",
    "spaces": "< think >{d}</ think >{f}",
    "backslash": "<think>{d}<\\think>{f}",
    "underscores": "<__think__>{d}</__think__>{f}",
    "emoji": "<💭>{d}</💭>{f}",
    "escaped": "&lt;think&gt;{d}&lt;/think&gt;{f}",
    "zero width": "<th\u200bink>{d}</th\u200bink>{f}",
    "zero width after the bracket": "<\u2060think>{d}<\u2060/think>{f}",
    "byte order mark": "\ufeff<think>{d}</think>{f}",
    "type of a message": '<message type="thought">{d}</message>{f}',
    "class of a division": '<div class="thinking">{d}</div>{f}',
    "channel with attributes": "<|channel|>analysis effort=high<|message|>{d}<|end|><|start|>assistant<|channel|>final"
    "<|message|>{f}",
    "channels without tokens": "analysis{d}assistantfinal{f}",
    "channels on lines": "analysis\n{d}\nassistantfinal\n{f}",
    "nested": "<think>a<reason>{d}</reason>{d}</think>{f}",
    "two of two kinds": "<think>{d}</think>[THINK]{d}[/THINK]{f}",
    "thought after the reply": "{f}\n<think>{d}</think>",
    "unclosed thought after the reply": "{f}\n<思考>{d}",
    "fence": "```thinking\n{d}\n```\n{f}",
    "comment": "<!-- {d} -->\n{f}",
    "bold headings": "**Thinking**\n{d}\n\n**Response:**\n{f}",
    "lines of capitals": "=== THINKING ===\n{d}\n=== FINAL ===\n{f}",
    "begin and end in words": "BEGIN THINKING\n{d}\nEND THINKING\n{f}",
    "rule": "Reasoning:\n{d}\n\n---\n\n{f}",
}  # fmt: skip


@pytest.mark.parametrize("final", FINALS)
@pytest.mark.parametrize("draft", DRAFTS)
@pytest.mark.parametrize("name", FORMATS)
def test_the_text_after_a_thought_is_the_reply(name: str, draft: str, final: str) -> None:
    text = FORMATS[name].format(d=draft, f=final)

    assert strip_thoughts(text).strip() == final


@pytest.mark.parametrize(
    "text",
    [
        "<think>Answer: C",
        "<|START_THINKING|>Answer: C",
        "<|channel>thought\nC",
        "<think>Answer: C</think>",
        "[THINK]C",
        "＜思考＞Answer: C",
        "analysisAnswer: C",
        "<mull>\nAnswer: C\nConfidence: 90",
        '<рассмотрение>\n{"Answer": "C"}',
        "<!-- Answer: C",
        "```thinking\nAnswer: C",
    ],
)
def test_an_answer_in_the_thought_only_is_none(text: str) -> None:
    """The model may have dropped it."""
    assert strip_thoughts(text).strip() == ""


@pytest.mark.parametrize(
    "text",
    [
        "<b>Answer</b>: C",
        "<number>84</number> <prob>0.8</prob>",
        "<answer>C</answer>\n<confidence>90</confidence>",
        "Reasoning: <your step-by-step reasoning>\nAnswer: C",
        "[Reasoning] 60 + 6 = 66. [Answer] C",
        "a < b > c, |x| <|y|",
        "C</s>",
        "<|begin_of_text|>C<|eot_id|>",
        "Thinking about it, C.",
        "Answer: C, by reasoning",
        "analysis of variance",
        "{think} of a number",
        "«Reflexion» (reasoning) 60 + 6 = 66",
        "<C>\nConfidence: 90 percent sure of it",
        "<Paris>\nIt is the capital of France. Confidence: 90",
        '<answer note="by reasoning">C</answer>',
        "Thinking: 60 + 6 = 66",
        "**Reasoning**\n60 + 6 = 66, so C.\nConfidence: 90",
        "＜C＞",
    ],
)
def test_other_marks_are_no_thoughts(text: str) -> None:
    assert strip_thoughts(text) == text


def test_a_heading_of_the_answer_stays_with_it() -> None:
    """Readers need the label, and a confidence may follow under a heading of its own."""
    text = "## Thinking\nMaybe A.\n\n## Answer\nC\n\n## Confidence\n90"

    assert strip_thoughts(text) == "## Answer\nC\n\n## Confidence\n90"


def test_invisible_characters_of_the_reply_are_kept() -> None:
    assert strip_thoughts("<th\u200bink>A?</think>n\u200bo") == "n\u200bo"


def test_text_before_a_thought_is_kept() -> None:
    assert strip_thoughts("Answer: C\n<think>sure</think>Confidence: 9") == "Answer: C\nConfidence: 9"


@given(st.text(max_size=80), st.sampled_from(sorted(FORMATS)))
def test_any_draft_is_removed_once(draft: str, name: str) -> None:
    visible = strip_thoughts(FORMATS[name].format(d=draft, f="C"))

    assert len(visible) <= len(draft) + len(FORMATS[name])


# Every study ---------------------------------------------------------------------------------------------------------

REPLIES = {
    "scales": ({"sources": "arithmetic"}, DRAFTS[1], "Answer: C\nConfidence: 95"),
    "riskeval": ({"source": "arithmetic", "penalties": "10"}, "If unsure, ABSTAIN. 20%? No, C.", "C. Confidence: 0.97"),
    "signals": ({"source": "arithmetic"}, DRAFTS[1], "Answer: C\nConfidence: 95"),
    "nlp_metad": ({"source": "arithmetic"}, DRAFTS[0], "25"),
    "lifeeval": ({}, '{"Answer": 70, "Confidence": 0.1}', '{"Answer": 84, "Confidence": 0.7}'),
    "boolq": (
        {"source": "arithmetic_boolean"},
        '{"Answer": "False", "Confidence": 0.3}',
        '{"Answer": "True", "Confidence": 0.97}',
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REPLIES)
@pytest.mark.parametrize(
    "form",
    [
        *("half tokens", "turns", "start and end", "unknown pair of tokens", "headings", "prefix"),
        *(
            "full-width brackets",
            "Cyrillic",
            "zero width",
            "channels without tokens",
            "bold headings",
            "comment",
        ),
    ],
)
def test_every_study_reads_the_reply_after_the_thought(name: str, form: str) -> None:
    given, draft, final = REPLIES[name]
    study = next(study for study in studies() if study.name == name or name in study.designs)
    task = name if name in study.designs else study.first_task
    parameters = {**complete_parameters(task, {**given, "n": 1}, study.task_parameters(task)), "task": task}
    item = next(staged_items(study, parameters, chosen_conditions(study, parameters)))
    first = study.stages_of(parameters)[0].name

    def read(text: str) -> dict[str, object]:
        trial = read_trial(study, item.question, item.condition, {first: [ModelReply(text)]}, parameters)
        return {key: repr(value) for key, value in trial.items() if key not in ("status", "rules")}

    assert read(FORMATS[form].format(d=draft, f=final)) == read(final)


def test_tokens_begin_after_the_thought_also_if_the_text_has_none() -> None:
    tokens = tuple(Token(text, -0.1, {}) for text in ("<think>", "True", "?", "</think>", "\n", "False", "."))

    for text in ("<think>True?</think>\nFalse.", "False."):
        assert [token.text for token in without_thoughts(ModelReply(text, tokens)).tokens] == ["False", "."]
    plain = ModelReply("False.", tokens[5:])
    assert without_thoughts(plain) is plain


def test_marks_are_recorded_in_the_rules() -> None:
    trial = {"rules": "order", "status": "ok"}
    record_marks(trial, "<think>a</think>B <|mask|>", "B <|mask|>")

    assert trial == {"rules": "thought+control_token+order", "status": "repaired"}
    assert unknown_control_tokens(strip_chat_tokens("B<|im_end|>")) == []


def test_a_trial_without_rules_gets_them_only_with_a_mark_and_keeps_its_status() -> None:
    marked, plain = {"answer": "B", "status": "ok"}, {"answer": "C", "status": "ok"}
    record_marks(marked, "B <|mask|>", "B <|mask|>")
    record_marks(plain, "C", "C")

    assert marked == {"answer": "B", "status": "ok", "rules": "control_token"}
    assert plain == {"answer": "C", "status": "ok"}
    assert columns([marked, plain])["rules"].tolist() == ["control_token", ""]
    assert "rules" not in columns([plain, marked])


# Numbers of lists ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("8. I am 97% confident.", "8. I am 97% confident."),
        ("12) Confidence: 97", "12) Confidence: 97"),
        ("8. Sure\n\nIt is 8.", "8. Sure\n\nIt is 8."),
        ("1. B\n2. Sure", "B\nSure"),
        ("1. B\n1. Sure", "B\nSure"),
        ("3) x\nor\n2) y", "x\nor\ny"),
        ("1. Answer: 8\nConfidence: 97", "Answer: 8\nConfidence: 97"),
    ],
)
def test_a_list_number_needs_a_neighbour_on_another_line(text: str, left: str) -> None:
    assert strip_markdown(text) == left
