"""Hidden tests of `leaks_future`."""

from __future__ import annotations

import torch

from course.exercise import call, exercise, stand_in
from course.reference import masking as reference


@exercise(
    reference.leaks_future,
    hints=(
        "Take a model that adds up the words so far, and one that adds up all. What do you change, and compare?",
        "After changing ids[:, 3:], which outputs must stay as they were? Does output 3 belong to them?",
        "A leak may show at one place only, and only in one sentence. At how many places do you cut?",
    ),
)
def leaks_future(rng):
    """Models that peek at once or from afar, at one place, in one sentence, invisibly to sums; and ones that do not."""
    V, K, B, T = 7, 5, 3, 7
    E = rng.normal(V, K)
    ids = (
        rng.permutation(V) + torch.arange(B)[:, None]
    ) % V  # every word occurs, and each sentence begins with its own

    honest = "the mean of the words so far", "the word before"
    peeking = "the mean of all words", "the first sees the last"

    def asked(title, name, ids=ids, leaks=True, **parameters):
        """Who says the same of every model has answered nothing: each answer counts together with two of the other."""
        options = {key: parameters.pop(key) for key in ("public", "weight") if key in parameters}
        case = call(title, stand_in(name, E=E, **parameters), ids, grad=False, **options)
        return case.counts_with(*(honest if leaks else peeking))

    yield asked("the mean of the words so far", "mean_so_far", leaks=False, public=True)
    yield asked("the mean of all words", "mean_of_all", public=True)
    yield asked("one word ahead", "looking_ahead", by=1, public=True)
    yield asked("each word alone", "looking_ahead", leaks=False, by=0)
    yield asked("the word before", "looking_ahead", leaks=False, by=-1)
    yield asked("two words ahead", "looking_ahead", by=2)
    yield asked("the first sees the last", "peeking_at", place=0, seen=T - 1)
    yield asked("the second sees the third", "peeking_at", place=1, seen=2)
    yield asked("the third sees the fourth", "peeking_at", place=2, seen=3)
    yield asked("the last but one sees the last", "peeking_at", place=T - 2, seen=T - 1)
    yield asked("a leak in the last sentence", "peeking_sentence", first=int(ids[-1, 0]))
    yield asked("a leak that adds up to nothing", "balanced_peek")
    yield asked("rounding", "mean_of_all", leaks=False, size=1e-8)
    yield asked("a look of a thousandth", "mean_of_all", size=1e-3)
    lower, loud = ids.clone(), E.clone()
    lower[:, -1] = ids[1, 0]

    def ending(title, last, weight, place=0):
        ends = torch.cat([ids[:, :-1], last.expand(B, 1)], 1)
        return asked(title, "peeking_at", ids=ends, place=place, seen=T - 1, weight=weight)

    for word in range(V):  # whoever puts one word into every future leaves one of these futures as it is
        yield ending(f"three sentences that end with word {word}", torch.tensor([[word]]), 0.25)
    yield ending("sentences that end as they begin", ids[:, :1], 0.5)
    yield ending("sentences that end with a word said twice", ids[:, -2:-1], 0.5, place=T - 2)
    loud[ids[1, 0]] = E.amax(0) + 1  # whatever takes its place, every number falls
    lowers = call("a leak that only lowers", stand_in("peeking_at", E=loud, place=0, seen=T - 1), lower, grad=False)
    yield lowers.counts_with(*honest)
    yield asked("a batch of one sentence", "mean_of_all", ids=ids[:1])
    few = 4 * (ids % 2) + 1
    yield asked("a model that knows only these words", "mean_so_far", ids=few, leaks=False, known=few.unique())
    yield asked("a text of one word", "mean_of_all", ids=ids[:, :1].clone(), leaks=False, weight=0.5)


def _other_words(ids):
    """Every word replaced by the next of those that occur."""
    known = ids.unique()
    return known[(torch.searchsorted(known, ids.contiguous()) + 1) % len(known)]


def _random_words(ids, seed=1):
    """Every word replaced by a random other one of those that occur."""
    known = ids.unique()
    drawn = torch.randint(1, max(len(known), 2), ids.shape, generator=torch.Generator().manual_seed(seed))
    return known[(torch.searchsorted(known, ids.contiguous()) + drawn) % len(known)]


def _leaks(model_fn, ids, *, change=_random_words, cuts=None, own=0, measure=None, times=3):
    """The search with its choices laid open."""
    measure = measure or (lambda change: float(change.abs().max()) > 1e-5)
    before = model_fn(ids)
    for cut in range(1, ids.shape[1]) if cuts is None else cuts(ids.shape[1]):
        for _ in range(times):
            changed = ids.clone()
            changed[:, cut:] = change(ids)[:, cut:]
            differences = (model_fn(changed) - before)[:, : cut + own]
            if differences.numel() and measure(differences):
                return True
    return False


@leaks_future.misconception("You change words, and the outputs *at* those words change. Is that a leak?")
def all_outputs_compared(model_fn, ids):
    changed = ids.clone()
    changed[:, -1] = _other_words(ids)[:, -1] if ids.shape[1] > 1 else (ids[:, -1] + 1) % 7
    return not torch.allclose(model_fn(changed), model_fn(ids), atol=1e-5)


