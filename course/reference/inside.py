r"""Inside a model: what its residual stream says, which part said it, and which part it takes away when it goes.

A layer of a GPT adds what its heads and its feed-forward network find to the residual stream x (B, T, D). The logits
are W_U rms_norm(x), so what stands in x is read by one matrix, and what was added to it adds up:

    lens of a layer           W_U rms_norm(x_layer)             each layer has the scale of its own stream
    share of a part           W_U (gamma part / rms(sum))       all parts have the scale of their sum

Glossary: B texts, T tokens, D width, V tokens of the vocabulary, h heads, P parts of the stream, N examples,
n features of an autoencoder, C choices.

Sources: nostalgebraist, "interpreting GPT: the logit lens", 2020; N. Elhage et al., "A Mathematical Framework for
Transformer Circuits", 2021 (a stream of sums); C. Olsson et al., "In-context Learning and Induction Heads", 2022;
K. Meng et al., "Locating and Editing Factual Associations in GPT", NeurIPS 2022 (patching); J. Hewitt, P. Liang,
"Designing and Interpreting Probes with Control Tasks", EMNLP 2019; T. Bricken et al., "Towards Monosemanticity", 2023,
and T. Conerly et al., "Update on how we train SAEs", 2024 (autoencoders); T. Brown et al., "Language Models are
Few-Shot Learners", NeurIPS 2020 (choices by likelihood); E. Wilson, "Probable Inference, the Law of Succession, and
Statistical Inference", JASA 1927; C. Guo et al., "On Calibration of Modern Neural Networks", ICML 2017.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from .gpt import rms_norm


def logit_lens(stream: Tensor, gamma: Tensor, W_U: Tensor, eps: float = 1e-6) -> Tensor:
    """Read a stream as the end of the model reads it: (..., D), gamma (D,), W_U (V, D) -> logits (..., V).

    Raises:
        ValueError: the widths differ.
    """
    if stream.shape[-1] != W_U.shape[-1]:
        raise ValueError(f"a stream {tuple(stream.shape)} cannot be read by W_U {tuple(W_U.shape)}")
    return rms_norm(stream, gamma, eps) @ W_U.T


def direct_attribution(
    parts: Tensor, gamma: Tensor, W_U: Tensor, right: Tensor, wrong: Tensor | None = None, eps: float = 1e-6
) -> Tensor:
    """Split a logit into shares of the parts that the stream is the sum of: parts (P, ..., D) -> (P, ...).

    The logit is that of token `right` (...), less that of `wrong` (...) if there is one. The shares add up to it.

    Raises:
        ValueError: there is not one token for each place.
    """
    if right.shape != parts.shape[1:-1]:
        raise ValueError(f"tokens {tuple(right.shape)} for parts {tuple(parts.shape)}")
    scale = (parts.sum(0).square().mean(-1, keepdim=True) + eps).rsqrt()  # (..., 1), one for all parts
    direction = W_U[right] if wrong is None else W_U[right] - W_U[wrong]  # (..., D)
    return (parts * scale * gamma * direction).sum(-1)


def induction_score(attention: Tensor, ids: Tensor) -> Tensor:
    """Return how much each head looks behind earlier copies of a token: (B, h, T, T) and ids (B, T) -> (h,).

    The targets of place t are the places s + 1 < t with ids[s] = ids[t]. The weights on them are summed, and the mean
    runs over all places of all texts that have a target. Without any, it is 0.
    """
    T = ids.shape[1]
    same = ids[:, :, None] == ids[:, None, :]  # (B, T, T): the token at t is the one at s
    targets = torch.zeros_like(same)
    targets[:, :, 1:] = same[:, :, :-1]
    targets &= torch.ones(T, T, dtype=torch.bool, device=ids.device).tril(-1)  # before t itself
    found = (attention * targets[:, None]).sum((0, 2, 3))  # (h,)
    return found / targets.any(-1).sum().clamp(min=1)


def patch(model: nn.Module, module: nn.Module, ids: Tensor, value: Tensor, where: Tensor) -> Any:
    """Run `model(ids)` with `value` in the output of `module` wherever `where` is True, and return what it returns.

    `module` returns one tensor, to which `value` and the boolean `where` broadcast.
    """

    def replace(_module: nn.Module, _inputs: Any, output: Tensor) -> Tensor:
        return torch.where(where, value, output)

    handle = module.register_forward_hook(replace)
    try:
        return model(ids)
    finally:
        handle.remove()


def control_labels(words: Tensor, labels: Tensor, generator: torch.Generator) -> Tensor:
    """Give each word type a random label, drawn from the labels of all tokens: words and labels (N,) -> (N,)."""
    types, of_type = words.unique(return_inverse=True)
    drawn = torch.randint(len(labels), (len(types),), generator=generator, device=generator.device)
    return labels[drawn][of_type]


class SparseAutoencoder(nn.Module):
    """Describe vectors by few of many features: `model(x (..., D))` -> what they add up to (..., D), features (..., n).

    Args:
        D: width of the vectors.
        n: features.
    """

    def __init__(self, D: int, n: int) -> None:
        super().__init__()
        columns = nn.functional.normalize(torch.randn(D, n), dim=0)
        self.W_dec = nn.Parameter(columns)  # (D, n)
        self.W_enc = nn.Parameter(columns.T.clone())  # (n, D)
        self.b_enc, self.b_dec = nn.Parameter(torch.zeros(n)), nn.Parameter(torch.zeros(D))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return the sum of active features' columns, and how active each feature is."""
        f = ((x - self.b_dec) @ self.W_enc.T + self.b_enc).relu()  # (..., n)
        return f @ self.W_dec.T + self.b_dec, f

    def loss(self, x: Tensor, l1: float) -> Tensor:
        """Return the mean over x (B, D) of the squared error and of `l1` times what the active features weigh."""
        x_hat, f = self(x)
        error = (x - x_hat).square().sum(-1)
        return (error + l1 * f @ self.W_dec.norm(dim=0)).mean()


