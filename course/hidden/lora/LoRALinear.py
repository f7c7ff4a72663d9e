"""Hidden tests of `LoRALinear`, a frozen linear layer with a low-rank update beside it that learns."""

import torch
from torch import nn

from course.exercise import Ref, exercise, given
from course.hidden.lora.scaffold import FLOAT32, linear
from course.reference import lora as reference
from course.reference.lora import LoRALinear as Right


@exercise(
    reference.LoRALinear,
    name="LoRALinear",
    hints=(
        "Before any training, what should the layer return for an x, and what does its base return? Which two things "
        "change when training begins?",
        "Set A and B by hand to numbers you can follow, with alpha = 6 and r = 2. By what is the update multiplied?",
        "Print the name, shape and requires_grad of every parameter. How many numbers can learn? Count those in A and"
        " in B.",
        "Begin with __init__, and with the shape of base.weight, which is (out, in). Write the shapes of A and B "
        "beside it, and what each starts with. In forward, follow the example of the text. It reads r numbers, writes"
        " them back, scales and adds.",
    ),
    forbidden=("peft",),
    calls=(
        ("base = set_all(nn.Linear(2, 2), 1); model = set_all(LoRALinear(base, 1, 4.), 1); model(tensor([1., 2.]))"),
        ("base = set_all(nn.Linear(2, 2), 1); model = set_all(LoRALinear(base, 2, 4.), 1); model(tensor([1., 2.]))"),
        ("base = set_all(nn.Linear(2, 2), 1); model = set_all(LoRALinear(base, 2, 2.), 1); model(tensor([0., 0.]))"),
        (
            "base = set_all(nn.Linear(2, 2), 1); sum(p.numel() for p in LoRALinear(base, 1, "
            "4.).parameters() if p.requires_grad)"
        ),
        "base = nn.Linear(3, 5); sum(p.numel() for p in LoRALinear(base, 2, 4.).parameters() if p.requires_grad)",
        ("base = set_all(nn.Linear(2, 2), 1); model = set_all(LoRALinear(base, 1, 1.), 0); model(tensor([1., 2.]))"),
    ),
)
def LoRALinear(rng):
    """It begins as its base, only A and B learn, and with the judge's A and B it does what the equation says."""

    def layer(title, out_features, in_features, r, alpha, bias=True, dtype=torch.float64, **settings):
        if dtype == torch.float32:
            settings["tolerance"] = FLOAT32
        case = given(title, base=linear(rng, out_features, in_features, bias, dtype), **settings)
        return case.call(Ref("base"), r, alpha, on="answer", into="model")

    def loaded(title, out_features, in_features, r, alpha, dtype=torch.float64, **settings):
        """The same, with the judge's A and B."""
        made = layer(title, out_features, in_features, r, alpha, dtype=dtype, **settings)
        A, B = rng.normal(r, in_features, dtype=dtype), rng.normal(out_features, r, dtype=dtype)
        return made.load({"A": A, "B": B})

    def inputs(*shape, dtype=torch.float64):
        return rng.normal(*shape, dtype=dtype).requires_grad_()

    x = rng.normal(3, 7)
    yield (
        layer("it begins as its base", 5, 7, 2, 6.0, public=True, weight=2.0)
        .laws_only()
        .call(x)
        .call(x, on="base", into="the base's own")
        .read("A")  # which the base alone has not
        .law("equal", to="the base's own", because="before any training it should do exactly what its base does")
    )
    yield (
        layer("how A and B begin", 5, 7, 2, 6.0, public=True, weight=2.0)
        .laws_only()
        .read("A")
        .read("B")
        .law("shape_is", of="A", shape=(2, 7), because="A reads what comes in, and has the shape (r, in)")
        .law("shape_is", of="B", shape=(5, 2), because="B writes what goes out, and has the shape (out, r)")
        .law("finite", of="A", because="A should be random, and it holds NaN or infinity. How was it drawn?")
        .law("exceeds", of="A", value=0.0, because="A should be random, and all of it is zero")
        .law("slices_differ", of="A", because="A should be random, and two of its rows are the same")
        .law("close_to", of="B", value=torch.zeros(5, 2), because="B should begin as zero")
        .law(
            "dtype_is",
            of="A",
            dtype="float64",
            because="the base holds float64, and A and B should have the same dtype",
        )
        .law(
            "dtype_is",
            of="B",
            dtype="float64",
            because="the base holds float64, and A and B should have the same dtype",
        )
    )
    yield (
        layer("two layers from one base", 5, 7, 2, 6.0, weight=0.5)
        .laws_only()
        .call(Ref("base"), 2, 6.0, on="answer", into="another")
        .read("A")
        .read("A", on="another", into="A of another")
        .law("different", of="A", to="A of another", because="A should be random, and two layers begin with the same A")
    )
    yield layer("what learns", 5, 7, 2, 6.0, public=True, weight=2.0).learning()
    yield layer("what learns, without a bias", 7, 3, 5, 2.0, bias=False, weight=0.5).learning()
    yield loaded("with A and B given", 5, 7, 2, 7.0, public=True, weight=2.0).call(inputs(3, 7)).gradients()
    yield loaded("another rank, another strength", 7, 5, 3, 2.0, weight=2.0).call(inputs(11, 5)).gradients()
    learned = loaded("what A and B learn", 5, 3, 2, 7.0, weight=2.0).call(rng.normal(11, 3))
    yield learned.gradients(wrt="parameters")
    first = layer("the first step of training", 5, 3, 2, 7.0, weight=2.0).laws_only().call(rng.normal(11, 3))
    yield first.gradients(wrt="parameters").read("A").law("something_learns")
    yield layer("r and alpha", 5, 7, 3, 2.5, public=True, weight=0.5).read("r").read("alpha")
    yield loaded("a square layer without a bias", 5, 5, 2, 3.0, bias=False).call(inputs(3, 5))
    yield loaded("in training", 5, 7, 2, 3.0).train().call(inputs(11, 7))
    yield loaded("rank one", 3, 7, 1, 5.0).call(inputs(2, 7)).gradients()
    yield loaded("a rank above both sizes", 3, 2, 7, 5.0, weight=0.5).call(inputs(5, 2))
    yield loaded("sentences", 5, 7, 2, 3.0).call(inputs(2, 3, 7)).gradients()
    yield loaded("a single vector", 5, 7, 2, 3.0, weight=0.5).call(inputs(7))
    yield loaded("float32", 5, 7, 2, 6.0, dtype=torch.float32).call(inputs(3, 7, dtype=torch.float32))
    other = loaded("it holds the very layer it was given", 5, 7, 2, 6.0).load({"weight": rng.normal(5, 7)}, on="base")
    yield other.call(rng.normal(3, 7))
    kept = loaded("the base stays as it was", 5, 7, 2, 6.0, public=True, weight=0.5).call(rng.normal(3, 7))
    yield kept.read("base.weight").read("base.bias")


