"""Hidden tests of `MultiHeadAttention`."""

from __future__ import annotations

import math

import torch
from torch import nn

from course.exercise import build, exercise
from course.hidden.multi_head_attention.merge_heads import merged_in_turns, reshaped_without_transposing_back
from course.hidden.multi_head_attention.scaffold import FORBIDDEN, _split, _weigh
from course.hidden.multi_head_attention.split_heads import interleaved, reshaped_without_transposing
from course.reference import multi_head_attention as reference

FLOAT32 = 1e-4
"""rtol = atol for a layer: its parameters are float32 unless somebody says otherwise."""


@exercise(
    reference.MultiHeadAttention,
    shown=(1,),
    hints=(
        "Copy your layer's four matrices (bias=False) into multi_head_attention: do both give the same?",
        "Print the names and shapes in nn.MultiheadAttention(6, 2).state_dict(). What is three times as tall as yours?",
        "Give the thirds of in_proj_weight very different sizes, load them, and print the sizes of your matrices.",
        "Compare with nn.MultiheadAttention(6, 2, batch_first=True) after load_torch: first without a bias, then with.",
    ),
    forbidden=FORBIDDEN,
)
def MultiHeadAttention(rng):
    """The judge's own weights, by name and through load_torch; biases never zero; every gradient."""

    def words(B, T, S, D):
        drawn = (rng.normal(B, length, D, dtype=torch.float32) for length in (T, S))
        return [x.requires_grad_() for x in drawn]

    def noise(*shape):
        return rng.normal(*shape, dtype=torch.float32) / shape[-1] ** 0.5

    def named(D, bias=True):
        layers = ("W_q", "W_k", "W_v", "W_o")
        state = {f"{layer}.weight": noise(D, D) for layer in layers}
        return state | ({f"{layer}.bias": rng.normal(D, dtype=torch.float32) for layer in layers} if bias else {})

    def exported(D, bias=True):
        state = {"in_proj_weight": noise(3 * D, D), "out_proj.weight": noise(D, D)}
        biases = {
            "in_proj_bias": rng.normal(3 * D, dtype=torch.float32),
            "out_proj.bias": rng.normal(D, dtype=torch.float32),
        }
        return state | (biases if bias else {})

    def layer(title, D, h, bias=True, **options):
        weights = named(D, bias)
        return build(title, D, h, *([] if bias else [False]), tolerance=FLOAT32, **options).load(weights)

    def from_torch(title, D, h, bias=True, **options):
        # what load_torch returns is nobody's business: the next call takes its place among the outputs
        return layer(title, D, h, bias, **options).call(exported(D, bias), method="load_torch")

    def learns(case, *words):
        return case.call(*words).gradients().call(*words, into="again").gradients("again", "parameters")

    yield learns(layer("two heads", 6, 2, public=True, weight=3.0), *words(3, 5, 7, 6))
    yield from_torch("weights of torch's layer", 6, 3, public=True, weight=2.0).call(*words(2, 5, 7, 6))
    mask = rng.uniform(2, 1, 5, 7) > 0.4
    mask[..., 0], mask[..., -1] = True, False
    yield layer("a mask", 6, 3, public=True).call(*words(2, 5, 7, 6), mask)
    yield learns(layer("five heads", 10, 5, weight=2.0), *words(2, 3, 7, 10))
    yield layer("as many queries as keys", 6, 3).call(*words(2, 5, 5, 6))
    yield learns(layer("without biases", 10, 2, False), *words(3, 5, 7, 10))
    yield layer("one head", 5, 1).call(*words(2, 3, 7, 5))
    yield learns(from_torch("weights of torch's layer, five heads", 10, 5, weight=2.0), *words(2, 3, 7, 10))
    yield from_torch("weights of torch's layer without biases", 6, 2, False).call(*words(3, 5, 7, 6))
    nothing = mask.clone()
    nothing[1, :, 3] = False
    yield layer("a query that may look at nothing", 6, 2).call(*(x.detach() for x in words(2, 5, 7, 6)), nothing)
    yield layer("in training", 6, 3).train().call(*words(2, 5, 7, 6))
    yield build("four heads for a width of six", 6, 4, raises="ValueError")


class _Layer(reference.MultiHeadAttention):
    """The reference's; its `load_torch` returns nothing, as most people's does."""

    def load_torch(self, state):
        super().load_torch(state)


def _layer(attend=None, load=None):
    """A layer that differs from the reference in how it attends, or in how it loads."""

    class Layer(_Layer):
        def forward(self, x_q, x_kv, mask=None):
            return (attend or reference.MultiHeadAttention.forward)(self, x_q, x_kv, mask)

        @torch.no_grad()
        def load_torch(self, state):
            (load or reference.MultiHeadAttention.load_torch)(self, state)

    return Layer


