r"""What attention costs, and what it need not cost: blocks, windows, buckets, caches, drafts and a roofline.

Softmax over many scores needs no table of all of them. Cut the keys into blocks, and keep three things of those read:

    m = max s        l = Σ exp(s - m)        o = Σ exp(s - m) v        the result is o / l, and log Σ exp s = m + log l

Two such triples make one. With m = max(m1, m2), l = l1 exp(m1 - m) + l2 exp(m2 - m), and o likewise.

A large model may check what a small one guesses. A token x that was drawn from q stays with probability
min(1, p(x) / q(x)). In place of a refused one stands a token from what p has more than q, max(p - q, 0). Then every
token follows p, and a guess stays with probability Σ min(p, q).

Glossary: B texts, T queries or new tokens, S keys, h heads, g groups, d width of a head, dv width of a value, V tokens
of the vocabulary, n guesses, a accepted ones.

Sources: M. Milakov, N. Gimelshein, "Online normalizer calculation for softmax", 2018; T. Dao et al., "FlashAttention",
NeurIPS 2022, and T. Dao, "FlashAttention-2", 2023; I. Beltagy et al., "Longformer", 2020; A. Jiang et al.,
"Mistral 7B", 2023 (the rolling cache); C. Raffel et al., "Exploring the Limits of Transfer Learning with a Unified
Text-to-Text Transformer", JMLR 2020 (T5's buckets); S. Williams et al., "Roofline", CACM 2009; Y. Leviathan et al.,
"Fast Inference from Transformers via Speculative Decoding", ICML 2023; C. Chen et al., "Accelerating Large Language
Model Decoding with Speculative Sampling", 2023; G. Hinton et al., "Distilling the Knowledge in a Neural Network", 2015.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional as F

Block = tuple[Tensor, Tensor, Tensor]
"""Of some scores s with their values v: the largest score m (...), Σ exp(s - m) (...) and Σ exp(s - m) v (..., D)."""


def merge_blocks(first: Block, second: Block) -> Block:
    """Join two blocks of scores: each is (m (...), l (...), o (..., D)), and so is the result.

    A block that holds nothing is (-inf, 0, 0). The largest score is cut from the graph, as o / l does not depend on it.
    """
    (m1, l1, o1), (m2, l2, o2) = first, second
    m = torch.maximum(m1, m2).detach()
    finite = m.masked_fill(m == -math.inf, 0.0)  # -inf - -inf would be NaN
    a, b = (m1 - finite).exp(), (m2 - finite).exp()
    return m, a * l1 + b * l2, a[..., None] * o1 + b[..., None] * o2


def blockwise_attention(q: Tensor, k: Tensor, v: Tensor, block: int, causal: bool = False) -> tuple[Tensor, Tensor]:
    """Attend to `block` keys at a time: q (B, h, T, d), k (B, h, S, d), v (B, h, S, dv).

    Returns the result (B, h, T, dv), and the logarithm of each query's Σ exp(score), (B, h, T). With `causal`, the last
    query stands at the last key. A query that sees nothing gets zeros and -inf.

    Raises:
        ValueError: a block has no key.
    """
    if block < 1:
        raise ValueError(f"a block has one key at least, not {block}")
    T, S = q.shape[2], k.shape[2]
    positions = torch.arange(S - T, S, device=q.device)[:, None]  # of the queries, (T, 1)
    zeros = q.new_zeros(q.shape[:3])
    read = zeros - math.inf, zeros, q.new_zeros(*q.shape[:3], v.shape[3])
    for begin in range(0, S, block):
        keys = torch.arange(begin, min(begin + block, S), device=q.device)
        scores = q @ k[:, :, begin : begin + block].mT / math.sqrt(q.shape[3])  # (B, h, T, block)
        if causal:
            scores = scores.masked_fill(keys > positions, -math.inf)
        read = merge_blocks(read, _one_block(scores, v[:, :, begin : begin + block]))
    m, total, out = read
    total = total.masked_fill(total == 0, 1.0)
    return out / total[..., None], m + total.log()


def _one_block(scores: Tensor, v: Tensor) -> Block:
    """Return the block of scores (..., T, S) and their values (..., S, D)."""
    m = scores.detach().amax(-1)
    weights = (scores - m.masked_fill(m == -math.inf, 0.0)[..., None]).exp()
    return m, weights.sum(-1), weights @ v


def window_mask(T: int, window: int, n_global: int = 0, causal: bool = True) -> Tensor:
    """Return which tokens (row) see which (column), (T, T) bool: those less than `window` away, themselves included.

    The first `n_global` tokens see all and are seen by all, but under a causal mask nobody sees a later one.

    Raises:
        ValueError: a token does not even see itself.
    """
    if window < 1:
        raise ValueError(f"a window has one key at least, not {window}")
    places = torch.arange(T)
    behind = places[:, None] - places
    is_global = places < n_global
    seen = (behind.abs() < window) | is_global | is_global[:, None]
    return seen & (behind >= 0) if causal else seen


def reach(mask: Tensor, layers: int) -> Tensor:
    """Return whether input j can change output i behind so many layers with this mask: (T, T) bool -> (T, T) bool.

    A residual connection keeps each token, even where the mask hides it from itself.
    """
    reached = torch.eye(len(mask), dtype=torch.bool, device=mask.device)
    one_layer = (mask | reached).float()
    for _ in range(layers):
        reached = one_layer @ reached.float() > 0
    return reached


class RollingCache:
    """Keys and values of the last tokens, for attention in which a query sees `window` keys, its own included.

    Raises:
        ValueError: a token does not even see itself.
    """

    def __init__(self, window: int) -> None:
        if window < 1:
            raise ValueError(f"a window has one key at least, not {window}")
        self.window, self.read = window, 0
        self.kept: tuple[Tensor, Tensor] | None = None

    def update(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Take new keys (B, g, T, d) and values (B, g, T, dv), and return those that the new queries may see.

        These are keys (B, g, S, d), values (B, g, S, dv) and their positions in the text (S,), where S is T and as many
        older ones as there are, at most window - 1.
        """
        self.read += k.shape[2]
        if self.kept is not None:
            k, v = torch.cat([self.kept[0], k], dim=2), torch.cat([self.kept[1], v], dim=2)
        S = k.shape[2]
        first = max(S - (self.window - 1), 0)
        self.kept = k[:, :, first:].clone(), v[:, :, first:].clone()  # a view would keep all of them
        return k, v, torch.arange(self.read - S, self.read, device=k.device)


