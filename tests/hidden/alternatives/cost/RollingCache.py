"""Right answers to `RollingCache` that look nothing like the reference."""

from __future__ import annotations

import torch


class Ring:
    """Place p of the text lies at p modulo window - 1, so what comes back is in no order."""

    def __init__(self, window):
        if window < 1:
            raise ValueError("no window")
        self.size, self.count, self.memory = window - 1, 0, None

    def update(self, k, v):
        T = k.shape[2]
        if self.memory is None:
            shapes = [(*x.shape[:2], self.size, x.shape[3]) for x in (k, v)]
            self.memory = [x.new_zeros(shape) for x, shape in zip((k, v), shapes)]
            self.places = torch.full((self.size,), -1)
        new = torch.arange(self.count, self.count + T)
        known = self.places >= 0
        keys, values = (torch.cat([old[:, :, known], x], 2) for old, x in zip(self.memory, (k, v)))
        positions = torch.cat([self.places[known], new])
        self.count += T
        if self.size:
            last = new[-self.size :]
            at = last % self.size
            self.memory = [old.index_copy(2, at, x[:, :, T - len(last) :]) for old, x in zip(self.memory, (k, v))]
            self.places = self.places.index_copy(0, at, last)
        return keys, values, positions


class ListOfTokens:
    """A token at a time, forgotten one by one."""

    def __init__(self, window):
        if window <= 0:
            raise ValueError("no window")
        self.window, self.tokens, self.seen = window, [], 0

    def update(self, k, v):
        for t in range(k.shape[2]):
            self.tokens.append((k[:, :, t].clone(), v[:, :, t].clone(), self.seen))
            self.seen += 1
        keys, values, positions = zip(*self.tokens)
        result = torch.stack(keys, 2), torch.stack(values, 2), torch.tensor(positions)
        while len(self.tokens) > self.window - 1:
            self.tokens.pop(0)
        return result


ALTERNATIVES = [Ring, ListOfTokens]
