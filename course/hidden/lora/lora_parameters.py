"""Hidden tests of `lora_parameters`, the count of numbers that low-rank updates add."""

from course.exercise import call, exercise
from course.reference import lora as reference


@exercise(
    reference.lora_parameters,
    hints=(
        "Draw A and B beside a weight of 5 × 7 with r = 2. How many numbers do you see in each?",
        "Double in and out. Does the count double, or is it four times as large?",
        "Begin with a list of one shape, the 40 × 40 of the text, and check that you get 160. Then try two shapes, "
        "and none at all.",
    ),
    calls=(
        "lora_parameters([(2, 3)], 1)",
        "lora_parameters([(2, 3), (4, 1)], 1)",
        "lora_parameters([(2, 3)], 4)",
        "lora_parameters([], 8)",
        "lora_parameters([(5, 5), (5, 5)], 2)",
        "lora_parameters([(2, 2)], 2)",
    ),
)
def lora_parameters(rng):
    """One layer, several, none. No size equals another, and neither does any product or sum."""
    yield call("one layer", [(5, 7)], 2, public=True)
    yield call("three layers", [(5, 7), (11, 3), (2, 13)], 3, public=True)
    yield call("a Transformer's", [(512, 512)] * 24 + [(2048, 512), (512, 2048)] * 6, 8)
    yield call("rank one", [(17, 5), (3, 19)], 1)
    yield call("no layer at all", [], 5, weight=0.5).counts_with("one layer")
    few = [(int(a), int(b)) for a, b in rng.integers(2, 40, 6, 2)]
    yield call("drawn sizes", few, 5)


def _summed(numbers):
    """The answer that adds up the `numbers` of a weight (o, i) with rank r."""
    return lambda shapes, r: sum(numbers(o, i, r) for o, i in shapes)


lora_parameters.mistakes(
    "With a rank of one, A is a row and B a column. How many numbers are a row and a column?",
    product_for_sum=_summed(lambda o, i, r: r * o * i),
)
lora_parameters.mistakes(
    "B (out, r) learns too. Where is it in your count?",
    factor_A_counted=_summed(lambda o, i, r: r * i),
)
lora_parameters.mistakes(
    "A (r, in) learns too. Where is it in your count?",
    factor_B_counted=_summed(lambda o, i, r: r * o),
)
lora_parameters.mistakes(
    "A is (r, in) and B is (out, r). Do they have the same size when in and out differ?",
    two_of_factor_B=_summed(lambda o, i, r: 2 * r * o),
    two_of_factor_A=_summed(lambda o, i, r: 2 * r * i),
)
lora_parameters.mistakes(
    "Take twice the rank. Which sides of A and B grow?",
    without_the_rank=_summed(lambda o, i, r: o + i),
)
lora_parameters.mistakes(
    "The weight is frozen. Is it among the numbers that learn?",
    the_frozen_weight_as_well=_summed(lambda o, i, r: r * (o + i) + o * i),
)
lora_parameters.mistakes(
    "Give it the same layer twice. Should the count not double?",
    one_layer_counted=lambda shapes, r: reference.lora_parameters(shapes[:1], r),
)