def relative_buckets(
    distance: Tensor, n_buckets: int = 32, max_distance: int = 128, bidirectional: bool = True
) -> Tensor:
    """Sort distances (...), key minus query, into buckets, int64 (...), as T5 does.

    Half of the buckets hold one distance each, and the others ever more, up to `max_distance` and beyond. If
    `bidirectional`, keys behind the query (distance > 0) have the second half of all buckets. Otherwise every bucket
    looks back, and all keys behind the query share bucket 0.
    """
    if bidirectional:
        n_buckets //= 2
        first, far = (distance > 0).long() * n_buckets, distance.abs()
    else:
        first, far = torch.zeros_like(distance), (-distance).clamp(min=0)
    exact = n_buckets // 2
    share = (far.clamp(min=1) / exact).log() / math.log(max_distance / exact)
    coarse = (exact + (share * (n_buckets - exact)).long()).clamp(max=n_buckets - 1)
    return first + torch.where(far < exact, far, coarse)


def step_time(
    model: Mapping[str, float], machine: Mapping[str, float], batch: int, new: int, cached: int = 0
) -> dict[str, float | str]:
    """Say how long one pass over `new` tokens of each of `batch` texts takes at least, behind `cached` ones.

    A model has `parameters`, `layers`, `width`, `kv_width` (of a layer's keys) and `bytes` of a number, a machine
    `operations` and `bytes` a second. Returns `operations`, `bytes`, `seconds`, and the `bound` that holds, "compute"
    or "memory". Every parameter counts as read, also the rows of the embedding that no token needs.
    """
    pairs = new * cached + new * (new + 1) / 2
    operations = batch * (2 * model["parameters"] * new + 4 * model["layers"] * model["width"] * pairs)
    cache = batch * 2 * model["layers"] * model["kv_width"] * (cached + new)
    read = model["bytes"] * (model["parameters"] + cache)
    compute, memory = operations / machine["operations"], read / machine["bytes"]
    bound = "compute" if compute > memory else "memory"
    return {"operations": operations, "bytes": read, "seconds": max(compute, memory), "bound": bound}


