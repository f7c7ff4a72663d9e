"""What the notebook on cost has its reader predict."""

from __future__ import annotations

from course.exercise.prediction import Prediction, right, wrong

PREDICTIONS = (
    Prediction(
        "memory_of_blocks_in_training",
        "Your attention in blocks never makes a table of all scores. Now train with it, so that autograd keeps what it "
        "needs for the backward pass. How much is kept for 2,048 tokens, compared with attention that makes the table?",
        wrong(
            "a small part of it",
            "Each block's weights are needed for its gradient, so autograd keeps all blocks until the backward pass.",
        ),
        wrong(
            "half of it",
            "Half of a causal table is hidden, but autograd keeps hidden scores like any others.",
        ),
        right(
            "at least as much",
            "Autograd keeps the weights of each block, and all blocks together have as many numbers as the table. Some "
            "ways to write the blocks keep twice as much.",
        ),
    ),
    Prediction(
        "reach_beside_a_global_token",
        "A causal window of 3, and the first token is global. How many of 40 tokens does the last one hear of after "
        "three layers?",
        wrong("7", "That is the window's own reach, 3 · 2 + 1. The global token is one more."),
        right(
            "8",
            "The window reaches 7, and the global token is seen as well. It passes nothing on, because under a causal "
            "mask the first token sees only itself.",
        ),
        wrong(
            "40",
            "That is what it hears of where the mask is not causal. A causal first token sees nothing but itself, "
            "so it has nothing to pass on.",
        ),
    ),
    Prediction(
        "share_at_a_lower_temperature",
        "Your draft guesses at temperature 1, and the dictionary writes at temperature 1. Now both read their logits "
        "at temperature 0.5. What becomes of the share of guesses that stay?",
        wrong(
            "it rises clearly, since both are surer",
            "They are surer, but of different tokens. Where the two likeliest tokens differ, almost nothing is shared.",
        ),
        right(
            "it falls a little",
            "At a lower temperature each puts more on its own favourite. Where the favourites differ, less is shared, "
            "and this outweighs the places where they agree.",
        ),
        wrong("it falls to almost nothing", "In many places both have the same favourite, and there the share rises."),
    ),
)
