"""Wrong answers to `RollingCache`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

from course.reference.cost import RollingCache as Right

# -- first attempts ----------------------------------------------------------------------------------------------------


class NoPositions(Right):
    def update(self, k, v):
        return super().update(k, v)[:2]


class AlongTheHeads(Right):
    def update(self, k, v):
        k, v, positions = super().update(k.transpose(1, 2), v.transpose(1, 2))
        return k.transpose(1, 2), v.transpose(1, 2), positions


class ForgetsNothing(Right):
    def update(self, k, v):
        self.window = 10**9
        return super().update(k, v)


class TakesAnyWindow(Right):
    def __init__(self, window):
        super().__init__(max(window, 1))


FIRST_ATTEMPTS = {
    NoPositions: "expected 3 results, got 2",
    AlongTheHeads: "Sizes of tensors must match except in dimension 2",
    ForgetsNothing: "the cache holds more than",
    TakesAnyWindow: "your code should raise ValueError",
}

# -- others ------------------------------------------------------------------------------------------------------------


class RollsOneStepEarly(Right):
    def __init__(self, window):
        super().__init__(window)
        self.window = max(window - 1, 1)


class WritesOverWhatItReturned(Right):
    """What a token gets is moved in place for the next one."""

    def update(self, k, v):
        last, made = getattr(self, "last", None), super().update(k, v)
        self.last = made[:2]
        if last is not None and all(a.shape == b.shape for a, b in zip(last, self.last)):
            for old, new in zip(last, self.last):
                old.copy_(new)
        return made


MUTANTS = [RollsOneStepEarly, WritesOverWhatItReturned]
