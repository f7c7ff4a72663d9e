"""A small transfer grammar: draw a sentence's meaning, and express it in English and in French.

    the small black cat does not see him .    le petit chat noir ne le voit pas .

Written for this course so that every translation is certainly right, and every word's origin is known. French puts
most adjectives after the noun and a few before it. Adjectives and determiners agree with the noun, and the verb agrees
with its subject. `not` becomes two words around the verb, and turns an object's `un` into `de`. `him` moves before the
verb. Short words lose their vowel before another one. `analyse` parses English, so every sentence of the grammar can be
translated.
"""

from __future__ import annotations

import random
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from functools import cache

# English singular and plural, French singular and plural; (f) after a feminine.
ANIMALS = """cat cats chat chats, dog dogs chien chiens, horse horses cheval chevaux, bird birds oiseau oiseaux,
mouse mice souris souris f, cow cows vache vaches f, elephant elephants éléphant éléphants, hen hens poule poules f"""
PEOPLE = """child children enfant enfants, girl girls fille filles f, boy boys garçon garçons,
woman women femme femmes f, man men homme hommes, friend friends ami amis, teacher teachers professeur professeurs,
queen queens reine reines f, king kings roi rois"""
THINGS = """house houses maison maisons f, tree trees arbre arbres, school schools école écoles f,
garden gardens jardin jardins, apple apples pomme pommes f, car cars voiture voitures f, book books livre livres,
flower flowers fleur fleurs f, letter letters lettre lettres f, boat boats bateau bateaux, island islands île îles f,
star stars étoile étoiles f, door doors porte portes f, hotel hotels hôtel hôtels, box boxes boîte boîtes f"""
# English; French masculine and feminine singular, masculine and feminine plural; masculine before a vowel, if another.
SIZES = """small petit petite petits petites, big grand grande grands grandes, good bon bonne bons bonnes,
old vieux vieille vieux vieilles vieil, beautiful beau belle beaux belles bel, young jeune jeune jeunes jeunes"""
COLOURS = """black noir noire noirs noires, white blanc blanche blancs blanches, red rouge rouge rouges rouges,
green vert verte verts vertes"""
MOODS = """happy heureux heureuse heureux heureuses, sad triste triste tristes tristes,
tired fatigué fatiguée fatigués fatiguées, clever intelligent intelligente intelligents intelligentes,
funny drôle drôle drôles drôles, strange étrange étrange étranges étranges"""
# English plain form and third person; French for je, tu, il, nous, ils.
ACTIONS = """see sees vois vois voit voyons voient, love loves aime aimes aime aimons aiment,
seek seeks cherche cherches cherche cherchons cherchent, watch watches regarde regardes regarde regardons regardent,
follow follows suis suis suit suivons suivent, hear hears entends entends entend entendons entendent,
find finds trouve trouves trouve trouvons trouvent, want wants veux veux veut voulons veulent,
paint paints peins peins peint peignons peignent, know knows connais connais connaît connaissons connaissent,
hide hides cache caches cache cachons cachent, draw draws dessine dessines dessine dessinons dessinent"""
STATES = """sleep sleeps dors dors dort dormons dorment, sing sings chante chantes chante chantons chantent,
run runs cours cours court courons courent, laugh laughs ris ris rit rions rient,
wait waits attends attends attend attendons attendent, dance dances danse danses danse dansons dansent,
arrive arrives arrive arrives arrive arrivons arrivent,
work works travaille travailles travaille travaillons travaillent"""
BEING = ("am", "are", "is", "are", "are"), ("suis", "es", "est", "sommes", "sont")
# English; French masculine, feminine, plural; masculine and feminine before a vowel. "-": there is none.
DETERMINERS = """the le la les l' l', a un une - un une, this ce cette - cet cette, these - - ces - -,
my mon ma mes mon mon, your ton ta tes ton ton, our notre notre nos notre notre, two - - deux - -"""
PRONOUNS = {
    "I": ("je", 0),
    "you": ("tu", 1),
    "he": ("il", 2),
    "she": ("elle", 2),
    "we": ("nous", 3),
    "they": ("ils", 4),
}
OBJECTS = {"me": "me", "him": "le", "her": "la", "us": "nous", "them": "les"}
PLACES = {"in": "dans", "on": "sur", "under": "sous", "behind": "derrière", "with": "avec"}
MANNERS = {"not": "pas", "never": "jamais", "often": "souvent", "always": "toujours"}
ELIDED = {"je": "j'", "me": "m'", "ne": "n'", "le": "l'", "la": "l'", "de": "d'", "que": "qu'"}
VOWELS = "aeiouhéêîô"
"""First letters before which a word loses its vowel. The French words here have no aspirated h."""


