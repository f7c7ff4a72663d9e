"""What several exercises of this topic are examined with."""

import torch
from torch import nn

from course.exercise import Ref, stand_in

FLOAT32 = 1e-4


def linear(rng, out_features, in_features, bias=True, dtype=torch.float64):
    """A described layer with weights of the examiner's."""
    b = rng.normal(out_features, dtype=dtype) if bias else None
    return stand_in("linear", weight=rng.normal(out_features, in_features, dtype=dtype), bias=b)


def chain(parts, **settings):
    return stand_in("chain", parts=parts, **settings)


def norm(rng, width):
    return stand_in("layer_norm", weight=rng.normal(width), bias=rng.normal(width))


def lora_layer(rng, out_features, in_features, r, alpha, bias=True, dtype=torch.float64):
    """A described LoRA layer, of the answer's own class if there is a sound one, and what merging makes of it."""
    base = linear(rng, out_features, in_features, bias, dtype)
    A, B = rng.normal(r, in_features, dtype=dtype), rng.normal(out_features, r, dtype=dtype)
    total = base.parameters["weight"] + alpha / r * B @ A
    layer = stand_in("adapted", base=base, A=A, B=B, r=r, alpha=alpha, total=total, kind=Ref("LoRALinear"))
    return layer, stand_in("linear", weight=total, bias=base.parameters["bias"])


def as_they_were(case, of, *names):
    """The case ends by reading what must not have changed."""
    for name in names:
        case = case.read(name, on=of, into=f"{name} of {of} afterwards")
    return case


def weights_of(case, made):
    """The case goes on with the numbers of a layer that was made."""
    return case.call(on=made, method="state_dict", into="weights")


def asked(case, made, x):
    """The case ends by asking a layer that was made; whether its numbers may learn is its maker's choice.

    Nothing else is read afterwards: a bias that is shared with the layer it came from is frozen there as well.
    """
    return case.call(False, on=made, method="requires_grad_", into=made).call(x, on=made)


KEPT = ("base.weight", "base.bias", "A", "B")


def with_weight(layer, weight, bias=True):
    """A linear layer with this weight, and the bias of `layer`, if it has one and is not refused it."""
    kept = {"weight": weight} | ({"bias": layer.bias} if bias and layer.bias is not None else {})
    made = nn.Linear(weight.shape[1], weight.shape[0], "bias" in kept, dtype=weight.dtype)
    made.load_state_dict(kept)
    return made.requires_grad_(False)


def update_of(layer):
    return layer.alpha / layer.r * layer.B.detach() @ layer.A.detach()


def two_blocks(rng):
    """Words to two numbers, (B, T) -> (B, T, 2): two blocks, norms, a layer without a bias, names within names."""
    first = {"norm": norm(rng, 6), "q": linear(rng, 5, 6), "v": linear(rng, 7, 5), "seq": linear(rng, 4, 7)}
    freq = {"norm": norm(rng, 4), "q": linear(rng, 3, 4), "query": linear(rng, 5, 3), "v": linear(rng, 6, 5, False)}
    parts = {
        "words": stand_in("embedding", weight=rng.normal(11, 6)),
        "first": chain(first),
        "freq": chain(freq),
        "rebias": linear(rng, 3, 6),
        "head": linear(rng, 2, 3),
    }
    return chain(parts)


def last_part(name):
    return name.rpartition(".")[2]


def learning(model):
    return sum(p.numel() for p in model.parameters() if p.requires_grad)
