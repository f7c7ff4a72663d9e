"""Wrong answers to `linear_to_conv` that no misconception knows by name."""

from __future__ import annotations

from course.reference import vit_patches as reference


def conv_detached(W, C, p):
    return reference.linear_to_conv(W.detach(), C, p)


def conv_of_one_channel(W, C, p):
    return reference.linear_to_conv(W, C, p).mean(1, keepdim=True)


def conv_transposed_for_transposed_convolution(W, C, p):
    return reference.linear_to_conv(W, C, p).transpose(0, 1)


def conv_flipped_up_and_down(W, C, p):
    return reference.linear_to_conv(W, C, p).flip(2)


def conv_always_float32(W, C, p):
    return reference.linear_to_conv(W, C, p).float()


MUTANTS = [
    conv_detached,
    conv_of_one_channel,
    conv_transposed_for_transposed_convolution,
    conv_flipped_up_and_down,
    conv_always_float32,
]
