r"""Values that a careful human reads at once: every reader of confidences reads them as they stand, or not at all.

The forms are shares, sentences, remarks in brackets, tables, JSON with comments and labels in other languages. A reply
may revise its confidence, and then the earlier value is never read.
"""

import math
from collections.abc import Callable, Mapping

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from confidence_tasks.reading.confidence import read_confidence
from confidence_tasks.reading.fields import read_probability
from confidence_tasks.reading.integer_scale import PERCENT, Scale
from confidence_tasks.reading.languages import LANGUAGES
from confidence_tasks.reading.stated import stated_confidence_of
from confidence_tasks.studies.lifeeval.question_sets.reader import read_boolean_reply, read_judgement
from confidence_tasks.studies.lifeeval.reader import read_lifeeval_reply
from confidence_tasks.studies.riskeval.reader import read_risk_reply
from confidence_tasks.studies.scales.trials import read_scale_reply
from confidence_tasks.studies.signals.reader import read_answer_reply, read_guesses, read_percent
from confidence_tasks.study import Question

CAPITALS = ("Paris", "London", "Rome", "Berlin")
CHOICE = Question("q-1", "demo", "Capital of the United Kingdom?", "choice", "B", CAPITALS)


def on_the_scale(reply: str) -> float:
    return read_scale_reply(reply, PERCENT, kind="choice", choices=CAPITALS).confidence_raw / 100


READERS: Mapping[str, Callable[[str], float]] = {
    "scales": on_the_scale,
    "signals": lambda reply: read_answer_reply(reply, CHOICE).confidence_raw / 100,
    "signals, percentage": read_percent,
    "riskeval": lambda reply: read_risk_reply(reply, "choice", CAPITALS).confidence_raw,
    "any benchmark": stated_confidence_of,
    "any prompt": lambda reply: read_confidence(reply).value,
}
"""Readers of a confidence in a reply of prose and labels, as a probability."""

every_reader = pytest.mark.parametrize("read", READERS.values(), ids=list(READERS))

CLEAR = {
    "Answer: B\nConfidence: 9/10": 0.9,
    "Answer: B\nConfidence: 9 out of 10": 0.9,
    "Answer: B\nConfidence: 17 out of 20": 0.85,
    "Answer: B\nConfidence: 17/20": 0.85,
    "Answer: B\nConfidence: 85 out of 100": 0.85,
    "Answer: B\nConfidence: 85 (about 9 in 10)": 0.85,
    "Answer: B\nConfidence: 85% (I recall 2 sources)": 0.85,
    "Answer: B\nConfidence: I am 85% confident": 0.85,
    "Answer: B\nConfidence: I'm 85% sure.": 0.85,
    "Answer: B\nConfidence: about 85%": 0.85,
    "Answer: B\nI am 85% confident.": 0.85,
    "B. I am 85% confident.": 0.85,
    "The answer is B. I'm 85% sure.": 0.85,
    "I am 85% confident that the answer is B.": 0.85,
    "Answer: B. I am about 85% certain of this.": 0.85,
    "Answer: B. I am 17 out of 20 confident.": 0.85,
    "| Answer | Confidence |\n|---|---|\n| B | 85 |": 0.85,
    "| Confidence | Answer |\n| --- | :---: |\n| 85% | B |": 0.85,
    "Here you are:\n\n| Answer | Confidence (0-100) | Remark |\n|---|---|---|\n| B | 85 | easy |\n": 0.85,
    "| Field | Value |\n|---|---|\n| Answer | B |\n| Confidence | 85 |": 0.85,
    '{\n  "answer": "B", // London\n  "confidence": 85 // fairly sure\n}': 0.85,
    '{\n  # the answer\n  "answer": "B",\n  "confidence": 85,\n}': 0.85,
    '{\n  // the answer\n  "answer": "B", /* London */\n  "confidence": 85\n}': 0.85,
    '{"答案": "B", "置信度": 85}': 0.85,
    "| 答案 | 置信度 |\n|---|---|\n| B | 85 |": 0.85,
    "答案：B\n置信度：８５％": 0.85,
    "الإجابة: B\nالثقة: ٨٥٪": 0.85,
    "**Antwort:** B\n**Sicherheit:** 85 %": 0.85,
    "Ответ: B\nУверенность: 85%": 0.85,
    "Ответ: B\nУровень доверия: 85 %": 0.85,
    "Réponse : B\nNiveau de confiance : 85 %": 0.85,
    "Réponse :\nB\nConfiance :\n85": 0.85,
    "Answer: B\nConfidence score: 85": 0.85,
    "Answer: B\nMy confidence level is 85%": 0.85,
    "Answer: B\nConfidence: ~~70~~ 85": 0.85,
}


