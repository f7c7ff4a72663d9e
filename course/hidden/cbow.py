"""Examiner's notes on bags of words and CBOW: vocabulary, counts, windows, loss, logits, neighbours, word vectors.

Sizes are distinct primes, so that no axis can stand in for another; one case each shows what equal sizes hide.
"""

from __future__ import annotations

import math
from collections import Counter
from functools import lru_cache

import torch
from torch.nn import functional as F

from course.data import grammar
from course.exercise import call, exercise, given_model, noncontiguous, rest_hidden
from course.reference import cbow as reference

BUILT_IN_LOSS = ("F.cross_entropy", "nn.CrossEntropyLoss")


# -- vocabulary ------------------------------------------------------------------------------------------------------


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
    yield call("the lecture's three sentences", _bananas(), public=True)
    yield call("words that occur once are left out", _bananas(), min_count=2, public=True)
    yield call("ties against the order of appearance", _words("d c b a b c d a e e f"))
    yield call("a threshold that some words meet exactly", _words("x y x z y x w w z z x"), 3)
    yield call("capitals make another word", _words("The the THE the dog The"))
    yield call("nobody is frequent enough", _words("a b c"), min_count=2).counts_with("the lecture's three sentences")
    yield call("no tokens", []).counts_with("the lecture's three sentences")
    letters = [rng.choice("abcdefghijk") + rng.choice("xyz") for _ in range(97)]
    yield call("a longer text", letters, min_count=3)


def _words(text: str) -> list[str]:
    return text.split()


def _bananas() -> list[str]:
    return _words("yes , we have no bananas say yes for bananas no bananas , we say")


def _numbered(words):
    return {word: index for index, word in enumerate(["<unk>", *words])}


def _frequent(tokens, min_count):
    return {word: count for word, count in Counter(tokens).items() if count >= min_count}


@build_vocab.misconception("Which id will a word get that you have never seen? The docstring keeps one free for it.")
def no_place_for_the_unknown(tokens, min_count=1):
    return {word: index - 1 for word, index in reference.build_vocab(tokens, min_count).items() if index}


@build_vocab.misconception("Which id does the docstring promise to <unk>? Print yours.")
def unknown_comes_last(tokens, min_count=1):
    words = list(reference.build_vocab(tokens, min_count))[1:]
    return {word: index for index, word in enumerate([*words, "<unk>"])}


@build_vocab.misconception("Print the count of the word with id 1, and the count of the last one. Which is larger?")
def rarest_first(tokens, min_count=1):
    counts = _frequent(tokens, min_count)
    return _numbered(sorted(counts, key=lambda word: (counts[word], word)))


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


@build_vocab.misconception("Try min_count=2 on a text in which one word occurs once.")
def threshold_ignored(tokens, min_count=1):
    return reference.build_vocab(tokens)


@build_vocab.misconception("Here `The` and `the` are two tokens. Who told them apart, and who put them together?")
def lower_case(tokens, min_count=1):
    return reference.build_vocab([token.lower() for token in tokens], min_count)


@build_vocab.misconception("These are counts. What is to stand beside each word is its place in the ranking.")
def counts_for_ids(tokens, min_count=1):
    return {"<unk>": 0, **_frequent(tokens, min_count)}


# -- bags ------------------------------------------------------------------------------------------------------------


@exercise(
    reference.bag_of_words,
    hints=(
        "One row a sentence, one column an id. What should each row sum to?",
        "Count `say yes for bananas bananas` by hand. Which column, if any, holds more than a one?",
        "Give it a word that the vocabulary does not have. In which column should it be counted?",
    ),
)
def bag_of_words(rng):
    """Integer or float counts pass. Repeated words, unknown words, ids that are not in the order of the dict."""

    def case(title, sentences, vocab, **options):
        return call(title, sentences, vocab, **options).call(on="out", method="double", into="out")

    lecture = [_words(s) for s in ("yes , we have no bananas", "say yes for bananas", "no bananas , we say")]
    yield case("the lecture's table", lecture, reference.build_vocab(_bananas()), public=True)
    known = {"<unk>": 0, "no": 1, "yes": 2}
    yield case(
        "repeated and unknown words",
        [_words("no no no yes"), _words("maybe no maybe")],
        known,
        public=True,
    )
    yield case("columns go by id", [_words("b a c b"), _words("c c")], {"c": 2, "<unk>": 0, "b": 3, "a": 1})
    yield case("an empty sentence", [[], _words("yes no no"), []], known)
    parts = {"<unk>": 0, "a": 1, "an": 2, "ban": 3, "banana": 4}
    yield case("words within words", [_words("banana an a"), _words("bananas ban an an")], parts)
    yield case("one word, and a vocabulary that knows more", [["no"]], known)
    yield case("nothing known", [["a", "b"], ["c"], ["d", "e", "f"]], {"<unk>": 0})
    text = [[rng.choice("abcdefg") for _ in range(13)] for _ in range(5)]
    yield case("longer sentences", text, reference.build_vocab([w for s in text for w in s], min_count=8))


