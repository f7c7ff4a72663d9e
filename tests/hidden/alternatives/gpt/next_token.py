"""Right answers to `next_token` that look nothing like the reference."""

from __future__ import annotations

import math

import torch


def by_gumbel(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    """Cut by scores, drawn by noise: argmax of logits with Gumbel noise is a draw from their softmax."""
    if temperature == 0:
        return logits.max(dim=-1).indices
    z = (logits / temperature).log_softmax(-1)
    order = z.argsort(-1, descending=True)
    ranked = z.gather(-1, order)
    if top_k is not None and top_k < z.shape[-1]:
        ranked[:, top_k:] = float("-inf")
    if top_p is not None:
        shares = ranked.softmax(-1)
        gone = torch.cat([torch.zeros_like(shares[:, :1]), shares.cumsum(-1)[:, :-1]], -1) >= top_p
        ranked = ranked.masked_fill(gone, float("-inf"))
    uniform = torch.rand(ranked.shape, generator=generator, dtype=torch.float64).clamp(min=1e-300)
    best = (ranked - (-uniform.log()).log()).argmax(-1, keepdim=True)
    return order.gather(-1, best).squeeze(-1)


def by_a_coin(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    if not temperature:
        return torch.argmax(logits, dim=1)
    p, tokens = (logits / temperature).softmax(-1).sort(-1, descending=True)
    if top_k:
        p = p * (torch.arange(p.shape[-1]) < top_k)
        p = p / p.sum(-1, keepdim=True)
    if top_p:
        p = p * (p.cumsum(-1) - p < top_p)
    edges = p.cumsum(-1)
    coin = torch.rand(len(p), 1, generator=generator, dtype=p.dtype) * edges[:, -1:]
    place = torch.searchsorted(edges, coin, right=True).clamp(max=p.shape[-1] - 1)
    return tokens.gather(-1, place)[:, 0]


def in_logarithms(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    """Sums of probabilities as logarithms, and a mask in the order of the vocabulary."""
    if temperature == 0:
        return logits.argmax(-1)
    log_p = (logits / temperature).log_softmax(-1)
    if top_k is not None and top_k < log_p.shape[-1]:
        kept = torch.zeros_like(log_p, dtype=torch.bool).scatter(-1, log_p.topk(top_k).indices, True)
        log_p = log_p.masked_fill(~kept, -torch.inf).log_softmax(-1)
    if top_p is not None:
        ranked, tokens = log_p.sort(-1, descending=True)
        enough = ranked.logcumsumexp(-1) >= math.log(top_p)
        gone = enough.roll(1, -1).index_fill(-1, torch.tensor([0]), False)
        log_p = log_p.masked_fill(torch.zeros_like(gone).scatter(-1, tokens, gone), -torch.inf)
    return torch.multinomial(log_p.exp(), 1, generator=generator).flatten()


ALTERNATIVES = [by_gumbel, by_a_coin, in_logarithms]