@dataclass(frozen=True)
class Noun:
    """A noun's singular and plural in both languages, and whether it is feminine in French."""

    english: tuple[str, str]
    french: tuple[str, str]
    feminine: bool


@dataclass(frozen=True)
class NounPhrase:
    """A noun phrase. `early` precedes the noun in both languages, `late` precedes it in English only."""

    determiner: str
    noun: Noun
    plural: bool
    early: str = ""
    late: str = ""


Somebody = str | tuple[NounPhrase, ...]
"""A pronoun, or one or two noun phrases."""


@dataclass(frozen=True)
class Clause:
    """The meaning of a sentence, independent of language. `verb` is its English base form, or `be`."""

    subject: Somebody
    verb: str
    whom: Somebody | None = None
    like: str = ""
    manner: str = ""
    where: tuple[str, NounPhrase] | None = None
    asks: bool = False


Said = list[tuple[str, str]]
"""Words, each with the name of the part of the clause from which it comes."""


def _table(text: str) -> list[list[str]]:
    return [row.split() for row in text.split(",")]


def _nouns(text: str) -> list[Noun]:
    return [Noun((row[0], row[1]), (row[2], row[3]), len(row) > 4) for row in _table(text)]


_ANIMALS, _PEOPLE, _THINGS = _nouns(ANIMALS), _nouns(PEOPLE), _nouns(THINGS)
_BEINGS = _ANIMALS + _PEOPLE
_NOUNS = {word: (noun, plural == 1) for noun in _BEINGS + _THINGS for plural, word in enumerate(noun.english)}
_EARLY = {row[0]: row[1:] for row in _table(SIZES)}
_COLOURS = {row[0]: row[1:] for row in _table(COLOURS)}
_LATE = {**_COLOURS, **{row[0]: row[1:] for row in _table(MOODS)}}
_ADJECTIVES = {**_EARLY, **_LATE}
_ACTIONS = {row[0]: (row[1], row[2:]) for row in _table(ACTIONS)}
_STATES = {row[0]: (row[1], row[2:]) for row in _table(STATES)}
_VERBS = {**_ACTIONS, **_STATES}
_PLAIN = {form: verb for verb, (third, _) in _VERBS.items() for form in (verb, third)}
_DETERMINERS = {row[0]: row[1:] for row in _table(DETERMINERS)}


# -- drawing ---------------------------------------------------------------------------------------------------------


def draw(chance: random.Random) -> Clause:
    """Draw one clause. All randomness comes from `chance`."""
    pick, maybe = chance.choice, chance.random
    subject: Somebody = pick(list(PRONOUNS)) if maybe() < 0.35 else (_noun_phrase(chance, _BEINGS),)
    if not isinstance(subject, str) and maybe() < 0.1:
        subject = (*subject, _noun_phrase(chance, _BEINGS))
    kind, manner = maybe(), pick(["", "not", "not", pick(list(MANNERS))])
    where = _where(chance) if maybe() < 0.3 else None
    asks = manner not in ("not", "never") and maybe() < 0.25
    if kind < 0.25:
        nouns = [] if isinstance(subject, str) else [phrase.noun for phrase in subject]
        like = pick((*_EARLY, *_late_for(*nouns)))
        return Clause(subject, "be", like=like, manner=manner, where=where, asks=asks)
    if kind < 0.45:
        return Clause(subject, pick(list(_STATES)), manner=manner, where=where, asks=asks)
    whom: Somebody = (_noun_phrase(chance, pick([_BEINGS, _THINGS])),)
    if maybe() < 0.3:
        whom = pick([pronoun for pronoun in OBJECTS if (pronoun, subject) not in (("me", "I"), ("us", "we"))])
    return Clause(subject, pick(list(_ACTIONS)), whom, "", manner, where if maybe() < 0.5 else None, asks)


def _where(chance: random.Random) -> tuple[str, NounPhrase]:
    place = chance.choice(list(PLACES))
    return place, _noun_phrase(chance, _BEINGS if place == "with" else _THINGS)


def _noun_phrase(chance: random.Random, nouns: Sequence[Noun]) -> NounPhrase:
    noun, plural = chance.choice(nouns), chance.random() < 0.4
    early = chance.choice(list(_EARLY)[: 5 if nouns is _THINGS else 6]) if chance.random() < 0.3 else ""
    late = chance.choice(_late_for(noun)) if chance.random() < 0.35 else ""
    return NounPhrase(chance.choice(_determiners_for(plural)), noun, plural, early, late)


@cache
def _determiners_for(plural: bool) -> tuple[str, ...]:
    return tuple(word for word, forms in _DETERMINERS.items() if forms[2 if plural else 0] != "-")


@cache
def _late_for(*nouns: Noun) -> tuple[str, ...]:
    """Return adjectives: colours for animals and things, moods for animals and people."""
    if not nouns or any(noun in _PEOPLE for noun in nouns):
        return tuple(word for word in _LATE if word not in _COLOURS)
    return tuple(_COLOURS) if any(noun in _THINGS for noun in nouns) else tuple(_LATE)