def _counted(sentences, vocab):
    return reference.bag_of_words(sentences, vocab)


@bag_of_words.misconception("`no no no`: how often does it hold the word? And what does your table say?")
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


@bag_of_words.misconception("How often is `an` a word of `an old banana`? How often does your function find it there?")
def words_within_words(sentences, vocab):
    table = torch.zeros(len(sentences), len(vocab), dtype=torch.long)
    for row, sentence in zip(table, sentences):
        for word, index in vocab.items():
            row[index] = " ".join(sentence).count(word)
        row[0] = len(sentence) - row[1:].sum()
    return table


@bag_of_words.misconception("These are shares. How many times does each word occur?")
def shares_for_counts(sentences, vocab):
    counts = _counted(sentences, vocab).double()
    return counts / counts.sum(1, keepdim=True).clamp(min=1)


@bag_of_words.misconception("These are shares. How many times does each word occur? And what are shares of nothing?")
def shares_even_of_nothing(sentences, vocab):
    counts = _counted(sentences, vocab).double()
    return counts / counts.sum(1, keepdim=True)


@bag_of_words.misconception("The lecture draws a word as a row, the docstring wants a sentence as a row.")
def words_as_rows(sentences, vocab):
    return _counted(sentences, vocab).T


@bag_of_words.misconception("In which column does the word with id 2 stand? The ids decide, not the order of the dict.")
def columns_by_order_of_the_dict(sentences, vocab):
    return _counted(sentences, {"<unk>": 0} | {word: index for index, word in enumerate(vocab)})


@bag_of_words.misconception("Compare your first row with the counts of the first sentence alone.")
def rows_add_up(sentences, vocab):
    return _counted(sentences, vocab).cumsum(0)


@bag_of_words.misconception("Column 0 is for unknown words, and it has a place in the table. How many columns is that?")
def no_column_for_the_unknown(sentences, vocab):
    return _counted(sentences, vocab)[:, 1:]


# -- windows ---------------------------------------------------------------------------------------------------------


@exercise(
    reference.context_windows,
    hints=(
        "Write the letters a b c d e f on paper, radius 2. Which have two on both sides? What are their contexts?",
        "Call it with ids 0 … 6: every context can be checked against its target by eye.",
        "What is the first target, and what the last? T − 2r of them, from place r to place T − r − 1.",
    ),
)
def context_windows(rng):
    """Ids all different, so that a place shows; then repetitions, a text of one window, of none, too short."""
    yield call("ids in order, radius 1", torch.arange(10, 17), 1, public=True)
    yield call("ids in order, radius 2", torch.arange(20, 31), 2, public=True, weight=2.0)
    yield call("a mixed text, radius 3", rng.permutation(17), 3, weight=2.0)
    again = torch.tensor([3, 1, 3, 4, 1])  # a centre that stands before itself, too
    yield call("repeated words", torch.cat([again, rng.integers(0, 5, 18)]), 2)
    yield call("exactly one window", rng.permutation(5), 2)
    yield call("the shortest text of radius one", rng.permutation(3), 1)
    yield call("no word has all its neighbours", torch.arange(4), 2).counts_with("ids in order, radius 1")
    yield call("memory that is not contiguous", torch.arange(38)[::2], 3, public=True)
    yield call("too short a text", torch.arange(3), 2, raises="ValueError")


def _around(ids, radius, before, after):
    """Places relative to each centre."""
    if len(ids) < 2 * radius:
        raise ValueError("too short")
    centres = torch.arange(radius, max(radius, len(ids) - radius))
    return ids[(centres[:, None] + torch.tensor([*before, *after])).clamp(min=0)], ids[centres]


@context_windows.misconception(
    "Suspiciously easy: could the target be read off its own context? Print one beside the other."
)
def centre_included(ids, radius):
    return _around(ids, radius, range(-radius, 1), range(1, radius + 1))


@context_windows.misconception(
    "Your contexts have the right width, and hold their own target. Which word has fallen out instead?"
)
def centre_for_the_last_word(ids, radius):
    return _around(ids, radius, range(-radius, 0), range(radius))


@context_windows.misconception(
    "Take the text a b a c and radius 1. A centre is a place: what if the same word stands beside it, or before it?"
)
def centre_removed_by_its_value(ids, radius):
    if len(ids) < 2 * radius:
        raise ValueError("too short")
    rows = []
    for t in range(radius, len(ids) - radius):
        window = ids[t - radius : t + radius + 1].tolist()
        window.remove(int(ids[t]))
        rows.append(window)
    return torch.tensor(rows, dtype=torch.long).reshape(-1, 2 * radius), ids[radius : len(ids) - radius].clone()


@context_windows.misconception("Print the context of one word. Where are the words to its right?")
def words_before_only(ids, radius):
    if len(ids) < 2 * radius:
        raise ValueError("too short")
    windows = ids.unfold(0, 2 * radius + 1, 1) if len(ids) > 2 * radius else ids.new_zeros(0, 2 * radius + 1)
    return windows[:, :-1], windows[:, -1]


