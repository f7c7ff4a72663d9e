"""Hidden tests of `RollingCache`: what a query may see, where it stands in the text, and what is kept."""

from __future__ import annotations

import torch

from course.exercise import Ref, build, exercise, stand_in
from course.reference import cost as reference

BY_TOKEN = "a prompt of five, then token by token"
KEPT = "memory behind a prompt of 3,000"


@exercise(
    reference.RollingCache,
    hints=(
        "A window of 3: after a prompt of five tokens, which old keys may the sixth token see?",
        "The queries of a long prompt look at keys that nobody needs afterwards. When may these go?",
        "Write down the positions that come back for a window of 3, a prompt of 5 and then three single tokens.",
        "Begin with a cache that forgets nothing, and its positions. Then cut what it keeps, behind what it returns.",
    ),
    calls=(
        "RollingCache(3).update(numbers(1, 1, 5, 2), numbers(1, 1, 5, 3))[2]",
        "RollingCache(1).update(tensor([[[[1.], [2.]]]]), tensor([[[[3.], [4.]]]]))[2]",
        "[x.shape for x in RollingCache(3).update(numbers(2, 3, 5, 7), numbers(2, 3, 5, 4))]",
        "RollingCache(0)",
    ),
)
def RollingCache(rng):
    """Prompts shorter and longer than the window, chunks, a window of one key, and the bytes that stay."""

    def fed(title, window, *lengths, B=2, g=3, d=5, dv=2, **settings):
        """A text chunk by chunk. All that came back is looked at again at the end."""
        case = build(title, window, **settings).compare_by("by_position").make(stand_in("unchanged"), into="look")
        names = [f"chunk {i}" for i in range(1, len(lengths) + 1)]
        for name, T in zip(names, lengths):
            case = case.call(rng.normal(B, g, T, d), rng.normal(B, g, T, dv), method="update", into=name)
        for name in names[:-1]:
            case = case.call(Ref(name), on="look", into=f"{name}, looked at again")
        return case

    yield fed(BY_TOKEN, 3, 5, 1, 1, 1, public=True, weight=2.0)
    yield fed("a prompt shorter than the window", 5, 2, 1, 1, 1, 1, 1, public=True, weight=2.0)
    yield fed("as long as the window", 4, 4, 1, 1)
    yield fed("one token less than the window", 5, 4, 1, 1, 1)
    yield fed("chunks of several tokens", 4, 3, 2, 5, 7, 1, B=1, g=2, d=3, dv=7, weight=2.0)
    yield fed("a long chunk behind a short one", 3, 1, 11, 2, public=True)
    yield fed("a window of one key", 1, 3, 1, 2, public=True)
    yield fed("a window that is never full", 50, 3, 2, 1)
    window, B, g, d, dv = 16, 1, 2, 8, 4
    two = 2 * window * B * g * (d + dv) * 8
    for title, lengths in ((KEPT, (3000,)), ("memory after three hundred tokens", (40, *20 * [13]))):
        case = build(title, window, public=title == KEPT, weight=2.0)
        for i, T in enumerate(lengths):
            case = case.call(rng.normal(B, g, T, d), rng.normal(B, g, T, dv), method="update", into=f"chunk {i}")
        told = f"the cache holds more than {two:,} bytes, which are two windows. A view keeps all that it is a view of"
        held = case.held().laws_only().law("at_most", of="bytes held", value=two, because=told)
        yield held.counts_with("as long as the window", BY_TOKEN)
    for window in (0, -2):
        yield build(f"a window of {window}", window, raises="ValueError", weight=0.25, public=True)


class _Cache(reference.RollingCache):
    """A cache that keeps its last tokens by `cut`."""

    def cut(self, x):
        return x[:, :, max(x.shape[2] - (self.window - 1), 0) :].clone()

    def update(self, k, v):
        self.read += k.shape[2]
        if self.kept is not None:
            k, v = torch.cat([self.kept[0], k], 2), torch.cat([self.kept[1], v], 2)
        self.kept = self.cut(k), self.cut(v)
        return k, v, torch.arange(self.read - k.shape[2], self.read)


@RollingCache.misconception(
    "Positions are counted from the beginning of the text. Which one has the newest token after a hundred?"
)
class PositionsOfTheCache(reference.RollingCache):
    def update(self, k, v):
        k, v, positions = super().update(k, v)
        return k, v, torch.arange(len(positions))


@RollingCache.misconception(
    "The window counts the query's own key, too. How many old keys may a single new token see with a window of 3?"
)
class KeepsAWholeWindow(_Cache):
    def cut(self, x):
        return x[:, :, -self.window :].clone()


@RollingCache.misconception(
    "Feed a prompt of five with a window of 3. Its second token sees the first one. Does your result still have it?"
)
class CutBeforeThePromptHasReadIt(reference.RollingCache):
    def update(self, k, v):
        return tuple(x[..., -self.window :, :] if x.dim() == 4 else x[-self.window :] for x in super().update(k, v))


@RollingCache.misconception("Take a window of 1. What does x[:, :, -0:] give?")
class MinusNought(_Cache):
    def cut(self, x):
        return x[:, :, -(self.window - 1) :].clone()


@RollingCache.misconception(
    "How much memory does a slice of a long prompt keep alive? Compare its `untyped_storage()` with its own size."
)
class KeepsAView(_Cache):
    def cut(self, x):
        return x[:, :, max(x.shape[2] - (self.window - 1), 0) :]
