"""Hidden tests of `QLoRALinear`: a base in four bits, a low-rank update, and how much memory both take."""

from __future__ import annotations

import math

import torch
from torch import nn
from torch.nn import functional as F

from course.exercise import Ref, exercise, given
from course.hidden.lora.scaffold import linear
from course.reference import bert as reference

STARTS = "it begins as the dequantised base"


@exercise(
    reference.QLoRALinear,
    hints=(
        "Which tensors must the layer keep? List them with dtypes and shapes. Which of them learn, and how many bytes "
        "is that in all?",
        "Build one around a layer, and give both the same x. How far apart are they, and why are they not equal?",
        "Change `codes` by hand and call the layer again. Does the output change?",
        "Begin with `__init__`. Quantise the weights of the base, keep the two results as buffers, and print the names "
        "in its state_dict(). The update comes after that, as in LoRA.",
    ),
    forbidden=("peft", "bitsandbytes"),
    tolerance=1e-5,
    name="QLoRALinear",
    calls=(
        "base = set_all(nn.Linear(2, 2), 1); QLoRALinear(base, 1, 4.)(tensor([1., 2.]))",
        ("base = set_all(nn.Linear(2, 2), 1); model = set_all(QLoRALinear(base, 1, 4.), 1); model(tensor([1., 2.]))"),
        ("base = set_all(nn.Linear(2, 2), 1); model = set_all(QLoRALinear(base, 2, 4.), 1); model(tensor([1., 2.]))"),
        ("base = set_all(nn.Linear(2, 2), 0); model = set_all(QLoRALinear(base, 1, 1.), 1); model(tensor([1., 2.]))"),
        "base = nn.Linear(3, 5); sum(p.numel() for p in QLoRALinear(base, 2, 4.).parameters())",
        "base = nn.Linear(3, 5, bias=False); QLoRALinear(base, 2, 4.)(numbers(4, 3)).shape",
    ),
)
def QLoRALinear(rng):
    """With the judge's A, B, codes and scales it does what the equation says, and it holds nothing else."""

    def layer(title, out_features, in_features, r, alpha, *block, bias=True, dtype=torch.float64, **settings):
        case = given(title, base=linear(rng, out_features, in_features, bias, dtype), **settings)
        return case.call(Ref("base"), r, alpha, *block, on="answer", into="model")

    def loaded(title, out_features, in_features, r, alpha, *block, dtype=torch.float64, **settings):
        made = layer(title, out_features, in_features, r, alpha, *block, dtype=dtype, **settings)
        A, B = rng.normal(r, in_features, dtype=dtype), rng.normal(out_features, r, dtype=dtype)
        return made.load({"A": A, "B": B})

    def inputs(*shape, dtype=torch.float64):
        return rng.normal(*shape, dtype=dtype).requires_grad_()

    yield layer(STARTS, 5, 8, 2, 6.0, 4, public=True, weight=2.0).call(inputs(3, 8)).gradients()
    yield layer("blocks of 64 unless told otherwise", 11, 13, 2, 6.0).call(inputs(3, 13))
    yield layer("codes and scales", 5, 7, 2, 6.0, 6, public=True).read("codes").read("scales").counts_with(STARTS)
    yield loaded("with A and B given", 5, 8, 2, 7.0, 4, public=True, weight=2.0).call(inputs(3, 8)).gradients()
    yield loaded("a base without a bias", 3, 5, 2, 3.0, 10, bias=False).call(inputs(2, 3, 5)).gradients()
    learned = loaded("what A and B learn", 5, 8, 3, 2.0, 4, weight=2.0).call(rng.normal(11, 8))
    yield learned.gradients(wrt="parameters")
    yield layer("what learns", 5, 8, 2, 6.0, 4, public=True, weight=2.0).learning().counts_with(STARTS)
    other = loaded("other codes, scales and bias in its state", 5, 8, 2, 6.0, 4, weight=2.0)
    state = {"codes": rng.integers(0, 256, 10, 2).to(torch.uint8), "scales": rng.uniform(10), "bias": rng.normal(5)}
    yield other.load(state).call(rng.normal(3, 8))
    float32 = {"dtype": torch.float32, "tolerance": 1e-4}
    yield loaded("float32", 5, 7, 2, 6.0, 6, **float32).call(inputs(3, 7, dtype=torch.float32))
    begun = layer("how A and B begin", 5, 7, 2, 6.0, 6, public=True).laws_only().read("A").read("B").counts_with(STARTS)
    begun = begun.law("shape_is", of="A", shape=(2, 7), because="A reads what comes in, and has the shape (r, in)")
    begun = begun.law("slices_differ", of="A", because="A should be random, and two of its rows are the same")
    for name in ("A", "B"):
        because = f"{name} should have the dtype of the base, which is float64 here"
        begun = begun.law("dtype_is", of=name, dtype="float64", because=because)
    yield begun.law("close_to", of="B", value=torch.zeros(5, 2), because="B should begin as zero")
    yield _light(layer("it keeps no copy of its base", 64, 128, 2, 4.0, public=True, weight=2.0, **float32), rng)
    wide = layer("nor a byte for each weight", 40, 96, 3, 4.0, 32, **float32)
    yield _light(wide, rng, 40, 96, 3, 32)