@context_windows.misconception("From left to right, says the docstring. In which order does your left half stand?")
def nearest_word_first(ids, radius):
    return _around(ids, radius, range(-1, -radius - 1, -1), range(1, radius + 1))


@context_windows.misconception("From left to right, says the docstring. Read one of your contexts aloud.")
def right_to_left(ids, radius):
    return _around(ids, radius, range(radius, 0, -1), range(-1, -radius - 1, -1))


@context_windows.misconception(
    "How many windows do you return for T words? The first word lacks neighbours on its left, so it is no target."
)
def padded_at_the_ends(ids, radius):
    if len(ids) < 2 * radius:
        raise ValueError("too short")
    padded = F.pad(ids, (radius, radius))
    return reference.context_windows(padded, radius)[0], ids.clone()


@context_windows.misconception(
    "Who are the left neighbours of the first word? Are the last words of the text among them?"
)
def wrapped_around(ids, radius):
    if len(ids) < 2 * radius:
        raise ValueError("too short")
    return reference.context_windows(torch.cat([ids[-radius:], ids, ids[:radius]]), radius)[0], ids.clone()


@context_windows.misconception("Count the windows of a text of 2r + 1 words by hand. How many does yours find?")
def last_window_lost(ids, radius):
    contexts, targets = reference.context_windows(ids, radius)
    return contexts[:-1], targets[:-1]


@context_windows.misconception("CBOW guesses one word from many. Which of your two results has more columns?")
def targets_before_contexts(ids, radius):
    return reference.context_windows(ids, radius)[::-1]


@context_windows.misconception("Every window once, each starting one word after the last. How many do you skip?")
def windows_do_not_overlap(ids, radius):
    contexts, targets = reference.context_windows(ids, radius)
    return contexts[:: 2 * radius + 1], targets[:: 2 * radius + 1]


@context_windows.misconception(
    "Three words and radius 2: whose context could be complete? The docstring names an error."
)
def short_texts_accepted(ids, radius):
    if len(ids) < 2 * radius:
        return ids.new_zeros(0, 2 * radius), ids.new_zeros(0)
    return reference.context_windows(ids, radius)


# -- loss ------------------------------------------------------------------------------------------------------------


@exercise(
    reference.cross_entropy,
    hints=(
        "With all scores equal your loss must be log V, whatever V is. Is it?",
        "What is the probability of the target when the scores are [0, 10000]? And its logarithm, on a computer?",
        "Write log(exp(z_y) / sum exp(z)) as a difference. Which of its two terms overflows?",
    ),
    forbidden=BUILT_IN_LOSS,
)
def cross_entropy(rng):
    """Values and gradients, B and V different and once equal; huge scores, where only a stable form survives.

    The first of these costs nothing, so that what overflows is told from what loses small probabilities.
    """
    yield call("a small batch", 2 * rng.normal(3, 5), torch.tensor([4, 0, 2]), public=True)
    huge = torch.tensor([[1e4, -1e4, 0.0], [0.0, 5e3, -1e4]], dtype=torch.float64)
    yield call("scores of ±10,000", huge, torch.tensor([0, 0]), public=True, grad=False)
    yield call("as many rows as words", 2 * rng.normal(5, 5), rng.permutation(5), weight=2.0)
    every = torch.cat([rng.permutation(7), rng.integers(0, 7, 6)])
    yield call("a larger batch", 3 * rng.normal(13, 7), every, weight=2.0)
    yield call("a batch of one", rng.normal(1, 11), torch.tensor([7]))
    yield call("two words", rng.normal(7, 2), rng.integers(0, 2, 7))
    yield call("scores far from zero", 500.0 + rng.normal(3, 5), rng.integers(0, 5, 3))
    sure = torch.full((2, 3), -1e4, dtype=torch.float64)
    sure[:, 1] = 1e4
    yield call("sure and right, sure and wrong", sure, torch.tensor([1, 2]), grad=False)
    yield call("float32", rng.normal(5, 3, dtype=torch.float32), rng.integers(0, 3, 5), public=True)
    yield call("memory that is not contiguous", noncontiguous(rng.normal(3, 5)), rng.integers(0, 5, 3), public=True)


def _log_softmax(logits, dim=1):
    return logits - logits.logsumexp(dim, keepdim=True)


def _chosen(values, targets):
    return values[torch.arange(len(targets)), targets]


@cross_entropy.misconception(
    "Softmax has been applied before your loss applies it again. Is [10, 0] a score or a probability, to your function?"
)
def softmax_twice(logits, targets):
    return reference.cross_entropy(torch.softmax(logits, 1), targets)


@cross_entropy.misconception(
    "Print the exponentials and their sum, row by row, for scores of ±10,000. What is the one divided by the other?"
)
def overflows(logits, targets):
    return -(_chosen(logits.exp(), targets) / logits.exp().sum(1)).log().mean()