# -- English ---------------------------------------------------------------------------------------------------------


def english(clause: Clause) -> Said:
    """Return the clause in English."""
    who, person = _english_somebody(clause.subject, "subject"), _person(clause.subject)
    verb, manner = _english_verb(clause, person), clause.manner
    helper = [("does" if person == 2 else "do", "helper")]
    said: Said
    if clause.verb == "be":
        said = [*verb, *who] if clause.asks else [*who, *verb]
        said += [*_word(manner, "manner"), (clause.like, "like")]
    elif clause.asks:
        said = [*helper, *who, *_word(manner, "manner"), (clause.verb, "verb")]
    elif manner == "not":
        said = [*who, *helper, ("not", "manner"), (clause.verb, "verb")]
    else:
        said = [*who, *_word(manner, "manner"), *verb]
    if clause.whom is not None:
        said += _english_somebody(clause.whom, "whom")
    if clause.where is not None:
        said += [(clause.where[0], "place"), *_english_phrase(clause.where[1], "where")]
    after = [word for word, _ in said[1:]] + ["."]
    said = [("an" if w == "a" and after[i][0] in "aeiou" else w, name) for i, (w, name) in enumerate(said)]
    return [*said, ("?" if clause.asks else ".", "end")]


def _person(subject: Somebody) -> int:
    """Return the index of the French verb's form: je, tu, il, nous, ils."""
    if isinstance(subject, str):
        return PRONOUNS[subject][1]
    return 4 if len(subject) > 1 or subject[0].plural else 2


def _english_verb(clause: Clause, person: int) -> Said:
    if clause.verb == "be":
        return [(BEING[0][person], "verb")]
    return [(_VERBS[clause.verb][0] if person == 2 else clause.verb, "verb")]


def _word(word: str, name: str) -> Said:
    return [(word, name)] if word else []


def _english_phrase(phrase: NounPhrase, name: str) -> Said:
    noun = phrase.noun.english[phrase.plural]
    words = (("the", phrase.determiner), ("early", phrase.early), ("late", phrase.late), ("noun", noun))
    return [(word, f"{name} {part}") for part, word in words if word]


def _english_somebody(somebody: Somebody, name: str) -> Said:
    if isinstance(somebody, str):
        return [(somebody, name)]
    first, *more = (_english_phrase(phrase, f"{name} {i}") for i, phrase in enumerate(somebody))
    return first + [word for other in more for word in [("and", f"{name} and"), *other]]


# -- French ----------------------------------------------------------------------------------------------------------


def french(clause: Clause) -> Said:
    """Return the clause in French. Each word has the name of the part of the English sentence from which it comes."""
    who, person = _french_somebody(clause.subject, "subject"), _person(clause.subject)
    forms = BEING[1] if clause.verb == "be" else _VERBS[clause.verb][1]
    verb: Said = [(forms[person], "verb")]
    if isinstance(clause.whom, str):
        verb = [(OBJECTS[clause.whom], "whom"), *verb]
    if clause.manner in ("not", "never"):
        verb = [("ne", "manner"), *verb]
    said = [*([("est-ce", "end"), ("que", "end")] if clause.asks else []), *who, *verb]
    said += _word(MANNERS.get(clause.manner, ""), "manner")
    if clause.like:
        said.append((_agreeing(clause.like, *_gender_and_number(clause.subject)), "like"))
    if isinstance(clause.whom, tuple):
        whom = _french_somebody(clause.whom, "whom")
        denied = clause.manner in ("not", "never")
        said += [("de" if denied and word in ("un", "une") else word, name) for word, name in whom]
    if clause.where is not None:
        said += [(PLACES[clause.where[0]], "place"), *_french_phrase(clause.where[1], "where")]
    return _elided([*said, ("?" if clause.asks else ".", "end")])


def _gender_and_number(subject: Somebody) -> tuple[bool, bool]:
    """Return whether the subject is feminine, and whether plural. Two are feminine only if both are.

    The gender of I, you, we and they is unknown.
    """
    if isinstance(subject, str):
        return subject == "she", subject in ("we", "they")
    return all(phrase.noun.feminine for phrase in subject), _person(subject) == 4


def _agreeing(adjective: str, feminine: bool, plural: bool) -> str:
    return _ADJECTIVES[adjective][2 * plural + feminine]


