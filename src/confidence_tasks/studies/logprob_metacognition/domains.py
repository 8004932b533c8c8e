"""The domain of knowledge that a question belongs to, by a lexicon that anybody can read and correct.

The four domains are those of Cacioli (2026), arXiv:2603.25112, section 3.1, whose own classification is not published;
the words are this package's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

UNCLASSIFIED = "Unclassified"

LEXICON: Mapping[str, str] = MappingProxyType(
    {
        "History & Politics": """
            abdicat* abolish* aboriginal* act·of·parliament admiral alliance ambassador* ancestor* ancient anniversary
            apostle* archaeolog* aristocrat* armada armed·forces armies army arrested assassin* baron* battle* biblical
            bishop bolshevik* buddhis* burial buried cabinet caesar campaign* cardinal castle cathedral catholic
            cavalry centur* chancellor charter christian* church civil·war coalition cold·war colon* commander
            commonwealth communis* congress conquer* conservative constitution convicted coronation council coup court
            crime criminal crown crusade* death·of democrat* dictator* died diplomat* disciple* duchess duke dynasty
            earl elected election* elizabethan emperor* empire* empress executed execution exile* explorer* fascist*
            feudal first·lady flagship foreign·secretary founded founder* founding·father* funeral gangster* generals
            gestapo government governor* guillotin* gunpowder hanged headquarters heir* hijack* hindu* historian*
            historic* history holocaust home·secretary hostage* house·of·commons house·of·lords impeach* imprison*
            in·what·year in·which·decade in·which·year independence invad* invasion islam* jesus jewish kidnap* killed
            king king's kingdom kings knight* labour·party law laws lawyer leader* legion* legislat* liberal* lord
            lords magna·carta marshal martyr* massacre mayor medieval memorial military minister* monarch* monk*
            mosque* murder* murdered muslim* mutin* napoleon* nato navy nazi* nobel·peace norman normans old·testament
            outlaw* parliament* party peace peasant* pharaoh* pilgrim* pirate* plague police politic* political
            politician* pope* prehistoric president* prime·minister prince princess prison* prisoner* prophet* protest*
            protestant* queen queen's queens raf ratified rebel* rebellion* referendum reform* regiment reign* religio*
            republican* resign* resistance revolt* revolution* roman romans royal ruler* saint samurai scandal*
            secret·service senate senator* sentenced serial·killer shipwreck* siege slave* slavery soldier* soviet*
            spies spy statesman submarine* succeeded suffrag* sultan supreme·court surrender* terroris* testament
            throne titanic tomb* trade·union* treason treaties treaty trial tribe* tsar tudor* unification
            united·nations uprising vatican verdict vice·president victoria* viking* vote* voting war warrior* wars
            warship* watergate waterloo what·year white·house widow* witch* world·war wwi wwii
        """,
        "Arts & Literature": """
            abba academy·award* actor* actress* adaptation album* animated animation anthem architect* architecture art
            artist* artwork author* autobiograph* ballad* ballet* band bands baroque bass beatles beethoven bestseller*
            bible biopic bond·film* bond·villain* book booker books broadway cartoon* cast catchphrase celebrity cello
            ceramic* character* charles·dickens chat·show choir choreograph* cinema* clarinet classical·music co-star*
            comedian* comedies comedy comic comic·strip compos* concert* concerto conductor coronation·street costume
            cover·version dance* dancer* debut detective dickens directed director* disc·jockey disney doctor·who
            documentary drama* dramatist drummer eastenders emmerdale emmy episode* essay* fable* fairy·tale* fashion*
            featured·in·the fictional film film* films folk·song frontman gallery game·show genre glam goddess
            golden·globe grammy* guitar* hamlet harry·potter hero heroine hit·single* hit·song* hit·with hollywood
            hosted impressionis* instrument* jazz landscape·painter lead·singer legend libretto literar* literature
            lyric* magazine melod* michelangelo movie* mozart mural museum* music musical* musician* myth* narrator
            newspaper novel* novelist* number·one·hit nursery·rhyme* opera* orchestra* oscar* overture paint* painter*
            painting* parody pen·name philharmonic photograph* pianist piano picasso play·by played·by playwright*
            poem* poet* poetry pop porcelain portrait* portray* pottery presenter producer protagonist pseudonym
            published publisher pulitzer punk puppet* quiz·show radio rapper reality·tv recorded released renaissance
            rock·band rock·group rock·opera role roles romantic sang satire science-fiction screenplay screenwriter
            sculpt* sequel sequels shakespeare* shakespearean sherlock·holmes short·story simpsons sing singer* sings
            sitcom* sketch soap soap·opera solo song songs songwriter soprano soundtrack stage·name star·trek star·wars
            starred starring stars·in story storyline superhero* surrealis* symphon* television tenor theater theatre
            theme·tune title·role tony·award top·ten·hit tragedy trilog* trumpet tune turner·prize tv tv·show*
            video·game* violin* vocalist voice voiced waltz west·end western write writer* written wrote x·factor
        """,
        "Geography": """
            adriatic aegean africa african airport* alps altitude amazon andes antarctic* archipelago arctic asia asian
            atlantic atlas australian·state baltic bay beach* beaches bordered bordering borders bridge* bridges canal*
            canyon* cape capital capitals caribbean channel·tunnel cities city city's climate coast* coastal coastline
            continent* counties countries country county currencies currency dam delta desert* east·coast equator
            estuary european·capital european·city european·country fjord* flag flags flows·through geograph* glacier*
            gulf harbour hemisphere highest·mountain highest·peak hills himalaya* home·counties indian·ocean island
            islands isle isles isthmus lake lakes landlocked landmark landmark* language·of largest·city
            largest·country largest·lake latitude lies·on located london·borough longest·river longitude map maps
            mediterranean meridian metropolitan moor moors motorway* motorways mount mountain* nation national·park*
            nations nearest neighbouring north·america north·sea oases ocean oceans pacific passport peak* peninsula*
            plateau population populous port ports postcode* prefecture province* railway·station region* resort* river
            rivers sahara scandinavian sea seaport seas seaside settlement situated south·america* spoken square·miles
            state·capital state·of states strait* street suburb* territor* tibet time·zone topograph* town towns
            tributar* tube·station tunnel* u.s.·state underground·station us·state valley village volcano volcanoes
            waterfall* world's·largest·country
        """,
        "Science & Technology": """
            acid* aircraft airliner alcohol algebra allerg* alloy* amphibian* anatomical anatomy animal* antibiotic*
            apple·inc aspirin astronaut* astronom* atom* atomic·number bacteri* battery beaufort·scale bee bees biolog*
            bird birds blood body bone bones botan* brain breed* butterfl* calculus cancer car·manufacturer carbon cat
            cats cattle cell cells chemical* chemist* chemistry chip chromosome* circuit* clinical clone* comet*
            compass compound computer* condition constellation* crustacean* cure deficiency dinosaur* disease* disorder
            dna doctor* dog dogs drug* eclipse* egg eggs electr* element* energy engine* engineer* enzyme* equation*
            evolution experiment* extinct eye facebook fear·of feathers fever fish flower* fossil* fraction fruit*
            fung* galaxy gas gases gemstone* gene gene's genetic* genus geolog* geometry gland* google grain* gram
            gravity herb herbs hormone* horse horses human·body hydrogen infection* insect* internet invent* inventor*
            iphone iron isotope* kidney laser* latin·name liquid liver lizard* locomotive* lung* machine* magnet*
            mammal* marsupial* mathemat* measure* measured measures measuring mechanic* medic* medicine metal* meteor*
            microscop* microsoft mineral* molecul* mollusc* monkey moon moons motorcycle* muscle* muscles mushroom*
            nasa nerve* nitrogen nobel·prize·in·chemistry nobel·prize·in·medicine nobel·prize·in·physics nuclear
            number·of·sides nut nutri* nuts operating·system orbit* ore organ organism* oxygen parasite*
            part·of·the·body patent* penguin* periodic·table petrol phobia phon* photon* physic* pigment* planet* plant
            plants plastic* poison* polygon primate* prime·number proton* psycholog* quantum radiation radio·waves
            radioactiv* reactor reptile* robot* rocket* rodent* roots satellite* scale·is·used scien* scientific
            scientist* shark* shell* shrub* si·unit skeleton skin skull snake* software solar·system space
            space·shuttle spacecraft species speed·of spice* spider* steam·engine stomach study·of subatomic
            submarine·volcano surgeon* surgery symptom* syndrome* technolog* teeth telegraph telephone telescope*
            temperature theorem theory·of tooth toxic tree trees triangle* unit·of units·of vaccin* vegetable*
            vegetables vehicle vein* velocity vertebra* virus* vitamin* volt* wavelength weather web·site website
            whale* wheat wing* zoolog*
        """,
    }
)
"""Words of each domain; ``·`` joins the words of a phrase, ``*`` stands for any ending."""

DOMAINS: tuple[str, ...] = (*LEXICON, UNCLASSIFIED)

LONGEST = 5_000
"""So many characters of a question are read."""


def domain_of(question: str) -> str:
    """Return the domain with most different words in a question, of several the one named first.

    A question names what it is about before it describes it: "Which river rises near the castle of ..." is about a
    river. Without any word it is ``Unclassified``; most such questions are of sport, food and words.

    Examples
    --------
    >>> domain_of("Which river flows through the capital of Austria?")
    'Geography'
    >>> domain_of("What was unusual about it?")
    'Unclassified'
    """
    text = question[:LONGEST].casefold().replace("’", "'")
    found = {domain: list(pattern.finditer(text)) for domain, pattern in _patterns().items()}
    named = {
        domain: (-len({word[0] for word in words}), words[0].start())
        for domain, words in found.items()
        if words
    }
    return min(named, key=lambda domain: named[domain], default=UNCLASSIFIED)


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    """Return one pattern a domain; longer entries come first, so that a phrase counts once."""
    return {
        domain: re.compile(rf"(?<![\w-])(?:{'|'.join(map(_entry, _entries(words)))})(?![\w-])")
        for domain, words in LEXICON.items()
    }


def _entries(words: str) -> list[str]:
    return sorted(words.split(), key=len, reverse=True)


def _entry(word: str) -> str:
    return re.escape(word).replace("·", " ").replace(r"\*", r"\w*")
