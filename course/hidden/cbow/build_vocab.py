"""Hidden tests of `build_vocab`: ids by frequency and alphabet, and one for unknown words."""

from collections import Counter

from course.exercise import call, exercise
from course.hidden.cbow.scaffold import bananas, words
from course.reference import cbow as reference


@exercise(
    reference.build_vocab,
    hints=(
        "Do it on paper for: b a c b a b. Which three ids do a, b and c get, and which id is nobody's?",
        "Two words are equally frequent. What decides which comes first, and what does Python's sorted do with pairs?",
        "Where does a word go that occurs fewer than min_count times? And one that occurs exactly so often?",
    ),
)
def build_vocab(rng):
    """Counts that differ, ties against the order of appearance, a threshold met exactly, capitals, nothing at all."""
    yield call("the lecture's three sentences", bananas(), public=True)
    yield call("words that occur once are left out", bananas(), min_count=2, public=True)
    yield call("ties against the order of appearance", words("d c b a b c d a e e f"))
    yield call("a threshold that some words meet exactly", words("x y x z y x w w z z x"), 3)
    yield call("capitals make another word", words("The the THE the dog The"))
    yield call("nobody is frequent enough", words("a b c"), min_count=2).counts_with("the lecture's three sentences")
    yield call("no tokens", []).counts_with("the lecture's three sentences")
    letters = [rng.choice("abcdefghijk") + rng.choice("xyz") for _ in range(97)]
    yield call("a longer text", letters, min_count=3)


def _numbered(ranked):
    return {word: index for index, word in enumerate(["<unk>", *ranked])}


def _frequent(tokens, min_count):
    return {word: count for word, count in Counter(tokens).items() if count >= min_count}


@build_vocab.misconception("Which id will a word get that you have never seen? The docstring keeps one free for it.")
def no_place_for_the_unknown(tokens, min_count=1):
    return {word: index - 1 for word, index in reference.build_vocab(tokens, min_count).items() if index}


@build_vocab.misconception("Is the most frequent word the first one? Alphabetical order is only for ties.")
def alphabetical(tokens, min_count=1):
    return _numbered(sorted(_frequent(tokens, min_count)))


@build_vocab.misconception("Turn the text round: should its vocabulary change? What decides between equal counts?")
def ties_by_appearance(tokens, min_count=1):
    counts = Counter(_frequent(tokens, min_count))
    return _numbered(word for word, _ in counts.most_common())


@build_vocab.misconception(
    "Sorting pairs backwards turns both halves round. Look at two words of equal count: which comes first?"
)
def ties_backwards(tokens, min_count=1):
    counts = _frequent(tokens, min_count)
    return _numbered(sorted(counts, key=lambda word: (counts[word], word), reverse=True))


@build_vocab.misconception("Which words have the id 0 in your dict? Two words of one id can never be told apart again.")
def the_first_word_shares_zero(tokens, min_count=1):
    ranked = list(reference.build_vocab(tokens, min_count))[1:]
    return {"<unk>": 0} | {word: index for index, word in enumerate(ranked)}


@build_vocab.misconception("How many keys has your dict? A word that is too rare is to have none of its own.")
def rare_words_named_unknown(tokens, min_count=1):
    return dict.fromkeys(tokens, 0) | reference.build_vocab(tokens, min_count)


@build_vocab.misconception("Numbers by first appearance: what would the same text give if it began elsewhere?")
def by_appearance_alone(tokens, min_count=1):
    return _numbered(_frequent(tokens, min_count))


@build_vocab.misconception("A word that occurs exactly min_count times: is it in or out? Read the docstring once more.")
def above_the_threshold_only(tokens, min_count=1):
    return reference.build_vocab(tokens, min_count + 1)
