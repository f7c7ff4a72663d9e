"""Hidden tests of `GPT`: logits of published weights, with and without a cache, in chunks of any size."""

from __future__ import annotations

import torch
from torch import nn

from course.exercise import Ref, build, exercise
from course.hidden.gpt.scaffold import BUILT_IN_ATTENTION, WithLayers, published
from course.reference import gpt as reference

V, D, LAYERS, HEADS, GROUPS, INNER = 13, 24, 2, 4, 2, 17
FORKED = "two ways to go on from one cache"


@exercise(
    reference.GPT,
    hints=(
        "Draw the way of x through one layer, and write the shape at each step. Where does it split, and where does it "
        "come together? What passes through a norm, and what does not?",
        "Set all matrices of a layer to zero. What should come out behind it? And which parts of the model have you "
        "used once you have logits? Compare with the names in `model.state_dict()`.",
        "Feed a text at once, then its first five tokens and the rest behind the cache. Where do the logits part? Call "
        "the model twice with one and the same cache, and two different tokens. Do they disturb each other?",
        "Begin without a cache. Write one layer, bring a text through all of them, and print the shape of the logits. "
        "Then collect what attention returns beside its result, a piece for each layer, and only then hand it on.",
    ),
    forbidden=(*BUILT_IN_ATTENTION, "blocks.GPT"),
    tolerance=1e-5,
    name="GPT",
    calls=(
        "GPT(7, 4, 1, 2, 1, 8)(tensor([[1, 2, 3]]))[0].shape",
        "model = set_all(GPT(5, 4, 1, 2, 1, 8), 0); model(tensor([[1]]))[0]",
        (
            "torch.manual_seed(0); model = GPT(7, 4, 1, 2, 1, 8); (model(tensor([[1, 2]]))[0][:, "
            ":1] - model(tensor([[1, 3]]))[0][:, :1]).abs().max() < 1e-4"
        ),
        (
            "torch.manual_seed(0); model = GPT(7, 4, 1, 2, 1, 8); (model(tensor([[1, 2]]))[0][:, "
            "1:] - model(tensor([[3, 2]]))[0][:, 1:]).abs().max() < 1e-4"
        ),
        (
            "torch.manual_seed(0); model = GPT(7, 4, 1, 2, 1, 8); (model(tensor([[1, 2]]))[0][:, "
            "1:] - model(tensor([[2]]), model(tensor([[1]]))[1])[0]).abs().max() < 1e-4"
        ),
        (
            "torch.manual_seed(0); model = GPT(7, 4, 1, 2, 1, "
            "8); (model(tensor([[2]]))[0] - model(tensor([[2]]), "
            "model(tensor([[1]]))[1])[0]).abs().max() < 1e-4"
        ),
    ),
)
def GPT(rng):
    """Published weights are loaded. The attention is examined by itself, and here with its cache in every layer."""

    def model(title, *sizes, dtype=None, **settings):
        sizes = sizes or (V, D, LAYERS, HEADS, GROUPS, INNER)
        made = build(title, *sizes, **settings)
        if dtype is None:
            made = made.call(method="double", into="model")
        return made.call(published(rng, *sizes, dtype=dtype), method="load_published", into="model")

    def ids(B, T):
        return rng.integers(0, V, B, T)

    def in_chunks(title, B, *lengths, **settings):
        """The same text chunk by chunk, each behind the cache of those before it."""
        case = model(title, **settings).call(ids(B, lengths[0]), into="chunk 1", carries=["cache 1"])
        for i, length in enumerate(lengths[1:], 1):
            case = case.call(ids(B, length), Ref(f"cache {i}"), into=f"chunk {i + 1}", carries=[f"cache {i + 1}"])
        return case

    whole = "a text at once"
    yield model(whole, public=True, weight=2.0).call(ids(2, 7), carries=["cache"])
    yield model("one layer, one group", V, 12, 1, 3, 1, 11).call(ids(3, 5), carries=["cache"])
    yield model("three layers, a group for each head", V, 12, 3, 2, 2, 19).call(ids(2, 5), carries=["cache"])
    yield in_chunks("token by token behind the cache", 2, 3, 1, 1, public=True, weight=2.0)
    yield in_chunks("chunks of several tokens behind the cache", 2, 4, 3, 2, public=True, weight=2.0)
    fork = model(FORKED, public=True, weight=2.0).call(ids(2, 4), into="text", carries=["cache"])
    fork = fork.call(ids(2, 2), Ref("cache"), into="one", carries=["first"])
    fork = fork.call(ids(2, 3), Ref("cache"), into="another", carries=["second"])
    fork = fork.call(ids(2, 1), Ref("first"), into="one, continued", carries=["third"])
    yield fork.call(ids(2, 5), into="a new text", carries=["fourth"])
    vectors = rng.normal(2, 5, D).requires_grad_()
    yield model("vectors in place of ids", public=True).call(vectors, carries=["cache"]).gradients().counts_with(whole)
    one, other = (rng.normal(1, n, D) for n in (3, 2))
    mixed = model("vectors behind the cache").call(one, into="chunk 1", carries=["cache"]).counts_with(whole)
    yield mixed.call(other, Ref("cache"), into="chunk 2", carries=["more"])
    half = model("half precision, loaded into single", dtype=torch.float16, tolerance=1e-3).counts_with(whole)
    yield half.call(ids(2, 5), carries=["cache"])
    cut = "tokens that were not read get no gradient. Does one flow back from the logits to the matrix that makes them?"
    tied = "tokens that were not read get no gradient. Which matrix makes the logits?"
    learns = model("the output reads the embeddings", weight=2.0).call(torch.tensor([[3, 1, 4]]), carries=["cache"])
    learns = learns.gradients(wrt="parameters").laws_only().counts_with(whole)
    learns = learns.law("some_table_learns_every_token", tokens=V, because=cut)
    yield learns.law("every_token_learns", tokens=V, because=tied)


