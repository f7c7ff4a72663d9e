r"""Sequences without the square: a state of fixed size, read and written once a token, and experts that mostly sleep.

Softmax attention compares each token with every token before it. The layers here keep a summary of the past instead.
Its size does not depend on the length T, so a text costs T steps, and a token of it costs the same at the end as at the
beginning. All of them are recurrences that are *linear* in the state:

    linear attention    S_t = S_{t-1} + φ(k_t) v_tᵀ,  z_t = z_{t-1} + φ(k_t),  out_t = φ(q_t)ᵀ S_t / φ(q_t)ᵀ z_t
    RWKV-4              the same sums, each term fading by exp(-w) a step, and a bonus u for the present token
    state space         h_t = a_bar h_{t-1} + b_bar x_t,  y_t = c · h_t
    selective (Mamba)   h_t = exp(Δ_t A) h_{t-1} + Δ_t B_t x_t,  y_t = C_t · h_t,  where Δ, B, C depend on the token

A linear recurrence need not be computed in order. Two steps (a, b) and then (a', b') are one step (a' a, a' b + b').
So `prefix_scan` needs log2 T passes over the text.

Glossary: B texts, T tokens, D width of queries and keys or of the layer, Dv width of values, N numbers of state for
each channel. In `route` and `balance_loss`, N are tokens, E experts, and k experts are chosen for each token.

Sources: A. Katharopoulos et al., "Transformers are RNNs", ICML 2020, equations 7 to 12 and 16 to 20. B. Peng et al.,
"RWKV: Reinventing RNNs for the Transformer Era", Findings of EMNLP 2023, the wkv operator. A. Gu and T. Dao, "Mamba:
Linear-Time Sequence Modeling with Selective State Spaces", 2023, equations 1 to 4 and algorithm 2. W. D. Hillis and
G. L. Steele, "Data Parallel Algorithms", Communications of the ACM, 1986. A. Q. Jiang et al., "Mixtral of Experts",
2024, section 2.1. W. Fedus, B. Zoph and N. Shazeer, "Switch Transformers", JMLR 2022, equations 4 to 6.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

State = tuple[Tensor, Tensor]
"""What linear attention keeps of a text: S (B, D, Dv), the sum of φ(k) vᵀ, and z (B, D), the sum of φ(k)."""


# -- linear attention ------------------------------------------------------------------------------------------------


def features(x: Tensor) -> Tensor:
    """φ = elu + 1, which is above 0 everywhere: x + 1 for positive numbers, exp(x) for negative ones."""
    return F.elu(x) + 1


def linear_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Causal attention whose weights are φ(q)·φ(k): q and k (B, T, D), v (B, T, Dv) -> (B, T, Dv).

    The sums over the past are cumulated, so no (T, T) matrix is made. A token sees itself.

    Raises:
        ValueError: the shapes do not fit together; the message holds them.
    """
    if q.shape != k.shape or q.ndim != 3 or v.ndim != 3 or v.shape[:2] != k.shape[:2]:
        shapes = f"{tuple(q.shape)}, {tuple(k.shape)} and {tuple(v.shape)}"
        raise ValueError(f"expected q and k (B, T, D) and v (B, T, Dv), got {shapes}")
    q, k = features(q), features(k)
    S = (k[..., :, None] * v[..., None, :]).cumsum(1)  # (B, T, D, Dv)
    z = k.cumsum(1)  # (B, T, D)
    return torch.einsum("btd,btde->bte", q, S) / (q * z).sum(-1, keepdim=True)


def linear_attention_step(state: State, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, State]:
    """One token more: state (S, z), q and k (B, D), v (B, Dv) -> out (B, Dv), and the new state.

    The state that is given stays as it is. An empty one holds zeros.
    """
    S, z = state
    q, k = features(q), features(k)
    S = S + k[:, :, None] * v[:, None, :]  # (B, D, Dv)
    z = z + k
    return torch.einsum("bd,bde->be", q, S) / (q * z).sum(-1, keepdim=True), (S, z)


