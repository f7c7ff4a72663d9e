"""Hidden tests of `MultiHeadAttention`."""

import torch
from torch import nn

from course.exercise import build, exercise
from course.hidden.multi_head_attention.scaffold import FORBIDDEN
from course.reference import multi_head_attention as reference

FLOAT32 = 1e-4
"""rtol = atol for a layer: its parameters are float32 by default."""


@exercise(
    reference.MultiHeadAttention,
    shown=(1,),
    hints=(
        "Four matrices came in as arguments of multi_head_attention. Now the layer owns them. What else must __init__"
        " keep for forward, and what must it refuse?",
        "Copy your layer's four matrices (bias=False) into multi_head_attention. Do both give the same?",
        "Print the names and shapes in nn.MultiheadAttention(6, 2).state_dict(). Which tensor is three times as tall "
        "as yours? After load_torch, does your layer give what nn.MultiheadAttention(6, 2, batch_first=True) gives?",
        "Begin load_torch on paper, with a table of two columns. On the left stand the names of your own parameters. "
        "On the right stands the tensor, or the part of a tensor, that each must equal. Fill it in without biases "
        "first.",
    ),
    forbidden=FORBIDDEN,
    calls=(
        "MultiHeadAttention(6, 2)(numbers(1, 3, 6), numbers(1, 5, 6))[0].shape",
        "MultiHeadAttention(6, 2)(numbers(1, 3, 6), numbers(1, 5, 6))[1].shape",
        "MultiHeadAttention(6, 3)(numbers(2, 4, 6), numbers(2, 4, 6))[1].shape",
        "MultiHeadAttention(6, 4)",
        "sum(p.numel() for p in MultiHeadAttention(2, 1).parameters())",
        "sum(p.numel() for p in MultiHeadAttention(2, 2, bias=False).parameters())",
    ),
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
    yield build("four heads for a width of six", 6, 4, public=True, raises="ValueError")


class _Layer(reference.MultiHeadAttention):
    """The reference's; its `load_torch` returns nothing, as most people's does."""

    def load_torch(self, state):
        super().load_torch(state)


def _loading(load):
    """A layer that loads so."""

    class Layer(_Layer):
        @torch.no_grad()
        def load_torch(self, state):
            load(self, state)

    return Layer


def _copy(layer, state, order="qkv", transposed=False, with_bias="qkvo"):
    """The exported matrices, thirds in some order, into the layer's, and biases into some of them."""
    layers = {letter: getattr(layer, f"W_{letter}") for letter in (*order, "o")}
    weights = (*state["in_proj_weight"].chunk(3), state["out_proj.weight"])
    for linear, weight in zip(layers.values(), weights, strict=True):
        linear.weight.copy_(weight.T if transposed else weight)
    if "in_proj_bias" in state:
        biases = (*state["in_proj_bias"].chunk(3), state["out_proj.bias"])
        for (letter, linear), bias in zip(layers.items(), biases, strict=True):
            if letter in with_bias:
                linear.bias.copy_(bias)


MultiHeadAttention.mistakes(
    "Give the three thirds very different sizes and compare with torch's own layer. Which third comes first?",
    thirds_in_another_order=_loading(lambda layer, state: _copy(layer, state, "kqv")),
)
MultiHeadAttention.mistakes(
    "Load a state and print in_proj_weight[0] beside W_q.weight[0]. Both layers store matrices as (out, "
    "in). Are the two rows equal?",
    loaded_transposed=_loading(lambda layer, state: _copy(layer, state, transposed=True)),
)
MultiHeadAttention.mistakes(
    "Print the names in the state. How many of them does your method read?",
    biases_not_loaded=_loading(lambda layer, state: _copy(layer, state, with_bias="")),
)


@MultiHeadAttention.misconception(
    "Set x_kv to zero, so that all values are equal. Should the output depend on x_q then?", name="only_self_attention"
)
class _OnlySelfAttention(_Layer):
    def forward(self, x_q, x_kv, mask=None):
        return super().forward(x_q, x_q, mask)


@MultiHeadAttention.misconception(
    "Forbid a key and print its weight. Does the mask reach your heads?", name="layer_ignores_the_mask"
)
class _IgnoresTheMask(_Layer):
    def forward(self, x_q, x_kv, mask=None):
        return super().forward(x_q, x_kv)


@MultiHeadAttention.misconception(
    "Allow one key only. Which key gets the weight?",
    convention="True forbids, as in nn.MultiheadAttention's attn_mask",
    name="layer_takes_True_for_forbidden",
)
class _TakesTrueForForbidden(_Layer):
    def forward(self, x_q, x_kv, mask=None):
        return super().forward(x_q, x_kv, None if mask is None else ~mask)


@MultiHeadAttention.misconception("Build it with bias=False, then list the names of your parameters.")
class AlwaysHasBiases(_Layer):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__(d_model, n_heads)  # the runner's seed draws the same biases in most layers that have them


@MultiHeadAttention.misconception(
    "Make a layer of width 6 with 4 heads. How wide would one head be? What does your layer say?"
)
class AcceptsAnyNumberOfHeads(_Layer):
    def __init__(self, d_model, n_heads, bias=True):
        nn.Module.__init__(self)
        self.n_heads = n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias=bias) for _ in range(4))
