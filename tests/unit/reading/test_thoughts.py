"""Thoughts are recognised by the shape of their marks: what a study reads is the text after them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from confidence_tasks.catalogue import studies
from confidence_tasks.harness.items import make_items
from confidence_tasks.harness.parameters import chosen_conditions, complete_parameters
from confidence_tasks.harness.trial import record_marks, trial_from_replies
from confidence_tasks.reading.cleaning import strip_chat_tokens, strip_markdown
from confidence_tasks.reading.thoughts import (
    may_be_within_thought,
    strip_thoughts,
    unknown_control_tokens,
    without_thoughts,
)
from confidence_tasks.study.columns import columns
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
    "half token twice": "<think|>{d}<think|>{f}",
    "between dollars": "$think$ {d} $think$ {f}",
    "between dollars, closed": "$think$\n{d}\n$/think$\n{f}",
    "between hashes": "##think## {d} ##/think## {f}",
    "between arrows": "→think→{d}←think←{f}",
    "between moons": "☾think☽{d}☾/think☽{f}",
    "in corner brackets": "「思考」{d}「/思考」{f}",
    "between colons": "::think::\n{d}\n::/think::\n{f}",
    "between bars": "|think| {d} |/think| {f}",
    "quoted lines": "> Let me think step by step.\n{q}\n\n{f}",
    "quoted lines with empty ones": "> Let me think step by step.\n>\n{q}\n>\n> So that is it.\n{f}",
    "quoted lines under a heading": "*Thought for 12 seconds*\n\n{q}\n\n{f}",
    "lines of comments": "// Let me think step by step.\n{c}\n{f}",
    "comment of a program": "/* {d} */\n{f}",
    "directive": ":::thinking\n{d}\n:::\n{f}",
    "environment": "\\begin{{reasoning}}\n{d}\n\\end{{reasoning}}\n{f}",
    "fence with a title": "```text title=\"reasoning\"\n{d}\n```\n{f}",
    "instruction": "<?thinking {d} ?>{f}",
    "capitals": "BEGIN_THOUGHT: {d} END_THOUGHT\n{f}",
    "aside": "(Let me think about it: {d})\n\n{f}",
    "label": "Thought: {d}\n\nFinal: {f}",
    "labels of a list": "- Thought: {d}\n- Final: {f}",
    "labels with other marks": "REASONING:: {d}\nREPLY:: {f}",
    "draft": "## Draft\n{d}\n\n## Final\n{f}",
    "words for begin and end": "<<THINK>>{d}<<END THINK>>{f}",
    "Chinese words for begin and end": "【思考开始】{d}【思考结束】{f}",
    "headings in brackets": "[THINKING]\n{d}\n[RESPONSE]\n{f}",
    "channels in brackets": "[channel:analysis]{d}[channel:final]{f}",
    "value of a name": "<channel=analysis>{d}</channel>{f}",
    "role between tokens": "<|start_header_id|>reasoning<|end_header_id|>\n\n{d}<|eot_id|>"
    "<|start_header_id|>assistant<|end_header_id|>\n\n{f}",
    "thinker": "<|turn|>thinker\n{d}<|turn|>assistant\n{f}",
    "types of steps": '<step type="reasoning" n="1">{d}</step><step type="answer">{f}</step>',
    "two unknown pairs": "<plan>{d}</plan>\n<critique>{d}</critique>\n{f}",
    "channels after the role": "assistantanalysis{d}assistantfinal{f}",
    "object": '{{"thinking": {j}}}\n{f}',
}  # fmt: skip


def written(name: str, draft: str, final: str) -> str:
    """Return a reply with a thought in one of the formats."""
    lines = draft.split("\n")
    quoted, comments = ("\n".join(f"{mark} {line}" for line in lines) for mark in (">", "//"))
    return FORMATS[name].format(d=draft, f=final, q=quoted, c=comments, j=json.dumps(draft))


LABELLED = {
    "German": "**Gedankengang**\n{d}\n\n**Antwort**\n{f}",
    "French": "### Réflexion\n{d}\n\n### Réponse\n{f}",
    "Spanish": "Razonamiento: {d}\n\nRespuesta final: {f}",
    "Japanese": "【思考】\n{d}\n\n【回答】\n{f}",
    "Korean": "생각:\n{d}\n\n답변:\n{f}",
    "Arabic": "التفكير:\n{d}\n\nالإجابة:\n{f}",
    "Hindi": "विचार:\n{d}\n\nउत्तर:\n{f}",
    "Chinese": "思考过程：{d}\n\n最终答案：{f}",
    "final answer": "1. **Thinking**: {d}\n2. **Final answer**: {f}",
}


@pytest.mark.parametrize("draft", DRAFTS)
@pytest.mark.parametrize("name", LABELLED)
def test_a_label_of_the_answer_in_any_language_ends_the_thought(name: str, draft: str) -> None:
    """The label may stay with the reply."""
    visible = strip_thoughts(LABELLED[name].format(d=draft, f="25"))

    assert draft not in visible
    assert visible.endswith("25")


@pytest.mark.parametrize("final", FINALS)
@pytest.mark.parametrize("draft", DRAFTS)
@pytest.mark.parametrize("name", FORMATS)
def test_the_text_after_a_thought_is_the_reply(name: str, draft: str, final: str) -> None:
    assert strip_thoughts(written(name, draft, final)).strip() == final


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
        "$think$ Answer: C",
        "⟪think⟫Answer: C",
        "\\begin{think}Answer: C",
        "assistantanalysisAnswer: C",
        "【思考】\nAnswer: C",
        "[THINKING]\nAnswer: C",
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
        "> Answer: C\n> Confidence: 90",
        "> The capital of France is Paris, I think.\n\nConfidence: 90",
        "> Thinking, Fast and Slow\n\nI am 90% sure",
        "// Answer: C\n// Confidence: 90",
        "Reasoning: 60 + 6.\nConfidence: 90\nFinal answer: C",
        "Überlegung: 60 + 6.\nAntwort: C\nKonfidenz: 90",
        "**Reasoning**\n60 + 6\n\n**Answer**: C\n\n---\n**Confidence**: 90",
        '```json {"reasoning": "60 + 6",\n"answer": "C"}\n```',
        "🔍Analysis🔍\n60 + 6\n\nAnswer: C",
        "• Reasoning • 60 + 6 • Answer: C",
        "|Reasoning|Answer|Confidence|\n|---|---|---|\n|60 + 6|C|95|",
        "**The Thinker**\n\nRodin made it. Confidence: 90",
        "The Thinker\n---\nIt is by Rodin",
        '{"thought": "C"}',
        '{"reasoning": "60 + 6", "Answer": "C"} Done.',
        "<explanation>it is so because</explanation><letter>C</letter> done",
        "<no_think>\nAnswer: C, and nothing else",
        "/no_think\nAnswer: C",
        "[n=12] Answer: C",
    ],
)
def test_other_marks_are_no_thoughts(text: str) -> None:
    assert strip_thoughts(text) == text


def test_a_heading_of_the_answer_stays_with_it() -> None:
    """Readers need the label, and a confidence may follow under a heading of its own."""
    text = "## Thinking\nMaybe A.\n\n## Answer\nC\n\n## Confidence\n90"

    assert strip_thoughts(text) == "## Answer\nC\n\n## Confidence\n90"


@pytest.mark.parametrize(
    "text", ["> Is it A?\n> Answer: A\n> Confidence: 40", "// Answer: A", "<mull>Answer: A"]
)
def test_a_reply_cut_off_in_quoted_lines_may_be_within_the_thought(text: str) -> None:
    assert may_be_within_thought(text)
    assert not may_be_within_thought(f"{text}</mull>\n\nAnswer: B")


def test_a_token_that_says_there_is_no_thought_opens_none() -> None:
    assert strip_thoughts("<|no_think|>Answer: C") == "<|no_think|>Answer: C"


def test_invisible_characters_of_the_reply_are_kept() -> None:
    assert strip_thoughts("<th\u200bink>A?</think>n\u200bo") == "n\u200bo"


def test_text_before_a_thought_is_kept() -> None:
    assert strip_thoughts("Answer: C\n<think>sure</think>Confidence: 9") == "Answer: C\nConfidence: 9"


@given(st.text(max_size=80), st.sampled_from(sorted(FORMATS)))
def test_any_draft_is_removed_once(draft: str, name: str) -> None:
    text = written(name, draft, "C")

    assert len(strip_thoughts(text)) <= len(text)


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
            "between dollars",
            "quoted lines",
            "role between tokens",
            "label",
        ),
    ],
)
def test_every_study_reads_the_reply_after_the_thought(name: str, form: str) -> None:
    given, draft, final = REPLIES[name]
    study = next(study for study in studies() if study.name == name or name in study.designs)
    task = name if name in study.designs else study.first_task
    parameters = {**complete_parameters(task, {**given, "n": 1}, study.task_parameters(task)), "task": task}
    item = next(make_items(study, parameters, chosen_conditions(study, parameters)))
    first = study.stages_of(parameters)[0].name

    def read(text: str) -> dict[str, object]:
        trial = trial_from_replies(
            study, item.question, item.condition, {first: [ModelReply(text)]}, parameters
        )
        return {key: repr(value) for key, value in trial.items() if key not in ("status", "rules")}

    assert read(written(form, draft, final)) == read(final)


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
