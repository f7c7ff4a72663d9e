"""Hidden tests of `wordpiece_encode`: the longest piece from the left, or nothing at all."""

from __future__ import annotations

from course.exercise import call, exercise
from course.reference import tokens as reference

VOCAB = {"hug", "p", "pu", "un", "##g", "##gs", "##n", "##ning", "##s", "##u", "##un", "[UNK]"}


@exercise(
    reference.wordpiece_encode,
    hints=(
        "Cut `pugs` by hand, with the pieces p, pu, ##g, ##gs, ##s and ##u. Which piece comes first?",
        "Where in the word may a piece with ## stand, and where one without? What does BERT get if a single letter of "
        "the word fits nowhere?",
        "Begin with an empty list of pieces and a start of 0. Print all pieces of the set that fit at the start. Which "
        "one do you take, and where does the next one start?",
    ),
    calls=(
        "wordpiece_encode('hugs', {'hug', '##s'})",
        "wordpiece_encode('hugs', {'h', 'hug', '##u', '##gs', '##s'})",
        "wordpiece_encode('hugs', {'hug', 's'})",
        "wordpiece_encode('abab', {'ab', '##ab', '##a', '##b'})",
        "wordpiece_encode('abc', {'ab', 'a', '##bc'})",
        "wordpiece_encode('aa', {'a'})",
    ),
)
def wordpiece_encode(rng):
    """Words where the longest piece leads into a dead end; pieces known only at the start, or only inside."""
    yield call("two pieces", "pugs", VOCAB, public=True)
    yield call("a letter that fits nowhere", "hugz", VOCAB, public=True)
    yield call("the whole word is a piece", "hug", VOCAB)
    yield call("a piece that is known only inside", "gs", VOCAB).counts_with("many drawn words")
    yield call("a piece that is known only at the start", "punhug", VOCAB).counts_with("many drawn words")
    dead = {"a", "ab", "abc", "##bcd", "##cd", "##c", "##e"}
    yield call("a shorter piece would have led on", "abcd", dead, weight=2.0).counts_with("many drawn words")
    yield call("capitals are other letters", "Pug", VOCAB, weight=0.5).counts_with("many drawn words")
    yield call("the unknown need not be in the vocabulary", "xyz", {"x", "##y"}).counts_with("many drawn words")
    yield call("a word of 230 letters", "un" + 57 * "ning", VOCAB, public=True)
    # Whoever looks for `##b` in the vocabulary letter by letter finds `#`, and `#b` behind it.
    yield call("pieces made of the mark", "ab", {"a", "#", "###b"}).counts_with("many drawn words")
    yield call("accents", "née", {"n", "né", "##é", "##e", "##ée"})
    yield call("no letters", "", VOCAB, weight=0.25).counts_with("many drawn words")
    yield (
        call("many drawn words", *_drawn(rng), weight=3.0)
        .map([_drawn(rng) for _ in range(40)], on="answer", into="words")
    )  # fmt: skip


def _drawn(rng):
    """A word, and pieces of two letters of which some are missing."""
    made = ["".join(rng.choice("ab") for _ in range(int(rng.integers(1, 4, 1)))) for _ in range(9)]
    vocab = {"a", "##a", "##b", *(rng.choice(["", "##"]) + piece for piece in made)}
    return "".join(rng.choice("ab") for _ in range(7)), vocab


def _walk(word, vocab, *, shortest=False, first="", inside="##", stuck=None):
    """The loop of the reference; `stuck` says what becomes of a place where no piece fits."""
    pieces, start = [], 0
    while start < len(word):
        mark = inside if start else first
        ends = range(start + 1, len(word) + 1)
        fitting = [end for end in ends if mark + word[start:end] in vocab]
        if not fitting:
            if stuck is None:
                return ["[UNK]"]
            if stuck == "append":
                return [*pieces, "[UNK]"]
            pieces.append("[UNK]")
            start += 1
            continue
        end = fitting[0] if shortest else fitting[-1]
        pieces.append(mark + word[start:end])
        start = end
    return pieces


wordpiece_encode.mistakes(
    "What does BERT get if a letter of the word fits nowhere? Is anything of the word left?",
    unknown_only_at_the_place=lambda word, vocab: _walk(word, vocab, stuck="skip"),
    unknown_after_the_known=lambda word, vocab: _walk(word, vocab, stuck="append"),
)
wordpiece_encode.mistakes(
    "Which pieces carry `##`, those at the beginning of a word or those inside? Print `pugs` piece by piece.",
    marked_at_the_beginning=lambda word, vocab: _walk(word, vocab, first="##"),
    not_marked_inside=lambda word, vocab: _walk(word, vocab, inside=""),
)
wordpiece_encode.mistakes(
    "Encode a word of 230 letters. Does the text set a limit to the length of a word?",
    long_words_unknown=lambda word, vocab: _walk(word, vocab) if len(word) <= 100 else ["[UNK]"],
)


@wordpiece_encode.misconception(
    "Encode `ab` with the pieces a, # and ###b, and print what is left after each piece. Does a `#` of the rest belong "
    "to the word?"
)
def mark_read_as_letters(word, vocab):
    pieces = []
    while word:
        end = next((end for end in range(len(word), 0, -1) if word[:end] in vocab), None)
        if end is None or len(pieces) > 300:  # with the pieces a and # it never ends
            return ["[UNK]"]
        pieces.append(word[:end])
        word = f"##{word[end:]}" if word[end:] else ""
    return pieces


wordpiece_encode.mistakes(
    "Two pieces fit at the same place. Which one does your loop meet first?",
    the_shortest_piece=lambda word, vocab: _walk(word, vocab, shortest=True),
)


@wordpiece_encode.misconception("Your function went back and tried a shorter piece. Does the text say that it may?")
def tries_again(word, vocab, start=0):
    if start == len(word):
        return []
    mark = "##" if start else ""
    for end in range(len(word), start, -1):
        if mark + word[start:end] in vocab:
            rest = tries_again(word, vocab, end)
            if rest != ["[UNK]"]:
                return [mark + word[start:end], *rest]
    return ["[UNK]"]
