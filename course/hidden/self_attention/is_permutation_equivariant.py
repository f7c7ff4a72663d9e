"""Hidden tests of `is_permutation_equivariant`."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from course.exercise import call, exercise, stand_in
from course.reference import self_attention as reference


@exercise(
    reference.is_permutation_equivariant,
    hints=(
        "There are two ways to a reordered output: reorder first, or compute first. Equivariant means they meet.",
        "Try it by hand with torch.cumsum and with torch.tanh on a sentence of three words, and the order [1, 2, 0].",
        "Two computations in floating point rarely agree to the last digit. Which tolerance does the exercise name?",
    ),
)
def is_permutation_equivariant(rng):
    """Layers that are and are not, among them some that only look so; the order of five words is no involution."""
    cycle = torch.tensor([2, 0, 3, 4, 1])
    x, W, U = rng.normal(3, 5, 2), rng.normal(7, 2), rng.normal(7, 2)
    V = rng.normal(7, 2)
    places = rng.normal(5, 2)

    def it_is(title, *inputs, **options):
        """Who says the same of every layer has answered nothing: each answer counts together with two of the other."""
        return call(title, *inputs, **options).counts_with("a running mean", "word plus position")

    def it_is_not(title, *inputs, **options):
        return call(title, *inputs, **options).counts_with("self-attention", "the mean at every place")

    mirror = torch.arange(5).flip(0)
    yield it_is("self-attention", stand_in("attending", W_q=W, W_k=U, W_v=V), x, cycle, public=True)
    yield it_is("self-attention, turned round", stand_in("attending", W_q=W, W_k=U, W_v=V), x, mirror, public=True)
    yield it_is_not("a running mean", stand_in("running_mean", W=W), x, cycle, public=True)
    yield it_is("the mean of another order", stand_in("pooled", W=U), x, cycle, public=True)
    yield it_is_not("word plus position", stand_in("with_positions", W=W, positions=places), x, cycle)
    yield it_is("each word beside the mean", stand_in("beside_the_mean", W=W, U=U), x, cycle)
    yield it_is("the mean at every place", stand_in("pooled", W=W), x, cycle)
    yield it_is_not("each word beside the first", stand_in("beside_the_first", W=W, U=U), x, cycle)
    first_stays = torch.tensor([0, 2, 3, 4, 1])
    yield it_is("beside the first, and the first stays", stand_in("beside_the_first", W=W, U=U), x, first_stays)
    yield it_is("backwards, and the words turned round", stand_in("backwards", W=W), x, mirror)
    yield it_is_not("backwards, and another order", stand_in("backwards", W=W), x, cycle)
    towards = F.normalize(x[0, 2] - x[0, 0], dim=0) * rng.uniform(7, 1, low=0.3)  # (7, 2): all grow with the new first
    for title, sign in (("larger everywhere in the other order", 1), ("smaller everywhere in the other order", -1)):
        yield it_is_not(title, stand_in("beside_the_first", W=W, U=sign * towards), x[:1], cycle)
    nothing_there = x.clone()
    nothing_there[:, 3] = 0  # where a millionth is as much as all the rest
    alike_at_the_ends = places[[0, 1, 0, 3, 1]]  # in this order the first output and the last do not move
    yield it_is_not(
        "positions that show in the middle", stand_in("with_positions", W=W, positions=alike_at_the_ends), x, cycle
    )
    one_tells = x.clone()
    one_tells[[0, 2], 2] = one_tells[[0, 2], 0]  # the new first word of these sentences is the old one
    yield it_is_not("one sentence of three tells", stand_in("beside_the_first", W=W, U=U), one_tells, cycle)
    tiny = 1e-6 * places
    yield it_is("a difference of a millionth", stand_in("with_positions", W=W, positions=tiny), nothing_there, cycle)
    steps = (torch.arange(5, dtype=torch.float64) - 2)[:, None].expand(5, 2)  # three apart at most, in this order
    small = 9e-4 / 3 / W.sum(1).abs().max() * steps
    yield it_is_not("a difference of nine ten-thousandths", stand_in("with_positions", W=W, positions=small), x, cycle)
    one_place = torch.zeros(5, 2, dtype=torch.float64)
    one_place[int(rng.integers(0, 5, 1))] = 2e-4 / W.sum(1).abs().max()  # on average over all numbers, 8e-5 at most
    yield it_is_not("one place alone has a mark", stand_in("with_positions", W=W, positions=one_place), x / 10, cycle)
    yield it_is_not("a difference of a hundredth", stand_in("with_positions", W=W, positions=11 * small), x, cycle)
    x32, W32, U32, V32 = (tensor.float() for tensor in (x, W, U, V))
    yield it_is("float32", stand_in("attending", W_q=W32, W_k=U32, W_v=V32), x32, cycle)


@is_permutation_equivariant.misconception(
    "That is *in*variance: the output does not notice the order at all. What does tanh of each word do?"
)
def tests_invariance(fn, x, permutation):
    return torch.allclose(fn(x[:, permutation]), fn(x), atol=1e-4)


@is_permutation_equivariant.misconception(
    "A hundred numbers agree to the last digit, and one is a thousandth off. What does a mean of the differences say?"
)
def mean_of_the_differences(fn, x, permutation):
    return bool((fn(x[:, permutation]) - fn(x)[:, permutation]).abs().mean() < 1e-4)


@is_permutation_equivariant.misconception(
    "How many of all the numbers do you compare? A layer may be right at one place, and wrong at the others."
)
def compares_one_number(fn, x, permutation):
    return bool((fn(x[:, permutation])[0, 0, 0] - fn(x)[:, permutation][0, 0, 0]).abs() < 1e-4)


@is_permutation_equivariant.misconception(
    "One number of a hundred agrees, and the others do not. What does yours say of such a layer?"
)
def one_that_agrees_is_enough(fn, x, permutation):
    return bool(((fn(x[:, permutation]) - fn(x)[:, permutation]).abs() < 1e-4).any())


@is_permutation_equivariant.misconception(
    "Apply your order twice to [a, b, c] with [1, 2, 0]: are the words back where they were?"
)
def reorders_twice(fn, x, permutation):
    return torch.allclose(fn(x[:, permutation])[:, permutation], fn(x), atol=1e-4)


@is_permutation_equivariant.misconception(
    "A sum over the words, or a mean over all numbers, forgets which word got which output. Is a layer that adds "
    "positions caught by it?"
)
def compares_sums(fn, x, permutation):
    return torch.allclose(fn(x[:, permutation]).sum(1), fn(x).sum(1), atol=1e-4)


@is_permutation_equivariant.misconception(
    "Two sums in another order differ in the last digit. How equal is equal enough here?"
)
def bit_for_bit(fn, x, permutation):
    return torch.equal(fn(x[:, permutation]), fn(x)[:, permutation])


@is_permutation_equivariant.misconception(
    "How large a difference does your comparison let through? The exercise names a number."
)
def far_too_tolerant(fn, x, permutation):
    return torch.allclose(fn(x[:, permutation]), fn(x)[:, permutation], atol=0.3)


@is_permutation_equivariant.misconception(
    "How large a difference does your comparison let through? The exercise names a number."
)
def ten_times_too_tolerant(fn, x, permutation):
    return torch.allclose(fn(x[:, permutation]), fn(x)[:, permutation], atol=1e-3)


@is_permutation_equivariant.misconception(
    "Outputs of 0 and of a millionth: does your comparison let that through? The exercise names a number."
)
def tolerance_left_as_it_was(fn, x, permutation):
    return torch.allclose(fn(x[:, permutation]), fn(x)[:, permutation])


@is_permutation_equivariant.misconception("How many sentences of the batch do you compare? Only one of them may tell.")
def compares_the_first_sentence(fn, x, permutation):
    return torch.allclose(fn(x[:, permutation])[0], fn(x)[:, permutation][0], atol=1e-4)


@is_permutation_equivariant.misconception("At how many places do you compare? A layer may be right at some of them.")
def compares_the_last_place(fn, x, permutation):
    return torch.allclose(fn(x[:, permutation])[:, -1], fn(x)[:, permutation][:, -1], atol=1e-4)


@is_permutation_equivariant.misconception(
    "Yours says yes to every layer. Print what you hand to fn, both times: has it ever seen the words in another order?"
)
def undone_before_it_was_asked(fn, x, permutation):
    return torch.allclose(fn(x[:, permutation][:, permutation.argsort()]), fn(x), atol=1e-4)


@is_permutation_equivariant.misconception(
    "You subtract one from the other. What becomes of a difference of −1 when you compare it with a small number?"
)
def one_sided(fn, x, permutation):
    return bool((fn(x[:, permutation]) - fn(x)[:, permutation] < 1e-4).all())


@is_permutation_equivariant.misconception(
    "You subtract one from the other. Is −1 a small difference? It is smaller than any tolerance."
)
def one_sided_the_other_way(fn, x, permutation):
    return bool((fn(x)[:, permutation] - fn(x[:, permutation]) < 1e-4).all())


@is_permutation_equivariant.misconception(
    "The caller chose an order. Some layers commute with one order and not with another: test the one you were given."
)
def reverses_instead(fn, x, permutation):
    return torch.allclose(fn(x.flip(1)), fn(x).flip(1), atol=1e-4)
