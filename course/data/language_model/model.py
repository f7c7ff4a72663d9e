"""What `load` returns: sizes, weights and tokens of the model in a file."""

from __future__ import annotations

import re
from itertools import cycle
from pathlib import Path
from typing import TypeVar

import torch
from torch import Tensor, nn

from .gguf import GGUF
from .tokenizer import Tokenizer

SYSTEM = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
"""The first turn of every chat that the model was trained on."""

RENAMED = {"token_embd": "words", "output_norm": "norm", "attn_norm": "norm1", "ffn_norm": "norm2"}
RENAMED |= {"attn_q": "W_q", "attn_k": "W_k", "attn_v": "W_v", "attn_output": "W_o"}
RENAMED |= {"ffn_gate": "W_gate", "ffn_up": "W_up", "ffn_down": "W_down", "blk": "layers"}
"""Parts of names in the file, and what topic 15 calls them."""

Model = TypeVar("Model", bound=nn.Module)


class LanguageModel(Tokenizer):
    """The model in a file: its sizes, its weights and, as a `Tokenizer`, its tokens.

    Attributes:
        sizes: the arguments for topic 15's `GPT`.
        base: the base of RoPE that it was trained with.
        weights: a mapping from the names of topic 15's weights to tensors, each made as float32 when it is asked for.
    """

    def __init__(self, file: Path) -> None:
        stored = GGUF(file)
        about = stored.fields
        super().__init__(
            about["tokenizer.ggml.tokens"], about["tokenizer.ggml.merges"], about["tokenizer.ggml.token_type"]
        )
        self.sizes: dict[str, int] = {
            "vocab": about["llama.vocab_size"],
            "d_model": about["llama.embedding_length"],
            "n_layers": about["llama.block_count"],
            "n_heads": about["llama.attention.head_count"],
            "n_groups": about["llama.attention.head_count_kv"],
            "d_ff": about["llama.feed_forward_length"],
        }
        self.base: float = about["llama.rope.freq_base"]
        self.weights = stored.renamed(lambda name: re.sub(r"[a-z_]+", lambda part: RENAMED.get(part[0], part[0]), name))

    @torch.no_grad()
    def fill(self, model: Model) -> Model:
        """Copy the weights into a model of these sizes, one tensor after the other, and return it in evaluation mode.

        Raises:
            ValueError: the model's parameters have other names or shapes.
        """
        wanted = {name: tuple(parameter.shape) for name, parameter in model.named_parameters()}
        if wanted != self.weights.shapes():
            raise ValueError(f"the model needs the sizes {self.sizes}, and topic 15's names for its weights")
        for name, parameter in model.named_parameters():
            self.weights.read_into(name, parameter)
        return model.eval()

    def chat(self, *turns: str, system: str = SYSTEM) -> Tensor:
        """Return a chat as ids (1, T) that end where the model's answer begins. You speak first, then it, and so on."""
        said = [("system", system), *zip(cycle(("user", "assistant")), turns)]
        ids: list[int] = []
        for role, text in said:
            ids += [self.begin, *self.encode(f"{role}\n{text}"), self.end, *self.encode("\n")]
        return torch.tensor([[*ids, self.begin, *self.encode("assistant\n")]])

    def answer(self, tokens: Tensor) -> str:
        """Return the text of the tokens (1, T) up to the one that ends the turn, or all of it and … if none does."""
        written: list[int] = tokens[0].tolist()
        return self.decode(written[: written.index(self.end)]) if self.end in written else f"{self.decode(written)} …"