def accept_draft(p: Tensor, q: Tensor, draft: Tensor, uniforms: Tensor) -> Tensor:
    """Keep guesses so that each token follows the large model: -> the a kept ones and one more, (a + 1,).

    p (n + 1, V) are the large model's probabilities, q (n, V) those that the guesses `draft` (n,) were drawn from, and
    `uniforms` (n + 1,) numbers from [0, 1). Guess i stays if u q < p at it. Behind the kept ones comes a token of
    max(p - q, 0) if one was refused, or else of the last p. The last uniform number chooses it.
    """
    n = len(draft)
    each = torch.arange(n, device=draft.device)
    stays = uniforms[:n] * q[each, draft] < p[each, draft]
    a = int(stays.long().cumprod(0).sum())
    rest = (p[a] - q[a]).clamp(min=0) if a < n else p[n]
    rest = rest if bool(rest.any()) else p[a]  # p and q agree but for rounding
    return torch.cat([draft[:a], _chosen(rest, uniforms[n])])


def _chosen(weights: Tensor, uniform: Tensor) -> Tensor:
    """Choose one of weights (V,) by their cumulated sum: (1,)."""
    possible = weights.nonzero().squeeze(-1)
    up_to = weights[possible].cumsum(0)
    place = torch.searchsorted(up_to, (uniform * up_to[-1])[None], right=True)
    return possible[place.clamp(max=len(possible) - 1)]


def distillation_loss(student: Tensor, teacher: Tensor, temperature: float = 1.0) -> Tensor:
    """Return T² times the mean over all positions of KL(teacher || student), both at temperature T: logits (..., V).

    No gradient reaches the teacher, whose logits may be -inf.

    Raises:
        ValueError: the temperature is not positive.
    """
    if temperature <= 0:
        raise ValueError(f"a temperature is above 0, not {temperature}")
    log_q = (student / temperature).log_softmax(-1)
    log_p = (teacher.detach() / temperature).log_softmax(-1)
    p = log_p.exp()
    terms = torch.where(p > 0, p * (log_p - log_q), 0.0)  # 0 log 0 is 0
    return temperature**2 * terms.sum(-1).mean()


class Draft(nn.Module):
    """A small model that guesses for a large one: ids (B, T) -> logits (B, T, V) of the token after each.

    It reads the last `reads` tokens, each embedded in `d_model` numbers and multiplied with a matrix of its place, and
    needs no cache. Before the first token, it reads zeros.
    """

    def __init__(self, vocab: int, d_model: int = 24, reads: int = 8) -> None:
        super().__init__()
        self.reads = reads
        self.words = nn.Embedding(vocab, d_model)
        self.places = nn.Conv1d(d_model, d_model, reads, bias=False)
        self.mix = nn.Linear(d_model, d_model, bias=False)
        self.bias = nn.Parameter(torch.zeros(vocab))
        nn.init.normal_(self.words.weight, std=d_model**-0.5)

    def forward(self, ids: Tensor) -> Tensor:
        """Return the logits (B, T, V) behind each token of ids (B, T)."""
        x = F.pad(self.words(ids).mT, (self.reads - 1, 0))  # (B, D, reads - 1 + T)
        x = self.places(x).mT  # (B, T, D)
        x = x + self.mix(F.silu(x))
        x = x * (x.square().mean(-1, keepdim=True) + 1e-6).rsqrt()
        return x @ self.words.weight.T + self.bias
