"""Wrong answers to `sinusoidal` that no misconception knows by name."""

from __future__ import annotations

import math

import torch

from course.reference import positional_encoding as reference


def _table(n, d, w, first=0, half=False, swap=False):
    if d % 2:
        raise ValueError("odd")
    angles = (torch.arange(n).double() + first)[:, None] * w
    s, c = (angles.cos(), angles.sin()) if swap else (angles.sin(), angles.cos())
    return torch.cat([s, c], 1) if half else torch.stack([s, c], -1).flatten(1)


def _w(d):
    return 1e4 ** (-torch.arange(0, d, 2).double() / d)


def p_swap(n_positions, d_model):
    return _table(n_positions, d_model, _w(d_model), swap=True)


def p_start1(n_positions, d_model):
    return _table(n_positions, d_model, _w(d_model), first=1)


def p_half(n_positions, d_model):
    return _table(n_positions, d_model, _w(d_model), half=True)


def p_expi(n_positions, d_model):
    return _table(n_positions, d_model, 1e4 ** (-torch.arange(d_model // 2).double() / d_model))


def p_double2i(n_positions, d_model):
    return _table(n_positions, d_model, 1e4 ** (-2 * torch.arange(0, d_model, 2).double() / d_model))


def p_exp_halfd(n_positions, d_model):
    return _table(n_positions, d_model, 1e4 ** (-torch.arange(d_model // 2).double() / max(d_model // 2 - 1, 1)))


def p_odd_i(n_positions, d_model):
    angles = torch.arange(n_positions)[:, None].double() * 1e4 ** (-torch.arange(d_model).double() / d_model)
    table = torch.zeros(n_positions, d_model)
    table[:, 0::2], table[:, 1::2] = angles[:, 0::2].sin(), angles[:, 1::2].cos()
    return table


def p_sign(n_positions, d_model):
    return _table(n_positions, d_model, 1 / _w(d_model))


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


MUTANTS = [
    p_swap,
    p_start1,
    p_half,
    p_expi,
    p_double2i,
    p_exp_halfd,
    p_odd_i,
    p_sign,
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
]
