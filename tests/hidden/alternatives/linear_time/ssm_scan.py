"""Right answers to `ssm_scan` that look nothing like the reference."""

from __future__ import annotations

import torch
from torch.nn import functional as F


def as_a_convolution(a_bar, b_bar, c, x):
    T = x.shape[1]
    kernel = (c * b_bar) @ a_bar[:, None] ** torch.arange(T, device=x.device)
    return F.conv1d(F.pad(x, (T - 1, 0))[:, None], kernel.flip(0)[None, None])[:, 0]


def as_one_matrix(a_bar, b_bar, c, x):
    T = x.shape[1]
    lag = torch.arange(T)[:, None] - torch.arange(T)[None]  # (T, T)
    left = torch.where(lag[..., None] >= 0, a_bar ** lag.clamp(min=0)[..., None], 0.0) @ (c * b_bar)
    return x @ left.T


def state_by_state(a_bar, b_bar, c, x):
    y = torch.zeros_like(x)
    for n in range(len(a_bar)):
        h, column = torch.zeros(len(x), dtype=x.dtype), []
        for t in range(x.shape[1]):
            h = h * a_bar[n] + x[:, t] * b_bar[n]
            column.append(h * c[n])
        y = y + torch.stack(column, dim=-1)
    return y


def by_fourier_transforms_in_float32(a_bar, b_bar, c, x):
    T = x.shape[1]
    kernel = (c * b_bar).float() @ a_bar.float()[:, None] ** torch.arange(T)
    product = torch.fft.rfft(kernel, n=2 * T) * torch.fft.rfft(x.float(), n=2 * T)
    return torch.fft.irfft(product, n=2 * T)[:, :T].to(x.dtype)


ALTERNATIVES = [as_a_convolution, as_one_matrix, state_by_state, by_fourier_transforms_in_float32]
