"""Right answers to `blockwise_attention` that look nothing like the reference."""

from __future__ import annotations

import torch


def running_sums(q, k, v, block, causal=False):
    """Without a block of its own: the maximum, the sum and the output run along."""
    if block < 1:
        raise ValueError("no keys in a block")
    B, h, T, d = q.shape
    S = k.shape[2]
    top = torch.full((B, h, T, 1), float("-inf"), dtype=q.dtype)
    total, out = torch.zeros_like(top), q.new_zeros(B, h, T, v.shape[-1])
    for some_k, some_v, at in zip(k.split(block, 2), v.split(block, 2), torch.arange(S).split(block)):
        scores = torch.einsum("bhtd,bhsd->bhts", q * d**-0.5, some_k)
        if causal:
            scores = torch.where(at[None, :] <= torch.arange(T)[:, None] + (S - T), scores, -torch.inf)
        new = torch.maximum(top, scores.detach().amax(-1, keepdim=True))
        shift = torch.nan_to_num(new, neginf=0.0)
        weights, old = (scores - shift).exp(), (top - shift).exp()
        total = total * old + weights.sum(-1, keepdim=True)
        out = out * old + weights @ some_v
        top = new
    seen = total > 0
    lse = torch.where(seen, shift + torch.where(seen, total, 1.0).log(), -torch.inf)
    return torch.where(seen, out / torch.where(seen, total, 1.0), 0.0), lse.squeeze(-1)


def with_log_sums(q, k, v, block, causal=False):
    """FlashAttention's first version: divided outputs, joined by their log-sum-exp."""
    if block <= 0:
        raise ValueError("no keys in a block")
    T, S = q.shape[-2], k.shape[-2]
    out, lse = torch.zeros(*q.shape[:-1], v.shape[-1], dtype=q.dtype), torch.zeros(q.shape[:-1], dtype=q.dtype)
    any_yet = torch.zeros(T, dtype=torch.bool)
    for begin in range(0, S, block):
        scores = q @ k[..., begin : begin + block, :].transpose(-1, -2) / q.shape[-1] ** 0.5
        seen = torch.ones(T, scores.shape[-1], dtype=torch.bool)
        if causal:
            seen = seen.tril(S - T - begin)
        here = seen.any(-1)
        safe = scores.masked_fill(~here[:, None], 0.0).masked_fill(~seen & here[:, None], -torch.inf)
        found, size = safe.softmax(-1) @ v[..., begin : begin + block, :], safe.logsumexp(-1)
        both = here & any_yet
        share = torch.where(both, (size - lse).sigmoid(), here.to(q.dtype).expand_as(lse))
        joined = torch.where(both, torch.logaddexp(lse, size), torch.where(here, size, lse))
        out, lse, any_yet = out + share[..., None] * (found - out), joined, any_yet | here
    return out, lse.masked_fill(~any_yet, -torch.inf)


ALTERNATIVES = [running_sums, with_log_sums]
