"""Hidden tests of `build_vocab`: ids by frequency and alphabet, and one for unknown words."""

from collections import Counter

from course.exercise import call, exercise
from course.hidden.cbow.scaffold import bananas, words
from course.reference import cbow as reference


@exercise(
    reference.build_vocab,
    hints=(
        "Number the words of `b a c b a b` on paper. Which ids do a, b and c get, and which id does none of them get?",
        "Two words are equally frequent. Which one should come first? Try `sorted` on pairs with equal first numbers.",
        "Begin without numbers. Make the list of words in the order that you want, for a text of six words, and "
        "print each word with its count. Then leave out the rare ones, and number what is left.",
    ),
    calls=(
        "build_vocab(['b', 'a', 'b'])",
        "build_vocab(['b', 'a'])",
        "build_vocab(['a', 'b', 'a', 'c', 'c'])",
        "build_vocab(['a', 'a', 'b'], min_count=2)",
        "build_vocab([])",
        "build_vocab(['d', 'c', 'b', 'a'])",
    ),
)
def build_vocab(rng):
    """Counts that differ, ties against the order of appearance, a threshold met exactly, capitals, nothing at all."""
    yield call("the lecture's three sentences", bananas(), public=True)
    yield call("words that occur once are left out", bananas(), min_count=2, public=True)
    yield call("ties against the order of appearance", words("d c b a b c d a e e f"))
    yield call("a threshold that some words meet exactly", words("x y x z y x w w z z x"), 3)
    yield call("capitals make another word", words("The the THE the dog The"))
    yield call("no word is frequent enough", words("a b c"), min_count=2).counts_with("the lecture's three sentences")
    yield call("no tokens", []).counts_with("the lecture's three sentences")
    letters = [rng.choice("abcdefghijk") + rng.choice("xyz") for _ in range(97)]
    yield call("a longer text", letters, min_count=3)


def _numbered(ranked):
    return {word: index for index, word in enumerate(["<unk>", *ranked])}


def _frequent(tokens, min_count):
    return {word: count for word, count in Counter(tokens).items() if count >= min_count}


@build_vocab.misconception(
    "Which id should a word get that is not in the vocabulary? The docstring keeps one free for it."
)
def no_place_for_the_unknown(tokens, min_count=1):
    return {word: index - 1 for word, index in reference.build_vocab(tokens, min_count).items() if index}


@build_vocab.misconception("Is the most frequent word the first one? When should the alphabet decide?")
def alphabetical(tokens, min_count=1):
    return _numbered(sorted(_frequent(tokens, min_count)))


@build_vocab.misconception("Reverse the text. Should its vocabulary change? What decides between equal counts?")
def ties_by_appearance(tokens, min_count=1):
    counts = Counter(_frequent(tokens, min_count))
    return _numbered(word for word, _ in counts.most_common())


@build_vocab.misconception(
    "Sorting pairs in reverse order reverses both parts of a pair. Which of two words with equal counts comes "
    "first in yours?"
)
def ties_backwards(tokens, min_count=1):
    counts = _frequent(tokens, min_count)
    return _numbered(sorted(counts, key=lambda word: (counts[word], word), reverse=True))


build_vocab.mistakes(
    "Your ids follow the order in which words first appear. Reverse the text. Should the ids change?",
    by_appearance_and_nothing_left_out=lambda tokens, min_count=1: _numbered(dict.fromkeys(tokens)),
)


@build_vocab.misconception(
    "Print each word of your dict with its id and its count. Which end of the list has the frequent words?"
)
def rarest_first(tokens, min_count=1):
    counts = _frequent(tokens, min_count)
    return _numbered(sorted(counts, key=lambda word: (counts[word], word)))


@build_vocab.misconception("How many words of your dict have the number 1? Can you tell words apart that share an id?")
def counts_for_ids(tokens, min_count=1):
    return {"<unk>": 0} | _frequent(tokens, min_count)


@build_vocab.misconception(
    "Take a word that occurs exactly min_count times. Does the docstring keep it? Does your function?"
)
def above_the_threshold_only(tokens, min_count=1):
    return reference.build_vocab(tokens, min_count + 1)
