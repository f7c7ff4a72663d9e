"""Hidden tests of `mlm_corrupt`: which tokens are chosen, what becomes of them, and what the labels ask for."""

import torch

from course.exercise import call, draws, exercise
from course.reference import masking as reference


@exercise(
    reference.mlm_corrupt,
    hints=(
        "Which random decisions does one token meet, in which order? Write each down with its probability. Which "
        "tokens meet none?",
        "Corrupt a thousand equal words and count. How many have a label, and how many of those are masks?",
        "Print ids, inputs and labels below each other. Which positions of the labels are not -100, and what is there?",
        "Begin with the choice, a boolean tensor of the shape of ids. Make the labels from it, and print both. A "
        "second draw for each token decides what becomes of those that were chosen, and a third one which random word"
        " it is.",
    ),
    forbidden=("blocks.mlm_corrupt",),
    calls=(
        "mlm_corrupt(tensor([[5, 6, 7]]), zeros(1, 3, dtype=torch.bool), 10, 1, gen(0), p=0.)",
        "mlm_corrupt(tensor([[5, 6, 7]]), ones(1, 3, dtype=torch.bool), 10, 1, gen(0), p=1.)",
        "mlm_corrupt(tensor([[5, 6, 7]]), zeros(1, 3, dtype=torch.bool), 10, 1, gen(0), p=1.)[1]",
        "mlm_corrupt(tensor([[5, 6, 7]]), tensor([[True, False, True]]), 10, 1, gen(0), p=1.)[1]",
        "mlm_corrupt(tensor([[5, 6, 7]]), tensor([[True, False, False]]), 10, 1, gen(0), p=1.)[0][:, 0]",
        "mlm_corrupt(tensor([[1, 1]]), ones(1, 2, dtype=torch.bool), 10, 1, gen(0), p=0.5)",
    ),
)
def mlm_corrupt(rng):
    """Its rules on ragged text, its frequencies on a text of one word, and each token chosen on its own."""
    V, mask_id = 11, 11
    ids = rng.integers(0, V, 7, 101)
    special = rng.uniform(7, 101) < 0.3

    def ruled(title, ids, special, V, mask_id, p, **options):
        case = call(title, ids, special, V, mask_id, rng.generator(), p, grad=False, **options)
        case = case.law("has_parts", count=2).law("long_like", ids=ids)
        case = case.law("labels_hold_the_words", ids=ids).law("unasked_words_stay", ids=ids)
        return case.law("never_asked_for", where=special).laws_only()

    yield ruled("every label is its word", ids, special, V, mask_id, 0.5, public=True)

    def counted(title, n, V, mask_id, p, plain=1.0, last=0, **options):
        """What becomes of one word, written n times, where a share is plain and the rest is special.

        With `last`, also what becomes of the last ones.
        """
        word = 1
        fates = torch.full((max(V, mask_id + 1),), 0.0, dtype=torch.float64)
        fates[:V] = 0.1 / V
        fates[mask_id] += 0.8
        fates[word] += 0.1
        probabilities = torch.cat([torch.tensor([1 - p * plain], dtype=torch.float64), p * plain * fates])
        text = torch.full((n,), word)
        special = torch.arange(n) >= round(n * plain)
        case = call(title, text, special, V, mask_id, rng.generator(), p, grad=False, **options)
        because = (
            "of the chosen tokens, 80 % should be masks, 10 % any word, each as often as the others, and 10 % the "
            "word itself. Count them, word by word"
        )
        case = case.law("has_parts", count=2).law("known_words", words=len(fates))
        case = case.law("corruption_frequencies", probabilities=probabilities, because=because).laws_only()
        because = "what becomes of a word should not depend on its position. Count the last words by themselves"
        alike = {"probabilities": probabilities, "last": last, "because": because}
        return case.law("corruption_frequencies", **alike) if last else case

    yield counted("8 : 1 : 1, counted", 3000, 3, 3, 0.9, public=True)
    # so many that 81 : 10 : 9 is told from it, nearly always
    yield counted("8 : 1 : 1, counted in more words", 160_000, 3, 3, 1.0, weight=2.0, last=4000)
    yield counted("the mask is one of the words", 20_000, 5, 2, 0.7)
    yield counted("one in seven, and a larger vocabulary", 60_000, 7, 7, 1 / 7)
    yield counted("four in five are special", 20_000, 3, 3, 0.15, plain=0.2)

    def coins(title, shape, p, axis, because, **options):
        """How many tokens are chosen, in groups of five along an axis."""
        none = torch.zeros(shape, dtype=torch.bool)
        case = call(title, rng.integers(0, V, *shape), none, V, mask_id, rng.generator(), p, grad=False, **options)
        case = case.law("has_parts", count=2)
        return case.law("chosen_one_by_one", p=p, axis=axis, because=because).laws_only()

    sentence = "whether a word is chosen should not depend on the word before. Count the chosen words of each sentence"
    batch = "whether a word is chosen should not depend on other sentences. Print what was chosen in two sentences"
    yield coins("every word of a sentence on its own", (2000, 5), 0.4, 1, sentence)
    yield coins("every sentence on its own", (1000, 11), 0.4, 0, batch)
    five, none = torch.full((5,), 1), torch.zeros(5, dtype=torch.bool)
    yield (
        draws("five words, again and again", 250, five, none, V, mask_id, rng.generator(), 0.4)
        .law("has_parts", count=2, each=True)
        .law("chosen_one_by_one", p=0.4, axis=1, because="of five words, the number that is chosen should differ from "
             "call to call")
    )  # fmt: skip

    plain = torch.zeros(3, 5, 7, dtype=torch.bool)
    ids = rng.integers(0, V, 3, 5, 7)
    yield ruled("three axes", ids, plain, V, mask_id, 0.5, weight=0.5)
    yield ruled("everything is special", ids, ~plain, V, mask_id, 0.9, weight=0.5)
    yield (
        call("fifteen in a hundred by default", torch.full((20_000,), 1), torch.zeros(20_000, dtype=torch.bool), 3, 3,
             rng.generator(), grad=False, weight=0.5)
        .law("has_parts", count=2)
        .law("chosen_one_by_one", p=0.15, axis=0, because="without p, 15 % of the words should be chosen")
        .laws_only()
    )  # fmt: skip
    coin = rng.generator()
    because = "called twice with equal generators, it should answer the same. Where else does chance come from?"
    yield (
        call("chance comes from the generator", ids, plain, V, mask_id, coin, 0.5, grad=False)
        .call(ids, plain, V, mask_id, coin, 0.5, on="answer", into="again")
        .law("equal", of="out", to="again", because=because)
        .laws_only()
        .counts_with("every label is its word")
    )


