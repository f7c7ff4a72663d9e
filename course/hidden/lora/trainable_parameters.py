"""Hidden tests of `trainable_parameters`."""

from __future__ import annotations

from torch import nn

from course.exercise import Ref, exercise, given, stand_in
from course.hidden.lora.scaffold import _adapted, _chain, _linear, _norm
from course.reference import lora as reference


@exercise(
    reference.trainable_parameters,
    hints=(
        "Count by hand for nn.Linear(3, 5), then for the same with its bias frozen.",
        "Tie the weights of two layers. How many numbers are there to train, and how many does a file hold?",
        "`requires_grad` says who can learn, `numel()` how many numbers that is. Whom do you ask?",
    ),
)
def trainable_parameters(rng):
    """Frozen and free, tied, with buffers, within LoRA layers."""

    def counted(title, model, **settings):
        return given(title, model=model, **settings).call(Ref("model"), on="answer", into="counts")

    def tied(frozen=()):
        parts = {"words": stand_in("embedding", weight=rng.normal(11, 3)), "head": _linear(rng, 11, 3)}
        return _chain(parts, tied={"head.weight": "words.weight"}, frozen=frozen)

    def some(frozen=(), buffers=None):
        body = {"norm": _norm(rng, 3), "up": _linear(rng, 7, 3), "down": _linear(rng, 5, 7)}
        return _chain({"body": _chain(body), "head": _linear(rng, 2, 5)}, frozen=frozen, buffers=buffers)

    weights = ("body.norm.weight", "body.up.weight", "body.down.weight")
    yield counted("everything can learn", some(), public=True)
    yield counted("three weights are frozen", some(weights), public=True, weight=2.0)
    yield counted("tied weights", tied(), public=True)
    yield counted("tied weights, frozen", tied(("words.weight",)))
    yield counted("buffers", some(("head.weight",), {"mask": rng.normal(5, 5), "steps": rng.integers(0, 9, 3)}))
    yield counted("a single layer", _linear(rng, 7, 3))
    everything = tuple(f"body.{name}.{kind}" for name in ("norm", "up", "down") for kind in ("weight", "bias"))
    yield counted("nothing can learn", some((*everything, "head.weight", "head.bias")), weight=0.5)
    yield counted("only the head", some(everything))
    layer, _ = _adapted(rng, 5, 7, 2, 6.0)
    inside = _chain({"norm": _norm(rng, 7), "q": layer}, frozen=("norm.weight", "norm.bias"))
    yield counted("with a LoRA layer", inside)


def _counts(model):
    return reference.trainable_parameters(model)


@trainable_parameters.misconception("Freeze the whole model. How many of its numbers can learn now?")
def frozen_counted_as_learning(model):
    return _counts(model)[1], _counts(model)[1]


@trainable_parameters.misconception("Tie two layers and count again. Is there one weight now, or are there two?")
def tied_counted_twice(model):
    named = list(model.named_parameters(remove_duplicate=False))
    return sum(p.numel() for _, p in named if p.requires_grad), sum(p.numel() for _, p in named)


@trainable_parameters.misconception("A mask or a running mean is kept with the model. Does any training change it?")
def buffers_counted(model):
    learning, total = _counts(model)
    return learning, total + sum(b.numel() for b in model.buffers())


@trainable_parameters.misconception("Is all that `state_dict()` lists a parameter, and does it list each one once?")
def state_counted(model):
    return _counts(model)[0], sum(value.numel() for value in model.state_dict().values())


@trainable_parameters.misconception("Which of the two numbers can never be the larger one? Look at the order.")
def order_exchanged(model):
    return _counts(model)[::-1]


@trainable_parameters.misconception(
    "The second number is what the model has in all. What happens to yours if you freeze more?"
)
def frozen_instead_of_all(model):
    learning, total = _counts(model)
    return learning, total - learning


@trainable_parameters.misconception("nn.Linear(3, 5) has 20 numbers in 2 tensors. Which of the two do you count?")
def tensors_instead_of_numbers(model):
    parameters = list(model.parameters())
    return sum(p.requires_grad for p in parameters), len(parameters)


@trainable_parameters.misconception("Count for nn.Linear(3, 5) by hand. What of it is not a matrix?")
def matrices_only(model):
    parameters = [p for p in model.parameters() if p.dim() > 1]
    return sum(p.numel() for p in parameters if p.requires_grad), sum(p.numel() for p in parameters)


@trainable_parameters.misconception("Layers within layers have parameters, too. Which iterator goes down to them?")
def own_layers_only(model):
    owners = [model, *model.children()]
    parameters = [p for owner in owners for p in owner.parameters(recurse=False)]
    return sum(p.numel() for p in parameters if p.requires_grad), sum(p.numel() for p in parameters)


@trainable_parameters.misconception(
    "Count for a block with one layer in it. Whose are the numbers: does the block have them, the layer, or both?"
)
def counted_at_every_level(model):
    parameters = [p for module in model.modules() for p in module.parameters()]
    return sum(p.numel() for p in parameters if p.requires_grad), sum(p.numel() for p in parameters)


@trainable_parameters.misconception("Which layers have numbers to train beside linear ones? Print the model.")
def linear_layers_only(model):
    kept = [p for module in model.modules() if isinstance(module, nn.Linear) for p in module.parameters()]
    return sum(p.numel() for p in kept if p.requires_grad), sum(p.numel() for p in kept)
