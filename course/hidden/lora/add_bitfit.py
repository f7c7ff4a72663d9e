"""Hidden tests of `add_bitfit`, which leaves nothing but the biases of a model to learn."""

from torch import nn

from course.exercise import Ref, exercise, given
from course.hidden.lora.scaffold import chain, last_part, learning, linear, norm, two_blocks
from course.reference import lora as reference


@exercise(
    reference.add_bitfit,
    hints=(
        "What should decide, the kind of the layer or the last part of the parameter's name?",
        "Afterwards, count what can learn. For each linear layer with a bias it is `out`, for a LayerNorm its width.",
        "Begin with a loop that prints the name of every parameter of a model. Which of them are biases, and to which"
        " layers do they belong? Then let the loop decide for each parameter whether it learns, and count.",
    ),
    calls=(
        "add_bitfit(nn.Linear(2, 3))",
        "add_bitfit(nn.Linear(2, 3, bias=False))",
        "add_bitfit(nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1)))",
        "add_bitfit(nn.LayerNorm(4))",
        "add_bitfit(nn.Sequential(nn.Linear(2, 3), nn.Embedding(9, 3)))",
        "model = nn.Linear(2, 3); add_bitfit(model); [p.requires_grad for p in model.parameters()]",
    ),
)
def add_bitfit(rng):
    """What learns afterwards, by name and count. It is every bias of any layer, and nothing else."""

    def fitted(title, model, **settings):
        return given(title, model=model, **settings).call(Ref("model"), on="answer", into="count").learning()

    ids = rng.integers(0, 11, 3, 5)
    yield fitted("a model with norms", two_blocks(rng), public=True, weight=2.0)
    yield fitted("linear layers alone", chain({"up": linear(rng, 5, 3), "down": linear(rng, 2, 5)}), public=True)
    yield fitted("norms alone", chain({"norm": norm(rng, 5), "again": chain({"norm": norm(rng, 5)})}))
    yield fitted("some have no bias", chain({"up": linear(rng, 5, 3, False), "down": linear(rng, 2, 5)}))
    yield (
        fitted("the model computes what it did", two_blocks(rng))
        .call(ids, on="model")
        .read("first.q.weight")
        .read("first.norm.bias")
        .read("head.bias")
    )
    yield fitted("a second time", two_blocks(rng), weight=0.5).call(Ref("model"), on="answer", into="again")
    table = {"body": chain({"up": linear(rng, 5, 3), "norm": norm(rng, 5)}, own={"posbias": rng.normal(7, 3)})}
    yield fitted("a table of positions called posbias", chain(table))
    parts = {"up": linear(rng, 5, 3), "norm": norm(rng, 5), "down": linear(rng, 2, 5)}
    names = [f"{name}.{kind}" for name in parts for kind in ("weight", "bias")]
    yield fitted("a model that is frozen already", chain(parts, frozen=tuple(names)), weight=0.5)


def _free(wanted):
    """The answer that lets only the parameters learn which are `wanted`, by name and owner."""

    def answer(model):
        for name, parameter in model.named_parameters():
            parameter.requires_grad_(wanted(name, model.get_submodule(name.rpartition(".")[0])))
        return learning(model)

    return answer


def _is_bias(name):
    return last_part(name) == "bias"


add_bitfit.mistakes(
    "Count the biases of a model with norms. How many layers have one that are not linear?",
    linear_biases_only=_free(lambda name, owner: _is_bias(name) and isinstance(owner, nn.Linear)),
)
add_bitfit.mistakes(
    "Print what of a LayerNorm can learn afterwards. Is all of it a bias?",
    norms_as_a_whole=_free(lambda name, owner: _is_bias(name) or isinstance(owner, nn.LayerNorm)),
)


@add_bitfit.misconception(
    "Print which parameters of the head can learn afterwards. The method trains the biases of every layer."
)
def head_as_well(model):
    reference.add_bitfit(model)
    list(model.children())[-1].requires_grad_(True)
    return learning(model)


add_bitfit.mistakes(
    "Call a layer `rebias` and look at its weight. Is a name with `bias` in it always the name of a bias?",
    name_contains_bias=_free(lambda name, owner: "bias" in name),
)


@add_bitfit.misconception("Freeze the whole model, and call it then. What can learn?")
def nothing_freed(model):
    for name, parameter in model.named_parameters():
        if not _is_bias(name):
            parameter.requires_grad = False
    return learning(model)


add_bitfit.mistakes(
    "Print every name whose requires_grad is True. Which of them should be frozen?",
    nothing_frozen=_free(lambda name, owner: True),
)


@add_bitfit.misconception(
    "Compare your number with a count of what can learn, and with a count of all. Which one does the exercise ask for?"
)
def all_counted(model):
    reference.add_bitfit(model)
    return sum(p.numel() for p in model.parameters())
