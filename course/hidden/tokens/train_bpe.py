"""Hidden tests of `train_bpe`: the merges of a text, in order, with its rule for ties."""

from __future__ import annotations

from collections import Counter

from course.data import words_of
from course.exercise import call, exercise
from course.hidden.tokens.scaffold import WORKED_EXAMPLE, count_without_overlaps, drawn_text, oldest, trained, words
from course.reference import tokens as reference


@exercise(
    reference.train_bpe,
    hints=(
        "Follow the table of the worked example for two merges. What must you keep from one merge to the next?",
        "Bytes are pieces 0 to 255, the first merge makes piece 256. Which of two equally common pairs is older?",
        "Begin with a `Counter` of the text's words as bytes, and do a single merge with your two functions. Print the "
        "words and the counts of pairs before it and after it. What do you need for the second merge?",
    ),
    calls=(
        "train_bpe('ab ab', 1)",
        "train_bpe('aaaa', 2)",
        "train_bpe('abc abd', 1)",
        "train_bpe('ab', 5)",
        "train_bpe('ab cd', 1)",
        "train_bpe('aab aab', 2)",
    ),
)
def train_bpe(rng):
    """Ties by age in every text; runs, accents, signs and spaces; merges that run out."""
    yield call("the worked example", WORKED_EXAMPLE, 6, public=True)
    yield call("ties, and no more than they ask for", "cd ab ba dc cd ab ba dc xyxyx yxyxy", 9, public=True)
    yield call("pairs that overlap", "aaaa bc bc", 1, public=True)
    yield call("a drawn text", drawn_text(rng, "abcde", 211), 31, weight=3.0)
    yield call("many equally common pairs", drawn_text(rng, "abcdefghijklmn", 53, 4), 23, weight=2.0)
    yield call("runs of one letter", drawn_text(rng, "aab", 67, 7), 17, weight=2.0)
    accents = drawn_text(rng, "éèñaı🙂", 41)
    yield call("accents and emoji", f"né née naïve\n{accents}\n{accents}", 29, weight=2.0)
    yield call("digits, signs and spaces", f"x_1 == 10.5;  y_1 == 7;\n\n  z += 1  {drawn_text(rng, '12_=', 31)}", 19)
    yield call("capitals, and white space at both ends", "  Ab ab AB ab\nAb\n  Ab  \n\n", 9)
    yield call("nothing is left to merge", f"{drawn_text(rng, 'ab', 5, 3)} ab", 97).counts_with("a drawn text")
    yield call("no merges", WORKED_EXAMPLE, 0, weight=0.25).counts_with("a drawn text")
    yield call("no text", "", 7, weight=0.25).counts_with("a drawn text")


@train_bpe.misconception(
    "After u·g and h·ug three pairs are equally common. Which one is the oldest, by the numbers of its pieces?"
)
def ties_to_the_first_met(text, merges):
    return trained(words(text), merges, lambda pairs, _: max(pairs, key=pairs.__getitem__))


@train_bpe.misconception("Merge u·g in `hug`. Does (h, u) still occur? Which new pair is there that you never counted?")
def counted_once(text, merges):
    pairs = reference.count_pairs(words(text))
    ranked = sorted(pairs, key=lambda pair: (-pairs[pair], pair))
    return ranked[:merges]


@train_bpe.misconception("How many pairs of neighbours has a·a·a·a? Every neighbour counts, overlapping or not.")
def no_overlaps(text, merges):
    return trained(words(text), merges, oldest, count_without_overlaps)


@train_bpe.misconception(
    "Print the first five words that you train on. Do they join to the text again, spaces included?"
)
def spaces_thrown_away(text, merges):
    return trained(Counter(reference.as_bytes(word) for word in text.split()), merges, oldest)


@train_bpe.misconception("Can a merge join the end of one word to the beginning of the next? Print your longest piece.")
def whole_text_as_one_word(text, merges):
    return trained(Counter({reference.as_bytes(text): 1}), merges, oldest)


@train_bpe.misconception("How many pieces is `é` before the first merge? Print the word as bytes.")
def characters_for_bytes(text, merges):
    counts = Counter(tuple(letter.encode() for letter in word) for word in words_of(text))

    def age(piece, number):
        return number[piece] if piece in number else ord(piece.decode())

    def best(pairs, number):
        return min(pairs, key=lambda pair: (-pairs[pair], age(pair[0], number), age(pair[1], number)))

    return trained(counts, merges, best)


@train_bpe.misconception("How often does the word `hug` stand in the worked example? Does that count in your pairs?")
def each_word_counted_once(text, merges):
    return trained(Counter(dict.fromkeys(words(text), 1)), merges, oldest)


@train_bpe.misconception(
    "You stop while a pair is left that occurs once. When does the exercise's text say that training ends?"
)
def stops_at_pairs_that_occur_once(text, merges):
    def best(pairs, number):
        pair = oldest(pairs, number)
        return pair if pairs[pair] > 1 else None

    return trained(words(text), merges, best)