def wkv(k: Tensor, v: Tensor, w: Tensor, u: Tensor) -> Tensor:
    """RWKV-4's weighted average of values: k and v (B, T, D), decay w and bonus u (D,) -> (B, T, D).

        out_t = (sum_{i<t} exp(k_i - (t-1-i) w) v_i + exp(u + k_t) v_t) / (the same sum without the v)

    `w` is the decay itself, at least 0. Published weights hold its logarithm as `time_decay`. The sums are kept as
    multiples of exp(top), where `top` is the largest exponent so far, so keys of any size stay finite.

    Raises:
        ValueError: the shapes do not fit together.
    """
    if k.shape != v.shape or k.ndim != 3 or w.shape != k.shape[2:] or u.shape != w.shape:
        raise ValueError(f"expected k and v (B, T, D), w and u (D,), got {[tuple(x.shape) for x in (k, v, w, u)]}")
    total, count = torch.zeros_like(k[:, 0]), torch.zeros_like(k[:, 0])  # of values and of weights, over exp(top)
    top = torch.full_like(total, -math.inf)
    outs = []
    for k_t, v_t in zip(k.unbind(1), v.unbind(1), strict=True):
        high = torch.maximum(top, u + k_t).detach()
        past, now = (top - high).exp(), (u + k_t - high).exp()
        outs.append((past * total + now * v_t) / (past * count + now))
        faded = top - w
        top = torch.maximum(faded, k_t).detach()
        past, now = (faded - top).exp(), (k_t - top).exp()
        total, count = past * total + now * v_t, past * count + now
    return torch.stack(outs, 1)


# -- state spaces ----------------------------------------------------------------------------------------------------


def discretise(a: Tensor, b: Tensor, delta: float) -> tuple[Tensor, Tensor]:
    """One step of length delta of h' = a h + b x, while x is held: a < 0 and b (N,) -> a_bar and b_bar (N,).

    This is zero-order hold. The solution of the differential equation is exact for an input that is constant within
    each step.

    Raises:
        ValueError: a step of no length.
    """
    if delta <= 0:
        raise ValueError(f"expected a step delta above 0, got {delta}")
    return (delta * a).exp(), torch.expm1(delta * a) / a * b


def ssm_scan(a_bar: Tensor, b_bar: Tensor, c: Tensor, x: Tensor) -> Tensor:
    """Run h_t = a_bar h_{t-1} + b_bar x_t and read y_t = c · h_t: a_bar, b_bar and c (N,), x (B, T) -> (B, T)."""
    h = x.new_zeros(len(x), len(a_bar))
    ys = []
    for x_t in x.unbind(1):
        h = a_bar * h + b_bar * x_t[:, None]  # (B, N)
        ys.append(h @ c)
    return torch.stack(ys, 1)


def ssm_kernel(a_bar: Tensor, b_bar: Tensor, c: Tensor, T: int) -> Tensor:
    """What one impulse leaves behind, step by step: K_j = sum_n c_n a_bar_n^j b_bar_n, (N,) each -> (T,).

    `ssm_scan` is the causal convolution with it: y_t = sum_j K_j x_{t-j}.
    """
    powers = a_bar[:, None] ** torch.arange(T, device=a_bar.device)  # (N, T)
    return (c * b_bar) @ powers


def selective_scan(x: Tensor, delta: Tensor, A: Tensor, B: Tensor, C: Tensor) -> Tensor:
    """Mamba's recurrence: x and delta (B, T, D), A (D, N), B and C (B, T, N) -> y (B, T, D).

        h_t = exp(delta_t A) h_{t-1} + delta_t B_t x_t        y_t = C_t · h_t

    Every channel of x has N numbers of state. `A` is below 0 and `delta` above. As in Mamba's released code, the input
    is multiplied by delta B, the first-order form of zero-order hold, and only A is discretised exactly.

    Raises:
        ValueError: the shapes do not fit together; the message holds them.
    """
    if (
        x.shape != delta.shape
        or A.shape[0] != x.shape[2]
        or B.shape != (*x.shape[:2], A.shape[1])
        or C.shape != B.shape
    ):
        shapes = [tuple(tensor.shape) for tensor in (x, delta, A, B, C)]
        raise ValueError(f"expected x and delta (B, T, D), A (D, N), B and C (B, T, N), got {shapes}")
    h = x.new_zeros(len(x), *A.shape)
    ys = []
    for x_t, delta_t, B_t, C_t in zip(x.unbind(1), delta.unbind(1), B.unbind(1), C.unbind(1), strict=True):
        h = (delta_t[:, :, None] * A).exp() * h + (delta_t * x_t)[:, :, None] * B_t[:, None, :]  # (B, D, N)
        ys.append((h * C_t[:, None, :]).sum(-1))  # (B, D)
    return torch.stack(ys, 1)


