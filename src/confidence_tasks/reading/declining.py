"""Sentences in which a reply says that it, or the text that it was given, has no answer, by language."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import NamedTuple

_TEXT = r"(?:passage|text|context|document|article|paragraph|story|source|excerpt|material|information|question)s?"
_TELLS = (
    r"(?:mention|contain|provide|say|state|specify|include|give|indicate|answer|address|"
    r"tell|discuss|describe|offer|cover|support|allow|reveal|explain|clarify|identify)\w{0,3}"
)
_KNOWN = (
    r"(?:provided|mentioned|specified|stated|given|available|found|"
    r"known|included|contained|clear|discussed|indicated)"
)
_SAY = r"(?:say|tell|know|determine|judge|answer|be (?:sure|certain))"

ENGLISH: tuple[str, ...] = (
    rf"\b{_TEXT}\b[^.\n]{{0,60}}?\b(?:do not|does not|don't|doesn't|did not|didn't"
    rf"|never)(?: \w+)? {_TELLS}\b",
    rf"\b{_TEXT} (?:gives?|provides?|contains?|offers?|has|have) no\b|\b{_TEXT} is silent\b"
    rf"|\bnothing in the (?:\w+ )?{_TEXT}\b",
    rf"\b(?:we|you|one) (?:cannot|can't|could not|can not) (?:\w+ )?{_SAY}\b|\bnot in a position to {_SAY}\b",
    rf"\A\W*(?:there is |there's )?no (?:sure |real |possible )?way (?:to|of) {_SAY}\b",
    rf"\b(?:it|this|that|answer|information|date|name|detail)s?(?: \w+){{0,4}} (?:is|was|are|were)(?:n't"
    rf"| not)(?: \w+)?"
    rf" {_KNOWN}\b",
    rf"\b(?:it|this|that|answer|information)(?: is|'s| was| are)(?: not|n't) (?:\w+ )?in (?:the|this"
    rf"|that) (?:\w+ )?{_TEXT}\b",
    rf"\A\W*(?:the )?(?:answer|information|data)? ?(?:is )?not {_KNOWN}\b(?: in [\w ]{{0,40}})?\W*\Z",
    r"\b(?:answer|question) (?:is|remains) (?:unknown|unclear|uncertain|undetermined|indeterminate"
    r"|unanswerable)\b",
    r"\b(?:cannot|can't|could not|couldn't) be (?:found|verified|established|deduced|identified|inferred)\b",
    r"\bunable to (?:find|locate|verify|recall|confirm|say|tell) (?:the|an|this|that|any|it)\b",
    r"\bi (?:have|had) (?:no|insufficient|not enough|too little) (?:\w+ )?"
    r"(?:knowledge|information|data|record|recollection|memory|clue|answer|idea)\b",
    r"\bi (?:haven't|have not)(?: got)? (?:an?|the|any|enough) (?:\w+ )?(?:clue|idea|answer|information)\b",
    r"\bi (?:do not|don't) (?:\w+ )?(?:have|possess) (?:an?|the|this|that|any) (?:\w+ )?(?:clue|idea"
    r"|answer|knowledge)\b",
    r"\bi (?:do not|don't|cannot|can't|could not|couldn't) (?:\w+ )?"
    r"(?:recall|remember|confirm|have access|be sure|be certain|guess|tell you|say)\b",
    r"\bi(?:'m| am) (?:not(?: \w+)? (?:aware|familiar|certain|confident|sure)|unaware|unfamiliar|unsure"
    r"|uncertain)\b",
    r"\bi (?:lack|don't possess|do not possess)\b|\bmy (?:knowledge|training data|training) (?:does not"
    r"|doesn't)\b",
    r"\b(?:beyond|outside) my (?:\w+ )?knowledge\b|\bdrawing a blank\b|\bi(?:'d| would) (?:only "
    r"|just )?be guessing\b"
    r"|\bi (?:would )?need more (?:information|context)\b",
    r"\b(?:there(?:'s| is| are)|there) (?:no|not|isn't|aren't)(?: any| enough| sufficient)?(?: \w+)?"
    rf" (?:information|mention|answer|data|detail|context|way (?:to|of) {_SAY})s?\b",
    r"\bi(?: would|'d|'ll| will| must| have to| choose to| prefer to| want to| am going to)(?: (?!not )\w+){0,2}?"
    r" (?:(?:not|not to|not want to) guess|abstain|skip (?:this|it|that)|refrain|withhold)\b",
    r"\bi (?:abstain|withhold|refrain)\b|\bdunno\b|\bbeats me\b|\bnot a clue\b|\bno clue\b|\bi refuse\b",
    r"\A\W*(?:abstain|abstaining|abstention|skip|skipped|skipping)(?: (?:this|it|that|is"
    r"|from)\b[^\n]{0,40})?\W*\Z",
    r"\A\W*(?:i give up|who knows|answer:? unknown|not (?:at all )?(?:sure|certain)(?: at all)?"
    r"|don't know|do not know)\W*\Z",
    r"\A\W*(?:it(?:'s| is) )?(?:unclear|uncertain|not clear|inconclusive|ambiguous|unanswerable"
    r"|in?determina\w{2,6}|"
    r"undeterminable|unspecified|unavailable|unverifiable|not answerable|not determinable)"
    r"(?: (?:from|in|based on|given)\b[^\n]{0,60})?\W*\Z",
    rf"\A\W*(?:it(?:'s| is) )?(?:very |too |quite )?(?:hard|difficult|impossible|not possible"
    rf"|tough) to {_SAY}"
    r"(?: (?:for|from|with|without|based|what|which|who|if)\b[^\n]{0,80})?\W*\Z",
    rf"\A\W*(?:can't|cannot|can not|couldn't|could not) {_SAY}\b[^\n]{{0,40}}\Z",
    rf"\b{_TEXT} fails? to {_TELLS}\b|\A\W*(?:it is |it's |this is )?not in the {_TEXT}\W*\Z",
    r"\b(?:outside of|beyond) what i know\b|\bno answer (?:can|could) be given\b|\bnot something (?:that )?i can"
    r" (?:answer|say|tell)\b",
    r"\b(?:there(?:'s| is)(?:n't| not| no)(?: any)?|i have no|there's no) way of (?:knowing|telling|finding out)\b"
    r"|\bi(?:'d| would)? (?:have|need) to (?:look (?:that|this|it) up|pass(?: on (?:this|that|it))?(?: one)?)\b",
    r"\A\W*(?:sorry,? )?(?:i'm stumped|i am stumped|your guess is as good as mine|search me|not a clue"
    r"|i couldn't (?:tell|say))\b",
    r"\A\W*(?:(?:my|the) (?:\w+ )?(?:decision|choice|answer) ?(?:is|:)(?: to)? )?(?:i(?:'m|'ll|'d)? )?(?:\w+ ){0,2}?"
    r"(?:opt(?:ing)? out|sit(?:ting)? (?:this|it)(?: one)? out|withhold(?:ing)? (?:an |my |the )?answer"
    r"|leav(?:e|ing) (?:it|this) blank|(?:do not|don't|not) (?:want to take the risk|answer(?: this)?))\W*\Z",
    r"\bi(?:'ll| will|'d(?: rather)?|'m going to| would rather| prefer to)? sit (?:this|it)(?: one)? out\b"
    r"|\b(?:better|best|safer|safest|wiser) (?:to |if i )?(?:stay|remain|keep) silent\b"
    r"|\bso,? (?:i give )?no answer(?: from me)?\W*\Z",
    r"\A\W*(?:no|insufficient|not enough) (?:\w+ )?(?:information|answer|data|mention|idea|evidence|details?)"
    r"(?: (?:is |was )?(?:found|available|given|provided|at all))?\W*\Z",
)
"""Regular expressions of English sentences; most answers that a reply is compared with are English."""


class Language(NamedTuple):
    """Regular expressions, written without regard to letter case, of which each part may be empty.

    Attributes
    ----------
    negation : str
        Words that deny what follows.
    denied : str
        What a reply without an answer does not know, say, have or find, up to :attr:`reach` characters behind.
    knows : str
        Verbs and subjects that stand before a negation.
    alone : str
        Phrases that are the whole line.
    phrases : str
        Phrases without a negation, anywhere in the line.
    reach : int
        Number of characters between a negation and what it denies.
    """

    negation: str
    denied: str
    knows: str
    alone: str
    phrases: str = r"(?!)"
    reach: int = 40

    def patterns(self) -> tuple[str, ...]:
        """Return the regular expressions that say that there is no answer."""
        between = rf"[^.;:!?\n]{{0,{self.reach}}}?"
        return (
            rf"(?:{self.negation}){between}(?:{self.denied})",
            rf"(?:{self.knows}){between}(?:{self.negation})",
            rf"\A\W*(?:{self.alone})\W*\Z",
            self.phrases,
        )


LANGUAGES: Mapping[str, Language] = {
    "Arabic": Language(
        r"(?<!\w)(?:لا|لم|لن|ليس|ليست|لست|غير|بدون|دون|عدم|نقص)(?!\w)|(?<!\w)(?:من المستحيل|يصعب"
        r"|من الصعب|يتعذر)",
        r"(?<!\w)و?(?:ال)?(?:أعرف|أعلم|أدري|أتذكر|أذكر|أجيب|يذكر|تذكر|يحتوي|تحتوي|يقدم|يوفر|يحدد|يرد"
        r"|توجد|يوجد|تتوفر|يتوفر"
        r"|يمكن\w*|أستطيع|يسمح|أملك|أمتلك|لدي|فكرة|متأكد\w*|واثق\w*|معروف\w*|مذكور\w*|متوفر\w*|متاح\w*"
        r"|محدد\w*|واضح\w*|كاف\w*|إجابة|جواب\w*"
        r"|معلوم\w*|معرفة|تحديد\w*|علم|تخمين|قول|وجود|موجود\w*|نص|بيانات|أجد|أخمن)(?!\w)",
        r"(?<!\w)(?:إجابة|الإجابة|الجواب|المعلومات|المعلومة)(?!\w)",
        r"مجهول\w?|تخطي?|أتخطى|لا أعرف",
        r"(?<!\w)(?:س?أمتنع|أفضل (?:عدم|ألا|أن لا)|أرفض الإجابة)(?!\w)|(?<!\w)لا (?:علم|فكرة) لي",
    ),
    "Chinese": Language(
        r"不|没|沒|未|无|無|难|難|缺|暂无|拒绝|拒絕",
        r"知[道晓曉]|清楚|确定|確定|了解|记得|記得|明确|提到|提及|足(?:够|夠|\W*\Z|以)|充分|相关|说明|給出|给出|提供|答案|回答|作答|记载|信息|資訊|资料|数据|把握|头绪"
        r"|判断|判斷|得知|推断|断定|找到|查到|得出|猜测|猜測|肯定|[得从從而]知|关于|關於|这方面|這方面",
        r"信息|資訊|资料|数据",
        r"(?:我)?(?:选择|選擇|决定|想)?(?:弃权|棄權|跳过|跳過|放弃|放棄|(?:答案)?未知|无可奉告|不明|此?题?无解|很?难说|不好说|说不(?:准|清楚?|好))了?",
        r"回答不(?:了|上来|出)|答不(?:上|出)来|不敢(?:确定|肯定)|超出\w{0,4}知识|需要更多(?:的)?信息",
        reach=6,
    ),
    "Czech": Language(
        r"\b(?:ne|nelze|není|nejsem|nejsou|nemám|nemáme|nedá|nemohu|nemůžu|nemůže|nechci|neumím|nedokážu"
        r"|bez|žádn\w+|nedostatek"
        r"|nedostatečn\w+|málo|chybí|nic|těžk[éo]|obtížné|nemožné)\b",
        r"\b(?:odpov\w+|informac\w+|údaj\w*|dat[aů]?|jist\w*|tušení|ponětí|zdání|páru|uveden\w*|zmín\w*"
        r"|znám\w*|jasn\w*|k dispozici|určit|zjistit"
        r"|říc[ti]|říci|vědět|hádat|schop\w+|možné|text\w*|vím|poznat|obsažen\w*)\b",
        r"\b(?:odpověď|informac[ei]|text\w*)\b",
        r"přesk\w+|pas|pasuji|nejasn[éo]|nejist[éáý]|neznám[ýéáo]\w?|neuveden[oaý]|neurčen[oé]",
        r"\b(?:nevím|neznám|netuším|nepamatuji|nepamatuju|nevzpomínám|nevybavuji|neobsahuje|neuvádí"
        r"|nezmiňuje|neříká|nespecifikuje|neumožňuje|nepíše|nemohu"
        r"|neodpovím|nenašel|nenašla|odmítám|zdržuji se|zdržím se)\b|\bje (?:\w+ )?neznám[ýéáo]\b",
    ),
    "Dutch": Language(
        r"\b(?:niet|geen|onvoldoende|zonder)\b",
        r"\b(?:idee|informatie|antwoord\w*|vermeld|bekend|zeker|genoeg|genoemd|weten|zeggen|bepalen"
        r"|gegeven\w*)\b",
        r"\b(?:ik weet|weet ik|ik kan|de tekst|dat staat)\b",
        r"onbekend|onduidelijk|overslaan|ik pas",
    ),
    "French": Language(
        r"\bn(?:e\b|')|\b(?:non|pas|aucune?|sans|manque|peu|impossible|difficile|incapable|insuffisan\w*"
        r"|jamais)\b",
        r"\b(?:sais|savoir|sait|savons|saurais|connais\w*|connaître|connue?s?|idée|réponse|répond\w*"
        r"|informations?|données?|dispose|sûre?|certain\w*|précis\w*"
        r"|mention\w*|indiqu\w*|spécifi\w*|disponible\w*|fourni\w*|contient|permet|détermin\w*|dire|dit"
        r"|donne|souviens|rappelle|trouv\w+|deviner"
        r"|texte|passage|renseigné\w*|possible de|clair|clairement|assez d\w*|suffisan\w*)\b",
        r"\b(?:je sais|informations?|données|réponse)\b",
        r"(?:c'est |réponse |la réponse est )?(?:inconnue?s?|incertaine?|indéterminée?|abstention|passe"
        r"|je passe|sautée?|difficile à dire)",
        r"\bj'ignore\b|\bje l'ignore\b|\bon (?:l')?ignore\b|\bm'échappe\b|\bje m'abstiens\b"
        r"|\bje préfère (?:m'abstenir"
        r"|ne pas)\b|\bje refuse\b"
        r"|\bje suis incertaine?\b|\b(?:est|reste) inconnue?s?\b",
    ),
    "German": Language(
        r"\b(?:nicht|nichts|kein\w*|nie|ohne|zu wenige?|unzureichend\w*|ungenügend\w*|fehl\w+|mangel\w*"
        r"|unmöglich|schwer|schwierig)\b",
        r"\b(?:wissen|weiß|weiss|kenn\w+|kenntnis\w*|sicher|ahnung|idee|antwort\w*|beantwort\w*"
        r"|information\w*|angaben?|angegeben|daten|bekannt|erwähn\w+"
        r"|genannt|bestimm\w*|ermittel\w*|feststell\w*|sagen|erinner\w*|raten|auskunft|hervor|ableit\w*"
        r"|verfügbar|vorhanden|enthalten|texte?s?|abschnitt"
        r"|klar|eindeutig|genug|genügend|ausreichend|festleg\w*|entscheid\w*|gefunden|finden|schimmer"
        r"|(?:reichen|reicht) aus)\b",
        r"\b(?:weiß|weiss|kenne|erinnere|(?:text|abschnitt|passage|kontext|quelle|artikel)\b|lässt sich"
        r"|laesst sich)\b",
        r"(?:das (?:ist|bleibt) |es ist )?(?:unklar|ungewiss|unbestimmt|unsicher|unbekannt|enthaltung"
        r"|(?:ich|da muss ich|ich muss)(?: \w+)? passen?|passe|überspringen|unbeantwortbar)",
        r"\b(?:ist|sind|bleibt|mir) (?:\w+ )?unbekannt\b|\bich bin (?:mir )?(?:\w+ )?(?:unsicher"
        r"|überfragt)\b|\benthalte (?:ich )?mich\b"
        r"|\bverweigere\b|\bentzieht sich\b|\b(?:reicht|reichen) (?:\w+ )?nicht\b|\bich (?:verzichte"
        r"|überspringe)\b",
    ),
    "Hindi": Language(
        r"नहीं|नही",
        r"पता|मालूम|जानत|दी गई|जानकारी|उत्तर",
        r"पता|जानकारी|उत्तर|यकीन|उल्लेख|निश्चित|जवाब|बता",
        r"अज्ञात",
    ),
    "Indonesian": Language(
        r"\btidak\b|\bbelum\b|\btanpa\b",
        r"\b(?:tahu|yakin|menjawab|mengetahui|(?:di|me)\w*(?:sebut|nyebut)\w*|informasi|jawaban|jelas|pasti)\b",
        r"(?!)",
        r"tidak diketahui|lewati",
    ),
    "Italian": Language(
        r"\b(?:non(?!-)|nessun\w*|senza|impossibile|insufficient\w*|difficile|manca\w*)\b|\bnessun'",
        r"\b(?:so|saprei|saper\w*|sa|conosc\w+|conoscenza|idea|rispost\w*|rispond\w*|informazion\w*|dati"
        r"|dispong\w*|sicur\w*|cert[oaie]|specific\w*|menzion\w*"
        r"|indic\w*|disponibil\w*|forni\w*|contiene|dire|dirlo|determin\w*|stabil\w*|ricord\w*|trov\w+"
        r"|indovinare|testo|brano|not[oa]|riesco|posso|viene in mente"
        r"|chiar[oa]|abbastanza|sufficient\w*|presente|si può)\b",
        r"\b(?:informazion[ei]|dati|la risposta|testo|brano)\b",
        r"(?:sono |è |la risposta è |risposta )?(?:ignot[oa]|sconosciut[oa]|incert[oa]|boh|passo|salto"
        r"|astensione|indeterminat[oa]|indeterminabile)",
        r"\bmi astengo\b|\bpreferisco (?:non|astenermi)\b|\blo ignoro\b|\bignoro la\b"
        r"|\bè (?:\w+ )?sconosciut[oa]\b|\bmi rifiuto\b|\bmi è ignoto\b",
    ),
    "Japanese": Language(
        r"ません|ない(?!で)|なし|不足|不能|不可|かねます|拒否|控え|未(?=回答|詳|記載|定)",
        r"回答|詳|記載|定",
        r"(?:分|わ)か|知(?:り|ら)|存じ|情報|データ|記載|言及|根拠|手がかり|答え|回答|確信|自信|見当|判断|特定|決定|確定|断定|確認|推測|読み取|把握|記憶"
        r"|書か|述べ|触れ|記さ|示さ|提供|含ま|定か|確か|明らか|明確|はっきり|覚え|思い出|持(?:って|ち)|言え|見つか|該当",
        r"(?:答えは)?(?:棄権|パス|スキップ|不明|不詳|未詳|不確か|不確実)(?:です|します|いたします|である|だ)?",
        r"知識の範囲[外を]|(?:は|が)不明(?:です|である|だ|確)?\W*\Z",
        reach=14,
    ),
    "Korean": Language(
        r"없|않|못|부족",
        r"(?!)",
        r"알|확실|정보|언급|답|대답|모르",
        r"모름|불명|패스|기권|알 수 없음",
        r"모르겠|모릅니다|모른다|몰라",
        reach=12,
    ),
    "Polish": Language(
        r"\b(?:nie|brak|bez|żadn\w+|trudno)\b",
        r"\b(?:wiem|znam|mogę|pewien|pewn\w+|w stanie|informacj\w+|pojęcia|podan\w+|zawiera|wspomina"
        r"|odpowied\w+|wiadomo|określić|powiedzieć|danych|pamiętam)\b",
        r"(?!)",
        r"nieznan[yae]|niejasne|pas|pomijam",
        r"\bwstrzymuję się\b",
    ),
    "Portuguese": Language(
        r"\b(?:não|sem|nenhuma?|falta\w*|impossível|insuficient\w*|difícil)\b",
        r"\b(?:sei|sabe\w*|saber|saberia|conhec\w+|conheço|ideia|respost\w*|respond\w*|informaç\w+"
        r"|informad\w*|dados|disponho|disponíve\w*|certeza|cert[oa]|segur[oa]"
        r"|especific\w*|menç\w+|mencion\w*|indica(?:d[oa])?|fornec\w*|contém|consta|diz|dizer|afirmar"
        r"|determin\w*|lembro|recordo|encontr\w*|adivinhar|texto|trecho"
        r"|consigo|posso|vem à|clar[oa]|suficient\w*|como saber)\b",
        r"\b(?:informaç\w+|dados|a resposta|texto|trecho)\b",
        r"(?:é |a resposta é )?(?:incert[oa]|desconhecid[oa]|indeterminad[oa]|passo|pular|pulo|abstenção"
        r"|ignoro)",
        r"\babst(?:enho|er)[- ]me\b|\bme abst\w+|\bprefiro não\b|\bdesconhe(?:ço|ce-se)\b"
        r"|\bé (?:\w+ )?desconhecid[oa]\b|\bignoro a\b|\brecuso\b",
    ),
    "Russian": Language(
        r"\b(?:не|нет|без|недостаточно|невозможно|нельзя|трудно|сложно|затрудняюсь|отсутству\w+|ни)\b",
        r"\b(?:знаю|знать|уверен\w*|могу|помню|вспомнить|располагаю|содержит\w*|указан\w*|упомина\w*"
        r"|хватает|достаточно|известн\w*|известен|сказано|имею"
        r"|обладаю|говорится|определ\w+|в состоянии|да[её]т|ясно|отвеча\w+|ответ\w*|информаци\w+|данн\w+"
        r"|сведени\w+|понят\w+|представлени\w+|сказать"
        r"|узнать|установить|судить|наш[её]л|нашла|нашел|найд\w+|гадать|в курсе|тексте|отрывке)\b",
        r"\b(?:информаци[яи]|данны[ех]|сведени[яй]|ответа?|ответить|сказать|в тексте|в отрывке"
        r"|определить|понятия"
        r"|представления)\b",
        r"(?:ответ )?(?:неизвест(?:н[а-я]{0,3}|ен)|пропускаю|пропустить|пропуск|пас|пасую|неясно"
        r"|непонятно|неопредел[её]нно)",
        r"\bвоздерж\w+|\bпредпоч\w+ не\b|\b(?:мне|это|ответ|точно|пока) (?:\w+ )?неизвест(?:н[а-я]{0,3}"
        r"|ен)\b|\bотказываюсь\b",
    ),
    "Spanish": Language(
        r"\b(?:no|ni|sin|ningun[oa]?|falta\w*|imposible|insuficient\w*|difícil)\b",
        r"\b(?:sé(?=\W*\Z|,| (?:la|el|lo|qué|quién|cuál|cómo|dónde|cuándo|si|responder|decir))|sabe\w*"
        r"|sabría|saber\w*|conozc\w+|conoc(?:e|er|id[oa])|recuerdo|acuerdo"
        r"|dispong\w*|disponible\w*|segur[oa]|ciert[oa]|idea|respuesta|respond(?:er|o|ible)|contest\w*"
        r"|información|datos|especific\w*|mencion\w*|mención|indica(?:d[oa])?"
        r"|proporciona|contiene|aparece|consta|determin\w*|decir|decirlo|encuentr\w+|adivinar|texto"
        r"|pasaje|puedo|logro|capaz|clar[oa]|suficient\w*|lo dice)\b",
        r"\b(?:información|datos|la respuesta)\b|\b(?:texto|pasaje)\b",
        r"(?:es |la respuesta es )?(?:inciert[oa]|desconocid[oa]|indeterminad[oa]|paso|omitir|saltar"
        r"|abstención|no aplica|no se)",
        r"\bme abstengo\b|\bprefiero (?:no|abstenerme)\b|\bdesconozco\b|\b(?:se|lo) desconoc\w+"
        r"|\blo ignoro\b|\bignoro la\b|\bes (?:\w+ )?desconocid[oa]\b"
        r"|\bme niego\b",
    ),
    "Swedish": Language(
        r"\b(?:inte|ingen|inget|inga|saknas|otillräcklig\w*)\b",
        r"\b(?:vet|aning|säker|svar\w*|nämn\w*|information\w*|uppgift\w*|känt|framgår|anges|texten|avgöra)\b",
        r"\b(?:jag vet|vet jag|texten|jag kan|framgår)\b",
        r"(?:det är )?(?:okänt|oklart)|(?:jag )?passar",
    ),
    "Turkish": Language(
        r"(?!)",
        r"(?!)",
        r"(?!)",
        r"bilinmiyor|pas|belirsiz",
        r"\bbilmiyorum\b|\bbilgim yok\b|\bemin değilim\b|\byeterli bilgi\b|\bcevap veremem\b"
        r"|\bbilinmiyor\b|\bbelirtilm[ei]\w*\b|\b(?:cevap|yanıt) ver[ei]m\w*\b"
        r"|\bfikrim yok\b|\bbilgi (?:yok|bulunm\w*)\b",
    ),
    "Ukrainian": Language(
        r"\b(?:не|немає|нема|бракує|неможливо)\b",
        r"\b(?:знаю|впевнен\w*|можу|відомо|згад\w*|вказан\w*|сказан\w*|інформаці\w*|відповід\w*|даних|визначити)\b",
        r"\b(?:інформації|даних)\b",
        r"невідомо|(?:я )?пас",
        r"\bгадки не маю\b|\bутримуюсь\b",
    ),
    "Vietnamese": Language(
        r"\b(?:không|chưa)\b",
        r"\b(?:biết|chắc|thể|thông tin|đề cập|câu trả lời|rõ)\b",
        r"(?!)",
        r"không rõ|bỏ qua",
    ),
}  # fmt: skip
"""Words of languages other than English."""

LONGEST = 400
"""Number of characters of the first line that are searched."""

_MARKS = re.compile("[\u0300-\u036f\u064b-\u0655]")


def without_accents(text: str) -> str:
    """Return a text without the accents of Latin and Cyrillic letters and the vowels of Arabic.

    Examples
    --------
    >>> without_accents("Je ne suis pas sûr; não sei")
    'Je ne suis pas sur; nao sei'
    """
    return unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFD", text)))


_SENTENCES = tuple(
    re.compile(without_accents(pattern), re.IGNORECASE)
    for patterns in (ENGLISH, *(language.patterns() for language in LANGUAGES.values()))
    for pattern in patterns
)
_OFFERS = re.compile(
    r"(?:\bbut (?:i|my|it|the|if|based|probably|likely)\b|\bhowever\b|\b(?:best|my"
    r"|educated) guess\b|\bif i had to\b"
    r"|\bi (?:think|believe|guess|suspect|would (?:say|guess))\b|\bi'd (?:say|guess)\b"
    r"|\b(?:ale mysl|aber ich (?:denke|glaube)|mais je (?:pense|crois)|pero creo"
    r"|но (?:я )?думаю|ma (?:penso|credo))|\b(?:sondern|nýbrž|sino)\b|而是|ではなく"
    r"|(?<!\w)بل(?!\w))[^.!?\n]{0,200}",
    re.IGNORECASE,
)


def says_that_it_has_no_answer(line: str) -> bool:
    """Return True if a line says, in one of the languages, that there is no answer.

    Examples
    --------
    >>> says_that_it_has_no_answer("The passage does not mention his wife."), says_that_it_has_no_answer("Lima")
    (True, False)
    """
    plain = without_accents(line[:LONGEST])
    return any(pattern.search(plain) for pattern in _SENTENCES)


def offers(text: str) -> Iterator[str]:
    """Yield the sentences that may offer an answer after words of doubt.

    Examples
    --------
    >>> list(offers("I'm not sure, but I think it is Lima.")), list(offers("I'm not sure."))
    (['but I think it is Lima'], [])
    """
    yield from (match[0] for match in _OFFERS.finditer(text))
