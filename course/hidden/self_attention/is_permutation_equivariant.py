"""Hidden tests of `is_permutation_equivariant`."""

import torch
from torch.nn import functional as F

from course.exercise import call, exercise, stand_in
from course.reference import self_attention as reference


@exercise(
    reference.is_permutation_equivariant,
    hints=(
        "You can reorder first or compute first. For an equivariant layer both ways lead to the same output.",
        "Try it by hand with torch.cumsum and with torch.tanh on a sentence of three words, and the order [1, 2, 0].",
        "Begin with two tensors, the output for the reordered words and the reordered output for the words. Both have "
        "the shape (B, T, …), so which axis does the permutation index? Then compare every number, with the tolerance "
        "that the exercise names.",
    ),
    calls=(
        "is_permutation_equivariant(lambda x: 2 * x, tensor([[[1.], [2.], [3.]]]), tensor([2, 0, 1]))",
        (
            "is_permutation_equivariant(lambda x: x.sum(1, keepdim=True) - x, tensor([[[1.], [2.], [3.]]]), "
            "tensor([2, 0, 1]))"
        ),
        "is_permutation_equivariant(lambda x: x.flip(1), tensor([[[1.], [2.], [3.]]]), tensor([1, 0, 2]))",
        "is_permutation_equivariant(lambda x: x.cumsum(1), tensor([[[1.], [2.], [3.]]]), tensor([0, 1, 2]))",
        "is_permutation_equivariant(lambda x: x.flip(1), tensor([[[4.], [4.], [4.]]]), tensor([1, 0, 2]))",
        "is_permutation_equivariant(lambda x: 0 * x, tensor([[[1.], [2.], [3.]]]), tensor([1, 2, 0]))",
    ),
)
def is_permutation_equivariant(rng):
    """Equivariant layers and others, some of which only look equivariant. The order of five words is no involution."""
    cycle = torch.tensor([2, 0, 3, 4, 1])
    x, W, U = rng.normal(3, 5, 2), rng.normal(7, 2), rng.normal(7, 2)
    V = rng.normal(7, 2)
    places = rng.normal(5, 2)

    def it_is(title, *inputs, **options):
        """A constant answer earns nothing, because each answer counts together with two of the other kind."""
        return call(title, *inputs, **options).counts_with("a running mean", "word plus position")

    def it_is_not(title, *inputs, **options):
        return call(title, *inputs, **options).counts_with("self-attention", "the mean at every position")

    mirror = torch.arange(5).flip(0)
    yield it_is("self-attention", stand_in("attending", W_q=W, W_k=U, W_v=V), x, cycle, public=True)
    yield it_is("self-attention, turned round", stand_in("attending", W_q=W, W_k=U, W_v=V), x, mirror, public=True)
    yield it_is_not("a running mean", stand_in("running_mean", W=W), x, cycle, public=True)
    yield it_is("the mean of another order", stand_in("pooled", W=U), x, cycle, public=True)
    yield it_is_not("word plus position", stand_in("with_positions", W=W, positions=places), x, cycle)
    yield it_is("each word beside the mean", stand_in("beside_the_mean", W=W, U=U), x, cycle)
    yield it_is("the mean at every position", stand_in("pooled", W=W), x, cycle)
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
    yield it_is_not(
        "one position alone has an encoding", stand_in("with_positions", W=W, positions=one_place), x / 10, cycle
    )
    yield it_is_not("a difference of a hundredth", stand_in("with_positions", W=W, positions=11 * small), x, cycle)
    x32, W32, U32, V32 = (tensor.float() for tensor in (x, W, U, V))
    yield it_is("float32", stand_in("attending", W_q=W32, W_k=U32, W_v=V32), x32, cycle)


def _equal(seen, expected):
    return torch.allclose(seen, expected, atol=1e-4)


is_permutation_equivariant.mistakes(
    "You test *in*variance, where the output stays as it was. What does tanh of each word do?",
    tests_invariance=lambda fn, x, permutation: _equal(fn(x[:, permutation]), fn(x)),
)
is_permutation_equivariant.mistakes(
    "A sum over the words, or a mean over all numbers, forgets which word got which output. Does your test "
    "catch a layer that adds positions?",
    compares_sums=lambda fn, x, permutation: _equal(fn(x[:, permutation]).sum(1), fn(x).sum(1)),
)
is_permutation_equivariant.mistakes(
    "Two sums in another order differ in the last digit. Which tolerance is right here?",
    bit_for_bit=lambda fn, x, permutation: torch.equal(fn(x[:, permutation]), fn(x)[:, permutation]),
)
is_permutation_equivariant.mistakes(
    "How large a difference does your comparison let through? The exercise names a number.",
    ten_times_too_tolerant=lambda fn, x, permutation: torch.allclose(
        fn(x[:, permutation]), fn(x)[:, permutation], atol=1e-3
    ),
)
is_permutation_equivariant.mistakes(
    "x is (B, T, D). Which of its axes counts the words, and which one does your permutation index?",
    sentences_reordered=lambda fn, x, permutation: _equal(fn(x[permutation]), fn(x)[permutation]),
)
is_permutation_equivariant.mistakes(
    "A comparison of two tensors gives True or False for each number. Print yours. Which single answer do you need?",
    asks_if_for_a_table=lambda fn, x, permutation: bool(fn(x[:, permutation]) == fn(x)[:, permutation]),
    returns_a_table=lambda fn, x, permutation: fn(x[:, permutation]) == fn(x)[:, permutation],
)
is_permutation_equivariant.mistakes(
    "You subtract one output from the other. Is a difference of −1 smaller than 0.0001?",
    one_sided=lambda fn, x, permutation: bool((fn(x[:, permutation]) - fn(x)[:, permutation] < 1e-4).all()),
)