@cross_entropy.misconception(
    "Print the probability of a target that lies 10,000 below the best score, then its logarithm. When was it lost?"
)
def logarithm_of_zero(logits, targets):
    return -_chosen(torch.softmax(logits, 1), targets).log().mean()


ONE_MAXIMUM = (
    "One row has scores up to 10,000, another up to 5,000. Print what is left of each when your maximum is taken off, "
    "and the sum of its exponentials."
)
"""The hint to who takes the largest score of all off every row."""


@cross_entropy.misconception(ONE_MAXIMUM)
def one_maximum_for_the_batch(logits, targets):
    shifted = logits - logits.max()
    return (shifted.exp().sum(1).log() - _chosen(shifted, targets)).mean()


@cross_entropy.misconception(ONE_MAXIMUM)
def one_maximum_for_the_batch_and_no_difference(logits, targets):
    shifted = (logits - logits.max()).exp()
    return -(_chosen(shifted, targets) / shifted.sum(1)).log().mean()


@cross_entropy.misconception(
    "Add 5 to a whole row: should its loss change? Print your terms before and after: which of them have moved?"
)
def maximum_not_added_back(logits, targets):
    shifted = logits - logits.amax(1, keepdim=True)
    return (shifted.exp().sum(1).log() - _chosen(logits, targets)).mean()


AT_MOST = "Scores of [0, 10000] and target 0 cost 10,000. What is the most that your loss can ever say, and why?"
"""The hint to who takes no logarithm of zero."""


def _with_a_little_added(epsilon):
    return lambda logits, targets: -(_chosen(torch.softmax(logits, 1), targets) + epsilon).log().mean()


for exponent in (5, 6, 7, 8, 9, 12):
    wrong = _with_a_little_added(10.0**-exponent)
    cross_entropy.misconception(AT_MOST, name=f"probabilities_plus_1e_{exponent}")(wrong)


@cross_entropy.misconception(AT_MOST)
def clipped_probabilities(logits, targets):
    return -_chosen(torch.softmax(logits, 1), targets).clamp(min=1e-10).log().mean()


@cross_entropy.misconception(
    "Print the shape of what you take the mean of. How many targets has a row, and how many do you look up?"
)
def every_target_of_every_row(logits, targets):
    return -_log_softmax(logits)[:, targets].mean()


@cross_entropy.misconception(
    "What does your loss say when the target has probability 1, and what when it has none? What should it say?"
)
def no_logarithm(logits, targets):
    return -_chosen(torch.softmax(logits, 1), targets).mean()


@cross_entropy.misconception("Does doubling the batch, with the same rows again, double your loss?")
def sum_for_mean(logits, targets):
    return reference.cross_entropy(logits, targets) * len(targets)


@cross_entropy.misconception("Which numbers must sum to one: those of a row, or those of a column? Try a batch of one.")
def softmax_over_the_batch(logits, targets):
    return -_chosen(_log_softmax(logits, 0), targets).mean()


@cross_entropy.misconception(
    "Your loss goes down as the model gets worse. What sign has the logarithm of a probability?"
)
def sign_forgotten(logits, targets):
    return -reference.cross_entropy(logits, targets)


@cross_entropy.misconception("Nothing pushes the other scores down here. Add 5 to a whole row: should the loss change?")
def scores_not_normalised(logits, targets):
    return -_chosen(logits, targets).mean()


@cross_entropy.misconception("With all V scores equal the loss must be log V. By which factor is yours too small?")
def mean_over_all_words(logits, targets):
    return reference.cross_entropy(logits, targets) / logits.shape[1]


@cross_entropy.misconception("Natural logarithms in this course: what is your loss for two equal scores, 1 or 0.69?")
def base_two(logits, targets):
    return reference.cross_entropy(logits, targets) / math.log(2)


@cross_entropy.misconception(
    "The mean of logarithms, or the logarithm of a mean? Targets with probabilities 1/2 and 1/8 cost 1.39 on average."
)
def logarithm_of_the_mean(logits, targets):
    return -_chosen(torch.softmax(logits, 1), targets).mean().log()


@cross_entropy.misconception(
    "With all V scores equal the loss must be log V. What is yours, and how are the two related?"
)
def perplexity_for_loss(logits, targets):
    return reference.cross_entropy(logits, targets).exp()


@cross_entropy.misconception("Is there a target whose cost never counts? Try a batch in which all targets are 0.")
def target_zero_taken_for_padding(logits, targets):
    losses = logits.logsumexp(1) - _chosen(logits, targets)
    return losses[targets != 0].mean()


@cross_entropy.misconception("A loss is one number. What does the docstring say about the batch?")
def one_loss_a_row(logits, targets):
    return logits.logsumexp(1) - _chosen(logits, targets)


# -- logits ----------------------------------------------------------------------------------------------------------


