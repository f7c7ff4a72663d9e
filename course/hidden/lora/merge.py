"""Hidden tests of `merge`."""

from __future__ import annotations

import copy

import torch

from course.exercise import Ref, exercise, given
from course.hidden.lora.scaffold import FLOAT32, KEPT, _adapted, _asked, _beside, _change, as_they_were, weights_of
from course.reference import lora as reference


@exercise(
    reference.merge,
    hints=(
        "Give the layer and your merged one the same x. How far apart are the results, and is it rounding?",
        "Print layer.base.weight before and after. Merging makes something new: has anything old changed?",
        "W x + (alpha / r) B A x = (W + ...) x. Which matrix of shape (out, in) stands in the brackets?",
    ),
    forbidden=("peft",),
)
def merge(rng):
    """Weight, bias and what comes out, then whether layer and base are as they were."""

    def merged(title, *sizes, bias=True, dtype=torch.float64, **settings):
        if dtype == torch.float32:
            settings["tolerance"] = FLOAT32
        layer, _ = _adapted(rng, *sizes, bias=bias, dtype=dtype)
        return weights_of(
            given(title, layer=layer, **settings).call(Ref("layer"), on="answer", into="merged"), "merged"
        )

    yield _asked(merged("a small layer", 5, 7, 2, 6.0, public=True, weight=2.0), "merged", rng.normal(3, 7))
    yield as_they_were(merged("layer and base afterwards", 5, 3, 2, 7.0, public=True), "layer", *KEPT)
    yield _asked(merged("another rank, another strength", 3, 7, 5, 2.0, weight=2.0), "merged", rng.normal(2, 3, 7))
    yield _asked(merged("a square layer", 5, 5, 2, 3.0), "merged", rng.normal(3, 5))
    yield _asked(merged("without a bias", 7, 3, 2, 5.0, bias=False), "merged", rng.normal(3, 3))
    yield _asked(merged("rank one", 3, 2, 1, 0.5), "merged", rng.normal(3, 2))
    yield merged("sizes", 5, 7, 3, 2.0, weight=0.5).read("in_features", on="merged").read("out_features", on="merged")
    yield _asked(merged("float32", 5, 7, 2, 6.0, dtype=torch.float32), "merged", rng.normal(3, 7, dtype=torch.float32))
    again, _ = _adapted(rng, 5, 7, 2, 6.0)
    twice = given("merged twice", layer=again).call(Ref("layer"), on="answer", into="first")
    yield weights_of(twice.call(Ref("layer"), on="answer", into="merged"), "merged")
    layer, _ = _adapted(rng, 3, 5, 2, 7.0)
    yield (
        given("the merged layer is one of its own", layer=layer)
        .call(Ref("layer"), on="answer", into="merged")
        .load({"weight": rng.normal(3, 5), "bias": rng.normal(3)}, on="merged")
        .read("base.weight", on="layer")
        .read("base.bias", on="layer")
    )


@merge.misconception("Compare what comes out before and after. Which number of the layer is not in your update?")
def scale_forgotten(layer):
    return _beside(layer.base, layer.base.weight + layer.B @ layer.A)


@merge.misconception("Take an update with alpha = 8 and r = 2. By what do you multiply it?")
def scaled_by_alpha_alone(layer):
    return _beside(layer.base, layer.base.weight + _change(layer, layer.r))


@merge.misconception("Take an update with r = 4 and alpha = 6, then with alpha = 7. By what do you multiply it?")
def scaled_in_whole_steps(layer):
    return _beside(layer.base, layer.base.weight + layer.alpha // layer.r * layer.B @ layer.A)


@merge.misconception("With B = 0, the merged layer should be the base. Is yours?")
def base_scaled_as_well(layer):
    return _beside(layer.base, layer.alpha / layer.r * (layer.base.weight + layer.B @ layer.A))


@merge.misconception("Double alpha. Does the update that you add grow, or shrink?")
def scaled_upside_down(layer):
    return _beside(layer.base, layer.base.weight + _change(layer, (layer.r / layer.alpha) ** 2))


@merge.misconception("Print layer.base.weight before and after a merge, then merge twice. What do you see?")
def added_to_the_base(layer):
    with torch.no_grad():
        layer.base.weight += _change(layer)
    return layer.base


@merge.misconception("You return a new layer. Is the old one still what it was? Print layer.base.weight twice.")
def base_changed_on_the_way(layer):
    with torch.no_grad():
        layer.base.weight += _change(layer)
    return copy.deepcopy(layer.base)


@merge.misconception("After your merge, what are A and B of the layer that was merged?")
def update_emptied(layer):
    merged = _beside(layer.base, layer.base.weight + _change(layer))
    with torch.no_grad():
        layer.B.zero_()
    return merged


@merge.misconception("Give the merged layer x = 0. What should come out?")
def bias_left_behind(layer):
    return _beside(layer.base, layer.base.weight + _change(layer), bias=False)


@merge.misconception("Give the merged layer x = 0, and the base, too. How often is the bias in it?")
def bias_doubled(layer):
    merged = _beside(layer.base, layer.base.weight + _change(layer))
    if merged.bias is not None:
        merged.bias *= 2
    return merged


@merge.misconception("Change the bias of the merged layer, and print that of the base. How many biases are there?")
def bias_shared(layer):
    merged = _beside(layer.base, layer.base.weight + _change(layer))
    merged.bias = layer.base.bias
    return merged


@merge.misconception("Print the merged layer, and the shape of its weight. How many numbers does it say that it reads?")
def sizes_exchanged(layer):
    merged = _beside(layer.base, layer.base.weight + _change(layer))
    merged.in_features, merged.out_features = merged.out_features, merged.in_features
    return merged


@merge.misconception("Of which type are the base's numbers, and of which those of a fresh nn.Linear? Print both.")
def always_float32(layer):
    return _beside(layer.base, (layer.base.weight + _change(layer)).float()).float()


@merge.misconception("With B = 0, the merged layer should be the base. Is yours?")
def update_alone(layer):
    return _beside(layer.base, _change(layer))


@merge.misconception("Compare your merged layer with the base alone. What has the update changed?")
def base_alone(layer):
    return copy.deepcopy(layer.base)


@merge.misconception("Is an update to be added, or taken off? Compare with what the layer does.")
def taken_off(layer):
    return _beside(layer.base, layer.base.weight - _change(layer))
