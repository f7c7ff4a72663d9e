"""What several exercises of this topic are examined with."""

from __future__ import annotations

from torch import nn

from course.hidden.shapes import shapes_of
from course.reference import gpt as reference

BUILT_IN_ATTENTION = ("F.scaled_dot_product_attention", "nn.MultiheadAttention", "F.multi_head_attention_forward")


def published(rng, *sizes, dtype=None):
    """Weights of a GPT of these sizes by their published names, of a size that keeps logits near one."""
    state = {}
    for name, shape in shapes_of(reference.GPT, *sizes).items():
        drawn = rng.normal(*shape)
        state[name] = drawn / shape[-1] ** 0.5 if drawn.ndim == 2 else 1 + 0.3 * drawn
    return {name: drawn.to(dtype or drawn.dtype) for name, drawn in state.items()}


class WithLayers(reference.GPT):
    """A GPT with layers of another kind."""

    layer: type[reference.GPTLayer] = reference.GPTLayer

    def __init__(self, vocab, d_model, n_layers, n_heads, n_groups, d_ff):
        super().__init__(vocab, d_model, n_layers, n_heads, n_groups, d_ff)
        self.layers = nn.ModuleList(self.layer(d_model, n_heads, n_groups, d_ff) for _ in range(n_layers))
