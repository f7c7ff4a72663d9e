"""Hidden tests of `add_bitfit`."""

from __future__ import annotations

import torch
from torch import nn

from course.exercise import Ref, exercise, given
from course.hidden.lora.scaffold import _chain, _last, _learning, _linear, _model, _norm
from course.reference import lora as reference


@exercise(
    reference.add_bitfit,
    hints=(
        "Print the name of every parameter of a model. Which of them are biases, and whose are they?",
        "Afterwards, count what can learn. For each linear layer with a bias it is `out`, for a LayerNorm its width.",
        "What should decide: the kind of the layer, or the last part of the parameter's name?",
    ),
)
def add_bitfit(rng):
    """What learns afterwards, by name and count: every bias, whoever has it, and nothing else."""

    def fitted(title, model, **settings):
        return given(title, model=model, **settings).call(Ref("model"), on="answer", into="count").learning()

    ids = rng.integers(0, 11, 3, 5)
    yield fitted("a model with norms", _model(rng), public=True, weight=2.0)
    yield fitted("linear layers alone", _chain({"up": _linear(rng, 5, 3), "down": _linear(rng, 2, 5)}), public=True)
    yield fitted("norms alone", _chain({"norm": _norm(rng, 5), "again": _chain({"norm": _norm(rng, 5)})}))
    yield fitted("some have no bias", _chain({"up": _linear(rng, 5, 3, False), "down": _linear(rng, 2, 5)}))
    yield (
        fitted("the model does what it did", _model(rng))
        .call(ids, on="model")
        .read("first.q.weight")
        .read("first.norm.bias")
        .read("head.bias")
    )
    yield fitted("a second time", _model(rng), weight=0.5).call(Ref("model"), on="answer", into="again")
    table = {"body": _chain({"up": _linear(rng, 5, 3), "norm": _norm(rng, 5)}, own={"posbias": rng.normal(7, 3)})}
    yield fitted("a table of places by the name of posbias", _chain(table))
    parts = {"up": _linear(rng, 5, 3), "norm": _norm(rng, 5), "down": _linear(rng, 2, 5)}
    names = [f"{name}.{kind}" for name in parts for kind in ("weight", "bias")]
    yield fitted("a model that is frozen already", _chain(parts, frozen=tuple(names)), weight=0.5)


def _keep(model, wanted):
    """Only the parameters that are `wanted` by name and owner learn."""
    for name, parameter in model.named_parameters():
        owner = model.get_submodule(name.rpartition(".")[0])
        parameter.requires_grad_(wanted(name, owner))
    return _learning(model)


def _bias(name, owner):
    return _last(name) == "bias"


@add_bitfit.misconception("Count the biases of a model with norms. How many layers have one that are not linear?")
def linear_biases_only(model):
    return _keep(model, lambda name, owner: _bias(name, owner) and isinstance(owner, nn.Linear))


@add_bitfit.misconception("Print what of a LayerNorm can learn afterwards. Is all of it a bias?")
def norms_as_a_whole(model):
    return _keep(model, lambda name, owner: _bias(name, owner) or isinstance(owner, nn.LayerNorm))


@add_bitfit.misconception(
    "Which parameters of the head can learn afterwards? The method says biases, wherever they are."
)
def head_as_well(model):
    last = [name for name, _ in model.named_children()][-1]
    return _keep(model, lambda name, owner: _bias(name, owner) or name.startswith(f"{last}."))


@add_bitfit.misconception("Is a name with `bias` in it always a bias's? Call a layer `rebias`, and look at its weight.")
def name_contains_bias(model):
    return _keep(model, lambda name, owner: "bias" in name)


@add_bitfit.misconception("Call a table of places `posbias`. Can it learn afterwards, and is that its whole last name?")
def name_ends_in_bias(model):
    return _keep(model, lambda name, owner: name.endswith("bias"))


@add_bitfit.misconception("Freeze the whole model, and call it then. What can learn?")
def nothing_freed(model):
    for name, parameter in model.named_parameters():
        if _last(name) != "bias":
            parameter.requires_grad = False
    return _learning(model)


@add_bitfit.misconception("Print every name whose requires_grad is True. Which of them should be frozen?")
def nothing_frozen(model):
    return _keep(model, lambda name, owner: True)


@add_bitfit.misconception("Is anything left afterwards that can learn? Print every name whose requires_grad is True.")
def all_frozen(model):
    return _keep(model, lambda name, owner: False)


@add_bitfit.misconception(
    "How many numbers do weights have, and how many biases? Of our reader BitFit trains one in thirty-four."
)
def weights_instead(model):
    return _keep(model, lambda name, owner: not _bias(name, owner))


@add_bitfit.misconception("Biases of layers within layers are biases too. How do you reach them?")
def biases_at_the_top_only(model):
    return _keep(model, lambda name, owner: _bias(name, owner) and name.count(".") < 2)


@add_bitfit.misconception("What does the number say that you return: tensors, or the numbers in them?")
def tensors_counted(model):
    _keep(model, _bias)
    return sum(1 for p in model.parameters() if p.requires_grad)


@add_bitfit.misconception("Which number is asked for: how many can learn, or how many there are?")
def all_counted(model):
    _keep(model, _bias)
    return sum(p.numel() for p in model.parameters())


@add_bitfit.misconception("Compare the biases before and after. Who said that they should change?")
def biases_begin_anew(model):
    count = _keep(model, _bias)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if _last(name) == "bias":
                parameter.zero_()
    return count
