"""A model trained on a GPU is asked on that GPU, and answers like one on the CPU."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from course.exercise import given_model
from course.exercise.runner import home_of, placed, run


def test_inputs_follow_the_parameters_of_a_module():
    layer = nn.Linear(3, 2, device="meta")
    assert placed(torch.zeros(5, 3), home_of(layer)).device.type == "meta"
    assert placed("a word", home_of(layer)) == "a word"


@pytest.mark.parametrize("answer", [nn.Linear(3, 2), nn.Tanh(), torch.tanh, None])
def test_anything_else_is_asked_on_the_cpu(answer):
    assert home_of(answer) is None


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an accelerator")
def test_a_model_on_the_gpu_answers_like_one_on_the_cpu():
    x = torch.randn(5, 3)
    case = given_model("a layer").call(x, into="once").map([(x,), (2 * x,)], into="twice")
    layer = nn.Linear(3, 2)
    here = run(case.script(), layer).outputs
    there = run(case.script(), layer.cuda()).outputs
    torch.testing.assert_close(here["once"], there["once"])
    torch.testing.assert_close(here["twice"], there["twice"])