class _Open(Right):
    """The reference, with a scale for wrong ones to change."""

    def scale(self):
        return self.alpha / self.r

    def forward(self, x):
        return self.base(x) + self.scale() * (x @ self.A.T @ self.B.T)


def _scaled(scale):
    """The reference with another `scale`."""
    return type("Other", (_Open,), {"scale": scale})


def _begun(change):
    """The reference whose parameters `change` when it is built."""

    class Begun(_Open):
        def __init__(self, base, r, alpha):
            super().__init__(base, r, alpha)
            change(self)

    return Begun


LoRALinear.mistakes(
    "Give your layer and its base the same x before any training. Which of A and B makes the difference?",
    BothRandom=_begun(lambda layer: nn.init.normal_(layer.B)),
)
LoRALinear.misconception(
    "Your layer also begins as its base, and could learn. Which of the two factors does the paper begin with zero?",
    convention="A zero and B random",
    name="ZeroIsA",
)(_begun(lambda layer: (nn.init.zeros_(layer.A), nn.init.normal_(layer.B))))

LoRALinear.mistakes(
    "Does alpha make a difference in your layer? Double it, and look at the update alone.",
    WithoutScaling=_scaled(lambda self: 1.0),
)
LoRALinear.mistakes(
    "Take twice the rank and leave alpha. Which strength should each direction have then?",
    ScaledByAlpha=_scaled(lambda self: self.alpha),
)
LoRALinear.misconception(
    "With r = 4 and alpha = 8, by what is your update multiplied? The exercise follows the first paper.",
    convention="alpha divided by the square root of r (rank-stabilised LoRA)",
    name="ScaledByTheRoot",
)(_scaled(lambda self: self.alpha / self.r**0.5))
LoRALinear.mistakes(
    "How many numbers can learn? Compare with those in A and in B.",
    BaseStillLearns=_begun(lambda layer: layer.base.requires_grad_(True)),
)
LoRALinear.mistakes(
    "Print every name whose requires_grad is True. A layer has more than its weight.",
    BiasStillLearns=_begun(lambda layer: layer.base.requires_grad_(True).weight.requires_grad_(False)),
)


@LoRALinear.misconception(
    "Print list(layer.parameters()). Are A and B in it? Only what is registered can be trained or saved."
)
class NoParameters(nn.Module):
    def __init__(self, base, r, alpha):
        super().__init__()
        self.base, self.r, self.alpha = base.requires_grad_(False), r, alpha
        self.A = torch.randn(r, base.in_features, dtype=base.weight.dtype)
        self.B = torch.zeros(base.out_features, r, dtype=base.weight.dtype)

    def forward(self, x):
        return self.base(x) + self.alpha / self.r * (x @ self.A.T @ self.B.T)
