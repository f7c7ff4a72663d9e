"""Wrong answers to `swiglu` that no misconception knows by name."""

from __future__ import annotations

from torch.nn import functional as F


def gate_after_the_product(x, W_gate, W_up, W_down):
    return F.silu((x @ W_gate.T) * (x @ W_up.T)) @ W_down.T


def both_through_silu(x, W_gate, W_up, W_down):
    return (F.silu(x @ W_gate.T) * F.silu(x @ W_up.T)) @ W_down.T


def gate_detached(x, W_gate, W_up, W_down):
    return (F.silu(x @ W_gate.T).detach() * (x @ W_up.T)) @ W_down.T


def gated_below(x, W_gate, W_up, W_down):
    z = x @ W_gate.T
    return (z * (-z).sigmoid() * (x @ W_up.T)) @ W_down.T


MUTANTS = [gate_after_the_product, both_through_silu, gate_detached, gated_below]
