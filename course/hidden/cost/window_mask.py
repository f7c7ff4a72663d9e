"""Hidden tests of `window_mask`: how many keys a query sees, both directions, and tokens that see all."""

from __future__ import annotations

import torch

from course.exercise import call, exercise
from course.reference import cost as reference

CAUSAL = "seven tokens, a window of three"


@exercise(
    reference.window_mask,
    hints=(
        "With a window of 3, how many keys does the last query of a long text see, its own included?",
        "Write down a row of |i - j| for five tokens. Which of these distances does a window of 2 allow?",
        "Two global tokens of six, not causal. Which rows are full, and which columns?",
        "Begin with the table of i - j. The window, the global tokens and the causal rule are three conditions on it.",
    ),
    calls=(
        "window_mask(4, 2)",
        "window_mask(3, 1)",
        "window_mask(4, 2, causal=False)",
        "window_mask(4, 1, 1)",
        "window_mask(4, 1, 1, False)",
        "window_mask(3, 9).sum(1)",
        "window_mask(3, 0)",
    ),
)
def window_mask(rng):
    """Windows from one key to more than there are tokens, with and without global tokens, in both directions."""
    yield call(CAUSAL, 7, 3, public=True, weight=2.0)
    yield call("both sides", 7, 3, causal=False, public=True, weight=2.0)
    T, window = rng.choice([19, 23]), rng.choice([5, 7])
    yield call("a longer text", T, window, weight=2.0)
    yield call("a longer text, both sides", T, window, 0, False)
    yield call("each token alone", 5, 1).counts_with(CAUSAL)
    yield call("each token alone, both sides", 5, 1, causal=False, weight=0.5).counts_with(CAUSAL)
    yield call("a window longer than the text", 5, 11, weight=0.5).counts_with(CAUSAL)
    yield call("two global tokens, causal", T, 3, 2, public=True, weight=2.0)
    yield call("two global tokens, both sides", 11, window, 2, causal=False, public=True, weight=2.0)
    yield call("as many global tokens as there are", 5, 2, 5, False, weight=0.5).counts_with(CAUSAL)
    for window in (0, -3):
        yield call(f"a window of {window}", 5, window, raises="ValueError", weight=0.25, public=True)


def _seen(window=lambda behind, w: behind.abs() < w, everyone=lambda g: g | g[:, None], last=lambda x, past: x & past):
    def mask(T, w, n_global=0, causal=True):
        if w < 1:
            raise ValueError("a window has one key at least")
        at = torch.arange(T)
        behind = at[:, None] - at
        seen = window(behind, w) | everyone(at < n_global)
        return last(seen, behind >= 0) if causal else seen

    return mask


window_mask.mistakes(
    "How many keys does the last query see with a window of 3? Count its own, too.",
    own_key_not_counted=_seen(window=lambda behind, w: behind.abs() <= w),
)
window_mask.mistakes(
    "Take a window of 4, both sides, and a query in the middle. How many keys does it see to its left, and how many "
    "behind it?",
    half_on_each_side=lambda T, w, n_global=0, causal=True: (
        reference.window_mask(T, w, n_global, causal) if causal or w < 1
        else reference.window_mask(T, w // 2 + 1, n_global, causal)
    ),
)  # fmt: skip
window_mask.mistakes(
    "Look at row 0 and at column 0 with one global token, not causal. Both should be full.",
    global_tokens_only_look=_seen(everyone=lambda g: g[:, None].expand(-1, len(g))),
)


@window_mask.misconception("Your mask is causal. Does the first token see the last one?")
def global_tokens_see_the_future(T, w, n_global=0, causal=True):
    at = torch.arange(T)
    return reference.window_mask(T, w, 0, causal) | (at < n_global) | (at < n_global)[:, None]


window_mask.mistakes(
    "True means that a query may look. How many entries of a row are True for a window of 1?",
    true_where_hidden=lambda T, w, n_global=0, causal=True: ~reference.window_mask(T, w, n_global, causal),
)