@exercise(
    reference.cbow_logits,
    hints=(
        "Write the shape beside each step: (B, C) ids, looked up in E, become what? Which axis has to go?",
        "A context of the same word four times: its bag is that word's vector, neither longer nor shorter.",
        "Three tables, three roles: set W to zero, then b, then E, and say what must come out each time.",
    ),
)
def cbow_logits(rng):
    """B, C, V, D distinct; then B = C, where the wrong mean fits; repeated words; one word; gradients of all three."""

    def inputs(B, C, V, D, dtype=torch.float64):
        tables = (rng.normal(*shape, dtype=dtype) for shape in ((V, D), (V, D), (V,)))
        return rng.integers(0, V, B, C), *tables

    yield call("a small batch", *inputs(2, 4, 11, 3), public=True, weight=2.0)
    yield call("as many contexts as words in one", *inputs(4, 4, 7, 5), public=True)
    yield call("six words around", *inputs(5, 6, 13, 7), weight=2.0)
    contexts, E, W, b = inputs(3, 4, 5, 2)
    contexts[:, 1:] = contexts[:, :1]
    yield call("the same word four times", contexts, E, W, b)
    yield call("a batch of one", *inputs(1, 2, 7, 3))
    yield call("a context of one word", *inputs(5, 1, 3, 2))
    yield call("as many words as dimensions", *inputs(3, 2, 5, 5))
    yield call("float32", *inputs(3, 4, 7, 5, dtype=torch.float32), public=True)
    contexts, E, W, b = inputs(5, 2, 7, 3)
    yield call("memory that is not contiguous", *(noncontiguous(x) for x in (contexts, E, W, b)), public=True)


def _scored(h, W, b):
    return h @ W.T + b


@cbow_logits.misconception("Read the context [a, a, a, a]. Should its vector be four times as long as that of [a]?")
def sum_of_the_context(contexts, E, W, b):
    return _scored(E[contexts].sum(1), W, b)


@cbow_logits.misconception("Change a word of the context slightly: must the bag follow, even if another one is larger?")
def maximum_of_the_context(contexts, E, W, b):
    return _scored(E[contexts].amax(1), W, b)


@cbow_logits.misconception("How many tables has the model? Set W to zero: what should be left of the logits?")
def E_in_place_of_W(contexts, E, W, b):
    return _scored(E[contexts].mean(1), E + 0 * W, b)


@cbow_logits.misconception("Which table holds the vectors of the words around, and which those of the word to guess?")
def W_in_place_of_E(contexts, E, W, b):
    return _scored((W + 0 * E)[contexts].mean(1), W, b)


@cbow_logits.misconception(
    "Two tables, and you have taken each for the other. Which one do the context's words come from?"
)
def tables_exchanged(contexts, E, W, b):
    return _scored(W[contexts].mean(1), E, b)


@cbow_logits.misconception(
    "Write the shapes of bag and W under your product. Which axis of W stands for the word, and which meets the bag?"
)
def W_not_transposed(contexts, E, W, b):
    return E[contexts].mean(1) @ W + b


@cbow_logits.misconception("Set E to zero: frequent words should still be likelier than rare ones. Who says so?")
def no_bias(contexts, E, W, b):
    return E[contexts].mean(1) @ W.T + 0 * b


@cbow_logits.misconception("Call it with one context, then with the same one beside others. May its logits change?")
def mean_over_the_batch(contexts, E, W, b):
    return _scored(E[contexts].mean(0), W, b)


@cbow_logits.misconception(
    "How many layers has this model, and what stands between them? Can a bag have a negative entry?"
)
def a_relu_between(contexts, E, W, b):
    return _scored(E[contexts].mean(1).relu(), W, b)


@cbow_logits.misconception("Change the first word of the context: do your logits move?")
def last_word_only(contexts, E, W, b):
    return _scored(E[contexts][:, -1], W, b)


@cbow_logits.misconception("Scores, not probabilities: the loss will take the softmax. What do your rows sum to?")
def probabilities_for_logits(contexts, E, W, b):
    return _scored(E[contexts].mean(1), W, b).softmax(1)


@cbow_logits.misconception(
    "A word that stands there twice counts twice. Compare the contexts [a, a, b, b] and [a, a, a, b]."
)
def a_set_for_a_bag(contexts, E, W, b):
    return _scored(torch.stack([E[row.unique()].mean(0) for row in contexts]), W, b)


@cbow_logits.misconception("Double all of E, with b at zero: your logits do not double. Who took the lengths away?")
def bag_of_length_one(contexts, E, W, b):
    return _scored(F.normalize(E[contexts].mean(1), dim=1), W, b)


# -- neighbours ------------------------------------------------------------------------------------------------------


