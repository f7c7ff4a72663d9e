r"""What lies beneath: rules without a state, hidden Markov models, a linear predictor, causal convolutions, and CTC.

A hidden Markov model says that what is seen was made by states that nobody sees. They follow each other as a Markov
chain, and each emits one symbol. Three sums over all paths answer what is asked of it, and none costs more than T S²:

    α_t(j) = E_j(x_t) Σ_i α_{t−1}(i) A_ij        p(x) = Σ_j α_T(j)             forward: how likely is the text?
    δ_t(j) = E_j(x_t) max_i δ_{t−1}(i) A_ij      and back by the best i        Viterbi: which path is the best?
    β_t(i) = Σ_j A_ij E_j(x_{t+1}) β_{t+1}(j)    γ_t = α_t β_t / p(x)          posterior: which state, at each place?

CTC is the same forward sum over the paths that spell a target: its labels in order, a blank wherever you like, and one
between two labels that are equal. Everything is computed in logarithms, where a product of 1,000 probabilities is a
sum, and impossible is −∞.

    x_t ≈ a_1 x_{t−1} + … + a_p x_{t−p}          an autoregressive model of order p
    y_t = b + Σ_i W_i x_{t − (k−1−i) d}          a causal convolution with kernel k and dilation d

Glossary: B batch, T steps, S states, V symbols (or labels, with the blank), L labels of a target, C and D channels, k
width of a kernel.

Sources: J. Weizenbaum, "ELIZA", Communications of the ACM 9, 1966; L. Rabiner, "A tutorial on hidden Markov models and
selected applications in speech recognition", Proc. IEEE 77, 1989; A. Graves et al., "Connectionist Temporal
Classification", ICML 2006, section 4.1; A. van den Oord et al., "WaveNet", 2016, section 2.1.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import groupby

import torch
from torch import Tensor

EXCHANGED = {"i": "you", "me": "you", "am": "are", "my": "your", "you": "I", "your": "my"}
"""What ELIZA puts in place of a word when she gives it back."""


# -- rules -------------------------------------------------------------------------------------------------------------


def eliza(rules: Sequence[tuple[str, str]], said: str) -> str:
    """The answer of the first rule whose pattern, a regular expression, is found anywhere in `said`.

    `{0}`, `{1}` … in the answer stand for the pattern's groups, with the words of `EXCHANGED` exchanged. Capitals do
    not matter.

    Raises:
        ValueError: no rule matches.
    """
    for pattern, answer in rules:
        match = re.search(pattern, said, re.IGNORECASE)
        if match:
            return answer.format(*map(_exchanged, match.groups()))
    raise ValueError(f"none of the {len(rules)} rules matches {said!r}; let the last one match everything")


def _exchanged(text: str) -> str:
    """Each word is looked up once, so what came of one exchange is not exchanged back."""
    return re.sub(r"\w+", lambda word: EXCHANGED.get(word[0].lower(), word[0]), text)


# -- hidden Markov models ----------------------------------------------------------------------------------------------


def hmm_forward(log_start: Tensor, log_A: Tensor, log_E: Tensor, seen: Tensor) -> tuple[Tensor, Tensor]:
    """log p(seen up to t, state at t) as (B, T, S), and log p(seen) as (B,).

    `log_start` (S,), `log_A` (S, S) with the step from i to j in row i, `log_E` (S, V), `seen` (B, T) of whole numbers.
    A text that no path can emit has log p = −∞.

    Raises:
        ValueError: the shapes do not fit together.
    """
    emitted = _emitted(log_start, log_A, log_E, seen)
    log_alpha = [log_start + emitted[:, 0]]  # (B, S)
    for t in range(1, seen.shape[1]):
        arrived = _log_sum(log_alpha[-1][:, :, None] + log_A, dim=1)  # (B, S, 1) + (S, S), summed over the state before
        log_alpha.append(arrived + emitted[:, t])
    return torch.stack(log_alpha, dim=1), _log_sum(log_alpha[-1], dim=1)


def viterbi(log_start: Tensor, log_A: Tensor, log_E: Tensor, seen: Tensor) -> tuple[Tensor, Tensor]:
    """The most probable path of states for each text, (B, T), and its log p(path, seen), (B,).

    Arguments are those of `hmm_forward`. Of equally good paths, any may be returned. A text that no path
    can emit has the score −∞, and any path.

    Raises:
        ValueError: the shapes do not fit together.
    """
    emitted = _emitted(log_start, log_A, log_E, seen)
    best = log_start + emitted[:, 0]  # (B, S): the best path that ends in each state
    before = []  # T − 1 times (B, S): the state before the last of that path
    for t in range(1, seen.shape[1]):
        scores, states = (best[:, :, None] + log_A).max(dim=1)
        before.append(states)
        best = scores + emitted[:, t]
    scores, last = best.max(dim=1)  # (B,)
    path = [last]
    for states in reversed(before):
        path.append(states.gather(1, path[-1][:, None]).squeeze(1))
    return torch.stack(path[::-1], dim=1), scores


def hmm_posterior(log_start: Tensor, log_A: Tensor, log_E: Tensor, seen: Tensor) -> Tensor:
    """p(state at t | the whole text) as (B, T, S): the states of each place sum to one, for a text that is possible.

    Arguments are those of `hmm_forward`.

    Raises:
        ValueError: the shapes do not fit together.
    """
    log_alpha, log_p = hmm_forward(log_start, log_A, log_E, seen)
    emitted = _emitted(log_start, log_A, log_E, seen)
    log_beta = [torch.zeros_like(log_alpha[:, 0])]  # (B, S): nothing comes after the end, which is certain
    for t in reversed(range(1, seen.shape[1])):
        follows = log_A + (emitted[:, t] + log_beta[-1])[:, None, :]  # (S, S) + (B, 1, S)
        log_beta.append(_log_sum(follows, dim=2))
    return (log_alpha + torch.stack(log_beta[::-1], dim=1) - log_p[:, None, None]).exp()


def _emitted(log_start: Tensor, log_A: Tensor, log_E: Tensor, seen: Tensor) -> Tensor:
    """log p of each symbol of `seen` (B, T) by each state: (B, T, S)."""
    states = len(log_start)
    if log_A.shape != (states, states) or log_E.ndim != 2 or len(log_E) != states or seen.ndim != 2 or not seen.numel():
        raise ValueError(
            "expected log_start (S,), log_A (S, S), log_E (S, V) and seen (B, T) with T ≥ 1, got "
            f"{tuple(log_start.shape)}, {tuple(log_A.shape)}, {tuple(log_E.shape)} and {tuple(seen.shape)}"
        )
    return log_E.T[seen]  # (V, S) looked up by (B, T)


def _log_sum(x: Tensor, dim: int) -> Tensor:
    """log Σ exp(x), −∞ where all are −∞, and with a gradient of zero there, where `torch.logsumexp` has NaN."""
    largest = x.amax(dim, keepdim=True).detach()
    largest = torch.where(largest.isinf(), 0.0, largest)  # −∞ − −∞ is NaN
    total = (x - largest).exp().sum(dim)
    possible = total > 0
    # The logarithm is taken where there is something to take it of: its slope at zero times zero would be NaN, too.
    return torch.where(possible, torch.where(possible, total, 1.0).log() + largest.squeeze(dim), -math.inf)


# -- over time ---------------------------------------------------------------------------------------------------------


def fit_ar(x: Tensor, order: int) -> Tensor:
    """The weights of the `order` values before, newest first, that predict x (T,) with the least squared error.

    Every place that has `order` values before it counts, and no constant is added: (T,) -> (order,).

    Raises:
        ValueError: `order` is below one, or there are fewer places than weights.
    """
    if x.ndim != 1 or order < 1 or len(x) < 2 * order:
        raise ValueError(f"order {order} needs x (T,) with T of at least {2 * max(order, 1)}, got {tuple(x.shape)}")
    before = x.unfold(0, order, 1)[:-1].flip(1)  # (T − order, order): row t holds x_{t−1} … x_{t−order}
    return torch.linalg.lstsq(before, x[order:, None]).solution.squeeze(1)


def causal_conv1d(x: Tensor, W: Tensor, b: Tensor, dilation: int = 1) -> Tensor:
    """A convolution over time that sees no future: x (B, C, T), W (D, C, k), b (D,) -> (B, D, T).

    `W[:, :, -1]` meets the present, and the tap before it what came `dilation` steps earlier. Zeros stand before the
    beginning.

    Raises:
        ValueError: the shapes do not fit together, or the dilation is below one.
    """
    if x.ndim != 3 or W.ndim != 3 or W.shape[1] != x.shape[1] or b.shape != W.shape[:1] or dilation < 1:
        raise ValueError(
            "expected x (B, C, T), W (D, C, k), b (D,) and a dilation from 1, got "
            f"{tuple(x.shape)}, {tuple(W.shape)}, {tuple(b.shape)} and {dilation}"
        )
    T, k = x.shape[2], W.shape[2]
    padded = torch.cat([x.new_zeros(*x.shape[:2], (k - 1) * dilation), x], dim=2)
    # Tap i reads the input (k − 1 − i) · dilation steps ago.
    taps = torch.stack([padded[:, :, i * dilation : i * dilation + T] for i in range(k)], dim=-1)  # (B, C, T, k)
    return torch.einsum("bctk,dck->bdt", taps, W) + b[:, None]


def receptive_field(kernel: int, dilations: Sequence[int]) -> int:
    """How many inputs lie between the oldest that an output depends on and the newest, both counted.

    There is one causal convolution for each dilation. Inputs count in between, even if no tap meets them.
    """
    return 1 + (kernel - 1) * sum(dilations)


# -- connectionist temporal classification -----------------------------------------------------------------------------


def ctc_collapse(path: Sequence[int], blank: int = 0) -> list[int]:
    """What a path of labels, one for each frame, spells: repeats are joined first, and then blanks go."""
    return [label for label, _ in groupby(path) if label != blank]


def ctc_loss(log_p: Tensor, lengths: Tensor, targets: Tensor, target_lengths: Tensor, blank: int = 0) -> Tensor:
    """−log p(target), the sum over all paths that collapse to it, for each text: (B,), in nats.

    `log_p` (B, T, V) are log-probabilities of labels, `targets` (B, L) labels without blanks. What lies behind
    `lengths` (B,) frames and `target_lengths` (B,) labels is padding. A target that does not fit has the loss ∞.

    Raises:
        ValueError: the shapes do not fit together.
    """
    if log_p.ndim != 3 or targets.ndim != 2 or not len(log_p) == len(lengths) == len(targets) == len(target_lengths):
        raise ValueError(
            "expected log_p (B, T, V), lengths (B,), targets (B, L) and target_lengths (B,), got "
            f"{tuple(log_p.shape)}, {tuple(lengths.shape)}, {tuple(targets.shape)} and {tuple(target_lengths.shape)}"
        )
    states, skips = ctc_states(targets, target_lengths, blank)
    emitted = log_p.gather(2, states[:, None].expand(-1, log_p.shape[1], -1))  # (B, T, 2 L + 1)
    first = torch.arange(states.shape[1], device=log_p.device) < 2
    alpha = torch.where(first, emitted[:, 0], -math.inf)  # a path begins with the blank or with the first label
    for t in range(1, log_p.shape[1]):
        stepped = torch.stack([alpha, _shifted(alpha, 1), torch.where(skips, _shifted(alpha, 2), -math.inf)])
        going_on = (t < lengths)[:, None]
        alpha = torch.where(going_on, _log_sum(stepped, dim=0) + emitted[:, t], alpha)
    last = 2 * target_lengths[:, None]  # the blank behind the last label; the label stands before it
    ends = torch.cat([alpha.gather(1, last), alpha.gather(1, (last - 1).clamp(min=0))], dim=1)  # (B, 2)
    without_label = torch.cat([torch.zeros_like(last, dtype=torch.bool), last == 0], dim=1)
    return -_log_sum(ends.masked_fill(without_label, -math.inf), dim=1)


def ctc_states(targets: Tensor, target_lengths: Tensor, blank: int = 0) -> tuple[Tensor, Tensor]:
    """The states of CTC's chain (B, 2 L + 1), blanks around each label, and which may be reached from two before.

    A label may, unless it is the same as the label before it: the blank between them must not be skipped. What lies
    behind `target_lengths` is a blank.
    """
    real = torch.arange(targets.shape[1], device=targets.device) < target_lengths[:, None]
    states = targets.new_full((len(targets), 2 * targets.shape[1] + 1), blank)
    states[:, 1::2] = torch.where(real, targets, blank)
    skips = torch.zeros_like(states, dtype=torch.bool)
    skips[:, 2:] = (states[:, 2:] != blank) & (states[:, 2:] != states[:, :-2])
    return states, skips


def _shifted(alpha: Tensor, by: int) -> Tensor:
    """What comes from `by` states before, −∞ where there is none: (B, S) -> (B, S)."""
    return torch.nn.functional.pad(alpha, (by, 0), value=-math.inf)[:, : alpha.shape[1]]
