"""Hidden tests of `reach`: windows in several layers, global tokens, no layer at all, and long texts."""

from __future__ import annotations

import torch

from course.exercise import call, exercise
from course.reference import cost as reference

WINDOW = "a window of three, two layers"


@exercise(
    reference.reach,
    hints=(
        "A window of 3, and the last of 40 tokens. Which inputs does it hear of after one layer? What had those heard?",
        "What does a layer's output at i depend on besides the tokens that i sees? Think of the residual connection.",
        "Without a layer, which input can change which output? Begin with that table, and let one layer change it.",
        "Begin with one layer more: output i hears of j if it sees some m that has heard of j. Which product of two "
        "tables asks this for all i and j?",
    ),
    calls=(
        "reach(tensor([[True, False, False], [True, True, False], [False, True, True]]), 1)",
        "reach(tensor([[True, False, False], [True, True, False], [False, True, True]]), 2)",
        "reach(zeros(2, 2).bool(), 3)",
        "reach(ones(2, 2).bool(), 0)",
        "reach(tensor([[False, True, False], [False, False, True], [False, False, False]]), 2)",
        "reach(tensor([[True, False, False], [True, True, True], [False, False, True]]), 5)",
    ),
)
def reach(rng):
    """A window's reach grows by layers; masks of no pattern; tokens that do not see themselves; counts of 2^60."""

    def some(T, share):
        return rng.uniform(T, T) < share

    mask = reference.window_mask
    yield call(WINDOW, mask(11, 3), 2, public=True, weight=2.0)
    yield call("one layer", some(7, 0.3), 1)
    yield call("no layer", some(5, 0.4), 0, public=True).counts_with(WINDOW)
    yield call("three layers, both sides", mask(23, 3, causal=False), 3, weight=2.0)
    yield call("three layers with a global token, causal", mask(40, 3, 1), 3, public=True, weight=2.0)
    yield call("two layers with a global token, both sides", mask(13, 2, 1, False), 2).counts_with(WINDOW)
    hidden = some(13, 0.12) & ~torch.eye(13, dtype=torch.bool)
    yield call("tokens that do not see themselves", hidden, 2, public=True, weight=2.0)
    yield call("five layers of no pattern", some(29, 0.04), 5, weight=2.0)
    yield call("a mask that sees nothing", torch.zeros(5, 5, dtype=torch.bool), 3, weight=0.5).counts_with(WINDOW)
    yield call("three hundred tokens, sixty layers", mask(300, 200), 60, weight=2.0)
    yield call("each way round", some(17, 0.08).triu(), 3)


reach.mistakes(
    "Hide a token from itself. Its own input still reaches its output. By which way?",
    residual_forgotten=lambda mask, layers: torch.linalg.matrix_power(mask.double(), layers).nan_to_num(1.0) > 0,
)
reach.mistakes(
    "A window of 3 in one layer shows 3 tokens to the last one. How many does it hear of in two layers?",
    one_layer_only=lambda mask, layers: mask | torch.eye(len(mask), dtype=torch.bool),
)
reach.mistakes(
    "Without any layer nobody hears of others. Compare your result for 0 layers, and then for 1.",
    one_layer_too_many=lambda mask, layers: reference.reach(mask, layers + 1),
)
reach.mistakes(
    "Row i says what output i hears of. Try a causal mask. Does the first output hear of the last input?",
    rows_and_columns_exchanged=lambda mask, layers: reference.reach(mask, layers).T,
)
reach.mistakes(
    "Print the largest number in your table for 300 tokens and 60 layers. Is it a number?",
    ways_overflow=lambda mask, layers: (
        torch.linalg.matrix_power((mask | torch.eye(len(mask), dtype=torch.bool)).float(), layers) > 0
    ),
)