@exercise(
    reference.nearest,
    hints=(
        "Draw three arrows, two of them in nearly the same direction and of very different length. Who is near?",
        "Multiply one row of E by 100: nobody's neighbours may change.",
        "Which word is nearest of all to any word? Should it be in the list?",
    ),
)
def nearest(rng):
    """Vectors of very different lengths, so that no other measure gives the same order; k small, and everybody."""

    def words(V, D, dtype=torch.float64):
        lengths = (1.5 * rng.normal(V, 1)).exp()
        return (lengths * F.normalize(rng.normal(V, D), dim=1)).to(dtype)

    yield call("seven words, three neighbours", words(7, 3), 2, 3, public=True)
    yield call("everybody else, nearest first", words(11, 5), 0, 10, public=True, weight=2.0)
    yield call("many words", words(101, 7), 53, 13, weight=2.0)
    yield call("one neighbour", words(13, 3), 12, 1)
    yield call(
        "a long vector asks",
        words(17, 2) * torch.tensor([100.0] + 16 * [1.0])[:, None].double(),
        0,
        5,
    )
    yield call(
        "a long vector is asked for",
        words(17, 2) * torch.tensor(16 * [1.0] + [100.0])[:, None].double(),
        3,
        5,
    )
    yield call("float32", words(23, 5, dtype=torch.float32), 7, 11)
    twins = words(7, 3)
    twins[1] = twins[4]  # a cosine of one, and the earlier word of the two
    yield call("a twin that stands earlier", twins, 4, 3)
    yield call("memory that is not contiguous", noncontiguous(words(7, 5)), 1, 4, public=True)


def _ranked(similarity, index, k):
    similarity = similarity.detach().clone()
    similarity[index] = -math.inf
    return similarity.topk(k).indices


def _cosines(E, index):
    return F.cosine_similarity(E, E[index][None], dim=1).detach()


LONG_ROW = "Multiply one row of E by 100 and ask again. Does it become everybody's neighbour?"
"""The hint to who takes length for nearness."""


@nearest.misconception(LONG_ROW)
def dot_product(E, index, k):
    return _ranked(E @ E[index], index, k)


@nearest.misconception(LONG_ROW)
def dot_product_without_the_head_of_its_list(E, index, k):
    return (E @ E[index]).detach().topk(k + 1).indices[1:]


HALVED = "Halve every vector but the one that asks: have the directions changed? Has your list?"
"""The hint to who measures distances."""


@nearest.misconception(HALVED)
def euclidean_distance(E, index, k):
    return _ranked(-(E - E[index]).norm(dim=1), index, k)


@nearest.misconception(HALVED)
def euclidean_distance_without_the_head_of_its_list(E, index, k):
    return (E - E[index]).norm(dim=1).detach().argsort()[1 : k + 1]


@nearest.misconception("Print the length of each row after you have divided. Are they all 1?")
def columns_of_length_one(E, index, k):
    unit = E / E.norm(dim=0)
    return _ranked(unit @ unit[index], index, k)


@nearest.misconception("Two words have the same vector. Which of them does your list leave out? How do you know it?")
def the_head_of_the_list_left_out(E, index, k):
    return _cosines(E, index).argsort(descending=True)[1 : k + 1]


@nearest.misconception("Who is at the head of your list? Everybody is nearest to themselves.")
def self_included(E, index, k):
    return _cosines(E, index).topk(k).indices


@nearest.misconception(
    "Which cosine have you given to the word itself? Print the cosines of all, sorted: who would come behind it?"
)
def itself_at_a_cosine_of_zero(E, index, k):
    cosines = _cosines(E, index)
    cosines[index] = 0.0
    return cosines.topk(k).indices


@nearest.misconception(
    "Print your list with its cosines. Where does the nearest word stand, and should the last one be in it at all?"
)
def ascending_up_to_itself(E, index, k):
    return _cosines(E, index).argsort()[-k:]


@nearest.misconception("Print the cosines of your list, in its order. Which end is the near one?")
def farthest_first(E, index, k):
    return _ranked(_cosines(E, index), index, len(E) - 1).flip(0)[:k]


@nearest.misconception("These are the right words. Which of them is the nearest, and where does it stand?")
def right_words_in_ascending_order(E, index, k):
    return _ranked(_cosines(E, index), index, k).flip(0)


@nearest.misconception("A vector that points the other way is as far as can be. What does its cosine say?")
def sign_of_the_cosine_lost(E, index, k):
    return _ranked(_cosines(E, index).abs(), index, k)


@nearest.misconception("These are similarities. Which words do they belong to?")
def similarities_for_words(E, index, k):
    cosines = _cosines(E, index)
    return cosines[_ranked(cosines, index, k)]


@nearest.misconception("When `index` is taken out of the table, what happens to the numbers of the words after it?")
def numbers_shifted(E, index, k):
    others = torch.cat([_cosines(E, index)[:index], _cosines(E, index)[index + 1 :]])
    return others.topk(k).indices


# -- the task --------------------------------------------------------------------------------------------------------

RADIUS = 2
LOSS_MARGIN = 0.6
"""Ten trained models end 0.37 to 0.38 above the floor; one that reads only the words before, 0.81 above it."""
LARGE = 8
"""Classes of so many words count: of a smaller one five neighbours could hardly be found."""
KNOWS = "no worse than the bare frequencies"
"""The case that shows that a model has learned anything: a constant guesses nothing again, and has no order."""
NOT_MAD = "no worse than knowing nothing"
"""The case that shows that there is a model: a table of vectors without one could be copied."""


