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
            abdicat* act·of·parliament admiral alliance ancient armada armies army assassin* battle* biblical bishop
            bolshevik* cabinet caesar campaign* cardinal castle cathedral cavalry centur* chancellor church
            civil·war coalition cold·war colon* communis* congress conquer* conservative constitution coronation
            council coup court crime criminal crown crusade* democrat* dictator* diplomat* duchess duke dynasty earl
            elected election* elizabethan emperor* empire* empress executed execution exile* fascist* feudal
            first·lady foreign·secretary founding·father* generals gestapo government governor* guillotin* gunpowder
            headquarters heir* historian* historic* history home·secretary hostage* house·of·commons house·of·lords
            impeach* imprison* independence invad* invasion king king's kingdom kings knight* labour·party law laws
            lawyer leader* legion* liberal* lord lords magna·carta marshal massacre medieval military minister*
            monarch* murder* mutin* napoleon* nato navy nazi* nobel·peace norman normans outlaw* parliament* party
            peace peasant* pharaoh* pilgrim* pirate* plague politic* political politician* pope* prehistoric
            president* prime·minister prince princess prison* prisoner* protest* queen queen's queens ratified
            rebel* rebellion* referendum reform* regiment reign* republican* resign* resistance revolt* revolution*
            roman romans royal ruler* saint samurai scandal* senate senator* sentenced siege slave* slavery soldier*
            soviet* spies spy statesman submarine* suffrag* sultan supreme·court surrender* terroris* throne titanic
            trade·union* treason treaties treaty trial tribe* tsar tudor* unification united·nations vatican verdict
            vice·president victoria* viking* vote* voting war warrior* wars warship* watergate waterloo white·house
            world·war wwi wwii
        """,
        "Arts & Literature": """
            abba academy·award* actor* actress* adaptation album* animated animation anthem architect* architecture
            art artist* artwork author* autobiograph* ballad* ballet* band bands baroque bass beatles beethoven
            bestseller* bible biopic bond·film* bond·villain* book booker books broadway cartoon* cast catchphrase
            cello ceramic* character* charles·dickens choir choreograph* cinema* clarinet classical·music co-star*
            comedian* comedies comedy comic compos* concert* concerto conductor costume cover·version dance* dancer*
            debut detective dickens directed director* disc·jockey disney doctor·who documentary drama* dramatist
            drummer emmy episode* essay* fable* fairy·tale* fashion* featured·in·the fictional film film* films
            folk·song frontman gallery genre glam goddess golden·globe grammy* guitar* hamlet harry·potter hero
            heroine hit·single* hit·song* hit·with hollywood impressionis* instrument* jazz landscape·painter
            lead·singer legend libretto literar* literature lyric* magazine melod* michelangelo movie* mozart mural
            museum* music musical* musician* myth* narrator newspaper novel* novelist* number·one·hit nursery·rhyme*
            opera* orchestra* oscar* overture paint* painter* painting* parody pen·name philharmonic photograph*
            pianist piano picasso play·by playwright* poem* poet* poetry pop porcelain portrait* portray* pottery
            producer protagonist pseudonym published publisher pulitzer punk puppet* rapper recorded renaissance
            rock·band rock·group rock·opera role roles romantic sang satire science-fiction screenplay screenwriter
            sculpt* sequel sequels shakespeare* shakespearean sherlock·holmes short·story simpsons sing singer*
            sings sitcom* sketch soap soap·opera solo song songs songwriter soprano soundtrack star·trek star·wars
            starred starring stars·in story storyline surrealis* symphon* television tenor theater theatre
            theme·tune title·role tony·award top·ten·hit tragedy trilog* trumpet tune turner·prize tv tv·show*
            violin* vocalist voice waltz west·end western write writer* written wrote
        """,
        "Geography": """
            adriatic aegean africa african airport* alps altitude amazon andes antarctic* archipelago arctic asia
            asian atlantic atlas australian·state baltic bay beach* bordered borders bridge* canal* canyon* cape
            capital capitals caribbean channel·tunnel cities city city's coast* coastal coastline continent*
            counties countries country county currencies currency dam delta desert* east·coast equator estuary
            european·capital european·city european·country fjord* flag flags flows·through geograph* glacier* gulf
            hemisphere highest·mountain hills himalaya* home·counties indian·ocean island islands isle isles isthmus
            lake lakes landlocked landmark language·of largest·city largest·country largest·lake latitude lies·on
            located london·borough longest·river longitude map maps mediterranean meridian metropolitan moor moors
            motorway* mount mountain* nation national·park* nations nearest neighbouring north·sea oases ocean
            oceans pacific passport peak* peninsula* plateau population populous port ports prefecture province*
            railway·station region* resort* river rivers sahara scandinavian sea seaport seas seaside settlement
            situated south·america* spoken square·miles state·capital state·of states strait* street suburb*
            territor* tibet time·zone topograph* town towns tributar* tube·station u.s.·state underground·station
            us·state valley village volcano volcanoes waterfall* world's·largest·country
        """,
        "Science & Technology": """
            acid* aircraft airliner alcohol algebra alloy* amphibian* anatomical anatomy animal* antibiotic*
            apple·inc aspirin astronaut* astronom* atom* atomic·number bacteri* battery bee bees biolog* bird birds
            blood body bone bones botan* brain breed* butterfl* calculus cancer car·manufacturer carbon cell cells
            chemical* chemist* chemistry chip chromosome* circuit* clinical clone* comet* compass compound computer*
            condition constellation* crustacean* cure deficiency dinosaur* disease* disorder dna doctor* dog drug*
            eclipse* electr* element* energy engine* engineer* enzyme* equation* evolution experiment* extinct eye
            facebook fear·of fish flower* fossil* fraction fruit* fung* galaxy gas gases gene gene's genetic* genus
            geolog* geometry gland* google gram gravity hormone* horse human·body hydrogen infection* insect*
            internet invent* inventor* iphone iron isotope* kidney laser* latin·name liquid liver lizard* lung*
            machine* magnet* mammal* marsupial* mathemat* measure* measured measures measuring mechanic* medic*
            metal* meteor* microscop* microsoft mineral* molecul* mollusc* monkey moon moons muscle* mushroom* nasa
            nerve* nitrogen nobel·prize·in·chemistry nobel·prize·in·medicine nobel·prize·in·physics nuclear
            number·of·sides nut nutri* operating·system orbit* ore organ organism* oxygen parasite* part·of·the·body
            patent* penguin* periodic·table petrol phobia phon* photon* physic* planet* plant plants plastic*
            poison* polygon primate* prime·number proton* psycholog* quantum radiation radio·waves radioactiv*
            reactor reptile* robot* rocket* rodent* roots satellite* scale·is·used scien* scientific scientist*
            shark* shrub* si·unit skeleton skin skull snake* software solar·system space space·shuttle spacecraft
            species speed·of spider* steam·engine stomach subatomic submarine·volcano surgeon* surgery symptom*
            syndrome* technolog* telegraph telephone telescope* temperature theorem theory·of toxic tree trees
            triangle* unit·of vaccin* vegetable* vehicle vein* velocity vertebra* virus* vitamin* volt* wavelength
            weather web·site website whale* wing* zoolog*
        """,
    }
)
"""Words of each domain; ``·`` joins the words of a phrase, ``*`` stands for any ending."""

DOMAINS: tuple[str, ...] = (*LEXICON, UNCLASSIFIED)

LONGEST = 5_000
"""So many characters of a question are read."""


def domain_of(question: str) -> str:
    """Return the domain with most different words in a question; ``Unclassified`` without any, or in a tie.

    Examples
    --------
    >>> domain_of("Which river flows through the capital of Austria?")
    'Geography'
    >>> domain_of("What was unusual about it?")
    'Unclassified'
    """
    text = question[:LONGEST].casefold().replace("’", "'")
    found = {domain: len(set(pattern.findall(text))) for domain, pattern in _patterns().items()}
    most = max(found.values())
    leading = [domain for domain, words in found.items() if words == most]
    return leading[0] if len(leading) == 1 else UNCLASSIFIED


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
