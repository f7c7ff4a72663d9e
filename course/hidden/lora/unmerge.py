"""Hidden tests of `unmerge`, the way back from a merged layer."""

import copy

import torch

from course.exercise import Ref, exercise, given
from course.hidden.lora.scaffold import (
    FLOAT32,
    KEPT,
    as_they_were,
    asked,
    linear,
    lora_layer,
    update_of,
    weights_of,
    with_weight,
)
from course.reference import lora as reference


@exercise(
    reference.unmerge,
    hints=(
        "Print merged.weight minus layer.base.weight right after a merge. What is this matrix, and where do you find "
        "it if merged has been trained since?",
        "Merge a layer and take it apart again. What is left of the difference to the base's weight? Print "
        "merged.weight before and after. Does your function change it?",
        "Begin with your merge. Which of the two layers do you copy here, and what is the opposite of what you then "
        "did to the copy?",
    ),
    forbidden=("peft",),
    calls=(
        (
            "base = set_all(nn.Linear(2, 2), 1); layer = set_all(LoRALinear(base, 1, 4.), 1); unmerge(base, "
            "layer).weight"
        ),
        (
            "base = set_all(nn.Linear(2, 2), 1); layer = set_all(LoRALinear(base, 2, 4.), 1); unmerge(base, "
            "layer).weight"
        ),
        "base = set_all(nn.Linear(2, 2), 1); layer = LoRALinear(base, 1, 4.); unmerge(base, layer).weight",
        (
            "base = set_all(nn.Linear(2, 2), 1); layer = set_all(LoRALinear(base, 1, 1.), 1); unmerge(base, "
            "layer).weight"
        ),
        (
            "base = set_all(nn.Linear(2, 2), 1); layer = set_all(LoRALinear(base, 1, 4.), "
            "1); back = unmerge(base, layer); base.weight"
        ),
        (
            "base = set_all(nn.Linear(2, 2), 1); layer = set_all(LoRALinear(base, 1, 2.), 1); unmerge(base, "
            "layer)(tensor([1., 0.]))"
        ),
    ),
)
def unmerge(rng):
    """The way back from a merge, and from a merged layer that was trained further. Then only a difference is right."""

    def apart(title, *sizes, bias=True, dtype=torch.float64, moved=False, **settings):
        if dtype == torch.float32:
            settings["tolerance"] = FLOAT32
        layer, merged = lora_layer(rng, *sizes, bias=bias, dtype=dtype)
        if moved:
            merged = linear(rng, *sizes[:2], bias, dtype)
        case = given(title, layer=layer, merged=merged, **settings)
        return weights_of(case.call(Ref("merged"), Ref("layer"), on="answer", into="base"), "base")

    yield asked(apart("the way back", 5, 7, 2, 6.0, public=True), "base", rng.normal(3, 7))
    yield as_they_were(apart("the merged layer afterwards", 5, 3, 2, 7.0, public=True), "merged", "weight", "bias")
    yield apart("a merged layer that has changed since", 5, 7, 2, 6.0, moved=True, public=True, weight=2.0)
    yield asked(apart("another rank, another strength", 3, 7, 5, 2.0), "base", rng.normal(3, 7))
    yield asked(apart("without a bias", 7, 3, 2, 5.0, bias=False, weight=0.5), "base", rng.normal(3, 3))
    yield apart("a square layer", 5, 5, 3, 2.0, moved=True)
    yield (
        apart("the new layer is one of its own", 3, 5, 2, 7.0)
        .load({"weight": rng.normal(3, 5), "bias": rng.normal(3)}, on="base")
        .read("weight", on="merged", into="merged weight")
        .read("bias", on="merged", into="merged bias")
    )
    yield asked(apart("float32", 5, 7, 2, 6.0, dtype=torch.float32), "base", rng.normal(3, 7, dtype=torch.float32))
    yield as_they_were(apart("the layer afterwards", 5, 3, 2, 7.0, moved=True), "layer", *KEPT)


@unmerge.misconception("Merge and unmerge. Is the difference to the base gone, or has it doubled?")
def added_once_more(merged, layer):
    return with_weight(merged, merged.weight + update_of(layer))


@unmerge.misconception("Compare what merge added with what you subtract, for alpha = 6 and r = 2. Are they equal?")
def taken_off_without_its_scale(merged, layer):
    return with_weight(merged, merged.weight - layer.B @ layer.A)


@unmerge.misconception("Train the merged layer for a while, then unmerge it. Should all it has learned be gone?")
def hands_out_the_base(merged, layer):
    return copy.deepcopy(layer.base)


@unmerge.misconception("Print merged.weight before and after. The merged layer should stay in working order.")
def merged_layer_changed(merged, layer):
    with torch.no_grad():
        merged.weight -= update_of(layer)
    return merged


@unmerge.misconception("Does the layer that comes back have the bias of the one that went in?")
def bias_not_taken_along(merged, layer):
    return with_weight(merged, merged.weight - update_of(layer), bias=False)