class FromTheGrammar:
    """The best that can be done with a bag, from the rules themselves: what a perfect reader would answer."""

    def __init__(self) -> None:
        self.E = _used_as()

    def __call__(self, contexts):
        return _best(contexts)


def _used_as():
    """A vector a word, (V, D): in which classes it is used."""
    table = grammar.class_table().float()
    return table + 0.01 * torch.randn(table.shape, generator=torch.Generator().manual_seed(1))


def _best(contexts):
    return _best_for(tuple(map(tuple, contexts.tolist()))).clone()


@lru_cache(maxsize=32)
def _best_for(rows):
    p = grammar.language().centre(torch.tensor(rows), ordered=False)
    return p.clamp(min=1e-12).log().float()


@lru_cache(maxsize=32)
def held_out(count, seed):
    """Windows of the judge's own, and what the best reader of a bag loses on each."""
    contexts, targets = grammar.windows(count, RADIUS, torch.Generator().manual_seed(seed))
    return contexts, targets, -_best(contexts).double().gather(1, targets[:, None]).squeeze(1)


@lru_cache(maxsize=1)
def clear_words():
    """The words of large classes only, and for all words the classes they are in."""
    table = grammar.class_table()
    small = table.sum(0) < LARGE
    rows = (table.any(1) & ~(table & small).any(1)).nonzero().squeeze(1)
    return rows, table


@exercise(
    FromTheGrammar(),
    name="cbow_task",
    hints=(
        "Print the loss of the first batch: log V is knowing nothing, 4.7 is knowing the frequencies. And of the last?",
        "Print the shapes of contexts and targets, and one of each as words. Could you have guessed the target?",
        "If the loss still falls when the budget ends, the steps are too small; if it jumps about, too large.",
    ),
)
def cbow_task(rng):
    """Loss against the bag's own floor on windows of the judge's, and neighbours by class. E is read, W is not."""
    frequencies = -grammar.language().frequencies.clamp(min=1e-12).log()
    V = len(frequencies)
    rows, kinds = clear_words()

    def asked(title, count, **options):
        """A case for windows of the judge's, without a law, then these, and what the best reader loses on each."""
        contexts, targets, floor = held_out(count, rng.seed())
        case = given_model(title, **options).call(contexts, into="logits").laws_only()
        return case, contexts, targets, floor

    def at_most(case, targets, floor, margin, known=None):
        known = floor if known is None else known
        case = case.law("log_loss_at_most", of="logits", targets=targets, known=known, margin=margin)
        return case.law("no_better_than", of="logits", targets=targets, best=floor)

    def neighbours(title, k, bar, **options):
        law = {"of": "E", "kinds": kinds, "rows": rows, "k": k, "bar": bar}
        case = given_model(title, **options).read("E").law("neighbours_alike", **law).laws_only()
        return case.counts_with(NOT_MAD)

    def nothing(targets):
        return torch.full((len(targets),), math.log(V))

    def not_again(case, contexts):
        beside = contexts[:, RADIUS]
        because = "a word that already stands in the context is guessed again: hardly any word is said twice in a row"
        law = {"of": "logits", "targets": beside, "known": frequencies[beside], "margin": -0.02, "because": because}
        return case.law("log_loss_at_least", **law)

    some, contexts, targets, floor = asked("256 windows, a loss near the floor", 256, public=True)
    yield at_most(some, targets, floor, LOSS_MARGIN + 0.5)
    rungs = (
        ("a loss not far from the floor", 1.7, floor),
        ("not far from the bare frequencies", 0.6, frequencies[targets]),
        (NOT_MAD, 0.5, nothing(targets)),
    )
    for title, margin, known in rungs:
        rung = some.judged_again(f"{title}, of 256 windows", weight=0.1).counts_with(KNOWS)
        yield at_most(rung, targets, floor, margin, known)
    again = some.judged_again("what is there is not guessed again, of 256 windows", weight=0.1).counts_with(KNOWS)
    yield not_again(again, contexts)
    scores = some.judged_again("scores, not probabilities, of 256 windows", weight=0.1).counts_with(KNOWS)
    yield scores.law("no_probabilities", of="logits")
    yield neighbours("neighbours are words of a kind", 5, 0.8, public=True)
    yield rest_hidden
    new, contexts, targets, floor = asked(f"a loss at most {LOSS_MARGIN} above the floor", 1000, weight=2.0)
    yield at_most(new, targets, floor, LOSS_MARGIN)
    yield at_most(new.judged_again("a loss at most 1.7 above the floor"), targets, floor, 1.7)
    less = new.judged_again(KNOWS)
    yield at_most(less, targets, floor, 0.03, frequencies[targets])
    new = new.counts_with(KNOWS)
    yield at_most(new.judged_again(NOT_MAD, weight=0.5), targets, floor, 0.1, nothing(targets))
    yield not_again(new.judged_again("what is there is not guessed again", weight=0.5), contexts)
    yield new.judged_again("scores, not probabilities", weight=0.5).law("no_probabilities", of="logits")
    yield neighbours("nine of ten neighbours are of a kind", 5, 0.9, weight=2.0)
    yield neighbours("half of the neighbours are of a kind", 5, 0.5)
    turned = contexts[:, torch.tensor([3, 1, 0, 2])]
    because = "the same words in another order get other scores: this is no bag"
    yield (
        given_model("a bag has no order", weight=0.5)
        .call(contexts, into="first")
        .call(turned, into="second")
        .law("equal", of="first", to="second", within=1e-3, because=because)
        .laws_only()
        .counts_with(KNOWS)
    )


