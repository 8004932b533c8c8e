"""Words of replies in several languages, as parts of regular expressions: labels, and what is about thinking."""

from __future__ import annotations

from collections.abc import Mapping

LANGUAGES: Mapping[str, tuple[str, str]] = {
    "Arabic": ("(?:ال)?(?:إجابة|اجابة|جواب)(?: النهائية| النهائي)?", "(?:(?:مستوى|درجة|نسبة) )?(?:ال)?ثقة"),
    "Chinese": (
        "(?:我的|最终|最終)?(?:答案|回答)",
        "(?:我的)?(?:置信度|置信水平|信心|信心度|信心水平|信心程度|自信度|确信度|把握|把握程度)",
    ),
    "Czech": ("odpověď", "(?:míra )?(?:jistot[ay]|důvěr[ay])"),
    "Dutch": ("antwoord", "(?:mate van )?(?:vertrouwen|zekerheid)"),
    "French": (
        "(?:ma )?réponse(?: finale)?",
        "(?:(?:niveau|degré|indice) de |ma )?(?:confiance|certitude)",
    ),
    "German": (
        "(?:meine )?(?:endgültige )?(?:end)?antwort",
        "(?:meine )?(?:konfidenz|sicherheit|zuversicht|gewissheit|vertrauen)(?:sniveau|sgrad)?",
    ),
    "Hindi": ("(?:अंतिम )?(?:उत्तर|जवाब)", "(?:आत्म)?विश्वास(?: स्तर| का स्तर)?"),
    "Italian": (
        "risposta(?: finale)?",
        "(?:(?:livello|grado) di )?(?:fiducia|confidenza|certezza|sicurezza)",
    ),
    "Japanese": ("(?:最終)?(?:回答|答え|解答)", "確信度|自信度?|信頼度"),
    "Korean": ("(?:최종 )?(?:답변?|정답|대답)", "확신도?|신뢰도|자신감"),
    "Polish": ("odpowiedź", "(?:poziom )?pewnoś(?:ć|ci)"),
    "Portuguese": ("resposta(?: final)?", "(?:(?:nível|grau) de )?(?:confiança|certeza)"),
    "Russian": (
        "(?:мой )?(?:окончательный |итоговый )?ответ",
        "(?:(?:уровень|степень) |мо[её] |моя )?(?:уверенност[ьи]|довери[ея])",
    ),
    "Spanish": (
        "(?:mi )?respuesta(?: final)?",
        "(?:(?:nivel|grado) de |mi )?(?:confianza|certeza|seguridad)",
    ),
    "Turkish": ("cevap|yanıt", "güven(?: düzeyi| seviyesi)?"),
    "Vietnamese": ("(?:câu )?trả lời|đáp án", "(?:mức )?độ (?:tin cậy|tự tin)"),
}
"""Labels of an answer and of a confidence, as regular expressions, by language."""

FOREIGN_ANSWER, FOREIGN_CONFIDENCE = ("|".join(names) for names in zip(*LANGUAGES.values(), strict=True))
"""All labels of an answer, and all of a confidence, in other languages than English."""

FOREIGN_PROBABILITY = (
    "(?:ال)?احتمال(?:ية)?|概率|機率|可能性|确率|確率|확률|가능성|pravděpodobnost|waarschijnlijkheid|probabilité|probabilità"
    "|probabilidade?"
    "|wahrscheinlichkeit|संभावना|प्रायिकता|prawdopodobieństwo|вероятность|[йі]мовірність|olasılık|xác suất|sannolikhet"
    "|probabilitas"
)
"""Labels of a probability in other languages than English."""

FOREIGN_GUESS = (
    "猜测|猜測|推測|추측|odhad|tip|gok|(?:ma )?(?:supposition|conjecture)|(?:meine )?(?:vermutung|schätzung)|अनुमान"
    "|ipotesi|palpite|догадка|предположение|здогадка|(?:mi )?(?:conjetura|suposición)|tahmin|phỏng đoán|gissning"
    "|tebakan"
)
"""Labels of a guess in other languages than English."""

THINKING = (
    r"think|thought|reason|reflect|r[eé]flexi|analy|scratch|deliberat|ponder|ruminat|monolog|commentary"
    r"|pensamiento|pensamento|razona|racioc|pens[eé]e|raisonn|[üu]berleg|gedanke|denk|ragiona|pensier"
    r"|мысл|мышлен|размыш|рассужд|思考|思索|思维|推理|推論|考え|考察|생각|사고|추론|تفكير|विचार|चिंतन|düşün|suy nghĩ"
    r"|myśl|rozumow|redener|úvah|[💭🤔🧠]"
)
"""Parts of words about thinking."""