def _french_phrase(phrase: NounPhrase, name: str) -> Said:
    noun, feminine, plural = phrase.noun.french[phrase.plural], phrase.noun.feminine, phrase.plural
    said: Said = [(noun, f"{name} noun")]
    if phrase.early:
        forms = _EARLY[phrase.early]
        vowel = noun[0] in VOWELS and not feminine and not plural
        form = forms[4] if vowel and len(forms) > 4 else _agreeing(phrase.early, feminine, plural)
        said = [(form, f"{name} early"), *said]
    if phrase.late:
        said.append((_agreeing(phrase.late, feminine, plural), f"{name} late"))
    masculine, feminine_form, many, *before_vowel = _DETERMINERS[phrase.determiner]
    one = before_vowel[feminine] if said[0][0][0] in VOWELS else feminine_form if feminine else masculine
    return [(many if plural else one, f"{name} the"), *said]


def _french_somebody(somebody: Somebody, name: str) -> Said:
    if isinstance(somebody, str):
        return [(PRONOUNS[somebody][0], name)]
    first, *more = (_french_phrase(phrase, f"{name} {i}") for i, phrase in enumerate(somebody))
    return first + [word for other in more for word in [("et", f"{name} and"), *other]]


def _elided(said: Said) -> Said:
    """Remove the vowel of short words before another vowel: je aime -> j' aime."""
    after = [word for word, _ in said[1:]] + ["."]
    return [(ELIDED.get(w, w) if after[i][0] in VOWELS else w, name) for i, (w, name) in enumerate(said)]


# -- parsing English -------------------------------------------------------------------------------------------------


def analyse(words: Sequence[str]) -> Clause:
    """Parse an English sentence into a clause.

    Raises:
        ValueError: the words are not a sentence of this grammar.
    """
    clause = _Reader(list(words)).clause()
    if [word for word, _ in english(clause)] != list(words):
        raise ValueError(f"this is not a sentence of the grammar: {' '.join(words)}")
    return clause


class _Reader:
    """A parser from left to right. `analyse` generates the result again, so not everything is checked here."""

    def __init__(self, words: list[str]) -> None:
        self.words, self.whole = ["a" if word == "an" else word for word in words], " ".join(words)

    def clause(self) -> Clause:
        asks = self.words[-1:] == ["?"]
        opening = self.take({"do", "does", "am", "are", "is"}) if asks else ""
        subject = self.somebody(PRONOUNS)
        helper = "" if opening else self.take({"do", "does", "am", "are", "is"})
        manner = self.take(MANNERS)
        clause = Clause(subject, "be", manner=manner, asks=asks)
        if (opening or helper) in ("am", "are", "is"):
            clause = replace(clause, like=self.need(_ADJECTIVES))
        else:
            clause = replace(clause, verb=_PLAIN[self.need(_PLAIN)])
            if clause.verb in _ACTIONS:
                clause = replace(clause, whom=self.somebody(OBJECTS))
        place = self.take(PLACES)
        return replace(clause, where=(place, self.phrase()) if place else None)

    def somebody(self, pronouns: Container[str]) -> Somebody:
        pronoun = self.take(pronouns)
        if pronoun:
            return pronoun
        phrases = [self.phrase()]
        while self.take({"and"}):
            phrases.append(self.phrase())
        return tuple(phrases)

    def phrase(self) -> NounPhrase:
        determiner, early, late = self.need(_DETERMINERS), self.take(_EARLY), self.take(_LATE)
        noun, plural = _NOUNS[self.need(_NOUNS)]
        if _DETERMINERS[determiner][2 if plural else 0] == "-":
            raise ValueError(f"{determiner!r} does not go with {noun.english[plural]!r}")
        return NounPhrase(determiner, noun, plural, early, late)

    def take(self, among: Container[str]) -> str:
        return self.words.pop(0) if self.words and self.words[0] in among else ""

    def need(self, among: Container[str]) -> str:
        found = self.take(among)
        if not found:
            at = repr(self.words[0]) if self.words else "its end"
            raise ValueError(f"not a sentence of the grammar, at {at}: {self.whole}")
        return found


# -- vocabularies ----------------------------------------------------------------------------------------------------


def english_words() -> set[str]:
    """Return every word that an English sentence can have."""
    words = {*_NOUNS, *_ADJECTIVES, *_PLAIN, *BEING[0], *_DETERMINERS, *PRONOUNS, *OBJECTS, *PLACES, *MANNERS}
    return words | {"an", "and", "do", "does", ".", "?"}


def french_words() -> set[str]:
    """Return every word that a French sentence can have."""
    nouns = {form for noun in _BEINGS + _THINGS for form in noun.french}
    tables = (*_ADJECTIVES.values(), *(forms for _, forms in _VERBS.values()), *_DETERMINERS.values(), BEING[1])
    words = nouns | {form for forms in tables for form in forms if form != "-"}
    words |= {pronoun for pronoun, _ in PRONOUNS.values()} | {*OBJECTS.values(), *PLACES.values(), *MANNERS.values()}
    return words | {*ELIDED, *ELIDED.values(), "est-ce", "et", ".", "?"}
