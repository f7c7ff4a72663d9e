"""Hidden tests of `GPT`: logits of published weights, with and without a cache, in chunks of any size."""

from __future__ import annotations

import torch
from torch import nn

from course.exercise import Ref, build, exercise
from course.hidden.gpt.scaffold import BUILT_IN_ATTENTION, WithLayers, published
from course.reference import gpt as reference
from course.reference.multi_head_attention import merge_heads
from course.reference.positional_encoding import rope

V, D, LAYERS, HEADS, GROUPS, INNER = 13, 24, 2, 4, 2, 17
FORKED = "two ways to go on from one cache"


@exercise(
    reference.GPT,
    hints=(
        "Write down the shape after each step of one layer: queries, keys and values in heads, what attention finds, "
        "the sum. Where does the residual stream pass through a norm?",
        "At which position stands the first token behind a cache of five? Which keys may it see?",
        "Feed a text at once, then its first five tokens and the rest behind the cache. Where do the logits part? Call "
        "the model twice with one and the same cache, and two different tokens. Do they disturb each other?",
        "Begin without a cache. Write one layer, bring a text through all of them, and print the shape of the logits. "
        "Then let each layer return its keys and values, and only then read them from a cache.",
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
    """Published weights are loaded. Chunks of several tokens behind a cache show where masks and positions begin."""

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
    yield in_chunks("a long chunk behind a short one", 1, 2, 7)
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
    long = model("three hundred tokens", V, 12, 1, 2, 1, 11).call(ids(1, 290), into="chunk 1", carries=["cache"])
    yield long.call(ids(1, 10), Ref("cache"), into="chunk 2", carries=["more"])


class _Layer(reference.GPTLayer):
    """The layer in pieces: its stream, positions, rotation and mask."""

    def forward(self, x, past):
        seen, present = self.attend(self.norm1(x), past)
        x = x + seen
        return x + self.feed_forward(self.norm2(x)), present

    def feed_forward(self, y):
        return reference.swiglu(y, self.W_gate.weight, self.W_up.weight, self.W_down.weight)

    def places(self, known, T):
        return torch.arange(known, known + T)

    def turned(self, x, places):
        return rope(x, places)

    def mask(self, T, known):
        return torch.ones(T, known + T, dtype=torch.bool).tril(known)

    def attend(self, y, past):
        q, k, v = (self.in_heads(W(y)) for W in (self.W_q, self.W_k, self.W_v))
        T, known = y.shape[1], 0 if past is None else past[0].shape[2]
        places = self.places(known, T)
        q, k = self.turned(q, places), self.turned(k, places)
        if past is not None:
            k, v = torch.cat([past[0], k], 2), torch.cat([past[1], v], 2)
        found = reference.grouped_attention(q, k, v, self.mask(T, k.shape[2] - T))
        return self.W_o(merge_heads(found)), (k, v)


def _with(**pieces):
    """A GPT whose layers have other pieces."""
    return type("Other", (WithLayers,), {"layer": type("Layer", (_Layer,), pieces)})


def _post_norm(layer, x, past):
    seen, present = layer.attend(x, past)
    x = layer.norm1(x + seen)
    return layer.norm2(x + layer.feed_forward(x)), present


def _side_by_side(layer, x, past):
    seen, present = layer.attend(layer.norm1(x), past)
    return x + seen + layer.feed_forward(layer.norm2(x)), present


GPT.mistakes(
    "Set `W_o` and `W_down` of a layer to zero. What should the layer make of its x then? What does yours make of it?",
    NormsBehind=_with(forward=_post_norm),
)
GPT.misconception(
    "Set `W_o` of a layer to zero. Should what goes into its `norm2` change? Does it?",
    convention="both sublayers side by side, as in GPT-J and PaLM",
    name="SublayersSideBySide",
)(_with(forward=_side_by_side))


@GPT.misconception(
    "The first token behind a cache of five: at which position does your RoPE put it? Print the positions you use."
)
class RotatesFromZeroBehindACache(WithLayers):
    class layer(_Layer):
        def places(self, known, T):
            return torch.arange(T)


GPT.mistakes(
    "Three tokens behind a cache of four: write down the seven keys and which of them each token may see. Which corner "
    "of the mask is the diagonal in?",
    MaskAlignedAtTheTopLeft=_with(mask=lambda layer, T, known: torch.ones(T, known + T, dtype=torch.bool).tril()),
)


@GPT.misconception("Change the last token of a text. At which positions do the logits move?")
class SeesTheFuture(WithLayers):
    class layer(_Layer):
        def mask(self, T, known):
            return None


@GPT.misconception(
    "Build a model of one layer, and exchange the first two tokens of a text. Should the logits of the last one move? "
    "Do they?"
)
class KnowsNoPositions(WithLayers):
    class layer(_Layer):
        def turned(self, x, places):
            return x


@GPT.misconception(
    "Your rotation pairs column i of a head with i + d/2. The published weights were trained with neighbours as pairs.",
    convention="half-split pairs, as in GPT-NeoX and LLaMA",
)
class RotatesHalves(WithLayers):
    class layer(_Layer):
        def turned(self, x, places):
            columns = torch.cat([torch.arange(0, self.d_head, 2), torch.arange(1, self.d_head, 2)])
            return rope(x[..., columns.argsort()], places)[..., columns]


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
