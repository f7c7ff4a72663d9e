r"""Self-attention: every word asks a question of every word, and gets a mixture of their answers.

A word's *query* is compared with every word's *key*. Softmax turns the scores into weights that sum to one, and the
weights mix the *values*. Nothing is carried from step to step, so all words are computed at once.

    q_i = W_q x_i        k_j = W_k x_j        v_j = W_v x_j
    e_ij = q_i · k_j / sqrt(D)
    a_ij = exp(e_ij) / sum_k exp(e_ik)
    out_i = sum_j a_ij v_j                     together:  softmax(Q Kᵀ / sqrt(D)) V

Glossary: B batch, T queries, S keys and values, D width of queries and keys, Dv width of values. In self-attention the
three come from the same words, and T = S.

Source: A. Vaswani et al., "Attention Is All You Need", NeurIPS 2017, section 3.2.1, equation 1;
costs: section 4, table 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import one_hot


def softmax(x: Tensor, dim: int) -> Tensor:
    """Exponentials of `x`, normalised to sum to one along `dim`, with the shape and dtype of `x`.

    Softmax does not change when a number is added to a whole slice. So the slice's maximum is subtracted first. The
    largest exponential is then exp(0) = 1, and nothing overflows. An entry of -inf gets weight 0, as long as one entry
    of its slice is finite.
    """
    # The shift cancels in the quotient, in its gradient too: nothing needs to flow through the maximum.
    shifted = x - x.amax(dim, keepdim=True).detach()
    exponentials = shifted.exp()
    return exponentials / exponentials.sum(dim, keepdim=True)


def attention_for_one(query: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """The lecture's four steps for a single word: (D,), (S, D), (S, Dv) -> (Dv,).

    Raises:
        ValueError: the widths of query and keys differ, or the numbers of keys and values.
    """
    if query.ndim != 1 or keys.ndim != 2 or values.ndim != 2:
        raise ValueError(
            "expected query (D,), keys (S, D) and values (S, Dv), got "
            f"{tuple(query.shape)}, {tuple(keys.shape)} and {tuple(values.shape)}"
        )
    _check_widths(query, keys, values)
    scores = keys @ query  # (S, D) @ (D,) -> (S,)
    weights = softmax(scores / math.sqrt(len(query)), dim=0)
    return weights @ values  # (S,) @ (S, Dv) -> (Dv,)


def scaled_dot_product_attention(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """All words at once: q (B, T, D), k (B, S, D), v (B, S, Dv) -> output (B, T, Dv), weights (B, T, S).

    `weights[b, i]` is how query i distributes its attention over the S keys. A score is a sum of D products, so for
    queries and keys of unit variance its own variance is D. Divided by sqrt(D) it is 1 at every width, and softmax
    starts neither flat nor saturated.

    Raises:
        ValueError: the shapes do not fit together; the message holds them.
    """
    if not (q.ndim == k.ndim == v.ndim == 3 and q.shape[0] == k.shape[0] == v.shape[0]):
        raise ValueError(
            "expected q (B, T, D), k (B, S, D) and v (B, S, Dv), got "
            f"{tuple(q.shape)}, {tuple(k.shape)} and {tuple(v.shape)}"
        )
    _check_widths(q, k, v)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (B, T, D) @ (B, D, S) -> (B, T, S)
    weights = softmax(scores, dim=-1)
    return weights @ v, weights  # (B, T, S) @ (B, S, Dv) -> (B, T, Dv)


def self_attention(x: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor) -> Tensor:
    """Words attend to each other: x (B, T, Din), W_q and W_k (D, Din), W_v (Dv, Din) -> (B, T, Dv).

    Weights are stored as in `torch.nn.Linear`, (out, in), and applied as `x @ W.T`.

    Raises:
        ValueError: a weight does not read x's width, or W_q and W_k differ in theirs.
    """
    for name, W in (("W_q", W_q), ("W_k", W_k), ("W_v", W_v)):
        if W.ndim != 2 or W.shape[1] != x.shape[-1]:
            raise ValueError(f"{name} of shape {tuple(W.shape)} cannot read x of shape {tuple(x.shape)}")
    output, _ = scaled_dot_product_attention(x @ W_q.T, x @ W_k.T, x @ W_v.T)
    return output


def attention_cost(n: int, d: int) -> dict[str, int]:
    """Multiplications of one layer over n words of width d, without constants: table 1 of the paper.

    Self-attention compares n · n pairs of width d. A recurrence multiplies a d × d matrix at each of n steps.
    """
    return {"self_attention": n * n * d, "recurrent": n * d * d}


def crossover_length(d: int) -> float:
    """The number of words at which two whole layers of width d take equally many multiplications.

    The attention layer has four projections, scores, a mixture and a feed-forward network of width 4 d. The recurrent
    layer has the eight matrices of an LSTM and the same feed-forward network:

        4 n d² + 2 n² d + 8 n d² = 8 n d² + 8 n d²
    """
    return 2.0 * d


def is_permutation_equivariant(fn: Callable[[Tensor], Tensor], x: Tensor, permutation: Tensor) -> bool:
    """Whether reordering the words of x (B, T, D) does nothing but reorder fn's output (B, T, ...) in the same way.

    `permutation` (T,) holds every position once. Outputs are compared with a tolerance of 1e-4.

    Raises:
        ValueError: `permutation` is none of x's T positions.
    """
    if sorted(permutation.tolist()) != list(range(x.shape[1])):
        raise ValueError(f"{permutation.tolist()} is no permutation of the {x.shape[1]} positions of {tuple(x.shape)}")
    reordered_before = fn(x[:, permutation])
    reordered_after = fn(x)[:, permutation]
    return torch.allclose(reordered_before, reordered_after, rtol=0.0, atol=1e-4)


def recall_by_hand(keys: Tensor, values: Tensor, query: Tensor, n_keys: int = 26, n_values: int = 10) -> Tensor:
    """Associative recall by one layer whose weights are chosen, not learned: (B, S), (B, S), (B,) -> (B, n_values).

    A position holds a one-hot key beside a one-hot value. W_q and W_k read the key half, so a position gets a high
    score where its own key stands. W_v reads the value half. The query's position matches itself as well, but it has no
    value.
    """
    certain = 50.0  # a matching key scores so much more than any other that softmax is a choice
    pairs = torch.cat([one_hot(keys, n_keys), one_hot(values, n_values)], dim=-1)  # (B, S, n_keys + n_values)
    question = torch.cat([one_hot(query, n_keys), torch.zeros(len(query), n_values, device=query.device)], dim=-1)
    x = torch.cat([pairs, question[:, None]], dim=1)  # (B, S + 1, n_keys + n_values)
    reads = torch.eye(n_keys + n_values, device=query.device)
    W_key, W_value = reads[:n_keys], reads[n_keys:]
    return self_attention(x, certain * math.sqrt(n_keys) * W_key, W_key, W_value)[:, -1]


def _check_widths(q: Tensor, k: Tensor, v: Tensor) -> None:
    """Check that query and key share a width and that every key has its value."""
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"queries {tuple(q.shape)} and keys {tuple(k.shape)} differ in width")
    if k.shape[-2] != v.shape[-2]:
        raise ValueError(f"keys {tuple(k.shape)} and values {tuple(v.shape)} differ in number")
