"""The small Vision Transformer: its words are patches, its parts can be named, and places matter to it."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from course import blocks


@pytest.fixture
def model():
    torch.manual_seed(0)
    return blocks.ViT(6, 2, 3, 5, d_model=8, n_heads=2, d_ff=12, n_layers=2).double().eval()


def test_shapes_and_the_names_of_its_linear_layers(model):
    assert model(torch.rand(4, 3, 6, 6, dtype=torch.float64)).shape == (4, 5)
    linear = [name.rpartition(".")[2] for name, module in model.named_modules() if isinstance(module, nn.Linear)]
    assert sorted(linear) == sorted(2 * ["W_q", "W_k", "W_v", "W_o", "up", "down"] + ["head"])


def test_it_agrees_with_the_vision_transformer_of_topic_11():
    """The reference, given the same numbers part by part, gives the same logits."""
    from course.reference.vit_patches import ViT

    torch.manual_seed(1)
    ours = blocks.ViT(6, 2, 3, 5, 8, 2, 12, n_layers=2).double()
    theirs = ViT(6, 2, 3, 5, 8, 2, 12, n_layers=2).double()
    with torch.no_grad():
        theirs.project.weight.copy_(ours.patches.weight.flatten(1))
        theirs.project.bias.copy_(ours.patches.bias)
        theirs.cls.copy_(ours.class_word.normal_()[0, 0])
        theirs.positions.copy_(ours.marks[0])
    theirs.layers.load_state_dict(ours.encoder.state_dict())
    theirs.norm.load_state_dict(ours.last_norm.state_dict())
    theirs.classify.load_state_dict(ours.head.state_dict())
    images = torch.rand(3, 3, 6, 6, dtype=torch.float64)
    torch.testing.assert_close(ours(images), theirs(images))


def test_places_matter_until_the_marks_are_gone(model):
    images = torch.rand(2, 3, 6, 6, dtype=torch.float64)
    moved = images.roll(2, 3)  # every patch stands one further to the right
    assert not torch.allclose(model(images), model(moved))
    with torch.no_grad():
        model.marks.zero_()
    torch.testing.assert_close(model(images), model(moved))


def test_images_of_a_batch_do_not_mix_and_everything_learns(model):
    images = torch.rand(3, 3, 6, 6, dtype=torch.float64)
    torch.testing.assert_close(model(images)[1:2], model(images[1:2]))
    model(images).square().sum().backward()
    idle = [name for name, parameter in model.named_parameters() if parameter.grad is None]
    assert not idle


def test_patches_and_heads_that_do_not_fit_are_refused():
    for patch in (3, 0, -2):
        with pytest.raises(ValueError, match=f"patches of {patch} x {patch} pixels cannot cover an image of 8 x 8"):
            blocks.ViT(8, patch, 1, 10, 8, 2, 12, 1)
    with pytest.raises(ValueError, match="heads cannot share"):
        blocks.ViT(8, 2, 1, 10, 9, 2, 12, 1)