def choose_by_likelihood(
    model: Callable[..., Any], prompt: Tensor, choices: Sequence[Tensor], lengths: Sequence[float] | None = None
) -> tuple[int, Tensor]:
    """Choose how a model would go on: a prompt (T,) and choices (n,) each -> the best one's number, scores (C,).

    A score is log p(choice | prompt), divided by the choice's entry in `lengths` where these are given.

    Raises:
        ValueError: the prompt, a choice or the list is empty.
    """
    if not len(prompt) or not len(choices) or not all(map(len, choices)):
        raise ValueError("an empty prompt, an empty choice or no choices at all")
    scores = []
    for choice in choices:
        ids = torch.cat([prompt, choice])
        logits, _ = model(ids[None, :-1])
        log_p = logits[0, len(prompt) - 1 :].log_softmax(-1)  # about the tokens of the choice
        scores.append(log_p.gather(-1, choice[:, None]).sum())
    scored = torch.stack(scores)
    if lengths is not None:
        scored = scored / torch.as_tensor(lengths, dtype=scored.dtype, device=scored.device)
    return int(scored.argmax()), scored


def wilson_interval(right: int, n: int, z: float = 1.96) -> tuple[float, float]:
    """Return the shares that fit `right` of `n` answers: those from which it is at most `z` standard errors away.

    Raises:
        ValueError: there are no answers, or more right ones than answers.
    """
    if n < 1 or not 0 <= right <= n:
        raise ValueError(f"{right} of {n} answers cannot be right")
    p, shrink = right / n, 1 + z * z / n
    centre = (p + z * z / (2 * n)) / shrink
    half = z / shrink * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return max(0.0, centre - half), min(1.0, centre + half)


def calibration_error(confidence: Tensor, right: Tensor, bins: int = 10) -> float:
    """Return the mean gap between confidence (N,) and accuracy, right (N,) bool, over `bins` of equal width.

    Each bin counts by the share of the answers that it holds.
    """
    bin_of = (confidence * bins).long().clamp(0, bins - 1)  # a confidence of 1 belongs to the last bin
    gaps = confidence.new_zeros(bins).index_add(0, bin_of, confidence - right.to(confidence.dtype))
    return float(gaps.abs().sum() / len(confidence))