def _light(case, rng, out_features=64, in_features=128, r=2, block=64):
    """It holds at most its codes, scales, bias, A and B, and a few hundred bytes, after a call, too."""
    blocks = math.ceil(out_features * in_features / block)
    needed = blocks * (block // 2 + 4) + 4 * (out_features + r * (out_features + in_features))
    because = f"the layer holds more than {needed:,} bytes of tensors. Which weights does it keep besides the codes?"
    case = case.call(rng.normal(2, in_features, dtype=torch.float32)).held().laws_only()
    return case.law("at_most", of="bytes held", value=needed + 600, because=because).counts_with(STARTS)


class _Open(reference.QLoRALinear):
    """The reference in pieces, for others to take their place."""

    def base_of(self, x):
        return F.linear(x, self.weight(), self.bias)

    def weight(self):
        return reference.dequantise(self.codes, self.scales, self.levels, self.shape)

    def scale(self):
        return self.scaling

    def forward(self, x):
        return self.base_of(x) + self.scale() * (x @ self.A.T @ self.B.T)


def _with(**pieces):
    return type("Other", (_Open,), pieces)


def _begun(change, **pieces):
    """The reference that `change(layer, base)` changes when it is built."""

    class Begun(_Open):
        def __init__(self, base, r, alpha, block=64):
            super().__init__(base, r, alpha, block)
            change(self, base)

    for name, piece in pieces.items():
        setattr(Begun, name, piece)
    return Begun


def _keep_base(layer, base):
    layer.base = base.requires_grad_(False)


def _keep_weights(layer, base):
    layer.W = layer.weight()


QLoRALinear.mistakes(
    "Add up the bytes of everything that your layer holds after a call, attributes included. Which tensor is as large "
    "as the old weight?",
    KeepsTheBase=_begun(_keep_base),
)
QLoRALinear.mistakes(
    "Change `codes` by hand and call the layer again. Does the output change? When are the weights unpacked?",
    UnpackedOnce=_begun(_keep_weights, weight=lambda self: self.W),
)
QLoRALinear.mistakes(
    "Compare the output before training with that of the base. If they are equal, where are the four bits?",
    BaseNotQuantised=_begun(_keep_base, base_of=lambda self, x: self.base(x)),
)


QLoRALinear.mistakes(
    "Does a gradient flow from the output through the frozen weights back to x? Which lines are under no_grad?",
    NoGradientThroughTheBase=_with(base_of=lambda self, x: F.linear(x.detach(), self.weight(), self.bias)),
)
QLoRALinear.mistakes(
    "By what is the update multiplied, with r = 4 and alpha = 8?",
    WithoutScaling=_with(scale=lambda self: 1.0),
)


@QLoRALinear.misconception("Give it x = 0. What should come out, and what does?")
class BiasForgotten(_Open):
    def base_of(self, x):
        return x @ self.weight().T


@QLoRALinear.misconception(
    "Print list(layer.state_dict()). Are codes and scales in it? Only what is registered is saved."
)
class NothingRegistered(_Open):
    def __init__(self, base, r, alpha, block=64):
        super().__init__(base, r, alpha, block)
        codes, scales = self.codes, self.scales
        del self.codes, self.scales
        self.codes, self.scales = codes, scales


QLoRALinear.mistakes(
    "Before training the output should be that of the dequantised base. Which of A and B makes the difference?",
    BothRandom=_begun(lambda layer, base: nn.init.normal_(layer.B)),
)
