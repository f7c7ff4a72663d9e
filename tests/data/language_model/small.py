"""A GGUF file with a LLaMA of random weights: 9 heads in 3 groups, tied, as SmolLM2 has them, and a small tokeniser."""

from __future__ import annotations

from pathlib import Path

import gguf
import torch
from transformers.convert_slow_tokenizer import bytes_to_unicode

SIZES = {"vocab": 262, "d_model": 288, "n_layers": 2, "n_heads": 9, "n_groups": 3, "d_ff": 96}
BASE = 100_000.0
CONTROL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
LACKING = 0x1D
"""A byte for which there is no token."""
MERGES = [("t", "h"), ("th", "e"), ("Ġ", "the"), ("Ġ", "a")]
"""Pairs of pieces as such a file writes them: Ġ is a space."""

NARROW = {"attn_k": 96, "attn_v": 96, "attn_q": 288, "attn_output": 288}


def tokens() -> list[str]:
    letters = [shown for byte, shown in sorted(bytes_to_unicode().items()) if byte != LACKING]
    return [*CONTROL, *letters, *("".join(pair) for pair in MERGES)]


def write(file: Path) -> Path:
    """Write the file, with `Q8_0` for the embeddings and `Q4_1` for the matrices, as SmolLM2's has them."""
    writer = gguf.GGUFWriter(file, "llama")
    writer.add_embedding_length(SIZES["d_model"])
    writer.add_block_count(SIZES["n_layers"])
    writer.add_head_count(SIZES["n_heads"])
    writer.add_head_count_kv(SIZES["n_groups"])
    writer.add_feed_forward_length(SIZES["d_ff"])
    writer.add_vocab_size(SIZES["vocab"])
    writer.add_rope_freq_base(BASE)
    writer.add_token_list(tokens())
    writer.add_token_types([3 if token in CONTROL else 1 for token in tokens()])
    writer.add_token_merges([" ".join(pair) for pair in MERGES])
    draw = torch.Generator().manual_seed(0)

    def add(name: str, *shape: int, kind: gguf.GGMLQuantizationType = gguf.GGMLQuantizationType.Q4_1) -> None:
        noise = torch.randn(*shape, generator=draw)
        weights = 2 * noise / shape[-1] ** 0.5 if len(shape) == 2 else 1 + noise / 10
        writer.add_tensor(f"{name}.weight", gguf.quantize(weights.numpy(), kind), raw_dtype=kind)

    add("token_embd", SIZES["vocab"], 288, kind=gguf.GGMLQuantizationType.Q8_0)
    add("output_norm", 288, kind=gguf.GGMLQuantizationType.F32)
    for layer in range(SIZES["n_layers"]):
        for name in ("attn_norm", "ffn_norm"):
            add(f"blk.{layer}.{name}", 288, kind=gguf.GGMLQuantizationType.F32)
        for name, width in NARROW.items():
            add(f"blk.{layer}.{name}", width, 288)
        for name in ("ffn_gate", "ffn_up"):
            add(f"blk.{layer}.{name}", SIZES["d_ff"], 288)
        add(f"blk.{layer}.ffn_down", 288, SIZES["d_ff"])
    for step in (writer.write_header_to_file, writer.write_kv_data_to_file, writer.write_tensors_to_file, writer.close):
        step()
    return file
