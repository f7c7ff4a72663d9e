"""`transformers`' LLaMA with the weights of a GPT of topic 15."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import torch
from torch import Tensor

PLACES = {"W_v": "self_attn.v_proj", "W_o": "self_attn.o_proj", "W_gate": "mlp.gate_proj", "W_up": "mlp.up_proj"}
PLACES |= {"W_down": "mlp.down_proj", "norm1": "input_layernorm", "norm2": "post_attention_layernorm"}


def llama_of(state: Mapping[str, Tensor], sizes: Mapping[str, int], base: float = 10_000.0) -> Any:
    """Return a LLaMA with these weights, in evaluation mode: it turns the halves of a head, and we turn its pairs."""
    transformers = pytest.importorskip("transformers")
    config = transformers.LlamaConfig(
        vocab_size=sizes["vocab"],
        hidden_size=sizes["d_model"],
        intermediate_size=sizes["d_ff"],
        num_hidden_layers=sizes["n_layers"],
        num_attention_heads=sizes["n_heads"],
        num_key_value_heads=sizes["n_groups"],
        rms_norm_eps=1e-6,
        rope_theta=base,
        tie_word_embeddings=True,
        attn_implementation="eager",
    )
    with torch.random.fork_rng():
        theirs = transformers.LlamaForCausalLM(config)
    d = sizes["d_model"] // sizes["n_heads"]
    halves = torch.cat([torch.arange(0, d, 2), torch.arange(1, d, 2)])
    named = {"model.embed_tokens.weight": state["words.weight"], "model.norm.weight": state["norm.weight"]}
    for i in range(sizes["n_layers"]):
        for name, there in PLACES.items():
            named[f"model.layers.{i}.{there}.weight"] = state[f"layers.{i}.{name}.weight"]
        for name, there in {"W_q": "q_proj", "W_k": "k_proj"}.items():
            turned = state[f"layers.{i}.{name}.weight"].unflatten(0, (-1, d))[:, halves].flatten(0, 1)
            named[f"model.layers.{i}.self_attn.{there}.weight"] = turned
    missing, unexpected = theirs.load_state_dict(named, strict=False)
    assert set(missing) <= {"lm_head.weight"} and not unexpected
    theirs.tie_weights()
    return theirs.eval()
