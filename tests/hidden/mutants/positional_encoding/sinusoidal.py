"""Wrong answers to `sinusoidal` that no misconception knows by name."""

from __future__ import annotations

import math

import torch

from course.reference import positional_encoding as reference


def _table(n, d, w):
    if d % 2:
        raise ValueError("odd")
    angles = torch.arange(n).double()[:, None] * w
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)


def _w(d):
    return 1e4 ** (-torch.arange(0, d, 2).double() / d)


def p_base1000(n_positions, d_model):
    return _table(n_positions, d_model, 1e3 ** (-torch.arange(0, d_model, 2).double() / d_model))


def p_2pi(n_positions, d_model):
    return _table(n_positions, d_model, 2 * math.pi * _w(d_model))


def p_norm(n_positions, d_model):
    return _table(n_positions, d_model, _w(d_model) / n_positions)


def p_intdiv(n_positions, d_model):
    return _table(n_positions, d_model, torch.tensor([1 / 1e4 ** ((2 * i) // d_model) for i in range(d_model // 2)]))


def p_sinonly(n_positions, d_model):
    angles = torch.arange(n_positions).double()[:, None] * _w(d_model)
    return torch.stack([angles.sin(), angles.sin()], -1).flatten(1)


def p_transposed(n_positions, d_model):
    return reference.sinusoidal(d_model, n_positions + n_positions % 2)[:, :n_positions].T


def p_log10(n_positions, d_model):
    w = torch.exp(torch.arange(0, d_model, 2).double() * (-math.log10(1e4) / d_model))
    return _table(n_positions, d_model, w)


def with_a_batch_axis(n_positions, d_model):
    return reference.sinusoidal(n_positions, d_model)[None]


def scaled_by_the_root_of_the_width(n_positions, d_model):
    return reference.sinusoidal(n_positions, d_model) * d_model**0.5


def angles_returned(n_positions, d_model):
    return (torch.arange(n_positions).double()[:, None] * _w(d_model)).repeat_interleave(2, 1)


def cosine_of_minus_sine(n_positions, d_model):
    return reference.sinusoidal(n_positions, d_model) * torch.tensor([1.0, -1.0]).repeat(d_model // 2)


def odd_widths_cut(n_positions, d_model):
    return reference.sinusoidal(n_positions, d_model + d_model % 2)[:, :d_model]


def anew_after_1024(n_positions, d_model):
    return reference.sinusoidal(n_positions, d_model)[torch.arange(n_positions) % 1024]


MUTANTS = [
    p_base1000,
    p_2pi,
    p_norm,
    p_intdiv,
    p_sinonly,
    p_transposed,
    p_log10,
    with_a_batch_axis,
    scaled_by_the_root_of_the_width,
    angles_returned,
    cosine_of_minus_sine,
    odd_widths_cut,
    anew_after_1024,
]
