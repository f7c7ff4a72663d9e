"""Parts of the course's own blocks can be forbidden like torch's, by name in the source and while code runs."""

from __future__ import annotations

import torch

from course import blocks
from course.exercise.watch import forbidden_in_source, watching

FORBIDDEN = ("blocks.EncoderLayer",)


def test_blocks_are_found_in_the_source():
    for used in ("Mine = blocks.EncoderLayer", "x = course.blocks.EncoderLayer(6, 3, 11)"):
        assert forbidden_in_source(used, FORBIDDEN)
    assert forbidden_in_source("from course.blocks import EncoderLayer as E\nlayer = E(6, 3, 11)", FORBIDDEN) == ["E"]
    assert not forbidden_in_source("class EncoderLayer: ...\nx = EncoderLayer()\ny = self.EncoderLayer", FORBIDDEN)


def test_a_magic_in_the_cell_hides_nothing():
    for cell in ("%matplotlib inline\n{}", "def f():\n    %time\n    {}", "!ls\n{}", "x = (7\n% 4)\n{}"):
        assert forbidden_in_source(cell.format("blocks.EncoderLayer"), FORBIDDEN) == ["blocks.EncoderLayer"]
    assert not forbidden_in_source("what is this?\nblocks.EncoderLayer", FORBIDDEN)


def test_a_call_that_is_too_deep_to_be_written_out_is_found():
    deep = f"x{'[0]' * 400}.softmax(0)"
    assert forbidden_in_source(deep, ("Tensor.softmax",)) == ["softmax"]


def test_blocks_are_noticed_while_they_run():
    seen = []
    with watching(FORBIDDEN, seen):
        blocks.MultiHeadAttention(6, 3)(torch.randn(1, 2, 6), torch.randn(1, 2, 6))
        assert not seen
        blocks.EncoderLayer(6, 3, 11)(torch.randn(1, 2, 6))
    assert seen == ["blocks.EncoderLayer"]


def test_autograd_is_found_under_each_of_its_names():
    forbidden = ("torch.autograd.grad", "torch.func.jvp", "Tensor.backward")
    for used in (
        "torch.func.jvp(f, x, v)",
        "func.jvp(f, x, v)",
        "autograd.grad(y, x)",
        "from torch.func import jvp\njvp",
    ):
        assert forbidden_in_source(used, forbidden)


def test_a_method_called_backward_is_ones_own_until_it_turns_out_to_be_torchs():
    assert not forbidden_in_source("step.backward(grad)", ("Tensor.backward",))
    assert forbidden_in_source("torch.Tensor.backward(loss)", ("Tensor.backward",))
    seen = []
    with watching(("Tensor.backward",), seen):
        torch.ones(2, requires_grad=True).sum().backward()
    assert seen == ["Tensor.backward"]


def test_whole_packages_are_found_in_the_source():
    for used in ("import peft", "import peft.tuners as t", "from peft import LoraConfig", "x = peft.get_peft_model(m)"):
        assert forbidden_in_source(used, ("peft",)) == ["peft"]
    assert not forbidden_in_source("from .peft import mine\nself.peft = 1\nimport peftish", ("peft",))