def _chosen(ids, special, generator, p):
    return (torch.rand(ids.shape, generator=generator) < p) & ~special


def _labels(ids, chosen):
    return torch.where(chosen, ids, -100)


def _shares(masks, words):
    """The task in which these shares of the chosen tokens become masks, and other words."""

    def corrupt(ids, special, vocab_size, mask_id, generator, p=0.15):
        chosen = _chosen(ids, special, generator, p)
        fate = torch.rand(ids.shape, generator=generator)
        drawn = torch.randint(vocab_size, ids.shape, generator=generator)
        inputs = torch.where(fate < masks, mask_id, torch.where(fate < masks + words, drawn, ids))
        return torch.where(chosen, inputs, ids), _labels(ids, chosen)

    return corrupt


@mlm_corrupt.misconception(
    "Print the labels beside the chosen tokens. A label other than -100 should stand only where a token was chosen."
)
def labels_everywhere(ids, special, vocab_size, mask_id, generator, p=0.15):
    inputs, _ = reference.mlm_corrupt(ids, special, vocab_size, mask_id, generator, p)
    return inputs, ids.clone()


mlm_corrupt.mistakes(
    "Count the masks among the chosen tokens. Two in ten should not be masks.", always_the_mask=_shares(1.0, 0.0)
)
mlm_corrupt.mistakes(
    "Count the chosen tokens that stay as they were. It should be one in ten.", none_stays=_shares(0.8, 0.2)
)
mlm_corrupt.mistakes(
    "Count the chosen tokens that become another word, so neither the mask nor the word itself.",
    no_other_words=_shares(0.8, 0.0),
)


@mlm_corrupt.misconception(
    "Print the labels of chosen tokens that stay. They need a label too, because the model must not know which "
    "they are."
)
def stayed_and_not_asked_for(ids, special, vocab_size, mask_id, generator, p=0.15):
    inputs, _ = reference.mlm_corrupt(ids, special, vocab_size, mask_id, generator, p)
    return inputs, _labels(ids, inputs != ids)


@mlm_corrupt.misconception(
    "Of the chosen tokens, how many are masks? May one that was made a mask still become a word?"
)
def words_drawn_over_masks(ids, special, vocab_size, mask_id, generator, p=0.15):
    chosen = _chosen(ids, special, generator, p)
    inputs = torch.where(chosen & (torch.rand(ids.shape, generator=generator) < 0.8), mask_id, ids)
    words = torch.randint(vocab_size, ids.shape, generator=generator)
    again = torch.rand(ids.shape, generator=generator) < 0.1
    return torch.where(chosen & again, words, inputs), _labels(ids, chosen)


@mlm_corrupt.misconception(
    "More than 80 % of the chosen tokens become masks. Count them for p = 0.15 and for p = 0.9. If the shares differ, "
    "the number that chose a token also decides what becomes of it."
)
def one_number_for_two_questions(ids, special, vocab_size, mask_id, generator, p=0.15):
    coin = torch.rand(ids.shape, generator=generator)
    words = torch.randint(vocab_size, ids.shape, generator=generator)
    chosen = (coin < p) & ~special
    inputs = torch.where(chosen & (coin < 0.8), mask_id, torch.where(chosen & (coin < 0.9), words, ids))
    return inputs, _labels(ids, chosen)


@mlm_corrupt.misconception("Call it with p = 0.9. How many tokens are chosen?")
def always_fifteen_percent(ids, special, vocab_size, mask_id, generator, p=0.15):
    return reference.mlm_corrupt(ids, special, vocab_size, mask_id, generator)