def _inside(layer, x_q, x_kv, mask, split=_split, merge=reference.merge_heads, root=None):
    q, k, v = (split(W(x), layer.n_heads) for W, x in ((layer.W_q, x_q), (layer.W_k, x_kv), (layer.W_v, x_kv)))
    weights = _weigh(q, k, mask, root)
    return layer.W_o(merge(weights @ v)), weights


def _copy(layer, state, order="qkv", transposed=False, biases=True, out=True):
    """The exported thirds, in some order, into W_q, W_k and W_v."""
    targets = [getattr(layer, f"W_{letter}") for letter in order]
    for target, weight in zip(targets, state["in_proj_weight"].chunk(3), strict=True):
        target.weight.copy_(weight.T if transposed else weight)
    if out:
        layer.W_o.weight.copy_(state["out_proj.weight"].T if transposed else state["out_proj.weight"])
    if "in_proj_bias" in state and biases:
        for target, bias in zip(targets, state["in_proj_bias"].chunk(3), strict=True):
            target.bias.copy_(bias)
        if out:
            layer.W_o.bias.copy_(state["out_proj.bias"])


MultiHeadAttention.misconception(
    "Give the three thirds very different sizes and compare with torch's own layer: who comes first, second, third?",
    name="thirds_in_another_order",
)(_layer(load=lambda layer, state: _copy(layer, state, "kqv")))

MultiHeadAttention.misconception(
    "Load in_proj_weight with thirds of zeros, ones and twos. Which of your matrices is which afterwards?",
    name="keys_and_values_exchanged_when_loading",
)(_layer(load=lambda layer, state: _copy(layer, state, "qvk")))

MultiHeadAttention.misconception(
    "torch's matrices are stored (out, in), and so are those of nn.Linear. What has to be turned?",
    name="loaded_transposed",
)(_layer(load=lambda layer, state: _copy(layer, state, transposed=True)))

MultiHeadAttention.misconception(
    "Print the names in the state. How many of them does your method read?",
    name="biases_not_loaded",
)(_layer(load=lambda layer, state: _copy(layer, state, biases=False)))

MultiHeadAttention.misconception(
    "The state has an out_proj. What is it called in your layer, and what is in it after loading?",
    name="W_o_not_loaded",
)(_layer(load=lambda layer, state: _copy(layer, state, out=False)))

MultiHeadAttention.misconception(
    "Load a state and print your W_q before and after. Did a number change?",
    name="nothing_loaded",
)(_layer(load=lambda layer, state: None))


def _dealt_out(layer, state):
    """The rows read as (head, q k v, column), as some fused layers store them."""
    h = layer.n_heads
    regrouped = dict(state)
    for name in ("in_proj_weight", "in_proj_bias"):
        if name in state:
            regrouped[name] = state[name].unflatten(0, (h, 3, -1)).transpose(0, 1).flatten(0, 2)
    _copy(layer, regrouped)


MultiHeadAttention.misconception(
    "Number the rows of in_proj_weight. Which of them are queries, all heads together?",
    convention="fused rows grouped by head, each head's q, k and v together",
    name="thirds_grouped_by_head",
)(_layer(load=_dealt_out))

MultiHeadAttention.misconception(
    "Set x_kv to zero: there is nothing to be heard. Should the output depend on x_q then?",
    name="only_self_attention",
)(_layer(lambda layer, x_q, x_kv, mask: _inside(layer, x_q, x_q, mask)))

MultiHeadAttention.misconception(
    "Set x_q to zero: every query is the same then. Are the rows of your weights?",
    name="layer_asks_with_x_kv",
)(_layer(lambda layer, x_q, x_kv, mask: _inside(layer, x_kv, x_kv, mask)))

MultiHeadAttention.misconception(
    "How many products are summed in one score, inside a head? Is that the width of the word?",
    name="layer_scaled_by_the_width_of_the_word",
)(_layer(lambda layer, x_q, x_kv, mask: _inside(layer, x_q, x_kv, mask, root=x_q.shape[-1] ** 0.5)))

MultiHeadAttention.misconception(
    "What is the variance of a score inside a head? Remember what 1 / sqrt(D) was for in topic 06.",
    name="layer_leaves_scores_unscaled",
)(_layer(lambda layer, x_q, x_kv, mask: _inside(layer, x_q, x_kv, mask, root=1.0)))

MultiHeadAttention.misconception(
    "Heads own neighbouring columns: with width 6 and two heads, the first has columns 0, 1 and 2.",
    convention="heads interleaved, column c belongs to head c mod h",
    name="layer_interleaves_its_heads",
)(_layer(lambda layer, x_q, x_kv, mask: _inside(layer, x_q, x_kv, mask, interleaved, merged_in_turns)))

