"""Hidden tests of `receptive_field`."""

from __future__ import annotations

from math import prod

from course.exercise import call, exercise
from course.reference import hidden_states as reference


@exercise(
    reference.receptive_field,
    hints=(
        "Draw two layers with kernel 2 and dilations 1 and 2. Which inputs have a line to the last output?",
        "Begin without any layer, where an output is its own input. How much further back does one more layer reach? "
        "What does a layer with kernel 1 add?",
    ),
    calls=(
        "receptive_field(3, [1])",
        "receptive_field(2, [1, 2, 4])",
        "receptive_field(1, [1, 2])",
        "receptive_field(3, [])",
        "receptive_field(5, [1, 1])",
        "receptive_field(3, [1, 2])",
    ),
)
def receptive_field(rng):
    """WaveNet's doubling, equal dilations, gaps between the taps, a kernel of one, and dilations in no order."""
    yield call("dilations that double", 3, [1, 2, 4, 8], public=True)
    yield call("inputs that no tap meets", 3, [3, 9, 3], public=True)
    yield call("one layer", 5, [3])
    yield call("kernel two", 2, [1, 2, 4, 8, 16])
    yield call("the same dilation three times", 3, [2, 2, 2])
    yield call("a kernel of one", 1, [1, 2, 4]).counts_with("dilations that double")
    yield call("some layers", int(rng.integers(3, 8, 1)), rng.integers(2, 20, 5).tolist(), weight=2.0)


def _inputs_with_weight(kernel, dilations):
    reached = {0}
    for dilation in dilations:
        reached = {place + i * dilation for place in reached for i in range(kernel)}
    return len(reached)


receptive_field.mistakes(
    "How many inputs does an output of a layer with kernel 1 depend on? Put a kernel of 1 into your formula.",
    itself_forgotten=lambda kernel, dilations: (kernel - 1) * sum(dilations),
)
receptive_field.mistakes(
    "Draw one layer with kernel 3 and dilation 2. How far back does it reach, in steps?",
    kernel_for_its_steps=lambda kernel, dilations: kernel * sum(dilations),
)
receptive_field.mistakes(
    "Draw two layers on top of each other. Does the second one see only what its own taps reach?",
    deepest_layer_only=lambda kernel, dilations: 1 + (kernel - 1) * max(dilations),
    last_layer_only=lambda kernel, dilations: 1 + (kernel - 1) * dilations[-1],
)
receptive_field.mistakes(
    "Change a dilation from 1 to 4. Does your number change?",
    dilations_not_read=lambda kernel, dilations: 1 + (kernel - 1) * len(dilations),
)
receptive_field.mistakes(
    "One layer has kernel 2 and dilation 4. How many inputs lie between its two taps, and does your number count them?",
    gaps_left_out=_inputs_with_weight,
)
receptive_field.mistakes(
    "Two layers both look at the present. How often do you count it?",
    present_counted_in_each_layer=lambda kernel, dilations: sum(1 + (kernel - 1) * d for d in dilations),
)
receptive_field.mistakes(
    "Take kernel 3 and dilations 2, 2. Count the lines in a drawing. Does a layer's reach multiply, or add to what "
    "is there?",
    reaches_multiplied=lambda kernel, dilations: prod(1 + (kernel - 1) * d for d in dilations),
)
