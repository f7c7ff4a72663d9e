"""Hidden tests of `trainable_parameters`, the count of numbers that can learn, and of all there are."""

from course.exercise import Ref, exercise, given, stand_in
from course.hidden.lora.scaffold import chain, linear, lora_layer, norm
from course.reference import lora as reference


@exercise(
    reference.trainable_parameters,
    hints=(
        "Count by hand for nn.Linear(3, 5), then for the same with its bias frozen.",
        "Tie the weights of two layers. How many numbers are there to train, and how many does a file hold?",
        "Begin with a loop over the parameters, and print `requires_grad` and `numel()` of each. Which of the two "
        "says whether it is trained? Which parameters belong in the first count, and which in the second?",
    ),
    calls=(
        "trainable_parameters(nn.Linear(2, 3))",
        "trainable_parameters(nn.Linear(2, 3).requires_grad_(False))",
        "layer = nn.Linear(2, 2); trainable_parameters(nn.Sequential(layer, layer))",
        "model = nn.Linear(2, 3); model.bias.requires_grad = False; trainable_parameters(model)",
        "trainable_parameters(nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1).requires_grad_(False)))",
        "trainable_parameters(nn.ReLU())",
    ),
)
def trainable_parameters(rng):
    """Frozen and free, tied, with buffers, within LoRA layers."""

    def counted(title, model, **settings):
        return given(title, model=model, **settings).call(Ref("model"), on="answer", into="counts")

    def tied(frozen=()):
        parts = {"words": stand_in("embedding", weight=rng.normal(11, 3)), "head": linear(rng, 11, 3)}
        return chain(parts, tied={"head.weight": "words.weight"}, frozen=frozen)

    def some(frozen=(), buffers=None):
        body = {"norm": norm(rng, 3), "up": linear(rng, 7, 3), "down": linear(rng, 5, 7)}
        return chain({"body": chain(body), "head": linear(rng, 2, 5)}, frozen=frozen, buffers=buffers)

    weights = ("body.norm.weight", "body.up.weight", "body.down.weight")
    yield counted("everything can learn", some(), public=True)
    yield counted("three weights are frozen", some(weights), public=True, weight=2.0)
    yield counted("tied weights", tied(), public=True)
    yield counted("tied weights, frozen", tied(("words.weight",)))
    yield counted("buffers", some(("head.weight",), {"mask": rng.normal(5, 5), "steps": rng.integers(0, 9, 3)}))
    yield counted("a single layer", linear(rng, 7, 3))
    everything = tuple(f"body.{name}.{kind}" for name in ("norm", "up", "down") for kind in ("weight", "bias"))
    yield counted("nothing can learn", some((*everything, "head.weight", "head.bias")), weight=0.5)
    yield counted("only the head", some(everything))
    layer, _ = lora_layer(rng, 5, 7, 2, 6.0)
    inside = chain({"norm": norm(rng, 7), "q": layer}, frozen=("norm.weight", "norm.bias"))
    yield counted("with a LoRA layer", inside)


def _numbers(parameters):
    """How many of them can learn, and how many there are."""
    kept = list(parameters)
    return sum(p.numel() for p in kept if p.requires_grad), sum(p.numel() for p in kept)


def _else(count):
    """The answer that returns something else than the right (learning, total)."""
    return lambda model: count(*reference.trainable_parameters(model))


trainable_parameters.mistakes(
    "Freeze the whole model. How many of its numbers can learn now?",
    frozen_counted_as_learning=_else(lambda free, total: (total, total)),
)
trainable_parameters.mistakes(
    "Tie two layers and count again. Is there one weight now, or are there two?",
    tied_counted_twice=lambda model: _numbers(p for _, p in model.named_parameters(remove_duplicate=False)),
)


@trainable_parameters.misconception("Is all that `state_dict()` lists a parameter, and does it list each one once?")
def state_counted(model):
    return reference.trainable_parameters(model)[0], sum(value.numel() for value in model.state_dict().values())


trainable_parameters.mistakes(
    "Freeze a layer and print your two numbers. Which of the two can never be the larger one?",
    order_exchanged=_else(lambda free, total: (total, free)),
)
trainable_parameters.mistakes(
    "The second number is what the model has in all. What happens to yours if you freeze more?",
    frozen_instead_of_all=_else(lambda free, total: (free, total - free)),
)


@trainable_parameters.misconception("nn.Linear(3, 5) has 20 numbers in 2 tensors. Which of the two do you count?")
def tensors_instead_of_numbers(model):
    parameters = list(model.parameters())
    return sum(p.requires_grad for p in parameters), len(parameters)


trainable_parameters.mistakes(
    "Layers within layers have parameters, too. Which iterator goes down to them?",
    own_layers_only=lambda model: _numbers(
        p for owner in (model, *model.children()) for p in owner.parameters(recurse=False)
    ),
)
trainable_parameters.mistakes(
    "Count for a block with one layer in it. Do you count a number for the block, for its layer, or for both?",
    counted_at_every_level=lambda model: _numbers(p for module in model.modules() for p in module.parameters()),
)