@leaks_future.misconception("Place t may see ids[:, t]. Which is the first output that must not move?")
def own_word_taken_for_future(model_fn, ids):
    return _leaks(model_fn, ids, own=1)


@leaks_future.misconception(
    "You change words from one place on. Which is the last output that must not move? Do you look at it?"
)
def last_output_before_the_cut_left_out(model_fn, ids):
    return _leaks(model_fn, ids, own=-1)


@leaks_future.misconception("A model that peeks only at its first places, or only at its last: do you find it?")
def one_cut_in_the_middle(model_fn, ids):
    return _leaks(model_fn, ids, cuts=lambda T: [T // 2] if T > 1 else [])


@leaks_future.misconception(
    "A model whose second place sees the third, and nobody else peeks: does the last word tell?"
)
def only_the_last_word_changed(model_fn, ids):
    return _leaks(model_fn, ids, cuts=lambda T: [T - 1] if T > 1 else [])


@leaks_future.misconception("A leak may show at any place. How many outputs do you look at?")
def only_the_first_output(model_fn, ids):
    return _leaks(model_fn, ids, cuts=lambda T: [1] if T > 1 else [])


@leaks_future.misconception(
    "A computer adds in another order and gets 1e-8 more. Is that a look into the future? How near is equal?"
)
def rounding_taken_for_a_leak(model_fn, ids):
    return _leaks(model_fn, ids, measure=lambda change: bool((change != 0).any()))


@leaks_future.misconception(
    "Yours finds no leak anywhere. For the mean of all words, print both outputs that you compare."
)
def finds_nothing(model_fn, ids):
    model_fn(ids)
    return False


@leaks_future.misconception("Every number falls, none rises. Is that a change? Print what you compare with 1e-5.")
def changes_below_zero_ignored(model_fn, ids):
    return _leaks(model_fn, ids, measure=lambda change: float(change.max()) > 1e-5)


@leaks_future.misconception(
    "Try a batch of one sentence, then three that end with the same word. What has changed in the future you put in?"
)
def future_of_another_sentence(model_fn, ids):
    return _leaks(model_fn, ids, change=lambda ids: ids.roll(1, 0), times=1)


@leaks_future.misconception(
    "Which word do you put into the future? Does it occur in ids at all, and what changes where it stands already?"
)
def zero_for_the_future(model_fn, ids):
    return _leaks(model_fn, ids, change=torch.zeros_like, times=1)


@leaks_future.misconception(
    "Which word do you put into the future? Try sentences that end with that very word: what has changed?"
)
def smallest_word_for_the_future(model_fn, ids):
    return _leaks(model_fn, ids, change=lambda ids: ids.min().expand_as(ids), times=1)


@leaks_future.misconception(
    "Which word do you put into the future? Try sentences that end with that very word: what has changed?"
)
def largest_word_for_the_future(model_fn, ids):
    return _leaks(model_fn, ids, change=lambda ids: ids.max().expand_as(ids), times=1)


@leaks_future.misconception(
    "Which word do you put into the future of a sentence? Try one that ends with the word it began with."
)
def first_word_for_the_future(model_fn, ids):
    return _leaks(model_fn, ids, change=lambda ids: ids[:, :1].expand_as(ids), times=1)


@leaks_future.misconception("The same words in another order: does the mean of all words notice?")
def future_only_reordered(model_fn, ids):
    before = model_fn(ids)
    for cut in range(1, ids.shape[1]):
        after = model_fn(torch.cat([ids[:, :cut], ids[:, cut:].flip(1)], 1))
        if not torch.allclose(after[:, :cut], before[:, :cut], atol=1e-5):
            return True
    return False


@leaks_future.misconception("A leak may show in one sentence of the batch only. How many do you look at?")
def only_the_first_sentence(model_fn, ids):
    return _leaks(lambda ids: model_fn(ids)[:1], ids)


@leaks_future.misconception("One number rises by 3 and another falls by 3. What is the mean of the changes?")
def changes_that_cancel(model_fn, ids):
    return _leaks(model_fn, ids, measure=lambda change: float(change.sum(-1).abs().max()) > 1e-5)


@leaks_future.misconception("A model that leaks should give True. Try the mean of all words.")
def says_whether_it_is_honest(model_fn, ids):
    return not reference.leaks_future(model_fn, ids)


@leaks_future.misconception(
    "Whoever looks back is no cheat. Which side of the cut do you change, which do you compare?"
)
def the_past_changed(model_fn, ids):
    before = model_fn(ids)
    for cut in range(1, ids.shape[1]):
        changed = ids.clone()
        changed[:, :cut] = _random_words(ids)[:, :cut]
        if not torch.allclose(model_fn(changed)[:, cut:], before[:, cut:], atol=1e-5):
            return True
    return False


@leaks_future.misconception("Where do your new words come from? This model knows only those that occur in ids.")
def words_from_outside(model_fn, ids):
    return _leaks(model_fn, ids, change=lambda ids: _random_words(ids) if len(ids.unique()) > 2 else ids + 1)