MultiHeadAttention.misconception(
    "Change one word of x_kv. In which columns of your weights does something move? Your split_heads passed its check.",
    name="layer_split_by_reshaping",
)(_layer(lambda layer, x_q, x_kv, mask: _inside(layer, x_q, x_kv, mask, reshaped_without_transposing)))

MultiHeadAttention.misconception(
    "Change one word of x_q. How many words of the output change? Your merge_heads passed its check.",
    name="layer_merged_by_reshaping",
)(_layer(lambda layer, x_q, x_kv, mask: _inside(layer, x_q, x_kv, mask, _split, reshaped_without_transposing_back)))

MultiHeadAttention.misconception(
    "Forbid a key and print its weight. Does the mask reach your heads?", name="layer_ignores_the_mask"
)(_layer(lambda layer, x_q, x_kv, mask: _inside(layer, x_q, x_kv, None)))


def _gives_an_empty_row(fill):
    """A layer that fills the scores of what is forbidden, and leaves it at that."""

    def attend(layer, x_q, x_kv, mask):
        q, k, v = (_split(W(x), layer.n_heads) for W, x in ((layer.W_q, x_q), (layer.W_k, x_kv), (layer.W_v, x_kv)))
        scores = q @ k.mT / q.shape[-1] ** 0.5
        weights = (scores if mask is None else scores.masked_fill(~mask, fill)).softmax(-1)
        return layer.W_o(reference.merge_heads(weights @ v)), weights

    return _layer(attend)


MultiHeadAttention.misconception(
    "A query that may look at nothing: what are its weights in yours, and what should be left of them?",
    name="layer_looks_at_everything_where_nothing_is_allowed",
)(_gives_an_empty_row(-1e9))

MultiHeadAttention.misconception(
    "A query that may look at nothing: exp(−∞) is 0, their sum is 0, and 0 / 0 is?",
    name="layer_is_not_a_number_where_nothing_is_allowed",
)(_gives_an_empty_row(-math.inf))

MultiHeadAttention.misconception(
    "Allow one key only. Who gets the weight?",
    convention="True forbids, as in nn.MultiheadAttention's attn_mask",
    name="layer_takes_True_for_forbidden",
)(_layer(lambda layer, x_q, x_kv, mask: _inside(layer, x_q, x_kv, None if mask is None else ~mask)))


@MultiHeadAttention.misconception("Who looked where? The weights of every head are asked for, (B, h, T, S).")
class AveragesItsWeights(_Layer):
    def forward(self, x_q, x_kv, mask=None):
        out, weights = super().forward(x_q, x_kv, mask)
        return out, weights.mean(1)


@MultiHeadAttention.misconception("Set x_kv, W_v's bias and W_o's bias to zero. Should the output depend on x_q then?")
class AddsTheWordsThemselves(_Layer):
    def forward(self, x_q, x_kv, mask=None):
        out, weights = super().forward(x_q, x_kv, mask)
        return x_q + out, weights


@MultiHeadAttention.misconception("Print W_o's bias before load_torch and after it. Did its numbers change?")
class KeepsItsOwnBiasOfW_o(_Layer):
    def load_torch(self, state):
        kept = None if self.W_o.bias is None else self.W_o.bias.detach().clone()
        super().load_torch(state)
        if kept is not None:
            self.W_o.bias.data = kept


@MultiHeadAttention.misconception("Set W_o's weight and bias to zero. What should come out, and what does?")
class LeavesOutW_o(_Layer):
    def forward(self, x_q, x_kv, mask=None):
        q, k, v = (_split(W(x), self.n_heads) for W, x in ((self.W_q, x_q), (self.W_k, x_kv), (self.W_v, x_kv)))
        weights = _weigh(q, k, mask)
        return reference.merge_heads(weights @ v), weights


@MultiHeadAttention.misconception("Ask for bias=False, then list the names of your parameters.")
class AlwaysHasBiases(_Layer):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__(d_model, n_heads)  # the runner's seed draws the same biases in most layers that have them


@MultiHeadAttention.misconception("Fill the biases with ones. Which of them makes a difference to your result?")
class BiasesNeverUsed(_Layer):
    def forward(self, x_q, x_kv, mask=None):
        matrices = (W.weight for W in (self.W_q, self.W_k, self.W_v, self.W_o))
        return reference.multi_head_attention(x_q, x_kv, *matrices, self.n_heads, mask)


@MultiHeadAttention.misconception("Ask for bias=True, then list the names of your parameters.")
class NeverHasBiases(_Layer):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__(d_model, n_heads, bias=False)


@MultiHeadAttention.misconception("Make a layer of width 6 with 4 heads. When do you want to hear that this cannot be?")
class AcceptsAnyNumberOfHeads(_Layer):
    def __init__(self, d_model, n_heads, bias=True):
        nn.Module.__init__(self)
        self.n_heads = n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias=bias) for _ in range(4))
