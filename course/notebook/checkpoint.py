"""Save and load checkpoints: a model's weights and its training record in one safetensors file, without pickle.

Relative paths start at the notebook's folder.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from ..exercise.compiled import plain_name
from ..files import write_atomically
from ..surroundings import beside_notebook

MAX_BYTES = 512 * 2**20


class Unfit(RuntimeError):
    """The checkpoint is missing, or it does not fit this model."""


def save(path: Path, model: nn.Module, facts: dict[str, Any]) -> None:
    """Write the weights and the record atomically."""
    made = {name: value for name, value in _tensors(model).items() if not is_lazy(value)}
    state = {plain_name(name): value.detach().cpu().contiguous().clone() for name, value in made.items()}
    content = safetensors.torch.save(state, metadata={"record": json.dumps(facts)})
    write_atomically(beside_notebook(path), content)


def read_record(path: Path) -> dict[str, Any]:
    """Return the record in a checkpoint, or an empty dict if it has no readable one.

    Raises:
        Unfit: the file is missing, or is no checkpoint.
    """
    place = _found(path)
    try:
        with safetensors.safe_open(place, framework="pt") as file:
            facts = json.loads((file.metadata() or {}).get("record", "{}"))
        return facts if isinstance(facts, dict) else {}
    except (safetensors.SafetensorError, OSError):
        raise Unfit(f"{path} is not a safetensors file") from None
    except (ValueError, RecursionError):
        return {}


def load_into(model: nn.Module, path: Path) -> None:
    """Copy the weights in `path` into `model`.

    Raises:
        Unfit: the file is missing, broken, or holds weights of another model (the message says which).
    """
    place = _found(path)
    try:
        kept = safetensors.torch.load(place.read_bytes())
    except (safetensors.SafetensorError, OSError, ValueError, KeyError):
        raise Unfit(f"{path} is not a safetensors file") from None
    weights = {plain_name(name): value for name, value in kept.items()}
    own = {plain_name(name): value for name, value in _tensors(model).items()}
    if set(own) != set(weights):
        names = sorted(set(own) ^ set(weights))[:3]
        raise Unfit(f"{path} belongs to another model, because only one of the two has {', '.join(names)}")
    for name, value in own.items():
        if not is_lazy(value) and value.shape != weights[name].shape:
            shapes = f"{tuple(weights[name].shape)} in the file and {tuple(value.shape)} in the model"
            raise Unfit(f"{path} belongs to another model, because {name} has shape {shapes}")
    renamed = {name: weights[plain_name(name)] for name in _tensors(model)}
    model.load_state_dict(renamed, strict=False)  # the other entries are no tensors


def _tensors(model: nn.Module) -> dict[str, Tensor]:
    """Return the tensors in a model's state. A module may store other things there, too."""
    return {name: value for name, value in model.state_dict().items() if isinstance(value, Tensor)}


def _found(path: Path) -> Path:
    place = beside_notebook(path)
    if not place.is_file() or place.is_symlink():
        raise Unfit(f"there is no checkpoint {path}")
    if place.stat().st_size > MAX_BYTES:
        raise Unfit(f"{path} is larger than {MAX_BYTES // 2**20} MB")
    return place
