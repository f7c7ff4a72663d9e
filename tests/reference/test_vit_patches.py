"""The reference against torch's own layers, values and gradients, and against laws and figures of its own."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional as F

from course.reference.vit_patches import (
    ViT,
    embed_patches,
    interpolate_positions,
    linear_to_conv,
    patchify,
    spectrogram_patches,
    unpatchify,
)
from tests.reference.numbers import close, noise

DTYPES = [torch.float32, torch.float64]
SIZES = [(2, 3, 4, 6, 2), (1, 1, 3, 3, 3), (3, 2, 5, 3, 1), (2, 5, 9, 3, 3), (1, 2, 7, 14, 7)]
"""B, C, H, W, p: images of every shape, and the corners where a patch is a pixel or everything."""

few = settings(max_examples=40)
small = st.integers(1, 4)


def same(ours: Tensor, theirs: Tensor, leaves: list[Tensor]) -> None:
    """Equal values, and equal gradients of one random projection."""
    close(ours, theirs)
    direction = noise(*ours.shape, seed=9, dtype=ours.dtype).detach()
    mine = torch.autograd.grad((ours * direction).sum(), leaves)
    for a, b in zip(mine, torch.autograd.grad((theirs * direction).sum(), leaves), strict=True):
        close(a, b)


# -- cutting and mending -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("B", "C", "H", "W", "p"), SIZES)
def test_patches_are_what_unfold_cuts(B, C, H, W, p, dtype):
    images = noise(B, C, H, W, dtype=dtype)
    patches = patchify(images, p)
    assert patches.shape == (B, H // p * (W // p), C * p * p)
    same(patches, F.unfold(images, p, stride=p).mT, [images])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("B", "C", "H", "W", "p"), SIZES)
def test_mending_is_what_fold_does(B, C, H, W, p, dtype):
    patches = noise(B, H // p * (W // p), C * p * p, dtype=dtype)
    same(unpatchify(patches, p, H, W), F.fold(patches.mT, (H, W), p, stride=p), [patches])


@few
@given(small, small, small, small, small)
def test_mending_undoes_cutting(B, C, rows, columns, p):
    images = noise(B, C, rows * p, columns * p)
    assert torch.equal(unpatchify(patchify(images, p), p, rows * p, columns * p), images)
    none = images[:0]
    assert unpatchify(patchify(none, p), p, rows * p, columns * p).shape == none.shape


def test_the_second_patch_lies_to_the_right_of_the_first():
    image = torch.arange(24.0).view(1, 1, 4, 6)
    assert patchify(image, 2)[0, :2].tolist() == [[0, 1, 6, 7], [2, 3, 8, 9]]


def test_memory_need_not_be_contiguous():
    images = noise(2, 6, 4, 3).permute(0, 3, 1, 2)
    assert torch.equal(patchify(images, 2), patchify(images.contiguous(), 2))
    patches = noise(2, 12, 6).mT
    assert torch.equal(unpatchify(patches, 2, 4, 6), unpatchify(patches.contiguous(), 2, 4, 6))


# -- words -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("B", "C", "H", "W", "p"), SIZES)
def test_a_linear_map_of_patches_is_a_convolution_in_steps_of_p(B, C, H, W, p, dtype):
    images, weight, b = noise(B, C, H, W, dtype=dtype), noise(7, C * p * p, dtype=dtype), noise(7, seed=5, dtype=dtype)
    kernels = linear_to_conv(weight, C, p)
    assert kernels.shape == (7, C, p, p)
    convolved = F.conv2d(images, kernels, b, stride=p).flatten(2).mT
    same(patchify(images, p) @ weight.T + b, convolved, [images, weight, b])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("B", "C", "H", "W", "p"), SIZES)
def test_words_are_those_of_a_convolutional_layer(B, C, H, W, p, dtype):
    N, D = H // p * (W // p), 5
    images, weight, b = noise(B, C, H, W, dtype=dtype), noise(D, C * p * p, dtype=dtype), noise(D, seed=5, dtype=dtype)
    cls, positions = noise(D, seed=6, dtype=dtype), noise(N + 1, D, seed=7, dtype=dtype)
    layer = nn.Conv2d(C, D, p, stride=p, dtype=dtype)
    with torch.no_grad():
        layer.weight.copy_(weight.view(D, C, p, p))
        layer.bias.copy_(b)
    words = embed_patches(images, weight, b, cls, positions)
    assert words.shape == (B, N + 1, D)
    close(words[:, 1:], layer(images).flatten(2).mT + positions[1:])
    close(words[:, 0], (cls + positions[0]).expand(B, D))
    theirs = torch.cat([cls.expand(B, 1, D), F.conv2d(images, linear_to_conv(weight, C, p), b, p).flatten(2).mT], 1)
    same(words, theirs + positions, [images, weight, b, cls, positions])


# -- sound -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("F_", "T", "p", "stride"), [(7, 11, 3, 2), (5, 5, 5, 3), (6, 9, 3, 3), (3, 8, 2, 5)])
def test_spectrograms_are_cut_as_unfold_does(F_, T, p, stride, dtype):
    spec = noise(2, F_, T, dtype=dtype)
    same(spectrogram_patches(spec, p, stride), F.unfold(spec[:, None], p, stride=stride).mT, [spec])


def test_without_overlap_a_spectrogram_is_an_image():
    spec = noise(2, 6, 9)
    assert torch.equal(spectrogram_patches(spec, 3, 3), patchify(spec[:, None], 3))


def test_ten_seconds_of_the_papers_sound():
    """AST: 128 frequencies, 1,024 frames, patches of 16 with a new one every 10: 12 × 101 of them (section 2.1)."""
    assert spectrogram_patches(torch.zeros(1, 128, 1024), 16, 10).shape == (1, 1212, 256)


# -- other resolutions -------------------------------------------------------------------------------------------------


def test_the_same_grid_changes_nothing():
    positions = noise(10, 4)
    torch.testing.assert_close(interpolate_positions(positions, (3, 3)), positions)


@pytest.mark.parametrize("grid", [(5, 7), (7, 3), (1, 4)])
def test_the_class_row_stays_and_constants_too(grid):
    positions = noise(10, 4)
    found = interpolate_positions(positions, grid)
    assert found.shape == (1 + grid[0] * grid[1], 4)
    assert torch.equal(found[0], positions[0])
    flat = noise(2, 4)[[0, *[1] * 9]]
    torch.testing.assert_close(interpolate_positions(flat, grid)[1:], flat[1:2].expand(grid[0] * grid[1], 4))


def test_transposing_before_and_after_is_the_same():
    positions = noise(17, 3)
    turned = torch.cat([positions[:1], positions[1:].view(4, 4, 3).transpose(0, 1).reshape(16, 3)])
    wide = interpolate_positions(positions, (5, 7))[1:].view(5, 7, 3)
    torch.testing.assert_close(interpolate_positions(turned, (7, 5))[1:].view(7, 5, 3), wide.transpose(0, 1))


# -- the model ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("size", "patch", "channels", "width", "heads", "layers"), [(6, 2, 3, 10, 2, 3), (5, 5, 1, 7, 1, 1)]
)
def test_the_encoder_is_torchs(size, patch, channels, width, heads, layers, dtype):
    torch.manual_seed(0)
    model = ViT(size, patch, channels, 7, width, heads, 13, layers).to(dtype)
    images = noise(3, channels, size, size, dtype=dtype)
    words = embed_patches(images, model.project.weight, model.project.bias, model.cls, model.positions)
    for layer in model.layers:
        theirs = nn.TransformerEncoderLayer(
            width, heads, 13, dropout=0.0, batch_first=True, norm_first=True, dtype=dtype
        )
        layer.self_attention.load_torch(theirs.self_attn.state_dict())
        layer.up.load_state_dict(theirs.linear1.state_dict())
        layer.down.load_state_dict(theirs.linear2.state_dict())
        words = theirs(words)
    same(model(images), model.classify(model.norm(words[:, 0])), [images, model.cls, model.positions])


def test_the_maps_are_one_for_each_layer_and_head():
    torch.manual_seed(0)
    model = ViT(6, 2, 3, 7, 10, 2, 13, 3)
    maps = model.attention_maps(torch.randn(5, 3, 6, 6))
    assert maps.shape == (3, 5, 2, 10, 10)
    torch.testing.assert_close(maps.sum(-1), torch.ones(3, 5, 2, 10))


def test_without_positions_patches_may_change_places():
    torch.manual_seed(0)
    model = ViT(6, 2, 1, 7, 10, 2, 13, 2).double()
    images = noise(4, 1, 6, 6).detach()
    shuffled = unpatchify(patchify(images, 2)[:, [4, 2, 0, 8, 1, 3, 7, 5, 6]], 2, 6, 6)
    assert not torch.allclose(model(images), model(shuffled))
    nn.init.zeros_(model.positions)
    torch.testing.assert_close(model(images), model(shuffled))


def test_dropout_is_for_training_only():
    model, image = ViT(6, 2, 1, 7, 10, 2, 13, 2, dropout=0.5), torch.randn(2, 1, 6, 6)
    assert not torch.equal(model(image), model(image))
    model.eval()
    assert torch.equal(model(image), model(image))


def test_vit_base_has_the_papers_86_million_parameters():
    """Table 1 of the paper: 12 layers, width 768, 3,072, 12 heads, 86 M; the lectures: 14 × 14 patches of 16 × 16."""
    with torch.device("meta"):
        model = ViT(224, 16, 3, 1000, 768, 12, 3072, 12)
        assert patchify(torch.empty(1, 3, 224, 224), 16).shape == (1, 14 * 14, 768)
    assert model.positions.shape == (197, 768)
    assert sum(parameter.numel() for parameter in model.parameters()) == 86_567_656


# -- errors ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: patchify(torch.zeros(1, 1, 5, 4), 2), "2 × 2 pixels do not tile an image of 5 × 4"),
        (lambda: patchify(torch.zeros(1, 1, 4, 5), 2), "2 × 2 pixels do not tile an image of 4 × 5"),
        (lambda: patchify(torch.zeros(4, 4), 2), r"expected images \(B, C, H, W\), got \(4, 4\)"),
        (lambda: unpatchify(torch.zeros(1, 4, 4), 2, 4, 5), "do not tile an image of 4 × 5"),
        (lambda: unpatchify(torch.zeros(1, 3, 4), 2, 4, 4), r"\(1, 3, 4\) make no images of 4 × 4"),
        (lambda: unpatchify(torch.zeros(1, 4, 6), 2, 4, 4), r"\(1, 4, 6\) make no images"),
        (
            lambda: embed_patches(torch.zeros(1, 2, 4, 4), torch.zeros(3, 6), *torch.zeros(2, 3), torch.zeros(5, 3)),
            r"W of shape \(3, 6\) reads no square patches",
        ),
        (
            lambda: embed_patches(torch.zeros(1, 2, 4, 4), torch.zeros(3, 8), *torch.zeros(2, 3), torch.zeros(4, 3)),
            r"5 tokens of width 3, and positions \(4, 3\)",
        ),
        (lambda: linear_to_conv(torch.zeros(3, 8), 3, 2), r"\(3, 8\) does not read patches of 3 × 2 × 2"),
        (lambda: spectrogram_patches(torch.zeros(1, 3, 9), 4, 2), r"at least 4 × 4, got \(1, 3, 9\)"),
        (lambda: interpolate_positions(torch.zeros(6, 2), (2, 2)), "5 patches, which make no square"),
        (lambda: interpolate_positions(torch.zeros(1, 2), (2, 2)), "0 patches, which make no square"),
        (lambda: ViT(10, 3, 1, 2, 8, 2, 8, 1), "3 × 3 pixels do not tile an image of 10 × 10"),
        (lambda: ViT(9, 3, 1, 2, 8, 3, 8, 1), "3 heads cannot share a width of 8"),
    ],
)
def test_impossible_shapes_are_refused(wrong, says):
    with pytest.raises(ValueError, match=says):
        wrong()