def _with(forward):
    """A GPT whose layers compute so."""
    return type("Other", (WithLayers,), {"layer": type("Layer", (reference.GPTLayer,), {"forward": forward})})


def _post_norm(layer, x, past):
    found, present = layer.attend(x, past)
    x = layer.norm1(x + found)
    return layer.norm2(x + layer.feed_forward(x)), present


def _residual_normed(layer, x, past):
    y = layer.norm1(x)
    found, present = layer.attend(y, past)
    y = layer.norm2(y + found)
    return y + layer.feed_forward(y), present


def _nothing_around_attention(layer, x, past):
    x, present = layer.attend(layer.norm1(x), past)
    return x + layer.feed_forward(layer.norm2(x)), present


def _nothing_around_the_feed_forward(layer, x, past):
    found, present = layer.attend(layer.norm1(x), past)
    return layer.feed_forward(layer.norm2(x + found)), present


def _side_by_side(layer, x, past):
    found, present = layer.attend(layer.norm1(x), past)
    return x + found + layer.feed_forward(layer.norm2(x)), present


def _one_norm_twice(layer, x, past):
    found, present = layer.attend(layer.norm1(x), past)
    x = x + found
    return x + layer.feed_forward(layer.norm1(x)), present


def _gate_and_up_exchanged(layer, x, past):
    found, present = layer.attend(layer.norm1(x), past)
    x = x + found
    return x + reference.swiglu(layer.norm2(x), layer.W_up.weight, layer.W_gate.weight, layer.W_down.weight), present


def _keys_and_values_exchanged(layer, x, past):
    weights = (W.weight for W in (layer.W_q, layer.W_v, layer.W_k, layer.W_o))
    found, present = reference.cached_attention(layer.norm1(x), *weights, layer.n_heads, past)
    x = x + found
    return x + layer.feed_forward(layer.norm2(x)), present


GPT.mistakes(
    "Set `W_o` and `W_down` of a layer to zero. What should the layer make of its x then? What does yours make of it?",
    NormsBehind=_with(_post_norm),
    ResidualNormed=_with(_residual_normed),
)
GPT.mistakes(
    "Set `W_o` of every layer to zero, so that attention finds nothing. Do the logits still depend on the tokens?",
    NoResidualAroundAttention=_with(_nothing_around_attention),
)
GPT.mistakes(
    "Set `W_down` of every layer to zero, so that the feed-forward networks add nothing. Do the logits still depend on "
    "the tokens?",
    NoResidualAroundTheFeedForward=_with(_nothing_around_the_feed_forward),
)
GPT.misconception(
    "Set `W_o` of a layer to zero. Should what goes into its `norm2` change? Does it?",
    convention="both sublayers side by side, as in GPT-J and PaLM",
    name="SublayersSideBySide",
)(_with(_side_by_side))
GPT.mistakes("Change the weights of `norm2` in a layer. Do the logits move?", OneNormTwice=_with(_one_norm_twice))
GPT.mistakes(
    "Double `W_up` of a layer. Then what its feed-forward network adds should double. Does yours?",
    GateAndUpExchanged=_with(_gate_and_up_exchanged),
)
GPT.mistakes(
    "Set `W_v` of every layer to zero. Should attention find anything? Does yours?",
    KeysAndValuesExchanged=_with(_keys_and_values_exchanged),
)


def _reading(pasts):
    """A GPT that hands its layers these pasts of a cache."""

    class Other(reference.GPT):
        def forward(self, ids, cache=None):
            return super().forward(ids, cache and pasts(cache))

    return Other


GPT.mistakes(
    "Give it five tokens, and then one behind the cache. How many keys does each layer hold now?",
    CacheNotHandedOn=_reading(lambda cache: None),
)
GPT.mistakes(
    "Each layer makes keys of its own. Whose keys does each of your layers find in the cache?",
    FirstLayersCacheForAll=_reading(lambda cache: [cache[0]] * len(cache)),
    LastLayersCacheForAll=_reading(lambda cache: [cache[-1]] * len(cache)),
)


@GPT.misconception(
    "Print the keys that are in the cache before and after you hand it over. Is it still the same cache?"
)
class CacheChangedInPlace(reference.GPT):
    def forward(self, ids, cache=None):
        logits, present = super().forward(ids, cache)
        if cache is not None:
            cache[:] = present
        return logits, present


def _through_layers(model, ids, cache):
    """The residual stream behind the last layer, and the new cache."""
    x = ids if ids.is_floating_point() else model.embed(ids)
    present = []
    for layer, past in zip(model.layers, cache or [None] * len(model.layers)):
        x, pair = layer(x, past)
        present.append(pair)
    return x, present


@GPT.misconception("What stands between the last layer and the output? The weights have a `norm.weight` of their own.")
class NoNormAtTheEnd(reference.GPT):
    def forward(self, ids, cache=None):
        x, present = _through_layers(self, ids, cache)
        return x @ self.words.weight.T, present


@GPT.misconception(
    "Take one training step. Are the embedding and the matrix of the output still equal? How many numbers are learned?"
)
class TiedByACopy(reference.GPT):
    def __init__(self, vocab, d_model, *sizes):
        super().__init__(vocab, d_model, *sizes)
        self.output = nn.Linear(d_model, vocab, bias=False)

    def load_published(self, state):
        super().load_published({**state, "output.weight": state["words.weight"]})
        return self

    def forward(self, ids, cache=None):
        x, present = _through_layers(self, ids, cache)
        return self.output(self.norm(x)), present