def prefix_scan(a: Tensor, b: Tensor) -> Tensor:
    """All states of h_t = a_t h_{t-1} + b_t, from h = 0, in log2 T passes: a and b (B, T, N) -> h (B, T, N).

    After the pass with shift s, place t holds the last 2s steps up to t as one step. Each pass joins every place with
    the one s places before it: (a', b') after (a, b) is (a' a, a' b + b').

    Raises:
        ValueError: `a` and `b` differ in shape.
    """
    if a.shape != b.shape or a.ndim != 3:
        raise ValueError(f"expected a and b (B, T, N), got {tuple(a.shape)} and {tuple(b.shape)}")
    shift = 1
    while shift < a.shape[1]:
        b = torch.cat([b[:, :shift], a[:, shift:] * b[:, :-shift] + b[:, shift:]], dim=1)
        a = torch.cat([a[:, :shift], a[:, shift:] * a[:, :-shift]], dim=1)
        shift *= 2
    return b


# -- the task's model ------------------------------------------------------------------------------------------------


class SelectiveLayer(nn.Module):
    """Tokens (B, T, D) -> (B, T, D): a selective scan whose steps, writes and reads are linear in the token.

    The start matters. The steps begin between 0.01 and 0.3 and the rates between 0.1 and 4, so that some channels
    remember a whole text and others a few tokens.
    """

    def __init__(self, width: int, n_state: int, scan: Callable[..., Tensor] = selective_scan) -> None:
        super().__init__()
        self.scan = scan
        self.W_B = nn.Linear(width, n_state, bias=False)
        self.W_C = nn.Linear(width, n_state, bias=False)
        self.W_delta = nn.Linear(width, width)
        rates = torch.logspace(math.log10(0.1), math.log10(4), n_state).expand(width, n_state)
        self.log_rate = nn.Parameter(rates.log())
        steps = (torch.rand(width) * math.log(0.3 / 0.01) + math.log(0.01)).exp()
        with torch.no_grad():
            self.W_delta.bias.copy_(torch.expm1(steps).log())  # softplus of it is the step
            for layer in (self.W_B, self.W_C):
                layer.weight.normal_(std=width**-0.5)

    def steps(self, x: Tensor) -> Tensor:
        """Δ of every token and channel, above 0: (B, T, D) -> (B, T, D)."""
        return F.softplus(self.W_delta(x))

    def forward(self, x: Tensor) -> Tensor:
        """Tokens (B, T, D) -> (B, T, D)."""
        return self.scan(x, self.steps(x), -self.log_rate.exp(), self.W_B(x), self.W_C(x))


class Copier(nn.Module):
    """Reads a text and its askers: ids (B, T + asked) -> logits (B, asked, letters), one row for each asker."""

    def __init__(self, tokens: int, letters: int, asked: int, layer: nn.Module, width: int = 32) -> None:
        super().__init__()
        self.asked = asked
        self.embed = nn.Embedding(tokens, width)
        self.layer = layer
        self.norm = nn.LayerNorm(width)
        self.read = nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, letters))

    def forward(self, ids: Tensor) -> Tensor:
        """ids (B, T + asked) -> logits (B, asked, letters)."""
        y = self.layer(self.embed(ids))[:, -self.asked :]  # (B, asked, D)
        return self.read(self.norm(y))


# -- experts ---------------------------------------------------------------------------------------------------------


def route(logits: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The k experts of every token, best first: logits (N, E) -> weights (N, k) that sum to one, experts (N, k).

    The weights are the softmax over the chosen logits, as in Mixtral.

    Raises:
        ValueError: there are not that many experts, or none is asked for.
    """
    if not 1 <= k <= logits.shape[-1]:
        raise ValueError(f"{k} of {logits.shape[-1]} experts cannot be chosen")
    chosen, experts = logits.topk(k, dim=-1)
    return chosen.softmax(-1), experts


def balance_loss(logits: Tensor, experts: Tensor) -> Tensor:
    """How unevenly tokens are spread over experts: logits (N, E), chosen experts (N, k) -> scalar, 1 when even.

        E · sum_e f_e P_e

    f_e is expert e's share of all N·k places, and P_e its mean probability. A count has no gradient. The gradient comes
    through P, and lowers the logits of the experts that many tokens chose.
    """
    E = logits.shape[-1]
    shares = F.one_hot(experts, E).to(logits.dtype).mean((0, 1))  # (E,)
    return E * (shares * logits.softmax(-1).mean(0)).sum()
