"""Sentences in which a reply says that it, or the text that it was given, has no answer, by language."""

from __future__ import annotations

import re
from collections.abc import Mapping

_TEXT = r"(?:passage|text|context|document|article|paragraph|story|source|excerpt|information|question)s?"
_TELLS = (
    r"(?:mention|contain|provide|say|state|specify|include|give|indicate|answer|address|"
    r"tell|discuss|describe|offer)\w{0,3}"
)
_KNOWN = (
    r"(?:provided|mentioned|specified|stated|given|available|found|"
    r"known|included|contained|clear|discussed|indicated)"
)

SENTENCES: Mapping[str, str] = {
    "English": (
        rf"\b{_TEXT}\b[^.\n]{{0,60}}?\b(?:do not|does not|don't|doesn't|did not|didn't"
        rf"|never)(?: \w+)? {_TELLS}\b"
        rf"|\b(?:it|this|that|answer|information)(?: \w+){{0,4}} (?:is|was|are|were)(?:n't"
        rf"| not)(?: \w+)? {_KNOWN}\b"
        rf"|\A\W*(?:the )?(?:answer|information|data)? ?(?:is )?not {_KNOWN}\b(?: in [\w ]{{0,40}})?\W*\Z"
        r"|\banswer (?:is|remains) (?:unknown|unclear|uncertain|undetermined)\b"
        r"|\b(?:cannot|can't|could not|couldn't) be (?:found|verified|established|deduced|identified)\b"
        r"|\bi (?:have|had) no (?:\w+ )?(?:knowledge|information|data|record|recollection|memory|clue)\b"
        r"|\bi (?:do not|don't|cannot|can't|could not|couldn't) (?:\w+ )?(?:recall|remember"
        r"|confirm|have access|be sure|be certain)\b"
        r"|\bi(?:'m| am) (?:not aware|not familiar|unaware|unfamiliar|unsure|uncertain|not certain"
        r"|not confident)\b"
        r"|\b(?:beyond|outside) my (?:\w+ )?knowledge\b|\bthere is no (?:\w+ )?(?:information"
        r"|mention|answer|data|way to)\b"
        r"|\A\W*(?:it(?:'s| is) )?(?:unclear|uncertain|not clear|impossible to (?:know|tell))\W*\Z"
        r"|\A\W*no (?:\w+ )?(?:information|answer|data|mention)(?: (?:found|available|given|provided))?\W*\Z"
    ),
    "Arabic": r"(?:لا|لم) (?:أعرف|أعلم|أدري|يذكر|يحتوي|توجد|يمكنني|أستطيع)|لست متأكد|غير (?:معروف|مذكور|متوفر)",
    "Chinese": (
        r"(?:不知道|不清楚|不确定|无法(?:确定|回答|判断|得知|提供)|没有(?:提到|提及|足够|相关|说明)|未(?:提及|提到|说明|知)|信息不足|不足以|無法"
        r"|沒有(?:提到|足夠))(?![A-Za-z])"
    ),
    "Czech": (
        r"\bnev[ií]m\b|\bnezn[áa]m\b|\bneum[íi]m\b|\bnedok[áa][žz]u\b|\bnemohu\b|\bnejsem si jist"
        r"|\bneobsahuje\b|\bneuv[áa]d[íi]\b"
        r"|\bnen[íi] (?:\w+ )?(?:uveden|zn[áa]m|jasn|k dispozici|mo[žz]n[ée])|\bnelze\b"
        r"|\bnezn[áa]m[ýéáo]\w?\b|\bnedostatek informac[íi]"
    ),
    "Dutch": (
        r"\bik weet (?:het|dat)?\s?niet\b|\bgeen (?:idee|informatie|antwoord)\b|\bonbekend\b"
        r"|\bniet (?:vermeld|bekend|genoeg informatie)\b|\bik kan (?:\w+ ){0,3}niet\b"
    ),
    "French": (
        r"\bje ne (?:sais|connais|peux|suis|dispose|trouve)\b|\bje n'(?:ai|en ai)\b"
        r"|\bne (?:contient|mentionne|pr[ée]cise|permet|fournit|dit) pas\b"
        r"|\b(?:n'est|n'a) pas (?:\w+ )?(?:pr[ée]cis|mentionn|indiqu|connu|donn[ée]|possible)"
        r"|\binformations? insuffisante|\binconnue?\b"
    ),
    "German": (
        r"\bwei(?:ß|ss) (?:\w+ ){0,3}nicht\b|\bnicht (?:\w+ ){0,3}(?:beantworten|sagen|bekannt"
        r"|sicher|gen[üu]gend|gen[üu]gend|ausreichend|angegeben|erw[äa]hnt|bestimmen|m[öo]glich)\b"
        r"|\bkeine (?:\w+ )?(?:ahnung|antwort|angabe|informationen?|angaben)\b|\bunbekannt\b"
        r"|\bkenne (?:\w+ ){0,3}nicht\b"
    ),
    "Hindi": r"(?:नहीं|नही) (?:पता|मालूम|जानत|जानता|दी गई)|पता नहीं|जानकारी नहीं|अज्ञात",
    "Indonesian": (
        r"\b(?:saya )?tidak (?:tahu|yakin|dapat menjawab|mengetahui|disebutkan|ada informasi"
        r"|memiliki informasi)\b"
    ),
    "Italian": (
        r"\bnon (?:lo )?(?:so|conosco|posso|sono (?:sicur|in grado)|ho (?:\w+ )?(?:informazioni"
        r"|idea|abbastanza))|\bnon (?:contiene|menziona|specifica|fornisce|dice)\b"
        r"|\bnon [èe] (?:\w+ )?(?:specificat|menzionat|indicat|not|possibile|chiar)"
        r"|\binformazioni insufficienti\b|\bsconosciut[oa]\b"
    ),
    "Japanese": (
        r"(?:(?:分|わ)かりません|(?:分|わ)からない|知りません|存じません|不明(?![ぁ-んァ-ヶ])|不足して|(?:記載|言及|情報)(?:され|が|は)(?:ていません|ありません|ない)"
        r"|(?:答え|回答)(?:られ|でき)(?:ません|ない))(?![A-Za-z])"
    ),
    "Korean": r"(?:모르겠|모릅니다|모른다|알 수 없|"
    r"알지 못|확실하지 않|정보가 (?:없|부족)|언급되지|답(?:변)?할 수 없)(?![A-Za-z])",
    "Polish": (
        r"\bnie (?:wiem|znam|mog[ęe]|jestem (?:pew|w stanie)|mam (?:\w+ )?(?:informacji"
        r"|poj[ęe]cia)|podano|zawiera|wspomina)|\bnieznan[yae]\b|\bbrak (?:\w+ )?informacji\b"
    ),
    "Portuguese": (
        r"\bn[ãa]o (?:\w+ )?(?:sei|conhe[çc]o|posso|consigo|tenho (?:\w+ )?(?:informa|certeza"
        r"|ideia)|cont[ée]m|menciona|fornece|especifica|informa|h[áa] informa)"
        r"|\bn[ãa]o (?:\w+ )?(?:[ée]|est[áa]|foi) (?:\w+ )?(?:poss[íi]vel|mencionad|especificad"
        r"|informad|clar)|\bdesconhecid[oa]\b"
    ),
    "Russian": (
        r"\bне (?:\w+ )?(?:знаю|уверен|могу|помню|располагаю|содержит|указан|упомина|хватает"
        r"|достаточно|известн)|\bнедостаточно (?:\w+ )?(?:информации|данных)"
        r"|\bнеизвестн[а-я]{0,3}\b|\bнет (?:\w+ )?(?:информации|данных|ответа)"
    ),
    "Spanish": (
        r"\bno (?:lo )?(?:s[ée]|conozco|puedo|estoy segur|tengo (?:\w+ )?(?:informaci|idea|datos"
        r"|suficiente))|\bno (?:contiene|menciona|especifica|proporciona|indica|dice"
        r"|hay (?:\w+ )?informaci)"
        r"|\bno (?:se )?(?:\w+ )?(?:es|est[áa]) (?:\w+ )?(?:posible|mencionad|especificad|indicad"
        r"|clar)|\binformaci[óo]n insuficiente\b|\bdesconocid[oa]\b"
    ),
    "Turkish": (
        r"\bbilmiyorum\b|\bbilgim yok\b|\bemin de[ğg]ilim\b|\byeterli bilgi\b|\bcevap veremem\b"
        r"|\bbilinmiyor\b|\bbelirtilmemi[şs]\b"
    ),
    "Vietnamese": (
        r"\bt[ôo]i kh[ôo]ng (?:bi[ếe]t|ch[ắa]c|th[ểe])|\bkh[ôo]ng (?:[đd][ủu] th[ôo]ng tin"
        r"|[đd][ưu][ợo]c [đd][ềe] c[ậa]p)"
    ),
}  # fmt: skip
"""Regular expressions in any letter case, searched in the first line of a reply."""

