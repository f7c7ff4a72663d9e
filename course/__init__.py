"""Sequence models, from Markov n-grams to GPT, BERT and state spaces: everything that the course's notebooks import.

`check(name, answer)`, `hint(name)`, `predict(name)`, `explain(name)`, `review()`, `rubric(name)`, `progress()`,
`fit(name, model, train)`, `device()`, `seed()`, `set_up()`, and the subpackages `data`, `show` and `blocks`, each
loaded at first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import blocks, data, show
    from .notebook.checking import check
    from .notebook.explaining import explain
    from .notebook.hints import hint
    from .notebook.machine import device, seed
    from .notebook.predictions import predict
    from .notebook.progress import progress
    from .notebook.reviewing import review
    from .notebook.rubrics import rubric
    from .notebook.setting_up import set_up
    from .notebook.training import fit

__all__ = [
    "blocks",
    "check",
    "data",
    "device",
    "explain",
    "fit",
    "hint",
    "predict",
    "progress",
    "review",
    "rubric",
    "seed",
    "set_up",
    "show",
]

_HOMES = {
    "check": "notebook.checking",
    "hint": "notebook.hints",
    "predict": "notebook.predictions",
    "explain": "notebook.explaining",
    "review": "notebook.reviewing",
    "progress": "notebook.progress",
    "fit": "notebook.training",
    "rubric": "notebook.rubrics",
    "device": "notebook.machine",
    "seed": "notebook.machine",
    "set_up": "notebook.setting_up",
}
_PACKAGES = ("blocks", "data", "show")


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f".{name}", __name__)
    if name in _HOMES:
        value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