@every_reader
@pytest.mark.parametrize("reply", CLEAR)
def test_a_clear_value_is_read(read: Callable[[str], float], reply: str) -> None:
    assert read(reply) == pytest.approx(CLEAR[reply])


def test_a_share_after_a_verb_is_no_revision() -> None:
    assert on_the_scale("Answer: B\nMy confidence is 9/10.") == 0.9


def test_the_same_percentage_on_another_scale_is_no_revision() -> None:
    scale = Scale(0, 20)
    same, other = (
        read_scale_reply(
            f"Answer: B\nConfidence: 17\nI am {percent}% sure.", scale, kind="choice", choices=CAPITALS
        )
        for percent in (85, 60)
    )
    assert same.confidence_raw == 17
    assert math.isnan(other.confidence_raw)


LABELS = {
    "Arabic": ("الإجابة", "الثقة"), "Chinese": ("答案", "置信度"), "Czech": ("Odpověď", "Jistota"),
    "Dutch": ("Antwoord", "Zekerheid"), "French": ("Réponse", "Confiance"), "German": ("Antwort", "Konfidenz"),
    "Hindi": ("उत्तर", "विश्वास"), "Italian": ("Risposta", "Fiducia"), "Japanese": ("回答", "確信度"),
    "Korean": ("답", "확신도"), "Polish": ("Odpowiedź", "Pewność"), "Portuguese": ("Resposta", "Confiança"),
    "Russian": ("Ответ", "Уверенность"), "Spanish": ("Respuesta", "Confianza"), "Turkish": ("Cevap", "Güven"),
    "Vietnamese": ("Trả lời", "Độ tin cậy"),
}  # fmt: skip


def test_every_language_of_the_table_is_tested() -> None:
    assert LABELS.keys() == LANGUAGES.keys()


@pytest.mark.parametrize("language", LABELS)
def test_labels_of_other_languages(language: str) -> None:
    answer, confidence = LABELS[language]
    reply = f"{answer}: B\n{confidence}: 85"
    numbered = f"{answer} 1: London\n{confidence} 1: 80\n{answer} 2: Rome\n{confidence} 2: 15"

    assert read_scale_reply(reply, PERCENT, kind="choice", choices=CAPITALS).answer == "B"
    assert read_risk_reply(reply, "choice", CAPITALS).answer == "B"
    assert [read(reply) for read in READERS.values()] == pytest.approx([0.85] * len(READERS))
    assert read_guesses(numbered, CHOICE) == [("B", 0.8), ("C", 0.15)]


@pytest.mark.parametrize(
    ("reply", "confidence"),
    [
        ("8. Confidence: 97", 97.0),
        ("8. Confidence: 97%", 97.0),
        ("8. I am 97% confident.", 97.0),
        ("8. I am 97% confident that it is 8.", 97.0),
        ("8.\n\nI am 97% confident.", 97.0),
        ("Answer: 8. I'm 97% sure.", 97.0),
        ("The answer is 8. I am 97% certain.", 97.0),
        ("8 apples. I am 97% sure.", 97.0),
    ],
)
@pytest.mark.parametrize("kind", ["number", "text"])
def test_a_number_before_the_sentence_is_the_answer(kind, reply: str, confidence: float) -> None:
    question = Question(
        "q-1", "demo", "How many?", kind, "8", aliases=("8 apples",) if kind == "text" else ()
    )
    on_scale, risk = read_answer_reply(reply, question), read_risk_reply(reply, kind, ("8", "8 apples"))

    assert on_scale.answer == risk.answer
    assert risk.answer in ("8", "8 apples")
    assert (on_scale.confidence_raw, risk.confidence_raw) == (confidence, confidence / 100)
    assert read_percent(reply) == stated_confidence_of(reply) == confidence / 100


