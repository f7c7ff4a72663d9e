"""Wrong answers to `swiglu` that no misconception knows by name."""

from __future__ import annotations

from torch.nn import functional as F


def gate_detached(x, W_gate, W_up, W_down):
    return (F.silu(x @ W_gate.T).detach() * (x @ W_up.T)) @ W_down.T


MUTANTS = [gate_detached]
