"""Draw the inputs of cases at random from a seed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

import torch
from torch import Tensor

from .values import Generator

T = TypeVar("T")


class Rng:
    """A source of random inputs. Equal seeds give equal inputs. Generators for students have their own seeds."""

    def __init__(self, seed: int) -> None:
        self._torch = torch.Generator().manual_seed(seed)
        self._python = random.Random(seed)

    def normal(self, *shape: int, dtype: torch.dtype = torch.float64) -> Tensor:
        """Return standard normal noise of `shape`."""
        return torch.randn(*shape, generator=self._torch, dtype=torch.float64).to(dtype)

    def uniform(self, *shape: int, low: float = 0.0, high: float = 1.0, dtype: torch.dtype = torch.float64) -> Tensor:
        """Return uniform noise in [low, high)."""
        noise = torch.rand(*shape, generator=self._torch, dtype=torch.float64)
        return (low + (high - low) * noise).to(dtype)

    def integers(self, low: int, high: int, *shape: int) -> Tensor:
        """Return whole numbers in [low, high), a LongTensor of `shape`."""
        return torch.randint(low, high, shape, generator=self._torch)

    def permutation(self, n: int) -> Tensor:
        """Return 0 … n − 1 in random order, a LongTensor (n,)."""
        return torch.randperm(n, generator=self._torch)

    def choice(self, options: Sequence[T]) -> T:
        """Return one of the options."""
        return self._python.choice(options)

    def seed(self) -> int:
        """Return a fresh seed."""
        return self._python.randrange(2**31)

    def generator(self) -> Generator:
        """Describe a `torch.Generator` for the student's process, with a seed that nothing else uses."""
        return Generator(self.seed())
