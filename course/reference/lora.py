r"""Fine-tuning with few parameters: a trained model stays as it is, and learns a small correction beside its weights.

LoRA adds to a weight a product of two thin matrices, which begins as zero, and can be multiplied out and added when
training is done. BitFit trains nothing but the biases. Singular values tell how good a thin product can be.

    y = W x + b + (alpha / r) B A x                  W, b: frozen; A: random; B: zero, so that it begins as the base
    W_merged = W + (alpha / r) B A                   one layer again, as fast as before
    r (in + out)  numbers learn, instead of in · out
    min |W - B A|_F over all B, A of rank r = sqrt(s_{r+1}² + s_{r+2}² + ...)        s_1 >= s_2 >= ...: singular values
                                                     reached by the r largest ones, with their directions

Glossary: W (out, in) and b (out,) a linear layer, r the rank, A (r, in), B (out, r), alpha the strength of the update,
which alpha / r keeps comparable from rank to rank; "base" is the trained layer, "to merge" is to add the update to it.

Sources: E. J. Hu et al., "LoRA: Low-Rank Adaptation of Large Language Models", ICLR 2022 (arXiv 2106.09685), section 4,
equation 3; E. Ben Zaken, S. Ravfogel, Y. Goldberg, "BitFit: Simple Parameter-efficient Fine-tuning for
Transformer-based Masked Language-models", ACL 2022 (arXiv 2106.10199), section 3; C. Eckart, G. Young, "The
Approximation of One Matrix by Another of Lower Rank", Psychometrika 1936. Why so few numbers may be enough:
A. Aghajanyan, L. Zettlemoyer, S. Gupta, "Intrinsic Dimensionality Explains the Effectiveness of Language Model
Fine-Tuning", ACL 2021 (arXiv 2012.13255).
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn


class LoRALinear(nn.Module):
    """A frozen linear layer, and a low-rank update beside it that learns.

    `base` is the given layer itself, frozen. `A` (r, in) is random and `B` (out, r) zero, both of the base's dtype and
    on its device, so that the layer begins as the base.

    Raises:
        ValueError: the rank is below one.
    """

    def __init__(self, base: nn.Linear, r: int, alpha: float) -> None:
        super().__init__()
        if r < 1:
            raise ValueError(f"a rank of {r} leaves nothing to learn. It must be at least 1")
        self.base = base.requires_grad_(False)
        self.r, self.alpha = r, alpha
        self.A = nn.Parameter(base.weight.new_empty(r, base.in_features))
        self.B = nn.Parameter(base.weight.new_zeros(base.out_features, r))
        nn.init.kaiming_uniform_(self.A, a=math.sqrt(5))  # as nn.Linear begins

    def forward(self, x: Tensor) -> Tensor:
        """x (..., in) -> (..., out)."""
        update = x @ self.A.T @ self.B.T  # (..., in) -> (..., r) -> (..., out)
        return self.base(x) + self.alpha / self.r * update


def merge(layer: LoRALinear) -> nn.Linear:
    """One frozen linear layer that computes what base and update compute together. `layer` does not change."""
    return _with_weight(layer.base, layer.base.weight + _update(layer))


def unmerge(merged: nn.Linear, layer: LoRALinear) -> nn.Linear:
    """A frozen layer with the update subtracted from the weight of `merged`. `merged` and `layer` do not change.

    Raises:
        ValueError: the weight of `merged` is of another shape than the update.
    """
    update = _update(layer)
    if merged.weight.shape != update.shape:
        raise ValueError(f"a weight {tuple(merged.weight.shape)}, and an update {tuple(update.shape)}")
    return _with_weight(merged, merged.weight - update)


def add_lora(model: nn.Module, r: int, alpha: float, targets: Sequence[str]) -> int:
    """Put a `LoRALinear` in the place of every `nn.Linear` whose name ends in one of `targets`, and freeze the rest.

    The last part of a name counts, so `W_q` stands for `blocks.0.attention.W_q`, too. The model is changed in place.

    Returns:
        How many numbers can learn.

    Raises:
        ValueError: the model has LoRA layers already, or no linear layer of such a name.
    """
    if any(isinstance(module, LoRALinear) for module in model.modules()):
        raise ValueError("this model has LoRA layers already. Merge them first, or begin with a fresh model")
    found = [
        name
        for name, module in model.named_modules(remove_duplicate=False)
        if isinstance(module, nn.Linear) and name.rpartition(".")[2] in targets
    ]
    if not found:
        raise ValueError(f"no linear layer's name ends in {' or '.join(targets)}")
    model.requires_grad_(False)
    adapted: dict[nn.Module, LoRALinear] = {}  # a layer with two names stays one layer
    for name in found:
        owner, _, last = name.rpartition(".")
        base = model.get_submodule(name)
        if isinstance(base, nn.Linear):  # and not exchanged already, where its owner has two names
            adapted[base] = adapted.get(base) or LoRALinear(base, r, alpha)
            setattr(model.get_submodule(owner), last, adapted[base])
    return trainable_parameters(model)[0]


def add_bitfit(model: nn.Module) -> int:
    """Freeze all of a model but its biases, those of `nn.LayerNorm` included.

    Returns:
        How many numbers can learn.
    """
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(name.rpartition(".")[2] == "bias")
    return trainable_parameters(model)[0]


def trainable_parameters(model: nn.Module) -> tuple[int, int]:
    """How many numbers can learn, and how many parameters there are. Shared tensors count once, buffers never."""
    parameters = list(model.parameters())  # each once, however often it is used
    return sum(p.numel() for p in parameters if p.requires_grad), sum(p.numel() for p in parameters)


def lora_parameters(shapes: Sequence[tuple[int, int]], r: int) -> int:
    """How many numbers updates of rank `r` add to weights of `shapes`, (out, in) each."""
    return sum(r * (out_features + in_features) for out_features, in_features in shapes)


def lora_state(model: nn.Module) -> dict[str, Tensor]:
    """The entries of `model.state_dict()` whose last name is `A` or `B`, under their full names.

    These are the tensors of LoRA layers of any class. A model's own parameters by these names are kept, too.
    """
    return {name: tensor for name, tensor in model.state_dict().items() if name.rpartition(".")[2] in ("A", "B")}


def best_rank_r(W: Tensor, r: int) -> tuple[Tensor, Tensor]:
    """B (out, r) and A (r, in) whose product comes nearest to W (out, in), in the sum of squared differences.

    Raises:
        ValueError: W is no matrix, or has no rank `r` to give.
    """
    if W.ndim != 2 or not 1 <= r <= min(W.shape):
        raise ValueError(f"no factors of rank {r} for a matrix of shape {tuple(W.shape)}")
    U, S, V = torch.linalg.svd(W, full_matrices=False)  # (out, k), (k,), (k, in), largest first
    return U[:, :r] * S[:r], V[:r]


def _update(layer: LoRALinear) -> Tensor:
    """What a LoRA layer adds to its base's weight, (out, in), without gradient."""
    return (layer.alpha / layer.r * layer.B @ layer.A).detach()


def _with_weight(layer: nn.Linear, weight: Tensor) -> nn.Linear:
    """A frozen copy of `layer` with other numbers in its weight."""
    other = copy.deepcopy(layer).requires_grad_(False)
    with torch.no_grad():
        other.weight.copy_(weight)
    return other
