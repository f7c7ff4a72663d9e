"""Hidden tests of `bag_of_words`: a row of word counts for each sentence."""

import torch

from course.exercise import call, exercise
from course.hidden.cbow.scaffold import bananas, words
from course.reference import cbow as reference


@exercise(
    reference.bag_of_words,
    hints=(
        "Each sentence has a row, and each id has a column. What should each row sum to?",
        "Count `say yes for bananas bananas` by hand, with a vocabulary that does not have `say`. Which column "
        "counts it, and which column holds more than a one?",
        "Begin with a table of zeros of the right shape. Take one sentence and one word of it, and add one at the "
        "right place. Print the table, and then visit all words of all sentences.",
    ),
    calls=(
        "bag_of_words([['a', 'b'], ['b', 'b']], {'<unk>': 0, 'a': 1, 'b': 2})",
        "bag_of_words([['a', 'c']], {'<unk>': 0, 'a': 1, 'b': 2})",
        "bag_of_words([['c', 'c', 'c']], {'<unk>': 0, 'a': 1})",
        "bag_of_words([[], ['a']], {'<unk>': 0, 'a': 1})",
        "bag_of_words([['a'], ['b']], {'<unk>': 0, 'a': 1, 'b': 2})",
        "bag_of_words([['b', 'a', 'b']], {'<unk>': 0, 'a': 1, 'b': 2})",
    ),
)
def bag_of_words(rng):
    """Integer or float counts pass. Repeated words, unknown words, ids that are not in the order of the dict."""

    def case(title, sentences, vocab, **options):
        return call(title, sentences, vocab, **options).call(on="out", method="double", into="out")

    lecture = [words(s) for s in ("yes , we have no bananas", "say yes for bananas", "no bananas , we say")]
    yield case("the lecture's table", lecture, reference.build_vocab(bananas()), public=True)
    known = {"<unk>": 0, "no": 1, "yes": 2}
    repeated = [words("no no no yes"), words("maybe No no maybe")]
    yield case("repeated and unknown words", repeated, known, public=True)
    yield case("columns go by id", [words("b a c b"), words("c c")], {"c": 2, "<unk>": 0, "b": 3, "a": 1})
    yield case("an empty sentence", [[], words("yes no no"), []], known)
    parts = {"<unk>": 0, "a": 1, "an": 2, "ban": 3, "banana": 4}
    yield case("words within words", [words("banana an a"), words("bananas ban an an")], parts)
    yield case("one word, and a vocabulary that knows more", [["no"]], known)
    yield case("nothing known", [["a", "b"], ["c"], ["d", "e", "f"]], {"<unk>": 0})
    text = [[rng.choice("abcdefg") for _ in range(13)] for _ in range(5)]
    yield case("longer sentences", text, reference.build_vocab([w for s in text for w in s], min_count=8))


_counted = reference.bag_of_words


@bag_of_words.misconception("How often does `no no no` hold its word? And what does your table say?")
def presence_for_counts(sentences, vocab):
    return _counted(sentences, vocab).clamp(max=1)


@bag_of_words.misconception("Sum your rows. A word that the vocabulary does not have is still a word of the sentence.")
def unknown_words_dropped(sentences, vocab):
    return _counted([[word for word in sentence if word in vocab] for sentence in sentences], vocab)


@bag_of_words.misconception("What happens at a word that is not in the vocabulary? Which id stands for it?")
def unknown_words_crash(sentences, vocab):
    table = torch.zeros(len(sentences), len(vocab), dtype=torch.long)
    for row, sentence in zip(table, sentences):
        for word in sentence:
            row[vocab[word]] += 1
    return table


@bag_of_words.misconception("Print your table after the first sentence alone. Which of its rows have changed?")
def one_row_for_all(sentences, vocab):
    return _counted(sentences, vocab).sum(0).expand(len(sentences), -1)


@bag_of_words.misconception("How often is `an` a word of `an old banana`? How often does your function find it there?")
def words_within_words(sentences, vocab):
    table = torch.zeros(len(sentences), len(vocab), dtype=torch.long)
    for row, sentence in zip(table, sentences):
        for word, index in vocab.items():
            row[index] = " ".join(sentence).count(word)
        row[0] = len(sentence) - row[1:].sum()
    return table


@bag_of_words.misconception("Your rows are shares of a whole. How many times does each word occur?")
def shares_for_counts(sentences, vocab):
    counts = _counted(sentences, vocab).double()
    return counts / counts.sum(1, keepdim=True).clamp(min=1)


@bag_of_words.misconception(
    "In which column should the word with id 2 stand? Print the dict and your columns side by side."
)
def columns_by_order_of_the_dict(sentences, vocab):
    return _counted(sentences, {"<unk>": 0} | {word: index for index, word in enumerate(vocab)})
