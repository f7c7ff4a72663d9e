"""Wrong answers to `blockwise_attention`: what a beginner writes first, and others that no misconception knows."""

from __future__ import annotations

import math

import torch

from course.reference import cost as reference

# -- first attempts ----------------------------------------------------------------------------------------------------


def the_output_alone(q, k, v, block, causal=False):
    return reference.blockwise_attention(q, k, v, block, causal)[0]


def never_divided(q, k, v, block, causal=False):
    out, lse = reference.blockwise_attention(q, k, v, block, causal)
    m = (q @ k.mT / math.sqrt(q.shape[-1])).amax(-1)
    return out * (lse - m).exp()[..., None], lse


def last_block_lost(q, k, v, block, causal=False):
    whole = k.shape[2] - k.shape[2] % max(block, 1)
    return reference.blockwise_attention(q, k[:, :, :whole], v[:, :, :whole], block, causal)


def the_usual_way(q, k, v, block, causal=False):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1), -math.inf)
    return scores.softmax(-1) @ v, scores.logsumexp(-1)


FIRST_ATTEMPTS = {
    the_output_alone: "keys that the block divides: expected a tuple",
    never_divided: "right up to a factor",
    last_block_lost: "a shorter block at the end",
    the_usual_way: "The only query stands at the last key.",
}

# -- others ------------------------------------------------------------------------------------------------------------


def blocks_of_queries(q, k, v, block, causal=False):
    """A strip of all keys for a few queries: small where there are as many queries as keys, and large elsewhere."""
    if block < 1:
        raise ValueError("no keys in a block")
    places, found = torch.arange(k.shape[2] - q.shape[2], k.shape[2])[:, None], []
    for some in torch.arange(q.shape[2]).split(block):
        scores = q[:, :, some] @ k.mT / math.sqrt(q.shape[-1])
        if causal:
            scores = scores.masked_fill(torch.arange(k.shape[2]) > places[some], -math.inf)
        found.append((scores.softmax(-1).nan_to_num(0.0) @ v, scores.logsumexp(-1)))
    outs, sums = zip(*found)
    return torch.cat(outs, 2), torch.cat(sums, 2)


def log_sum_without_a_gradient(q, k, v, block, causal=False):
    out, lse = reference.blockwise_attention(q, k, v, block, causal)
    return out, lse.detach()


def not_scaled(q, k, v, block, causal=False):
    return reference.blockwise_attention(q * math.sqrt(q.shape[-1]), k, v, block, causal)


MUTANTS = [blocks_of_queries, log_sum_without_a_gradient, not_scaled]
