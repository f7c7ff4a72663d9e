"""Hidden tests of `leaks_future`: whether a model sees words that come later."""

import torch
from torch import Tensor

from course.exercise import call, exercise, stand_in
from course.reference import masking as reference


@exercise(
    reference.leaks_future,
    hints=(
        "Take a model that adds up the words so far, and one that adds up all. Which change tells the two apart?",
        "After changing ids[:, 3:], which outputs must stay as they were? Does output 3 belong to them?",
        "A leak may show at one position only, and only in one sentence. At how many positions do you cut?",
        "Begin with a single cut. Keep the outputs for ids. Make a copy in which every word behind the cut is another"
        " one that occurs in ids, and print by how much the outputs before the cut have moved. Then repeat that for "
        "the other cuts.",
    ),
    calls=(
        "leaks_future(lambda ids: ids.float()[..., None], tensor([[1, 2, 3]]))",
        "leaks_future(lambda ids: ids.float().cumsum(1)[..., None], tensor([[1, 2, 3]]))",
        "leaks_future(lambda ids: ids.float().flip(1)[..., None], tensor([[1, 2, 3]]))",
        "leaks_future(lambda ids: ids.float().roll(-1, 1)[..., None], tensor([[1, 2, 3]]))",
        "leaks_future(lambda ids: 0. * ids[..., None], tensor([[1, 2, 3]]))",
        (
            "leaks_future(lambda ids: ids.float().mean(1, keepdim=True)[..., None] + 0. * ids[..., None], "
            "tensor([[2, 2, 2]]))"
        ),
    ),
)
def leaks_future(rng):
    """Models that peek nearby or from afar, at one position, in one sentence, invisibly to sums, and honest ones."""
    V, K, B, T = 7, 5, 3, 7
    E = rng.normal(V, K)
    ids = (
        rng.permutation(V) + torch.arange(B)[:, None]
    ) % V  # every word occurs, and each sentence begins with its own

    honest = "the mean of the words so far", "the word before"
    peeking = "the mean of all words", "the first sees the last"

    def asked(title, name, ids=ids, leaks=True, **parameters):
        """Each case counts together with two of the other answer, because a constant has answered nothing."""
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
    yield asked("a leak of a thousandth", "mean_of_all", size=1e-3)
    lower, loud = ids.clone(), E.clone()
    lower[:, -1] = ids[1, 0]

    def ending(title, last, weight, place=0):
        ends = torch.cat([ids[:, :-1], last.expand(B, 1)], 1)
        return asked(title, "peeking_at", ids=ends, place=place, seen=T - 1, weight=weight)

    for word in range(V):  # putting one word into every future leaves one of these futures unchanged
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


def _other_words(ids, first=0):
    """Every word from position `first` on replaced by a random other one of those that occur anywhere."""
    known = ids.unique()
    drawn = torch.randint(1, max(len(known), 2), ids.shape, generator=torch.Generator().manual_seed(1))
    return known[(torch.searchsorted(known, ids.contiguous()) + drawn) % len(known)][:, first:]


def _leaks(model_fn, ids, *, future=_other_words, first=1, own=0, measure=Tensor.abs, least=1e-5):
    """The search with its choices laid open. With `own` = 1 the output at the cut must not move, either."""
    before = model_fn(ids)
    for cut in range(first, ids.shape[1]):
        after = model_fn(torch.cat([ids[:, :cut], future(ids, cut)], 1))
        if float(measure(after - before)[:, : cut + own].max()) > least:
            return True
    return False


@leaks_future.misconception("You change words, and the outputs *at* those words change. Is that a leak?")
def all_outputs_compared(model_fn, ids):
    changed = ids.clone()
    changed[:, -1:] = _other_words(ids, -1)
    return not torch.allclose(model_fn(changed), model_fn(ids), atol=1e-5)


@leaks_future.misconception(
    "Position t may see ids[:, t]. Change ids[:, 3:]. Which is the last output that must not move?"
)
def own_word_taken_for_future(model_fn, ids):
    return _leaks(model_fn, ids, own=1)


@leaks_future.misconception(
    "Take a model in which only the second position sees the third. Does changing the last word show that?"
)
def only_the_last_word_changed(model_fn, ids):
    return _leaks(model_fn, ids, first=max(ids.shape[1] - 1, 1))


@leaks_future.misconception(
    "Add the same numbers in another order, and the sum may differ by 1e-8. Does your test call that a leak?"
)
def rounding_taken_for_a_leak(model_fn, ids):
    return _leaks(model_fn, ids, least=0.0)


@leaks_future.misconception(
    "Take a change that makes every output smaller. Is that a change? Print what you compare with 1e-5."
)
def changes_below_zero_ignored(model_fn, ids):
    return _leaks(model_fn, ids, measure=lambda change: change)


@leaks_future.misconception(
    "Which word do you put into the future? Does it occur in ids? What changes if it stands there already?"
)
def zero_for_the_future(model_fn, ids):
    return _leaks(model_fn, ids, future=lambda ids, cut: torch.zeros_like(ids[:, cut:]))


@leaks_future.misconception("Try a model that takes the mean of all words. It leaks, so the result should be True.")
def says_whether_it_is_honest(model_fn, ids):
    return not reference.leaks_future(model_fn, ids)


@leaks_future.misconception(
    "Try a model that sees only the word before. It is honest. Which side of the cut do you change, and which do "
    "you compare?"
)
def the_past_changed(model_fn, ids):
    before = model_fn(ids)
    for cut in range(1, ids.shape[1]):
        changed = torch.cat([_other_words(ids)[:, :cut], ids[:, cut:]], 1)
        if not torch.allclose(model_fn(changed)[:, cut:], before[:, cut:], atol=1e-5):
            return True
    return False
