"""Wrong answers to `GPT`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

from course.hidden.gpt.scaffold import WithLayers
from course.reference import gpt as reference

# -- first attempts ----------------------------------------------------------------------------------------------------


def layer_by(forward):
    """A GPT whose layers go so from (layer, x, past) to x and what is kept."""
    return type(forward.__name__, (WithLayers,), {"layer": type("Layer", (reference.GPTLayer,), {"forward": forward})})


def found_in_place_of_x(layer, x, past):
    x, pair = layer.attend(layer.norm1(x), past)
    return x + layer.feed_forward(layer.norm2(x)), pair


def thought_in_place_of_x(layer, x, past):
    found, pair = layer.attend(layer.norm1(x), past)
    return layer.feed_forward(layer.norm2(x + found)), pair


def x_is_the_normed_one(layer, x, past):
    x = layer.norm1(x)
    found, pair = layer.attend(x, past)
    x = layer.norm2(x + found)
    return x + layer.feed_forward(x), pair


def up_in_front_of_the_gate(layer, x, past):
    found, pair = layer.attend(layer.norm1(x), past)
    x = x + found
    return x + reference.swiglu(layer.norm2(x), layer.W_up.weight, layer.W_gate.weight, layer.W_down.weight), pair


class LastNormForgotten(reference.GPT):
    def forward(self, ids, cache=None):
        x, present = self.embed(ids) if ids.dim() == 2 else ids, []
        for i, layer in enumerate(self.layers):
            x, pair = layer(x, cache[i] if cache else None)
            present.append(pair)
        return x @ self.words.weight.T, present


class OneCacheForAllLayers(reference.GPT):
    def forward(self, ids, cache=None):
        x = self.embed(ids) if ids.dim() == 2 else ids
        for layer in self.layers:
            x, pair = layer(x, cache)
        return self.norm(x) @ self.words.weight.T, pair


FIRST_ATTEMPTS = {
    layer_by(found_in_place_of_x): "Set `W_o` of every layer to zero",
    layer_by(thought_in_place_of_x): "Set `W_down` of every layer to zero",
    layer_by(x_is_the_normed_one): "Set `W_o` and `W_down` of a layer to zero.",
    layer_by(up_in_front_of_the_gate): "Double `W_up` of a layer.",
    LastNormForgotten: "What stands between the last layer and the output?",
    OneCacheForAllLayers: "Whose keys",
}

# -- others ------------------------------------------------------------------------------------------------------------


class NoGradientThroughVectors(reference.GPT):
    def forward(self, ids, cache=None):
        return super().forward(ids.detach(), cache)


MUTANTS = [NoGradientThroughVectors]