@pytest.mark.parametrize(
    ("value", "confidence"),
    [
        ("9/10", 0.9),
        ("17 out of 20", 0.85),
        ("I am 85% confident", 0.85),
        ("85% confident", 0.85),
        ("0.85 (about 9 in 10)", 0.85),
    ],
)
def test_fields_of_json(value: str, confidence: float) -> None:
    assert read_probability(value)[0] == confidence
    assert read_boolean_reply(f'{{"Answer": "True", "Confidence": "{value}"}}').confidence_raw == confidence
    assert read_lifeeval_reply(f'{{"Answer": 81, "Confidence": "{value}"}}').confidence_raw == confidence


UNCLEAR = (
    "Answer: B\nConfidence: 50/50", "Answer: B\nConfidence: 80 65",
    "Answer: B\nConfidence: 85 or 90", "I am not 85% sure that it is B.",
    "I would answer if I were 85% sure.", "| Option | Confidence |\n|---|---|\n| A | 10 |\n| B | 85 |",
    "Answer: B\nI am 80 to 90% sure.", "Answer: B\nLack of confidence: 18", "The confidence interval is 95%.",
)  # fmt: skip


@every_reader
@pytest.mark.parametrize("reply", UNCLEAR)
def test_what_may_mean_two_things_is_missing(read: Callable[[str], float], reply: str) -> None:
    if reply.endswith("50/50") or "85 or 90" in reply:
        assert math.isnan(read(reply))
    assert read(reply) not in (0.1, 0.18, 0.8, 0.95, 1.0)


# Revisions

REVISED = (
    "I would adjust it down to 65.",
    "Let me revise my confidence to 65.", "On reflection, I'd say 65.", "Actually, 65.", "Actually, make that 65%.",
    "Correction: 65", "Hmm, I should lower that to 65.", "I now think 65 is better.", "Updated: 65",
    "Revised confidence: 65", "Final confidence: 65", "Confidence: 65", "Wait, my confidence is 65.",
    "I'd now put my confidence at 65.", "I take that back; 65%.", "No, 65.", "65 seems more realistic.",
    "Scratch that: 65/100", "I am reducing my confidence.", "Let me change it to 65.", "Sorry, I meant 65.",
    "I now think 65.", "Thinking again, 65.", "Then again, 65.", "On balance 65.", "I'm actually only 65% sure.",
    "Let's say 65 instead.", "Or rather 65%.", "That is too high; 65.", "That's too high. I'd go with 65.",
    "I'd say 65.",
    "Lowering to 65.", "65, actually.", "Change that: 65.", "It should be 65.", "I mean 65.", "Better: 65", "-> 65",
    "Upon reflection, my confidence drops to 65.", "I overestimated, so 65.",
    "I overestimated; 65 is what I'd go with.", "65 is what I would say.",
)  # fmt: skip


@every_reader
@pytest.mark.parametrize("revision", REVISED)
@pytest.mark.parametrize("join", ["\n", "\n\n", " ... "])
def test_a_revised_confidence_is_never_the_earlier_one(read, revision: str, join: str) -> None:
    value = read(f"Answer: B\nConfidence: 85{join}{revision}")
    assert math.isnan(value) or value == 0.65


@every_reader
@pytest.mark.parametrize("revision", REVISED)
def test_a_revision_after_json_is_never_the_earlier_one(read, revision: str) -> None:
    value = read(f'{{"answer": "B", "confidence": 85}}\n\n{revision}')
    assert math.isnan(value) or value == 0.65