class Pretended:
    """A model of the kind that a mistake in training leaves behind: logits by a function, and vectors."""

    def __init__(self, logits, E=None):
        self.logits = logits
        self.E = _chance() if E is None else E

    def __call__(self, contexts):
        return self.logits(contexts)


def _chance():
    return torch.randn(_table_shape(), generator=torch.Generator().manual_seed(2))


def _table_shape():
    return len(grammar.language().words), 16


def _blurred(share):
    """Vectors of which a `share` of the words has none of its own yet."""
    E = _used_as()
    lost = torch.rand(len(E), generator=torch.Generator().manual_seed(3)) < share
    E[lost] = torch.randn(int(lost.sum()), E.shape[1], generator=torch.Generator().manual_seed(4))
    return E


def _unsure(contexts, trust):
    """Between the best answer and the bare frequencies."""
    frequencies = grammar.language().frequencies.float()
    return (trust * _best(contexts).exp() + (1 - trust) * frequencies).clamp(min=1e-9).log()


def _counted_words(contexts):
    return F.one_hot(contexts, _table_shape()[0]).float().sum(1)


def _left_half(contexts):
    """The best guess when the words after are not read."""
    p = grammar.language().next_word(contexts[:, :RADIUS], running=True)[:, -1]
    return (0.9 * p + 0.1 * grammar.language().frequencies).clamp(min=1e-9).log().float()


def _one_word_only(contexts):
    """Very sure of the best guess, and therefore often very wrong."""
    best = _best(contexts)
    return 40 * F.one_hot(best.argmax(1), best.shape[1]).float()


def _off_the_point(contexts):
    """Worse than the bare frequencies, though not mad: what is left of an answer to another question."""
    frequencies = grammar.language().frequencies.float()
    return (0.5 * frequencies + 0.5 / len(frequencies)).log().expand(len(contexts), -1)


for _name, _strength in {
    "target_inside_the_context": 1.5,
    "target_inside_the_context_and_heard_loudly": 2.5,
    "target_inside_the_context_and_heard_alone": 6.0,
}.items():
    cbow_task.misconception(
        "Your model prefers words that stand in the context themselves. Print a few training windows beside their "
        "targets: can the target be read there?",
        name=_name,
    )(Pretended(lambda contexts, strength=_strength: strength * _counted_words(contexts), _blurred(0.3)))

cbow_task.misconception(
    "Very sure, and often wrong. What does your loss expect, scores or probabilities, and what does it get? (Or are "
    "the steps far too large?)",
    name="sure_and_wrong",
)(Pretended(_one_word_only, _blurred(0.3)))

cbow_task.misconception(
    "What your model returns sums to one. What does your loss do with it: does it take scores, or probabilities?",
    name="softmax_in_the_model",
)(Pretended(lambda contexts: _best(contexts).exp(), _blurred(0.3)))

cbow_task.misconception(
    "No wiser than who gives every word the same score. Do its tensors move in a step? Compare before and after.",
    name="never_trained",
)(Pretended(lambda contexts: 0 * _counted_words(contexts)))

cbow_task.misconception(
    "Your model answers with the frequencies of the words, whatever stands around. Does a gradient reach E?",
    name="frequencies_alone",
)(Pretended(lambda contexts: _unsure(contexts, 0.0)))

cbow_task.misconception(
    "It has learned about words, and answers another question. Print a training window as words: where is the gap?",
    name="another_gap",
)(Pretended(_off_the_point, _used_as()))

cbow_task.misconception(
    "It predicts well, but the vectors in E know nothing of it. Which tensor did your forward read the context from?",
    name="E_is_not_the_table_it_reads",
)(Pretended(_best))

cbow_task.misconception(
    "Better than frequencies, far from what four neighbours tell. Are there two tables, one for the words around and "
    "one for the word to guess? Is the mean taken over the words of one context?",
    name="one_table_for_both",
)(Pretended(lambda contexts: _unsure(contexts, 0.08) + _counted_words(contexts), _used_as()))

cbow_task.misconception(
    "The words before the gap count, those after it do not, or the other way round. Turn a context round and compare.",
    name="reads_one_side",
)(Pretended(_left_half, _used_as()))

cbow_task.misconception(
    "On the right track, and not there yet. Was the loss still falling at the end of the curve? How large is a step?",
    name="stopped_on_the_way",
)(Pretended(lambda contexts: _unsure(contexts, 0.17), _used_as()))
