"""Hidden tests of `next_sentence_pairs`: which pairs there are, which are true, and where false ones come from."""

from __future__ import annotations

import itertools

import torch

from course.exercise import call, draws, exercise
from course.reference import bert as reference

FEW = "three documents"


@exercise(
    reference.next_sentence_pairs,
    hints=(
        "Write three short documents by hand. Which sentences have a next one? How many pairs does that make?",
        "Can a false second sentence equal the true one by chance? Give two documents a sentence in common.",
        "Print the false pairs, and the number of the document that each of their sentences comes from. Call it a "
        "hundred times and count how often each pair is true.",
        "Begin with the true pairs alone, document by document, and print how many there are. Then take one of them, "
        "and list every sentence that could be its stranger.",
    ),
    calls=(
        "len(next_sentence_pairs([[(1,), (2,), (3,)], [(7,), (8,)]], gen(0))[0])",
        "next_sentence_pairs([[(1,)], [(7,)]], gen(0))[0]",
        "[a for (a, b) in next_sentence_pairs([[(1,), (2,), (3,)], [(7,), (8,)]], gen(0))[0]]",
        "len(next_sentence_pairs([[(1,), (2,)], [(7,)]], gen(0))[0])",
        "next_sentence_pairs([[(1,), (2,)], [(7,), (8,)], [(9,), (5,)]], gen(0))[1].shape",
        "[a for (a, b) in next_sentence_pairs([[(1,), (2,)], [(3,)]], gen(0))[0]]",
    ),
)
def next_sentence_pairs(rng):
    """Which pairs, what their labels say, where strangers come from, and chance. Some sentences stand in two texts."""

    def documents(*sizes, shared=0):
        """So many documents of these sizes; the first `shared` sentences after the first one stand in all of them."""
        common = [tuple(rng.integers(0, 9, 3).tolist()) for _ in range(shared)]
        texts = [[(*rng.integers(9, 99, 2).tolist(), 100 * i + j) for j in range(n)] for i, n in enumerate(sizes)]
        return [[text[0], *common, *text[1 + shared :]] if len(text) > shared else text for text in texts]

    def read(title, texts, **options):
        return call(title, texts, rng.generator(), grad=False, **options).laws_only()

    def ruled(case, texts, of=""):
        """The four rules, one after the other, over one answer."""
        yield case.law("one_pair_for_each_neighbour", documents=texts)
        first = case.title
        for law, title in (("next_ones_are_next", "label 1 is the next sentence"),
                           ("others_are_not_next", "label 0 is not the next sentence"),
                           ("others_are_strangers", "a false second comes from another document")):  # fmt: skip
            yield case.judged_again(f"{title}{of}").law(law, documents=texts).counts_with(first)

    some = documents(7, 5, 3)
    yield from ruled(read(FEW, some, public=True), some, ", on three documents")
    alike = documents(5, 5, 7, shared=3)
    yield from ruled(read("documents that share sentences", alike, public=True), alike, ", where documents share some")
    many = documents(*[2 + n % 5 for n in range(60)], shared=1)
    yield from ruled(read("sixty documents", many), many, ", on sixty documents")
    lonely = [[(1, 2)], *documents(3, 2), [(5,)]]
    yield from ruled(read("documents of one sentence", lonely), lonely, ", beside documents of one sentence")
    because = "a coin should be tossed for each pair. Count how often the labels are 1"
    coins = read("a coin for each pair", documents(*[11] * 60), public=True, weight=2.0).counts_with(FEW)
    yield coins.law("labels_are_tossed", because=because)
    small = [[(1,), (2,)], [(3,), (4,), (5,)], [(2,), (6,)]]
    again = draws("every stranger may come", 300, small, rng.generator(), weight=2.0, public=True).counts_with(FEW)
    because = "a coin should be tossed for each pair. Count the ones among the four labels of a call, over many calls"
    again = again.law("labels_are_tossed", group=4, because=because)
    yield again.law("every_stranger_comes", documents=small)
    coin = rng.generator()
    because = "called twice with equal generators, it should answer the same. Where else does chance come from?"
    twice = call("chance comes from the generator", some, coin, grad=False).laws_only().counts_with(FEW)
    twice = twice.call(some, coin, on="answer", into="again")
    for item in (0, 1):
        for into in ("out", "again"):
            twice = twice.call(item, on=into, method="__getitem__", into=f"{into} {item}")
        twice = twice.law("equal", of=f"out {item}", to=f"again {item}", because=because)
    yield twice


def _pairs(documents, generator, *, true_label=1, strangers, coin=None, neighbours=None):
    """The task with another rule for strangers, labels, coins or neighbours."""
    pairs, labels = [], []
    for i, j, sentence, true in (neighbours or _neighbours)(documents):
        others = strangers(documents, i, j, true)
        is_next = (coin or _coin)(generator)
        drawn = others[int(torch.randint(len(others), (), generator=generator))] if others else true
        pairs.append((sentence, true if is_next else drawn))
        labels.append(true_label if is_next else 1 - true_label)
    return pairs, torch.tensor(labels, dtype=torch.long)


def _coin(generator):
    return bool(torch.rand((), generator=generator) < 0.5)


def _neighbours(documents):
    return [(i, j, d[j], d[j + 1]) for i, d in enumerate(documents) for j in range(len(d) - 1)]


def _all_in_a_row(documents):
    flat = [(i, j, sentence) for i, d in enumerate(documents) for j, sentence in enumerate(d)]
    return [(i, j, first, true) for (i, j, first), (_, _, true) in itertools.pairwise(flat)]


def _right(documents, i, j, true):
    return [s for k, d in enumerate(documents) if k != i for s in d if s != true]


def _with(**pieces):
    return lambda documents, generator: _pairs(documents, generator, **{"strangers": _right, **pieces})


next_sentence_pairs.misconception(
    "Print a true pair and its label. Which number does this task give to the next sentence?",
    convention="BERT's own code, where 0 is next",
    name="zero_is_next",
)(_with(true_label=0))
next_sentence_pairs.mistakes(
    "Print false pairs, and where their second sentences stand. Is it always another document?",
    strangers_from_anywhere=_with(strangers=lambda ds, i, j, true: [s for d in ds for s in d if s != true]),
    strangers_from_the_same_document=_with(
        strangers=lambda ds, i, j, true: [s for k, s in enumerate(ds[i]) if k != j + 1 and s != true]
    ),
)
next_sentence_pairs.mistakes(
    "Give two documents a sentence in common. Is a pair ever labelled 0, with the true second sentence in it?",
    true_by_chance=_with(strangers=lambda ds, i, j, true: [s for k, d in enumerate(ds) if k != i for s in d]),
)
next_sentence_pairs.mistakes(
    "How many pairs does one document of three sentences make, beside another of two? Is the last sentence of the "
    "first one followed by anything?",
    pairs_across_documents=_with(neighbours=_all_in_a_row),
)
next_sentence_pairs.mistakes(
    "Count the labels of a thousand pairs. How many are 1?",
    all_true=_with(coin=lambda generator: True),
)


@next_sentence_pairs.misconception(
    "Call it ten times with the same three short documents and one generator, and count the labels that are 1 in each "
    "call. Do coins always count the same?"
)
def labels_take_turns(documents, generator):
    turns = itertools.cycle([1, 0])
    return _pairs(documents, generator, strangers=_right, coin=lambda _: next(turns))


@next_sentence_pairs.misconception("Print the labels of one call. How often do both numbers occur in it?")
def one_coin_for_all(documents, generator):
    is_next = _coin(generator)
    return _pairs(documents, generator, strangers=_right, coin=lambda _: is_next)