@pytest.mark.parametrize("revision", REVISED[:9])
def test_a_revision_after_json(revision: str) -> None:
    for read, reply in (
        (read_boolean_reply, '{"Answer": "True", "Confidence": 0.85}'),
        (read_lifeeval_reply, '{"Answer": 81, "Confidence": 0.85}'),
        (lambda text: read_judgement(text, "Rome"), '{"Confidence": 0.85}'),
    ):
        assert read(reply).confidence_raw == 0.85
        assert read(f"{reply}\n{revision.replace('65', '0.65')}").confidence_raw != 0.85
        assert read(reply.replace("0.85", f'"0.85, {revision.replace("65", "0.65")}"')).confidence_raw != 0.85


@every_reader
@pytest.mark.parametrize(
    "remark",
    [
        "The population increased to 40 in that period.",
        "This exceeds the required confidence of 90.",
        "So my confidence is 85.",
        "I am 85% sure.",
        "I am 100% sure that London is in England.",
        "I'd say there are 3 reasons.",
    ],
)
def test_a_remark_is_no_revision(read: Callable[[str], float], remark: str) -> None:
    assert read(f"Answer: B\nConfidence: 85\n{remark}") == 0.85


# Any harmless prose around any form

FORMS = (
    "Answer: B\nConfidence: {value}", "**Answer:** B\n**Confidence:** {value}%", "Answer: B, Confidence: {value}%",
    "Answer: B\nConfidence: {value}/100", "Answer: B\nConfidence: {value} out of 100",
    "Answer: B\nConfidence: about {value}%",
    "Answer: B\nI am {value}% confident.", "Answer: B. I'm {value}% sure of this.",
    "Answer: B\nConfidence: {value} (rather high)",
    "| Answer | Confidence |\n|---|---|\n| B | {value} |", "答案：B\n置信度：{value}%",
    "Antwort: B\nKonfidenz: {value}",
    "Ответ: B\nУверенность: {value}%", '{{"answer": "B", "confidence": {value}}}', "Réponse : B\nConfiance : {value} %",
    "<answer>B</answer>\n<confidence>{value}</confidence>", "Answer: B\nConfidence:\n{value}",
)  # fmt: skip

SENTENCES = (
    "Let me think about that.", "The river is 346 km long.", "It became the capital in 1066.", "There are 4 options.",
    "However, Rome is older.", "I hope this helps!", "- first point", "1. It is large.", "2. It is old.",
    "(See page 12.)", "Bonn? No.", "The temperature rose to 40 degrees.", "About 9 million people live there.",
    "\"Quite so\", he said.", "x = 3 + 4", "That is why.", "", "***", "Note: this is well known.", "好的。", "Voilà.",
)  # fmt: skip
prose = st.lists(
    st.sampled_from(SENTENCES) | st.text(st.sampled_from("etaoin shrdlu,.;-"), max_size=60), max_size=4
).map("\n".join)


@pytest.mark.slow
@every_reader
@given(st.sampled_from(FORMS), st.integers(2, 99), prose, prose)
@settings(max_examples=150)
@example(FORMS[6], 85, "", "The temperature rose to 40 degrees.")
def test_a_value_in_any_form_is_read_as_that_value_or_missing(
    read: Callable[[str], float], form: str, value: int, before: str, after: str
) -> None:
    found = read(f"{before}\n\n{form.format(value=value)}\n\n{after}")
    assert math.isnan(found) or found == pytest.approx(value / 100)


@every_reader
@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_read_without_prose(read: Callable[[str], float], form: str) -> None:
    assert read(form.format(value=85)) == pytest.approx(0.85)


@given(st.sampled_from(FORMS), st.integers(2, 20), prose, prose)
def test_on_another_scale_no_value_is_converted(form: str, value: int, before: str, after: str) -> None:
    reply = f"{before}\n\n{form.format(value=value)}\n\n{after}"
    raw = read_scale_reply(reply, Scale(0, 20), kind="choice", choices=CAPITALS).confidence_raw
    assert math.isnan(raw) or raw == value


@given(st.sampled_from(FORMS), st.integers(66, 99), st.sampled_from(REVISED), prose)
def test_no_revision_leaves_the_earlier_value(form: str, value: int, revision: str, between: str) -> None:
    reply = f"{form.format(value=value)}\n\n{between}\n{revision}"
    for name, read in READERS.items():
        found = read(reply)
        assert math.isnan(found) or found == 0.65, name