LONGEST = 400
"""Number of characters of the first line that are searched."""

_SENTENCES = tuple(re.compile(pattern, re.IGNORECASE) for pattern in SENTENCES.values())
_OFFERS = re.compile(
    r"\bbut (?:i|my|it|the|if|based|probably|likely)\b|\bhowever\b|\b(?:best|my"
    r"|educated) guess\b|\bif i had to\b"
    r"|\bi (?:think|believe|guess|suspect|would (?:say|guess))\b|\bi'd (?:say|guess)\b"
    r"|\b(?:ale mysl|aber ich (?:denke|glaube)|mais je (?:pense|crois)|pero creo"
    r"|но (?:я )?думаю|ma (?:penso|credo))",
    re.IGNORECASE,
)


def says_that_it_has_no_answer(line: str) -> bool:
    """Return True if a line says, in one of the languages, that there is no answer.

    Examples
    --------
    >>> says_that_it_has_no_answer("The passage does not mention his wife."), says_that_it_has_no_answer("Lima")
    (True, False)
    """
    return any(pattern.search(line[:LONGEST]) for pattern in _SENTENCES)


def offers_an_answer(text: str) -> bool:
    """Return True if a text goes on to offer an answer after words of doubt.

    Examples
    --------
    >>> offers_an_answer("I'm not sure, but I think it is Lima."), offers_an_answer("I'm not sure.")
    (True, False)
    """
    return _OFFERS.search(text) is not None
