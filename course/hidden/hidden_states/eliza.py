"""Hidden tests of `eliza`."""

from __future__ import annotations

import re

from course.exercise import call, exercise
from course.reference import hidden_states as reference

EXCHANGED = reference.EXCHANGED
RULES = [
    (r"i need (.*)", "Why do you need {0}?"),
    (r"my (\w+) hates (.*)", "Who else in your family hates {1}? Tell me about your {0}."),
    (r"\b(dream|dreamed) of (.*)", "Have you ever {0} of {1} while you were awake?"),
    (r"because", "Is that the real reason?"),
    (r".*", "Please go on."),
]


@exercise(
    reference.eliza,
    hints=(
        "Take the rules one by one, from the top. At which of them do you stop, and what do you do with it?",
        "Exchange `my word against your word` by hand. How often do you look at each word?",
        "Print the groups of the match for `I need my cat`. Which words of the answer come from there, and which do "
        "not?",
        "Begin with a function that exchanges the words of one text, and try it alone on `My army, your cat`. `re.sub` "
        "may be given a function, which it calls for each match.",
    ),
    calls=(
        "eliza([('i need (.*)', 'Why {0}?'), ('.*', 'Go on.')], 'I need my cat')",
        "eliza([('i need (.*)', 'Why {0}?'), ('.*', 'Go on.')], 'today i need it')",
        "eliza([('i need (.*)', 'Why {0}?'), ('.*', 'Go on.')], 'It rains')",
        "eliza([('i am (.*)', 'Are you {0}?'), ('i (.*)', 'You {0}?')], 'I am here')",
        "eliza([('i (.*)', 'You {0}?'), ('i am (.*)', 'Are you {0}?')], 'I am here')",
        "eliza([('(.*) hates (.*)', '{1} and {0}?')], 'my cat hates you')",
    ),
)
def eliza(rng):
    """Which rule answers, what is exchanged and what is not; whole words, capitals, commas, spaces, a full stop."""

    def said(title, text, rules=None, **settings):
        return call(title, list(rules or RULES), text, **settings)

    friends = rng.choice(["friend", "neighbour", "teacher", "cousin"])
    animal = rng.choice(["cat", "parrot", "hamster", "goat"])
    yield said("a need", f"I need my {animal}", public=True)
    yield said("in the middle of a sentence", f"Well, today I need a {animal}", public=True)
    yield said("nothing fits but the last rule", f"It rains on the {animal}", public=True, weight=0.5)
    yield said("two groups", f"my {friends} hates your {animal}", weight=2.0)
    yield said("both ways at once", f"I need my {animal} and you need your {friends}", public=True, weight=2.0)
    yield said("capitals", f"i NEED My {animal}", public=True)
    yield said("a comma behind a word", f"I need you, me, and my, well, {animal}", public=True)
    yield said("a full stop at the end", "I need my cat.", public=True)
    yield said("spaces and signs stay", "I need  my cat  and -- you!  ")
    yield said("words within words", f"I need some army {animal} in Miami and yours", weight=2.0)
    yield said("two rules fit", f"my {friends} hates me because I need a {animal}", public=True, weight=2.0)
    yield said("a rule below fits further to the left", f"because of the rain I need a {animal}", weight=2.0)
    yield said("a dream", f"last night I dreamed of your {animal}")
    own = [(r"i am (.*) and i am (.*)", "You are {1}, you are {0}, my dear?"), (r"", "I see. You, too?")]
    yield said("other rules", f"I am your {friends} and I am tired", own)
    yield said("words of the answer stay as they are", f"the {animal} sleeps", own).counts_with("a need")


def _whole_words(text):
    return re.sub(r"\w+", lambda word: EXCHANGED.get(word[0].lower(), word[0]), text)


def _answered(rules, said, find=re.search, exchange=_whole_words, flags=re.IGNORECASE):
    for pattern, answer in rules:
        match = find(pattern, said, flags)
        if match:
            return answer.format(*map(exchange, match.groups()))


def _one_after_the_other(text, pattern=r"\b{}\b"):
    for word, other in EXCHANGED.items():
        text = re.sub(pattern.format(word), other, text, flags=re.IGNORECASE)
    return text


@eliza.misconception(
    "Exchange `my cat and your cat` by hand, then print what yours makes of it. How often is each word exchanged?"
)
def exchanged_back(rules, said):
    return _answered(rules, said, exchange=_one_after_the_other)


@eliza.misconception("Exchange `some army`. Does a word begin in the middle of another one?")
def parts_of_words(rules, said):
    def exchange(text):
        pattern = "|".join(sorted(EXCHANGED, key=len, reverse=True))
        return re.sub(pattern, lambda word: EXCHANGED[word[0].lower()], text, flags=re.IGNORECASE)

    return _answered(rules, said, exchange=exchange)


@eliza.misconception("Exchange `you, me`. What does your table of words look up when a comma follows?")
def commas_hide_words(rules, said):
    def exchange(text):
        return " ".join(EXCHANGED.get(word.lower(), word) for word in text.split(" "))

    return _answered(rules, said, exchange=exchange)


@eliza.misconception("Say a sentence with two spaces in a row. How many of them come back?")
def spaces_joined(rules, said):
    return _answered(rules, said, exchange=lambda text: " ".join(_whole_words(text).split()))


eliza.mistakes(
    "Write the sentence with `I need` in its middle. Where does your pattern look?",
    at_the_beginning_only=lambda rules, said: _answered(rules, said, find=re.match),
)


@eliza.misconception("Say the same in capitals and in small letters. Do both find a rule, and are both exchanged?")
def capitals_matter(rules, said):
    def exchange(text):
        return re.sub(r"\w+", lambda word: {**EXCHANGED, "I": "you"}.get(word[0], word[0]), text)

    return _answered(rules, said, exchange=exchange, flags=0) or "Please go on."


@eliza.misconception("Which words did the patient say, and which are the rule's? Print both before you exchange any.")
def whole_answer_exchanged(rules, said):
    return _whole_words(_answered(rules, said, exchange=lambda text: text))


@eliza.misconception("Your answer repeats the patient's own `my` and `me`. Who is meant by them in an answer?")
def nothing_exchanged(rules, said):
    for pattern, answer in rules:
        match = re.search(pattern, said, re.IGNORECASE)
        if match:
            return answer.format(*match.groups())
