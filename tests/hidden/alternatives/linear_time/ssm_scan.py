"""Right answers to `ssm_scan` that look nothing like the reference."""

from __future__ import annotations

import torch
from torch.nn import functional as F


def as_a_convolution(a_bar, b_bar, c, x):
    T = x.shape[1]
    kernel = (c * b_bar) @ a_bar[:, None] ** torch.arange(T, device=x.device)
    return F.conv1d(F.pad(x, (T - 1, 0))[:, None], kernel.flip(0)[None, None])[:, 0]


def by_fourier_transforms_in_float32(a_bar, b_bar, c, x):
    T = x.shape[1]
    kernel = (c * b_bar).float() @ a_bar.float()[:, None] ** torch.arange(T)
    product = torch.fft.rfft(kernel, n=2 * T) * torch.fft.rfft(x.float(), n=2 * T)
    return torch.fft.irfft(product, n=2 * T)[:, :T].to(x.dtype)


ALTERNATIVES = [as_a_convolution, by_fourier_transforms_in_float32]
