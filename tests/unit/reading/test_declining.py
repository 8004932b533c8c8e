"""Sentences without an answer, in the languages that replies come in."""

import pytest

from confidence_tasks import read_confidence
from confidence_tasks.reading.abstention import is_refusal

SENTENCES = {
    "Czech": (
        "Na tuto otázku neumím odpovědět.",
        "Text neobsahuje dostatek informací.",
        "Omlouvám se, ale nevím.",
    ),
    "German": (
        "Der Text enthält nicht genügend Informationen.",
        "Das kann ich nicht beantworten.",
        "Ich muss leider passen.",
    ),
    "French": ("Je ne connais pas la réponse.", "Le texte ne contient pas suffisamment d'informations."),
    "Spanish": ("El texto no contiene suficiente información.", "Lo siento, no lo sé."),
    "Italian": ("Non ho abbastanza informazioni.", "Mi dispiace, non lo so."),
    "Portuguese": ("Não tenho informações suficientes.", "Desculpe, não sei."),
    "Russian": ("К сожалению, я не знаю.", "Недостаточно информации."),
    "Chinese": ("文中没有提到。", "信息不足，无法回答。"),
    "Japanese": ("申し訳ありませんが、わかりません。", "情報が不足しています。"),
    "Korean": ("죄송하지만 모르겠습니다.",),
    "Arabic": ("لا توجد معلومات كافية.", "عذرا، لا أعرف."),
    "Polish": ("Nie wiem.",),
    "Dutch": ("Ik weet het niet.", "Dat staat niet vermeld."),
    "Turkish": ("Bilmiyorum.", "Cevap veremiyorum.", "Hiçbir fikrim yok."),
    "Hindi": ("मुझे यकीन नहीं है।", "पाठ में इसका उल्लेख नहीं है।"),
    "Indonesian": ("Saya tidak yakin.", "Tidak ada informasi."),
    "Swedish": ("Jag vet inte.", "Ingen aning.", "Texten nämner inte det.", "Okänt."),
    "Ukrainian": ("Я не знаю.", "Невідомо.", "Не можу відповісти.", "Не впевнений."),
    "English": (
        "The context does not mention it.",
        "This information is not provided in the passage.",
        "The answer cannot be found in the passage.",
        "I have no knowledge of this.",
        "I'm not familiar with this topic.",
        "Answer not found",
        "That is not something I can answer.",
        "I'd have to look that up.",
        "This is outside of what I know.",
        "No answer can be given.",
        "The context fails to mention it.",
        "There isn't any way of knowing.",
        "Not in the passage.",
        "I have to pass on this one.",
        "I'm stumped.",
        "Your guess is as good as mine.",
        "Not stated",
        "The penalty is too high, so no answer.",
        "It is better to stay silent here.",
        "A wrong answer costs too much. I'll sit this one out.",
    ),
}


@pytest.mark.parametrize("sentence", [text for texts in SENTENCES.values() for text in texts])
def test_a_sentence_without_an_answer_is_an_abstention(sentence: str) -> None:
    assert is_refusal(sentence)
    assert read_confidence(sentence).abstained


@pytest.mark.parametrize(
    "reply",
    [
        "Lima",
        "Answer: Unknown Pleasures\nConfidence: 90",
        "Nevada",
        "Nobody Knows",
        "Ignorance",
        "Nescio",
        "Not Without My Daughter",
        "I'm not sure, but I think it is Lima.",
        "I am not certain; my best guess is Lima.",
        "Der Nichtschwimmer",
        "No Country for Old Men",
        "Non-stop",
        "Not in Our Stars",
        "The Way of Knowing",
        "Passau",
        "Неон",
        "Вісім",
        "Inter Milan",
        "Okänd soldat",
        "Skip James",
        "Heisenberg's uncertainty principle",
    ],
)
def test_an_answer_is_no_abstention(reply: str) -> None:
    assert not read_confidence(reply).abstained
