"""Hidden tests of `lora_parameters`."""

from __future__ import annotations

from course.exercise import call, exercise
from course.reference import lora as reference


@exercise(
    reference.lora_parameters,
    hints=(
        "Draw A and B beside a weight of 5 × 7 with r = 2. How many numbers do you see in each?",
        "Does the count grow with in · out, or with in + out? Double both and see.",
    ),
)
def lora_parameters(rng):
    """One layer, several, none; no size is another's, and no product or sum is another's."""
    yield call("one layer", [(5, 7)], 2, public=True)
    yield call("three layers", [(5, 7), (11, 3), (2, 13)], 3, public=True)
    yield call("a Transformer's", [(512, 512)] * 24 + [(2048, 512), (512, 2048)] * 6, 8)
    yield call("rank one", [(17, 5), (3, 19)], 1)
    yield call("no layer at all", [], 5, weight=0.5).counts_with("one layer")
    few = [(int(a), int(b)) for a, b in rng.integers(2, 40, 6, 2)]
    yield call("drawn sizes", few, 5)


@lora_parameters.misconception(
    "With a rank of one, A is a row and B a column. How many numbers are a row and a column?"
)
def product_for_sum(shapes, r):
    return sum(r * o * i for o, i in shapes)


@lora_parameters.misconception("B (out, r) learns too. Where is it in your count?")
def factor_A_counted(shapes, r):
    return sum(r * i for o, i in shapes)


@lora_parameters.misconception("A (r, in) learns too. Where is it in your count?")
def factor_B_counted(shapes, r):
    return sum(r * o for o, i in shapes)


@lora_parameters.misconception("A is (r, in) and B is (out, r). Are they of one size when in and out differ?")
def two_of_factor_B(shapes, r):
    return sum(2 * r * o for o, i in shapes)


@lora_parameters.misconception("A is (r, in) and B is (out, r). Are they of one size when in and out differ?")
def two_of_factor_A(shapes, r):
    return sum(2 * r * i for o, i in shapes)


@lora_parameters.misconception("Take twice the rank. Which sides of A and B grow?")
def without_the_rank(shapes, r):
    return sum(o + i for o, i in shapes)


@lora_parameters.misconception("The weight is frozen. Is it among the numbers that learn?")
def the_frozen_weight_as_well(shapes, r):
    return sum(r * (o + i) + o * i for o, i in shapes)


@lora_parameters.misconception("This is what full fine-tuning trains. What do A and B have of it?")
def the_whole_weight(shapes, r):
    return sum(o * i for o, i in shapes)


@lora_parameters.misconception("Which bias does the update have? Write its equation down.")
def a_bias_as_well(shapes, r):
    return sum(r * (o + i) + o for o, i in shapes)


@lora_parameters.misconception("Two factors, A and B. Is there a third one of r x r in the equation?")
def a_square_in_between(shapes, r):
    return sum(r * (o + i) + r * r for o, i in shapes)


@lora_parameters.misconception("Give it the same layer twice. Should the count not double?")
def one_layer_counted(shapes, r):
    return sum(r * (o + i) for o, i in shapes[:1])


@lora_parameters.misconception("Give it the same layer twice. Should the count not double?")
def last_layer_counted(shapes, r):
    return sum(r * (o + i) for o, i in shapes[-1:])
