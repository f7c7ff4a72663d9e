"""Right answers to `route` that look nothing like the reference."""

from __future__ import annotations

import torch


def shares_of_probabilities(logits, k):
    p, experts = (logits - logits.amax(-1, keepdim=True)).softmax(-1).topk(k)
    return p / p.sum(-1, keepdim=True), experts


def sorted_first(logits, k):
    experts = torch.argsort(logits, dim=-1, descending=True)[:, :k]
    chosen = torch.gather(logits, 1, experts)
    exponentials = (chosen - chosen[:, :1].detach()).exp()
    return exponentials / exponentials.sum(1, keepdim=True), experts


def token_by_token(logits, k):
    rows = [sorted(range(len(row)), key=lambda e: -float(row[e]))[:k] for row in logits]
    weights = torch.stack([torch.softmax(logits[n, row], 0) for n, row in enumerate(rows)])
    return weights, torch.tensor(rows)


def masked(logits, k):
    experts = logits.topk(k, -1).indices
    allowed = torch.zeros_like(logits, dtype=torch.bool).scatter(-1, experts, True)
    return logits.masked_fill(~allowed, -torch.inf).softmax(-1).gather(-1, experts), experts


def as_in_transformers(logits, k):
    p, experts = torch.softmax(logits, dim=1, dtype=torch.float32).topk(k)
    return (p / p.sum(dim=-1, keepdim=True)).to(logits.dtype), experts


def with_a_millionth(logits, k):
    experts = (-logits).sort(dim=-1, stable=True).indices[:, :k]
    p = logits.softmax(-1).gather(-1, experts)
    return p / (p.sum(-1, keepdim=True) + 1e-6), experts


ALTERNATIVES = [sorted_first, token_by_token, masked, shares_of_probabilities, as_in_transformers, with_a_millionth]
