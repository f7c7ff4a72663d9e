"""Hidden tests of `merge`, which makes one linear layer of a base and its update."""

import torch

from course.exercise import Ref, exercise, given
from course.hidden.lora.scaffold import (
    FLOAT32,
    KEPT,
    as_they_were,
    asked,
    lora_layer,
    update_of,
    weights_of,
    with_weight,
)
from course.reference import lora as reference


@exercise(
    reference.merge,
    hints=(
        "W x + (alpha / r) B A x = (W + ...) x. Which matrix of shape (out, in) stands in the brackets?",
        "Give the layer and your merged one the same x. How far apart are the results, and is it rounding? Print "
        "layer.base.weight before and after. Has anything old changed?",
        "Begin with a new layer that does what the base does, and shares no tensor with it. Change a number in one of"
        " them. Does the other move? Only then add the update to the new one, without recording it for gradients.",
    ),
    forbidden=("peft",),
    calls=(
        "base = set_all(nn.Linear(2, 2), 1); layer = set_all(LoRALinear(base, 1, 4.), 1); merge(layer).weight",
        "base = set_all(nn.Linear(2, 2), 1); layer = LoRALinear(base, 1, 4.); merge(layer).weight",
        "base = set_all(nn.Linear(2, 2), 1); layer = set_all(LoRALinear(base, 2, 4.), 1); merge(layer).weight",
        (
            "base = set_all(nn.Linear(2, 2), 1); layer = set_all(LoRALinear(base, 1, 1.), "
            "1); merge(layer)(tensor([1., 0.]))"
        ),
        (
            "base = set_all(nn.Linear(2, 2), 1); layer = set_all(LoRALinear(base, 1, 4.), "
            "1); merged = merge(layer); base.weight"
        ),
        "base = set_all(nn.Linear(2, 2), 1); layer = set_all(LoRALinear(base, 1, 4.), 0); merge(layer).weight",
    ),
)
def merge(rng):
    """Weight, bias and output, then whether layer and base are unchanged."""

    def merged(title, *sizes, bias=True, dtype=torch.float64, **settings):
        if dtype == torch.float32:
            settings["tolerance"] = FLOAT32
        layer, _ = lora_layer(rng, *sizes, bias=bias, dtype=dtype)
        return weights_of(
            given(title, layer=layer, **settings).call(Ref("layer"), on="answer", into="merged"), "merged"
        )

    yield asked(merged("a small layer", 5, 7, 2, 6.0, public=True, weight=2.0), "merged", rng.normal(3, 7))
    yield as_they_were(merged("layer and base afterwards", 5, 3, 2, 7.0, public=True), "layer", *KEPT)
    yield asked(merged("another rank, another strength", 3, 7, 5, 2.0, weight=2.0), "merged", rng.normal(2, 3, 7))
    yield asked(merged("a square layer", 5, 5, 2, 3.0), "merged", rng.normal(3, 5))
    yield asked(merged("without a bias", 7, 3, 2, 5.0, bias=False), "merged", rng.normal(3, 3))
    yield asked(merged("rank one", 3, 2, 1, 0.5), "merged", rng.normal(3, 2))
    yield merged("sizes", 5, 7, 3, 2.0, weight=0.5).read("in_features", on="merged").read("out_features", on="merged")
    yield asked(merged("float32", 5, 7, 2, 6.0, dtype=torch.float32), "merged", rng.normal(3, 7, dtype=torch.float32))
    again, _ = lora_layer(rng, 5, 7, 2, 6.0)
    twice = given("merged twice", layer=again).call(Ref("layer"), on="answer", into="first")
    yield weights_of(twice.call(Ref("layer"), on="answer", into="merged"), "merged")
    layer, _ = lora_layer(rng, 3, 5, 2, 7.0)
    yield (
        given("the merged layer is one of its own", layer=layer)
        .call(Ref("layer"), on="answer", into="merged")
        .load({"weight": rng.normal(3, 5), "bias": rng.normal(3)}, on="merged")
        .read("base.weight", on="layer")
        .read("base.bias", on="layer")
    )


def _merged(weight):
    """The answer whose weight is made by `weight(base's, layer)`, and whose bias is the base's."""
    return lambda layer: with_weight(layer.base, weight(layer.base.weight, layer))


merge.mistakes(
    "Compare the outputs before and after. Which number of the layer is not in your update?",
    scale_forgotten=_merged(lambda W, layer: W + layer.B @ layer.A),
)
merge.mistakes(
    "Take an update with alpha = 8 and r = 2. By what do you multiply it?",
    scaled_by_alpha_alone=_merged(lambda W, layer: W + layer.alpha * layer.B @ layer.A),
)
merge.mistakes(
    "With B = 0, the merged layer should be the base. Is yours?",
    base_scaled_as_well=_merged(lambda W, layer: layer.alpha / layer.r * (W + layer.B @ layer.A)),
)


@merge.misconception("Print layer.base.weight before and after a merge, then merge twice. What do you see?")
def added_to_the_base(layer):
    with torch.no_grad():
        layer.base.weight += update_of(layer)
    return layer.base


@merge.misconception("Give the merged layer x = 0. What should come out?")
def bias_left_behind(layer):
    return with_weight(layer.base, layer.base.weight + update_of(layer), bias=False)


@merge.misconception("Change the bias of the merged layer, and print that of the base. How many biases are there?")
def bias_shared(layer):
    merged = reference.merge(layer)
    merged.bias = layer.base.bias
    return merged


@merge.misconception(
    "Print the dtype of the base's numbers, and that of a fresh nn.Linear. Which one should the merged layer have?"
)
def always_float32(layer):
    return reference.merge(layer).float()
