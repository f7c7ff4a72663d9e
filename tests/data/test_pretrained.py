"""The weights that topic 12 begins with fit their model, read upright digits, and cannot read the second domain."""

from __future__ import annotations

import pytest
import torch

from course import blocks
from course.data import digits, negatives, pretrained
from tests.training import pretrain


@pytest.fixture(scope="module")
def model():
    made = blocks.ViT(**pretrained.SIZES).eval()
    made.load_state_dict(pretrained.weights())
    return made


def test_the_file_is_small_and_holds_the_model_and_nothing_else(model):
    numbers = sum(value.numel() for value in pretrained.weights().values())
    assert numbers == sum(parameter.numel() for parameter in model.parameters())
    assert 4 * numbers < pretrained.FILE.stat().st_size < 150_000
    assert all(value.dtype == torch.float32 and value.isfinite().all() for value in pretrained.weights().values())


def test_it_reads_new_upright_scans(model):
    assert pretrain.accuracy(model, *digits.scans("test")) > 0.96


def test_negatives_are_new_to_it(model):
    assert pretrain.accuracy(model, *negatives.scans("test")) < 0.25


def test_what_a_caller_does_to_the_weights_is_its_own_affair():
    pretrained.weights()["head.bias"].zero_()
    assert pretrained.weights()["head.bias"].any()


def test_the_script_learns_to_read():
    """Its first hundred batches, from nothing: far above guessing, whatever torch rounds to."""
    assert pretrain.accuracy(pretrain.trained(steps=100), *digits.scans("test")) > 0.5


@pytest.mark.slow
def test_the_script_makes_weights_as_good_as_those_of_the_file(model):
    again = pretrain.accuracy(pretrain.trained(), *digits.scans("test"))
    assert abs(again - pretrain.accuracy(model, *digits.scans("test"))) < 0.02
