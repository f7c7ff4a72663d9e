"""Wrong answers to `cached_attention`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference.gpt import cached_attention as right
from course.reference.gpt import grouped_attention
from course.reference.positional_encoding import rope

# -- first attempts ----------------------------------------------------------------------------------------------------


def in_heads(y, W, d_head):
    return (y @ W.T).unflatten(-1, (-1, d_head)).transpose(1, 2)


def everything_rotated(y, W_q, W_k, W_v, W_o, n_heads, past=None):
    d_head, T, known = y.shape[-1] // n_heads, y.shape[1], 0 if past is None else past[0].shape[2]
    q, k, v = (rope(in_heads(y, W, d_head), known + torch.arange(T)) for W in (W_q, W_k, W_v))
    if past is not None:
        k, v = torch.cat([past[0], k], 2), torch.cat([past[1], v], 2)
    mask = torch.ones(T, known + T, dtype=torch.bool).tril(known)
    return grouped_attention(q, k, v, mask).transpose(1, 2).flatten(2) @ W_o.T, (k, v)


def tril_without_its_second_argument(y, W_q, W_k, W_v, W_o, n_heads, past=None):
    d_head, T, known = y.shape[-1] // n_heads, y.shape[1], 0 if past is None else past[0].shape[2]
    q, k, v = (in_heads(y, W, d_head) for W in (W_q, W_k, W_v))
    q, k = rope(q, known + torch.arange(T)), rope(k, known + torch.arange(T))
    if past is not None:
        k, v = torch.cat([past[0], k], 2), torch.cat([past[1], v], 2)
    mask = torch.ones(T, known + T, dtype=torch.bool).tril()
    return grouped_attention(q, k, v, mask).transpose(1, 2).flatten(2) @ W_o.T, (k, v)


def all_keys_rotated_in_each_call(y, W_q, W_k, W_v, W_o, n_heads, past=None):
    d_head, T = y.shape[-1] // n_heads, y.shape[1]
    q, k, v = (in_heads(y, W, d_head) for W in (W_q, W_k, W_v))
    if past is not None:
        k, v = torch.cat([past[0], k], 2), torch.cat([past[1], v], 2)
    S = k.shape[2]
    q, k = rope(q, torch.arange(S - T, S)), rope(k, torch.arange(S))
    mask = torch.ones(T, S, dtype=torch.bool).tril(S - T)
    return grouped_attention(q, k, v, mask).transpose(1, 2).flatten(2) @ W_o.T, (k, v)


def every_key_for_every_token(y, W_q, W_k, W_v, W_o, n_heads, past=None):
    d_head, T, known = y.shape[-1] // n_heads, y.shape[1], 0 if past is None else past[0].shape[2]
    q, k, v = (in_heads(y, W, d_head) for W in (W_q, W_k, W_v))
    q, k = rope(q, known + torch.arange(T)), rope(k, known + torch.arange(T))
    if past is not None:
        k, v = torch.cat([past[0], k], 2), torch.cat([past[1], v], 2)
    return grouped_attention(q, k, v).transpose(1, 2).flatten(2) @ W_o.T, (k, v)


def reads_no_past(y, W_q, W_k, W_v, W_o, n_heads, past=None):
    return right(y, W_q, W_k, W_v, W_o, n_heads)


def without_a_cache(y, W_q, W_k, W_v, W_o, n_heads, past=None):
    return right(y, W_q, W_k, W_v, W_o, n_heads, past)[0]


FIRST_ATTEMPTS = {
    everything_rotated: "Let all tokens of y be equal.",
    tril_without_its_second_argument: "Which corner of the mask is the diagonal in?",
    all_keys_rotated_in_each_call: "Print the key of the second token",
    every_key_for_every_token: "Which rows of your result move?",
    reads_no_past: "How many keys does the cache hold after each call?",
    without_a_cache: "expected a tuple of 2 results",
}

# -- others ------------------------------------------------------------------------------------------------------------


def tokens_detached(y, W_q, W_k, W_v, W_o, n_heads, past=None):
    return right(y.detach(), W_q, W_k, W_v, W_o, n_heads, past)


MUTANTS = [tokens_detached]
