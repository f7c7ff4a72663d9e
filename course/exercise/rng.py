"""Seeded random draws for the inputs of cases."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

import torch
from torch import Tensor

from .values import Generator

T = TypeVar("T")


class Rng:
    """Draws inputs; equal seeds give equal inputs. Generators handed to students get seeds of their own."""

    def __init__(self, seed: int) -> None:
        self._torch = torch.Generator().manual_seed(seed)
        self._python = random.Random(seed)

    def normal(self, *shape: int, dtype: torch.dtype = torch.float64) -> Tensor:
        """Standard normal noise of `shape`."""
        return torch.randn(*shape, generator=self._torch, dtype=torch.float64).to(dtype)

    def uniform(self, *shape: int, low: float = 0.0, high: float = 1.0, dtype: torch.dtype = torch.float64) -> Tensor:
        """Uniform noise in [low, high)."""
        noise = torch.rand(*shape, generator=self._torch, dtype=torch.float64)
        return (low + (high - low) * noise).to(dtype)

    def integers(self, low: int, high: int, *shape: int) -> Tensor:
        """Whole numbers in [low, high), a LongTensor of `shape`."""
        return torch.randint(low, high, shape, generator=self._torch)

    def permutation(self, n: int) -> Tensor:
        """0 … n − 1 in random order, a LongTensor (n,)."""
        return torch.randperm(n, generator=self._torch)

    def choice(self, options: Sequence[T]) -> T:
        """One of the options."""
        return self._python.choice(options)

    def seed(self) -> int:
        """A fresh seed."""
        return self._python.randrange(2**31)

    def generator(self) -> Generator:
        """A described `torch.Generator` for the student's side, with a seed nothing else uses."""
        return Generator(self.seed())
